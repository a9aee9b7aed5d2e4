"""Consumer groups: coordinator, generations, sessions, and committed offsets (G-)."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from engine.clients.group_member import GroupMember
from engine.explore.budgets import Budgets
from engine.explore.question import SearchQuestion
from engine.explore.searching import Bounds, search
from engine.groups import coordinator
from engine.model.effects import Effects
from engine.model.errors import (
    COORDINATOR_NOT_AVAILABLE,
    FENCED_INSTANCE_ID,
    ILLEGAL_GENERATION,
    NONE,
    NOT_COORDINATOR,
    REBALANCE_IN_PROGRESS,
    REQUEST_TIMED_OUT,
    UNKNOWN_MEMBER_ID,
    InputError,
)
from engine.model.group_messages import (
    CoordinatorAppend,
    GroupHeartbeat,
    JoinGroup,
    JoinGroupResponse,
    OffsetCommit,
)
from engine.model.groups import (
    GroupEntry,
    assign,
    assign_sticky,
    commit_record,
    commits,
    generation_record,
    in_order,
    last_generation,
    read_entry,
)
from engine.model.log import Batch, Log
from engine.model.messages import FIRST_CONSUMER
from engine.model.profiles import get_profile
from engine.scenarios.file import find, load_text
from engine.sim.kernel import Chance
from engine.sim.run import Run, play_all
from engine.sim.simulation import Simulation
from engine.study.digest import digest
from engine.view.view import view
from engine.why.suggesting import possible
from tests.conftest import sample
from tests.rules.playing import go_on

AUTO = """
title: a group
brokers: 3
partitions: [[1, 2, 3], [2, 3, 1], [3, 1, 2]]
groups: [{name: orders, members: [C1, C2], offsets: [2, 3, 1]}]
fetching: auto
network: {delay_ms: 1, control_delay_ms: 1}
"""


def play(*lines: str, more: str = "", profile: str = "K39") -> Simulation:
    sim = Simulation(load_text(AUTO + more), profile, 0)
    go_on(sim, *lines)
    return sim


def member(sim: Simulation, number: int = 1) -> GroupMember:
    found = sim.consumer(number)
    assert isinstance(found, GroupMember)
    return found


# -- records and assignments ------------------------------------------------------------------


def entries(*members: str) -> dict[str, GroupEntry]:
    """Return members as records have them: `C1-1`, or `C1-1=app-1/0+1` of a static one."""
    return dict(read_entry(text, FIRST_CONSUMER, 0) for text in members)


def test_a_record_that_is_not_committed_in_time_has_another_error_from_4_0_on() -> None:
    for profile, generation, offsets in (
        ("K39", REBALANCE_IN_PROGRESS, REQUEST_TIMED_OUT),
        ("K40", COORDINATOR_NOT_AVAILABLE, COORDINATOR_NOT_AVAILABLE),
    ):
        request, release = OffsetCommit(FIRST_CONSUMER, 1, 1, 3, "C1-1", 1), get_profile(profile)
        for assignment, error in ((((0,),), generation), ((), offsets)):
            m = CoordinatorAppend(1, 3, ("g",), 5_000, (request,), 1, assignment)
            assert [one.error for one in m.responses(REQUEST_TIMED_OUT, -1, release)] == [error]


def test_a_log_says_what_is_committed_below_an_offset() -> None:
    log = Log()
    for value in (
        generation_record(1, entries("C1-1")),
        commit_record(0, 3, -1),
        commit_record(1, 9, 2),
        commit_record(0, 5, 0),
        generation_record(2, entries("C1-1", "C2-1")),
    ):
        log.append(Batch(log.leo, 0, (value,)))
    assert commits(log, 3) == {0: (3, -1, 1), 1: (9, 2, 2)}
    assert commits(log, log.leo) == {0: (5, 0, 3), 1: (9, 2, 2)}
    assert last_generation(log) == (2, ("C1-1", "C2-1"), 4)


def test_the_first_members_of_a_range_get_one_more() -> None:
    assert assign([0, 1, 2], in_order(entries("C2-1", "C1-1"))) == {"C1-1": (0, 1), "C2-1": (2,)}
    assert assign([0], ["C1-1", "C2-1"]) == {"C1-1": (0,), "C2-1": ()}
    assert assign([0], []) == {}


# -- generations and sessions -----------------------------------------------------------------


def test_a_second_member_begins_a_generation_once_the_first_has_joined_again() -> None:
    sim = play("join C1", "advance 1s")
    assert (member(sim).generation, member(sim).assigned) == (1, (0, 1, 2))
    go_on(sim, "join C2", "advance 4s")  # C1 hears of it by its next heartbeat
    assert member(sim).generation == member(sim, 2).generation == 2
    assert (member(sim).assigned, member(sim, 2).assigned) == ((0, 1), (2,))
    go_on(sim, "leave C1", "advance 4s")
    assert (member(sim, 2).generation, member(sim, 2).assigned) == (3, (0, 1, 2))
    assert not sim.broken


# -- static members ---------------------------------------------------------------------------

STATIC = (
    AUTO.replace(
        "members: [C1, C2], offsets: [2, 3, 1]",
        "members: [C1, C2, C3], offsets: [2, 3, 1], "
        "group.instance.id: {C1: app-1, C2: app-2, C3: app-1}",
    )
    + "configs: {session.timeout.ms: 6000}\n"
)
BOTH = ("join C1", "advance 1s", "join C2", "advance 4s")


def static(*lines: str, profile: str = "K39") -> Simulation:
    """Play C1 and C2 as app-1 and app-2 in generation 2, and lines; C3 is app-1, too."""
    sim = Simulation(load_text(STATIC), profile, 0)
    go_on(sim, *BOTH, *lines)
    return sim


def test_a_static_member_that_restarts_begins_no_rebalance() -> None:
    for end in ("leave C1", "die C1"):
        sim = static(end, "advance 3s", "join C1", "advance 4s")
        assert member(sim).member == "C1-2" and member(sim).assigned == (0, 1)
        assert member(sim).generation == member(sim, 2).generation == 2
    go_on(sim, "die C1", "advance 5s")
    assert member(sim, 2).assigned == (2,), "nobody reads partitions 0 and 1 meanwhile"
    go_on(sim, "advance 4s")
    assert member(sim, 2).assigned == (0, 1, 2) and member(sim, 2).generation == 3


def test_static_members_are_assigned_in_the_order_of_their_ids() -> None:
    known = entries("C1-1", "C2-1=b/", "C9-1=a/")
    assert in_order(known) == ["C9-1", "C2-1", "C1-1"]
    assert generation_record(3, known) == "g3:C1-1:C2-1=b/:C9-1=a/"
    assert entries("C9-1=a/0+2")["C9-1"].assigned == (0, 2)


def test_a_process_is_fenced_by_a_later_one_with_its_group_instance_id() -> None:
    sim = static("join C3", "advance 500ms")
    assert member(sim, 3).assigned == member(sim).assigned == (0, 1) and not sim.broken
    former = OffsetCommit(member(sim).id, 2, 99, 3, "C1-1", 2, ((0, 1, -1),), "app-1")
    assert heard(sim, 2, former) == FENCED_INSTANCE_ID
    go_on(sim, "advance 4s")
    assert member(sim).failed == "FencedInstanceIdException" and not member(sim).alive
    assert (member(sim, 3).generation, member(sim, 3).assigned) == (2, (0, 1))


def test_a_static_member_that_polls_too_rarely_stays_until_its_session_ends() -> None:
    rarely = STATIC.replace("6000}", "6000, max.poll.interval.ms: 4000}")
    sim = Simulation(load_text(rarely), "K39", 0)
    go_on(sim, "produce m1", *BOTH, "read C1", "advance 8s")
    assert member(sim).generation == -1 and member(sim, 2).generation == 2
    go_on(sim, "advance 6s")
    assert member(sim, 2).assigned == (0, 1, 2)


def test_during_a_rebalance_a_new_process_joins_in_the_place_of_the_former() -> None:
    sim = static("die C2", "advance 6s")
    assert member(sim).generation == 2, "it is heard of with the next heartbeat"
    go_on(sim, "cut C1 2", "join C2", "advance 100ms", "heal", "join C3", "advance 9s")
    assert member(sim, 3).generation == member(sim, 2).generation == 3
    assert (member(sim, 3).assigned, member(sim, 2).assigned) == ((0, 1), (2,))
    assert member(sim).failed == "FencedInstanceIdException"


@pytest.mark.parametrize(("profile", "survives"), [("Z24", False), ("Z25", True), ("K41", True)])
def test_a_new_coordinator_knows_a_static_member_that_came_back(
    profile: str, survives: bool
) -> None:
    sim = static("die C1", "join C1", "advance 4s", "kill 2", "detect 2", profile=profile)
    go_on(sim, "advance 29s")
    assert member(sim).alive is survives and not sim.broken
    assert member(sim).failed == ("" if survives else "FencedInstanceIdException")
    if survives:
        assert (member(sim).generation, member(sim).assigned) == (2, (0, 1))


def test_a_place_that_cannot_be_written_stays_with_the_former_process() -> None:
    strict = STATIC.replace("6000}", "6000, min.insync.replicas: 3}")
    sim = Simulation(load_text(strict), "K39", 0)
    go_on(sim, *BOTH, "kill 3", "detect 3", "advance 1s", "die C1", "join C1", "advance 1s")
    assert list(sim.brokers[2].running.groups[3].members) == ["C1-1", "C2-1"]
    assert member(sim).generation == -1


# -- cooperative rebalances -------------------------------------------------------------------

STICKY = "partition.assignment.strategy: cooperative-sticky"
COOPERATIVE = AUTO.replace("[2, 3, 1]}]", f"[2, 3, 1], {STICKY}}}]")
THREE = COOPERATIVE.replace("[C1, C2]", "[C1, C2, C3]")


@pytest.mark.parametrize(
    ("owned", "shares"),
    [
        ([(), ()], [(0, 2, 4), (1, 3)]),
        ([(0, 1, 2, 3, 4), ()], [(0, 1, 2), ()]),  # 3 and 4 are given up first
        ([(0, 1, 2), ()], [(0, 1, 2), (3, 4)]),
        ([(0, 1), (2, 3), (4,)], [(0, 1), (2, 3), (4,)]),
        ([(0, 1, 2), (3, 4), ()], [(0, 1), (3, 4), ()]),
        ([(3,), (), (4,), (), (), ()], [(3,), (0,), (4,), (1,), (2,), ()]),
    ],
)
def test_sticky_shares_are_equal_and_keep_what_is_owned(
    owned: list[tuple[int, ...]], shares: list[tuple[int, ...]]
) -> None:
    names = [f"C{number}" for number in range(len(owned))]
    found = assign_sticky(range(5), names, dict(zip(names, owned, strict=True)))
    assert list(found.values()) == shares


def test_a_cooperative_member_gives_up_only_what_moves_and_in_two_rebalances() -> None:
    sim = Simulation(load_text(COOPERATIVE), "K39", 0)
    go_on(sim, "join C1", "advance 1s", "join C2", "advance 2100ms")
    assert (member(sim).assigned, member(sim, 2).assigned) == ((0, 1), ())
    assert member(sim).generation == member(sim, 2).generation == 2
    go_on(sim, "advance 3s")
    assert (member(sim).assigned, member(sim, 2).assigned) == ((0, 1), (2,))
    assert member(sim).generation == member(sim, 2).generation == 3


def busy(profile: str, commit: str = "after") -> Simulation:
    """Play until C1 joins again, as C3 came, and waits for C2, which has records."""
    text = THREE.replace(STICKY, f"{STICKY}, commit: {commit}")
    sim = Simulation(load_text(text), profile, 0)
    go_on(sim, "produce a", "produce b p=1", "produce c p=2", "advance 1s")
    go_on(sim, "join C1", "advance 1s", "join C2", "advance 7s", "read C2", "advance 1s")
    go_on(sim, "join C3", "advance 4s")
    assert member(sim).generation == member(sim, 2).generation == 3
    assert (member(sim).assigned, member(sim, 2).assigned) == ((0, 1), (2,))
    return sim


def test_a_cooperative_member_reads_while_it_joins_and_commits_after_that() -> None:
    sim = busy("K39")
    go_on(sim, "read C1", "advance 1s", "process C1")
    assert sim.ledger.processed == {(3, "a"): 1, (3, "b"): 1}
    with pytest.raises(InputError, match="joins again"):
        go_on(sim, "commit C1")
    go_on(sim, "process C2", "commit C2", "advance 1s", "read C2", "advance 1s")
    assert member(sim).assigned == (0, 1), "until it polls"
    go_on(sim, "commit C1", "advance 1s", "read C1", "advance 4s")
    assert [member(sim, number).assigned for number in (1, 2, 3)] == [(0,), (2,), (1,)]
    go_on(sim, "produce d p=1", "advance 1s", "read C3", "advance 1s", "process C3")
    assert set(sim.ledger.processed.values()) == {1} and len(sim.ledger.processed) == 4
    assert not sim.broken and not sim.ledger.skipped


def test_before_2_5_a_member_that_joins_reads_nothing() -> None:
    sim = busy("Z24")
    with pytest.raises(InputError, match="has not joined yet"):
        go_on(sim, "read C1")
    go_on(sim, "process C2", "commit C2", "advance 1s", "read C2", "advance 1s")
    go_on(sim, "advance 4s", "read C1", "advance 1s")
    assert member(sim).polled


def test_a_cooperative_member_that_was_removed_has_lost_all() -> None:
    sim = Simulation(load_text(COOPERATIVE + "configs: {session.timeout.ms: 6000}\n"), "K39", 0)
    go_on(sim, "join C1", "advance 1s", "cut C1 2", "join C2", "advance 8s")
    assert (member(sim).assigned, member(sim, 2).assigned) == ((0, 1, 2), (0, 1, 2))
    go_on(sim, "heal", "advance 3100ms")
    assert member(sim).assigned == () and not sim.broken
    go_on(sim, "advance 9s")
    assert (member(sim).assigned, member(sim, 2).assigned) == ((2,), (0, 1))


def test_a_refused_join_is_sent_again_with_what_is_owned() -> None:
    sim = busy("K39", "auto")
    go_on(sim, "read C1", "advance 1s", "process C1", "read C1", "advance 1s")
    joining, out = member(sim), Effects()
    request = JoinGroup(joining.id, 2, joining.group_corr, 3)
    joining.on_group(JoinGroupResponse(request, REBALANCE_IN_PROGRESS), out)
    assert [one.owned for one in out.sends if isinstance(one, JoinGroup)] == [(0, 1)]


def test_a_member_with_auto_commit_leaves_during_a_cooperative_rebalance() -> None:
    text = COOPERATIVE.replace(STICKY, f"{STICKY}, commit: auto")
    sim = Simulation(load_text(text), "K39", 0)
    go_on(sim, "produce m1", "join C1", "advance 1s", "read C1", "advance 1s", "process C1")
    go_on(sim, "read C1", "advance 1s", "join C2", "advance 7s")
    assert (member(sim).assigned, member(sim, 2).assigned) == ((0, 1), (2,))
    go_on(sim, "produce m2", "advance 1s", "read C2", "produce m3 p=2", "advance 1s", "die C2")
    go_on(sim, "join C2", "advance 4s", "leave C1", "advance 1s")
    assert not member(sim).alive and not sim.broken


@pytest.mark.parametrize("profile", ["K39", "Z24"])
@pytest.mark.parametrize("commit", ["after", "before", "auto"])
def test_by_the_clock_cooperative_members_process_each_record_once(
    profile: str, commit: str
) -> None:
    more = WORKLOAD.replace("consumers: 2", "consumers: 3")
    text = THREE.replace(STICKY, f"{STICKY}, commit: {commit}") + more
    sim = Simulation(load_text(text), profile, 0)
    go_on(sim, "run", "advance 5s")
    produced = sum(len(batch.values) for tp in range(3) for batch in committed_of(sim, tp))
    assert produced > 400 and len(sim.ledger.processed) == produced
    assert not sim.broken and not sim.checker.counts
    assert sorted(len(member(sim, number).assigned) for number in (1, 2, 3)) == [1, 1, 1]


def test_a_member_that_has_records_joins_again_when_it_polls() -> None:
    sim = play("produce m1", "advance 1s", "join C1", "advance 1s", "read C1", "advance 1s")
    go_on(sim, "join C2", "advance 10s")
    assert member(sim).generation == 1 and member(sim, 2).generation == -1
    go_on(sim, "process C1", "commit C1", "advance 1s", "read C1", "advance 1s")
    assert member(sim).generation == member(sim, 2).generation == 2
    assert not sim.checker.counts, "its commit was accepted while the rebalance waited for it"


def test_a_member_that_polls_too_rarely_leaves_and_cannot_commit() -> None:
    rarely = "configs: {max.poll.interval.ms: 4000}\n"
    sim = play("produce m1", "advance 1s", "join C1", "advance 1s", more=rarely)
    go_on(sim, "read C1", "advance 9s")
    assert member(sim).generation == -1 and member(sim).rejoins
    with pytest.raises(InputError, match="waits for its group"):
        go_on(sim, "commit C1")
    go_on(sim, "read C1", "advance 1s")
    assert member(sim).assigned == (0, 1, 2) and member(sim).member == "C1-1"


@pytest.mark.parametrize(("profile", "silent_s"), [("K39", 45), ("Z24", 10)])
def test_a_member_is_removed_when_its_session_is_over(profile: str, silent_s: int) -> None:
    sim = play("join C1", "advance 1s", "die C1", "join C2", profile=profile)
    go_on(sim, f"advance {silent_s - 3}s")
    assert member(sim, 2).generation == -1
    go_on(sim, "advance 4s")
    assert member(sim, 2).assigned == (0, 1, 2)


# -- memberships and commits ------------------------------------------------------------------


def heard(sim: Simulation, broker: int, m: Any) -> int:
    """Return the error of a broker's answer."""
    out = Effects()
    out.now = sim.now
    coordinator.HANDLERS[m.kind](sim.brokers[broker].running, m, out)
    answer: Any = out.sends[0]
    return int(answer.error)


