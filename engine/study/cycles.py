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
from math import exp
from typing import Any, Final, NamedTuple

from engine.model.state import UP
from engine.scenarios.fault_lines import Fault
from engine.scenarios.scenario import Scenario
from engine.scenarios.spans import DAY_MS, UNITS
from engine.sim.fault_plan import Plan
from engine.sim.kernel import FAILURE, Chance
from engine.sim.simulation import Simulation
from engine.sim.time_verbs import start_workload
from engine.study import advice
from engine.study.advice import FLUSH_MS, YEAR_MS, Failures, Setting

LEVELS: Final = 4
"""Failures in one cycle at most; and never more than one beyond the replicas."""
WARM_MS: Final = 2 * FLUSH_MS
LOOK_MS: Final = 5_000
"""How often a cycle is looked at soon after a failure; later every LOOK_PART of its age."""
LOOK_PART: Final = 12
NEAR_MS: Final = 90_000
"""What was written is on disk after a minute, a dead broker noticed after some seconds: half of the
next failures strike so soon."""
CUT: Final = 12
"""Mean repairs of the longest kind after which a cycle is given up."""
NEAR_SHARE: Final = {2: 0.25, 3: 0.5, 4: 0.5}
MOST_MS: Final = 66 * 3_600_000
"""No cycle outlasts this: what is written until then still fits a run."""
CHILDREN: Final = {2: 1.0, 3: 0.4, 4: 0.2}
"""Copies of each kind of failure in a cycle, by how many have struck then."""
BEYOND: Final = 0.05
"""The same for one failure more than there are replicas."""
UNSEEN: Final = 0.3
"""Of the copies of a path that lost nothing in the pilot, so many stay: it was short."""
EFFORT: Final = (0.04, 8.0)
"""A pilot changes how many copies a path gets; it forbids none, so that the mean stays true."""

Path = tuple[str, ...]
Json = dict[str, Any]


class Cause(NamedTuple):
    """One kind of failure: each of its targets fails by itself, `rate` times a ms."""

    name: str
    kind: str
    rate: float
    mttr_ms: int
    targets: tuple[tuple[int, ...], ...]


