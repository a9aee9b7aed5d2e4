"""Incidents that the model itself made: told are only states and broker events, as a metadata log
tells them, and the run that is rebuilt reaches every state again."""

from __future__ import annotations

import pytest

from app.incident import reconstruction
from app.incident.timeline import Timeline, TimelineState
from app.kafka.metadata import PartitionMetadata
from app.reading.events import CONTROLLER, Event
from app.reading.names import TopicIdentity
from engine.scenarios.file import find
from engine.sim.run import Run, play
from engine.sim.simulation import Simulation


def state_now(sim: Simulation) -> PartitionMetadata:
    record = sim.cluster.controller.records[0]
    return PartitionMetadata(
        record.leader,
        record.leader_epoch,
        record.partition_epoch,
        tuple(record.isr),
        tuple(record.replicas),
        tuple(record.elr),
        tuple(record.last_known_elr),
        record.recovering,
        tuple(record.adding),
        tuple(record.removing),
    )


def made_by_the_model(code: str, profile: str) -> Timeline:
    run = Run(find(code), profile)
    sim = run.simulation()
    states = [TimelineState(state_now(sim), 0.0, "offset 0")]
    events: list[tuple[float, Event]] = []
    known = {broker: (one.epoch, one.fenced) for broker, one in brokers(sim).items()}
    # The model's brokers start within the same millisecond: steps are counted instead.
    for number, _ in enumerate(play(sim, run.lines()), 1):
        time_ms = number * 10
        for broker, one in brokers(sim).items():
            before, known[broker] = known[broker], (one.epoch, one.fenced)
            kinds = ["registered"] if before[0] != one.epoch else []
            kinds += [] if before[1] == one.fenced else ["fenced" if one.fenced else "unfenced"]
            for kind in kinds:
                event = Event(time_ms, CONTROLLER, kind, "", {"broker": broker})
                events.append((float(time_ms), event))
        if states[-1].record != state_now(sim):
            states.append(TimelineState(state_now(sim), float(time_ms), f"offset {len(states)}"))
    configs = {name: str(value).lower() for name, value in run.scenario.configs.items()}
    return Timeline(TopicIdentity("t", 0), True, "", states, events, [1, 2, 3], {}, configs)


def brokers(sim: Simulation):
    return sim.cluster.controller.brokers


@pytest.mark.parametrize(
    ("code", "verbs"),
    [
        ("S45", {"reassign"}),
        ("S54", {"reassign"}),
        ("S06", {"kill", "restart"}),
        ("S17", {"kill"}),
        ("S34", {"kill", "restart"}),
        ("S14", {"kill", "restart", "elect"}),
    ],
)
def test_every_state_is_reached_again(code: str, verbs: set[str]) -> None:
    told = made_by_the_model(code, "K39")
    assert len(told.states) > 2
    rebuilt = reconstruction.rebuild(told, "K39")
    assert rebuilt.finding == ""
    assert rebuilt.followed == len(told.states)
    assert verbs <= {move.split()[0] for move in rebuilt.run.lines()}
