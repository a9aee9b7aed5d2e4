"""A broken promise of a storm, made short, and the kind of story that it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from engine.sim.run import Run, run_to_end
from engine.study.shrink import shorten

Verdict = Literal["new", "known", "by design"]
"""Found here first; an issue of Kafka; what Kafka's source does on purpose, without a loss."""


class Step(NamedTuple):
    """A rule that was followed: number of the event, rule, node, leader by the controller."""

    event: int
    rule: str
    node: int
    leader: int


class Seen(NamedTuple):
    """Story of a played run, and (invariant, number of the event, why) of each broken one."""

    steps: tuple[Step, ...]
    broken: tuple[tuple[str, int, str], ...]


class Mechanism(NamedTuple):
    """A mechanism: what it breaks, how its story is recognised, its verdict, and its finding."""

    name: str
    title: str
    verdict: Verdict
    invariants: frozenset[str]
    is_told_by: Callable[[Seen], bool]
    finding: str = ""
    """Code of the scenario in `engine.hunt.findings` that tells it, "" for none."""


def _deposed_leader_deletes(seen: Seen) -> bool:
    return any(one.rule == "R-4.deleted" and one.node != one.leader for one in seen.steps)


def _leads_without_epochs(seen: Seen) -> bool:
    """Check for a leader that has emptied its log for a rebuild, and never read the epochs."""
    emptied = set()
    for step in seen.steps:
        if step.rule == "R-5.cut":
            emptied.add(step.node)
        elif step.rule == "R-5.built":
            emptied.discard(step.node)
        if step.leader in emptied:
            return True
    return False


def _setting_after_isr(seen: Seen) -> bool:
    """Check for a leader that hears of a smaller ISR once the setting was changed."""
    at = next(step for name, step, _ in seen.broken if name == "I14")
    applied = any(one.rule == "CP-KR-APPLY" and one.event == at for one in seen.steps)
    return applied and any(one.rule == "CP-12" and one.event <= at for one in seen.steps)


KINDS: Final = (
    Mechanism(
        "deposed-leader-deletes-remote",
        "A deposed leader deletes remote segments that its successor still serves",
        "new",
        frozenset({"INV-39", "INV-27", "INV-38", "I5", "I6", "I7", "I9", "I10"}),
        _deposed_leader_deletes,
        "S99",
    ),
    Mechanism(
        "rebuilt-without-epochs",
        "A follower whose rebuild was interrupted leads without the epochs of remote storage",
        "new",
        frozenset({"INV-40", "INV-39", "INV-27", "I5", "I6", "I7", "I9", "I10"}),
        _leads_without_epochs,
        "S100",
    ),
    Mechanism(
        "setting-after-isr",
        "A leader commits by the old min.insync.replicas, as the ISR is applied before the setting",
        "by design",
        frozenset({"I14"}),
        _setting_after_isr,
    ),
)
"""The stories that are known; the first that a break tells is its kind."""


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
    """Return a break of a run, made short.  Raises InputError if the run does not break it."""
    short = shorten(run, invariant)
    seen = look(short.run)
    why = next(text for name, _, text in seen.broken if name == invariant)
    kinds = (kind for kind in KINDS if invariant in kind.invariants and kind.is_told_by(seen))
    return Break(short.run, invariant, why, short.before, short.after, next(kinds, None))


def look(run: Run) -> Seen:
    """Play a run and return its rules, each with its node and the leader of its partition."""
    sim = run.simulation(cues=True)
    steps: list[Step] = []

    def note(kind: int, node: int, what: object) -> None:
        records = sim.cluster.controller.records
        for cue in sim.out.cues or ():
            record = records.get(cue.tp)
            steps.append(Step(sim.events, cue.rule, cue.node, record.leader if record else -1))

    sim.listener = note
    run_to_end(sim, run.lines())
    return Seen(tuple(steps), tuple(sim.broken))
