"""CP-ISR-ZKPROP: ISR changes of the ZooKeeper era are announced in batches."""

from __future__ import annotations

import pytest

from engine.dataplane import isr_propagation
from engine.model.broker import Machine, Process
from engine.model.configs import build
from engine.model.effects import Effects
from engine.model.profiles import get_profile
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, run_to_end

THREE = Scenario.from_dict(
    {
        "title": "x",
        "brokers": 3,
        "partitions": [[1, 2, 3], [1, 3, 2]],
        "configs": {"replica.lag.time.max.ms": 900},
    }
)


def announced(profile: str, changes: list[int]) -> list[int]:
    """When a broker that started at 0 writes a notification znode."""
    row = get_profile(profile)
    broker, out = Process(Machine(1, "1", "", row, build(row), False)), Effects()
    found = []
    for now in range(0, 200_000, 500):
        out.now = now
        if now and now % isr_propagation.PERIOD_MS == 0 and isr_propagation.on_tick(broker, out):
            found.append(now)
        if now in changes:
            isr_propagation.note_change(broker, 0, out)
    return found


@pytest.mark.parametrize(
    ("changes", "when"),
    [
        ([1_000], [7_500]),
        ([2_500], [10_000]),  # at 7.5 s it is 5 s old, not more
        (list(range(0, 70_000, 2_000)), [62_500, 75_000]),
        ([], []),
    ],
)
def test_when_changes_are_announced(changes: list[int], when: list[int]) -> None:
    assert announced("Z24", changes) == when


@pytest.mark.parametrize("profile", ["Z08", "Z27", "K39", "Z24-isr_propagation"])
def test_releases_that_announce_nothing(profile: str) -> None:
    assert announced(profile, [1_000]) == []


def test_one_znode_for_all_partitions_and_what_brokers_know() -> None:
    sim = Run(THREE, "Z24").simulation(cues=True)
    told: list[tuple[int, tuple[int, ...]]] = []
    sim.listener = lambda kind, node, what: told.extend(
        (sim.now, m.tps) for m in sim.out.sends if type(m).__name__ == "IsrChange"
    )
    moves = "produce a p=0; produce b p=1; fetch 2; at 1s; fetch 2; tick 1; at 7400ms"
    run_to_end(sim, tuple(move.strip() for move in moves.split(";")))
    assert sim.cluster.controller.records[0].isr == (1, 2), "the znode has it"
    assert sim.brokers[3].running.known_isr[0] == (1, 2, 3), "clients have not heard"
    run_to_end(sim, ("at 8s",))
    assert told == [(7_500, (0, 1))]
    assert [broker.running.known_isr[0] for broker in sim.brokers.values()] == [(1, 2)] * 3
    assert sim.broken == []


def test_a_leader_that_dies_announces_nothing_and_nothing_is_lost_by_it() -> None:
    sim = Run(THREE, "Z24").simulation()
    run_to_end(sim, ("produce a", "fetch 2", "at 1s", "fetch 2", "tick 1", "kill 1", "run 30s"))
    assert sim.brokers[1].process is None, "what it had to announce is gone with it"
    assert sim.cluster.controller.records[0].leader == 2
    assert sim.broken == []
