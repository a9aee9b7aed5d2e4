"""A scenario made of a run: its moves become the script, its moments comments."""

from __future__ import annotations

from typing import TypedDict

from engine.replay import chapters
from engine.replay.replay import Replay
from engine.scenarios.scenario import Scenario
from engine.scenarios.translated import in_language
from engine.story import story

MOST_ASKED = 40
COLUMN = 30
"""Where comments begin, as in the library."""


class OfferedComment(TypedDict):
    """The engine's comment on a line of the script, by its number."""

    script: int
    sentence: str


def recorded(replay: Replay, lang: str) -> tuple[Scenario, list[OfferedComment]]:
    """Return the scenario and the engine's comments on its lines.

    Raises InputError for a run too long to be a script.
    """
    run = replay.run
    moments = _moments(replay, lang)
    comments = chapters.comments(replay.run, in_language(run.scenario, lang))
    lines: list[str] = []
    asks: list[OfferedComment] = []
    for number, (move, comment) in enumerate(zip(replay.lines, comments, strict=True), 1):
        lines.append(f"{move:<{COLUMN}}# {comment}" if comment else move)
        if not comment and number - 1 in moments:
            asks.append({"script": number, "sentence": moments[number - 1]})
    data = run.scenario.to_dict()
    data["title"] = in_language(run.scenario, lang).title
    data |= {"slug": "", "code": "", "script": "\n".join(lines)}
    data |= {"profiles": [run.profile], "expect": {}}
    return Scenario.from_dict(data), asks


def _moments(replay: Replay, lang: str) -> dict[int, str]:
    """Return move -> the sentence of its weightiest step, for moves with events."""
    names = {broker.id: broker.label for broker in replay.run.scenario.brokers}
    moments: dict[int, tuple[int, str]] = {}
    for step in replay.facts()["moments"][:MOST_ASKED]:
        (seen,) = replay.steps(step, 1)
        if seen["say"] and seen["moment"] > moments.get(seen["line"], (0, ""))[0]:
            moments[seen["line"]] = (seen["moment"], story.render(seen["say"][0], names, lang))
    return {line: sentence for line, (_, sentence) in moments.items()}
