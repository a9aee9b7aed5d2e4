"""What broke or was mended: a sentence for each fault that needs more than its node's name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.model import messages
from engine.model.effects import Cue
from engine.show.entities import Happening, Sentence, node, number, say, word


def _cut(h: Happening, cue: Cue) -> Sentence:
    a, b, both = cue[4]
    return say("fault.cut" if both else "fault.cut.one", a=node(a), b=node(b))


def _healed(h: Happening, cue: Cue) -> Sentence:
    a, b = cue[4]
    return say("fault.heal", a=node(a), b=node(b))


def _slowed(h: Happening, cue: Cue) -> Sentence:
    a, b, ms = cue[4]
    if not ms:
        return say("fault.slow.over", a=node(a), b=node(b))
    return say("fault.slow", a=node(a), b=node(b), n=number(ms))


def _lossy(h: Happening, cue: Cue) -> Sentence:
    a, b, percent = cue[4]
    if not percent:
        return say("fault.lose.over", a=node(a), b=node(b))
    return say("fault.lose", a=node(a), b=node(b), n=number(percent))


def _jumped(h: Happening, cue: Cue) -> Sentence:
    return say("fault.jump", b=node(cue[1]), n=number(cue[4]))


def _dropped(h: Happening, cue: Cue) -> Sentence:
    kind, (src, dst) = cue[3], cue[4]
    name = word(messages.NAMES[kind])
    if kind in messages.REPLIES:
        return say("fault.drop.answer", a=node(src), b=node(dst), t=name)
    return say("fault.drop", a=node(src), b=node(dst), t=name)


def _held(h: Happening, cue: Cue) -> Sentence:
    return say("fault.hold.metadata" if cue[4] else "fault.hold.alter", b=node(cue[1]))


def _released(h: Happening, cue: Cue) -> Sentence:
    return say("fault.release.metadata" if cue[3] else "fault.release.alter", b=node(cue[1]))


TELLERS: Final[dict[str, Callable[[Happening, Cue], Sentence]]] = {
    "CP-8.5.cut": _cut,
    "CP-8.5.heal": _healed,
    "CP-8.5.drop": _dropped,
    "CP-8.6.slow": _slowed,
    "CP-8.6.lose": _lossy,
    "CP-8.7.jump": _jumped,
    "CP-5.4.hold": _held,
    "CP-5.4.release": _released,
}
"""Rule -> what tells it."""
