"""An invariant that never failed is not yet an invariant: here each of them fails.

By an old profile or a flipped flag where history broke it, else by a mutant: one rule of the engine
replaced by a wrong one.  The same run unbroken holds.  What is told of each failure stands in
invariants.txt; `pytest tests/test_invariants.py --rewrite` rewrites it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from engine.checks.catalogue import INVARIANTS
from engine.controlplane import election, membership, roles
from engine.controlplane.roles import make_leader
from engine.dataplane import (
    insync,
    produce,
    purgatory,
    reading,
    serving,
    session_serving,
    watermark,
)
from engine.model.epochs import EpochCache
from engine.model.flags import FLAGS
from engine.model.messages import FETCH
from engine.model.producers import Producers
from engine.model.quotas import Quotas
from engine.model.sessions import PartitionRequest
from engine.model.state import SHRINK
from engine.scenarios.file import find
from engine.scenarios.scenario import Scenario
from engine.sim import dispatch
from engine.sim.run import Run, play_all
from engine.sim.simulation import Simulation
from tests import group_errors, quorum_errors, tier_errors
from tests.conftest import ROOT

TOLD = Path(__file__).parent / "invariants.txt"
Mutation = Callable[[pytest.MonkeyPatch], None]

THREE = Scenario.from_dict({"title": "x", "brokers": 3})
TWO_OF_THREE = THREE.vary("configs.min.insync.replicas", 2)
REWRITTEN = THREE.vary("configs.unclean.leader.election.enable", True)
BY_THE_CLOCK = Scenario.from_dict(
    {
        "title": "x",
        "brokers": 3,
        "fetching": "auto",
        "network": {"delay_ms": [1, 20], "control_delay_ms": [1, 20]},
        "configs": {"retry.backoff.ms": 200},
        "workload": {"producers": [{"rate_per_s": 5, "acks": "all", "idempotent": True}]},
        "faults": [{"kind": "kill", "brokers": "all", "mtbf_ms": 15000, "mttr_ms": 3000}],
        "duration_ms": 60000,
        "script": "run\nsettle",
    }
)

ALTERNATING = """\
set unclean.leader.election.enable=true
produce r0
settle
kill A
detect A
produce b1 acks=1
kill B
detect B
restart A
produce a1 a2 a3 acks=1
kill A
detect A
restart B
produce b2 acks=1
kill B
detect B
restart A
produce a4 a5 acks=1
restart B
settle
"""
TWO_LEADERS_IN_TURN = Scenario.from_dict(
    {"title": "S4 of the data plane", "brokers": ["A", "B"], "script": ALTERNATING}
)


# -- wrong rules ----------------------------------------------------------------------------------


def everybody_leads(patch: pytest.MonkeyPatch) -> None:
    """CP-KR-APPLY: a broker takes the record of another's leadership for its own."""

    def wrong(broker: Any, tp: int, record: Any, out: Any) -> None:
        make_leader(broker, tp, record, out)

    patch.setattr(membership, "apply_record", wrong)


def epochs_fall(patch: pytest.MonkeyPatch) -> None:
    """CP-ELECT-KR 10: every change of a partition lowers its epochs."""
    right = election.change_partition

    def wrong(record: Any, *target: Any, **rules: Any) -> Any:
        result = right(record, *target, **rules)
        if result.changed:
            result.record.leader_epoch = record.leader_epoch - 1
        return result

    patch.setattr(election, "change_partition", wrong)


def the_leader_is_left_out(patch: pytest.MonkeyPatch) -> None:
    """CP-ELECT-KR: the new leader is not written into the ISR."""
    right = election.change_partition

    def wrong(record: Any, *target: Any, **rules: Any) -> Any:
        result = right(record, *target, **rules)
        if result.changed:
            after = result.record
            after.isr = tuple(member for member in after.isr if member != after.leader)
        return result

    patch.setattr(election, "change_partition", wrong)


def expansions_do_not_count(patch: pytest.MonkeyPatch) -> None:
    """CP-ALTER: the leader forgets to wait for the member it has proposed."""
    right = insync._propose

    def wrong(broker: Any, replica: Any, kind: int, isr: Any, out: Any) -> None:
        right(broker, replica, kind, isr, out)
        replica.maximal_isr = replica.isr

    patch.setattr(insync, "_propose", wrong)


