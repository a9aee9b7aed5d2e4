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


def chapters(run: Run, move_of: Iterable[int], told: Scenario | None = None) -> list[MoveText]:
    """Return the chapters of a run.

    `move_of`: the move of each step, -1 for none; `told`: the scenario in another language.
    """
    spoken = _spoken(run, told)
    in_words: Callable[[str], str] = str if run.scenario.quorum else story.in_words
    found: dict[int, MoveText] = {}
    for step, move in enumerate(move_of):
        if move < 0 or move in found:
            continue
        line = spoken[move] if move < len(spoken) else ScriptLine("", "", False)
        captions = tuple(replace(one, text=in_words(one.text)) for one in line.captions)
        found[move] = MoveText(move, step, in_words(line.comment), captions)
    return list(found.values())


def comments(run: Run, told: Scenario | None = None) -> list[str]:
    """Return the script's comments by move, as far as the moves are those of the script."""
    spoken = [line.comment for line in _spoken(run, told)]
    return spoken + [""] * (len(run.lines()) - len(spoken))


def _spoken(run: Run, told: Scenario | None) -> Sequence[ScriptLine]:
    script = [line for line in (told or run.scenario).lines(run.profile) if not line.is_expect]
    spoken = []
    for line, own in zip(script, run.lines(), strict=False):
        if line.text != own.split(" !")[0]:
            break
        spoken.append(line)
    return spoken
