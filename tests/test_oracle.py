"""I5, I6 and I7 once more, looking at the whole cluster after every event: what the checker, which
looks only at what changed, must agree with."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations
from random import Random

import pytest

from engine.checks.invariants.isr import unlike_prefix
from engine.checks.prefix import differing, has_values, is_just
from engine.model.log import Batch, Log
from engine.model.state import DOWN
from engine.scenarios.file import find
from engine.sim.run import Run, play_all, run_to_end
from engine.sim.simulation import Simulation
from engine.study.wander import WORLDS, advance, allowed
from tests.conftest import THOROUGH
from tests.random_play import again


class Oracle:
    """The naive form: every pair, every committed and every acknowledged record, every time."""

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self.first: dict[str, int] = {}
        self.committed: defaultdict[int, dict[int, Batch]] = defaultdict(dict)
        sim.listener = lambda kind, node, what: self.look()

    def broken(self, name: str, step: int) -> None:
        self.first.setdefault(name, step)

    def look(self) -> None:
        for tp, record in self.sim.cluster.controller.records.items():
            if not self._agree(tp, record.isr):
                self.broken("I5", self.sim.events)
            leader = self.sim.cluster.current_leader(tp)
            if leader is None:
                continue
            log, committed = leader.log, self.committed[tp]
            if not all(_holds(log, batch) for batch in committed.values()):
                self.broken("I6", self.sim.events)
                committed.clear()
            for acked in self.sim.ledger.acked[tp]:
                gone = acked.base >= log.log_start and not has_values(log, acked.base, acked.values)
                if acked.acks == -1 and gone:
                    self.broken("I7", self.sim.events)
            for batch in log.batches:
                if batch.base < log.hw:
                    committed[batch.base] = batch

    def _agree(self, tp: int, isr: tuple[int, ...]) -> bool:
        brokers = [self.sim.brokers[member] for member in isr]
        logs = [
            broker.replicas[tp].log
            for broker in brokers
            if broker.status != DOWN and tp in broker.replicas
        ]
        for one, other in combinations(logs, 2):
            start, end = max(one.log_start, other.log_start), min(one.hw, other.hw)
            mine, theirs = (_below(log.batches, start, min(end, log.leo)) for log in (one, other))
            if any(mine[offset] != theirs[offset] for offset in mine.keys() & theirs.keys()):
                return False
        return True


def _below(batches: list[Batch], start: int, end: int) -> dict[int, tuple[int, str]]:
    """offset -> (epoch, record)."""
    return {
        batch.base + number: (batch.epoch, value)
        for batch in batches
        for number, value in enumerate(batch.values)
        if start <= batch.base + number < end
    }


def _holds(log: object, batch: Batch) -> bool:
    start: int = log.log_start
    batches: list[Batch] = log.batches
    return batch.end <= start or any(one.same(batch) for one in batches)


def compare(sim: Simulation, oracle: Oracle, how: str) -> set[str]:
    found = {name: step for name, step, _ in sim.broken if name in ("I5", "I6", "I7")}
    assert found == oracle.first, how
    return set(found)


@pytest.mark.parametrize(
    ("code", "profile", "seeds"),
    [("S61", "Z0102", 24), ("S61", "Z011", 4), ("S59", "Z0102", 8), ("S59", "K35", 4),
     ("S62", "K39", 6)],
)  # fmt: skip
def test_runs_under_random_faults(code: str, profile: str, seeds: int) -> None:
    scenario = find(code)
    if code != "S61":
        scenario = scenario.vary("configs.min.insync.replicas", 1)
    seen: set[str] = set()
    for seed in range(seeds):
        run = Run(scenario, profile, seed)
        sim = run.simulation()
        oracle = Oracle(sim)
        run_to_end(sim, ("run 25s",))
        seen |= compare(sim, oracle, f"highwater run {code} --kafka {profile} --seed {seed}")
    if code == "S61" and profile == "Z0102":
        assert {"I6", "I7"} <= seen, "the comparison must not be about nothing"


@pytest.mark.parametrize("profile", ["Z0102", "Z011", "Z20", "K35", "K41"])
@pytest.mark.parametrize("world", ["manual", "two of three", "two partitions"])
def test_random_moves(world: str, profile: str) -> None:
    for seed in range(12 if THOROUGH else 4):
        chance = Random(seed)
        sim = Run(WORLDS[world], profile).simulation()
        oracle = Oracle(sim)
        lines: list[str] = []
        for _ in range(26):
            offered = allowed(sim, lambda line: not line.startswith("advance"))
            lines.append(chance.choice(offered[chance.choice(sorted(offered))]))
            advance(sim, lines[-1])
        compare(sim, oracle, again(world, profile, lines))


@pytest.mark.parametrize(
    ("code", "profile"), [("S14", "Z0102"), ("S23", "Z011"), ("S21", "Z0102"), ("S24", "Z21")]
)
def test_scripts_in_which_logs_part(code: str, profile: str) -> None:
    run = Run(find(code), profile)
    sim = run.simulation()
    oracle = Oracle(sim)
    run_to_end(sim, run.lines())
    compare(sim, oracle, f"highwater run {code} --kafka {profile}")


def test_committed_batches_need_no_comparison() -> None:
    """The shortcut holds for the very batches that were committed, and only up to the offset."""
    log = Log()
    first, second = Batch(0, 0, ("a",)), Batch(1, 0, ("b",))
    log.append(first)
    log.append(second)
    assert is_just(log, {0: first, 1: second}, 0, 2)
    assert is_just(log, {0: first}, 0, 1), "what lies beyond is not asked about"
    assert not is_just(log, {0: first}, 0, 2)
    assert not is_just(log, {0: first, 1: Batch(1, 0, ("c",))}, 0, 2)


@pytest.mark.parametrize(("epoch", "told"), [(-1, False), (0, True), (1, False)])
def test_brokers_of_another_epoch_are_not_held_against_the_leader(epoch: int, told: bool) -> None:
    """A follower that has not heard of the leader's epoch may still cut, and one ahead has."""
    sim = play_all(Run(find("S01"), "K39"))
    leader = sim.cluster.current_leader(0)
    assert leader is not None
    (member, *_) = (b for b in leader.isr if b != leader.broker)
    follower = sim.brokers[member].replicas[0]
    follower.leader_epoch = leader.leader_epoch + epoch
    assert unlike_prefix(sim.cluster, leader, (member,)) == ""
    follower.log.truncate_to(leader.remote[member].leo - 1)
    assert bool(unlike_prefix(sim.cluster, leader, (member,))) is told


