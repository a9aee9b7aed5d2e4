"""Files to take along: they are read back, parsed and run, as a visitor would."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from engine.export import diagrams, exports
from engine.export.exports import FORMATS, file_name
from engine.model.profiles import get_profile
from engine.replay.replay import Replay
from engine.scenarios.file import find, library, load_text
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run
from tests.conftest import ROOT

LOST = Run(find("R20"), "Z0102")


@pytest.mark.parametrize("scenario", library().values(), ids=lambda one: one.code or one.slug)
def test_the_yaml_of_a_scenario_reads_back_equal(scenario: Scenario) -> None:
    run = Run(scenario, scenario.profiles[0], moves=("+1",))
    assert load_text(exports.scenario_yaml(Replay(run))) == scenario


def test_the_json_of_a_run_is_the_run() -> None:
    run = LOST.then("kill 1")
    assert Run.from_text(exports.run_json(Replay(run))) == run


def test_steps_are_those_of_the_replay() -> None:
    replay = Replay(LOST)
    data = json.loads(exports.steps_json(replay))
    assert [step["n"] for step in data["steps"]] == list(range(replay.total + 1))
    assert data["steps"][-1]["view"] == json.loads(json.dumps(replay.final_view()))
    storm = Replay(Run(find("crash-storm"), "K39"))
    assert len(json.loads(exports.steps_json(storm))["steps"]) == exports.MOST_STEPS
    assert storm.total > exports.MOST_STEPS


# -- Mermaid ---------------------------------------------------------------------------------------

STATEMENT = re.compile(
    r"sequenceDiagram|"
    r" {4}(accTitle: .+|participant \w+ as .+|\w+(->>|-->>)\w+: .+|Note over \w+(,\w+)?: .+)"
)


@pytest.mark.parametrize("code", ["S01", "S20", "S24", "S29", "M01", "crash-storm"])
def test_a_mermaid_diagram_has_only_statements_mermaid_knows(code: str) -> None:
    scenario = find(code)
    text = FORMATS["mermaid"].make(Replay(Run(scenario, scenario.profiles[0])))
    lines = text.splitlines()
    assert lines[0] == "sequenceDiagram"
    for line in lines:
        assert STATEMENT.fullmatch(line), line
        assert not re.search(r"[;<>]|#(?!\d+;|lt;|gt;)", re.sub(r"#(\d+|lt|gt);|-?->>", "", line))
    known = {line.split()[1] for line in lines if line.strip().startswith("participant")}
    used = {name for line in lines[2:] for name in re.findall(r"^ {4}(\w+)-|>>(\w+):", line)}
    assert {one for pair in used for one in pair if one} <= known
    assert len(lines) < diagrams.MOST_ARROWS + 60


def test_voters_are_called_as_in_moves_in_every_text() -> None:
    """C1, never K1 or a node's number; in a log C1 is a consumer, and has a clock of its own."""
    replay = Replay(Run(find("S83"), "K39"))
    golden = FORMATS["golden"].make(replay)
    assert "b1 quorum leader - -> C3" in golden and "C3 vote C2 -> False" in golden
    assert "participant K1 as C1" in FORMATS["mermaid"].make(replay)
    assert not re.search(r"\bK\d|-> -[2-9]", golden)
    hosts = {line.split()[0] for line in FORMATS["shiviz"].make(replay).splitlines()[3::2]}
    assert hosts - {"P1"} == {f"{one}{n}" for one in ("broker-", "controller-C") for n in (1, 2, 3)}


def test_a_long_run_says_what_its_diagram_leaves_out() -> None:
    text = FORMATS["mermaid"].make(Replay(Run(find("crash-storm"), "K39")))
    assert re.search(r"\d+ more steps are not drawn\n$", text)
    cut = Replay(Run(find("S61"), "K39", 1, ("run 30m",)), most=2_000)
    left = re.search(r"(\d+) more steps are not drawn\n$", FORMATS["mermaid"].make(cut))
    assert left and int(left[1]) < cut.total


# -- ShiViz ----------------------------------------------------------------------------------------


def logged(run: Run) -> list[tuple[str, dict[str, int], str]]:
    """(host, clock, event) of each entry, read with the regular expression of the log itself."""
    text = diagrams.shiviz(run)
    head, delimiter, rest = text.split("\n", 2)
    assert delimiter == ""
    # The named groups of JavaScript, as Python writes them.
    entry = re.compile(head.replace("(?<", "(?P<"))
    found = list(entry.finditer(rest))
    assert sum(len(one[0].splitlines()) for one in found) == len(rest.splitlines())
    return [(one["host"], json.loads(one["clock"]), one["event"]) for one in found]


@pytest.mark.parametrize("code", ["S01", "S20", "S24", "S29"])
def test_the_clocks_of_a_log_are_vector_clocks(code: str) -> None:
    scenario = find(code)
    run = Run(scenario, scenario.profiles[-1])
    entries = logged(run)
    assert len(entries) == Replay(run).total
    last: dict[str, dict[str, int]] = {}
    for host, clock, _ in entries:
        before = last.get(host, {})
        assert clock[host] == before.get(host, 0) + 1
        for name, value in clock.items():
            assert value >= before.get(name, 0)
            if name != host:  # what is known of others is something that has happened there
                assert value <= last[name][name]
        last[host] = clock


def test_a_message_carries_the_clock_of_its_sender() -> None:
    entries = logged(LOST)
    for (host, clock, event), (other, after, told) in pairwise(entries):
        if event == "Producer 1 sends m0 to broker 1 with acks=all.":
            assert other == "broker-1"
            assert told == "Broker 1 appends m0 from producer 1; its log now ends at 1."
            assert after[host] == clock[host] == 1
            return
    raise AssertionError("nothing was sent")


# -- pytest ----------------------------------------------------------------------------------------


def pytest_says(path: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(path)]
    # What a run's test needs is pytest: this machine's plugins take longer than the test.
    env = {"PYTHONPATH": f"{ROOT}:{ROOT}/app/python_api", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(command, capture_output=True, text=True, cwd=path.parent, env=env)


def test_the_test_of_a_run_passes_and_fails_when_the_verdict_is_another(tmp_path: Path) -> None:
    replay = Replay(LOST)
    text = exports.pytest_file(replay)
    path = tmp_path / file_name(replay, "pytest")
    path.write_text(text)
    said = pytest_says(path)
    assert said.returncode == 0 and "1 passed" in said.stdout, said.stdout + said.stderr
    path.write_text(text.replace('BROKEN = ["I10", "I6", "I7"]', 'BROKEN = ["I10", "I6"]'))
    assert text != path.read_text()
    assert pytest_says(path).returncode == 1


@pytest.mark.parametrize("title", ["Can 'it' be \"so\"?", 'C:\\x """ {braces} %s', "副本" * 60])
def test_the_test_of_a_run_is_python_whatever_the_title(title: str) -> None:
    run = Run(Scenario.from_dict({"title": title, "script": "produce '\\x'"}), "K39", moves=())
    text = exports.pytest_file(Replay(run))
    space: dict[str, Any] = {}
    exec(compile(text, "test_it.py", "exec"), space)
    assert space["RUN"] == run.text()
    space[f"test_run_{run.digest}"]()


def test_every_file_has_a_name_that_says_what_it_is() -> None:
    replay = Replay(Run(find("S20"), get_profile("K39+elr").name))
    for form, about in FORMATS.items():
        name = file_name(replay, form)
        assert re.fullmatch(r"[a-z0-9_+-]+[A-Za-z0-9_.+-]*", name), name
        assert name.endswith(about.suffix)
    assert file_name(replay, "pytest").isascii()
