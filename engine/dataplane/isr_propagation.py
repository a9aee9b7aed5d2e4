"""Propagation of ISR changes before AlterPartition: batched notification znodes (0.9 - 2.6)."""

from __future__ import annotations

from typing import Final

from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.messages import CONTROLLER
from engine.model.timers import ISR_PROPAGATION
from engine.model.zk_messages import IsrChange

PERIOD_MS: Final = 2_500
QUIET_MS: Final = 5_000
LONGEST_MS: Final = 60_000


def note_change(broker: Process, tp: int, out: Effects) -> None:
    """CP-ISR-ZKPROP 1.  Add an ISR change that the controller has not been notified of."""
    profile = broker.profile
    if not profile.isr_propagation or profile.kraft:
        return
    if not broker.isr_changes:
        out.timer(broker.id, PERIOD_MS - out.now % PERIOD_MS, ISR_PROPAGATION)
    if tp not in broker.isr_changes:
        broker.isr_changes = (*broker.isr_changes, tp)
    broker.isr_changed_at = out.now


def on_tick(broker: Process, out: Effects) -> bool:
    """CP-ISR-ZKPROP 2.  Write all changes into one znode (the isr-change-propagation task).

    It writes if the last change is more than 5 s old, or the last write more than 60 s.  The task
    sets its timer again only if there are changes.
    """
    if not broker.isr_changes:
        return False
    quiet = broker.isr_changed_at + QUIET_MS < out.now
    if not quiet and broker.isr_told_at + LONGEST_MS >= out.now:
        out.timer(broker.id, PERIOD_MS, ISR_PROPAGATION)
        return False
    out.cue("CP-ISR-ZKPROP", broker.id, "notification", broker.isr_changed_at, out.now)
    out.send(IsrChange(broker.id, CONTROLLER, 0, broker.isr_changes))
    broker.isr_changes = ()
    broker.isr_told_at = out.now
    return True
