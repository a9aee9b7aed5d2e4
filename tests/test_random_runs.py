"""Random runs, pinned: whatever the engine does differently anywhere is seen here.

The runs were drawn by the soak over all releases, their flips and settings.  The first 120 were
chosen because together they meet the most pairs of rules, the others because each noticed a mutant
of the engine that those before it had not.  The library's golden files say what is right, move by
move; these lines only say that something changed, in which runs and under which Kafka.  A change
that was meant for one release shows in its runs alone: that is what to read in the diff.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

from engine.checks.lags import Lags
from engine.model.effects import field_of
from engine.model.last_fetch import IMPLIED
from engine.sim.run import Run, run_to_end
from engine.study.batch import row_and_end
from engine.study.digest import digest
from engine.study.metrics import METRICS
from tests.test_golden import compare

RUNS = Path(__file__).parent / "data" / "random-runs.jsonl"
PINNED = Path(__file__).parent / "golden" / "random-runs.txt"


def values(what: Any) -> Any:
    """A message, a timer or a failure with everything in it, as tuples of plain values."""
    if isinstance(what, tuple | list):
        return tuple(values(one) for one in what)
    slots = {name for of in type(what).__mro__ for name in getattr(of, "__slots__", ())}
    names = sorted(slots - IMPLIED or getattr(what, "__dict__", ()))
    if not names:
        return what
    return (type(what).__name__, *(values(getattr(what, name)) for name in names))


def course(run: Run) -> str:
    """The digest of the way: each event with its node and time, all that a message said, every cue
    it gave."""
    sim = run.simulation(cues=True)
    sim.checker.lags = Lags(sim.cluster, sim.out)
    seen = sha256()

    def note(kind: int, node: int, what: Any) -> None:
        cues = [
            (cue.rule, cue.node, field_of(cue), cue.old, cue.new, cue.tp)
            for cue in sim.out.cues or ()
        ]
        seen.update(repr((kind, node, sim.now, values(what), cues)).encode())

    sim.listener = note
    run_to_end(sim, run.lines())
    seen.update(repr(sim.broken).encode())
    return seen.hexdigest()[:16]


def test_random_runs_go_as_they_did(rewrite: bool) -> None:
    """A line for each run: number, Kafka, events, digests of its course and its end, what broke.
    Then one for each metric: digest of what it says of all of them, so that a new metric is a new
    line."""
    lines = []
    figures: dict[str, list[int | None]] = {name: [] for name in (*METRICS, "log_weight")}
    for number, text in enumerate(RUNS.read_text("utf-8").splitlines(), 1):
        run = Run.from_text(text)
        row, end = row_and_end(run, 0, run.seed)
        assert end is not None, row["why"]
        broken = " ".join(name for name, *_ in row["broken"]) or row["verdict"]
        lines.append(
            f"{number} {run.profile} {row['events']} {course(run)} {digest(end)} {broken}\n"
        )
        for name, told in figures.items():
            told.append(row[name])
    for name, told in figures.items():
        lines.append(f"{name} {sha256(repr(told).encode()).hexdigest()[:16]}\n")
    again = 'highwater run "$(sed -n NUMBERp tests/data/random-runs.jsonl)"'
    compare(PINNED, "".join(lines), rewrite, again)
