"""A stage whose brokers are the model itself: recordings of it, without a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from app.lab.trouble import LabError
from engine.model.state import DOWN
from engine.recordings.player import RecordingPlayer
from engine.sim.run import Run
from engine.sim.simulation import Simulation
from tests.lab.test_playing import made_of

Undo = Callable[[], AbstractContextManager[None]]


@dataclass
class ModelBrokers:
    """Plays runs by the model; `undo` takes an error out of it for so long.

    `played` are the moves of each run; those whose number is in `failing` raise LabError, and
    `chance` numbers are of runs whose recording has a fact that no second play repeats.
    """

    undo: Undo = nullcontext
    played: list[tuple[str, ...]] = field(default_factory=list)
    failing: set[int] = field(default_factory=set)
    chance: set[int] = field(default_factory=set)

    def play(self, run: Run) -> dict[str, Any]:
        self.played.append(run.lines())
        if len(self.played) in self.failing:
            raise LabError("Broker 2 died by itself.")
        with self.undo():
            made = made_of(run, list(_steps(run)))
        made["scenario"] = run.scenario.title
        made["configs"] = dict(run.scenario.configs)
        if len(self.played) in self.chance:
            made["steps"][-1]["facts"]["P"]["pe"] += 1
        return made


def _steps(run: Run) -> Iterator[dict[str, Any]]:
    sim = Simulation(run.scenario, run.profile)
    sim.rush = True
    player = RecordingPlayer.__new__(RecordingPlayer)
    player.sim = sim
    yield {"move": "initial", "facts": _facts(sim)}
    for line in run.lines():
        player._play(line)
        player._play("checkpoint")
        yield {"move": line, "facts": _facts(sim)}


def _facts(sim: Simulation) -> dict[str, Any]:
    record = sim.cluster.controller.records[0]
    state = {
        "leader": record.leader,
        "le": record.leader_epoch,
        "pe": record.partition_epoch,
        "isr": sorted(record.isr),
        "elr": list(record.elr),
        "lastKnown": list(record.last_known_elr),
        "recovering": record.recovering,
    }
    brokers: dict[str, Any] = {}
    for broker in sim.brokers.values():
        disk = broker.machine.disks.get(0)
        if disk is None:
            brokers[str(broker.id)] = None
            continue
        log = disk.log
        kept = [
            f"{value}@{batch.epoch}"
            for batch in log.batches
            for offset, value in enumerate(batch.values, batch.base)
            if offset >= log.log_start
        ]
        brokers[str(broker.id)] = {
            "leo": log.leo,
            "start": log.log_start,
            "epochs": [list(entry) for entry in log.epochs.entries()],
            "log": " ".join(kept),
            "hw": log.hw if broker.replicas.get(0) is not None else disk.hw_checkpoint,
            "down": broker.status == DOWN,
        }
    return {"P": state, "brokers": brokers}