def test_a_coordinator_knows_members_and_generations() -> None:
    sim = play("join C1", "advance 1s")
    for name, generation, error in (
        ("C1-1", 1, NONE),
        ("C1-1", 0, ILLEGAL_GENERATION),
        ("C9-1", 1, UNKNOWN_MEMBER_ID),
    ):
        beat = GroupHeartbeat(member(sim).id, 2, 99, 3, name, generation)
        assert heard(sim, 2, beat) == error
        if error:
            offsets = ((0, 1, -1),)
            late = OffsetCommit(member(sim).id, 2, 99, 3, name, generation, offsets)
            assert heard(sim, 2, late) == error
    assert heard(sim, 1, GroupHeartbeat(member(sim).id, 1, 99, 3, "C1-1", 1)) == NOT_COORDINATOR


def test_a_commit_needs_enough_replicas_in_sync() -> None:
    strict = "configs: {min.insync.replicas: 3}\n"
    sim = play("join C1", "advance 1s", "kill 3", "detect 3", "advance 1s", more=strict)
    offsets = ((0, 1, -1),)
    m = OffsetCommit(member(sim).id, 2, 99, 3, "C1-1", 1, offsets)
    assert heard(sim, 2, m) == COORDINATOR_NOT_AVAILABLE


def test_a_removed_member_that_comes_back_gets_an_exception_for_its_commit() -> None:
    sim = play("produce m1", "advance 1s", "join C1", "advance 1s", "read C1", "advance 1s")
    go_on(sim, "cut C1 2", "join C2", "advance 46s")
    assert member(sim, 2).generation == 2
    go_on(sim, "heal", "commit C1", "advance 100")
    assert member(sim).failed == "CommitFailedException"
    go_on(sim, "read C1", "advance 4s")
    assert member(sim).generation == 3 and member(sim).member != "C1-1"


