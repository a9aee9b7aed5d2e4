"""The reading of an input as plain data: what the page, the command and the API make of it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from app.cluster.scenario import scenario_of
from app.command.cli import main
from app.reading import paste
from app.reading.facts import Notice
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run
from tests.conftest import ROOT

HERE = Path(__file__).parent
READING = "reading.json"


def cases(kind: str) -> list[str]:
    """The names of the cases of a kind: folders below `tests/field/<kind>/`."""
    return sorted(path.name for path in (HERE / kind).iterdir() if path.is_dir())


@cache
def _words() -> dict[str, str]:
    found: dict[str, str] = json.loads((ROOT / "static/i18n/cluster.en.json").read_text("utf-8"))
    return found


def _sentence(one: Notice) -> str:
    text = _words()[one.key].format(**one.args)
    return f"line {one.line}: {text}" if one.line else text


def of_paste(text: str) -> dict[str, Any]:
    """Partitions, brokers that are down, settings, and every sentence, of a pasted text."""
    facts = paste.read(text)
    data, notes = scenario_of(facts, "pasted")
    reading: dict[str, Any] = {
        "problems": [_sentence(one) for one in facts.problems],
        "notes": [_sentence(one) for one in notes],
        "presses": [choice.put for one in [*facts.problems, *notes] for choice in one.choices],
    }
    if any(line.named for line in facts.logged):
        reading["named"] = [
            f"line {line.number}: {_words()[f'line.{line.named.kind.name}']}".format(
                **line.named.values
            )
            for line in facts.logged
            if line.named is not None
        ]
    if data is None:
        return reading
    Run(Scenario.from_dict(data))
    states = zip(data["initial"]["partitions"], data["partitions"], strict=True)
    reading["profile"] = data["profiles"][0]
    reading["settings"] = dict(sorted(facts.settings.items()))
    reading["offline"] = data["initial"]["offline"]
    reading["partitions"] = {state["name"]: _state(state, replicas) for state, replicas in states}
    return reading


def _state(state: dict[str, Any], replicas: list[int]) -> dict[str, Any]:
    names = ("leader", "leader_epoch", "partition_epoch", "isr", "elr", "last_known_elr")
    known = {name: state[name] for name in names if state.get(name) not in (None, [])}
    ends = {str(log["broker"]): log["end"] for log in state["logs"] if "hw" in log}
    return {"replicas": replicas, **known, **({"ends": ends} if ends else {})}


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def of_files(folder: Path, *arguments: str) -> dict[str, Any]:
    """Read files with `highwater incident`; the folder itself without arguments."""
    with _inside(folder):
        result = CliRunner().invoke(main, ["incident", "--json", *(arguments or (".",))])
    if result.exit_code == 2:
        return {"refused": result.stderr.strip()}
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    told = json.loads(result.stdout)
    zero = told["timeline"][0]["time_ms"]
    return {
        "states": [one["record"] for one in told["states"]],
        "rows": [
            f"{(one['time_ms'] - zero) / 1_000:.3f} {one['node']} {one['what']}"
            for one in told["timeline"]
        ],
        "notes": told["notes"],
        "followed": told["followed"],
        "finding": told["finding"],
    }
