"""Questions about what acts now, and about what comes after what."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

from engine.catalogue.sourcemap import card_of
from engine.learn.question_context import Answer, Kind, Places, QuestionContext
from engine.model.effects import Cue
from engine.model.messages import PRODUCE_R, Message
from engine.model.profiles import Profile
from engine.properties.recording import Event, MomentRecording, Turn
from engine.sim.kernel import DELIVERY, FAILURE
from engine.story.rules import RULES

FEWEST_LINES: Final = 3
CONDITIONS: Final = ("if ", "if(", "else", "while", "for ", "case ", "match")
"""Beginnings of lines that are evaluated whether or not what follows them runs."""
HAPPENINGS: Final = 4
FEWEST_HAPPENINGS: Final = 3
FAR: Final = 120
"""Turns within which the happenings of one question lie."""

Happening = tuple[str, int]
"""(what happens, where)"""

SORTS: Final = {
    "CP-8.1.kill": "die",
    "CP-8.1.power": "die",
    "CP-8.2.start": "start",
    "CP-KR-FENCE": "notice",
    "CP-ZK-BROKERS": "notice",
    "CP-ELECT-KR": "elect",
    "CP-ELECT-ZK": "elect",
    "CP-MAKE-LEADER": "lead",
    "T-0": "cut",
    "T-1": "cut",
    "T-2": "cut",
    "T-4": "cut",
    "L-3": "append",
    "L-4": "copy",
    "H-2": "mark",
    "H-4": "follow",
}
"""Cue -> what happens; where one event has several, the first of this list is shown."""
_PLACE: Final = {cue: place for place, cue in enumerate(SORTS)}
OPENS: Final = ("append", "die", "start", "elect", "cut")
"""A question about an order begins with one of these."""


# -- which line acts ------------------------------------------------------------------------------


@lru_cache(maxsize=2_000)
def _lines(cue: str, profile: Profile) -> tuple[str, tuple[tuple[str, tuple[str, ...]], ...]]:
    """Return (the Kafka class that does it, the card's lines, each with its cues).

    The class is "" where there is no card.
    """
    card = card_of(cue)
    classes = card.classes(profile) if card is not None else []
    if card is None or card.outside or not classes:
        return "", ()
    lines = [one for one in card.lines if one.applies(profile)]
    texts = [one.text.strip() for one in lines]
    if len(set(texts)) != len(texts):
        return "", ()
    return classes[0], tuple((one.text.strip(), one.cues) for one in lines)


def _rests(text: str, own: tuple[str, ...], fired: set[str]) -> bool:
    """Return True if a line surely does nothing here: it would report a cue, and did not.

    A line without a cue may run beside the one that acts; a condition is always evaluated.
    """
    return bool(own) and not fired.intersection(own) and not text.startswith(CONDITIONS)


def _acting(recording: MomentRecording, index: int) -> tuple[str, str, tuple[str, ...]] | None:
    """Return (class, the line that acts, its card) of the weightiest cue.

    The card leaves out the other lines that act as well.
    """
    turn = recording.turns[index]
    cues = [c.rule for c in turn.events[0][3] if c.rule in RULES and RULES[c.rule].moment >= 2]
    fired = {cue.rule for event in turn.events for cue in event[3]}
    for cue in sorted(cues, key=lambda one: -RULES[one].moment):
        name, lines = _lines(cue, recording.profile)
        acts = [text for text, own in lines if cue in own]
        if len(acts) == 1 and not acts[0].startswith(CONDITIONS):
            asked = tuple(t for t, own in lines if t == acts[0] or _rests(t, own, fired))
            if len(asked) >= FEWEST_LINES:
                return name, acts[0], asked
    return None


def _rule_asked(recording: MomentRecording, index: int) -> Places:
    if _acting(recording, index) is not None:
        yield 0, 0


def _rule_told(recording: MomentRecording, index: int, tp: int, who: int) -> Any:
    """Return (class, lines): the card of the rule that acts."""
    found = _acting(recording, index)
    return None if found is None else (found[0], found[2])


def _rule_truth(
    asked: QuestionContext, recording: MomentRecording, index: int
) -> tuple[Answer, int] | None:
    found = _acting(recording, index)
    return None if found is None else (found[1], recording.turns[index].last)


# -- what comes after what ------------------------------------------------------------------------


def happening(event: Event) -> Happening | None:
    """Return what a person would say happened in this event, None if nothing much."""
    kind, node, what, cues = event
    if kind == DELIVERY and isinstance(what, Message) and what.kind == PRODUCE_R:
        return ("answer", node) if not getattr(what, "error", 0) else None
    told = [cue for cue in cues if cue.rule in SORTS and _moves(cue)]
    if not told:
        return None
    first = min(told, key=lambda cue: _PLACE[cue.rule])
    return SORTS[first[0]], first[1]


def _moves(cue: Cue) -> bool:
    return SORTS[cue.rule] not in ("copy", "mark", "follow") or cue.old != cue.new


def _is_unforeseen(turn: Turn, move: int) -> bool:
    """Return True if a fault or a write comes that nothing before announces."""
    for kind, _, _, cues in turn.events:
        sorts = {SORTS[cue.rule] for cue in cues if cue.rule in SORTS}
        if kind == FAILURE or sorts & {"die", "start"} or ("append" in sorts and turn.move != move):
            return True
    return False


def _sequence(recording: MomentRecording, index: int) -> tuple[tuple[Happening, ...], int]:
    """Return (the next happenings, each in a turn of its own, the step of the last one)."""
    found: dict[Happening, int] = {}
    beside: set[Happening] = set()  # came at the same time as another: before or after says nothing
    move = recording.turns[index].move
    for place, turn in enumerate(recording.turns[index : index + FAR]):
        if place and _is_unforeseen(turn, move):
            break
        told = [one for one in map(happening, turn.events) if one is not None]
        if told and told[0] not in found and told[0] not in beside:
            found[told[0]] = turn.last
        beside.update(one for one in told[1:] if one not in found)
        if len(found) == HAPPENINGS:
            break
    return tuple(found), max(found.values(), default=0)


def _order_asked(recording: MomentRecording, index: int) -> Places:
    first = happening(recording.turns[index].events[0])
    if first is None or first[0] not in OPENS or len(recording.turns[index].now.parts) != 1:
        return
    if len(_sequence(recording, index)[0]) >= FEWEST_HAPPENINGS:
        yield 0, 0


def _order_told(recording: MomentRecording, index: int, tp: int, who: int) -> tuple[Happening, ...]:
    """Return what happens, in an order that says nothing of when."""
    return tuple(sorted(_sequence(recording, index)[0]))


def _order_truth(
    asked: QuestionContext, recording: MomentRecording, index: int
) -> tuple[Answer, int] | None:
    return _sequence(recording, index)


KINDS: Final = (
    Kind("rule", "line", 1, _rule_asked, _rule_truth, _rule_told),
    Kind("order", "order", 1, _order_asked, _order_truth, _order_told),
)
