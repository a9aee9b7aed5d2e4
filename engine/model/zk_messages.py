"""Changes that brokers make in ZooKeeper and its watchers are notified of (control-plane 1.2)."""

from __future__ import annotations

from engine.model.compiling import mypyc_attr
from engine.model.messages import ISR_CHANGE, SESSION_CLOSED, Message


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class SessionClosed(Message):
    """A process ended its session: its ephemeral znode is gone at once."""

    __slots__ = ("broker_epoch",)
    kind = SESSION_CLOSED

    def __init__(self, src: int, dst: int, corr: int, broker_epoch: int) -> None:
        self.src = src
        self.dst = dst
        self.corr = corr
        self.broker_epoch = broker_epoch


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True, acyclic=True)
class IsrChange(Message):
    """A new child of /isr_change_notification: partitions whose ISR their leader has changed."""

    __slots__ = ("tps",)
    kind = ISR_CHANGE

    def __init__(self, src: int, dst: int, corr: int, tps: tuple[int, ...]) -> None:
        self.src = src
        self.dst = dst
        self.corr = corr
        self.tps = tps
