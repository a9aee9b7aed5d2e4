"""Every invariant is seen to fail: by a run of an older Kafka, or by a rule broken on purpose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from engine.checks.invariants import INVARIANTS
from engine.controlplane import kraft, roles
from engine.dataplane import insync, watermark
from engine.model.epochs import EpochCache
from engine.model.producers import Producers
from engine.model.records import PartitionRecord
from engine.scenarios.file import find
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play, play_all

Patch = pytest.MonkeyPatch
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


def broken(run: Run) -> dict[str, int]:
    """Invariant -> how often it was reported, statistics included."""
    return dict(play_all(run).checker.counts)


# -- by a run ------------------------------------------------------------------------------------

BY_A_RUN: dict[str, tuple[Run, Run]] = {
    # invariant: (the run that breaks it, the same run as later Kafka plays it)
    "I4": (Run(find("S61"), "K39", 519), Run(find("S61"), "K39", 520)),
    "I5": (Run(find("S23"), "Z011"), Run(find("S23"), "Z20")),
    "I6": (Run(find("S20"), "Z0102"), Run(find("S20"), "Z011")),
    "I7": (Run(find("S20"), "Z0102"), Run(find("S20"), "Z011")),
    "I8": (Run(find("S03"), "K39"), Run(find("S04"), "K39")),
    "I9": (Run(find("S21"), "Z0102"), Run(find("S21"), "K39")),
    "I10": (Run(find("S27"), "Z011"), Run(find("S27"), "Z20")),
    "I14": (Run(find("S06"), "K39-strict_min_isr"), Run(find("S06"), "K39")),
    "INV-3": (Run(TWO_LEADERS_IN_TURN, "Z011"), Run(TWO_LEADERS_IN_TURN, "Z20")),
    "INV-5": (Run(TWO_LEADERS_IN_TURN, "Z011"), Run(TWO_LEADERS_IN_TURN, "Z20")),
    "INV-12": (Run(find("S24"), "Z20"), Run(find("S24"), "Z21")),
    "INV-13": (Run(find("S32"), "K33"), Run(find("S32"), "K35")),
}


@pytest.mark.parametrize("name", BY_A_RUN)
def test_older_kafka_breaks_what_newer_kafka_keeps(name: str) -> None:
    breaks, keeps = BY_A_RUN[name]
    assert name in broken(breaks)
    assert name not in broken(keeps)


# -- by a rule broken on purpose ------------------------------------------------------------------


def two_leaders(patch: Patch) -> None:
    """A follower that takes the leadership it was told of for its own."""
    honest = roles.apply_record

    def usurp(broker: Any, tp: int, record: PartitionRecord, out: Any) -> None:
        if broker.id == 3 and record.leader_epoch > 0:
            roles.make_leader(broker, tp, record, out)
        else:
            honest(broker, tp, record, out)

    patch.setattr("engine.controlplane.membership.apply_record", usurp)


def forgetful_controller(patch: Patch) -> None:
    """An election that goes back to an older leader epoch."""
    honest = kraft.change

    def forget(k: Any, tp: int, out: Any, **wanted: Any) -> Any:
        result, records = honest(k, tp, out, **wanted)
        if records:
            after = result.record.copy()
            after.leader_epoch = -1
            k.records[tp] = result.record = after
            records = [(records[0][0], tp, after)]
        return result, records

    patch.setattr(kraft, "change", forget)


def leader_outside_isr(patch: Patch) -> None:
    """A controller that takes a dead leader out of the ISR and keeps it as leader."""
    honest = kraft.change

    def keep(k: Any, tp: int, out: Any, **wanted: Any) -> Any:
        leader = k.records[tp].leader
        result, records = honest(k, tp, out, **wanted)
        if records:
            after = result.record.copy()
            after.leader = leader
            k.records[tp] = result.record = after
            records = [(records[0][0], tp, after)]
        return result, records

    patch.setattr(kraft, "change", keep)


def zombie_commits(patch: Patch) -> None:
    """A leader that commits what it has, whoever else has it."""

    def alone(broker: Any, replica: Any, out: Any) -> bool:
        moved = bool(replica.log.hw < replica.log.leo)
        replica.log.hw = replica.log.leo
        return moved

    patch.setattr("engine.dataplane.produce.maybe_increment_hw", alone)


def unbounded_follower(patch: Patch) -> None:
    """A follower that takes the leader's mark without looking at its own log."""

    def trusting(replica: Any, leader_hw: int, out: Any) -> bool:
        replica.log.hw = leader_hw + 1
        return True

    patch.setattr(watermark, "follow", trusting)


