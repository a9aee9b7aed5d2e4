"""Questions about what comes after what."""

from __future__ import annotations

from typing import Final

from engine.learn.question_context import Answer, Kind, Places, QuestionContext
from engine.model.effects import Cue
from engine.model.messages import PRODUCE_R, Message
from engine.properties.recording import Event, MomentRecording, Turn
from engine.sim.kernel import DELIVERY, FAILURE

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


def happening(event: Event) -> Happening | None:
    """Return what a person would say happened in this event, None if nothing much."""
    kind, node, what, cues = event
    if kind == DELIVERY and isinstance(what, Message) and what.kind == PRODUCE_R:
        return ("answer", node) if not getattr(what, "error", 0) else None
    shown = [cue for cue in cues if cue.rule in SORTS and _moves(cue)]
    if not shown:
        return None
    first = min(shown, key=lambda cue: _PLACE[cue.rule])
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
    sequence: dict[Happening, int] = {}
    beside: set[Happening] = set()  # came at the same time as another: before or after says nothing
    move = recording.turns[index].move
    for place, turn in enumerate(recording.turns[index : index + FAR]):
        if place and _is_unforeseen(turn, move):
            break
        happenings = [each for each in map(happening, turn.events) if each is not None]
        if happenings and happenings[0] not in sequence and happenings[0] not in beside:
            sequence[happenings[0]] = turn.last
        beside.update(each for each in happenings[1:] if each not in sequence)
        if len(sequence) == HAPPENINGS:
            break
    return tuple(sequence), max(sequence.values(), default=0)


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


KINDS: Final = (Kind("order", "order", 1, _order_asked, _order_truth, _order_told),)
