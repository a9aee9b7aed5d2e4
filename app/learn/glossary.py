"""The glossary: terms, rules with their cards, promises, errors, configurations, flags.

Each entry links to a run of the library and the step at which it can be seen.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, TypedDict

from flask import Blueprint, render_template

from app.core.memoize import last
from app.web import naming
from engine.catalogue import sightings
from engine.catalogue.rulebook import title_of
from engine.catalogue.sightings import Sighting
from engine.catalogue.sourcemap import NOBODY, CardLine, RuleCard, cards
from engine.checks.catalogue import INVARIANTS
from engine.lens.source import named
from engine.model.configs import CATALOGUE, NEVER, Config
from engine.model.errors import all_names, code_of
from engine.model.profiles import (
    FLAGS,
    GENERATIONS,
    PROFILES,
    TRUNCATIONS,
    Flag,
    Profile,
    get_profile,
)
from engine.story.rules import RULEBOOK

blueprint = Blueprint("glossary", __name__)

TERMS: Final[dict[str, str]] = {
    "replica": "L-4",
    "leader": "CP-MAKE-LEADER",
    "follower": "CP-MAKE-FOLLOWER",
    "offset": "L-3",
    "leo": "L-3",
    "logstart": "L-9",
    "hw": "H-2",
    "committed": "H-2",
    "acknowledged": "P-4.answer",
    "acks": "P-2",
    "isr": "CP-ISR",
    "maximal": "S-7",
    "minisr": "H-2.min_isr",
    "elr": "CP-ELR",
    "epoch": "CP-MAKE-LEADER",
    "epochstart": "S-7.epoch_start",
    "epochcache": "E-5",
    "partitionepoch": "S-9",
    "brokerepoch": "CP-REG",
    "truncation": "T-4",
    "divergence": "S-3",
    "controller": "CP-10.up",
    "fenced": "CP-KR-FENCE",
    "session": "CP-ZK-BROKERS",
    "clean": "CP-ELECT-KR",
    "unclean": "CP-ELECT-ADMIN",
    "preferred": "CP-ELECT-ADMIN",
    "pagecache": "L-11",
    "flushed": "L-10",
    "checkpoint": "H-7",
    "purgatory": "S-5",
    "zombie": "S-2.epoch_check",
    "reassignment": "CP-REASSIGN",
    "group": "G-2",
    "coordinator": "G-5",
    "generation": "G-2.generation",
    "committedoffset": "G-5.begins",
    "remotestorage": "R-1",
    "localstart": "R-3",
    "profile": "",
    "flag": "",
    "seed": "",
    "run": "",
    "step": "",
    "move": "",
    "cue": "",
    "invariant": "",
}
"""Term -> the cue that shows it; its words stand in the catalogue as term.<name>."""

SERIES: Final = (
    ("L", "log"), ("E", "epochs"), ("H", "mark"), ("F", "fetcher"), ("T", "truncation"),
    ("S", "serving"), ("X", "sessions"), ("Q", "quotas"), ("P", "producers"), ("C", "consumers"),
    ("G", "groups"), ("R", "tier"), ("D", "directories"), ("CP", "control"),
)  # fmt: skip
"""The rules' series in the order of the specification."""


class GlossaryLine(TypedDict):
    """A line of a rule's card; `when`: the conditions under which it holds, as key and argument."""

    text: str
    indent: int
    when: tuple[tuple[str, str], ...]


class GlossaryRule(TypedDict):
    """A rule; `see` here and below: the address of a run that shows it, or ""."""

    id: str
    title: str
    lines: list[GlossaryLine]
    kafka: list[GlossaryLine]
    kip: list[GlossaryLine]
    outside: bool
    absent: bool
    unplayed: bool
    see: str


class GlossaryInvariant(TypedDict):
    name: str
    title: str
    also: str
    statement: str
    statistic: bool
    see: str


class GlossaryError(TypedDict):
    name: str
    code: int
    see: str


class GlossaryConfig(TypedDict):
    """A configuration; `defaults`: (first release, default), the release "" where one is enough."""

    name: str
    unit: str
    scope: str
    meaning: str
    defaults: list[tuple[str, str]]
    see: str


class GlossaryFlag(TypedDict):
    """A flag; `on`: whether each generation has it, `rules` those that depend on it."""

    name: str
    meaning: str
    source: str
    on: list[bool]
    rules: list[str]
    see: str


@blueprint.get("/glossary")
def glossary() -> str:
    """Render everything that has a name here; ``?profile=`` shows the rules of one Kafka."""
    name = naming.profile_asked()
    profile = get_profile(name) if name else None
    return render_template("learn/glossary.html", **content(profile.name if profile else ""))


