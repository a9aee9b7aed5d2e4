"""Sentences about tiered storage: segments that are copied, and a store that fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.model.effects import Cue
from engine.model.messages import EARLIEST_LOCAL, LATEST
from engine.story.entities import Happening, node, number, offset, say
from engine.view.wire import Sentence


def offset_keys(timestamp: int) -> tuple[str, str, str]:
    """Return the keys of an offset that a fetcher looks up: asked for, answered, heard."""
    if timestamp == LATEST:
        return "offsets.end.ask", "offsets.end", "offsets.end.heard"
    if timestamp == EARLIEST_LOCAL:
        return "offsets.local.ask", "offsets.local", "offsets.local.heard"
    return "offsets.start.ask", "offsets.start", "offsets.start.heard"


def _store(h: Happening, cue: Cue) -> Sentence:
    return say("tier.store.up" if cue.new else "tier.store.down")


def _slow(h: Happening, cue: Cue) -> Sentence:
    return say("tier.store.slow", n=number(cue.new)) if cue.new else say("tier.store.slow.over")


def _remote_read(h: Happening, cue: Cue) -> Sentence:
    return say("tier.read", b=node(cue.node), c=node(h.what.src), o=offset(cue.old))


TELLERS: Final[dict[str, Callable[[Happening, Cue], Sentence | None]]] = {
    "R-2": _store,
    "R-2.slow": _slow,
    "R-6": _remote_read,
}
"""Rule -> function that returns its sentence."""