def shrinks_by_itself(patch: pytest.MonkeyPatch) -> None:
    """S-8: the leader takes late members out without asking anybody."""
    right = insync._propose

    def wrong(broker: Any, replica: Any, kind: int, isr: Any, out: Any) -> None:
        if kind == SHRINK:
            replica.isr = replica.maximal_isr = isr
            watermark.maybe_increment_hw(broker, replica, out)
        else:
            right(broker, replica, kind, isr, out)

    patch.setattr(insync, "_propose", wrong)


def sequences_are_ignored(patch: pytest.MonkeyPatch) -> None:
    """P-7: no batch is a duplicate."""
    patch.setattr(Producers, "check", lambda *_: (0, None))


def followers_learn_of_no_commit(patch: pytest.MonkeyPatch) -> None:
    """H-4: the follower does not take over the leader's mark."""
    patch.setattr(watermark, "follow", lambda replica, leader_hw, out: False)


def marks_are_not_bounded(patch: pytest.MonkeyPatch) -> None:
    """H-4: the follower takes over the mark, whatever its log holds."""

    def wrong(replica: Any, leader_hw: int, out: Any) -> bool:
        replica.log.hw = leader_hw + 5
        return True

    patch.setattr(watermark, "follow", wrong)


def followers_commit_what_they_have(patch: pytest.MonkeyPatch) -> None:
    """H-4: the follower takes its own end for committed."""

    def wrong(replica: Any, leader_hw: int, out: Any) -> bool:
        replica.log.hw = replica.log.leo
        return True

    patch.setattr(watermark, "follow", wrong)


def odd_offsets_are_stamped_old(patch: pytest.MonkeyPatch) -> None:
    """L-3: every second batch carries the epoch before the leader's."""
    right = produce.Batch
    patch.setattr(
        produce,
        "Batch",
        lambda base, epoch, *rest: right(base, max(0, epoch - base % 2), *rest),
    )


def epochs_are_noted_late(patch: pytest.MonkeyPatch) -> None:
    """E-2: an epoch is noted one offset too far."""
    right = EpochCache.assign
    patch.setattr(EpochCache, "assign", lambda self, epoch, offset: right(self, epoch, offset + 1))


def the_cache_is_not_cut(patch: pytest.MonkeyPatch) -> None:
    """E-3: truncation leaves the epoch cache as it was."""
    patch.setattr(EpochCache, "truncate_from_end", lambda self, offset: None)


def leaders_cut_for_their_followers(patch: pytest.MonkeyPatch) -> None:
    """S-2: a leader that is ahead of a follower gives up the difference."""
    right = serving.on_fetch_request

    def wrong(broker: Any, m: Any, out: Any) -> None:
        right(broker, m, out)
        log = broker.replicas[0].log
        if m.replica >= 0 and m.partitions[0].offset < log.leo:
            log.truncate_to(m.partitions[0].offset)
            out.touch(broker.id, 0)

    patch.setitem(dispatch.ON_BROKER, FETCH, wrong)


def leaders_begin_at_nought(patch: pytest.MonkeyPatch) -> None:
    """H-8: a replica that is made leader resets its high watermark, though it led before."""

    def wrong(broker: Any, tp: int, record: Any, out: Any) -> bool:
        new = make_leader(broker, tp, record, out)
        broker.replicas[tp].log.hw = 0
        return new

    patch.setattr(roles, "make_leader", wrong)


def consumers_see_everything(patch: pytest.MonkeyPatch) -> None:
    """H-10: a consumer may read as far as the log goes."""
    right = reading.read_partition

    def wrong(broker: Any, m: Any, fp: Any, out: Any, budget: Any = None) -> Any:
        data = right(broker, m, fp, out, budget)
        if m.replica < 0 and not data.error:
            log = broker.replicas[fp.tp].log
            data.batches = log.read(fp.offset, log.leo, m.max_records)
        return data

    patch.setattr(serving, "read_partition", wrong)
    patch.setattr(purgatory, "read_partition", wrong)


def quotas_hold_everybody_back(patch: pytest.MonkeyPatch) -> None:
    """Q-2, Q-4: the leader asks for its quota only, not for the ISR."""
    right = Quotas.leader_holds_back
    patch.setattr(
        Quotas,
        "leader_holds_back",
        lambda self, partition, follower, in_isr, now: right(self, partition, follower, False, now),
    )


