"""Reading guides, followed: the moment of each statement, its stack, its verdicts.

Whatever a page shows of a guide is computed here, by playing runs and by asking the index of
Kafka's source.  For the guides that come with the engine it was computed when the engine last
changed and is kept in `guides/found.json`; a test computes it again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Final

from engine.learn.claims import claims
from engine.learn.guides import FOLDER, Guide, Statement
from engine.learn.judging import UNTESTED, verdicts
from engine.lens.source import modes, release_of, source
from engine.lens.stacks import Stack, counterpart, stack
from engine.model.errors import InputError
from engine.model.profiles import PROFILES, get_profile
from engine.properties.evaluate import judged
from engine.replay.cursor import Cursor
from engine.sim.run import Run

KEPT: Final = "found.json"
PLAYED: Final = ("claim", "property", "acts", "idle")
"""Proofs that are decided by playing, under one Kafka of each generation; the others by the index
of Kafka's source, in each of its releases."""

Row = dict[str, bool]
"""Profile of a generation, or release of the index -> does the statement hold there?"""


@dataclass(frozen=True, slots=True)
class StatementMoment:
    """The step at which a statement is looked at; the cue there and the node that acts."""

    step: int
    cue: str
    node: int


@dataclass(frozen=True, slots=True)
class Finding:
    """Finding about a statement.  `moment` None: nothing of it can be followed."""

    moment: StatementMoment | None
    row: Row


def follow(statement: Statement) -> Finding:
    """Play the run and ask all that the statement needs.

    A statement that is not decided has an empty row.
    """
    return Finding(moment_of(statement), row_of(statement))


# -- moments --------------------------------------------------------------------------------------


REFUSED: Final = "refused"
"""Stands in `_firsts` for a run that this Kafka could not play to its end."""


@lru_cache(maxsize=256)
def _firsts(run: Run) -> dict[str, tuple[int, int]]:
    """Return cue -> (first step with it, node)."""
    firsts: dict[str, tuple[int, int]] = {}
    cursor, step = Cursor(run), 0
    try:
        while (events := cursor.advance()) is not None:
            for _, _, _, cues, _ in events:
                step += 1
                for cue in cues:
                    firsts.setdefault(cue.rule, (step, cue.node))
    except InputError:
        firsts[REFUSED] = (step, 0)
    return firsts


def moment_of(statement: Statement) -> StatementMoment | None:
    """Return the first step at which a cue of the statement acts, or which decides its property."""
    if not statement.scenario:
        return None
    run = statement.run()
    if statement.when:
        return _decided(run, statement.when)
    seen = _firsts(run)
    steps = [(*seen[cue], cue) for cue in statement.shows if cue in seen]
    if not steps:
        return None
    step, node, cue = min(steps)
    return StatementMoment(step, cue, node)


def _decided(run: Run, text: str) -> StatementMoment | None:
    verdict = judged(text, run)
    if not verdict.holds:
        return None
    cursor, step = Cursor(run), 0
    while (events := cursor.advance()) is not None:
        for _, _, _, cues, _ in events:
            step += 1
            if step == verdict.step and cues:
                return StatementMoment(step, cues[0][0], cues[0][1])
    return StatementMoment(verdict.step, "", 0)


def stack_of(statement: Statement, moment: StatementMoment, release: str) -> Stack | None:
    """Return the thread and its calls at the moment, in a release; None if no rule acts."""
    if not moment.cue:
        return None
    profile = get_profile(statement.kafka)
    mode = profile.mode if profile.mode in modes(release) else modes(release)[-1]
    own = release == release_of(profile)
    return stack(moment.cue if own else counterpart(moment.cue, release, mode), release, mode)


# -- verdicts -------------------------------------------------------------------------------------


def row_of(statement: Statement, names: tuple[str, ...] = tuple(PROFILES)) -> Row:
    """Return where the statement holds; of generations, only these are played."""
    kind, what = statement.proof
    if not kind:
        return {}
    if kind == "claim":
        row = verdicts()[what]
        return {n: row[n].holds for n in names if n in row and row[n].word != UNTESTED}
    if kind in PLAYED:
        decided = {name: _played(statement, name) for name in names}
        return {name: value for name, value in decided.items() if value is not None}
    holds = _ASKED[kind]
    return {release: holds(what, release) for release in source().releases}


def _played(statement: Statement, name: str) -> bool | None:
    """Return True if the statement holds under this Kafka; None if it cannot play the run."""
    kind, what = statement.proof
    run = statement.run(name)
    if kind == "property":
        try:
            return judged(what, run).holds
        except InputError:
            return None
    firsts = _firsts(run)
    if any(cue.strip() in firsts for cue in what.split(",")):
        return kind == "acts"
    return None if REFUSED in firsts else kind == "idle"


