"""Claims: sentences that are taught, each with the run and the properties that judge it.

A claim is a YAML file in `claims/`: the sentence and what is so instead, in every language; the
run, as a scenario's code with `moves` of its own or with `first` before the scenario's script; the
property, which holds in the run exactly if the claim does; `profiles` where the claim is about some
releases only.  Three optional fields let other runs refute it (`engine.learn.judging`):
`everywhere`, a property for any run; `tested`, the property that holds in a run exactly if that run
puts the claim to the test; `search`, what a search looks for, within which budgets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from engine.explore.budgets import MOST, NAMES, Budgets
from engine.learn.texts import move_lines, texts
from engine.learn.topics import TOPICS
from engine.model.errors import InputError
from engine.model.languages import USUAL
from engine.model.profiles import GENERATIONS
from engine.properties.evaluate import Verdict, judge
from engine.properties.grammar import MOST_CHARACTERS, parse
from engine.properties.recording import MomentRecording
from engine.scenarios.file import find, library, load_value
from engine.scenarios.places import Reader
from engine.sim.run import Run

FOLDER: Final = "claims"
SOURCES: Final = ("guide", "post", "seed")
MOST_TEXT: Final = 400
MOST_STATES: Final = 10_000
_FIELDS: Final = (
    "sentence",
    "truth",
    "topic",
    "source",
    "run",
    "moves",
    "first",
    "profiles",
    "property",
    "everywhere",
    "tested",
    "search",
    "questions",
)
_RELEASE: Final = re.compile(r"\d\.\d|KIP-\d")
SEARCHED: Final = "S60"
"""The scenario in which a search begins: three brokers, no script."""


@dataclass(frozen=True, slots=True)
class ClaimSearch:
    """Looks for `reach` after `moves` of `SEARCHED`, with at most `states` states."""

    moves: tuple[str, ...]
    reach: str
    budgets: Budgets
    states: int


@dataclass(frozen=True, slots=True)
class Claim:
    """`sentence` and `truth` by language; `moves` None: the scenario's own script."""

    slug: str
    sentence: dict[str, str]
    truth: dict[str, str]
    topic: str
    source: str
    scenario: str
    moves: tuple[str, ...] | None
    first: tuple[str, ...]
    profiles: tuple[str, ...]
    property: str
    questions: tuple[str, ...]
    everywhere: str = ""
    tested: str = ""
    search: ClaimSearch | None = None

    def names_releases(self) -> bool:
        """Return whether the sentence is about certain releases: one of them can refute it."""
        return _RELEASE.search(self.sentence[USUAL]) is not None

    def run(self, profile: str) -> Run:
        """Return the run that decides under this profile."""
        scenario = find(self.scenario)
        script = self.moves if self.moves is not None else Run(scenario, profile).script()
        own = self.moves is None and not self.first
        return Run(scenario, profile, 0, None if own else (*self.first, *script))

    def judged(self, profile: str) -> Verdict:
        """Play the claim's own run and return the verdict of that run alone."""
        return judge(self.property, MomentRecording(self.run(profile)))


def read(text: str, slug: str) -> Claim:
    """Read a claim from its file.

    Raises InputError: one sentence, where = "file:line:column".
    """
    value, check = load_value(text, f"{slug}.yaml")
    fields = check.mapping(value, (), _FIELDS)
    for name in ("sentence", "truth", "topic", "source", "run", "property"):
        if name not in fields:
            raise check.bad((), f"A claim needs its {name}.")
    code = check.text(fields["run"], ("run",), 80)
    if code not in {one.code for one in library().values()}:
        raise check.bad(
            ("run",), f"There is no scenario {code[:40]} in the library.", code="unknown"
        )
    own = move_lines(check, fields["moves"], ("moves",), code) if "moves" in fields else None
    first = move_lines(check, fields.get("first", []), ("first",), code)
    if own is not None and first:
        raise check.bad(("first",), "Moves of its own need no moves before them.")
    listed = check.listing(
        fields.get("profiles", list(GENERATIONS)), ("profiles",), len(GENERATIONS), 1
    )
    known = tuple(GENERATIONS)
    return Claim(
        slug,
        texts(check, fields["sentence"], ("sentence",), MOST_TEXT),
        texts(check, fields["truth"], ("truth",), MOST_TEXT),
        check.choice(fields["topic"], ("topic",), TOPICS),
        check.choice(fields["source"], ("source",), SOURCES),
        code,
        own,
        first,
        tuple(check.choice(one, ("profiles", i), known) for i, one in enumerate(listed)),
        _property(check, fields["property"]),
        tuple(
            check.text(one, ("questions", i), 8)
            for i, one in enumerate(check.listing(fields.get("questions", []), ("questions",), 8))
        ),
        _property(check, fields["everywhere"], "everywhere") if "everywhere" in fields else "",
        _property(check, fields["tested"], "tested") if "tested" in fields else "",
        _search(check, fields["search"]) if "search" in fields else None,
    )


def _search(check: Reader, value: object) -> ClaimSearch:
    names = ("moves", "reach", "states", *NAMES)
    fields = check.mapping(value, ("search",), names)
    budgets = {
        name: check.integer(fields[name], ("search", name), 0, MOST)
        for name in NAMES
        if name in fields
    }
    return ClaimSearch(
        move_lines(check, fields.get("moves", []), ("search",), SEARCHED),
        check.text(fields.get("reach"), ("search", "reach"), 80),
        Budgets(**budgets),
        check.integer(fields.get("states"), ("search", "states"), 1, MOST_STATES),
    )


def _property(check: Reader, value: object, name: str = "property") -> str:
    text = check.text(value, (name,), MOST_CHARACTERS)
    try:
        parse(text)
    except InputError as bad:
        raise check.bad((name,), bad.sentence, code=bad.code) from bad
    return text


@cache
def claims() -> dict[str, Claim]:
    """Return all claims that come with the engine, by slug, in the order of their names."""
    folder = files("engine.learn") / FOLDER
    texts = {one.name: one for one in folder.iterdir() if one.name.endswith(".yaml")}
    slugs = [name.removesuffix(".yaml") for name in sorted(texts)]
    return {slug: read(texts[f"{slug}.yaml"].read_text("utf-8"), slug) for slug in slugs}
