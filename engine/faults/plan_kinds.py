"""Kinds of faults of a plan, and the repair of each: one row per kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from engine.dataplane import directories
from engine.faults import voter_faults
from engine.faults.fault_record import Strikes
from engine.faults.faults import (
    bounce,
    cannot_start,
    cut,
    fail_disk,
    finish_controller_start,
    heal,
    hear_again,
    kill,
    kill_controller,
    lose,
    pause,
    power,
    resume,
    slow,
    slow_disk,
    start,
    start_controller,
    wipe,
)
from engine.model.effects import Effects
from engine.model.messages import CONTROLLER
from engine.model.state import DOWN, PAUSED, UP
from engine.sim.kernel import FAILURE
from engine.sim.world import World

Pair = tuple[int, int]


def links_between(sim: World, inside: tuple[int, ...]) -> list[Pair]:
    """Return the links that a split goes through, as (inside, outside)."""
    others = [broker for broker in sim.brokers if broker not in inside]
    return [(a, b) for a in inside for b in (*others, CONTROLLER, *sim.clients)]


def split_network(sim: World, inside: tuple[int, ...]) -> None:
    """8.5.  Cut the links between these brokers and all others, in both directions."""

    def action(out: Effects) -> None:
        for a, b in links_between(sim, inside):
            out.cue("CP-8.5.cut", a, "link", None, (a, b, True))
            sim.network.cut(a, b)

    sim.act(FAILURE, min(inside), "partition", action)


def mend_network(sim: World, pairs: list[Pair]) -> None:
    """Mend the links, all at once; brokers that reach the controller again fetch its news."""

    def action(out: Effects) -> None:
        for a, b in pairs:
            out.cue("CP-8.5.heal", a, "link", None, (a, b))
            sim.network.heal(a, b)
        for a, b in pairs:
            if b == CONTROLLER and sim.brokers[a].status == UP:
                hear_again(sim, a, out)

    if pairs:
        sim.act(FAILURE, min(a for a, _ in pairs), "partition heals", action)


One = Callable[[World, int, Strikes], None]
Many = Callable[[World, tuple[int, ...], Strikes], None]


def running_brokers(sim: World, group: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(broker for broker in group if sim.brokers[broker].status == UP)


NOTHING: Final = ""
STRUCK: Final = "struck"
REPAIRED: Final = "repaired"
"""Moment at which a kind takes something off a disk: never, at the strike, at the repair."""


class PlanKind(NamedTuple):
    """Kind of a fault plan's line: functions for strike and repair, and its effects.

    `strike` None: it rolls from one broker to the next.  `repair` None: it repairs itself. `stops`:
    the process is down until the repair starts it.  `takes`: when something may leave a disk by it.
    `whole`: it strikes a group as it was named, also those of it that do not run.  `running`: what
    of a group it can strike now.
    """

    strike: Many | None
    repair: Many | None
    stops: bool = False
    takes: str = NOTHING
    whole: bool = False
    running: Callable[[World, tuple[int, ...]], tuple[int, ...]] = running_brokers


def _each(act: One) -> Many:
    """Return an act on one broker after the other."""

    def all_of_them(sim: World, struck: tuple[int, ...], plan: Strikes) -> None:
        for broker in struck:
            act(sim, broker, plan)

    return all_of_them


def _peers(sim: World, broker: int) -> list[int]:
    return [b for b in sim.brokers if b != broker]


# -- processes and machines -----------------------------------------------------------------------


def _strike_power(sim: World, broker: int, plan: Strikes) -> None:
    power(sim, broker, plan.chance)


def _repair_start(sim: World, broker: int, plan: Strikes) -> None:
    if sim.brokers[broker].status == DOWN and not cannot_start(sim, broker):
        start(sim, broker)


def _repair_resume(sim: World, broker: int, plan: Strikes) -> None:
    if sim.brokers[broker].status == PAUSED:
        resume(sim, broker)


def stopped_by_another(sim: World, broker: int, plan: Strikes) -> bool:
    """Check whether a fault of another line stopped the process and will start it."""
    return any(
        other is not plan and broker in other.struck and PLAN_KINDS[other.fault.kind].stops
        for other in sim.plans
    )


# -- links ----------------------------------------------------------------------------------------


def _strike_cut(sim: World, broker: int, plan: Strikes) -> None:
    for peer in _peers(sim, broker):
        cut(sim, broker, peer)


def _repair_cut(sim: World, broker: int, plan: Strikes) -> None:
    for peer in _peers(sim, broker):
        if not _stays_cut(sim, broker, peer, plan):
            heal(sim, broker, peer)


def _strike_cut_controller(sim: World, broker: int, plan: Strikes) -> None:
    cut(sim, broker, CONTROLLER)


def _repair_cut_controller(sim: World, broker: int, plan: Strikes) -> None:
    if not _stays_cut(sim, broker, CONTROLLER, plan):
        heal(sim, broker, CONTROLLER)


def _stays_cut(sim: World, a: int, b: int, plan: Strikes) -> bool:
    """Check whether another line, whose repair will mend it, has cut the link or split it."""
    kind = "cut_controller" if b == CONTROLLER else "cut"
    cutting = b >= CONTROLLER and any(other is not plan for other in _acting(sim, kind, a, b))
    return cutting or any(
        other is not plan and (a in other.struck) != (b in other.struck)
        for other in sim.plans
        if other.fault.kind == "partition"
    )


def _acting(sim: World, kind: str, *brokers: int) -> list[Strikes]:
    """Return the lines of this kind that have struck one of the brokers, and not repaired it."""
    return [
        plan
        for plan in sim.plans
        if plan.fault.kind == kind and not set(brokers).isdisjoint(plan.struck)
    ]


def _strike_partition(sim: World, struck: tuple[int, ...], plan: Strikes) -> None:
    split_network(sim, struck)


def _repair_partition(sim: World, struck: tuple[int, ...], plan: Strikes) -> None:
    mend_network(
        sim,
        [(a, b) for a, b in links_between(sim, struck) if not _stays_cut(sim, a, b, plan)],
    )


def _set_delay(sim: World, broker: int, plan: Strikes) -> None:
    """Give each link the longest delay of the lines that slow it; 0 ms once all are repaired."""
    for peer in _peers(sim, broker):
        delays = (line.fault.value("delay_ms") for line in _acting(sim, "slow", broker, peer))
        slow(sim, broker, peer, int(max(delays, default=0)))


def _set_loss(sim: World, broker: int, plan: Strikes) -> None:
    """Give each link the largest share of the lines that lose its messages, or 0."""
    for peer in _peers(sim, broker):
        shares = (line.fault.value("loss") for line in _acting(sim, "lossy", broker, peer))
        lose(sim, broker, peer, max(shares, default=0))


# -- disks ----------------------------------------------------------------------------------------


def _set_disk_rate(sim: World, broker: int, plan: Strikes) -> None:
    """Give the disk the lowest rate of the lines that slow it; 0, its own, once none does."""
    rates = (line.fault.value("records_per_s") for line in _acting(sim, "slow_disk", broker))
    slow_disk(sim, broker, min(rates, default=0))


def _strike_disk(sim: World, broker: int, plan: Strikes) -> None:
    """8.4.  Fail the directory that is meant, else the first that works."""
    working = directories.working(sim.brokers[broker].machine)
    directory = plan.directory or working[0]
    if directory in working:
        plan.failed[broker] = directory
        fail_disk(sim, broker, directory)


def _repair_disk(sim: World, broker: int, plan: Strikes) -> None:
    """Replace the disk by an empty one, for which the process has to be restarted."""
    directory = plan.failed.pop(broker, 0)
    if directory not in sim.brokers[broker].machine.broken:
        return
    left_alone = stopped_by_another(sim, broker, plan)
    wipe(sim, broker, directory)
    if not left_alone:
        _repair_start(sim, broker, plan)


# -- the controller -------------------------------------------------------------------------------


def _active_controller(sim: World, group: tuple[int, ...]) -> tuple[int, ...]:
    """Return the active controller: where the quorum is played a voter, () while there is none."""
    k = sim.cluster.controller
    if not k.alive:
        return ()
    return group if sim.cluster.quorum is None else (k.voter,)


def _strike_controller(sim: World, struck: tuple[int, ...], plan: Strikes) -> None:
    kill_controller(sim)


def _repair_controller(sim: World, struck: tuple[int, ...], plan: Strikes) -> None:
    quorum = sim.cluster.quorum
    if quorum is None:
        start_controller(sim)
        finish_controller_start(sim)
    else:
        for voter in struck:
            voter_faults.start(sim, voter)


PLAN_KINDS: Final[dict[str, PlanKind]] = {
    "kill": PlanKind(
        _each(lambda sim, broker, plan: kill(sim, broker)), _each(_repair_start), stops=True
    ),
    "power": PlanKind(_each(_strike_power), _each(_repair_start), stops=True, takes=STRUCK),
    "wipe": PlanKind(
        _each(lambda sim, broker, plan: wipe(sim, broker)),
        _each(_repair_start),
        stops=True,
        takes=STRUCK,
    ),
    "pause": PlanKind(_each(lambda sim, broker, plan: pause(sim, broker)), _each(_repair_resume)),
    "bounce": PlanKind(_each(lambda sim, broker, plan: bounce(sim, broker)), None),
    "cut": PlanKind(_each(_strike_cut), _each(_repair_cut)),
    "cut_controller": PlanKind(_each(_strike_cut_controller), _each(_repair_cut_controller)),
    "slow": PlanKind(_each(_set_delay), _each(_set_delay)),
    "slow_disk": PlanKind(_each(_set_disk_rate), _each(_set_disk_rate)),
    "disk_fail": PlanKind(_each(_strike_disk), _each(_repair_disk), takes=REPAIRED),
    "partition": PlanKind(_strike_partition, _repair_partition, whole=True),
    "lossy": PlanKind(_each(_set_loss), _each(_set_loss)),
    "kill_controller": PlanKind(
        _strike_controller, _repair_controller, stops=True, running=_active_controller
    ),
    "rolling_restart": PlanKind(None, None),
}