@last(24)
def content(name: str) -> Mapping[str, object]:
    """Return the page's data under a profile ("" for all of them), in no language.

    The first call plays the library once.
    """
    profile = get_profile(name) if name else None
    seen = sightings.sightings()
    return {
        "chosen": name,
        "profiles": list(PROFILES.values()),
        "generations": list(GENERATIONS.values()),
        "terms": [(term, link(seen.of_cue(cue))) for term, cue in TERMS.items()],
        "series": [(key, _rules(prefix, profile)) for prefix, key in SERIES],
        "methods": [(name, rule, title_of(rule)) for name, rule in sorted(named().items())],
        "invariants": _invariants(),
        "errors": _errors(),
        "configs": [_config(config, profile) for config in CATALOGUE.values()],
        "flags": [_flag(flag) for flag in FLAGS.values()],
        "truncations": [TRUNCATIONS[generation.truncation] for generation in GENERATIONS.values()],
    }


def link(where: Sighting | None) -> str:
    """Return the address of a run at a step; "" where there is none."""
    if where is None:
        return ""
    slug, profile, step = where
    return f"/s/{slug}?profile={profile.replace('+', '%2B')}" + (f"&step={step}" if step else "")


# -- rules ----------------------------------------------------------------------------------------


def _rules(prefix: str, profile: Profile | None) -> list[GlossaryRule]:
    return [
        _rule(card, profile) for rule, card in cards().items() if rule.partition("-")[0] == prefix
    ]


def _rule(card: RuleCard, profile: Profile | None) -> GlossaryRule:
    seen = sightings.sightings()
    return {
        "id": card.id,
        "title": title_of(card.id),
        "lines": _lines(card.lines, profile),
        "kafka": [line for line in _lines(card.kafka, profile) if line["text"] != NOBODY],
        "kip": _lines(card.kip, profile),
        "outside": card.outside,
        "absent": profile is not None and card.is_absent(profile),
        "unplayed": card.id in RULEBOOK and RULEBOOK[card.id].excuse != "",
        "see": link(seen.of_card(card, [profile.name] if profile else ())),
    }


def _lines(lines: list[CardLine], profile: Profile | None) -> list[GlossaryLine]:
    """Return the lines of this profile, or all, each with the words it depends on."""
    return [
        {
            "text": line.text.strip(),
            "indent": len(line.text) - len(line.text.lstrip()),
            "when": () if profile else tuple(_condition(word) for word in line.when),
        }
        for line in lines
        if profile is None or line.applies(profile)
    ]


def _condition(word: str) -> tuple[str, str]:
    """Return (key of the catalogue, its argument) for one word of a condition."""
    if word in ("zk", "kraft"):
        return f"gloss.{word}", ""
    match = re.fullmatch(r"(truncation)?(>=|<|=)(.+)", word)
    if match and match[1]:
        sign = {">=": "≥", "<": "<", "=": "="}[match[2]]
        return "gloss.is", f"truncation {sign} {match[3]}"
    if match:
        return ("gloss.since" if match[2] == ">=" else "gloss.before"), match[3]
    return ("gloss.without", word[1:]) if word.startswith("-") else ("gloss.is", word)


# -- the others -----------------------------------------------------------------------------------


def _invariants() -> list[GlossaryInvariant]:
    seen = sightings.sightings()
    return [
        {
            "name": invariant.name,
            "title": invariant.title,
            "also": invariant.also,
            "statement": invariant.statement,
            "statistic": invariant.statistic,
            "see": link(seen.invariants.get(invariant.name)),
        }
        for invariant in INVARIANTS.values()
    ]


def _errors() -> list[GlossaryError]:
    seen = sightings.sightings()
    return [
        {"name": name, "code": code_of(name), "see": link(seen.errors.get(name))}
        for name in all_names()
        if name != "NONE"
    ]


def _config(config: Config, profile: Profile | None) -> GlossaryConfig:
    """Return the default in this profile; else in all that differ, each with its first release."""
    defaults: list[tuple[str, str]] = []
    for release in [profile] if profile else PROFILES.values():
        value = _value(config, config.default_in(release))
        if not defaults or defaults[-1][1] != value:
            defaults.append((release.releases[0], value))
    return {
        "name": config.name,
        "unit": config.unit,
        "scope": config.scope,
        "meaning": config.meaning,
        "defaults": defaults if len(defaults) > 1 else [("", defaults[0][1])],
        "see": link(sightings.settings().get(config.name)),
    }


def _value(one: Config, value: int | str) -> str:
    if one.unit == "boolean":
        return "true" if value else "false"
    return "∞" if value == NEVER else str(value)


def _flag(flag: Flag) -> GlossaryFlag:
    words = (flag.name, f"-{flag.name}")
    return {
        "name": flag.name,
        "meaning": flag.meaning,
        "source": flag.source if flag.source.startswith(("KIP-", "KAFKA-")) else "",
        "on": [bool(getattr(generation, flag.name)) for generation in GENERATIONS.values()],
        "rules": [rule for rule, card in cards().items() if card.words() & set(words)],
        "see": link(sightings.flips().get(flag.name)),
    }