def test_untracked_followers_are_passed_over() -> None:
    """INV-13: the others are looked at all the same."""
    sim = play_all(Run(find("S01"), "K39"))
    leader = sim.cluster.current_leader(0)
    assert leader is not None
    (member, *_) = (b for b in leader.isr if b != leader.broker)
    sim.brokers[member].replicas[0].log.truncate_to(leader.remote[member].leo - 1)
    assert unlike_prefix(sim.cluster, leader, (leader.broker, member)) != ""


def test_deleted_records_are_not_held_against_a_follower() -> None:
    """INV-13, L-8."""
    sim = play_all(Run(find("S01"), "K39"))
    leader = sim.cluster.current_leader(0)
    assert leader is not None
    (member, *_) = (b for b in leader.isr if b != leader.broker)
    log = sim.brokers[member].replicas[0].log
    log.truncate_fully(log.leo)
    assert leader.remote[member].leo == log.log_start > leader.log.log_start
    assert unlike_prefix(sim.cluster, leader, (member,)) == ""


@pytest.mark.parametrize(
    ("start", "end", "found"),
    [(0, 6, [2, 3, 5]), (3, 6, [3, 5]), (0, 3, [2]), (0, 5, [2, 3]), (4, 5, []), (2, 2, [])],
)
def test_the_first_offset_at_which_two_logs_differ(start: int, end: int, found: list[int]) -> None:
    """I5: each offset from the one to before the other, also inside a batch."""
    mine, theirs = Log(), Log()
    for base, values, others in ((0, "ab", "ab"), (2, "cd", "xy"), (4, "e", "e"), (5, "f", "")):
        mine.append(Batch(base, 0, tuple(values)))
        if others:
            theirs.append(Batch(base, 0, tuple(others)))
    assert differing(mine, theirs, start, end) == found
