"""Quizzes of runs that nobody wrote for teaching: failing seeds, and a cluster that was pasted."""

from __future__ import annotations

from engine.learn.drill import FEWEST, drilled
from engine.learn.probes import probe_at, probes_of
from engine.learn.telling import Teller
from engine.properties.recording import Recording
from engine.scenarios import paste, pasted
from engine.scenarios.file import find
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all

DESCRIBED = """Topic: orders TopicId: x PartitionCount: 2 ReplicationFactor: 3 \
Configs: min.insync.replicas=2
\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2,3
\tTopic: orders\tPartition: 1\tLeader: 2\tReplicas: 2,3,1\tIsr: 2,3
"""


def good(run: Run) -> bool:
    """Five questions of at least three kinds, each with two wrong rules."""
    found = probes_of(Recording(run))[:FEWEST]
    kinds = {one.kind for one in found}
    return len(found) == FEWEST and len(kinds) >= 3 and all(len(p.choices) >= 3 for p in found)


def test_three_failing_seeds_give_quizzes() -> None:
    runs = (Run(find("S74"), "Z0102", seed) for seed in range(200))
    lost = [run for run in runs if play_all(run).ledger.lost][:3]
    assert len(lost) == 3
    assert all(good(run) for run in lost)


def test_a_pasted_cluster_gets_an_accident_to_be_asked_about() -> None:
    data, _ = pasted.scenario_of(paste.read(DESCRIBED), "mine")
    assert data is not None
    scenario = Scenario.from_dict(data)
    bare = Run(scenario, scenario.profiles[0])
    run = drilled(bare)
    assert run != bare and good(run)
    assert drilled(run) == run


def test_whom_the_controller_misses_is_said() -> None:
    """In this run broker 2 is back already when its old session ends: nobody could guess whom."""
    recording = Recording(Run(find("S74"), "Z0102", 45))
    told = Teller(recording, "en").next(probe_at(recording, "leader@250.0.2"))
    assert told.startswith("The controller notices that the session of broker 2 has ended")
