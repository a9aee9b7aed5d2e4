"""The story of a run: a handful of steps that matter, each with a caption.

A line of a script that has a comment is a beat: its author says what matters.  Runs without
comments (branches, failing seeds) get their beats from what happened: writes and acknowledgements,
faults, elections, truncations and ISR changes.  Rounds of fetches that bring nothing are in no
beat.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

MOST_BEATS: Final = 12  # per run, the beginning and the end included
MOST_WORDS: Final = 20  # per caption
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
RECENT: Final = 3  # events of a kind before the loss, where nothing but chance moves

_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_CJK: Final = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True)
class Beat:
    """A step, its caption, and how much it matters."""

    step: int
    text: str
    weight: int = 0


Chapter = Sequence[Any]
"""[first step, move, comment] of a move, as in the facts of a run."""


def beats(
    total: int,
    chapters: Sequence[Chapter],
    marks: Iterable[tuple[int, str]],
    weighty: Sequence[int],
    lost_at: int | None,
) -> list[tuple[int, str]]:
    """Return (step, caption) of at most `MOST_BEATS` beats in order; the last one is the end.

    A caption is "" where the sentence of the step itself says what happens.

    `marks`: (step, kind) as on the rail; `weighty`: the steps that matter, in order; `lost_at`: the
    first step at which an acknowledged record is gone.
    """
    if not total:
        return []
    opening = _opening(chapters)
    found = {opening.step: opening}
    for beat in [*_commented_beats(total, chapters, weighty), *_happened(chapters, marks, lost_at)]:
        if beat.step > opening.step:
            known = found.get(beat.step, beat)
            text = known.text or beat.text
            found[beat.step] = Beat(beat.step, text, max(known.weight, beat.weight))
    found.setdefault(total, Beat(total, ""))
    fixed = {opening.step, total}
    free = sorted((one for one in found.values() if one.step not in fixed), key=_first_by_weight)
    kept = [found[step] for step in fixed] + free[: MOST_BEATS - len(fixed)]
    return [(one.step, one.text) for one in sorted(kept, key=lambda one: one.step)]


def _first_by_weight(beat: Beat) -> tuple[int, int]:
    return -beat.weight, beat.step


def _opening(chapters: Sequence[Chapter]) -> Beat:
    """Return the first beat: the beginning, or where only the first write is still to come."""
    first = next((i for i, (_, move, _) in enumerate(chapters) if move.startswith("produce")), 0)
    step = chapters[first][0] - 1 if first else 0
    if step < SHORTEST_PRELUDE:
        return Beat(0, "")
    comments = [text for _, _, text in chapters[:first] if text]
    return Beat(step, brief(comments[0]) if comments else "")


def _commented_beats(
    total: int, chapters: Sequence[Chapter], weighty: Sequence[int]
) -> Iterable[Beat]:
    """Return the commented lines, each at the last step of its moves that matters."""
    for number, (first, _, text) in enumerate(chapters):
        if not text:
            continue
        last = chapters[number + 1][0] - 1 if number + 1 < len(chapters) else total
        inside = [step for step in weighty if first <= step <= last]
        yield Beat(inside[-1] if inside else max(first, last), brief(text), COMMENT)


def _happened(
    chapters: Sequence[Chapter], marks: Iterable[tuple[int, str]], lost_at: int | None
) -> Iterable[Beat]:
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


def brief(text: str) -> str:
    """Return the first sentences of a text, as many as `MOST_WORDS` have room for; at least one."""
    told = ""
    for sentence in filter(None, _SENTENCE.split(text.strip())):
        longer = f"{told} {sentence}" if told and not _CJK.search(sentence) else told + sentence
        if told and words_in(longer) > MOST_WORDS:
            break
        told = longer
    return told


def words_in(text: str) -> float:
    """Return the words of a text; two Chinese characters count as one."""
    return len(_CJK.sub(" ", text).split()) + len(_CJK.findall(text)) / 2
