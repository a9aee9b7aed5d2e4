"""Library cards: the facts of a scenario on the library page and in ``highwater scenarios``."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Final, TypedDict

from app.core.memoize import once
from engine.export import library_outcomes
from engine.model.profiles import get_profile
from engine.scenarios.scenario import Scenario
from engine.scenarios.translated import OWN, in_language
from engine.story.verdict import GONE, LOST

SECONDS_A_MOVE = 12
WORDS_A_SECOND = 2
PICTURES: Final = "pictures.svg"
MUSEUM = "M"
"""Codes of the museum of defects begin with it."""
_TICKET = re.compile(r"\b(?:KIP|KAFKA)-\d+")


class CardVerdict(TypedDict):
    """The promise for a profile; `verdict` as `verdict_of` returns it."""

    profile: str
    verdict: str
    invariants: list[str]


class LibraryCard(TypedDict):
    """A scenario's card; `lost`: profiles under which an acknowledged message is lost."""

    slug: str
    code: str
    title: str
    origin: str
    kips: list[str]
    difficulty: int
    minutes: int
    teaches: str
    tags: list[str]
    museum: bool
    digest: str
    verdicts: list[CardVerdict]
    lost: list[str]


class CardOutcome(TypedDict):
    """A verdict of `engine.story.verdict` and the profiles that end so.

    None where the end depends on the seed.
    """

    verdict: Mapping[str, object] | None
    profiles: list[str]


class OutcomesCard(LibraryCard):
    outcomes: list[CardOutcome]


def verdict_of(verdict: str | list[str]) -> tuple[str, list[str]]:
    """Return ("holds" | "violates" | "statistical", the invariants violated as meant).

    "" where nothing was promised.
    """
    if isinstance(verdict, str):
        kind, *invariants = verdict.split() or [""]
        return kind, invariants
    return ("violates" if verdict else "holds"), list(verdict)


def minutes(scenario: Scenario) -> int:
    """Return the minutes to step through it: its moves, and the time to read the texts."""
    lines = [line for line in scenario.lines(scenario.profiles[0]) if not line.is_expect]
    words = sum(len(line.comment.split()) for line in lines) + len(scenario.teaches.split())
    return max(2, 1 + round((SECONDS_A_MOVE * len(lines) + words / WORDS_A_SECOND) / 60))


def card(scenario: Scenario, lang: str = OWN) -> LibraryCard:
    """Return the contents of a scenario's card, in a language."""
    translated = in_language(scenario, lang)
    verdicts: list[CardVerdict] = []
    for profile in scenario.profiles:
        kind, invariants = verdict_of((scenario.expectation(profile) or {}).get("verdict", ""))
        verdicts.append({"profile": profile, "verdict": kind, "invariants": invariants})
    return {
        "slug": scenario.slug,
        "code": scenario.code,
        "title": translated.title,
        "origin": scenario.origin,
        "kips": _TICKET.findall(scenario.origin),
        "difficulty": scenario.difficulty,
        "minutes": minutes(scenario),
        "teaches": translated.teaches,
        "tags": list(scenario.tags),
        "museum": scenario.code.startswith(MUSEUM),
        "digest": scenario.digest,
        "verdicts": verdicts,
        "lost": [
            profile
            for profile, outcome in library_outcomes.outcomes().get(scenario.code, {}).items()
            if outcome["kind"] in (LOST, GONE)
        ],
    }


def outcomes(card: LibraryCard) -> list[CardOutcome]:
    """Return the outcomes of a scenario, and of each its profiles in the order of releases."""
    played = library_outcomes.outcomes().get(card["code"], {})
    groups: dict[str, CardOutcome] = {}
    for outcome in sorted(card["verdicts"], key=lambda row: get_profile(row["profile"]).release):
        verdict = played.get(outcome["profile"])
        group = groups.setdefault(str(verdict), {"verdict": verdict, "profiles": []})
        group["profiles"].append(outcome["profile"])
    return list(groups.values())


def with_outcomes(card: LibraryCard) -> OutcomesCard:
    return {**card, "outcomes": outcomes(card)}


def cards(scenarios: Iterable[Scenario], lang: str = OWN) -> list[LibraryCard]:
    return [card(scenario, lang) for scenario in scenarios]


@once
def pictures_version() -> str:
    return hashlib.sha256(pictures().encode()).hexdigest()[:12]


@once
def pictures() -> str:
    """Return the pictures of all cards as one sheet of symbols; cards show theirs with <use>.

    They are kept in `pictures.svg`, since drawing them plays the library; tests/test_pictures.py
    draws them again, and writes the file.
    """
    return (files("engine.export") / PICTURES).read_text("utf-8")
