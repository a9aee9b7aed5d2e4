"""Quizzes of runs that were not written for teaching: failing seeds, and a pasted cluster."""

from __future__ import annotations

import pytest

from app.cluster.scenario import scenario_of
from app.reading import paste
from engine.learn.drill import FEWEST, drilled
from engine.learn.probes import probe_at, probes_of
from engine.learn.render import Teller
from engine.properties.recording import MomentRecording
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
    found = probes_of(MomentRecording(run))[:FEWEST]
    kinds = {one.kind for one in found}
    return len(found) == FEWEST and len(kinds) >= 3 and all(len(p.choices) >= 3 for p in found)


@pytest.mark.night
def test_three_failing_seeds_give_quizzes() -> None:
    runs = (Run(find("S74"), "Z0102", seed) for seed in range(200))
    lost = [run for run in runs if play_all(run).ledger.lost][:3]
    assert len(lost) == 3
    assert all(good(run) for run in lost)


def test_no_question_needs_unknowable_facts() -> None:
    """Faults that chance brings later decide no answer, an old Kafka has no epochs to remember, and
    news says whose news it is: the controller may have elected again meanwhile."""
    recording = MomentRecording(Run(find("S74"), "Z0102", 27))
    found = probes_of(recording)
    assert not {one.kind for one in found} & {"survive", "epochs"}
    cut = next(one for one in found if one.text == "truncate@299.0.3")
    told = Teller(recording, "en").next(cut)
    assert "broker 1 leads in leader epoch 3, the ISR is {1, 3}" in told
    now = recording.turns[recording.at(cut.step)].now.parts[0].record
    assert (now.leader, now.leader_epoch) == (3, 4)
    lost = next(one for one in found if one.kind == "since")
    assert "Kafka 0.11 and newer" in Teller(recording, "en").answer(
        lost, lost.choices[lost.right].answer
    )
    storm = MomentRecording(Run(find("S61"), "K39", 7))
    for one in probes_of(storm):
        if one.kind == "ack":
            answer = one.choices[one.right].answer
            now = storm.turns[storm.at(one.step)].now.parts[0].record
            assert not isinstance(answer, tuple) or set(answer[1:]) <= set(now.isr), one.text


def test_the_question_what_survives_tells_what_is_to_come() -> None:
    recording = MomentRecording(Run(find("S29"), "K39"))
    probe = next(one for one in probes_of(recording) if one.kind == "survive")
    assert "Still to come: detect 1; heal; restart 1." in Teller(recording, "en").question(probe)


def test_a_pasted_cluster_gets_an_accident_to_be_asked_about() -> None:
    data, _ = scenario_of(paste.read(DESCRIBED), "mine")
    assert data is not None
    scenario = Scenario.from_dict(data)
    bare = Run(scenario, scenario.profiles[0])
    run = drilled(bare)
    assert run != bare and good(run)
    assert drilled(run) == run


def test_the_expired_broker_is_named() -> None:
    """In this run broker 2 is back already when its old session ends: it could not be guessed."""
    recording = MomentRecording(Run(find("S74"), "Z0102", 45))
    told = Teller(recording, "en").next(probe_at(recording, "leader@250.0.2"))
    assert told.startswith("The controller notices that the session of broker 2 has ended")


def test_everything_that_decides_is_in_the_question() -> None:
    """Of which partition, what the leader's answer says, whom the ISR has, unclean or not."""
    data, _ = scenario_of(paste.read(DESCRIBED), "mine")
    assert data is not None
    scenario = Scenario.from_dict(data)
    several = MomentRecording(drilled(Run(scenario, scenario.profiles[0])))
    for probe in probes_of(several):
        if probe.kind in ("hw", "isr", "leader", "truncate", "ack"):
            asked = Teller(several, "en").question(probe)
            part = several.turns[several.at(probe.step)].now.parts[probe.tp]
            assert part.name in ("orders-0", "orders-1") and asked.startswith(f"{part.name}: ")
    torn = MomentRecording(Run(find("S62"), "Z20", 18))
    teller = Teller(torn, "en")
    beyond = probe_at(torn, "truncate@144.0.2")
    assert teller.next(beyond) == "Broker 1 answers broker 2: my log ends at offset 8."
    assert "lengths are compared" in teller.reason(beyond)
    parted = probe_at(torn, "truncate@426.0.1")
    assert teller.next(parted).endswith("here, leader epoch 0 ends at offset 8.")
    dead = probe_at(torn, "leader@180.0.1")
    assert "the ISR is {1, 2}, unclean election is off" in teller.question(dead)
    nobody = next(one for one in dead.choices if one.answer == -1)
    assert nobody.wrong[0] == "MC-ELECT-KNOWS"


def test_a_session_from_before_a_restart_decides_no_reply() -> None:
    """Broker 1 leads and its old session ends 28 steps later: to the producer that is chance."""
    torn = MomentRecording(Run(find("S62"), "Z20", 18))
    assert "ack@152.0.1" not in {one.text for one in probes_of(torn)}
