"""The page of the engine: the operator may press its button, and what comes of pressing it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from app.compiled import build, pages
from app.compiled.pages import CompileJob
from app.core import compiled_engine
from tests.app.conftest import TOKEN
from tests.waiting import until


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return compiled_engine.builds()


class SlowBuild:
    """A build that goes on until it is let go."""

    def __init__(self) -> None:
        self.goes_on = threading.Event()
        self.problem = ""

    def __call__(self, progress: build.Progress) -> Path:
        while not self.goes_on.wait(0.01):
            progress(build.COMPILING, 0.4)
        if self.problem:
            raise build.CompileError("failed", why=self.problem)
        done = compiled_engine.builds() / compiled_engine.fingerprint()
        (done / "engine").mkdir(parents=True)
        return done


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowBuild]:
    slow = SlowBuild()
    job = CompileJob(slow)
    monkeypatch.setattr(pages, "job", job)
    yield slow
    slow.goes_on.set()
    until(lambda: not job.running)


def press(client: FlaskClient, what: str, **headers: str) -> int:
    data = {"csrf": TOKEN}
    return client.post(f"/batch/engine/{what}", data=data, headers=headers).status_code


def test_the_button_shows_its_progress_and_then_the_engine(
    client: FlaskClient, slow: SlowBuild
) -> None:
    assert "/batch/engine/build" in client.get("/batch/engine").text
    assert press(client, "build") == 303
    until(lambda: "Compiling C: 40 %" in client.get("/batch/engine").text)
    slow.goes_on.set()
    until(lambda: "The engine is compiled." in client.get("/batch/engine").text)


def test_a_cancelled_build_leaves_nothing(client: FlaskClient, slow: SlowBuild) -> None:
    press(client, "build")
    assert press(client, "cancel") == 303
    until(lambda: "/batch/engine/build" in client.get("/batch/engine").text)
    assert compiled_engine.built() is None


def test_a_failed_build_says_why(client: FlaskClient, slow: SlowBuild) -> None:
    slow.problem = "no space left on device"
    slow.goes_on.set()
    press(client, "build")
    until(lambda: f"The build failed: {slow.problem}." in client.get("/batch/engine").text)
    assert f"编译失败：{slow.problem}。" in client.get("/batch/engine?lang=zh").text


def test_a_visitor_through_a_proxy_cannot_press_it(client: FlaskClient, slow: SlowBuild) -> None:
    beyond = {"X-Forwarded-For": "203.0.113.7"}
    page = client.get("/batch/engine", headers=beyond).text
    assert "/batch/engine/build" not in page and "highwater compile" in page
    assert press(client, "build", **beyond) == 404
    assert not pages.job.running


def test_a_build_is_of_these_sources_only(own_cache: Path) -> None:
    (own_cache / "0123456789abcdef" / "engine").mkdir(parents=True)
    assert compiled_engine.built() is None
    (own_cache / compiled_engine.fingerprint() / "engine").mkdir(parents=True)
    assert compiled_engine.built() is not None


def test_without_a_compiler_the_reason_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setattr(shutil, "which", lambda name, *_: None)
    assert str(build.why_not()).startswith("There is no C compiler here")
    with pytest.raises(build.CompileError, match="no C compiler"):
        build.build(lambda phase, share: None)


def test_mypy_is_installed_before_it_compiles(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fresh clone has what a server needs, and no mypy."""
    monkeypatch.setattr(build, "lacks_mypy", lambda: True)
    phases: list[str] = []
    asked: list[str] = []

    def fails(extra: str) -> bool:
        asked.append(extra)
        return False

    monkeypatch.setattr(build, "add", fails)
    assert build.why_not() is None
    with pytest.raises(build.CompileError, match="mypy could not be installed"):
        build.build(lambda phase, share: phases.append(phase))
    assert (asked, phases) == (["fast"], ["installing"])
    monkeypatch.setattr(build, "is_checkout", lambda: False)
    assert "pip install" in str(build.why_not())


@pytest.mark.night
def test_a_build_that_plays_differently_is_thrown_away(
    own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check itself, with a program in place of the library that tells what it is run with."""
    monkeypatch.setattr(build, "_compile", lambda place, progress: None)
    monkeypatch.setattr(build, "why_not", lambda: None)
    program = tmp_path / "digests.py"

    def built_with(line: str) -> Path:
        program.write_text(
            "import json, os\nhere = bool(os.environ.get('HIGHWATER_COMPILED'))\n"
            f"print(json.dumps({{'is_compiled': here, **{line}}}))"
        )
        return build.build(lambda phase, share: None, program)

    with pytest.raises(build.CompileError, match=r"1 of 2 runs end differently.*R20"):
        built_with("{'S01': 'a', 'R20': 'b' if here else 'a'}")
    with pytest.raises(build.CompileError, match="not found by Python"):
        built_with("{'S01': 'a', 'is_compiled': False}")
    assert list(own_cache.iterdir()) == []
    done = built_with("{'S01': 'a'}")
    assert done == compiled_engine.built()


def test_a_process_imports_the_engine_that_stands_in_the_cache(own_cache: Path) -> None:
    """And none that imports it goes without, but where the sources are asked for."""
    made = own_cache / compiled_engine.fingerprint() / "engine"
    (made / "model").mkdir(parents=True)
    (made / "model/__init__.py").touch()
    (made / "model/log.py").write_text("COMPILED = True\n")
    ask = "import app; from engine.model import log; print(hasattr(log, 'COMPILED'))"
    for pure, expected in (("", "True"), ("1", "False")):
        done = subprocess.run(
            [sys.executable, "-c", ask],
            env={"XDG_CACHE_HOME": str(own_cache.parents[1]), "HIGHWATER_PURE": pure},
            cwd=compiled_engine.SOURCES.parent,
            capture_output=True,
            text=True,
        )
        assert done.stdout.strip() == expected, done.stderr
