"""Golden files: every scripted scenario under every profile it names, move by move.

`pytest tests/test_golden.py --rewrite` writes them; the diff of that is what a reviewer reads.  The
diff of two profiles' files of one scenario is its lesson.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import pytest

from engine.scenarios.file import library
from engine.scenarios.scenario import Scenario
from engine.show.replay import Replay
from engine.sim.run import Run

FOLDER = Path(__file__).parent / "golden"
SCRIPTED = [one for one in library().values() if "scale" not in one.tags]
SCALE = [one for one in library().values() if "scale" in one.tags]
SEEDS = range(3)


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


@pytest.mark.parametrize(("scenario", "profile"), cases(SCRIPTED))
def test_golden(scenario: Scenario, profile: str, rewrite: bool) -> None:
    path = FOLDER / scenario.code / f"{profile}.txt"
    again = f"highwater run {scenario.code} --profile {profile}"
    compare(path, Replay(Run(scenario, profile)).golden(), rewrite, again)


@pytest.mark.parametrize("scenario", [pytest.param(one, id=one.code) for one in SCALE])
def test_chance_is_the_same_everywhere(scenario: Scenario, rewrite: bool) -> None:
    """What chance decides is pinned by digests: seed, events, what broke, digest of the whole."""
    lines = []
    for profile in scenario.profiles:
        for seed in SEEDS:
            replay = Replay(Run(scenario, profile, seed))
            broken = [entry["invariant"] for entry in replay.verdict()["broken"]]
            names = " ".join(broken) or "holds"
            digest = sha256(replay.golden().encode()).hexdigest()[:16]
            lines.append(f"{profile} {seed} {replay.total} {digest} {names}\n")
    path = FOLDER / scenario.code / "outcomes.txt"
    compare(path, "".join(lines), rewrite, f"highwater run {scenario.code}")


def test_no_golden_file_is_left_over() -> None:
    wanted = {FOLDER / one.code / f"{profile}.txt" for one in SCRIPTED for profile in one.profiles}
    wanted |= {FOLDER / one.code / "outcomes.txt" for one in SCALE}
    wanted.add(FOLDER / "random-runs.txt")
    assert set(FOLDER.rglob("*.txt")) == wanted
