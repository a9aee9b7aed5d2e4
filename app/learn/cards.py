"""Library cards: the facts of a scenario on the library page and in ``highwater scenarios``."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from importlib.resources import files
from typing import Any, Final

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


def verdict_of(expectation: dict[str, Any] | None) -> tuple[str, list[str]]:
    """Return ("holds" | "violates" | "statistical", the invariants violated as meant).

    "" where nothing was promised.
    """
    verdict = (expectation or {}).get("verdict", "")
    if isinstance(verdict, str):
        kind, *invariants = verdict.split() or [""]
        return kind, invariants
    return ("violates" if verdict else "holds"), list(verdict)


def minutes(scenario: Scenario) -> int:
    """Return the minutes to step through it: its moves, and the time to read the texts."""
    lines = [line for line in scenario.lines(scenario.profiles[0]) if not line.is_expect]
    words = sum(len(line.comment.split()) for line in lines) + len(scenario.teaches.split())
    return max(2, 1 + round((SECONDS_A_MOVE * len(lines) + words / WORDS_A_SECOND) / 60))


def card(scenario: Scenario, lang: str = OWN) -> dict[str, Any]:
    """Return the contents of a scenario's card, in a language."""
    told = in_language(scenario, lang)
    verdicts = []
    for profile in scenario.profiles:
        kind, invariants = verdict_of(scenario.expectation(profile))
        verdicts.append({"profile": profile, "verdict": kind, "invariants": invariants})
    return {
        "slug": scenario.slug,
        "code": scenario.code,
        "title": told.title,
        "origin": scenario.origin,
        "kips": _TICKET.findall(scenario.origin),
        "difficulty": scenario.difficulty,
        "minutes": minutes(scenario),
        "teaches": told.teaches,
        "tags": list(scenario.tags),
        "museum": scenario.code.startswith(MUSEUM),
        "digest": scenario.digest,
        "verdicts": verdicts,
        "lost": [
            profile
            for profile, one in library_outcomes.outcomes().get(scenario.code, {}).items()
            if one["kind"] in (LOST, GONE)
        ],
    }


def outcomes(card: dict[str, Any]) -> list[dict[str, Any]]:
    """Return {verdict, profiles} of profiles that end alike, releases in their order.

    `verdict` is that of `engine.story.verdict`; None where the end depends on the seed.
    """
    played = library_outcomes.outcomes().get(card["code"], {})
    found: dict[str, dict[str, Any]] = {}
    for one in sorted(card["verdicts"], key=lambda one: get_profile(one["profile"]).release):
        verdict = played.get(one["profile"])
        group = found.setdefault(str(verdict), {"verdict": verdict, "profiles": []})
        group["profiles"].append(one["profile"])
    return list(found.values())


def cards(scenarios: Iterable[Scenario], lang: str = OWN) -> list[dict[str, Any]]:
    return [card(scenario, lang) for scenario in scenarios]


@once
def pictures_version() -> str:
    """Return the version of the pictures."""
    return hashlib.sha256(pictures().encode()).hexdigest()[:12]


@once
def pictures() -> str:
    """Return the pictures of all cards as one sheet of symbols; cards show theirs with <use>.

    They are kept in `pictures.svg`, since drawing them plays the library; tests/test_pictures.py
    draws them again, and writes the file.
    """
    return (files("engine.export") / PICTURES).read_text("utf-8")
