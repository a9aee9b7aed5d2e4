"""Writes the fixtures of the browser's unit tests: real runs of the engine, as pages get them.

    python -m tests.js.fixtures

Run it when the shape of steps changes, and read the difference.
"""

from __future__ import annotations

import json
from pathlib import Path

from engine.scenarios import file
from engine.show.replay import Replay
from engine.sim.run import Run

FIXTURES = {"s01": ("S01", "K39"), "s20": ("S20", "Z0102"), "s23": ("S23", "Z011")}
FOLDER = Path(__file__).resolve().parent / "fixtures"
AT_ONCE = 64


def fixture(code: str, profile: str) -> dict[str, object]:
    replay = Replay(Run(file.find(code), profile))
    steps = [
        step
        for first in range(0, replay.total + 1, AT_ONCE)
        for step in replay.steps(first, AT_ONCE)
    ]
    return {"facts": replay.facts(), "steps": steps}


def main() -> None:
    for name, (code, profile) in FIXTURES.items():
        text = json.dumps(fixture(code, profile), ensure_ascii=False, separators=(",", ":"))
        (FOLDER / f"{name}.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
