"""Output of ``highwater refine``: a run compared with a rung of the ladder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.refinement.model_tracker import BESIDE
from engine.refinement.walking import Refinement, refine
from engine.scenarios import file
from engine.sim.run import Run


def as_data(found: Refinement) -> Mapping[str, object]:
    """Return the result of one run, as JSON."""
    run, first = found.run, found.first
    return {
        "schema": 1,
        "run": run.digest,
        "scenario": run.scenario.code or run.scenario.slug or run.scenario.title,
        "profile": run.profile,
        "rung": found.rung,
        "partition": found.partition,
        "holds": found.holds,
        "events": found.events,
        "none": found.none,
        "one": found.one,
        "several": found.several,
        "moves": dict(sorted(found.moves.items())),
        "late": found.late,
        "first": first and first._asdict(),
    }


def lines(found: Refinement) -> Iterator[str]:
    """Yield the same for people."""
    first = found.first
    yield (
        f"{found.events:,} events under {found.rung}: {found.none:,} are no move of it, "
        f"{found.one:,} one, {found.several:,} several"
    )
    told = {move: times for move, times in found.moves.most_common() if move not in BESIDE}
    if told:
        yield "; ".join(f"{move} {times:,}" for move, times in told.items())
    yield f"{found.late:,} of these moves read a peer as it was when the message left."
    for name, meaning in BESIDE.items():
        if found.moves[name]:
            yield f"Beside the model, {name} {found.moves[name]:,}: {meaning}."
    if first is None:
        yield f"Every event is told: this is a run of {found.rung}."
        return
    if first.beyond:
        yield f"Step {first.step} ({first.line or 'the beginning'}) is beyond every rung:"
    else:
        yield f"Step {first.step} ({first.line}) is NO move of {found.rung}:"
    yield f"    {first.why}"
    if first.before:
        yield f"    before: {first.before}"


def library() -> Iterator[Refinement]:
    for scenario in file.library().values():
        for profile in scenario.profiles:
            yield refine(Run(scenario, profile))


def row(found: Refinement) -> str:
    run, first = found.run, found.first
    name = f"{run.scenario.code:<5} {run.profile:<40} {found.rung:<15}"
    if first is None:
        return f"{name} yes, {found.events:,} events"
    verdict = "beyond" if first.beyond else "NO"
    return f"{name} {verdict}, step {first.step} ({first.line}): {first.why}"


def code(found: Refinement) -> int:
    """Return the exit code: an event beyond every rung is no failure."""
    return 0 if found.first is None or found.first.beyond else 1
