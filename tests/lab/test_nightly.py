"""Scripts x releases: what is recorded already is not played again, and a failure stops nothing."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from app.command.cli import main
from app.lab import coverage, laboratory, nightly
from app.lab.laboratory import Wish
from app.lab.trouble import LabError
from engine.model.errors import InputError
from engine.sim.run import Run
from tests.conftest import ROOT

PLAYED = ROOT / "engine" / "recordings" / "played"


@pytest.fixture
def plays(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Stands in for the brokers: what they would record is a recording of theirs."""
    asked: list[str] = []

    def play(wish: Wish, run: Run, tell: Any) -> dict[str, Any]:
        name = f"{run.scenario.code}-{wish.kafka}"
        asked.append(name)
        if name == "S03-4.1.1":
            raise LabError("Broker 2 died: out of memory.")
        found: dict[str, Any] = json.loads((PLAYED / f"{name}.json").read_text("utf-8"))
        return found

    monkeypatch.setattr(laboratory, "play", play)
    return asked


def record(into: Path, scripts: str, kafka: str) -> tuple[int, str]:
    words = ["record", "--scripts", scripts, "--kafka", kafka, "--into", str(into)]
    result = CliRunner().invoke(main, words)
    return result.exit_code, result.output


def test_it_goes_on_where_it_was_stopped(tmp_path: Path, plays: list[str]) -> None:
    shutil.copy(PLAYED / "R20-1.1.1.json", tmp_path)
    (tmp_path / "R20-0.10.2.2.json").write_text('{"kafka": "0.10.2.2", "steps": [')
    code, said = record(tmp_path, "R20", "0.10.2.2,1.1.1")
    assert (code, plays) == (0, ["R20-0.10.2.2"]), said
    assert "804 facts equal, 0 explained, 0 different, in 2 recordings" in said
    plays.clear()
    assert record(tmp_path, "R20", "0.10.2.2,1.1.1")[0] == 0
    assert plays == [], "all of it is there"
    assert sorted(one.name for one in tmp_path.iterdir()) == [
        "R20-0.10.2.2.json",
        "R20-1.1.1.json",
    ]


def test_a_recording_of_another_script_is_replaced(tmp_path: Path, plays: list[str]) -> None:
    data = json.loads((PLAYED / "R20-1.1.1.json").read_text("utf-8"))
    del data["steps"][-1]
    (tmp_path / "R20-1.1.1.json").write_text(json.dumps(data))
    assert record(tmp_path, "R20", "1.1.1")[0] == 0
    assert plays == ["R20-1.1.1"]


def test_a_failure_and_what_cannot_be_played_stop_nothing(tmp_path: Path, plays: list[str]) -> None:
    code, said = record(tmp_path, "S03,S46,S30", "4.1.1")
    assert (code, plays) == (1, ["S03-4.1.1", "S30-4.1.1"])
    assert "S03 on Kafka 4.1.1 failed: Broker 2 died: out of memory." in said
    assert "S46 on Kafka 4.1.1 not playable: The laboratory plays runs of one partition" in said
    assert record(tmp_path, "S46,S30", "4.1.1")[0] == 0, "what nobody can play is no failure"


def test_a_difference_is_told(tmp_path: Path, plays: list[str]) -> None:
    data = json.loads((PLAYED / "R20-1.1.1.json").read_text("utf-8"))
    data["steps"][-1]["facts"]["brokers"]["2"]["hw"] = 7
    (tmp_path / "R20-1.1.1.json").write_text(json.dumps(data))
    code, said = record(tmp_path, "R20", "1.1.1")
    assert (code, plays) == (1, [])
    assert "b2 HW is 7 on Kafka 1.1.1 and 2 in the engine" in said


def test_cancelled_it_says_how_to_go_on(
    tmp_path: Path, plays: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(wish: Wish, run: Run, tell: Any) -> dict[str, Any]:
        raise KeyboardInterrupt

    shutil.copy(PLAYED / "R20-1.1.1.json", tmp_path)
    monkeypatch.setattr(laboratory, "play", stopped)
    code, said = record(tmp_path, "R20,S22", "1.1.1")
    assert code == 130
    assert "The same command goes on." in said and "432 facts equal" in said


def test_nothing_starts_where_a_name_is_wrong(tmp_path: Path, plays: list[str]) -> None:
    wrong = (
        ("R20,S999", "1.1.1", "There is no scenario S999"),
        ("R20", "1.1.1,9", "is no release"),
    )
    for scripts, kafka, why in wrong:
        code, said = record(tmp_path / "new", scripts, kafka)
        assert code == 2 and why in said and said.count("\n") == 1
    assert plays == [] and not (tmp_path / "new").exists()


def test_usual_pairs_are_those_that_were_played() -> None:
    assert {"R20", "S30"} <= set(nightly.usual_scripts())
    assert nightly.usual_releases()[0] == "0.10.2.2"
    with pytest.raises(InputError):
        nightly.unplayable("S999", "4.1.1")


def test_the_table_of_the_documentation_is_true() -> None:
    """highwater recordings --table"""
    text = (ROOT / "docs/reference/real-brokers.md").read_text("utf-8")
    assert text[text.index("| Scenario") :].splitlines() == list(coverage.markdown())
