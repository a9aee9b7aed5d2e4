"""Rare losses by cycles: how often a setting loses records, however rarely failures meet.

A cycle begins when the first failure strikes a healthy cluster and ends when it is healthy again:
all brokers up, all replicas in sync, what was written on disk.  Healthy time is long and alike, so
the losses of a year are, over the kinds of first failures, how often each strikes times how many of
its cycles lose (regenerative simulation).  No window is cut, and no first failure is waited for.

Within a cycle a second failure is as rare as the first, so it is not waited for either: the state
is copied at a time of the cycle, and a failure of each kind strikes there (splitting).  Its weight
is how often such a failure comes over how often it was made to come; the third strikes in copies of
the second's cycle, and so on.  One seed is one *tree* of such cycles, and the mean of trees is the
true rate (but for more failures in one cycle than LEVELS, and outages cut after CUT repairs).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import exp
from typing import Final, NamedTuple

from engine.advisor import advice, importance
from engine.advisor.advice import FLUSH_MS, YEAR_MS, Failures, Setting
from engine.advisor.importance import LEVELS, Cause, Path
from engine.faults.fault_plan import FaultPlan
from engine.model.json_types import Json
from engine.model.state import UP
from engine.moves.time_verbs import start_workload
from engine.scenarios.fault_lines import Fault
from engine.scenarios.scenario import Scenario
from engine.scenarios.spans import DAY_MS, UNITS
from engine.sim.kernel import FAILURE, Chance
from engine.sim.simulation import Simulation

WARM_MS: Final = 2 * FLUSH_MS
LOOK_MS: Final = 5_000
"""Time between two checks of a cycle (ms); an old cycle is checked every LOOK_PART of its age."""
LOOK_PART: Final = 12
NEAR_MS: Final = 90_000
"""Written records are on disk after a minute, a dead broker noticed after some seconds: half of the
next failures strike within this time."""
CUT: Final = 12
"""Mean repairs of the longest kind after which a cycle is given up."""
NEAR_SHARE: Final = {2: 0.25, 3: 0.5, 4: 0.5}
GOES_ON: Final = 0.25
"""Share of the cycles with failures enough for a loss, and still a leader, that are played on, each
for all of them: if they lose after all, the mean is right nevertheless."""
MOST_MS: Final = 66 * 3_600_000
"""No cycle outlasts this: what is written until then still fits a run."""


class Strike(NamedTuple):
    """One failure that was brought about; a line of a fault plan once it is over."""

    cause: str
    kind: str
    group: tuple[int, ...]
    at_ms: int
    mttr_ms: int

    def line(self) -> Json:
        together = {"together": True} if len(self.group) > 1 else {}
        return {"kind": self.kind, "brokers": list(self.group), "at_ms": self.at_ms,
                "mttr_ms": self.mttr_ms, **together}  # fmt: skip


def causes(setting: Setting, failures: Failures) -> tuple[Cause, ...]:
    """Return the causes that can strike brokers with replicas; other brokers do not matter."""
    hosts = range(1, setting.factor + 1)
    alone = tuple((host,) for host in hosts)
    racks = tuple(
        group
        for rack in range(setting.racks)
        if (group := tuple(host for host in hosts if (host - 1) % setting.racks == rack))
    )
    rows = (
        ("process", "kill", failures.process_days, failures.process_repair_s * UNITS["s"], alone),
        (
            "machine",
            "power",
            failures.machine_days,
            failures.machine_repair_min * UNITS["m"],
            alone,
        ),
        ("rack", "power", failures.rack_days, failures.rack_repair_min * UNITS["m"], racks),
        ("disk", "disk_fail", failures.disk_days, failures.disk_repair_min * UNITS["m"], alone),
    )
    return tuple(
        Cause(name, kind, 1 / (days * DAY_MS), mend, targets)
        for name, kind, days, mend, targets in rows
    )


def quiet(setting: Setting, failures: Failures) -> Scenario:
    """Return the advisor's scenario without its failures, for as long as a cycle may last."""
    longest = max(cause.mttr_ms for cause in causes(setting, failures))
    lasts = WARM_MS + FLUSH_MS + LEVELS * (CUT * longest + 10 * FLUSH_MS)
    return advice.scenario(setting, min(MOST_MS, lasts))


class Leaf(NamedTuple):
    """A cycle that lost: its weight in losses of a year, and what struck."""

    weight: float
    strikes: tuple[Strike, ...]
    end_ms: int


