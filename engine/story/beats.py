"""The story of a run: a handful of steps that matter, each with a caption.

A script's captions are beats: its author says what matters.  An aside makes its move a beat, whose
caption is the sentence of the step.  A script with a caption for its end tells its whole story.
Other runs (branches, failing seeds) get their beats from what happened: writes and
acknowledgements, faults, elections, truncations and ISR changes.  Rounds of fetches that bring
nothing are in no beat.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from engine.scenarios.comments import END, START, Caption

MOST_BEATS: Final = 12  # per run, the beginning and the end included
SHORTEST_PRELUDE: Final = 12  # steps before the first write, from which on they are folded

COMMENT: Final = 80
WEIGHTS: Final = {
    "violation": 90,
    "leader": 70,
    "truncation": 65,
    "fault": 60,
    "ack": 50,
    "isr": 40,
    "heal": 30,
}
"""Kind of a mark on the rail -> how much it matters for the story."""
LOSS: Final = 100
FITTING: Final = ("truncation", "leader", "isr")
"""Kinds of marks at which an aside stands, the best one first."""
RECENT: Final = 3  # events of a kind before the loss, where nothing but chance moves

_CJK: Final = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True)
class Beat:
    """A step, its caption, and how much it matters."""

    step: int
    text: str
    weight: int = 0


Chapter = Sequence[Any]
"""[first step, move, comment] of a move, as in the facts of a run."""
Captions = Sequence[Sequence[Caption]]
"""Captions of each chapter."""
Marks = Sequence[tuple[int, str]]
"""(step, kind) as on the rail."""


def beats(
    total: int,
    chapters: Sequence[Chapter],
    captions: Captions,
    marks: Marks,
    weighty: Sequence[int],
    lost_at: int | None,
) -> list[tuple[int, str]]:
    """Return (step, caption) of at most `MOST_BEATS` beats in order.

    A caption is "" where the sentence of the step itself says what happens.  The end is a beat if
    it has a caption or matters.

    `weighty`: the steps that matter, in order; `lost_at`: the first step at which an acknowledged
    record is gone.
    """
    if not total:
        return []
    by_mark = {comment.mark: comment.text for own in captions for comment in own}
    candidates = [*_captioned(total, chapters, captions, marks, weighty)]
    opening = Beat(_opening(chapters, candidates), by_mark.get(START, ""))
    by_step = {opening.step: opening}
    if END in by_mark:
        candidates.append(Beat(total, by_mark[END], LOSS))
        candidates += _untold_loss(total, chapters, candidates, lost_at)
    else:
        candidates += _asides(total, chapters, captions, marks, weighty)
        candidates += _happened(chapters, marks, lost_at)
    for beat in candidates:
        if beat.step > opening.step:
            same_step = by_step.get(beat.step, beat)
            text = same_step.text or beat.text
            by_step[beat.step] = Beat(beat.step, text, max(same_step.weight, beat.weight))
    if len(by_step) == 1 or (total in weighty and END not in by_mark):
        by_step.setdefault(total, Beat(total, "", LOSS))
    free = sorted((each for each in by_step.values() if each is not opening), key=_first_by_weight)
    chosen = [opening, *free[: MOST_BEATS - 1]]
    return [(each.step, each.text) for each in sorted(chosen, key=lambda each: each.step)]


def _first_by_weight(beat: Beat) -> tuple[int, int]:
    return -beat.weight, beat.step


def _opening(chapters: Sequence[Chapter], told: Iterable[Beat]) -> int:
    """Return the first beat's step: 0, or where only the first write is still to come."""
    first = next((i for i, (_, move, _) in enumerate(chapters) if move.startswith("produce")), 0)
    step = chapters[first][0] - 1 if first else 0
    return 0 if step < SHORTEST_PRELUDE or any(beat.step <= step for beat in told) else step


def _extents(total: int, chapters: Sequence[Chapter]) -> Iterable[tuple[int, int]]:
    starts = [first for first, _, _ in chapters]
    ends = [*(start - 1 for start in starts[1:]), total]
    return ((first, max(first, last)) for first, last in zip(starts, ends, strict=True))


def _captioned(
    total: int,
    chapters: Sequence[Chapter],
    captions: Captions,
    marks: Marks,
    weighty: Sequence[int],
) -> Iterable[Beat]:
    """Return the captions: at their mark, if the run has it, or at the last step that matters."""
    for (first, last), own in zip(_extents(total, chapters), captions, strict=True):
        for caption in own:
            if caption.mark in (START, END):
                continue
            if caption.mark:
                fitting = [at for at, kind in marks if kind == caption.mark and first <= at <= last]
                fitting = fitting[caption.which - 1 : caption.which]
            else:
                fitting = [step for step in weighty if first <= step <= last][-1:] or [last]
            yield from (Beat(step, caption.text, COMMENT) for step in fitting)


def _untold_loss(
    total: int, chapters: Sequence[Chapter], candidates: Sequence[Beat], lost_at: int | None
) -> Iterable[Beat]:
    """Return the loss, unless a caption of its move tells of it."""
    for first, last in _extents(total, chapters):
        told_of = any(first <= beat.step <= last for beat in candidates)
        if lost_at is not None and first <= lost_at <= last and not told_of:
            yield Beat(lost_at, "", LOSS)


def _asides(
    total: int,
    chapters: Sequence[Chapter],
    captions: Captions,
    marks: Marks,
    weighty: Sequence[int],
) -> Iterable[Beat]:
    """Return the moves with an aside, each at the step that fits best."""
    for number, (first, last) in enumerate(_extents(total, chapters)):
        if not chapters[number][2] or captions[number]:
            continue
        inside = [(at, kind) for at, kind in marks if first <= at <= last]
        fitting = [at for want in FITTING for at, kind in inside if kind == want]
        moved = fitting or [step for step in weighty if first <= step <= last][-1:] or [last]
        yield Beat(moved[0], "", COMMENT)


def _happened(chapters: Sequence[Chapter], marks: Marks, lost_at: int | None) -> Iterable[Beat]:
    """Return the events in moves without a comment, and the loss.

    Of each kind the last one of a move counts; of a run that chance plays, the last `RECENT` before
    the loss as well: they lead to it.
    """
    commented = {first for first, _, text in chapters if text}
    recent = 1 if len(chapters) > 1 else RECENT
    seen: dict[tuple[int, str], list[int]] = {}
    for step, kind in marks:
        first = max((at for at, _, _ in chapters if at <= step), default=0)
        if kind in WEIGHTS and first not in commented:
            seen.setdefault((first, kind), []).append(step)
    for (_, kind), steps in seen.items():
        before = [step for step in steps if lost_at is None or step <= lost_at]
        for step in {*before[-recent:], steps[-1]}:
            yield Beat(step, "", WEIGHTS[kind])
    if lost_at is not None:
        yield Beat(lost_at, "", LOSS)


def words_in(text: str) -> float:
    """Return the words of a text; two Chinese characters count as one."""
    return len(_CJK.sub(" ", text).split()) + len(_CJK.findall(text)) / 2
