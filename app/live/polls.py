"""Questions that a class answers, with their answers and their table.

Plain data, in memory: nothing here plays a run, and a class that ends takes its answers with it.
The right answer is not sent before the question is closed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final, NotRequired, TypedDict

from app.core.refusals import RequestError
from app.web.question_view import GivenAnswer, QuestionWords
from engine.learn.probes import Probe
from engine.model.languages import USUAL

POLLS_MOST: Final = 40
"""Questions of one class; with `MEMBERS_MOST` answers each that is what a room may take."""
CERTAIN: Final = 3
HEAD: Final = (
    "question",
    "run",
    "kafka",
    "step",
    "probe",
    "asked",
    "pupil",
    "answer",
    "right",
    "misconceptions",
    "seconds",
    "sure",
)


class ReasonWords(TypedDict):
    """Reason for the right answer, and each misconception that gives a wrong one: (name, why)."""

    why: str
    beliefs: dict[str, tuple[str, str]]


class PollState(TypedDict):
    """State of a question: its number, whether it is open, and how many have answered."""

    n: int
    open: bool
    answers: int


class HistogramRow(TypedDict):
    """An answer: how many gave it, and how many of them were certain.

    `ids` are the misconceptions that give it; browsers receive them once the question is closed.
    """

    text: str
    n: int
    ids: NotRequired[list[str]]
    certain: int


Cell = int | str | float
"""Cell of the table of answers."""


@dataclass(frozen=True, slots=True)
class PreparedQuestion:
    """A question as the browsers of a class receive it.

    Words are by language: `told` before, `known` after it is closed.
    """

    run: str
    kafka: str
    probe: Probe
    stage: dict[str, str]
    """What the address of the stage asks for."""
    told: dict[str, QuestionWords]
    known: dict[str, ReasonWords]


@dataclass(frozen=True, slots=True)
class PupilAnswer:
    """One pupil's answer.

    `text` is by language, `after_s` counted from the question, `sure` is 1 (a guess) to 3
    (certain), 0 where that was not said.
    """

    pupil: int
    given: GivenAnswer
    text: dict[str, str]
    after_s: float
    sure: int = 0


@dataclass(slots=True)
class Poll:
    """One question of a class; `said` is by browser, so that each answers once."""

    number: int
    asking: PreparedQuestion
    opened_at: float
    is_open: bool = True
    said: dict[str, PupilAnswer] = field(default_factory=dict)

    def state(self) -> PollState:
        """Return the question as every client in the room receives it."""
        return {"n": self.number, "open": self.is_open, "answers": len(self.said)}

    def take(self, browser: str, said: PupilAnswer) -> None:
        """Store an answer.

        Raises `RequestError` where the question is closed, or already answered.
        """
        if not self.is_open:
            raise RequestError("invalid", key="class.asked.closed")
        if browser in self.said:
            raise RequestError("invalid", key="class.asked.twice")
        self.said[browser] = said

    def histogram(self, lang: str) -> list[HistogramRow]:
        """Return the counts of each answer.

        First each that is offered, in its order, and then the other answers, the most frequent
        first.
        """
        choices = self.asking.told[lang]["choices"]
        places = Counter(answer.given.place for answer in self.said.values())
        certain = Counter(
            answer.text[lang] for answer in self.said.values() if answer.sure == CERTAIN
        )
        offered: list[HistogramRow] = [
            {
                "text": text,
                "n": places[i],
                "ids": list(self.asking.probe.choices[i].wrong),
                "certain": certain[text],
            }
            for i, text in enumerate(choices)
        ]
        others = Counter(
            answer.text[lang] for answer in self.said.values() if answer.given.place < 0
        )
        rest: list[HistogramRow] = [
            {"text": text, "n": n, "ids": [], "certain": certain[text]}
            for text, n in others.most_common()
        ]
        return offered + rest

    def rows(self) -> list[list[Cell]]:
        """Return a row for each answer, below `HEAD`, in the order in which they came."""
        probe, texts = self.asking.probe, self.asking.told[USUAL]
        return [
            [
                self.number,
                self.asking.run,
                self.asking.kafka,
                probe.step,
                probe.text,
                texts["ask"],
                answer.pupil,
                answer.text[USUAL],
                int(answer.given.place == probe.right),
                " ".join(probe.choices[answer.given.place].wrong)
                if answer.given.place >= 0
                else "",
                round(answer.after_s, 1),
                answer.sure or "",
            ]
            for answer in self.said.values()
        ]
