"""Random runs of clusters with 20 to 25 partitions, pinned.

They were drawn with moves that let followers fall behind, leave the ISR and truncate, that elect
leaders and reassign replicas; by the rules of six releases, with lossy links, slow disks, limits of
bytes and several fetchers.  A fetch of such a cluster has many partitions without news.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from engine.sim.run import Run, play_all
from engine.study.digest import digest
from tests.test_golden import compare
from tests.test_random_runs import course

RUNS: Final = Path(__file__).parent / "data" / "many-partitions.jsonl"
PINNED: Final = Path(__file__).parent / "golden" / "many-partitions.txt"


def runs() -> list[Run]:
    return [Run.from_text(text) for text in RUNS.read_text("utf-8").splitlines()]


def test_runs_with_many_partitions_go_as_they_did(rewrite: bool) -> None:
    """A line for each run: number, Kafka, events, digests of its course and its end, what broke."""
    lines = []
    for number, run in enumerate(runs(), 1):
        end = play_all(run)
        broken = " ".join(name for name, *_ in end.broken)
        what = f"{number} {run.profile} {end.events} {course(run)} {digest(end)} {broken}"
        lines.append(f"{what.rstrip()}\n")
    again = 'highwater run "$(sed -n NUMBERp tests/data/many-partitions.jsonl)"'
    compare(PINNED, "".join(lines), rewrite, again)
