"""Verdicts of claims: every claim against its own run, the library's runs and a search.

A claim is *refuted* by one run that contradicts it, has *survived* the runs that put it to the
test, or is *untested* where no run did.  The verdicts are kept in `claims/verdicts.json`, since
computing them takes minutes; tests compare samples, and `pytest tests/test_claims.py --rewrite`
writes them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from engine.explore.question import SearchQuestion, cut_at
from engine.explore.searching import REACHED, Bounds, search
from engine.export.library_outcomes import is_statistical
from engine.learn.claims import FOLDER, SEARCHED, Claim, claims
from engine.model.errors import InputError
from engine.model.profiles import GENERATIONS
from engine.properties.evaluate import judge
from engine.properties.recording import MomentRecording
from engine.scenarios.file import find, library
from engine.sim.run import Run

VERDICTS: Final = "verdicts.json"
REFUTED: Final = "refuted"
SURVIVED: Final = "survived"
UNTESTED: Final = "untested"
SEEDS: Final = (("S74", "Z20", 904), ("S74", "Z21", 31_600))
"""Runs of random schedules in which a release breaks a promise: (scenario, profile, seed)."""
OWN: Final = "own"
LIBRARY: Final = "library"
CLAIM: Final = "claim"
SEARCH: Final = "search"


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict of a claim under one profile, and the run and step to show for it.

    `source` says where the run comes from: OWN, LIBRARY (`name`: its code), CLAIM (`name`: the
    claim whose own run it is) or SEARCH (`moves`: the moves after the claim's search begins).
    `runs` is the number of runs that the claim survived, `states` that of the states searched.
    """

    word: str
    step: int
    source: str = OWN
    name: str = ""
    seed: int = 0
    moves: tuple[str, ...] = ()
    runs: int = 0
    states: int = 0

    @property
    def holds(self) -> bool:
        """True if the claim was tested and survived."""
        return self.word == SURVIVED

    def run(self, claim: Claim, profile: str) -> Run:
        if self.source == LIBRARY:
            return Run(find(self.name), profile, self.seed)
        if self.source == CLAIM:
            return claims()[self.name].run(profile)
        if self.source == SEARCH:
            start = _start(claim, profile)
            return Run(start.scenario, profile, 0, (*start.lines(), *self.moves))
        return claim.run(profile)

    def to_json(self) -> dict[str, object]:
        """Return the fields that differ from their defaults."""
        fields = {"word": self.word, "step": self.step, "source": self.source, "name": self.name}
        fields |= {"seed": self.seed, "moves": list(self.moves)}
        fields |= {"runs": self.runs, "states": self.states}
        return {k: v for k, v in fields.items() if v or k == "step" if v != OWN}

    @staticmethod
    def from_json(row: dict[str, Any]) -> Judgement:
        return Judgement(**{**row, "moves": tuple(row.get("moves", ()))})


def _start(claim: Claim, profile: str) -> Run:
    """Return the run after which the claim's search begins."""
    assert claim.search is not None
    return cut_at(Run(find(SEARCHED), profile, 0, claim.search.moves))


@dataclass(frozen=True, slots=True)
class Witness:
    """A run that may put a claim to the test, recorded, and where it comes from."""

    recording: MomentRecording
    source: str
    name: str
    seed: int = 0


def witnesses(profile: str, codes: Iterable[str] = ()) -> Iterator[Witness]:
    """Yield the library's runs under a profile (those of `codes` if given), and each claim's run.

    Scenarios whose end depends on the seed are played with the seeds of `SEEDS` only.
    """
    chosen = set(codes)
    for scenario in library().values():
        if not is_statistical(scenario) and (not chosen or scenario.code in chosen):
            try:
                yield Witness(MomentRecording(Run(scenario, profile)), LIBRARY, scenario.code)
            except InputError:  # a move of its script does not exist in this release
                continue
    for code, release, seed in SEEDS:
        if release == profile and (not chosen or code in chosen):
            yield Witness(MomentRecording(Run(find(code), profile, seed)), LIBRARY, code, seed)
    for slug, claim in claims().items():
        own = claim.moves is None and not claim.first
        if profile in claim.profiles and not own and not chosen:
            try:
                yield Witness(MomentRecording(claim.run(profile)), CLAIM, slug)
            except InputError:
                continue


