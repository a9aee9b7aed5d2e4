"""Goals of a search: a broken invariant, or a state in which a property holds."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Final

from engine.catalogue.promises import unkept
from engine.checks.catalogue import VIOLABLE
from engine.model.errors import InputError
from engine.model.state import LEADER, UP
from engine.scenarios.expectations import parse
from engine.scenarios.parts import BrokerSpec, find_broker
from engine.sim.simulation import Simulation

Goal = Callable[[Simulation], bool]
"""Is it reached in this state?"""

MOST: Final = 400
WORDS: Final = (
    "record m3 lost",
    "record m3 twice",
    "record m3 skipped",
    "any record twice",
    "nobody leads",
    "two leaders",
    "controller active",
    "diverged A B",
    "A HW 3",
    "P{B 1 3 [B,A]}",
    "ack m3",
)
"""Forms of a goal, for the sentence that refuses others."""


def invariants(names: str) -> tuple[str, ...]:
    """Return the invariants of `I6,I7`.  Raises InputError for a name that is none."""
    chosen = tuple(name.strip() for name in names.replace(",", " ").split())
    for name in chosen:
        if name not in VIOLABLE:
            violable = ", ".join(VIOLABLE)
            raise InputError(
                "unknown", "There is no invariant {0}; there are: {1}.", name[:40], violable
            )
    return chosen


def goal(text: str, brokers: tuple[BrokerSpec, ...]) -> Goal:
    """Read a goal, an `expect` line or one in a few words more.  Raises InputError."""
    words = text.split()
    if len(text) > MOST:
        raise InputError("too_large", "A goal has at most {0} characters.", MOST)
    if words == ["nobody", "leads"]:
        return _nobody_leads
    if words == ["controller", "active"]:
        return lambda sim: sim.cluster.controller.alive
    if words == ["two", "leaders"]:
        return _two_lead
    if len(words) == 3 and (words[0], words[2]) == ("record", "lost"):
        return lambda sim: words[1] in sim.ledger.lost or words[1] in sim.ledger.lost_single
    if words in (["any", "record", "twice"], ["any", "record", "skipped"]):
        return lambda sim: bool(_by_groups(sim, words[2]))
    if len(words) == 3 and words[0] == "record" and words[2] in ("twice", "skipped"):
        return lambda sim: words[1] in _by_groups(sim, words[2])
    if len(words) == 3 and words[0] == "diverged":
        return _diverged(*(find_broker(word, brokers) for word in words[1:]))
    try:
        expectation = parse(text, brokers)
    except InputError as error:
        hint = "; ".join(WORDS)
        raise InputError(error.code, "A goal is written like one of: {0}.", hint) from None
    return lambda sim: not unkept(sim, expectation)


def _by_groups(sim: Simulation, what: str) -> set[str]:
    """Return the records that some group has processed twice, or skipped."""
    if what == "skipped":
        return {value for _, value in sim.ledger.skipped}
    return {value for (_, value), times in sim.ledger.processed.items() if times > 1}


def _nobody_leads(sim: Simulation) -> bool:
    return any(not sim.cluster.availability(tp)[0] for tp in sim.cluster.controller.records)


def _two_lead(sim: Simulation) -> bool:
    """Check whether two running processes take themselves for a partition's leader."""
    leading = [
        tp
        for broker in sim.cluster.brokers.values()
        if broker.status == UP
        for tp, replica in broker.replicas.items()
        if replica.role == LEADER
    ]
    return any(epoch == other for epoch, other in combinations(leading, 2))


def _diverged(a: int, b: int) -> Goal:
    """Return a goal: two logs hold different records at the same offset."""

    def reached(sim: Simulation) -> bool:
        replicas, other = sim.cluster.brokers[a].machine.disks, sim.cluster.brokers[b].machine.disks
        for tp in replicas.keys() & other.keys():
            theirs = {batch.base: batch for batch in other[tp].log.batches}
            for batch in replicas[tp].log.batches:
                twin = theirs.get(batch.base)
                if twin is not None and not twin.same(batch):
                    return True
        return False

    return reached
