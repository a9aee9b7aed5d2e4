"""Registry of the engine as one JSON object: menus are made of it, never typed twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypedDict

from app.core.memoize import last, once
from engine import ENGINE_VERSION
from engine.catalogue.rulebook import name_and_title
from engine.catalogue.sourcemap import cards
from engine.checks.catalogue import INVARIANTS
from engine.model import errors
from engine.model.profiles import PROFILES, get_profile
from engine.moves.moves import ALIASES
from engine.moves.verbs import VERBS
from engine.scenarios import file
from engine.scenarios.translated import in_language
from engine.story.rules import RULES


class RegistryProfile(TypedDict):
    name: str
    stands_for: str
    mode: str
    flags: Mapping[str, object]


class RegistryInvariant(TypedDict):
    name: str
    title: str
    also: str
    statement: str
    statistic: bool
    mechanism: bool


class RegistryRule(TypedDict):
    id: str
    title: str
    kafka: str
    moment: int


class RegistryVerb(TypedDict):
    name: str
    group: str
    grammar: str
    help: str


class EngineRegistry(TypedDict):
    engine: int
    profiles: list[RegistryProfile]
    invariants: list[RegistryInvariant]
    rules: list[RegistryRule]
    verbs: list[RegistryVerb]
    aliases: dict[str, str]
    errors: Sequence[str]


@once
def registry() -> EngineRegistry:
    """Return profiles with their flags, invariants, moves and error names of this engine."""
    return {
        "engine": ENGINE_VERSION,
        "profiles": [
            {
                "name": profile.name,
                "stands_for": profile.stands_for,
                "mode": profile.mode,
                "flags": profile.flags(),
            }
            for profile in PROFILES.values()
        ],
        "invariants": [
            {
                "name": invariant.name,
                "title": invariant.title,
                "also": invariant.also,
                "statement": invariant.statement,
                "statistic": invariant.statistic,
                "mechanism": invariant.mechanism,
            }
            for invariant in INVARIANTS.values()
        ],
        "rules": [
            {"id": rule.id, "title": rule.title, "kafka": rule.kafka, "moment": rule.moment}
            for rule in RULES.values()
        ],
        "verbs": [
            {"name": verb.name, "group": verb.group, "grammar": verb.grammar, "help": verb.help}
            for verb in VERBS.values()
        ],
        "aliases": dict(ALIASES),
        "errors": errors.all_names(),
    }


def versions() -> dict[str, str]:
    """Return name of a version of Kafka -> the releases it stands for, the oldest first."""
    return {one["name"]: one["stands_for"] for one in registry()["profiles"]}


def library(lang: str) -> list[dict[str, str]]:
    """Return {"code", "slug", "title", "teaches"} of each library scenario, in a language."""
    return [
        {
            "code": scenario.code,
            "slug": scenario.slug,
            "title": translated.title,
            "teaches": translated.teaches,
        }
        for scenario in file.library().values()
        for translated in (in_language(scenario, lang),)
    ]


@last(64)
def cards_under(name: str) -> Mapping[str, Mapping[str, object]]:
    """Return rule -> its card as one profile has it.  Raises InputError "unknown" for no profile.

    Asked once per page and profile, so that no step has to carry pseudo-code.
    """
    profile = get_profile(name)
    by_rule = {}
    for rule, card in cards().items():
        name, title = name_and_title(rule, profile)
        by_rule[rule] = {"name": name, "title": title, **card.under(profile)}
    return by_rule
