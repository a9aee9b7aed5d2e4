"""Random runs, pinned: whatever the engine does differently anywhere is seen here.

The runs were drawn by the soak over all releases, their flips and settings, and chosen because
together they meet the most pairs of rules.  The library's golden files say what is right, move by
move; these lines only say that something changed, in which runs and under which Kafka.  A change
that was meant for one release shows in its runs alone: that is what to read in the diff.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from engine.sim.run import Run
from engine.study.batch import row_and_end
from engine.study.digest import digest
from engine.study.metrics import METRICS
from tests.test_golden import compare

RUNS = Path(__file__).parent / "data" / "random-runs.jsonl"
PINNED = Path(__file__).parent / "golden" / "random-runs.txt"


def test_random_runs_end_as_they_did(rewrite: bool) -> None:
    """A line for each run: number, Kafka, events, digest of the end, what broke.  Then one for each
    metric: digest of what it says of all of them, so that a new metric is a new line."""
    lines = []
    figures: dict[str, list[int | None]] = {name: [] for name in METRICS}
    for number, text in enumerate(RUNS.read_text("utf-8").splitlines(), 1):
        run = Run.from_text(text)
        row, end = row_and_end(run, 0, run.seed)
        assert end is not None, row["why"]
        broken = " ".join(name for name, *_ in row["broken"]) or row["verdict"]
        lines.append(f"{number} {run.profile} {row['events']} {digest(end)} {broken}\n")
        for name, told in figures.items():
            told.append(row[name])
    for name, told in figures.items():
        lines.append(f"{name} {sha256(repr(told).encode()).hexdigest()[:16]}\n")
    again = 'highwater run "$(sed -n NUMBERp tests/data/random-runs.jsonl)"'
    compare(PINNED, "".join(lines), rewrite, again)