def refutes(claim: Claim, recording: MomentRecording) -> int | None:
    """Return the step at which a run refutes the claim.

    Returns -1 where the run survives its test, and None where the run does not test the claim or is
    too long to be judged.
    """
    try:
        if claim.tested and not judge(claim.tested, recording).holds:
            return None
        verdict = judge(claim.everywhere, recording)
    except InputError:
        return None
    return -1 if verdict.holds else verdict.step


def judgement(claim: Claim, profile: str, pool: Iterable[Witness]) -> Judgement:
    """Judge a claim under a profile: by its own run first, then by the pool, then by a search."""
    try:
        own = MomentRecording(claim.run(profile))
    except InputError:  # a move of its run does not exist in this release
        return Judgement(UNTESTED, 0)
    verdict = judge(claim.property, own)
    if claim.may:
        return Judgement(SURVIVED if verdict.holds else UNTESTED, verdict.step, runs=1)
    tested = not claim.tested or judge(claim.tested, own).holds
    if tested and not verdict.holds:
        return Judgement(REFUTED, verdict.step)
    runs, refuted = int(tested), []
    if claim.everywhere:
        for member in pool:
            step = refutes(claim, member.recording)
            if step is not None and step >= 0:
                refuted.append(Judgement(REFUTED, step, member.source, member.name, member.seed))
            runs += step == -1
    if refuted:
        return min(
            refuted, key=lambda refutal: (refutal.seed, refutal.step, refutal.source, refutal.name)
        )
    states = 0
    if claim.search is not None:
        searched = _searched(claim, profile)
        if isinstance(searched, Judgement):
            return searched
        states = searched
    word = SURVIVED if runs else UNTESTED
    return Judgement(word, verdict.step, runs=runs, states=states)


def _searched(claim: Claim, profile: str) -> Judgement | int:
    """Return the refutation that the claim's search finds, or the number of states it saw."""
    wish = claim.search
    assert wish is not None
    question = SearchQuestion(_start(claim, profile), wish.budgets, reach=wish.reach)
    outcome = search(question, Bounds(states=wish.states))
    way = outcome.found.get(REACHED)
    if way is not None:
        step = refutes(claim, MomentRecording(way.run))
        if step is not None and step >= 0:
            return Judgement(REFUTED, step, SEARCH, moves=way.moves)
    return outcome.progress.distinct


def compute() -> dict[str, dict[str, Judgement]]:
    """Compute claim -> profile -> verdict by playing and searching."""
    table: dict[str, dict[str, Judgement]] = {slug: {} for slug in claims()}
    for profile in GENERATIONS:
        pool = list(witnesses(profile))
        for slug, claim in claims().items():
            if profile in claim.profiles:
                table[slug][profile] = judgement(claim, profile, pool)
    return table


def write(table: dict[str, dict[str, Judgement]]) -> str:
    """Return the text of `verdicts.json`."""
    lines = []
    for slug, row in table.items():
        cells = ",\n".join(
            f'    "{n}": {json.dumps(verdict.to_json())}' for n, verdict in row.items()
        )
        lines.append(f'  "{slug}": {{\n{cells}\n  }}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


@cache
def verdicts() -> dict[str, dict[str, Judgement]]:
    """Return claim -> profile -> verdict, as kept in `verdicts.json`."""
    text = (files("engine.learn") / FOLDER / VERDICTS).read_text("utf-8")
    table: dict[str, dict[str, dict[str, Any]]] = json.loads(text)
    return {
        slug: {name: Judgement.from_json(cell) for name, cell in row.items()}
        for slug, row in table.items()
    }


def sides(claim: Claim) -> tuple[tuple[str, bool], ...]:
    """Return (profile, whether it holds there) for each card of a claim.

    The profile is "" where the answer is the same under every release that tested the claim, or
    where the sentence names its releases.
    """
    row = verdicts()[claim.slug]
    survived, refuted = ([n for n in row if row[n].word == w] for w in (SURVIVED, REFUTED))
    if not refuted or not survived or claim.names_releases():
        return (("", not refuted),)
    return (survived[-1], True), (refuted[-1], False)


def shown(claim: Claim, profile: str = "") -> tuple[str, Judgement]:
    """Return the profile to show a claim under, and its verdict there.

    Without a wish it is the newest Kafka that refutes the claim, or else tests it.
    """
    row = verdicts()[claim.slug]
    words = [verdict.word for verdict in row.values()]
    telling = next((word for word in (REFUTED, SURVIVED) if word in words), UNTESTED)
    name = (
        profile
        if profile in row
        else [n for n, verdict in row.items() if verdict.word == telling][-1]
    )
    return name, row[name]
