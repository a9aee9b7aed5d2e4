"""The command: exit codes, one sentence for bad input, and a fast start."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import click.testing
import pyarrow.parquet as pq
import pytest
from click.shell_completion import ShellComplete

from app.batch import records
from app.command import cli
from app.core import config
from app.storage.batch_fields import BatchState
from app.storage.database import Database, place_of
from tests.app.conftest import SCENARIO
from tests.conftest import ROOT

pytestmark = pytest.mark.quick


def highwater(*arguments: str) -> click.testing.Result:
    return click.testing.CliRunner().invoke(cli.main, arguments)


@pytest.fixture
def path(tmp_path: Path) -> str:
    file = tmp_path / "copying.yaml"
    file.write_text(SCENARIO)
    return str(file)


def test_a_run_as_expected_exits_with_0(path: str) -> None:
    told = highwater("run", path)
    assert told.exit_code == 0, told.output
    assert told.output


def test_a_run_is_told_as_json(path: str) -> None:
    told = highwater("run", path, "--profile", "Z0102", "--seed", "7", "--json")
    report = json.loads(told.stdout)
    assert set(report) == {"run", "profile", "seed", "steps", "verdict", "final", "digest"}
    assert (report["profile"], report["seed"]) == ("Z0102", 7)
    assert {"holds", "expected", "broken"} <= set(report["verdict"])
    again = highwater("run", path, "--profile", "Z0102", "--seed", "7", "--json")
    assert again.stdout == told.stdout


def test_moves_replace_the_script(path: str) -> None:
    report = json.loads(highwater("run", path, "--moves", "produce m9; fetch 2", "--json").stdout)
    other = json.loads(highwater("run", path, "--json").stdout)
    assert report["run"] != other["run"]
    assert report["steps"] < other["steps"]


def test_the_text_of_a_run_plays_that_run(path: str) -> None:
    from engine.scenarios import file
    from engine.sim.run import Run

    run = Run(file.load_path(path), profile="K39", seed=3)
    report = json.loads(highwater("run", run.text(), "--json").stdout)
    assert (report["run"], report["seed"]) == (run.digest, 3)


def test_a_promise_that_is_not_kept_exits_with_1(tmp_path: Path) -> None:
    file = tmp_path / "wrong.yaml"
    file.write_text(SCENARIO.replace("K39: {verdict: holds}", "K39: {verdict: violates I7}"))
    told = highwater("run", str(file))
    assert told.exit_code == 1
    assert "Not as expected: verdict: I7 should break, but nothing did" in told.stderr
    report = json.loads(highwater("run", str(file), "--json").stdout)
    assert report["verdict"]["expected"] is False
    assert report["verdict"]["complaints"]


def test_a_violation_that_is_meant_exits_with_0_and_under_own_moves_with_1() -> None:
    assert highwater("run", "R20", "--profile", "Z0102").exit_code == 0
    report = json.loads(highwater("run", "R20", "--profile", "Z0102", "--json").stdout)
    assert report["verdict"]["holds"] is False
    assert report["verdict"]["expected"] is True
    from engine.scenarios import file
    from engine.sim.run import Run

    moves = [*Run(file.find("R20"), profile="Z0102").lines(), "+1"]
    told = highwater("run", "R20", "--profile", "Z0102", "--moves", ";".join(moves))
    assert told.exit_code == 1, told.output
    assert "I7" in told.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "no-such-scenario"),
        ("run", "no-such-file.yaml"),
        ("run", "{not a run"),
        ("run", "PATH", "--profile", "K99"),
        ("run", "PATH", "--moves", "conjure 1"),
    ],
)
def test_bad_input_gets_one_sentence_and_exit_code_2(path: str, arguments: tuple[str, ...]) -> None:
    told = highwater(*(path if word == "PATH" else word for word in arguments))
    assert told.exit_code == 2, told.output
    assert told.stdout == ""
    assert told.stderr.count("\n") == 1, told.stderr
    assert "Traceback" not in told.stderr


def test_malformed_yaml_names_its_place(tmp_path: Path) -> None:
    file = tmp_path / "broken.yaml"
    file.write_text("title: [unclosed\n")
    told = highwater("run", str(file))
    assert told.exit_code == 2
    assert told.stderr.startswith("broken.yaml:")


def test_help_lists_every_command_by_purpose() -> None:
    told = highwater("--help").stdout
    summaries = {name: text for part in cli.SECTIONS.values() for name, text in part.items()}
    assert summaries.keys() == cli.main.commands.keys()
    for name, text in summaries.items():
        assert len(text) <= 50 and re.search(rf"^  {name} +{re.escape(text)}$", told, re.M)


def test_a_wrong_code_gets_the_nearest() -> None:
    assert "did you mean S60?" in highwater("run", "S6O").stderr


def test_help_lists_the_settings() -> None:
    told = highwater("serve", "--help")
    for setting in config.SETTINGS:
        assert setting.name in told.output


def test_scenarios_lists_the_library() -> None:
    from engine.scenarios import file

    told = highwater("scenarios")
    listed = json.loads(highwater("scenarios", "--json").stdout)
    assert len(listed) == len(file.library())
    for scenario in file.library().values():
        assert scenario.title in told.output


@pytest.mark.night
def test_the_matrix_plays_what_the_library_promises(monkeypatch: pytest.MonkeyPatch) -> None:
    from engine.scenarios import file

    told = highwater("scenarios", "--matrix")
    assert told.exit_code == 0 and "every promise kept" in told.output
    (line,) = [one for one in told.output.splitlines() if one.startswith("R20 ")]
    assert "Z0102 I6 I7 I10" in line and "K39 holds" in line
    liar = file.find("R20")
    liar.expect["K39"]["verdict"] = ["I7"]
    monkeypatch.setattr(file, "library", lambda: {liar.slug: liar})
    try:
        told = highwater("scenarios", "--matrix")
    finally:
        liar.expect["K39"]["verdict"] = "holds"
    assert told.exit_code == 1 and "under K39: verdict: I7 should break" in told.output


def test_every_rule_of_the_specification_is_listed() -> None:
    from engine.story.rules import RULEBOOK

    told = highwater("rules")
    assert told.exit_code == 0 and "golden: S20/Z011.txt" in told.output
    entries = json.loads(highwater("rules", "--json").output)
    assert [entry["id"] for entry in entries] == list(RULEBOOK)


def test_playing_a_run_imports_no_server() -> None:
    script = (
        "import sys; from app.command.cli import main\n"
        "try: main(['scenarios'], standalone_mode=False)\n"
        "finally: print(sorted({'flask', 'sqlalchemy', 'pyspark'} & set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert told.stdout.splitlines()[-1] == "[]", told.stderr


def test_recordings_are_compared_fact_by_fact(tmp_path: Path) -> None:
    folder = ROOT / "engine" / "recordings" / "played"
    told = highwater("recordings", str(folder / "S06-3.9.1.json"), str(folder / "S30-4.1.1.json"))
    assert told.exit_code == 0, told.output
    assert [line.split() for line in told.stdout.splitlines()] == [
        ["S06-3.9.1", "209", "equal", "0", "explained", "0", "different"],
        ["S30-4.1.1", "370", "equal", "0", "explained", "0", "different"],
        [],
        ["equal/explained/different", "3.9.1", "4.1.1"],
        ["S06", "209/0/0"],
        ["S30", "370/0/0"],
        [],
        ["579", "facts", "equal,", "0", "explained,", "0", "different,", "in", "2", "recordings"],
    ]
    wrong = json.loads((folder / "S06-3.9.1.json").read_text("utf-8"))
    wrong["steps"][6]["facts"]["P"]["isr"] = [1, 3]
    (tmp_path / "wrong.json").write_text(json.dumps(wrong))
    told = highwater("recordings", str(tmp_path))
    assert told.exit_code == 1
    line = "step 6, after “detect 2”: isr is [1, 3] on Kafka 3.9.1 and [1] in the engine"
    assert f"first difference: {line}" in told.stdout
    told = highwater("recordings", "--json", str(tmp_path))
    report = json.loads(told.stdout)
    assert (report["equal"], report["different"], report["recordings"][0]["first"]) == (
        208,
        1,
        line,
    )


def test_a_file_that_is_no_recording_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    told = highwater("recordings", str(tmp_path))
    assert (told.exit_code, told.stdout) == (2, "")
    assert told.stderr.count("\n") == 1 and "is no recording" in told.stderr


def test_reading_and_refusals_create_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "results"
    monkeypatch.setenv("HIGHWATER_INSTANCE", str(place))
    told = highwater("query", "select count(*) as n from runs")
    assert told.exit_code == 0 and told.stdout.split() == ["n", "-", "0"]
    assert f"Studies: 0, in {place / 'highwater.db'}" in told.stderr
    assert highwater("batch", "S999", "--runs", "10").exit_code == 2
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def studied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The number of a study of eight runs, three of which lose a record."""
    monkeypatch.setenv("HIGHWATER_INSTANCE", str(tmp_path / "results"))
    monkeypatch.setenv("HIGHWATER_BACKGROUND_BUILD", "0")
    told = highwater("batch", "crash-storm", "--runs", "8", "--kafka", "0.10.2.2", "--json")
    assert told.exit_code == 0, told.stderr
    return str(json.loads(told.stdout)["id"])


