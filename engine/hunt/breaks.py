"""A broken promise of a storm, made short, and the kind of story that it is."""

from __future__ import annotations

from dataclasses import dataclass

from engine.hunt.kinds import KINDS, Mechanism, Seen, Step
from engine.sim.run import Run, play
from engine.study.shrink import shorten


@dataclass(frozen=True)
class Break:
    """A shortened run that breaks a promise; lengths are in events up to the break.

    `kind` is None where no known story explains it: an error of the model, or something new.
    """

    run: Run
    invariant: str
    why: str
    before: int
    after: int
    kind: Mechanism | None


def break_of(run: Run, invariant: str) -> Break:
    """Return the run of a storm as a finding.  Raises InputError if it does not break it."""
    short = shorten(run, invariant)
    seen = look(short.run)
    why = next(text for name, _, text in seen.broken if name == invariant)
    kind = next(
        (one for one in KINDS if invariant in one.invariants and one.is_told_by(seen)), None
    )
    return Break(short.run, invariant, why, short.before, short.after, kind)


def look(run: Run) -> Seen:
    """Play a run and return its rules, each with its node and the leader of its partition."""
    sim = run.simulation(told=True)
    steps: list[Step] = []

    def note(kind: int, node: int, what: object) -> None:
        records = sim.cluster.controller.records
        for cue in sim.out.cues or ():
            record = records.get(cue.tp)
            steps.append(Step(sim.events, cue.rule, cue.node, record.leader if record else -1))

    sim.listener = note
    for _ in play(sim, run.lines()):
        pass
    return Seen(tuple(steps), tuple(sim.broken))