def _has(what: str, release: str) -> bool:
    """Return True if the release has all that is listed; of names joined by "or", one is enough."""
    return all(
        any(source().has(release, name) for name in one.split(" or ")) for one in what.split(", ")
    )


def _calls(what: str, release: str) -> bool:
    caller, _, callee = (one.strip() for one in what.partition(">"))
    return bool(source().call(release, caller, callee))


def _stacks(cues: str, release: str) -> list[Stack]:
    stacks = []
    for mode in modes(release):
        for cue in cues.split(","):
            stacks.append(stack(counterpart(cue.strip(), release, mode), release, mode))
    return [shown for shown in stacks if shown.frames]


def _passes(what: str, release: str) -> bool:
    """Return True if a method on a stack of these rules has the word in its name."""
    cues, _, word = (one.strip() for one in what.partition(">"))
    return any(word in frame.name for one in _stacks(cues, release) for frame in one.frames)


def _later(what: str, release: str) -> bool:
    """Return True if the rule is handed over, not called from the run loop that began the work."""
    return any(frame.gap for one in _stacks(what, release) for frame in one.frames)


def _began(what: str, release: str) -> bool:
    """Return True if the oldest release that has the method is the one that is named.

    This is a fact of history, so it is true in every release or in none.
    """
    name, _, first = (part.strip() for part in what.partition(">"))
    return source().spans(name)[0][0] == first


_ASKED: Final[dict[str, Callable[[str, str], bool]]] = {
    "has": _has,
    "calls": _calls,
    "passes": _passes,
    "later": _later,
    "began": _began,
}

HOLDS: Final = "holds"
NEVER: Final = "never"
SINCE: Final = "since"
UNTIL: Final = "until"
FROM: Final = "from"
SOME: Final = "some"
OPEN: Final = "open"


def summary(row: Row) -> tuple[str, str, str]:
    """Return (the result over the releases, first, last name that bounds it or "")."""
    names, values = list(row), list(row.values())
    if not row:
        return OPEN, "", ""
    if all(values) or not any(values):
        return (HOLDS if values[0] else NEVER), "", ""
    first, last = values.index(True), len(values) - 1 - values[::-1].index(True)
    if not all(values[first : last + 1]):
        return SOME, "", ""
    if first == 0:
        return UNTIL, "", names[last]
    if last == len(names) - 1:
        return SINCE, names[first], ""
    return FROM, names[first], names[last]


def stands_for(name: str) -> str:
    """Return the name of a row for people: "Kafka 2.0.1", "Kafka 3.3.2 - 3.4.1"."""
    return PROFILES[name].stands_for if name in PROFILES else f"Kafka {name}"


def edge(statement: Statement, name: str, last: bool) -> str:
    """Return the release at which a verdict changes, in the form that people use.

    For a generation it is its first or its last release. For a release of the index, which stands
    for its line, it is the line: "Kafka 2.1".
    """
    if statement.proof[0] not in PLAYED:
        parts = name.split(".")
        return "Kafka " + ".".join(parts[: 3 if parts[0] == "0" else 2])
    match = _SPAN.fullmatch(stands_for(name))
    if match is None:
        return stands_for(name)
    first, final, mode = match.groups()
    return f"Kafka {(final if last else None) or first}{mode or ''}"


_SPAN: Final = re.compile(r"Kafka (\S+)(?: – (\S+))?( \(ZooKeeper\))?")


# -- what is kept ---------------------------------------------------------------------------------


@cache
def _stored_findings() -> dict[str, list[Any]]:
    text = (files("engine.learn") / FOLDER / KEPT).read_text("utf-8")
    found: dict[str, list[Any]] = json.loads(text)
    return found


def bits(statement: Statement, row: Row) -> str:
    """Return a row in the form in which it is kept: "0011", with - for each undecided place."""
    return "".join("01"[row[name]] if name in row else "-" for name in labels(statement))


def labels(statement: Statement) -> list[str]:
    """Return the names of a statement's row, in order."""
    kind, what = statement.proof
    if not kind:
        return []
    if kind == "claim":
        return list(claims()[what].profiles)
    return list(PROFILES) if kind in PLAYED else list(source().releases)


def findings_of(guide: Guide) -> list[Finding]:
    """Return the findings about a built-in guide, in the order of its statements."""
    findings = []
    for statement, (moment, row) in zip(
        guide.statements(), _stored_findings()[guide.name], strict=True
    ):
        names = labels(statement)
        if len(names) != len(row):
            raise ValueError(
                f"engine/learn/guides/found.json has {len(row)} verdicts of a statement of "
                f"{guide.name}, and there are {len(names)} profiles: "
                "pytest tests/test_guides.py --rewrite"
            )
        pairs = zip(names, row, strict=True)
        values = {name: bit == "1" for name, bit in pairs if bit != "-"}
        findings.append(Finding(StatementMoment(*moment) if moment else None, values))
    return findings