def careless_cache(patch: Patch) -> None:
    """An epoch cache that notes every epoch at the log's end, in whatever order."""

    def append(self: EpochCache, epoch: int, offset: int) -> bool:
        self.epochs.append(epoch)
        self.starts.append(offset + 5)
        return True

    patch.setattr(EpochCache, "assign", append)


def truncating_leader(patch: Patch) -> None:
    """A leader that cuts its log back to its mark when it hears of a change."""
    honest = insync.commit_isr

    def cut(broker: Any, replica: Any, isr: Any, epoch: int, out: Any) -> None:
        honest(broker, replica, isr, epoch, out)
        replica.log.truncate_to(max(0, replica.log.hw - 1))

    patch.setattr(insync, "commit_isr", cut)


def leader_steps_back(patch: Patch) -> None:
    """A leader that lowers its mark when the ISR changes."""
    honest = insync.commit_isr

    def lower(broker: Any, replica: Any, isr: Any, epoch: int, out: Any) -> None:
        honest(broker, replica, isr, epoch, out)
        replica.log.hw = 0

    patch.setattr(insync, "commit_isr", lower)


def forgets_sequences(patch: Patch) -> None:
    """A broker that recognises no batch it has written before."""
    patch.setattr(Producers, "check", lambda self, *batch: (0, None))


def deaf_follower(patch: Patch) -> None:
    """Followers that never learn what is committed."""
    patch.setattr(watermark, "follow", lambda *ignored: False)


RETRIES = Scenario.from_dict(
    {
        "title": "Retries of an idempotent producer",
        "fetching": "auto",
        "network": {"delay_ms": [1, 9], "loss": 0.2},
        "workload": {"producers": [{"rate_per_s": 30, "idempotent": True}]},
        "duration_ms": 8_000,
        "script": "run",
    }
)
WRITES = Scenario.from_dict(
    {
        "title": "A few writes, then quiet",
        "fetching": "auto",
        "network": {"delay_ms": [1, 2]},
        "workload": {"producers": [{"rate_per_s": 20, "acks": 1}]},
        "duration_ms": 1_000,
        "script": "run\nadvance 40s\nsettle",
    }
)
BY_A_MUTANT: dict[str, tuple[Callable[[Patch], None], Run]] = {
    "I1": (two_leaders, Run(find("S10"), "K39")),
    "I2": (forgetful_controller, Run(find("S10"), "K39")),
    "I3": (leader_outside_isr, Run(find("S10"), "K39")),
    "I12": (forgets_sequences, Run(RETRIES, "K39", 1)),
    "I13": (deaf_follower, Run(WRITES, "K39")),
    "I15": (zombie_commits, Run(find("S25"), "K39")),
    "INV-1": (unbounded_follower, Run(find("S01"), "K39")),
    "INV-4": (careless_cache, Run(find("S10"), "K39")),
    "INV-10": (truncating_leader, Run(find("S07"), "Z25")),
    "INV-18": (leader_steps_back, Run(find("S07"), "Z25")),
    "INV-20": (unbounded_follower, Run(find("S01"), "Z0102")),
}


@pytest.mark.parametrize("name", BY_A_MUTANT)
def test_a_broken_rule_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutate, run = BY_A_MUTANT[name]
    assert name not in broken(run)
    mutate(monkeypatch)
    sim = run.simulation()
    try:
        for _ in play(sim, run.lines()):
            if name in sim.checker.counts:
                break
    except Exception as error:  # a cluster this broken may not reach the end of its script
        assert name in sim.checker.counts, error
    assert name in sim.checker.counts


def test_none_is_left_out() -> None:
    assert set(INVARIANTS) == {*BY_A_RUN, *BY_A_MUTANT}


def test_each_says_what_when_and_why() -> None:
    sim = play_all(Run(find("S20"), "Z0102"))
    assert ("I7", 51) in [(name, step) for name, step, _ in sim.broken]
    why = next(why for name, _, why in sim.broken if name == "I7")
    assert why == (
        "m3 at offset 3, acknowledged with acks=all, is gone: broker A leads epoch 1 without it"
    )
