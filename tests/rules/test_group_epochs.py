"""Consumer groups with group.protocol=consumer: member epochs and reconciliation (G-9)."""

from __future__ import annotations

import pytest

from engine.groups.member_epochs import uniform
from engine.model.errors import (
    FENCED_MEMBER_EPOCH,
    NONE,
    STALE_MEMBER_EPOCH,
    UNKNOWN_MEMBER_ID,
    InputError,
)
from engine.model.group_messages import (
    ConsumerGroupHeartbeat,
    GroupRequest,
    OffsetCommit,
    OffsetFetch,
)
from engine.scenarios.file import load_text
from engine.sim.simulation import Simulation
from tests.rules.playing import go_on
from tests.rules.test_groups import RECONCILING, STICKY, WORKLOAD, committed_of, heard, member


@pytest.mark.parametrize(
    ("owned", "shares"),
    [
        ([(), ()], [(0, 1, 2), (3, 4)]),
        ([(0, 1, 2, 3, 4), ()], [(0, 1, 2), (3, 4)]),
        ([(0, 1), (2, 3, 4)], [(0, 1, 4), (2, 3)]),
        ([(0, 1, 2), (3, 4), ()], [(0, 1), (3, 4), (2,)]),
        ([(3,), (), (4,), (), (), ()], [(3,), (0,), (4,), (1,), (2,), ()]),
    ],
)
def test_uniform_shares_are_equal_and_keep_what_is_owned(
    owned: list[tuple[int, ...]], shares: list[tuple[int, ...]]
) -> None:
    names = [f"C{number}" for number in range(len(owned))]
    found = uniform(range(5), names, dict(zip(names, owned, strict=True)))
    assert list(found.values()) == shares


def reconciling(*lines: str, more: str = "") -> Simulation:
    """Play until C1 owns 0 and 1, and C2, which has records, 2; then the lines."""
    sim = Simulation(load_text(RECONCILING + more), "K41", 0)
    go_on(sim, "produce a", "produce b p=1", "produce c p=2", "join C1", "advance 1s")
    go_on(sim, "join C2", "advance 12s", "read C2", "advance 1s", *lines)
    return sim


def epochs_of(sim: Simulation) -> list[tuple[int, tuple[int, ...]]]:
    members = [member(sim, number) for number in (1, 2, 3)]
    return [(one.generation, one.assigned) for one in members]


def test_a_member_gets_what_another_has_given_up_without_waiting_for_a_third() -> None:
    sim = reconciling()
    assert epochs_of(sim) == [(2, (0, 1)), (2, (2,)), (-1, ())]
    go_on(sim, "join C3", "advance 100ms")
    assert epochs_of(sim) == [(2, (0, 1)), (2, (2,)), (3, ())], "C1 has not heard of it"
    go_on(sim, "advance 10s")
    assert epochs_of(sim) == [(3, (0,)), (3, (2,)), (3, (1,))] and member(sim, 2).polled
    go_on(sim, "process C2", "commit C2", "advance 1s")
    assert committed_of(sim, 3)[-1].values == ("p2:1:e0",) and not sim.broken


def test_a_slow_member_gives_up_with_its_poll() -> None:
    sim = reconciling("leave C1", "advance 6s", "process C2", "commit C2", "advance 1s")
    go_on(sim, "read C2", "advance 6s", "produce d p=0", "advance 1s", "read C2", "advance 1s")
    assert member(sim, 2).assigned == (0, 1, 2) and member(sim, 2).polled
    go_on(sim, "join C3", "advance 30s")
    assert (member(sim, 2).assigned, member(sim, 3).assigned) == ((0, 1, 2), ())
    go_on(sim, "process C2", "read C2", "advance 6s")
    assert (member(sim, 2).assigned, member(sim, 3).assigned) == ((0, 1), (2,))


def test_a_member_that_gives_nothing_up_in_time_is_fenced_and_loses_all() -> None:
    sim = reconciling(more="configs: {max.poll.interval.ms: 60000}\n")
    go_on(sim, "process C2", "commit C2", "leave C1", "advance 6s", "read C2", "advance 6s")
    member(sim, 2).max_poll_ms = 10**6
    go_on(sim, "produce d p=0", "advance 1s", "read C2", "advance 1s", "join C3", "advance 75s")
    assert member(sim, 2).assigned == () and member(sim, 3).assigned == (0, 1, 2)
    assert member(sim, 2).rejoins and not sim.broken


