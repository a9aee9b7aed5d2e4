"""The engine as C plays as it is written: every digest of the library and of random play is equal.

The build takes about a minute of a processor, once for each state of the sources:
HIGHWATER_THOROUGH=1, or where `python3 -m app compile` has been before.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from app.compiled import build, extensions
from app.core import compiled_engine
from engine import model
from engine.model.messages import Message
from tests.conftest import ROOT, THOROUGH
from tests.digests import digests

PLAY = """
import sys
from engine.model import log
from tests.digests import told
print(log.__file__, file=sys.stderr)
print(told())
"""
SEARCH = """
from engine.scenarios import file
from engine.explore.budgets import Budgets
from engine.explore.card import card
from engine.explore.question import SearchQuestion, cut_at
from engine.explore.searching import search
from engine.sim.run import Run
for code, profile in (("S20", "K39"), ("R20", "Z0102")):
    run = Run(file.find(code), profile)
    asked = cut_at(Run(run.scenario, profile, 0, run.lines()[:3]))
    print(card(search(SearchQuestion(asked, Budgets(crashes=1, writes=1))))["digest"])
"""

PICKLE = """
import pickle
from engine.scenarios import file
from engine.sim.run import Run
from engine.study.digest import digest
from engine.study.wander import advance
RUNS = (("S20", "K39"), ("S59", "K39"), ("S61", "Z0102"), ("read-twice", ""), ("S102", ""))
for code, profile in RUNS:
    scenario = file.find(code)
    run = Run(scenario, profile or scenario.profiles[0], 5)
    sim, lines = run.simulation(), run.lines()
    for line in lines[: len(lines) // 2]:
        advance(sim, line)
    sim = pickle.loads(pickle.dumps(sim))
    for line in lines[len(lines) // 2 :]:
        advance(sim, line)
    sim.ledger.close(sim.now)
    print(digest(sim))
"""


def compiled() -> Path:
    return build.build(lambda phase, share: None)


def told_by(program: str, engine: Path | None = None) -> tuple[str, str]:
    """Return (errors, output) of a separate process, with a compiled engine or without."""
    choice = {compiled_engine.VARIABLE: str(engine)} if engine else {"HIGHWATER_PURE": "1"}
    own = {key: value for key, value in os.environ.items() if not key.startswith("HIGHWATER_")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={**own, **choice, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3_000:]
    return done.stderr, done.stdout


built = pytest.mark.skipif(
    not THOROUGH and compiled_engine.built() is None,
    reason="a minute of gcc: HIGHWATER_THOROUGH=1, or python3 -m app compile before",
)


@built
def test_compiled_and_written_play_the_same() -> None:
    source, told = told_by(PLAY, compiled())
    assert source.split()[-1].endswith((".so", ".pyd"))
    found, here = json.loads(told)["digests"], digests()
    assert len(here) > 150
    assert {name: end for name, end in found.items() if end != here[name]} == {}
    assert found.keys() == here.keys()


@built
def test_compiled_and_written_search_the_same() -> None:
    assert told_by(SEARCH, compiled())[1] == told_by(SEARCH)[1]


@built
def test_a_compiled_run_goes_on_in_another_process() -> None:
    """What was pickled in the middle of a run ends as the run does, and plays on as C."""
    assert told_by(PICKLE, compiled())[1] == told_by(PICKLE)[1]


def test_every_kind_of_message_is_compiled() -> None:
    for module in pkgutil.iter_modules(model.__path__, "engine.model."):
        importlib.import_module(module.name)
    sources = {path.removesuffix(".py").replace("/", ".") for path in extensions.files()}
    kinds = list(kinds_of(Message))
    assert len(kinds) > 50
    assert {kind.__module__ for kind in kinds} - sources == set()


def kinds_of(base: type[Message]) -> Iterator[type[Message]]:
    for kind in base.__subclasses__():
        yield kind
        yield from kinds_of(kind)


def test_the_sources_can_be_asked_for(tmp_path: Path) -> None:
    """HIGHWATER_PURE ignores a compiled module beside its source."""
    model = tmp_path / "engine/model"
    model.mkdir(parents=True)
    (tmp_path / "engine/__init__.py").write_text((ROOT / "engine/__init__.py").read_text("utf-8"))
    (model / "__init__.py").write_text("")
    (model / "log.py").write_text("WRITTEN = True\n")
    (model / f"log{EXTENSION_SUFFIXES[0]}").write_bytes(b"no module at all")
    ask = [sys.executable, "-c", "from engine.model import log; print(log.WRITTEN)"]
    for pure, works in (("1", True), ("", False)):
        env = {**os.environ, "PYTHONPATH": str(tmp_path), "HIGHWATER_PURE": pure}
        done = subprocess.run(ask, cwd=tmp_path, env=env, capture_output=True, text=True)
        assert (done.returncode == 0) is works, done.stderr
