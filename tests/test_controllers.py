"""Recordings of real controllers whose voters change, against the model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from app.lab.releases import release_of
from engine.model.quorum import LEADER
from engine.scenarios import file
from engine.sim.run import Run, run_to_end
from engine.sim.simulation import Simulation
from tests.controllers.cluster import ControllerMark

RECORDINGS: Final = sorted((Path(__file__).parent / "controllers/recordings").glob("*.json"))
SCRIPTS: Final = {
    "S105": tuple(Run(file.find("S105"), "K41").lines()),
    "wake": (
        "advance 1s",
        "pause C2",
        "advance 1s",
        "remove C1",
        "advance 4s",
        "resume C2",
        "advance 60s",
    ),
}


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
def test_voters_and_leaders_are_those_of_real_controllers(recording: Path) -> None:
    found: dict[str, Any] = json.loads(recording.read_text())
    lines = SCRIPTS[found["code"]]
    sim = Run(file.find("S105"), release_of(found["release"]).profile).simulation()
    made, real, model = 0, -1, -1
    for mark in found["marks"]:
        if mark["moves"] < 0:
            break  # the way out: no move empties a log and keeps its directory id
        run_to_end(sim, lines[made : mark["moves"]])
        made = mark["moves"]
        known = of_model(sim, mark)
        assert known | {"epoch": mark["epoch"]} == mark, mark["what"]
        if real >= 0:
            assert elections(known["epoch"] - model) == elections(mark["epoch"] - real), mark[
                "what"
            ]
        model, real = known["epoch"], mark["epoch"]
    assert made >= 7


def elections(epochs: int) -> str:
    """Return how often an epoch began: one election may meet another, so not the number."""
    return "none" if epochs == 0 else "one" if epochs == 1 else "again and again"


def of_model(sim: Simulation, mark: ControllerMark) -> ControllerMark:
    """Return the mark that the model makes here."""
    quorum = sim.cluster.quorum
    assert quorum is not None
    numbers = {node: int(voter.name[1:]) for node, voter in quorum.voters.items()}
    end = max(voter.log.end for voter in quorum.voters.values())
    leaders = [
        numbers[node]
        for node, voter in quorum.voters.items()
        if voter.alive and voter.state == LEADER and voter.hw >= 0
    ]
    return {
        "moves": mark["moves"],
        "what": mark["what"],
        "voters": {
            str(numbers[node]): sorted(numbers[one] for one in quorum.members(voter.log))
            for node, voter in quorum.voters.items()
        },
        "longest": [
            numbers[node]
            for node, voter in quorum.voters.items()
            if not leaders and voter.log.end == end
        ],
        "epoch": max(voter.epoch for voter in quorum.voters.values()),
        "leader": leaders[0] if leaders else -1,
    }