class Tree:
    """All results of one seed.

    `lost` losses and `waits` seconds of a year, `busy` the share of a year in cycles, and of every
    path (kinds of failures in their order) how many cycles there were (entries), what they weigh,
    how many lost, what these weigh, the heaviest, the heaviest that left no replica (`is_spared`),
    how many lost although one was left, and the events played.
    """

    def __init__(
        self,
        setting: Setting,
        failures: Failures,
        profile: str,
        seed: int,
        effort: Mapping[str, float] | None = None,
    ) -> None:
        self.setting, self.failures, self.seed = setting, failures, seed
        self.causes = causes(setting, failures)
        self.copies = {**usual_copies(setting, failures), **(effort or {})}
        self.all = sum(cause.rate * len(cause.targets) for cause in self.causes)
        self.longest = max(cause.mttr_ms for cause in self.causes)
        self.levels = importance.levels(setting)
        self.chance = Chance(seed, "cycles")
        self.lost = self.waits = self.busy = 0.0
        self.events = 0
        self.paths: dict[Path, list[float]] = {}
        self.leaves: list[Leaf] = []
        self._play(profile)

    def _play(self, profile: str) -> None:
        scenario = quiet(self.setting, self.failures)
        sim = Simulation(scenario, profile, self.seed)
        sim.rush = True
        start_workload(sim, scenario.duration_ms)
        first = WARM_MS + self.chance.below(FLUSH_MS)
        sim.run_until(first - 1)
        for cause in self.causes:
            copies = self.copies[cause.name]
            for _ in range(self._random_round(copies)):
                weight = cause.rate * len(cause.targets) / copies
                self._strike(sim, (), (), cause, cause.targets, first, weight)

    def _random_round(self, wanted: float) -> int:
        """Return a whole number of copies, `wanted` on average."""
        return int(wanted + self.chance.below(1 << 30) / (1 << 30))

    def _strike(
        self,
        sim: Simulation,
        path: Path,
        before: tuple[Strike, ...],
        cause: Cause,
        targets: tuple[tuple[int, ...], ...],
        at_ms: int,
        weight: float,
    ) -> None:
        """Strike one of the targets with a failure of this kind and play its cycle to the end.

        The next failures strike within it.
        """
        group = targets[self.chance.below(len(targets))]
        mend = self.chance.exponential(cause.mttr_ms)
        strike = Strike(cause.name, cause.kind, group, at_ms, mend)
        twin = sim.copy()
        plan_next(twin, strike, len(before), self.seed)
        twin.run_until(at_ms)
        path, before, spared = (*path, cause.name), (*before, strike), is_spared(twin)
        if len(path) >= self.setting.factor and is_led(twin):
            if not self.chance.hits(GOES_ON):
                return
            weight /= GOES_ON
        following = self._draw_followers(path)
        twins, lost = self._cycle(twin, at_ms, bool(following))
        age = twins[-1].now - at_ms
        here = weight * exp(-self.all * age)
        entry = self.paths.setdefault(path, [0.0] * 8)
        entry[0] += 1
        entry[1] += weight
        entry[4] = max(entry[4], weight)
        entry[5] = max(entry[5], 0.0 if spared else weight)
        entry[7] += twins[-1].events - sim.events
        self.events += twins[-1].events - sim.events
        self.waits += here * waited_ms(twins[-1], self.setting.acks)
        self.busy += here * (twins[-1].now - before[0].at_ms)
        if lost:
            entry[2] += 1
            entry[3] += here
            entry[6] += spared
            self.lost += here
            self.leaves.append(Leaf(here * YEAR_MS, before, twins[-1].now))
        if following:
            self._next(twins[:-1] if lost else twins, path, before, weight, at_ms, following)

    def _draw_followers(self, path: Path) -> list[Cause]:
        """Return the kinds of failures that strike in copies of this cycle, one for each copy."""
        if len(path) == self.levels:
            return []
        return [
            cause
            for cause in self.causes
            for _ in range(self._random_round(self.copies[format_path((*path, cause.name))]))
        ]

    def _cycle(self, sim: Simulation, began: int, keep: bool) -> tuple[list[Simulation], bool]:
        """Play until all is healthy again, or records are lost.

        Return (the states along the cycle, or only the last one; whether records were lost).
        """
        twins = [sim]
        healthy_at = -1
        give_up = began + CUT * self.longest + 10 * FLUSH_MS
        while True:
            twin = twins[-1].copy() if keep else twins.pop()
            now = twin.now
            twin.run_until(now + max(LOOK_MS, (now - began) // LOOK_PART))
            twins.append(twin)
            if has_lost(twin, self.setting.acks):
                return twins, True
            healthy_at = (twin.now if healthy_at < 0 else healthy_at) if is_healthy(twin) else -1
            if 0 <= healthy_at <= twin.now - FLUSH_MS or twin.now > min(give_up, MOST_MS):
                return twins, False

    def _next(
        self,
        states: list[Simulation],
        path: Path,
        before: tuple[Strike, ...],
        weight: float,
        began: int,
        following: Sequence[Cause],
    ) -> None:
        """Play copies in which one more failure strikes: at any time, or soon after the first."""
        age = max(1, states[-1].now - began)
        near = min(age, NEAR_MS)
        soon = NEAR_SHARE[len(path) + 1]
        for cause in following:
            after = 1 + self.chance.below(near if self.chance.hits(soon) else age)
            density = (1 - soon) / age + (soon / near if after <= near else 0.0)
            state = max(
                (state_then for state_then in states if state_then.now < began + after), key=_now
            )
            targets = tuple(target for target in cause.targets if is_target(state, cause, target))
            if not targets:
                continue
            often = cause.rate * len(targets) * exp(-self.all * after)
            copies = self.copies[format_path((*path, cause.name))]
            self._strike(state, path, before, cause, targets, began + after,
                         weight * often / (copies * density))  # fmt: skip


def format_path(path: Path) -> str:
    return ">".join(path)


@lru_cache(256)
def usual_copies(setting: Setting, failures: Failures) -> Mapping[str, float]:
    """Return the number of copies of each path by the formula."""
    found = importance.copies(setting, causes(setting, failures))
    return {format_path(path): n for path, n in found.items()}


def best_effort(trees: Sequence[Tree]) -> dict[str, float]:
    """Return the number of copies of each path by the formula and the trees of a pilot."""
    first = trees[0]
    met: dict[Path, float] = {}
    for tree in trees:
        for path, entry in tree.paths.items():
            if entry[2]:
                met[path] = met.get(path, 0.0) + entry[3]
    expected = importance.losses(first.setting, first.causes)
    better = importance.corrected(expected, met, len(trees))
    copies = importance.copies(first.setting, first.causes, better)
    return {format_path(path): n for path, n in copies.items()}


def _now(sim: Simulation) -> int:
    return sim.now


def plan_next(sim: Simulation, strike: Strike, number: int, seed: int) -> None:
    """Put a failure into the plan of a simulation, as line `number` of its scenario would."""
    fault = Fault(strike.kind, strike.group, together=len(strike.group) > 1,
                  at_ms=strike.at_ms, mttr_ms=strike.mttr_ms)  # fmt: skip
    plan = FaultPlan(
        fault, strike.group, 0, Chance(seed, f"fault {number} 0"), sim.scenario.duration_ms
    )
    sim.plans.append(plan)
    sim.kernel.schedule(strike.at_ms - sim.now, FAILURE, min(strike.group), plan)


def is_target(sim: Simulation, cause: Cause, group: tuple[int, ...]) -> bool:
    """Check whether this failure can strike there: a broker that is down cannot fail."""
    if cause.kind == "disk_fail":
        return all(
            not sim.brokers[broker].machine.broken and sim.brokers[broker].status == UP
            for broker in group
        )
    return any(sim.brokers[broker].status == UP for broker in group)


def is_spared(sim: Simulation) -> bool:
    """Check that nothing can be lost without another failure.

    So it is with acks=all and clean elections, where a replica in sync is up, or where each that
    may be elected has all that was committed.
    """
    records = sim.cluster.controller.records
    return is_led(sim) or all(
        _has_all(sim, replica, tp)
        for tp, record in records.items()
        for replica in (*record.isr, *record.elr)
    )


def is_led(sim: Simulation) -> bool:
    """Check whether a replica in sync is up."""
    return all(
        any(sim.brokers[replica].status == UP for replica in record.isr)
        for record in sim.cluster.controller.records.values()
    )


def _has_all(sim: Simulation, broker: int, tp: int) -> bool:
    machine = sim.brokers[broker].machine
    disk = machine.disks.get(tp)
    working = disk is not None and disk.dir not in machine.broken
    return working and disk is not None and disk.log.leo >= sim.ledger.hw_reached[tp]


def is_healthy(sim: Simulation) -> bool:
    """Check that all brokers are up, nothing is to be repaired, every replica in sync."""
    return (
        all(broker.status == UP for broker in sim.brokers.values())
        and not any(plan.struck or plan.failed for plan in sim.plans)
        and all(
            record.leader >= 0 and set(record.isr) == set(record.replicas)
            for record in sim.cluster.controller.records.values()
        )
    )


def has_lost(sim: Simulation, acks: str) -> bool:
    """Check whether a record is gone that was acknowledged with the acks of the setting."""
    return bool(sim.ledger.lost if acks == "all" else sim.ledger.lost_single)


def waited_ms(sim: Simulation, acks: str) -> int:
    """Return how long there was no leader to take writes with these acks."""
    outages = sim.ledger.unwritable if acks == "all" else sim.ledger.leaderless
    return sum(one.total_ms + (sim.now - one.since if one.since >= 0 else 0) for one in outages)


def replayed(
    setting: Setting, failures: Failures, strikes: Iterable[Strike], end_ms: int
) -> Scenario:
    """Return the scenario that plays a cycle of a tree again, with the seed of the tree."""
    base = quiet(setting, failures)
    data = base.to_dict()
    data["faults"] = [strike.line() for strike in strikes]
    data["duration_ms"] = end_ms + LOOK_MS
    return Scenario.from_dict(data)
