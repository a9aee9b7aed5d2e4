"""Invariants of every state of the ladder; none of them names a replica.

Each invariant is about one replica, a pair or the controller alone, but for StrongIsr, which
compares what a leader has committed with every member of the controller's in-sync set.  So what a
replica or a pair breaks can be kept in a table.
"""

from __future__ import annotations

from typing import Final

from engine.ladder.state import NOBODY, AbstractController, AbstractReplica

NAMES: Final = (
    "LeaderInIsr",
    "IsrNeverEmpty",
    "HwLeLeo",
    "OneLeaderPerEpoch",
    "WeakIsr",
    "StrongIsr",
    "EpochsMonotone",
    "LogMatching",
    "CommittedAgree",
)
BIT: Final = {name: 1 << place for place, name in enumerate(NAMES)}
EXPECTED_TO_BREAK: Final = "IsrNeverEmpty"
"""The controller's shrink may empty the in-sync set in every rung; it costs no record."""


def _broken(**holds: bool) -> int:
    return sum(BIT[name] for name, held in holds.items() if not held)


def of_controller(controller: AbstractController) -> int:
    """Return the broken ones among those that need only the controller's record, as bits."""
    leader = controller.leader
    return _broken(
        LeaderInIsr=leader == NOBODY or bool(controller.isr >> leader & 1),
        IsrNeverEmpty=controller.isr != 0,
    )


def of_replica(replica: AbstractReplica) -> int:
    """Return the broken ones among those that need only one replica.

    A leader that has committed beyond its own end does not agree with itself, as far as it is in
    its own in-sync set.
    """
    epochs = [epoch for _, epoch in replica.log]
    member = replica.isr >> replica.me & 1
    return _broken(
        HwLeLeo=replica.hw <= replica.end,
        EpochsMonotone=epochs == sorted(epochs),
        WeakIsr=not member or not disagrees(replica, replica),
    )


def of_pair(a: AbstractReplica, b: AbstractReplica) -> int:
    """Return the broken ones among those that need two different replicas, whichever way round."""
    both_lead = a.presumes and b.presumes
    weak = not (a.isr >> b.me & 1 and disagrees(a, b)) and not (
        b.isr >> a.me & 1 and disagrees(b, a)
    )
    committed = min(a.hw, b.hw)
    return _broken(
        OneLeaderPerEpoch=not (both_lead and a.epoch == b.epoch),
        WeakIsr=weak,
        LogMatching=_logs_match(a, b),
        CommittedAgree=not both_lead or a.log[:committed] == b.log[:committed],
    )


def disagrees(leader: AbstractReplica, member: AbstractReplica) -> bool:
    """Check whether a leader has committed records that this replica lacks at the same offsets."""
    if not leader.presumes or leader.hw == 0:
        return False
    n = leader.hw
    return leader.end < n or member.end < n or leader.log[:n] != member.log[:n]


def _logs_match(a: AbstractReplica, b: AbstractReplica) -> bool:
    """Check that equal epochs at an offset mean equal logs up to there."""
    same = True
    for record, other in zip(a.log, b.log, strict=False):
        same = same and record == other
        if record[1] == other[1] and not same:
            return False
    return True
