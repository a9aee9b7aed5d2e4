"""The engine that compiles itself: when it is begun, once, and what a failure leaves."""

from __future__ import annotations

import fcntl
import os
import subprocess
from pathlib import Path

import pytest

from app.compiled import background, build
from app.core import compiled_engine


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv("HIGHWATER_PURE", raising=False)
    monkeypatch.setattr(build, "why_not", lambda: None)
    folder = compiled_engine.builds()
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    commands: list[list[str]] = []
    monkeypatch.setattr(subprocess, "Popen", lambda command, **_: commands.append(command))
    return commands


def test_a_start_begins_a_build_and_says_so(begun: list[list[str]]) -> None:
    assert "HIGHWATER_BACKGROUND_BUILD=0" in background.begin()
    assert begun[0][-1] == "app.compiled.background"


@pytest.mark.parametrize(
    ("variable", "value"), [("HIGHWATER_PURE", "1"), ("HIGHWATER_BACKGROUND_BUILD", "0")]
)
def test_it_can_be_turned_off(
    variable: str, value: str, begun: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    assert background.begin() == "" and begun == []


def test_no_build_is_begun_after_another_or_after_a_failure(
    cache: Path, begun: list[list[str]]
) -> None:
    with (cache / "lock").open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert background.begin() == ""
    (cache / f"{compiled_engine.fingerprint()}.failed").touch()
    assert background.begin() == ""
    (cache / f"{compiled_engine.fingerprint()}.failed").unlink()
    (cache / compiled_engine.fingerprint()).mkdir()
    assert background.begin() == "" and begun == []


def test_a_failure_is_kept_and_old_builds_go(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(progress: build.Progress) -> Path:
        raise build.CompileError("failed", why="no space")

    for age, name in enumerate(("newest", "new", "older", "oldest", "making-1")):
        (cache / name).mkdir()
        os.utime(cache / name, (1_000 - age, 1_000 - age))
    (cache / "making-2").mkdir()
    monkeypatch.setattr(build, "build", fail)
    monkeypatch.setattr(os, "nice", lambda by: by)
    background.main()
    assert "no space" in (cache / f"{compiled_engine.fingerprint()}.failed").read_text()
    kept = {place.name for place in cache.iterdir() if place.is_dir()}
    assert kept == {"newest", "new", "older", "making-2"}, "another process may be building it"