@pytest.mark.night
def test_rows_of_a_query_leave_as_csv_parquet_and_objects(studied: str, tmp_path: Path) -> None:
    asked = ("query", "SELECT seed, verdict FROM runs ORDER BY seed")
    shown = highwater(*asked, "--csv").stdout.splitlines()
    assert shown[0] == "seed,verdict" and len(shown) == 9
    for name in ("rows.csv", "rows.parquet"):
        told = highwater(*asked, "--out", str(tmp_path / name))
        assert (told.exit_code, told.stdout) == (0, "")
    assert (tmp_path / "rows.csv").read_text().splitlines() == shown
    rows = pq.read_table(tmp_path / "rows.parquet").to_pylist()
    assert [f"{row['seed']},{row['verdict']}" for row in rows] == shown[1:]
    assert json.loads(highwater(*asked, "--json").stdout)["rows"] == rows
    for out, said in (("rows.xls", ".csv or .parquet"), ("none/rows.csv", "No such file")):
        told = highwater(*asked, "--out", str(tmp_path / out))
        assert told.exit_code == 2 and said in told.stderr
    near = highwater("query", "SELECT * FROM runz")
    assert near.exit_code == 2 and near.stderr.endswith('Did you mean "runs"?\n')


@pytest.mark.night
def test_a_study_that_ended_early_is_continued(studied: str, tmp_path: Path) -> None:
    told = highwater("batch", "--resume", studied)
    assert told.exit_code == 2 and "ended already" in told.stderr
    database = Database(f"sqlite:///{tmp_path / 'results/highwater.db'}")
    records.update(database, studied, state=BatchState.CANCELLED)
    database.close()
    for rows in (tmp_path / "results/batches" / studied).iterdir():
        rows.unlink()
    told = highwater("batch", "--resume", studied)
    assert told.exit_code == 0 and told.stdout.startswith(f"done, study {studied}, 8 runs")
    assert highwater("query", "SELECT count(*) AS n FROM runs").stdout.split()[-1] == "8"


def test_a_batch_without_runs_or_with_a_bad_master_is_bad_input() -> None:
    for asked, said in (
        (["--resume", "000000000000"], "There is no batch 000000000000."),
        (["S74"], "--runs"),
        (["S74", "--runs", "3", "--master", "bogus://x"], "spark://host:7077"),
    ):
        told = highwater("batch", *asked)
        assert told.exit_code == 2 and said in told.stderr, told.stderr


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["run", "r2"], "R20"),
        (["run", "gone-aft"], "gone-after-a-clean-election"),
        (["run", "R20", "--kafka", "lat"], "latest"),
        (["batch", "S74", "--kafka", "latest,0.10"], "latest,0.10.2.2"),
    ],
)
def test_a_shell_completes_scenarios_and_releases(words: list[str], offered: str) -> None:
    begun = ShellComplete(cli.main, {}, "highwater", "_HIGHWATER_COMPLETE")
    found = begun.get_completions(words[:-1], words[-1])
    assert offered in [one.value for one in found]


def test_a_password_of_the_database_is_not_printed() -> None:
    assert place_of("postgresql://me:secret@host/studies") == "postgresql://me:***@host/studies"
    assert place_of("sqlite:////var/lib/highwater.db") == "/var/lib/highwater.db"
