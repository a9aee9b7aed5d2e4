"""Recordings against the engine, fact by fact: equal, explained by the recording, or different.

Nothing is tolerated here.  A difference counts as explained only where the recording lists exactly
that fact of that step with both values and says why.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from engine.recordings.facts import Row, pairs
from engine.recordings.player import RecordingPlayer
from engine.recordings.reading import Explained, Facts, RecordedStep, Recording

NOTHING: Final = "nothing"


@dataclass(frozen=True, slots=True)
class Difference:
    """One fact that is not the same; `why` is the recording's explanation, or ""."""

    step: int
    move: str
    fact: str
    real: Any
    model: Any
    why: str = ""

    def sentence(self, kafka: str) -> str:
        real, model = (NOTHING if one is None else one for one in (self.real, self.model))
        text = f"step {self.step}, after “{self.move}”: {self.fact} is {real!r} on Kafka {kafka}"
        return f"{text} and {model!r} in the engine" + (f" ({self.why})" if self.why else "")


@dataclass(slots=True)
class RecordingComparison:
    """Outcome of one recording; `followed` says where the order was the recording's."""

    recording: Recording
    equal: int = 0
    explained: list[Difference] = field(default_factory=list)
    different: list[Difference] = field(default_factory=list)
    followed: list[str] = field(default_factory=list)

    @property
    def first(self) -> str:
        """The first difference that nothing explains, as one line, or ""."""
        return self.different[0].sentence(self.recording.kafka) if self.different else ""

    def to_dict(self) -> dict[str, Any]:
        recording, kafka = self.recording, self.recording.kafka
        return {
            "name": recording.name,
            "scenario": recording.scenario,
            "kafka": kafka,
            "profile": recording.profile,
            "steps": len(recording.steps),
            "equal": self.equal,
            "explained": len(self.explained),
            "different": len(self.different),
            "first": self.first,
            "differences": [difference.sentence(kafka) for difference in self.different],
            "explanations": [difference.sentence(kafka) for difference in self.explained],
            "followed": self.followed,
        }


@dataclass(frozen=True, slots=True)
class RecordedMoment:
    """One move of a recording, played: every fact on both sides, and those that are not the same.

    `model` has more facts than `rows`, which are those that the recording has.
    """

    number: int
    step: RecordedStep
    model: Facts
    rows: tuple[Row, ...]
    differences: tuple[Difference, ...]


def moments(
    recording: Recording, player: RecordingPlayer | None = None
) -> Iterator[RecordedMoment]:
    """Replay a recording, moment by moment.

    Raises InputError where the engine cannot set the scene: an unknown profile, an impossible
    setting.
    """
    for number, step, model, refused in (player or RecordingPlayer(recording)).steps():
        rows = pairs(step.facts, model)
        if refused and not step.refused:
            rows.append(("move", "played", f"refused: {refused}"))
        differences = tuple(
            Difference(
                number,
                step.move,
                fact,
                real,
                own,
                explanation(recording.explained, number, fact, real, own),
            )
            for fact, real, own in rows
            if real != own
        )
        yield RecordedMoment(number, step, model, tuple(rows), differences)


def compare(recording: Recording) -> RecordingComparison:
    """Replay a recording and compare every fact of every step.  Raises InputError as `moments`."""
    player = RecordingPlayer(recording)
    result = RecordingComparison(recording, followed=player.notes)
    for moment in moments(recording, player):
        result.equal += len(moment.rows) - len(moment.differences)
        for difference in moment.differences:
            (result.explained if difference.why else result.different).append(difference)
    return result


def explanation(reasons: Explained, step: int, fact: str, real: Any, model: Any) -> str:
    """Return why, by the recording, these two values differ, or ""."""
    for expected, other, why in reasons.get((step, fact), ()):
        if (expected, other) == (real, model):
            return why
    return ""
