"""Library cards: what the library page and ``highwater scenarios`` say of a scenario."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.scenarios.scenario import Scenario


def verdict_of(expectation: dict[str, Any] | None) -> tuple[str, list[str]]:
    """("holds" | "violates" | "statistical", the invariants violated as meant).

    "" where nothing was promised.
    """
    verdict = (expectation or {}).get("verdict", "")
    if isinstance(verdict, str):
        kind, *invariants = verdict.split() or [""]
        return kind, invariants
    return ("violates" if verdict else "holds"), list(verdict)


def card(scenario: Scenario) -> dict[str, Any]:
    verdicts = []
    for profile in scenario.profiles:
        kind, invariants = verdict_of(scenario.expectation(profile))
        verdicts.append(
            {"profile": profile, "verdict": kind, "invariants": invariants, "expected": True}
        )
    return {
        "slug": scenario.slug,
        "code": scenario.code,
        "title": scenario.title,
        "origin": scenario.origin,
        "difficulty": scenario.difficulty,
        "teaches": scenario.teaches,
        "tags": list(scenario.tags),
        "digest": scenario.digest,
        "verdicts": verdicts,
    }


def cards(scenarios: Iterable[Scenario]) -> list[dict[str, Any]]:
    return [card(scenario) for scenario in scenarios]
