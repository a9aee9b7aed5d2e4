"""Search for a method, class, KIP or JIRA number: its rules, its library runs, their steps.

Asked for by a visitor who reads Kafka's source.  `steps.json` has the steps, since playing the
library takes seconds; tests/test_sightings.py plays it again, and writes the file.
"""

from __future__ import annotations

import json
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

from engine.catalogue.sourcemap import RuleCard, card_of, cards
from engine.lens.source import named, release_of, source
from engine.lens.stacks import ALONG, RESIZE, stack, thread_name
from engine.model.profiles import KRAFT, PROFILES, ZK, get_profile
from engine.scenarios.file import library
from engine.story.rules import RULES

FILE: Final = "steps.json"
MOST_HITS: Final = 60
MOST_RUNS: Final = 16
LONGEST: Final = 80
"""Longest question, in characters; the rest is dropped."""


class Act(NamedTuple):
    """A step of a run of the library: where something can be followed."""

    code: str
    slug: str
    profile: str
    step: int
    cue: str

    @property
    def rule(self) -> str:
        card = card_of(self.cue)
        return self.cue if card is None else card.id


class LensHit(NamedTuple):
    """A method or class of Kafka, or a proposal (`kip`), that a question has found.

    It has the releases that define it, the rules it serves, the threads that run it, and where it
    acts.  A proposal has the rules that it brought or mended.
    """

    name: str
    kip: bool
    spans: tuple[tuple[str, str], ...]
    rules: tuple[str, ...]
    threads: tuple[str, ...]
    acts: tuple[Act, ...]


@cache
def library_steps() -> dict[str, dict[str, dict[str, int]]]:
    """Return code -> profile -> cue -> the first step at which it acts as usual, 0 for none."""
    text = (files("engine.lens") / FILE).read_text("utf-8")
    found: dict[str, dict[str, dict[str, int]]] = json.loads(text)
    return found


@cache
def steps_of() -> dict[str, list[Act]]:
    """Return cue -> the first step of each run of the library at which it acts as usual."""
    slugs = {scenario.code: scenario.slug for scenario in library().values()}
    acts: dict[str, list[Act]] = {}
    for code, runs in library_steps().items():
        for profile, steps in runs.items():
            for cue, step in steps.items():
                if step:
                    acts.setdefault(cue, []).append(Act(code, slugs[code], profile, step, cue))
    return acts


@cache
def _rules_of() -> dict[str, set[str]]:
    """Name -> the rules whose cards name it, in any release, or whose stacks have it."""
    rules_by_name: dict[str, set[str]] = {name: {rule} for name, rule in named().items()}
    for rule, card in cards().items():
        for line in card.kafka:
            for name in line.text.split(", "):
                rules_by_name.setdefault(name, set()).add(rule)
    for cue in RULES:
        card_here = card_of(cue)
        for release in source().releases:
            for mode in (ZK, KRAFT):
                for name in methods(cue, release, mode):
                    if card_here is not None:
                        rules_by_name.setdefault(name, set()).add(card_here.id)
    return {name: rules for name, rules in rules_by_name.items() if source().spans(name)}


@cache
def _proposals() -> dict[str, list[str]]:
    """Return KIP or JIRA number -> the rules whose cards name it."""
    rules: dict[str, list[str]] = {}
    for rule, card in cards().items():
        for name in sorted({kip for line in card.kip for kip in line.text.split(", ")}):
            rules.setdefault(name, []).append(rule)
    return rules


def names() -> list[str]:
    """Return every method and class that can be searched for."""
    return sorted(_rules_of())


@lru_cache(maxsize=512)
def search(question: str) -> tuple[LensHit, ...]:
    """Return the hits of a question, the closest first.

    Its words are looked for in the names, without regard to case.  An exact name of a method comes
    before names that contain it.
    """
    words = question[:LONGEST].lower().replace("(", " ").replace(")", " ").split()
    words = [word.replace("#", ".").strip(".,:;?") for word in words]
    words = [word for word in words if word]
    if not words:
        return ()
    candidates = [(name, True) for name in _proposals()] + [(name, False) for name in _rules_of()]
    ranked = [
        (_distance(name, kip, words), name, kip)
        for name, kip in candidates
        if all(word in name.lower() for word in words)
    ]
    return tuple(hit(name, kip) for _, name, kip in sorted(ranked)[:MOST_HITS])


def _distance(name: str, kip: bool, words: list[str]) -> tuple[int, int, int]:
    """Return the order of a hit: exact names, then methods of that name, then by rules served."""
    low = name.lower()
    exact = 0 if low in words else 1 if low.rpartition(".")[2] in words else 2
    return exact, -len(_rules_of()[name]) if exact == 1 and not kip else 0, len(name)


def scenarios(question: str) -> frozenset[str]:
    """Return the slugs of the library's scenarios in which what is asked for acts."""
    return frozenset(act.slug for one in search(question) for act in one.acts)


