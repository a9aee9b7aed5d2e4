"""Claims: sentences that are taught, each with the run and the properties that judge it.

A claim is a YAML file in `claims/`: the sentence and what is so instead, in every language; the
run, as a scenario's code with `moves` of its own or with `first` before the scenario's script; the
property, which holds in the run exactly if the claim does; `profiles` where the claim is about some
releases only; `may` where it says that something can happen: a run in which it happens shows it,
and no run refutes it.  `formerly` is its name in older addresses.  Three optional fields let other
runs refute it (`engine.learn.judging`): `everywhere`, a property for any run; `tested`, the
property that holds in a run exactly if that run puts the claim to the test; `search`, what a search
looks for, within which budgets.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from engine.explore.budgets import MOST, NAMES, Budgets
from engine.learn.texts import (
    move_lines,
    property_text,
    require,
    run_of,
    scenario_code,
    script_of,
    texts,
)
from engine.learn.topics import TOPICS
from engine.model.languages import USUAL
from engine.model.profiles import GENERATIONS
from engine.properties.evaluate import Verdict, judged
from engine.scenarios.file import load_value
from engine.scenarios.places import Reader
from engine.sim.run import Run

FOLDER: Final = "claims"
SOURCES: Final = ("guide", "post", "seed")
MOST_TEXT: Final = 400
MOST_STATES: Final = 10_000
_FIELDS: Final = (
    "sentence", "truth", "topic", "source", "may", "formerly", "run", "moves", "first",
    "profiles", "property", "everywhere", "tested", "search", "questions",
)  # fmt: skip
_RELEASE: Final = re.compile(r"\d\.\d|KIP-\d")
_OTHERS: Final = ("everywhere", "tested")
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
    may: bool = False
    formerly: str = ""

    def names_releases(self) -> bool:
        """Return whether the sentence is about certain releases: one of them can refute it."""
        return _RELEASE.search(self.sentence[USUAL]) is not None

    def run(self, profile: str) -> Run:
        """Return the run that decides under this profile."""
        return run_of(self.scenario, profile, self.moves, self.first)

    def judged(self, profile: str) -> Verdict:
        """Play the claim's own run and return the verdict of that run alone."""
        return judged(self.property, self.run(profile))


def read(text: str, slug: str) -> Claim:
    """Read a claim from its file.

    Raises InputError: one sentence, where = "file:line:column".
    """
    value, check = load_value(text, f"{slug}.yaml")
    fields = check.mapping(value, (), _FIELDS)
    needed = ("sentence", "truth", "topic", "source", "run", "property")
    require(check, fields, needed, (), "A claim")
    code = scenario_code(check, fields["run"], ("run",))
    own, first = script_of(check, fields, (), code)
    listed = check.listing(
        fields.get("profiles", list(GENERATIONS)), ("profiles",), len(GENERATIONS), 1
    )
    profiles = tuple(GENERATIONS)
    return Claim(
        slug,
        texts(check, fields["sentence"], ("sentence",), MOST_TEXT),
        texts(check, fields["truth"], ("truth",), MOST_TEXT),
        check.choice(fields["topic"], ("topic",), TOPICS),
        check.choice(fields["source"], ("source",), SOURCES),
        code,
        own,
        first,
        tuple(check.choice(profile, ("profiles", i), profiles) for i, profile in enumerate(listed)),
        property_text(check, fields["property"], ("property",)),
        tuple(
            check.text(question, ("questions", i), 8)
            for i, question in enumerate(
                check.listing(fields.get("questions", []), ("questions",), 8)
            )
        ),
        property_text(check, fields["everywhere"], ("everywhere",))
        if "everywhere" in fields
        else "",
        property_text(check, fields["tested"], ("tested",)) if "tested" in fields else "",
        _search(check, fields["search"]) if "search" in fields else None,
        check.boolean(fields.get("may", False), ("may",)),
        check.text(fields.get("formerly", slug), ("formerly",), 80),
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


@cache
def claims() -> dict[str, Claim]:
    """Return all claims that come with the engine, by slug, in the order of their names."""
    folder = files("engine.learn") / FOLDER
    texts = {path.name: path for path in folder.iterdir() if path.name.endswith(".yaml")}
    slugs = [name.removesuffix(".yaml") for name in sorted(texts)]
    return {slug: read(texts[f"{slug}.yaml"].read_text("utf-8"), slug) for slug in slugs}
