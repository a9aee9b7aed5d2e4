"""Reassignment of replicas: the pure part (control-plane specification, 7.1 and 7.2)."""

from __future__ import annotations

from engine.model.declared import declared
from engine.model.records import Ids


@declared
class Plan:
    """CP-REASSIGN-KR.  The replica lists while a reassignment runs."""

    replicas: Ids
    adding: Ids
    removing: Ids


@declared
class Reverted:
    """Rest of a reassignment after its cancellation."""

    replicas: Ids
    isr: Ids
    unclean: bool


def plan(current: Ids, target: Ids) -> Plan:
    """CP-REASSIGN-KR 1, 7.1.  Return the plan; `replicas := target ++ removing` while it runs."""
    removing = tuple(sorted(set(current) - set(target)))
    adding = tuple(sorted(set(target) - set(current)))
    return Plan(target + removing, adding, removing)


def complete(
    replicas: Ids,
    adding: Ids,
    removing: Ids,
    isr: Ids,
    *,
    needs_all_targets: bool,
    spares_out_of_sync: bool = False,
) -> tuple[Ids, Ids] | None:
    """CP-REASSIGN-KR 3.  Return (final replicas, final ISR) if `isr` completes the reassignment.

    `needs_all_targets` is the rule of 3.8: every replica that stays is in the ISR; before, only
    those that were added had to be.  `spares_out_of_sync` is the exception of 4.3 (KAFKA-19975):
    the added ones are enough where no fewer are added than removed.  Min ISR plays no part.
    """
    if not adding and not removing:
        return None
    new_isr = tuple(r for r in isr if r not in removing)
    new_replicas = tuple(r for r in replicas if r not in removing)
    if not new_isr or not new_replicas:
        return None
    spared = spares_out_of_sync and len(adding) >= len(removing)
    required = new_replicas if needs_all_targets and not spared else adding
    if any(r not in new_isr for r in required):
        return None
    return new_replicas, new_isr


def original(replicas: Ids, adding: Ids) -> Ids:
    """Return the replicas before the reassignment; their first order may be unknown."""
    return tuple(r for r in replicas if r not in adding)


def revert(replicas: Ids, isr: Ids, adding: Ids) -> Reverted:
    """7.2, cancel.  Take out what was being added and keep what was being removed.

    If no ISR member survives, the first remaining replica is put in, which is unclean: the caller
    allows it only where the topic allows unclean election (else INVALID_REPLICA_ASSIGNMENT).
    """
    before = original(replicas, adding)
    kept_isr = tuple(r for r in isr if r not in adding)
    if kept_isr or not before:
        return Reverted(before, kept_isr, False)
    return Reverted(before, before[:1], True)


def target_of(replicas: Ids, removing: Ids) -> Ids:
    """Return the replicas a running reassignment is heading for, in order."""
    return tuple(r for r in replicas if r not in removing)