class Strike(NamedTuple):
    """One failure as it was made to come; a line of a fault plan once it is over."""

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
    """What can strike the brokers that hold replicas; the others matter to nobody here."""
    hosts = range(1, setting.factor + 1)
    alone = tuple((one,) for one in hosts)
    racks = tuple(
        group
        for rack in range(setting.racks)
        if (group := tuple(one for one in hosts if (one - 1) % setting.racks == rack))
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
    """The advisor's scenario without its failures, for as long as a cycle may last."""
    longest = max(cause.mttr_ms for cause in causes(setting, failures))
    lasts = WARM_MS + FLUSH_MS + LEVELS * (CUT * longest + 10 * FLUSH_MS)
    return advice.scenario(setting, min(MOST_MS, lasts))


class Leaf(NamedTuple):
    """A cycle that lost: its weight in losses of a year, and what struck."""

    weight: float
    strikes: tuple[Strike, ...]
    end_ms: int


class Tree:
    """All that one seed tells: `lost` losses and `waits` seconds of a year, `busy` the share of a
    year in cycles, and of every path (kinds of failures in their order) how many cycles there were
    (entries), what they weigh, how many lost, what these weigh, the heaviest, the squares of all
    losses that followed, and the events that were played."""

    def __init__(
        self,
        setting: Setting,
        failures: Failures,
        profile: str,
        seed: int,
        effort: Mapping[str, float] | None = None,
    ) -> None:
        self.setting, self.failures, self.seed = setting, failures, seed
        self.effort = effort or {}
        self.causes = causes(setting, failures)
        self.all = sum(cause.rate * len(cause.targets) for cause in self.causes)
        self.longest = max(cause.mttr_ms for cause in self.causes)
        self.levels = min(LEVELS, setting.factor + 1)
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
            weight = cause.rate * len(cause.targets)
            self._strike(sim, (), (), cause, cause.targets, first, weight)

    def _strike(
        self,
        sim: Simulation,
        path: Path,
        before: tuple[Strike, ...],
        cause: Cause,
        targets: tuple[tuple[int, ...], ...],
        at_ms: int,
        weight: float,
    ) -> float:
        """A failure of this kind hits one of the targets; then its cycle is played to its end, and
        the next failures strike within it.  What is lost by it and by all that follows."""
        group = targets[self.chance.below(len(targets))]
        mend = self.chance.exponential(cause.mttr_ms)
        strike = Strike(cause.name, cause.kind, group, at_ms, mend)
        twin = sim.copy()
        plan_next(twin, strike, len(before), self.seed)
        twin.run_until(at_ms)
        path, before = (*path, cause.name), (*before, strike)
        kept, lost = self._cycle(twin, at_ms)
        age = kept[-1].now - at_ms
        here = weight * exp(-self.all * age)
        entry = self.paths.setdefault(path, [0.0] * 7)
        entry[0] += 1
        entry[1] += weight
        entry[4] = max(entry[4], weight)
        entry[6] += kept[-1].events - sim.events
        self.events += kept[-1].events - sim.events
        self.waits += here * waited_ms(kept[-1], self.setting.acks)
        self.busy += here * (kept[-1].now - before[0].at_ms)
        if lost:
            entry[2] += 1
            entry[3] += here
            self.lost += here
            self.leaves.append(Leaf(here * YEAR_MS, before, kept[-1].now))
        gone = here if lost else 0.0
        if len(path) < self.levels:
            gone += self._next(kept[:-1] if lost else kept, path, before, weight, at_ms)
        entry[5] += gone * gone
        return gone

    def _cycle(self, sim: Simulation, began: int) -> tuple[list[Simulation], bool]:
        """Plays until all is healthy again, or records are lost: (states on the way, did they)."""
        kept = [sim]
        healthy_at = -1
        give_up = began + CUT * self.longest + 10 * FLUSH_MS
        while True:
            now = kept[-1].now
            twin = kept[-1].copy()
            twin.run_until(now + max(LOOK_MS, (now - began) // LOOK_PART))
            kept.append(twin)
            if has_lost(twin, self.setting.acks):
                return kept, True
            healthy_at = (twin.now if healthy_at < 0 else healthy_at) if is_healthy(twin) else -1
            if 0 <= healthy_at <= twin.now - FLUSH_MS or twin.now > min(give_up, MOST_MS):
                return kept, False

    def _next(
        self,
        kept: list[Simulation],
        path: Path,
        before: tuple[Strike, ...],
        weight: float,
        began: int,
    ) -> float:
        """Copies of each kind of failure, at times that are even over the cycle or soon after its
        beginning."""
        age = max(1, kept[-1].now - began)
        near, gone = min(age, NEAR_MS), 0.0
        soon = NEAR_SHARE[len(path) + 1]
        for cause in self.causes:
            wanted = self._copies((*path, cause.name))
            for _ in range(int(wanted + self.chance.below(1 << 30) / (1 << 30))):
                after = 1 + self.chance.below(near if self.chance.hits(soon) else age)
                density = (1 - soon) / age + (soon / near if after <= near else 0.0)
                state = max((one for one in kept if one.now < began + after), key=_now)
                targets = tuple(one for one in cause.targets if is_target(state, cause, one))
                if not targets:
                    continue
                often = cause.rate * len(targets) * exp(-self.all * after)
                gone += self._strike(state, path, before, cause, targets, began + after,
                                     weight * often / (wanted * density))  # fmt: skip
        return gone

    def _copies(self, path: Path) -> float:
        return self.effort.get(told(path)) or usual_copies(path, self.setting.factor)


def told(path: Path) -> str:
    return ">".join(path)


def usual_copies(path: Path, factor: int) -> float:
    return BEYOND if len(path) > factor else CHILDREN[len(path)]


def best_effort(trees: Sequence[Tree]) -> dict[str, float]:
    """From a pilot: copies of each path, by the square root of what they add to the variance over
    what they cost (Neyman), at the cost of the pilot; few of those that never lost."""
    factor = trees[0].setting.factor
    sums: dict[Path, list[float]] = {}
    for tree in trees:
        for path, entry in tree.paths.items():
            mine = sums.setdefault(path, [0.0, 0.0])
            mine[0] += entry[5]
            mine[1] += entry[6]
    roots = {
        path: (squares / max(1.0, events)) ** 0.5
        for path, (squares, events) in sums.items()
        if len(path) > 1
    }
    whole = sum(sums[path][1] for path in roots)
    spent = sum(root * sums[path][1] for path, root in roots.items())
    if not spent:
        return {}
    least, most = EFFORT
    times = {path: max(UNSEEN, root * whole / spent) for path, root in roots.items()}
    found = {}
    for path in sorted(times, key=len):
        # Copies are made in each copy of the path before: only what these lack is made anew.
        per_copy = times[path] / times.get(path[:-1], 1.0)
        found[told(path)] = min(most, max(least, usual_copies(path, factor) * per_copy))
    return found


def _now(sim: Simulation) -> int:
    return sim.now


def plan_next(sim: Simulation, strike: Strike, number: int, seed: int) -> None:
    """Puts a failure into the plan of a simulation, as line `number` of its scenario would."""
    fault = Fault(strike.kind, strike.group, together=len(strike.group) > 1,
                  at_ms=strike.at_ms, mttr_ms=strike.mttr_ms)  # fmt: skip
    plan = Plan(fault, strike.group, 0, Chance(seed, f"fault {number} 0"), sim.scenario.duration_ms)
    sim.plans.append(plan)
    sim.kernel.schedule(strike.at_ms - sim.now, FAILURE, min(strike.group), plan)


def is_target(sim: Simulation, cause: Cause, group: tuple[int, ...]) -> bool:
    """Can this failure strike there?  What is down already cannot go down."""
    if cause.kind == "disk_fail":
        return all(
            not sim.brokers[one].machine.broken and sim.brokers[one].status == UP for one in group
        )
    return any(sim.brokers[one].status == UP for one in group)


def is_healthy(sim: Simulation) -> bool:
    """All brokers up, nothing to be repaired, every replica in sync."""
    return (
        all(broker.status == UP for broker in sim.brokers.values())
        and not any(plan.struck or plan.failed for plan in sim.plans)
        and all(
            record.leader >= 0 and set(record.isr) == set(record.replicas)
            for record in sim.cluster.controller.records.values()
        )
    )


def has_lost(sim: Simulation, acks: str) -> bool:
    """Is a record gone that was acknowledged with the acks of the setting?"""
    return bool(sim.ledger.lost if acks == "all" else sim.ledger.lost_single)


def waited_ms(sim: Simulation, acks: str) -> int:
    """How long writes with these acks had nobody to take them."""
    outages = sim.ledger.unwritable if acks == "all" else sim.ledger.leaderless
    return sum(one.total_ms + (sim.now - one.since if one.since >= 0 else 0) for one in outages)


def replayed(
    setting: Setting, failures: Failures, strikes: Iterable[Strike], end_ms: int
) -> Scenario:
    """The scenario that plays a cycle of a tree again, with the seed of the tree."""
    base = quiet(setting, failures)
    data = base.to_dict()
    data["faults"] = [strike.line() for strike in strikes]
    data["duration_ms"] = end_ms + LOOK_MS
    return Scenario.from_dict(data)
