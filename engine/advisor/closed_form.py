"""The formula beside the simulation: how often all replicas are out at once (MTTDL).

Each thing that can lose data (the machine and disk of each replica, and each rack) fails by itself
at a rate l and is out for a mean m, so that it is out a part l m of the time.  A cut is a smallest
set of things whose loss leaves no replica; it comes together as often as one of it fails while all
others are out: the sum over its members of l_i times the product of the others' l_j m_j.  With
one thing a replica and r replicas that is r l^r m^(r-1), one over the MTTDL of r disks with
parallel repair.  A process that crashes keeps its log: it may be out, but not be the last to fail.

It knows nothing of acknowledgements, flushes and elections: with acks=all and clean elections a
loss needs such an overlap (or one of a replica that has not caught up yet), but not each loses.
"""

from __future__ import annotations

from itertools import chain, combinations

from engine.advisor.advice import YEAR_MS, Failures, Setting
from engine.scenarios.spans import DAY_MS, UNITS


def overlaps_per_year(setting: Setting, failures: Failures) -> float:
    """Return the time of a year that all replicas of a partition are out at once."""
    return sum(overlaps_by_size(setting, failures).values())


def left_out(setting: Setting, failures: Failures) -> float:
    """Return the relative growth of losses, at most, if brokers that are down failed as well.

    0.001: by a thousandth.

    A mean time between failures counts running time: a process that is down cannot crash.  A disk
    may die in a machine that is off, though, and a second fault prolong a repair.  If all of a
    broker's failures came all the time, side by side, it would be out no more than s, the sum of
    their rate times repair; one after the other it is up 1 / (1 + s) of the time and out the rest.
    So each factor of an overlap, of one replica that fails or that is out, is at most 1 + s larger.
    """
    out = sum(
        mend_ms / (days * DAY_MS)
        for days, mend_ms in (
            (failures.process_days, failures.process_repair_s * UNITS["s"]),
            (failures.machine_days, failures.machine_repair_min * UNITS["m"]),
            (failures.disk_days, failures.disk_repair_min * UNITS["m"]),
            (failures.rack_days, failures.rack_repair_min * UNITS["m"]),
        )
    )
    more: float = (1 + out) ** setting.factor - 1
    return more


def overlaps_by_size(setting: Setting, failures: Failures) -> dict[int, float]:
    """Return the overlaps by number of failures: one rack may hold several replicas."""
    process, machine, disk, rack = (
        (1 / (days * DAY_MS), mend_ms / (days * DAY_MS))
        for days, mend_ms in (
            (failures.process_days, failures.process_repair_s * UNITS["s"]),
            (failures.machine_days, failures.machine_repair_min * UNITS["m"]),
            (failures.disk_days, failures.disk_repair_min * UNITS["m"]),
            (failures.rack_days, failures.rack_repair_min * UNITS["m"]),
        )
    )
    own_rate, own_out = machine[0] + disk[0], process[1] + machine[1] + disk[1]
    rack_rate, rack_out = rack
    hosts = range(setting.factor)
    used = sorted({host % setting.racks for host in hosts})
    overlaps: dict[int, float] = {}
    for dead in chain.from_iterable(combinations(used, k) for k in range(len(used) + 1)):
        racks = len(dead)
        alone = sum(host % setting.racks not in dead for host in hosts)
        by_rack = racks * rack_rate * rack_out ** max(0, racks - 1) * own_out**alone
        by_own = alone * own_rate * own_out ** max(0, alone - 1) * rack_out**racks
        overlaps[racks + alone] = overlaps.get(racks + alone, 0.0) + (by_rack + by_own) * YEAR_MS
    return overlaps
