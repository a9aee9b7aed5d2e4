"""Interview questions: what a good answer has, the usual wrong one, and the run that proves it.

A file a topic in `interview/`: a question by its number, with its level (1 to 3), the question,
the facts of a good answer, the usual wrong answer, what is asked next and the answer to that, all
in every language; the question that is asked then; the run, and the property whose deciding moment
is where the run is opened.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from engine.learn.texts import (
    Texts,
    move_lines,
    profile_name,
    property_text,
    require,
    scenario_code,
    texts,
)
from engine.learn.topics import TOPICS
from engine.model.errors import InputError
from engine.properties.evaluate import Verdict, judged
from engine.scenarios.file import find, load_value
from engine.scenarios.places import Reader
from engine.sim.run import Run

LEVELS: Final = (1, 2, 3)
MOMENTS: Final = "moments.json"
FEWEST_FACTS: Final = 3
MOST_FACTS: Final = 5
MOST_TEXT: Final = 300
_FIELDS: Final = (
    "level", "ask", "facts", "wrong", "follow", "answer", "then", "run", "profile", "moment",
)  # fmt: skip
_ID: Final = re.compile(r"Q[1-9][0-9]{0,2}")


@dataclass(frozen=True, slots=True)
class Item:
    """One question; `moment` is the property that finds where the run is opened."""

    id: str
    topic: str
    level: int
    ask: Texts
    facts: tuple[Texts, ...]
    wrong: Texts
    follow: Texts
    answer: Texts
    """To what is asked next."""
    then: str
    """The question that is asked after that."""
    scenario: str
    profile: str
    moment: str
    moves: tuple[str, ...] | None = None
    """None: the scenario's own script."""

    @property
    def run(self) -> Run:
        return Run(find(self.scenario), self.profile, 0, self.moves)

    def judged(self) -> Verdict:
        """Play the run and judge if its property holds, and at which step this is decided."""
        return judged(self.moment, self.run)


def read(text: str, topic: str) -> list[Item]:
    """Read the questions of a file.

    Raises InputError: one sentence, where = "file:line:column".
    """
    value, check = load_value(text, f"{topic}.yaml")
    if not isinstance(value, dict):
        raise check.bad((), "Questions are listed by their numbers, like Q1.")
    items = []
    for name, fields in value.items():
        if not _ID.fullmatch(str(name)):
            raise check.bad((name,), "A question is numbered like Q1.", key=True)
        items.append(_item(check, str(name), topic, fields))
    return items


def _item(check: Reader, name: str, topic: str, value: object) -> Item:
    fields = check.mapping(value, (name,), (*_FIELDS, "moves"))
    require(check, fields, _FIELDS, (name,), f"Question {name}")
    facts = check.listing(fields["facts"], (name, "facts"), MOST_FACTS, FEWEST_FACTS)
    code = scenario_code(check, fields["run"], (name, "run"))
    moment = property_text(check, fields["moment"], (name, "moment"))
    profile = profile_name(check, fields["profile"], (name, "profile"))
    own = move_lines(check, fields["moves"], (name, "moves"), code) if "moves" in fields else None
    then = check.text(fields["then"], (name, "then"), 10)
    if not _ID.fullmatch(then) or then == name:
        raise check.bad((name, "then"), "What is asked then is another question, like Q2.")
    return Item(
        name,
        topic,
        check.integer(fields["level"], (name, "level"), LEVELS[0], LEVELS[-1]),
        texts(check, fields["ask"], (name, "ask"), MOST_TEXT),
        tuple(texts(check, fact, (name, "facts", i), MOST_TEXT) for i, fact in enumerate(facts)),
        texts(check, fields["wrong"], (name, "wrong"), MOST_TEXT),
        texts(check, fields["follow"], (name, "follow"), MOST_TEXT),
        texts(check, fields["answer"], (name, "answer"), MOST_TEXT),
        then,
        code,
        profile,
        moment,
        own,
    )


@cache
def questions() -> dict[str, Item]:
    """Return all questions by number, topic after topic."""
    folder = files("engine.learn") / "interview"
    texts = {topic: (folder / f"{topic}.yaml").read_text("utf-8") for topic in TOPICS}
    items = {item.id: item for topic, text in texts.items() for item in read(text, topic)}
    for item in items.values():
        if item.then not in items:
            raise InputError("unknown", f"There is no question {item.then} to ask after {item.id}.")
    return items


@cache
def moments() -> dict[str, int]:
    """Return question -> the computed step at which its run opens; a test plays them all."""
    text = (files("engine.learn") / "interview" / MOMENTS).read_text("utf-8")
    found: dict[str, int] = json.loads(text)
    return found
