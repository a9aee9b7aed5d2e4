"""Sentences about consumers: C-4 to C-8."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from engine.model import messages
from engine.model.effects import Cue
from engine.story.entities import Happening, epoch, node, offset, records, say
from engine.story.entities import error as error_entity
from engine.story.rule import stated
from engine.story.rules import RULES
from engine.view.wire import Sentence

# -- what follows ---------------------------------------------------------------------------------


def _exception(h: Happening, cue: Cue) -> Sentence:
    at, exception, new = cue.node, cue.field, cue.new
    key = "read.exception" if cue.rule == "C-7.exception" else "read.exception.range"
    return say(key, c=node(at), x={"x": exception}, o=offset(new))


TELLERS: Final[dict[str, Callable[[Happening, Cue], Sentence]]] = {
    "C-4.exception": _exception,
    "C-7.exception": _exception,
}
"""Rule -> what words it."""


def _decided(h: Happening, *rules: str) -> Sentence | None:
    cue = h.cue(*rules)
    if cue is None:
        return None
    teller = TELLERS.get(cue.rule)
    return stated(RULES[cue.rule], h, cue) if teller is None else teller(h, cue)


# -- what arrives ---------------------------------------------------------------------------------


def _heard_error(m: Any, code: int) -> Sentence:
    return say("read.error", c=node(m.dst), l=node(m.src), x=error_entity(code))


def fetched(h: Happening, m: Any) -> Sentence:
    """Return the sentence of a consumer's answer to its Fetch."""
    decided = _decided(h, "C-8", "C-8.left", "C-4.exception")
    if decided is not None:
        return decided
    data = m.partitions[0]
    if data.error:
        return _heard_error(m, data.error)
    read = h.cue("C-2")
    values = [value for batch in (read.new if read else ()) for value in batch.values]
    c, leader = node(m.dst), node(m.src)
    if values:
        return say("read.got", c=c, l=leader, m=records(values))
    return say("read.nothing", c=c, l=leader, o=offset(data.hw))


def redirected(m: Any, preferred: int) -> Sentence:
    """Return the sentence of a leader that names a replica to serve the consumer."""
    return say("read.redirect", l=node(m.dst), c=node(m.src), b=node(preferred))


def validated(h: Happening, m: Any) -> Sentence | None:
    """Return the sentence of a consumer that learns where its position's epoch ended."""
    code = m.partitions[0][1]
    if code:
        return _heard_error(m, code)
    return _decided(h, "C-7", "C-7.valid", "C-7.unknown", "C-7.exception")


def sought(h: Happening, m: Any) -> Sentence | None:
    """Return the sentence of a consumer that gets the offset that it looked up."""
    return _heard_error(m, m.error) if m.error else _decided(h, "C-5")


def looked_up(h: Happening, m: Any, answer: Any) -> Sentence | None:
    """Return the sentence of a leader that answers a client's ListOffsets."""
    leader, c = node(m.dst), node(m.src)
    if answer.error:
        sentence = _decided(h, "H-9")
        return sentence or say("answer.error", a=leader, b=c, x=error_entity(answer.error))
    key = "seek.latest" if m.timestamp == messages.LATEST else "seek.earliest"
    return say(key, l=leader, c=c, o=offset(answer.offset))


# -- what goes out --------------------------------------------------------------------------------


def asks(m: Any) -> Sentence:
    """Return the sentence of a Fetch, ListOffsets or OffsetForLeaderEpoch by a consumer."""
    c, leader = node(m.src), node(m.dst)
    if m.kind == messages.FETCH:
        return say("read.ask", c=c, l=leader, o=offset(m.partitions[0].offset))
    if m.kind == messages.EPOCH_END:
        return say("read.validate", c=c, l=leader, e=epoch(m.partitions[0][1]))
    key = "seek.latest.ask" if m.timestamp == messages.LATEST else "seek.earliest.ask"
    return say(key, c=c, l=leader)
