"""Pictures of the library's cards: each is the most telling step of its scenario.

`pytest tests/test_pictures.py --rewrite` writes `engine/export/pictures.svg`, a line a scenario.
"""

from __future__ import annotations

import re
from typing import Final

import pytest

from app.learn.cards import PICTURES, pictures
from engine.export import tanks
from engine.export.thumbnail import HEIGHT, WIDTH, draw, telling_step
from engine.replay.replay import Replay
from engine.scenarios.file import find, library
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run
from tests.conftest import ROOT

FILE: Final = ROOT / "engine/export" / PICTURES


def telling_run(scenario: Scenario) -> Run:
    """The run of the first profile that breaks something as meant, else of the first."""
    promised = scenario.expect.items()
    broken = [name for name, one in promised if isinstance(one.get("verdict"), list)]
    return Run(scenario, (broken or list(scenario.profiles))[0])


def picture(scenario: Scenario) -> str:
    replay = Replay(telling_run(scenario))
    (step,) = replay.steps(telling_step(replay), 1)
    return draw(step["view"])


def symbol(scenario: Scenario) -> str:
    return (
        f'<symbol id="{scenario.slug}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'font-family="system-ui, sans-serif">{picture(scenario)}</symbol>\n'
    )


@pytest.mark.night
def test_the_sheet_has_the_picture_of_every_scenario(rewrite: bool) -> None:
    symbols = "".join(symbol(scenario) for scenario in library().values())
    sheet = f'<svg xmlns="http://www.w3.org/2000/svg">\n{symbols}</svg>\n'
    if rewrite:
        FILE.write_text(sheet, "utf-8")
    written = FILE.read_text("utf-8").splitlines()
    assert written == sheet.splitlines(), "write it with: pytest tests/test_pictures.py --rewrite"


def test_a_picture_shows_the_most_telling_step() -> None:
    scenario = find("R20")
    run = telling_run(scenario)
    assert run.profile == "Z0102", "where it breaks"
    replay = Replay(run)
    step = telling_step(replay)
    assert replay.steps(step, 1)[0]["broken"]
    drawn = draw(replay.steps(step, 1)[0]["view"])
    assert drawn.count('fill="var(--panel)"/>') == 3, "a tank for each replica"
    assert 'fill="var(--water)"' in drawn


def test_pictures_know_colours_by_name_only() -> None:
    colours = set(re.findall(r'(?:fill|stroke)="([^"]+)"', pictures()))
    assert {one for one in colours if not one.startswith("var(--")} == {
        "none",
        tanks.ON_HUE,
        tanks.TICK_ON_HUE,
    }


def test_voters_of_a_quorum_stand_above_the_brokers() -> None:
    (step,) = Replay(Run(find("S105"), "4.1.1")).steps(0, 1)
    quorum = {**step["view"]["quorum"]}
    drawn = draw(step["view"])
    voters, brokers = drawn.split(">C2</text>")
    assert ">C1</text>" in voters and all(f">{name}</text>" in brokers for name in "123")
    quorum["voters"] = [{**voter, "alive": False} for voter in quorum["voters"]]
    assert 'stroke="var(--bad)"' not in drawn
    assert draw({**step["view"], "quorum": quorum}).count('stroke="var(--bad)"') == 2
