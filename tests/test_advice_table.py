"""The advisor's table: cells end when they are known or when their budget is spent."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.batch import advice_table, cycles
from app.batch.advice_table import Cell, Table
from engine.study import cycles as trees
from engine.study.advice import Setting
from tests.app.test_cli import highwater


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small trees, a short pilot, and no processes that start afresh."""
    monkeypatch.setattr(trees, "CHILDREN", {2: 0.1, 3: 0.02, 4: 0.0})
    monkeypatch.setattr(cycles, "PILOT_TREES", 2)
    monkeypatch.setattr(cycles, "best_effort", lambda trees: {})
    monkeypatch.setattr(advice_table, "pool", ThreadPoolExecutor)


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


def test_what_loses_nothing_in_a_pilot_promises_no_end() -> None:
    cell = Cell("usual", Setting(racks=3), pilot={"lost": [0.0, 0.0]}, pilot_trees=5)
    table = Table([cell], 0.5, 60, 2, str)
    assert table.needed(cell) == float("inf")
    assert table.report()[0]["pilot"]["needed"] is None
    spread = [Cell("usual", Setting(), pilot={"lost": [10.0, s]}, pilot_trees=5) for s in (20, 40)]
    few, many = (table.needed(one) for one in spread)
    assert many == pytest.approx(2 * few, rel=0.05), "trees grow with the squares"


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
def test_what_cannot_be_asked_is_one_sentence(wrong: tuple[str, ...], why: str) -> None:
    told = highwater(*ASKED, *wrong)
    assert told.exit_code == 2 and why in told.stderr, told.output
