"""Verdict of a script under each generation of Kafka; neighbours that end alike are joined."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from engine.export.comparing import playable
from engine.model.errors import InputError
from engine.model.profiles import KRAFT, PROFILES
from engine.model.releases import BOTH
from engine.replay.cursor import Cursor
from engine.replay.replay import STEPS_MOST
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run
from engine.story.verdict import Outcome


@dataclass(frozen=True)
class Ending:
    """Profiles that stand beside each other and break the same promises, oldest first."""

    profiles: tuple[str, ...]
    broken: tuple[str, ...]
    """Invariants in the order in which they break."""
    kind: str
    """The kind of the verdict: `engine.story.verdict.KINDS`."""

    @property
    def span(self) -> str:
        """The releases they stand for, the first and the last: "0.8 – 0.10.2".

        From 3.3 to 3.9 a release has two halves, with ZooKeeper and with KRaft, that may end
        differently: there the number alone would name both, so its half is named as well.
        """
        first, last = self.profiles[0], self.profiles[-1]
        start, end = _releases(first)[0], _releases(last)[-1]
        if start == end and _half(first) == _half(last):
            return start + _half(last)
        # All from there on, or all of one half: the end says enough.
        said = "" if _half(first) in ("", _half(last), _ZOOKEEPER) else _half(first)
        return f"{start}{said} – {end}{_half(last)}"


_RELEASE: Final = re.compile(r"(?<!\d)\d+(?:\.\d+)+")
_ZOOKEEPER: Final = " (ZooKeeper)"
_KRAFT: Final = " (KRaft)"


def _releases(profile: str) -> list[str]:
    return _RELEASE.findall(PROFILES[profile].stands_for)


def _half(profile: str) -> str:
    """Return the half of its releases that a profile is; "" where they have one only."""
    row = PROFILES[profile]
    if row.shares_releases:
        return _ZOOKEEPER
    return _KRAFT if row.mode == KRAFT and row.releases[0] in BOTH else ""


def ending(scenario: Scenario, profile: str) -> Ending:
    """Return the end of the script under this profile, as far as it can be played."""
    run = Run(scenario, profile)
    try:
        return _played(run)
    except InputError:
        return _played(playable(run, STEPS_MOST)[0])


def _played(run: Run) -> Ending:
    cursor, outcome, steps = Cursor(run), Outcome(), 0
    sim = cursor.sim
    sim.budget = STEPS_MOST
    while (events := cursor.advance()) is not None:
        for _, _, _, cues, _ in events:
            steps += 1
            outcome.note(steps, sim, cues)
    sim.ledger.close(sim.now)
    broken = dict.fromkeys(name for name, _, _ in sim.broken)
    return Ending((run.profile,), tuple(broken), outcome.at_end(steps, sim)["kind"])


def endings(scenario: Scenario) -> tuple[Ending, ...]:
    """Return all generations in order of release, those with ZooKeeper first.

    Neighbours of one kind that break the same invariants, in any order, share an ending.
    """
    able = (profile for profile in PROFILES if not scenario.cannot_begin(profile))
    outcomes = (ending(scenario, profile) for profile in able)
    return _joined(outcomes, lambda outcome: (outcome.kind, frozenset(outcome.broken)))


def folded(found: tuple[Ending, ...]) -> tuple[Ending, ...]:
    """Return the neighbours of one kind as one ending, which breaks what any of them breaks."""
    return _joined(found, lambda one: one.kind)


def _joined(outcomes: Iterable[Ending], key: Callable[[Ending], object]) -> tuple[Ending, ...]:
    groups = (list(group) for _, group in groupby(outcomes, key=key))
    return tuple(
        Ending(
            tuple(name for outcome in group for name in outcome.profiles),
            tuple(dict.fromkeys(name for outcome in group for name in outcome.broken)),
            group[0].kind,
        )
        for group in groups
    )
