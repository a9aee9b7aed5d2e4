"""What a handler asks of the world.  Handlers change their own node and record the rest here."""

from __future__ import annotations

from typing import Any

from engine.model.messages import Message

Cue = tuple[str, int, str, Any, Any]
"""(rule, node, field, old, new): a named sub-step inside one event."""


class Effects:
    """Wishes of one event: messages, timers, cues; the simulation carries them out."""

    __slots__ = ("cues", "now", "sends", "timers")

    def __init__(self, told: bool = False) -> None:
        self.now = 0
        self.sends: list[Message] = []
        self.timers: list[tuple[int, int, int, Any]] = []
        self.cues: list[Cue] | None = [] if told else None

    def send(self, message: Message) -> None:
        """Puts a message on the wire; the network decides when, and whether, it arrives."""
        self.sends.append(message)

    def timer(self, node: int, delay: int, kind: int, data: Any = None) -> None:
        """Wakes `node` in `delay` ms with timer `kind` (engine.model.timers)."""
        self.timers.append((node, delay, kind, data))

    def cue(self, rule: str, node: int, field: str = "", old: Any = None, new: Any = None) -> None:
        """Tells a listener, if there is one, which rule moved what from where to where."""
        if self.cues is not None:
            self.cues.append((rule, node, field, old, new))
