"""Facts of a recording beside the model's, after each move, as lines of text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from engine.recordings import reading
from engine.recordings.comparing import RecordedMoment, moments
from engine.recordings.player import RecordingPlayer
from engine.sim.run import Run


def compared(made: Mapping[str, object], run: Run) -> list[RecordedMoment]:
    """Return every moment of the recording, compared as `highwater recordings` does.

    Raises InputError where the engine cannot set the scene.
    """
    recording = reading.read(json.dumps(made), str(made["scenario"]))
    return list(moments(recording, RecordingPlayer(recording, run.scenario)))


def seed_of(made: Mapping[str, object], run: Run) -> int:
    """Return the seed under which the model is like a recording of a quorum."""
    recording = reading.read(json.dumps(made), str(made["scenario"]))
    player = RecordingPlayer(recording, run.scenario)
    for _ in player.steps():
        pass
    return player.seed


def differing(moments: list[RecordedMoment]) -> list[list[Any]]:
    """Return [step, move, fact, real, model] of each fact that is not the same."""
    return [
        [difference.step, difference.move, difference.fact, difference.real, difference.model]
        for moment in moments
        for difference in moment.differences
    ]


def lines(moments: list[RecordedMoment], kafka: str, every: bool = False) -> Iterator[str]:
    """Yield the number of equal facts of each move, and the others; with `every`, all of them."""
    equal = total = 0
    for moment in moments:
        same = len(moment.rows) - len(moment.differences)
        equal, total = equal + same, total + len(moment.rows)
        yield f"{moment.number:>3} {moment.step.move:<36} {same} of {len(moment.rows)} equal"
        for fact, real, model in moment.rows:
            if real != model:
                yield f"      {fact}: {real!r} on Kafka {kafka}, {model!r} in the model"
            elif every:
                yield f"      {fact}: {real!r} on both"
    yield f"{equal} of {total} facts are equal."
