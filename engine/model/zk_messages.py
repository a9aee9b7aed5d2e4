"""Changes that brokers make in ZooKeeper and its watchers are notified of (control-plane 1.2)."""

from __future__ import annotations

from engine.model.declared import acyclic
from engine.model.messages import ISR_CHANGE, SESSION_CLOSED, Message


@acyclic
class SessionClosed(Message):
    """A process ended its session: its ephemeral znode is gone at once."""

    broker_epoch: int
    kind = SESSION_CLOSED


@acyclic
class IsrChange(Message):
    """A new child of /isr_change_notification: partitions whose ISR their leader has changed."""

    tps: tuple[int, ...]
    kind = ISR_CHANGE