@lru_cache(maxsize=1024)
def hit(name: str, kip: bool = False) -> LensHit:
    """Return the hit of a name.  Raises KeyError for an unknown one."""
    rules = sorted(_proposals()[name] if kip else _rules_of()[name], key=list(cards()).index)
    acts: list[Act] = []
    for rule in rules:
        acts += _acts(cards()[rule], "" if kip else name)
    acts = [act for act in acts if _on_stack(act, name)] or acts
    acts.sort(key=_readable)
    first: dict[str, Act] = {}
    for act in (*_varied(acts), *acts):
        first.setdefault(act.slug, act)
    spans = () if kip else tuple(source().spans(name))
    threads = () if kip else _threads(name, rules)
    return LensHit(name, kip, spans, tuple(rules), threads, tuple(first.values())[:MOST_RUNS])


def _on_stack(act: Act, name: str) -> bool:
    profile = get_profile(act.profile)
    return name in methods(act.cue, release_of(profile), profile.mode)


def _varied(acts: list[Act]) -> list[Act]:
    """Return the first act of each rule, each in a scenario of its own where there is one.

    So a method that runs at every step, like `doWork`, is seen to append, to truncate, to fail.
    """
    by_rule: dict[str, Act] = {}
    slugs: set[str] = set()
    for act in sorted(acts, key=lambda act: act.cue.endswith(".kept")):
        rule = act.rule
        if rule not in by_rule and act.slug not in slugs:
            by_rule[rule] = act
            slugs.add(act.slug)
    return list(by_rule.values())


def _readable(act: Act) -> tuple[bool, bool, str, int]:
    """Return the order of runs: by hand, a fetch at a time, then long runs by the clock."""
    by_clock = library()[act.slug].fetching != "manual"
    return by_clock, act.code[:1] != "S", act.code, list(PROFILES).index(_row(act))


def _row(act: Act) -> str:
    return get_profile(act.profile).base


_ONLY_AT: Final = {RESIZE: "F-1"}
"""Methods on the stack of a rule only as some cue's step has it (`engine.lens.lens_json`)."""


def _acts(card: RuleCard, name: str) -> list[Act]:
    """Return steps at which the card's rule acts.

    They are those at which the method is on the stack, if it is on a stack of the rule at all, in
    the release that the run behaves as.
    """
    acts = []
    for cue in _cues(card):
        for act in steps_of().get(cue, ()):
            profile = get_profile(act.profile)
            if cue not in card.shown_by(profile) and card_of(cue) is not card:
                continue
            release = release_of(profile)
            if name and not source().has(release, name):
                continue
            if cue != _ONLY_AT.get(name, cue):
                continue
            frames = methods(cue, release, profile.mode)
            if not name or name in frames or name not in _on_stacks(card.id):
                acts.append(act)
    return acts


@cache
def _cues(card: RuleCard) -> tuple[str, ...]:
    own = [cue for line in card.lines for cue in line.cues]
    seen = [cue for line in card.see for cue in line.text.split(", ")]
    return tuple(dict.fromkeys([*own, *seen]))


@cache
def _on_stacks(rule: str) -> frozenset[str]:
    return frozenset(
        name
        for cue in _cues(cards()[rule])
        for release in source().releases
        for mode in (ZK, KRAFT)
        for name in methods(cue, release, mode)
    )


def methods(cue: str, release: str, mode: str) -> set[str]:
    """Return the methods on the stack of a cue; the acting one if it follows another cue."""
    one = stack(cue, release, mode)
    frames = one.frames[one.acting :] if cue in ALONG else one.frames
    return {frame.name for frame in frames}


@lru_cache(maxsize=256)
def reached(name: str, release: str, mode: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return (methods that are meant, cues at which one of them is on the stack) in a release.

    `name` is a class, a method with its class or without: `truncateTo`, `Partition.truncateTo`.
    """
    method = name[:LONGEST].strip().replace("#", ".").removesuffix("()").lower()
    methods_here: dict[str, None] = {}
    cues = []
    for cue in RULES:
        here = sorted(
            candidate
            for candidate in methods(cue, release, mode)
            if _means(method, candidate.lower())
        )
        methods_here |= dict.fromkeys(here)
        if here:
            cues.append(cue)
    return tuple(methods_here), tuple(cues)


def _means(wanted: str, name: str) -> bool:
    owner, _, method = name.partition(".")
    return wanted in (name, owner, method)


def _threads(name: str, rules: list[str]) -> tuple[str, ...]:
    """Return the names of the threads that have it on their stack, in any release."""
    threads = []
    for rule in rules:
        for cue in _cues(cards()[rule]):
            for release in source().releases:
                for mode in (ZK, KRAFT):
                    if name in methods(cue, release, mode):
                        threads.append(thread_name(stack(cue, release, mode), fetcher=-1))
    return tuple(dict.fromkeys(threads))