def test_the_next_coordinator_goes_on_with_a_reconciliation() -> None:
    sim = reconciling("join C3", "advance 100ms", "kill 2", "advance 30s")
    assert epochs_of(sim) == [(3, (0,)), (3, (2,)), (3, (1,))] and not sim.broken
    text = "; ".join(value for batch in committed_of(sim, 3) for value in batch.values)
    assert "a2:C1-1:2:0:1; a3:C1-1:2:0:" in text and text.endswith("a3:C3-1:3:1:")


def answers(sim: Simulation, *requests: GroupRequest) -> list[int]:
    return [heard(sim, 2, request) for request in requests]


def test_each_request_has_the_member_epoch() -> None:
    sim = reconciling("join C3", "advance 10s")
    client = member(sim).id

    def beat(epoch: int, owned: tuple[int, ...], name: str = "C1-1") -> GroupRequest:
        return ConsumerGroupHeartbeat(client, 2, 99, 3, name, epoch, (), "", owned)

    assert answers(sim, beat(9, ()), beat(1, ()), beat(3, (0,), "C9-1")) == [
        FENCED_MEMBER_EPOCH,
        FENCED_MEMBER_EPOCH,
        UNKNOWN_MEMBER_ID,
    ]
    assert answers(sim, beat(2, (0, 1)), beat(2, (0,)), beat(3, (0,))) == [
        FENCED_MEMBER_EPOCH,
        NONE,
        NONE,
    ], "the epoch before, if the response with the new one was lost"
    for kind in (OffsetCommit, OffsetFetch):
        found = [kind(client, 2, 99, 3, name, epoch) for name, epoch in MEMBERS]
        assert answers(sim, *found) == [STALE_MEMBER_EPOCH, UNKNOWN_MEMBER_ID]


MEMBERS = (("C1-1", 2), ("C9-1", 3))


def test_a_member_that_was_removed_abandons_all_and_joins_again() -> None:
    more = "configs: {group.consumer.session.timeout.ms: 6000}\n"
    sim = reconciling("process C2", "read C2", "cut C2 2", "advance 15s", more=more)
    assert (member(sim).assigned, member(sim, 2).assigned) == ((0, 1, 2), (2,))
    go_on(sim, "heal", "advance 40s")
    assert epochs_of(sim)[:2] == [(4, (0, 1)), (4, (2,))] and not sim.broken


def test_records_that_cannot_be_written_leave_the_group_as_it_was() -> None:
    sim = reconciling("process C2", "read C2", "set min.insync.replicas=3", "kill 1", "advance 40s")
    go_on(sim, "join C3", "advance 20s")
    group = sim.brokers[2].running.groups[3]
    assert (group.generation, len(group.members)) == (2, 2) and member(sim, 3).generation == -1


@pytest.mark.parametrize("commit", ["after", "before", "auto"])
def test_by_the_clock_reconciling_members_process_each_record_once(commit: str) -> None:
    more = WORKLOAD.replace("consumers: 2", "consumers: 3")
    more += "configs: {group.consumer.heartbeat.interval.ms: 300}\n"
    text = RECONCILING.replace("consumer}", f"consumer, commit: {commit}}}") + more
    sim = Simulation(load_text(text), "K41", 0)
    go_on(sim, "run", "advance 6s")
    produced = sum(len(batch.values) for tp in range(3) for batch in committed_of(sim, tp))
    assert produced > 400 and len(sim.ledger.processed) == produced
    assert not sim.broken and not sim.checker.counts
    assert sorted(len(member(sim, number).assigned) for number in (1, 2, 3)) == [1, 1, 1]


def test_the_protocol_of_kip_848_is_read_strictly() -> None:
    assert "as of Kafka 4.0" in load_text(RECONCILING).cannot_begin("K39")
    with pytest.raises(InputError, match=r"as of Kafka 4\.0"):
        load_text(RECONCILING.replace("K41", "K39"))
    for more in ("group.instance.id: {C1: a}", STICKY):
        with pytest.raises(InputError, match=r"With group\.protocol: consumer remove"):
            load_text(RECONCILING.replace("consumer}", f"consumer, {more}}}"))
