"""A run as files to take along, each made of the run's text and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from engine.export import diagrams
from engine.model.declared import declared
from engine.replay.replay import Replay
from engine.scenarios.writing import yaml_of
from engine.sim.run import Run

MOST_STEPS: Final = 1_000
MOST_BYTES: Final = 12 * 1024 * 1024
"""Limits of one file of steps; the rest is fetched by number."""


@declared
class Format:
    """One kind of file: its name's ending, its type, and its writer."""

    suffix: str
    mimetype: str
    make: Callable[[Replay], str]


def scenario_yaml(replay: Replay) -> str:
    """Return the scenario of the run, as `highwater run FILE.yaml` takes it."""
    return yaml_of(replay.run.scenario)


def run_json(replay: Replay) -> str:
    """Return the run itself, as `highwater run` takes it."""
    data = json.loads(replay.run.text())
    return json.dumps(data, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def steps_json(replay: Replay) -> str:
    """Return facts and steps with their views.

    At most `MOST_STEPS` of them, and as many as `MOST_BYTES` have room for; `total` says how many
    there are.
    """
    steps: list[str] = []
    size = 0
    for step in replay.each(0, MOST_STEPS):
        steps.append(_compact(step))
        size += len(steps[-1])
        if size > MOST_BYTES:
            break
    facts = _compact(replay.facts())
    members = f'"facts":{facts},"total":{replay.total},"first":0,"steps":[{",".join(steps)}]'
    return "{" + members + "}\n"


def _compact(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


_TEST: Final = '''\
"""{title}

Replays one run under {profile} and asserts its verdict.  Needs the highwater package.
"""

import highwater

RUN = (
{run}
)
BROKEN = {broken}


def test_{name}() -> None:
    run = highwater.run(RUN)
    assert sorted({{one.invariant for one in run.broken}}) == BROKEN, run.broken
'''


def pytest_file(replay: Replay) -> str:
    """Return a test that plays the run and asserts that the same invariants break, or none."""
    run: Run = replay.run
    text = run.text()
    pieces = [text[at : at + 72] for at in range(0, len(text), 72)]
    broken = sorted({breach["invariant"] for breach in replay.verdict()["broken"]})
    title = " ".join(run.scenario.title.split()).replace("\\", "/").replace('"', "'")
    return _TEST.format(
        title=title if len(title) <= 84 else f"{title[:83]}…",
        profile=run.profile,
        run="\n".join(f"    {piece!r}" for piece in pieces),
        broken=json.dumps(broken),
        name=f"run_{run.digest}",
    )


def _mermaid(replay: Replay) -> str:
    return diagrams.mermaid(replay.run, replay.total)


FORMATS: Final[dict[str, Format]] = {
    "yaml": Format("yaml", "application/yaml", scenario_yaml),
    "json": Format("run.json", "application/json", run_json),
    "steps": Format("steps.json", "application/json", steps_json),
    "golden": Format("txt", "text/plain", Replay.golden),
    "mermaid": Format("mmd", "text/plain", _mermaid),
    "shiviz": Format("shiviz.log", "text/plain", lambda replay: diagrams.shiviz(replay.run)),
    "pytest": Format("py", "text/x-python", pytest_file),
}


def file_name(replay: Replay, form: str) -> str:
    """Return a name like `acks-1-loses-a-record-Z0102.mmd`; pytest finds a test by it."""
    run = replay.run
    stem = f"{run.scenario.slug or run.scenario.digest}-{run.profile}"
    if form == "pytest":
        return f"test_{''.join(c if c.isalnum() else '_' for c in stem).lower()}.py"
    return f"{stem}.{FORMATS[form].suffix}"
