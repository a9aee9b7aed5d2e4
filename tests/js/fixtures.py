"""Writes the fixtures of the browser's unit tests: real runs of the engine, as pages get them.

    python -m tests.js.fixtures

Run it when the shape of steps changes, and read the difference.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from engine.replay.replay import Replay
from engine.scenarios import file
from engine.sim.run import Run

FIXTURES = {
    "s01": Run(file.find("S01"), "K39"),
    "s20": Run(file.find("S20"), "Z0102"),
    "s23": Run(file.find("S23"), "Z011"),
}
TOLD_AFTER = "bounce A"
"""In S20 a new controller tells the bounced follower its role: it cuts, and leads next."""
FOLDER = Path(__file__).resolve().parent / "fixtures"
AT_ONCE = 64


def told_by_a_new_controller(run: Run) -> Run:
    """The run with a controller's fail-over after the bounce, so that there is a cut to see."""
    lines = list(run.lines())
    after = lines.index(TOLD_AFTER) + 1
    return replace(run, moves=(*lines[:after], "kill K", "restart K", *lines[after:]))


def fixture(run: Run) -> dict[str, object]:
    replay = Replay(run)
    steps = [
        step
        for first in range(0, replay.total + 1, AT_ONCE)
        for step in replay.steps(first, AT_ONCE)
    ]
    return {"facts": replay.facts(), "steps": steps}


def main() -> None:
    runs = {**FIXTURES, "s20": told_by_a_new_controller(FIXTURES["s20"])}
    for name, run in runs.items():
        text = json.dumps(fixture(run), ensure_ascii=False, separators=(",", ":"))
        (FOLDER / f"{name}.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
