"""The advisor's table: cells end when they are known or when their budget is spent."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from app.advisor import table
from app.advisor.table import AdviceCell, AdviceTable
from app.batch import cycles
from app.batch.processes import BatchWorkers
from app.bootstrap import ROOT
from engine.advisor import importance
from engine.advisor.advice import Setting
from tests.app.test_cli import highwater

pytestmark = pytest.mark.gate


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small trees, a short pilot, and no processes that start afresh."""
    monkeypatch.setattr(importance, "FLOOR", (1.0, 0.1, 0.02, 0.01))
    monkeypatch.setattr(cycles, "PILOT_TREES", 2)
    monkeypatch.setattr(cycles, "best_effort", lambda trees: {})
    monkeypatch.setattr(table, "pool", ThreadPoolExecutor)


ASKED = ("advise", "--factors", "1", "--racks", "1", "--presets", "usual", "--jobs", "1")


def test_a_cell_is_played_until_it_is_known_and_then_no_further() -> None:
    """One replica: what loses is the machine, the rack and the disk, once for each failure."""
    told = highwater(*ASKED, "--within", "100", "--json")
    assert told.exit_code == 0, told.output
    assert "1 cells, each until ± 100% or for 600 s on 1 processes" in told.stderr
    assert "needs about" in told.stderr, "what it takes is said before"
    report = json.loads(told.stdout)
    (cell,) = report["cells"]
    lost = cell["lost"]
    assert cell["ended"] == "known" and cell["failed"] == 0
    assert lost["low"] < cell["formula"] < lost["high"]
    assert lost["high"] - lost["rate"] <= lost["rate"] and lost["low"] >= 0
    assert cell["trees"] < 4 * cell["pilot"]["needed"] and cell["cpu_s"] > 0


def test_a_cell_that_is_out_of_budget_says_so_with_what_it_has() -> None:
    told = highwater(*ASKED, "--within", "5", "--budget", "1")
    assert told.exit_code == 3, told.output
    assert "more than its budget" in told.stderr
    row = told.stdout.splitlines()[1].split()
    assert row[:3] == ["usual", "1", "1"] and row[-1] == "budget"


def test_an_estimate_plays_no_more_than_pilots() -> None:
    told = highwater(*ASKED, "--estimate", "--json")
    assert told.exit_code == 0
    (cell,) = json.loads(told.stdout)["cells"]
    assert cell["lost"] is None and cell["trees"] == 0 and cell["pilot"]["needed"] > 0


def test_a_pilot_without_losses_has_no_estimated_end() -> None:
    cell = AdviceCell("usual", Setting(racks=3), pilot={"lost": [0.0, 0.0]}, pilot_trees=5)
    table = AdviceTable([cell], 0.5, 60, 2, str)
    assert table.needed(cell) == float("inf")
    assert table.report()[0]["pilot"]["needed"] is None
    spread = [
        AdviceCell("usual", Setting(), pilot={"lost": [10.0, s]}, pilot_trees=5) for s in (20, 40)
    ]
    few, many = (table.needed(one) for one in spread)
    assert many == pytest.approx(2 * few, rel=0.05), "trees grow with the squares"


class Interrupted(ThreadPoolExecutor):
    """Ctrl+C comes while the fifth thing is asked for."""

    asked = 0

    def submit(self, *args: Any, **kwargs: Any) -> Any:
        Interrupted.asked += 1
        if Interrupted.asked == 5:
            raise KeyboardInterrupt
        return super().submit(*args, **kwargs)


@pytest.mark.night
def test_ctrl_c_leaves_with_what_was_played(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "pool", Interrupted)
    monkeypatch.setattr(table, "CHUNK_MOST", 4)
    monkeypatch.setattr(table, "CHUNK_S", 100)  # four trees, however slow one of them was
    told = highwater(*ASKED, "--within", "5", "--json")
    assert told.exit_code == 130, told.output
    (cell,) = json.loads(told.stdout)["cells"]
    assert cell["ended"] == "stopped" and cell["looks"] == 1 and cell["trees"] >= 4
    assert 0 < cell["lost"]["low"] < cell["lost"]["rate"] < cell["lost"]["high"]


def test_the_time_limit_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees that do not come back in time are counted as left, and are not waited for."""
    monkeypatch.setattr(table, "grown", lambda chunk: time.sleep(3) or ([], 0.0))
    told = highwater(*ASKED, "--budget", "1", "--json")
    (cell,) = json.loads(told.stdout)["cells"]
    assert told.exit_code == 3 and cell["ended"] == "budget"
    assert cell["trees"] == 0 and cell["left"] > 0 and "at most" in told.stderr


def test_processes_end_with_their_parent() -> None:
    """Killed, it can no longer tell them to."""
    lines = (
        "import os, time",
        "from app.batch.processes import pool",
        "if __name__ == '__main__':",
        "    print(pool(1).submit(os.getpid).result(), flush=True)",
        "    time.sleep(600)",
    )
    with subprocess.Popen(
        [sys.executable, "-c", "\n".join(lines)], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        stat = Path(f"/proc/{child}/stat")
        assert stat.exists()
        parent.kill()
    until = time.monotonic() + 30
    with contextlib.suppress(OSError):  # it is gone, or waits for nothing but to be counted
        while stat.read_text().rpartition(")")[2].split()[0] != "Z":
            assert time.monotonic() < until
            time.sleep(0.02)


def test_processes_are_ended_and_start_again() -> None:
    with BatchWorkers(1) as workers:
        waiting = workers.submit(time.sleep, 600)
        workers.stop()
        assert waiting.cancelled() or waiting.exception() is not None
        assert workers.submit(abs, -1).result(60) == 1


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (("--presets", "moon"), "no preset moon"),
        (("--factors", "x"), "list of whole numbers"),
        (("--factors", ""), "empty list"),
        (("--racks", "12"), "brokers lies between 1 and 9"),
        (("--profile", "K99"), "K99"),
    ],
)
def test_invalid_requests_get_one_sentence(wrong: tuple[str, ...], why: str) -> None:
    told = highwater(*ASKED, *wrong)
    assert told.exit_code == 2 and why in told.stderr, told.output