# -- offsets ----------------------------------------------------------------------------------


def test_a_new_coordinator_reads_generation_members_and_offsets() -> None:
    sim = play_all(Run(find("S90"), "K39"))
    group = sim.brokers[3].running.groups[1]
    assert (group.generation, list(group.members)) == (1, ["C1-1"])
    assert coordinator.committed(sim.brokers[3].replicas[1])[0][0] == 3
    assert 1 not in sim.brokers[2].running.groups, "the former coordinator has restarted"


@pytest.mark.parametrize(
    ("code", "profile", "twice", "skipped"),
    [
        ("S87", "K41", 0, 0),
        ("S88", "K39", 2, 0),
        ("S89", "Z28", 0, 2),
        ("S91", "K41", 0, 2),
        ("S92", "Z20", 0, 2),
        ("S92", "K39", 0, 0),
    ],
)
def test_the_order_decides_how_many_are_processed_twice_or_skipped(
    code: str, profile: str, twice: int, skipped: int
) -> None:
    sim = play_all(Run(find(code), profile))
    found = view(sim)["groups"][0]["offsets"][0]
    assert (found["twice"], found["skipped"]) == (twice, skipped)


def test_without_a_reset_policy_an_application_has_to_decide() -> None:
    sim = play("join C1", "advance 1s", more="workload: {consumers: [{reset: none}]}\n")
    assert member(sim).failed == "NoOffsetForPartitionException"


