"""Chapters of a run: its moves that did anything, each with what the script says of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from engine.scenarios.comments import Caption
from engine.scenarios.scenario import Scenario
from engine.scenarios.script import ScriptLine
from engine.sim.run import Run
from engine.story import story


@dataclass(frozen=True, slots=True)
class MoveText:
    """A move by number, its first step, its comment and its captions."""

    move: int
    first: int
    comment: str
    captions: tuple[Caption, ...]


def chapters(
    run: Run, move_of: Iterable[int], translated: Scenario | None = None
) -> list[MoveText]:
    """Return the chapters of a run.

    `move_of`: the move of each step, -1 for none; `translated`: the scenario in another language.
    """
    spoken = _spoken(run, translated)
    in_words: Callable[[str], str] = str if run.scenario.quorum else story.in_words
    starts: dict[int, MoveText] = {}
    for step, move in enumerate(move_of):
        if move < 0 or move in starts:
            continue
        line = spoken[move] if move < len(spoken) else ScriptLine("", "", False)
        captions = tuple(replace(caption, text=in_words(caption.text)) for caption in line.captions)
        starts[move] = MoveText(move, step, in_words(line.comment), captions)
    return list(starts.values())


def comments(run: Run, told: Scenario | None = None) -> list[str]:
    """Return the script's comments by move, as far as the moves are those of the script."""
    spoken = [line.comment for line in _spoken(run, told)]
    return spoken + [""] * (len(run.lines()) - len(spoken))


def _spoken(run: Run, translated: Scenario | None) -> Sequence[ScriptLine]:
    script = [
        line for line in (translated or run.scenario).lines(run.profile) if not line.is_expect
    ]
    spoken = []
    for line, own in zip(script, run.lines(), strict=False):
        if line.text != own.split(" !")[0]:
            break
        spoken.append(line)
    return spoken
