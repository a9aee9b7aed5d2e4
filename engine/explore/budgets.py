"""Budgets of a search: the number of faults, and of deeds."""

from __future__ import annotations

from typing import Final, NamedTuple

from engine.model.configs import REMOTE
from engine.model.errors import InputError
from engine.scenarios.scenario import Scenario

MOST: Final = 8
"""Most of one budget: beyond it no search comes to an end."""


class Budgets(NamedTuple):
    """Budgets that are left; each choice that costs something takes one.

    Deliveries, restarts, healing, waking up and being noticed are free.
    """

    crashes: int = 0
    """`kill` and `bounce` of brokers."""
    power: int = 0
    """`power` and `bounce B power`: what was not flushed is gone, too."""
    controller: int = 0
    """`kill K`."""
    losses: int = 0
    """`drop`: a message is lost, its connection breaks."""
    cuts: int = 0
    """`cut` of a link between two brokers, or of one and the controller."""
    pauses: int = 0
    """`pause` of a broker."""
    timers: int = 0
    """`tick`, `checkpoint` and `flush`: the ISR check, the mark's checkpoint, a flush; with remote
    storage also its tasks and the retention of local segments."""
    writes: int = 0
    """`produce` with acks=all."""
    waits: int = 0
    """`advance` until a broker that is refused tries to register again."""
    elections: int = 0
    """`elect` of an in-sync broker, or of any broker (`unclean`) without a leader."""
    disks: int = 0
    """`wipe` of a broker or voter that is down: its disks are replaced by empty ones."""
    members: int = 0
    """`die` and `leave` of members of a group, and `timeout`: the session of one that lives."""
    commits: int = 0
    """`commit` of a member's positions."""
    store: int = 0
    """`store down`: remote storage answers with errors until it works again."""

    def less(self, place: int) -> Budgets:
        """Return one less of the budget at this place; the same for a free choice (-1)."""
        if place < 0:
            return self
        left = list(self)
        left[place] -= 1
        return Budgets(*left)


NAMES: Final = Budgets._fields
VOTERS: Final = ("controller", "losses", "cuts", "timers", "elections", "disks")
"""Budgets of a search that plays the voters of a quorum: brokers stand still in it."""
FREE: Final = -1


def known(scenario: Scenario) -> tuple[str, ...]:
    """Return the budgets that mean something in a run of this scenario."""
    if scenario.quorum:
        return VOTERS
    without = set() if scenario.groups else {"members", "commits"}
    if not scenario.configs.get(REMOTE):
        without.add("store")
    return tuple(name for name in NAMES if name not in without)


def checked(budgets: Budgets) -> Budgets:
    """Raise InputError for a budget that is negative or too large."""
    for name, value in zip(NAMES, budgets, strict=True):
        if not 0 <= value <= MOST:
            raise InputError("invalid", "{0} must be from 0 to {1}, not {2}.", name, MOST, value)
    return budgets
