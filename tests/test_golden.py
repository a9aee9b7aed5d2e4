"""Golden files: every scripted scenario under every profile it names, move by move.

`pytest tests/test_golden.py --rewrite` writes them; the diff of that is what a reviewer reads.  Of
a run that is long to read, the file has each move with the digest of what it did and the cues that
were new in it, and the end; the command in the failure prints the whole.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from app.command.rules import CUE_LINE
from engine.replay.replay import Replay
from engine.scenarios.file import library
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run
from engine.view import text

FOLDER = Path(__file__).parent / "golden"
SCRIPTED = [one for one in library().values() if "scale" not in one.tags]
SCALE = [one for one in library().values() if "scale" in one.tags]
SEEDS = range(3)
MOST_LINES = 150
"""Longer runs are abridged."""


def cases(scenarios: list[Scenario]) -> list[object]:
    return [
        pytest.param(scenario, profile, id=f"{scenario.code}-{profile}")
        for scenario in scenarios
        for profile in scenario.profiles
    ]


def compare(path: Path, text: str, rewrite: bool, again: str) -> None:
    """Equal to the file, or the file is written."""
    if rewrite:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return
    assert path.exists(), f"{path} is missing; play it with: {again}"
    assert text.splitlines() == path.read_text("utf-8").splitlines(), f"play it with: {again}"


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]


def told(replay: Replay) -> str:
    """The golden text of a run, or what is to be read of it."""
    whole = replay.golden()
    lines = whole.count("\n")
    if lines <= MOST_LINES:
        return whole
    *moves, verdict = whole.removesuffix("\n").split("\n\n")
    kept, known = (
        [f"{lines} lines {digest(whole)}, abridged: what is new in each move, the end"],
        set(),
    )
    for move in moves:
        heading, _, did = move.partition("\n----\n")
        kept += ["", f"{heading}  # {did.count(chr(10)) + 1} lines {digest(did)}"]
        for line in did.splitlines():
            cue = CUE_LINE.match(line)
            if cue and cue[1] not in known:
                known.add(cue[1])
                kept.append(line)
    return "\n".join([*kept, "", *text.state_lines(replay.end), "", verdict, ""])


@pytest.mark.parametrize(("scenario", "profile"), cases(SCRIPTED))
def test_golden(scenario: Scenario, profile: str, rewrite: bool) -> None:
    path = FOLDER / scenario.code / f"{profile}.txt"
    again = f"highwater run {scenario.code} --kafka {profile} --export golden"
    compare(path, told(Replay(Run(scenario, profile))), rewrite, again)


@pytest.mark.parametrize("scenario", [pytest.param(one, id=one.code) for one in SCALE])
def test_chance_is_the_same_everywhere(scenario: Scenario, rewrite: bool) -> None:
    """What chance decides is pinned by digests: seed, events, what broke, digest of the whole."""
    lines = []
    for profile in scenario.profiles:
        for seed in SEEDS:
            replay = Replay(Run(scenario, profile, seed))
            broken = [entry["invariant"] for entry in replay.verdict()["broken"]]
            names = " ".join(broken) or "holds"
            lines.append(f"{profile} {seed} {replay.total} {digest(replay.golden())} {names}\n")
    path = FOLDER / scenario.code / "outcomes.txt"
    compare(path, "".join(lines), rewrite, f"highwater run {scenario.code}")


def test_no_golden_file_is_left_over() -> None:
    wanted = {FOLDER / one.code / f"{profile}.txt" for one in SCRIPTED for profile in one.profiles}
    wanted |= {FOLDER / one.code / "outcomes.txt" for one in SCALE}
    wanted |= {FOLDER / "random-runs.txt", FOLDER / "many-partitions.txt"}
    assert set(FOLDER.rglob("*.txt")) == wanted
