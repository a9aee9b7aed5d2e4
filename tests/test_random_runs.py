"""Random runs, pinned: whatever the engine does differently anywhere is seen here.

The runs were drawn by the soak over all releases, their flips and settings, and chosen because
together they meet the most pairs of rules.  The library's golden files say what is right, move by
move; these lines only say that something changed, in which runs and under which Kafka.  A change
that was meant for one release shows in its runs alone: that is what to read in the diff.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from engine.sim.run import Run, play_all
from engine.study.batch import row_of
from engine.study.digest import digest
from engine.study.metrics import METRICS
from tests.test_golden import compare

RUNS = Path(__file__).parent / "data" / "random-runs.jsonl"
PINNED = Path(__file__).parent / "golden" / "random-runs.txt"


def outcome(number: int, text: str) -> str:
    """One line: number, Kafka, events, digests of the end and of the figures, what broke."""
    run = Run.from_text(text)
    row = row_of(run, 0, run.seed)
    figures = sha256(repr([row[name] for name in METRICS]).encode()).hexdigest()[:8]
    broken = " ".join(name for name, *_ in row["broken"]) or row["verdict"]
    end = digest(play_all(run))
    return f"{number} {run.profile} {row['events']} {end} {figures} {broken}\n"


def test_random_runs_end_as_they_did(rewrite: bool) -> None:
    texts = RUNS.read_text("utf-8").splitlines()
    lines = [outcome(number, text) for number, text in enumerate(texts, 1)]
    again = 'highwater run "$(sed -n NUMBERp tests/data/random-runs.jsonl)"'
    compare(PINNED, "".join(lines), rewrite, again)
