"""Output of ``highwater refine``: a run compared with a rung of the ladder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.refinement.model_tracker import BESIDE
from engine.refinement.walking import Refinement, refine
from engine.scenarios import file
from engine.sim.run import Run


def as_data(refinement: Refinement) -> Mapping[str, object]:
    """Return the result of one run, as JSON."""
    run, first = refinement.run, refinement.first
    return {
        "schema": 1,
        "run": run.digest,
        "scenario": run.scenario.code or run.scenario.slug or run.scenario.title,
        "profile": run.profile,
        "rung": refinement.rung,
        "partition": refinement.partition,
        "holds": refinement.holds,
        "events": refinement.events,
        "none": refinement.none,
        "one": refinement.one,
        "several": refinement.several,
        "moves": dict(sorted(refinement.moves.items())),
        "late": refinement.late,
        "first": first and first._asdict(),
    }


def lines(refinement: Refinement) -> Iterator[str]:
    """Yield the same for people."""
    first = refinement.first
    yield (
        f"{refinement.events:,} events under {refinement.rung}: {refinement.none:,} are no move "
        f"of it, {refinement.one:,} one, {refinement.several:,} several"
    )
    counts = {move: times for move, times in refinement.moves.most_common() if move not in BESIDE}
    if counts:
        yield "; ".join(f"{move} {times:,}" for move, times in counts.items())
    yield f"{refinement.late:,} of these moves read a peer as it was when the message left."
    for name, meaning in BESIDE.items():
        if refinement.moves[name]:
            yield f"Beside the model, {name} {refinement.moves[name]:,}: {meaning}."
    if first is None:
        yield f"Every event is told: this is a run of {refinement.rung}."
        return
    if first.beyond:
        yield f"Step {first.step} ({first.line or 'the beginning'}) is beyond every rung:"
    else:
        yield f"Step {first.step} ({first.line}) is NO move of {refinement.rung}:"
    yield f"    {first.why}"
    if first.before:
        yield f"    before: {first.before}"


def library() -> Iterator[Refinement]:
    for scenario in file.library().values():
        for profile in scenario.profiles:
            yield refine(Run(scenario, profile))


def row(refinement: Refinement) -> str:
    run, first = refinement.run, refinement.first
    name = f"{run.scenario.code:<5} {run.profile:<40} {refinement.rung:<15}"
    if first is None:
        return f"{name} yes, {refinement.events:,} events"
    verdict = "beyond" if first.beyond else "NO"
    return f"{name} {verdict}, step {first.step} ({first.line}): {first.why}"


def code(found: Refinement) -> int:
    """Return the exit code: an event beyond every rung is no failure."""
    return 0 if found.first is None or found.first.beyond else 1
