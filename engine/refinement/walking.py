"""A whole run held against a rung: the events of each kind of move, and the first that is none."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from engine.ladder import render
from engine.ladder.rungs import RUNGS, Rung
from engine.model.errors import InputError
from engine.model.profiles import (
    FETCH,
    HW,
    KIP101,
    KIP279,
    KIP279_FENCED,
    PROFILES,
    Profile,
    get_profile,
)
from engine.refinement.mapping import Mapping
from engine.refinement.model_tracker import Matched, UnmatchedError
from engine.sim.run import Run, play

BY_TRUNCATION: Final = {
    HW: "trunc_hw",
    KIP101: "kip101_clamped",
    KIP279: "kip279",
    KIP279_FENCED: "kip320",
    FETCH: "kip320",
}
"""Brokers cut to the smaller of the answer and their own end, so KIP-101 is the clamped rung.  From
2.8 on the fetch itself tells where logs part; what it cuts to is the same end."""


def rung_of(profile: Profile) -> str:
    """Return the rung of the release alone: a flipped flag is what the rung is to notice."""
    return BY_TRUNCATION[PROFILES[profile.base].truncation]


def rung(name: str) -> Rung:
    """Raise InputError for a rung that there is not."""
    if name not in RUNGS:
        sentence = "There is no rung {0}; there are: {1}."
        raise InputError("unknown", sentence, name[:40], ", ".join(RUNGS))
    return RUNGS[name]


class Miss(NamedTuple):
    """The first event that is no move of the rung."""

    step: int
    """Events before it and itself; 0: the beginning already."""
    line: str
    """The move of the run that it belongs to."""
    why: str
    before: str
    """The ladder's state before it."""
    beyond: bool
    """Nothing against the rung: no rung has a word for such a thing."""


@dataclass
class Refinement:
    """Result for one partition of a run."""

    run: Run
    rung: str
    partition: int
    events: int = 0
    none: int = 0
    """Events of which the ladder sees nothing."""
    one: int = 0
    several: int = 0
    late: int = 0
    """Moves that read a peer as it was when the message left."""
    moves: Counter[str] = field(default_factory=Counter)
    """Move -> how often, those beside the model included."""
    first: Miss | None = None

    @property
    def holds(self) -> bool:
        return self.first is None

    def note(self, matches: list[Matched]) -> None:
        self.events += 1
        self.none += not matches
        self.one += len(matches) == 1
        self.several += len(matches) > 1
        for matched in matches:
            self.moves[matched.move.name] += 1
            self.late += matched.late


def refine(run: Run, rung_name: str = "", partition: int = 0) -> Refinement:
    """Play a run beside the ladder, as far as it is a run of the rung.

    Raises InputError for a rung or a partition that there is not and for a run that breaks off.
    """
    if partition >= len(run.scenario.partitions):
        last = len(run.scenario.partitions) - 1
        raise InputError("unknown", "There is no partition {0}: the last is {1}.", partition, last)
    name = rung_name or rung_of(get_profile(run.profile))
    refinement = Refinement(run, name, partition)
    sim = run.simulation(cues=True)  # no event may be passed over
    lines = run.lines()
    try:
        mapping = Mapping(sim, partition, rung(name))
    except UnmatchedError as error:
        refinement.first = Miss(0, "", str(error), "", error.beyond)
        return refinement
    for number in play(sim, lines):
        before = mapping.cluster
        try:
            refinement.note(mapping.step())
        except UnmatchedError as error:
            picture = render.picture(before)
            refinement.first = Miss(
                refinement.events + 1, lines[number], str(error), picture, error.beyond
            )
            return refinement
    return refinement