# -- by the clock, in copies, and where groups cannot be --------------------------------------

WORKLOAD = """
workload: {producers: [{rate_per_s: 20}], consumers: 2}
faults: [{kind: kill, brokers: [2], at_ms: 9000, mttr_ms: 4000}]
duration_ms: 30000
"""


def test_by_the_clock_members_process_each_record_once_through_a_fail_over() -> None:
    sim = play("run", "advance 5s", more=WORKLOAD)
    produced = sum(len(batch.values) for tp in range(3) for batch in committed_of(sim, tp))
    assert produced > 400 and len(sim.ledger.processed) == produced
    assert not sim.broken and not sim.checker.counts
    assert member(sim).generation == member(sim, 2).generation > 0


def committed_of(sim: Simulation, tp: int) -> list[Batch]:
    return list(sim.ledger.committed[tp].values())


def test_a_copy_goes_on_as_the_run_does() -> None:
    sim = play("run 10s", more=WORKLOAD)
    twin = sim.copy()
    go_on(sim, "advance 10s")
    go_on(twin, "advance 10s")
    assert digest(sim) == digest(twin) and view(sim) == view(twin)


@pytest.mark.parametrize(
    ("groups", "why"),
    [
        ("[{name: '', members: [C1]}]", "a short name"),
        ("[{name: a, members: [P1]}]", "written C1 to C20"),
        ("[{name: a, members: [C1, C1]}]", "C1 is a member already"),
        ("[{name: a, members: [C1], offsets: [1, 1]}]", "listed twice"),
        ("[{name: a, members: [C1], offsets: [9]}]", "no broker “9”"),
        ("[{name: a, members: [C1], group.instance.id: {C2: x}}]", "no key C2"),
        ("[{name: a, members: [C1], group.instance.id: {C1: 'x:y'}}]", "1 to 16 letters"),
    ],
)
def test_groups_are_read_strictly(groups: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        load_text(f"title: x\ngroups: {groups}\n")


def test_releases_without_the_protocol_refuse_groups() -> None:
    assert "0.10.1" in find("S87").cannot_begin("0.9.0.1")
    assert "as of Kafka 2.4" in load_text(COOPERATIVE).cannot_begin("Z21")
    assert "as of Kafka 2.3" in load_text(STATIC).cannot_begin("Z20")
    with pytest.raises(InputError, match="Static members"):
        load_text(STATIC + "profiles: [Z20]\n")


def test_the_session_of_a_member_ends_and_its_heartbeat_is_sent_while_time_stands() -> None:
    sim = play("join C1", "advance 1s", "join C2", "advance 4s")
    now, owned = sim.now, member(sim).assigned
    assert owned != (0, 1, 2)
    go_on(sim, "timeout C2", "repeat C1", "advance 10ms")
    assert sim.now == now + 10 and member(sim).generation == 3
    assert member(sim).assigned == (0, 1, 2)
    with pytest.raises(InputError, match="No coordinator waits"):
        go_on(sim, "timeout C2")
    go_on(sim, "die C1")
    with pytest.raises(InputError, match="nothing to send again"):
        go_on(sim, "repeat C1")


AUTO_COMMIT = """
title: a group that commits by itself
brokers: 1
configs: {session.timeout.ms: 6000}
groups: [{name: orders, members: [C1, C2], offsets: [1], commit: auto}]
"""
POLLED = ("produce m1 m2", "join C1", "read C1")


def committed_by(*lines: str) -> tuple[Simulation, list[str]]:
    """Play with auto commit; return the commits in __consumer_offsets, too."""
    sim = Simulation(load_text(AUTO_COMMIT), "K39", 0)
    go_on(sim, *POLLED, *lines)
    batches = sim.brokers[1].machine.disks[1].log.batches
    return sim, [value for batch in batches for value in batch.values if value[0] == "p"]


def test_a_poll_commits_what_earlier_polls_returned_every_five_seconds() -> None:
    assert committed_by("process C1", "read C1")[1] == []
    assert committed_by("process C1", "advance 4s", "read C1")[1] == []
    assert committed_by("process C1", "advance 5s")[1] == []
    assert committed_by("process C1", "advance 5s", "read C1", "read C1")[1] == ["p0:2:e0"]
    sim, found = committed_by("process C1", "advance 5s", "produce m3", "read C1")
    assert found == ["p0:2:e0"] and member(sim).position == 3


def test_auto_commit_reads_twice_what_a_crash_kept_from_being_committed() -> None:
    gone = ("die C1", "join C2", "advance 7s", "read C2", "process C2")
    assert committed_by("process C1", "advance 4s", *gone)[0].ledger.processed[1, "m1"] == 2
    sim, _ = committed_by("process C1", "advance 5s", "read C1", "die C1", "join C2", "advance 7s")
    assert sim.consumer(2).position == 2


def test_auto_commit_loses_what_was_polled_and_not_processed_before_the_next_poll() -> None:
    gone = ("read C1", "die C1", "join C2", "advance 7s", "produce m3", "read C2")
    assert sorted(committed_by("advance 5s", *gone)[0].ledger.skipped) == [(1, "m1"), (1, "m2")]
    assert committed_by("advance 4s", *gone)[0].ledger.skipped == {}


def test_auto_commit_commits_before_a_rebalance_and_before_it_leaves() -> None:
    assert committed_by("process C1", "leave C1")[1] == ["p0:2:e0"]
    sim, found = committed_by("process C1", "join C2", "repeat C1", "read C1")
    assert found == ["p0:2:e0"] and member(sim).generation == 2
    sim, found = committed_by("process C1", "timeout C1", "join C2", "repeat C1", "read C1")
    assert found == [], "its generation is over"
    assert member(sim).failed == ""


def test_a_retriable_error_of_an_auto_commit_waits_for_the_next_poll() -> None:
    sim, found = committed_by("process C1", "advance 5s", "kill 1", "restart 1", "read C1")
    assert found == ["p0:2:e0"]
    assert member(sim).failed == "" and not sim.broken


def test_auto_commit_by_the_clock_processes_each_record_once() -> None:
    more = (
        "fetching: auto\nworkload: {producers: [{rate_per_s: 5}], consumers: [{}, {}]}\n"
        "network: {delay_ms: 1, control_delay_ms: 1}\n"
    )
    sim = Simulation(load_text(AUTO_COMMIT + more), "K39", 0)
    go_on(sim, "run 30s")
    assert set(sim.ledger.processed.values()) == {1} and len(sim.ledger.processed) > 50
    assert not sim.ledger.skipped and not sim.broken


@pytest.mark.parametrize("unclean", [True, pytest.param(False, marks=pytest.mark.night)])
def test_a_search_finds_the_loss_of_a_commit_by_an_unclean_election(unclean: bool) -> None:
    scenario = load_text(
        "title: x\npartitions: [[1]]\nbrokers: 3\n"
        f"configs: {{unclean.leader.election.enable: {str(unclean).lower()}}}\n"
        "groups: [{name: orders, members: [C1], offsets: [2, 3]}]\n"
    )
    lines = ("produce m1", "join C1", "settle", "read C1", "process C1")
    alone = ("kill 3", "detect 3", "commit C1", "leave C1")
    run = Run(scenario, "K39", 0, (*lines, *alone))
    found = search(SearchQuestion(run, Budgets(crashes=1), ("I7",)), Bounds(states=20_000))
    assert found.complete or found.ended
    assert ("I7" in found.found) is unclean


def test_producers_do_not_write_to_the_offsets_topic() -> None:
    with pytest.raises(InputError, match="Only coordinators write"):
        play("produce x p=__consumer_offsets-0")


def test_the_menu_offers_what_a_member_can_do() -> None:
    sim = play("join C1", "advance 1s")
    offered = {one["text"]: one["enabled"] for one in possible(sim)}
    assert (offered["commit C1"], offered["join C1"], offered["join C2"]) == (False, False, True)
    go_on(sim, "read C1", "advance 1s")
    assert {one["text"]: one["enabled"] for one in possible(sim)}["commit C1"]


MOVES = (
    *("join C", "join C", "read C", "read C", "process C", "commit C", "commit C", "leave C"),
    *("die C", "cut C1 ", "heal", "kill ", "restart ", "restart ", "pause ", "resume "),
    *("produce x", "advance 900", "advance 4s", "advance 7s"),
)


RECONCILING = THREE.replace(STICKY, "group.protocol: consumer") + "profiles: [K41]\n"
KINDS = (
    AUTO,
    COOPERATIVE,
    STATIC.partition("configs")[0].replace(", C3: app-1", "").replace(", C3]", "]"),
    COOPERATIVE.replace(STICKY, f"{STICKY}, commit: auto, group.instance.id: {{C1: a, C2: a}}"),
    RECONCILING,
    RECONCILING.replace("consumer}", "consumer, commit: auto}"),
)


@pytest.mark.parametrize("seed", sample(range(12), 4))
@pytest.mark.parametrize("kind", range(len(KINDS)))
def test_in_random_runs_no_promise_breaks(seed: int, kind: int) -> None:
    chance = Chance(seed, "group moves")
    sessions = "session.timeout.ms: 6000, group.consumer.session.timeout.ms: 6000"
    often = f"configs: {{{sessions}, max.poll.interval.ms: 10000}}\n"
    text = KINDS[kind] + often + (WORKLOAD if seed % 2 else "")
    new = "consumer" in KINDS[kind]
    sim = Simulation(load_text(text), "K41" if new else ("K39", "Z28", "K41")[seed % 3], 0)
    if seed % 2:
        go_on(sim, "run 20s !900")
    for number in range(40):
        verb = MOVES[chance.below(len(MOVES))]
        numbered = verb[-1:] in " C" and verb != "heal"
        most = 2 if verb[-1:] == "C" and not new else 3
        line = f"{verb}{chance.below(most) + 1}" if numbered else verb
        with suppress(InputError):
            go_on(sim, line if verb != "produce x" else f"produce x{number}.{seed}")
    assert not sim.broken
