"""Recordings of real brokers with tiered storage, against the model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.lab.releases import release_of
from engine.scenarios import file
from engine.sim.run import Run, run_to_end
from engine.sim.simulation import Simulation
from tests.tiered.cluster import TieredMark

RECORDINGS = sorted((Path(__file__).parent / "tiered" / "recordings").glob("*.json"))


def read(recording: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(recording.read_text())
    return found


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
def test_remote_segments_and_epochs_are_those_of_real_brokers(recording: Path) -> None:
    found = read(recording)
    run = Run(file.find(found["code"]), release_of(found["release"]).profile)
    sim = run.simulation()
    lines = list(run.lines())
    made = 0
    for mark in found["marks"]:
        run_to_end(sim, lines[made : mark["moves"]])
        made = mark["moves"]
        assert of_model(sim, mark) == mark, mark["what"]


def of_model(sim: Simulation, mark: TieredMark) -> TieredMark:
    """Return the mark that the model makes here."""
    record = sim.cluster.controller.records[0]
    store = sim.cluster.store
    assert store is not None
    logs = {
        str(number): broker.machine.disks[0].log for number, broker in sim.cluster.brokers.items()
    }
    return {
        "moves": mark["moves"],
        "what": mark["what"],
        "leader": record.leader,
        "isr": sorted(record.isr),
        "remote": sorted([one.base, one.end - 1] for one in store.log_of(0).all_segments()),
        "local": {broker: list(log.segments) for broker, log in logs.items()},
        "epochs": {
            broker: [list(pair) for pair in zip(log.epochs.epochs, log.epochs.starts, strict=True)]
            for broker, log in logs.items()
        },
    }