def quotas_do_not_ask_for_the_lag(patch: pytest.MonkeyPatch) -> None:
    """Q-3: the follower leaves out whatever is listed, caught up or not."""
    right = Quotas.follower_holds_back
    patch.setattr(
        Quotas,
        "follower_holds_back",
        lambda self, partition, follower, lag, now: right(self, partition, follower, None, now),
    )


def forgotten_partitions_stay(patch: pytest.MonkeyPatch) -> None:
    """X-3: the leader does not take out of the session what the fetcher has forgotten."""
    right = session_serving.new_context
    patch.setattr(
        session_serving,
        "new_context",
        lambda cache, now, id, epoch, wanted, forgotten, *rest: right(
            cache, now, id, epoch, wanted, (), *rest
        ),
    )


def leaders_note_no_offset(patch: pytest.MonkeyPatch) -> None:
    """X-3: the leader remembers of each partition that it is fetched from the start."""
    patch.setattr(
        session_serving,
        "PartitionRequest",
        lambda offset, log_start, *rest: PartitionRequest(0, log_start, *rest),
    )


# -- cases ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """How an invariant fails; `holds` is the profile under which, without the mutant, it holds;
    where chance decides, and not the release, it is `other_seed` that spares it."""

    invariant: str
    scenario: Scenario
    profile: str
    mutant: Mutation | None = None
    holds: str = "K39"
    moves: str = ""
    seed: int = 0
    other_seed: int | None = None

    @property
    def id(self) -> str:
        how = self.mutant.__name__ if self.mutant else self.profile
        return "-".join(filter(None, (self.invariant, self.scenario.code, how)))

    def play(self, profile: str, seed: int) -> Simulation:
        lines = tuple(line.strip() for line in self.moves.split(";")) if self.moves else None
        return play_all(Run(self.scenario, profile, seed, lines))


MOVED = "produce a b; settle; kill 1; detect 1; restart 1; settle"
SHRUNK = "produce a; settle; kill 3; detect 3"
STALE = (
    "produce a; settle; hold md 3; cut 1 K; detect 1; produce x y to 1 acks=1; "
    "fetch 3; fetch 3; advance 40s; tick 1; fetch 3"
)
PARTED = (
    "produce a; settle; elect 2; produce x acks=1; kill 3; detect 3; produce y acks=1; "
    "kill 2; detect 2; restart 2; settle"
)
UNCOMMITTED = "produce a; settle; produce b; read"
LATEST = "produce a b c; fetch 2; fetch 3; ask 2; ask 3; seek latest; kill 1; detect 1; seek latest"
OVERWRITTEN = (
    "produce a; settle; kill 2; detect 2; kill 3; detect 3; produce b; read; kill 1; detect 1; "
    "restart 2; produce x y; read"
)

THROTTLED = (
    "set {0}.replication.throttled.replicas=*; set {0}.replication.throttled.rate=1; "
    "fetching auto; produce a; advance 500; produce b; advance 2s"
)

VOTERS = Scenario.from_dict(
    {
        "title": "x",
        "brokers": 3,
        "quorum": ["C1", "C2", "C3"],
        "fetching": "auto",
        "network": {"delay_ms": 1, "control_delay_ms": 1},
    }
)
CUT_OFF = "advance 1s; cut C1 C2; cut C1 C3; elect 2; advance 1s"
DEPOSED = CUT_OFF + "; advance 5s; heal; advance 5s; elect 2; advance 2s"
BEHIND = (
    "advance 1s; kill C3; elect 2; advance 1s; kill C1; kill C2; restart C3; advance 4s; "
    "restart C2; advance 9s"
)
CRASHED = "advance 1s; kill C1; advance 5s"
CHANGING = Scenario.from_dict(
    {
        "title": "x",
        "brokers": 1,
        "quorum": ["C1", "C2", "C3", "C4", "C5"],
        "network": {"control_delay_ms": 1},
        "configs": {"kraft.version": 1},
    }
)
CHANGES = "advance 1s; remove C2; advance 1s; remove C3; advance 1s"

CASES = (
    Case("I1", THREE, "K39", everybody_leads, moves="produce a; settle; elect 2"),
    Case("I2", THREE, "K39", epochs_fall, moves=MOVED),
    Case("I3", THREE, "K39", the_leader_is_left_out, moves=MOVED),
    Case("I4", THREE, "K39", expansions_do_not_count, moves=MOVED),
    Case("I4", find("S61"), "K39", seed=519, other_seed=520),
    Case("I5", find("S14"), "Z0102", holds="Z33"),
    Case("I5", find("S23"), "Z011"),
    Case("I6", find("R20"), "Z0102"),
    Case("I7", find("R20"), "Z0102"),
    Case("I9", find("S21"), "Z0102", holds="Z28"),
    Case("I10", find("R20"), "Z0102"),
    Case("I10", find("S27"), "Z011", holds="Z20"),
    Case("I12", BY_THE_CLOCK, "K39-idempotent_producer"),
    Case("I12", BY_THE_CLOCK, "K39", sequences_are_ignored),
    Case("I13", BY_THE_CLOCK, "K39", followers_learn_of_no_commit),
    Case("I14", find("S05"), "K39-strict_min_isr"),
    Case("I14", TWO_OF_THREE, "K36", moves="produce a; shutdown 3; shutdown 2"),
    Case("I15", THREE, "K39", shrinks_by_itself, moves=STALE),
    Case("INV-1", THREE, "K39", marks_are_not_bounded, moves="produce a b; settle"),
    Case("INV-3", THREE, "K39", odd_offsets_are_stamped_old, moves=MOVED + "; produce c d e"),
    Case("INV-3", TWO_LEADERS_IN_TURN, "Z011", holds="Z20"),
    Case("INV-4", THREE, "Z28", the_cache_is_not_cut, "Z28", PARTED),
    Case("INV-5", THREE, "K39", epochs_are_noted_late, moves="produce a b; settle"),
    Case("INV-5", TWO_LEADERS_IN_TURN, "Z011", holds="Z20"),
    Case("INV-10", THREE, "K39", leaders_cut_for_their_followers, moves="produce a b; settle"),
    Case("INV-12", find("S23"), "Z011"),
    Case("INV-12", find("S24"), "Z20", holds="Z21"),
    Case("INV-13", find("S32"), "K33", holds="K35"),
    Case("INV-13", find("S21"), "Z0102"),
    Case("INV-13", find("S14"), "Z0102", holds="Z33"),
    Case("INV-18", THREE, "K39", leaders_begin_at_nought, moves=SHRUNK),
    Case("INV-20", THREE, "K39", followers_commit_what_they_have, moves="produce a b; settle"),
    Case("INV-23", THREE, "K39", consumers_see_everything, moves=UNCOMMITTED),
    Case("INV-25", THREE, "K39-offset_not_available", moves=LATEST),
    Case("INV-27", REWRITTEN, "K39-consumer_epochs", moves=OVERWRITTEN),
    Case("INV-28", THREE, "K39", quotas_hold_everybody_back, moves=THROTTLED.format("leader")),
    Case("INV-28", THREE, "K39", quotas_do_not_ask_for_the_lag, moves=THROTTLED.format("follower")),
    Case("INV-29", find("S64"), "K39", forgotten_partitions_stay),
    Case("INV-29", find("S64"), "K39", leaders_note_no_offset),
    Case("INV-31", VOTERS, "K39", quorum_errors.voters_grant_every_vote, moves=CRASHED),
    Case("INV-32", VOTERS, "K36", quorum_errors.logs_part_unnoticed, "K36", DEPOSED),
    Case("INV-33", VOTERS, "K39", quorum_errors.shorter_logs_are_elected, moves=BEHIND),
    Case("INV-34", VOTERS, "K39", quorum_errors.leaders_commit_alone, moves=CUT_OFF),
    Case("INV-42", CHANGING, "K39", quorum_errors.changes_do_not_wait, moves=CHANGES),
    *(
        Case(name, group_errors.GROUP, "K39", mutant, moves=lines)
        for name, mutant, lines in (
            ("INV-35", group_errors.everybody_owns_everything, group_errors.SHARED),
            ("INV-36", group_errors.any_member_commits, group_errors.CUT_OFF),
            ("I7", group_errors.commits_are_answered_at_once, group_errors.CRASHED),
        )
    ),
    Case(
        "INV-35",
        group_errors.COOPERATIVE,
        "K39",
        group_errors.what_moves_is_assigned_at_once,
        moves=group_errors.MOVING,
    ),
    *(
        Case(name, group_errors.RECONCILING, "K41", mutant, moves=lines)
        for name, mutant, lines in (
            ("INV-35", group_errors.what_is_owned_counts_as_free, group_errors.BUSY),
            ("INV-36", group_errors.any_epoch_commits, group_errors.REMOVED),
        )
    ),
    Case(
        "INV-43",
        group_errors.STATIC,
        "K39",
        group_errors.a_former_process_commits,
        moves=group_errors.TAKEN_OVER,
    ),
    *(
        Case(name, tier_errors.TIERED, "K39", mutant, moves=lines)
        for name, mutant, lines in (
            ("INV-39", tier_errors.anything_is_deleted_locally, tier_errors.FAILING),
            ("INV-40", tier_errors.a_follower_keeps_the_last_epoch_only, tier_errors.REJOINED),
            ("INV-41", tier_errors.every_closed_segment_is_copied, tier_errors.UNCOMMITTED),
        )
    ),
)


def told(sim: Simulation, invariant: str) -> str:
    """`step: why` of an invariant, or ""."""
    return next((f"{step}: {why}" for name, step, why in sim.broken if name == invariant), "")


def read_told() -> dict[str, str]:
    lines = TOLD.read_text("utf-8").splitlines()
    return dict(line.split(" | ", 1) for line in lines)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_each_fails_and_the_run_unbroken_holds(
    case: Case, monkeypatch: pytest.MonkeyPatch, rewrite: bool
) -> None:
    seed = case.seed if case.other_seed is None else case.other_seed
    assert told(case.play(case.holds, seed), case.invariant) == "", "the run unbroken"
    if case.mutant is not None:
        case.mutant(monkeypatch)
    found = told(case.play(case.profile, case.seed), case.invariant)
    assert found, "nothing was noticed: is there an event of engine/checks/invariant.py for it?"
    if rewrite:
        all_told = read_told() if TOLD.exists() else {}
        all_told[case.id] = found
        order = {one.id: number for number, one in enumerate(CASES)}
        lines = sorted(all_told, key=lambda name: order.get(name, -1))
        TOLD.write_text("".join(f"{i} | {all_told[i]}\n" for i in lines if i in order), "utf-8")
    known = read_told()
    assert case.id in known, f"{TOLD.name} lacks it: pytest tests/test_invariants.py --rewrite"
    assert found == known[case.id]


def test_a_statistic_is_counted_and_is_no_violation() -> None:
    """I8: a record acknowledged with acks=1 may go; with acks=all the same run loses nothing."""
    lost = play_all(Run(find("S03"), "K39"))
    assert lost.checker.counts["I8"] == 1
    assert list(lost.ledger.lost_single) == ["b"]
    assert lost.broken == []
    assert "I8" not in play_all(Run(find("S04"), "K39")).checker.counts
    assert play_all(Run(find("S88"), "K39")).checker.counts == {"INV-37": 2}
    assert play_all(Run(find("S89"), "K39")).checker.counts == {"INV-38": 2}


def test_every_invariant_is_seen_to_fail() -> None:
    seen = {case.invariant for case in CASES}
    statistics = {name for name, one in INVARIANTS.items() if one.statistic}
    missing = set(INVARIANTS) - seen - statistics
    assert not missing, f"CASES lacks a run that breaks each of {missing}: an alarm nobody heard"
    assert statistics == {"I8", "INV-37", "INV-38"}, "told in a test of its own, above"
    assert len({case.id for case in CASES}) == len(CASES)


def test_its_flags_are_flags_of_kafka() -> None:
    for name, one in INVARIANTS.items():
        unknown = {*one.needs, *one.broken_by} - FLAGS.keys()
        assert not unknown, f"engine/checks/invariants, {name}: no such flags: {unknown}"


def test_its_number_is_that_of_the_specification() -> None:
    told = (ROOT / "docs/reference/protocol/data-plane.md").read_text("utf-8")
    for name, one in INVARIANTS.items():
        if name.startswith("INV-"):
            assert f"**{name} {one.title}**" in told, (
                f"docs/reference/protocol/data-plane.md, {name}"
            )


def test_the_registry_names_the_specification() -> None:
    """I1 - I15 without I11, which says that it is none; the others are finer, one per mechanism."""
    plain = [name for name in INVARIANTS if not name.startswith("INV")]
    assert plain == [f"I{number}" for number in range(1, 16) if number != 11]
    for name, one in INVARIANTS.items():
        assert one.name == name
        assert one.statement.endswith(".") and one.title[0].isupper() and " " not in one.title
    also = [other for one in INVARIANTS.values() for other in one.also.split(", ") if other]
    assert len(set(also)) == len(also)
    assert not set(also) & set(INVARIANTS), "one that is another's other name needs no entry"
