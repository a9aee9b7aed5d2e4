"""Set-up of a machine: node from PyPI, what an administrator installs, extras, the quick checks."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path
from typing import NoReturn

import click
import pytest
from click.testing import CliRunner

from app import bootstrap
from app.command.cli import main
from app.command.options import extra_of
from tests import __main__ as checks
from tests.bench.__main__ import bench


def program(path: Path, output: str) -> None:
    path.write_text(f"#!/bin/sh\necho {output}\n")
    path.chmod(0o755)


@pytest.mark.parametrize("there", ["", "v16.20.2"])
def test_node_is_taken_from_pypi_where_it_is_missing_or_too_old(
    there: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    path, scripts = tmp_path / "path", tmp_path / "scripts"
    path.mkdir()
    scripts.mkdir()
    if there:
        program(path / "node", there)
    added: list[str] = []

    def add(extra: str) -> bool:
        added.append(extra)
        program(scripts / "node", "v24.19.0")
        program(scripts / "npm", "11.17.0")
        return True

    monkeypatch.setenv("PATH", str(path))
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(scripts))
    monkeypatch.setattr(bootstrap, "add", add)
    assert checks.ensure_node() == ""
    assert added == ["node"]
    assert checks.shutil.which("npm") == str(scripts / "npm")
    assert "installing it from PyPI" in capfd.readouterr().err
    monkeypatch.setenv("PATH", str(path))
    assert checks.ensure_node() == "" and added == ["node"], "the second time it is there"


def test_without_a_registry_the_reason_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path))
    monkeypatch.setattr(bootstrap, "add", lambda extra: False)
    assert "node is not installed" in checks.ensure_node()


def test_only_what_the_virtual_environment_lacks_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The Python that starts the checks lacks everything; the one in .venv lacks two packages."""
    lacks = [bootstrap.requirements("test")[0], bootstrap.requirements("test")[-1]]
    within: list[bool] = []
    installed: list[list[str]] = []

    def run_again(python: Path, module: str) -> NoReturn:
        within.append(True)
        bootstrap.ensure(module, extra="test")
        raise SystemExit(0)

    def install(python: Path, extra: str, missing: list[str]) -> list[str]:
        installed.append(missing)
        return ["pip"]

    monkeypatch.setenv(bootstrap._AGAIN, "")
    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    monkeypatch.setattr(bootstrap, "_venv_python", lambda: tmp_path / "bin/python")
    monkeypatch.setattr(bootstrap, "inside_venv", lambda: bool(within))
    monkeypatch.setattr(
        bootstrap, "lacking", lambda extra: lacks if within else bootstrap.requirements(extra)
    )
    monkeypatch.setattr(bootstrap, "_run_again", run_again)
    monkeypatch.setattr(bootstrap, "_install", install)
    with pytest.raises(SystemExit):
        bootstrap.ensure("tests", extra="test")
    assert installed == [lacks]
    assert "Installing failed" in capfd.readouterr().err


def test_a_virtual_environment_that_is_no_longer_one_is_not_entered_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    entered: list[Path] = []

    def run_again(python: Path, module: str) -> NoReturn:
        entered.append(python)
        bootstrap.ensure(module)
        raise SystemExit(0)

    monkeypatch.setenv(bootstrap._AGAIN, "")
    monkeypatch.setattr(bootstrap, "VENV", tmp_path)
    monkeypatch.setattr(bootstrap, "_venv_python", lambda: tmp_path / "bin/python")
    monkeypatch.setattr(bootstrap, "inside_venv", lambda: False)
    monkeypatch.setattr(bootstrap, "lacking", bootstrap.requirements)
    monkeypatch.setattr(bootstrap, "_run_again", run_again)
    monkeypatch.setattr(bootstrap, "_install", lambda *_: [])
    with pytest.raises(SystemExit):
        bootstrap.ensure("app")
    assert len(entered) == 2
    assert "Still missing after installing" in capfd.readouterr().err


def test_without_venv_one_sentence_names_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    program(tmp_path / "python", "no ensurepip; exit 1")
    monkeypatch.setattr(bootstrap, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(bootstrap.sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(bootstrap, "lacking", bootstrap.requirements)
    with pytest.raises(SystemExit):
        bootstrap.ensure("app")
    assert "apt-get install python3-venv" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("package", "extra"),
    [("kazoo", "lab"), ("mcp", "mcp"), ("psycopg", "postgres"), ("simpy", "test"), ("flask", "")],
)
def test_a_package_leads_to_its_smallest_extra(package: str, extra: str) -> None:
    assert extra_of(package) == extra


@pytest.mark.parametrize(
    ("command", "arguments", "package", "extra"),
    [(bench, ["engine"], "simpy", "test"), (main, ["mcp"], "mcp", "mcp")],
)
def test_a_command_without_its_extra_says_which_one_it_needs(
    command: click.Command,
    arguments: list[str],
    package: str,
    extra: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.delitem(sys.modules, "app.command.assistant", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    answer = CliRunner().invoke(command, arguments)
    assert answer.exit_code == 2
    assert answer.output == (
        f"This needs the Python package {package}: pip install 'highwater[{extra}]'.\n"
    )
