"""Effects of a handler.  Handlers change their own node and record everything else here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from engine.model.compiling import mypyc_attr
from engine.model.messages import Message

NO_PARTITION: Final = -1


class Cue(NamedTuple):
    """A named sub-step inside one event: a rule and the value that it changed.

    The value belongs to a node, and to a partition of it; NO_PARTITION where it is the node's, or
    of several partitions.  `about`: the broker or topic that the field describes, if any.
    """

    rule: str
    node: int
    field: str
    old: Any
    new: Any
    tp: int = NO_PARTITION
    about: Any = None


def field_of(cue: Cue) -> str:
    """Return the field in words, with what it is about: "remote 3", "topic orders"."""
    return cue.field if cue.about is None else f"{cue.field} {cue.about}"


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Effects:
    """Wishes of one event: messages, timers, cues; the simulation carries them out.

    `touched` has (broker, partition) where the observer has not looked since a log, a mark or a
    role became another.
    """

    __slots__ = ("cues", "now", "sends", "timers", "touched")

    def __init__(self, cues: bool = False) -> None:
        self.now = 0
        self.sends: list[Message] = []
        self.timers: list[tuple[int, int, int, Any]] = []
        self.cues: list[Cue] | None = [] if cues else None
        self.touched: list[tuple[int, int]] = []

    def send(self, message: Message) -> None:
        """Put a message on the wire; the network decides when, and whether, it arrives."""
        self.sends.append(message)

    def timer(self, node: int, delay: int, kind: int, data: Any = None) -> None:
        """Wake `node` in `delay` ms with timer `kind` (engine.model.timers)."""
        self.timers.append((node, delay, kind, data))

    def touch(self, broker: int, tp: int) -> None:
        """Mark a partition on a broker as changed, so that the observer looks there."""
        touched = self.touched
        if not touched or touched[-1] != (broker, tp):
            touched.append((broker, tp))

    def take_touched(self, broker: int) -> Sequence[int]:
        """Return the partitions where this broker touched something, which are now looked at."""
        if not self.touched:
            return ()
        here = [tp for node, tp in self.touched if node == broker]
        if len(here) == len(self.touched):
            self.touched.clear()
        else:
            self.touched = [entry for entry in self.touched if entry[0] != broker]
        return here

    def cue(
        self,
        rule: str,
        node: int,
        field: str = "",
        old: Any = None,
        new: Any = None,
        *,
        tp: int = NO_PARTITION,
        about: Any = None,
    ) -> None:
        """Report to a listener, if any, which rule moved what from where to where."""
        if self.cues is not None:
            self.cues.append(Cue(rule, node, field, old, new, tp, about))
