"""The rules of the specification, and their places in code, scenarios and golden files."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypedDict

import click

from app.core.config import ROOT
from app.lens.citations import citations
from engine.lens.search import library_steps
from engine.scenarios.scenario import Scenario
from engine.story.rules import RULEBOOK

GOLDEN = ROOT / "tests" / "golden"
"""There only in a checkout; elsewhere no golden file shows anything."""

CUE_LINE = re.compile(r"^([A-Z]+-[\w.-]+) +(?:b\d+|[A-Z]\d*) .* -> ", re.MULTILINE)
NAMED_IN_TEXT = 4


class RuleFunction(TypedDict):
    """Function that follows a rule; `played`: a run can come to it."""

    function: str
    played: bool


class RuleEntry(TypedDict):
    """A rule and its places: functions, profiles by scenario, golden files.

    `excuse` says why it has none.
    """

    id: str
    title: str
    excuse: str
    functions: list[RuleFunction]
    scenarios: dict[str, list[str]]
    golden: list[str]


def rule_of(cue: str) -> str:
    """Return the rule that a cue belongs to: H-2 of H-2.min_isr."""
    return cue.partition(".")[0]


def functions() -> dict[str, list[RuleFunction]]:
    """Return rule -> its functions, from the docstrings."""
    by_rule: dict[str, list[RuleFunction]] = defaultdict(list)
    for citation in citations():
        if citation.implements:
            by_rule[citation.rule].append({"function": citation.where, "played": citation.played})
    return by_rule


def played(scenarios: Iterable[Scenario]) -> dict[str, dict[str, list[str]]]:
    """Return rule -> code of a library scenario -> profiles under which its script has its cues."""
    by_rule: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for scenario in scenarios:
        if scenario.fetching != "manual":
            continue
        for profile, steps in library_steps()[scenario.code].items():
            for rule in {rule_of(cue) for cue in steps}:
                by_rule[rule].setdefault(scenario.code, []).append(profile)
    return by_rule


def golden_files_by_rule(folder: Path) -> dict[str, list[str]]:
    """Return rule -> golden files with a cue of it, such as S20/K39.txt; past defects last."""
    by_rule: dict[str, list[str]] = defaultdict(list)
    for path in sorted(folder.rglob("*.txt"), key=lambda file: (file.parent.name[:1] != "S", file)):
        for rule in sorted({rule_of(cue) for cue in CUE_LINE.findall(path.read_text("utf-8"))}):
            by_rule[rule].append(path.relative_to(folder).as_posix())
    return by_rule


def rules(scenarios: Iterable[Scenario], golden: Path = GOLDEN) -> list[RuleEntry]:
    code, plays, files = functions(), played(scenarios), golden_files_by_rule(golden)
    return [
        {
            "id": rule.id,
            "title": rule.title,
            "excuse": rule.excuse,
            "functions": code.get(rule.id, []),
            "scenarios": plays.get(rule.id, {}),
            "golden": files.get(rule.id, []),
        }
        for rule in RULEBOOK.values()
    ]


def tell_rules(scenarios: Iterable[Scenario], as_json: Callable[[Any], None] | None) -> bool:
    """Print the list, or pass it to `as_json`; return whether every rule has code or an excuse."""
    entries = rules(scenarios)
    bare = [entry["id"] for entry in entries if not (covered(entry) or entry["excuse"])]
    if as_json is not None:
        as_json(entries)
        return not bare
    for entry in entries:
        click.echo(f"{entry['id']:<20} {entry['title']}")
        if entry["excuse"]:
            click.echo(f"    excused: {entry['excuse']}")
        for heading, names in (
            ("code", [function["function"] for function in entry["functions"]]),
            ("scenarios", list(entry["scenarios"])),
            ("golden", entry["golden"]),
        ):
            if names:
                click.echo(f"    {heading}: {_some(names)}")
    excused = sum(1 for entry in entries if entry["excuse"])
    click.echo(
        f"{len(entries)} rules: {len(entries) - excused - len(bare)} covered, "
        f"{excused} excused" + (f", without code or excuse: {' '.join(bare)}." if bare else ".")
    )
    return not bare


def covered(entry: RuleEntry) -> bool:
    """Check whether code that a run plays follows the rule."""
    return any(one["played"] for one in entry["functions"])


def _some(names: list[str]) -> str:
    """Return the first few by name, the others as a number; --json names them all."""
    rest = len(names) - NAMED_IN_TEXT
    text = ", ".join(names[:NAMED_IN_TEXT])
    return f"{text} and {rest} more" if rest > 0 else text
