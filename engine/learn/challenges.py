"""Challenges: make it happen in few moves.  Graded by playing what was done.

`challenges/challenges.yaml` has them by name: level, task and hint in every language, the run
(scenario, profile, the moves that come first), the goal as a property that must hold at the end,
verbs that are not allowed, and a solution whose length is par.  A test plays every solution.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from engine.learn.texts import texts
from engine.model.errors import InputError
from engine.model.phrases import phrase
from engine.model.profiles import get_profile
from engine.moves import moves
from engine.properties.evaluate import judge
from engine.properties.grammar import MOST_CHARACTERS, parse
from engine.properties.recording import MomentRecording
from engine.scenarios.file import find, library, load_value
from engine.scenarios.places import Path, Reader
from engine.sim.run import Run

MOST_MOVES: Final = 24
"""Moves that may be tried at once: more is no way to do it in few."""
MOST_TEXT: Final = 300
_FIELDS: Final = (
    "level",
    "task",
    "hint",
    "run",
    "profile",
    "goal",
    "first",
    "without",
    "solution",
)


@dataclass(frozen=True, slots=True)
class Attempt:
    """Outcome of some moves: the run that they make, and whether it reaches the goal."""

    run: Run
    done: bool
    step: int
    used: int


@dataclass(frozen=True, slots=True)
class Challenge:
    """One task; par is the length of `solution`."""

    slug: str
    level: int
    task: dict[str, str]
    hint: dict[str, str]
    scenario: str
    profile: str
    goal: str
    first: tuple[str, ...]
    without: tuple[str, ...]
    solution: tuple[str, ...]

    @property
    def par(self) -> int:
        return len(self.solution)

    @property
    def beginning(self) -> Run:
        """The run as the player finds it."""
        return Run(find(self.scenario), self.profile, 0, self.first)

    def attempt(self, lines: tuple[str, ...]) -> Attempt:
        """Play these moves and check the goal at their end.

        Raises InputError for a move that is malformed, impossible, or not allowed here.
        """
        if len(lines) > MOST_MOVES:
            raise InputError("too_large", f"At most {MOST_MOVES} moves may be tried.")
        brokers = find(self.scenario).brokers
        for number, line in enumerate(lines, 1):
            try:
                moves.parse(line, brokers)
            except InputError as bad:
                sentence = phrase("Move {0} (“{1}”): {2}", number, line[:60], bad.sentence)
                raise InputError(bad.code, sentence, where=f"line {number}, column 1") from bad
            if line.split()[0] in self.without:
                raise InputError(
                    "impossible",
                    f"Move {number} (“{line[:60]}”): {line.split()[0]} is not allowed here.",
                    where=f"line {number}, column 1",
                )
        run = Run(find(self.scenario), self.profile, 0, (*self.first, *lines))
        recording = MomentRecording(run)
        return Attempt(run, judge(self.goal, recording).holds, recording.end.step, len(lines))


def read(text: str, where: str = "challenges.yaml") -> dict[str, Challenge]:
    """Read the challenges of a file.

    Raises InputError: one sentence, where = "file:line:column".
    """
    value, check = load_value(text, where)
    if not isinstance(value, dict):
        raise check.bad((), "Challenges are listed by their names.")
    return {str(name): _challenge(check, str(name), one) for name, one in value.items()}


def _challenge(check: Reader, slug: str, value: object) -> Challenge:
    fields = check.mapping(value, (slug,), _FIELDS)
    for name in ("level", "task", "hint", "run", "profile", "goal", "solution"):
        if name not in fields:
            raise check.bad((slug,), f"The challenge {slug[:40]} needs its {name}.")
    code = check.text(fields["run"], (slug, "run"), 80)
    if code not in {one.code for one in library().values()}:
        raise check.bad((slug, "run"), f"There is no scenario {code[:40]} in the library.")
    profile = check.text(fields["profile"], (slug, "profile"), 80)
    goal = check.text(fields["goal"], (slug, "goal"), MOST_CHARACTERS)
    for name, reader, text in (("profile", get_profile, profile), ("goal", parse, goal)):
        try:
            reader(text)
        except InputError as bad:
            raise check.bad((slug, name), bad.sentence, code=bad.code) from bad
    without = check.listing(fields.get("without", []), (slug, "without"), len(moves.VERBS))
    return Challenge(
        slug,
        check.integer(fields["level"], (slug, "level"), 1, 3),
        texts(check, fields["task"], (slug, "task"), MOST_TEXT),
        texts(check, fields["hint"], (slug, "hint"), MOST_TEXT),
        code,
        profile,
        goal,
        _lines(check, fields.get("first", []), (slug, "first"), code),
        tuple(
            check.choice(one, (slug, "without", i), tuple(moves.VERBS))
            for i, one in enumerate(without)
        ),
        _lines(check, fields["solution"], (slug, "solution"), code),
    )


def _lines(check: Reader, value: object, path: Path, code: str) -> tuple[str, ...]:
    found = []
    for i, one in enumerate(check.listing(value, path, MOST_MOVES)):
        line = check.text(one, (*path, i), moves.MAX_LENGTH)
        try:
            moves.parse(line, find(code).brokers)
        except InputError as bad:
            raise check.bad((*path, i), bad.sentence, code=bad.code) from bad
        found.append(line)
    return tuple(found)


@cache
def challenges() -> dict[str, Challenge]:
    """Return all challenges by name, the easier ones first."""
    text = (files("engine.learn") / "challenges" / "challenges.yaml").read_text("utf-8")
    return dict(sorted(read(text).items(), key=lambda one: one[1].level))
