"""Properties over random moves: the engine never falls, and keeps what it promises."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from engine.catalogue.promises import is_clean, promised
from engine.model.profiles import PROFILES
from engine.moves import moves
from engine.replay.replay import Replay
from engine.sim.run import Run, play_all
from engine.sim.simulation import Simulation
from engine.study.wander import WORLDS, advance, allowed, everything
from engine.view.stage_overlays import dress
from engine.view.view import view
from engine.why.suggesting import suggestions
from tests.conftest import THOROUGH, sample
from tests.random_play import again

MOVES = 22


def fixed(examples: int) -> settings:
    """The same examples on every machine and every day, however slow it is; all of them with
    HIGHWATER_THOROUGH=1, else a sixth."""
    return settings(
        derandomize=True,
        deadline=None,
        database=None,
        max_examples=examples if THOROUGH else examples // 6,
        print_blob=False,
        suppress_health_check=list(HealthCheck),
    )


def anything(line: str) -> bool:
    return True


def wander(
    data: st.DataObject,
    profile: str,
    world: str,
    wanted: Callable[[str], bool] = anything,
    offers: Callable[[Simulation], Iterator[str]] = suggestions,
) -> tuple[Simulation, list[str]]:
    """Plays moves that Hypothesis draws from what is possible; under a failure stands the line."""
    sim = Run(WORLDS[world], profile).simulation()
    lines: list[str] = []
    try:
        for _ in range(data.draw(st.integers(3, MOVES), label="moves")):
            offered = allowed(sim, wanted, offers)
            verb = data.draw(st.sampled_from(sorted(offered)))
            line = data.draw(st.sampled_from(offered[verb]))
            lines.append(line)
            advance(sim, line)
    finally:
        note(again(world, profile, lines))
    return sim, lines


def sane(sim: Simulation) -> None:
    """What is so of any state, whatever was done."""
    for broker in sim.brokers.values():
        for tp, replica in broker.replicas.items():
            log = replica.log
            assert replica.log is broker.machine.disks[tp].log
            assert [batch.base for batch in log.batches] == log.bases
            assert all(
                one.end <= other.base
                for one, other in zip(log.batches, log.batches[1:], strict=False)
            )
            assert log.flushed <= log.leo or not log.batches
        for thread in broker.process.fetchers.values() if broker.process else ():
            assert thread.leader != broker.id and thread.partitions
    for _, kind, node, seq, _ in sim.kernel.pending:
        assert 0 <= kind <= 3 and seq <= sim.kernel.seq
        assert node in sim.brokers or node == -1 or node in sim.clients


@pytest.mark.parametrize("profile", sample(list(PROFILES), 5))
@fixed(examples=30)
@given(data=st.data())
def test_the_engine_never_falls(profile: str, data: st.DataObject) -> None:
    world = data.draw(st.sampled_from(sorted(WORLDS)), label="world")
    sim, lines = wander(data, profile, world)
    sane(sim)
    json.dumps(view(sim))
    run = Run(WORLDS[world], profile, 0, tuple(lines))
    assert Run.from_text(run.text()) == run
    again_ = play_all(Run.from_text(run.text()))
    assert view(again_) == view(sim)
    assert again_.broken == sim.broken


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("profile", ["K39", "K41"])
@fixed(examples=60)
@given(data=st.data())
def test_new_kafka_keeps_its_promises_while_disks_and_elections_are_clean(
    profile: str, world: str, data: st.DataObject
) -> None:
    sim, _ = wander(data, profile, world, is_clean)
    assert sim.broken == []


@pytest.mark.parametrize("profile", PROFILES if THOROUGH else list(PROFILES)[1::5])
@fixed(examples=25)
@given(data=st.data())
def test_every_kafka_keeps_what_it_promises(profile: str, data: st.DataObject) -> None:
    """Each release by its own flags, whatever is done; more where disks and elections are clean."""
    world = data.draw(st.sampled_from(sorted(WORLDS)), label="world")
    wanted = is_clean if data.draw(st.booleans(), label="clean") else anything
    sim, lines = wander(data, profile, world, wanted, everything)
    kept = promised(Run(WORLDS[world], profile, 0, tuple(lines)), sim)
    assert [entry for entry in sim.broken if entry[0] in kept] == []


ALWAYS = {"I1", "I2", "I3", "I15", "INV-1", "INV-3", "INV-4", "INV-5", "INV-10", "INV-18", "INV-20"}
"""Structure: holds in new Kafka whatever disks, operators and clocks do."""


@pytest.mark.parametrize("profile", ["K39", "K41"])
@fixed(examples=120)
@given(data=st.data())
def test_new_kafka_keeps_its_structure_whatever_happens(profile: str, data: st.DataObject) -> None:
    world = data.draw(st.sampled_from(sorted(WORLDS)), label="world")
    sim, _ = wander(data, profile, world)
    assert [entry for entry in sim.broken if entry[0] in ALWAYS] == []


def without_ghosts(shown: dict[str, Any]) -> dict[str, Any]:
    """A view without what was cut earlier: that is told of steps, not of a state."""
    for part in shown["partitions"]:
        for replica in part["replicas"].values():
            replica["cut"] = []
    graves = shown.get("graves", [])
    return {**shown, "graves": [grave[:3] for grave in graves]}  # brokers that truncated: by steps


@fixed(examples=25)
@given(data=st.data())
def test_offered_moves_are_possible(data: st.DataObject) -> None:
    """Replay.possible at any step: the enabled can be played there, the others say why not."""
    sim, lines = wander(data, "K39", "manual")
    replay = Replay(Run(WORLDS["manual"], "K39", 0, tuple(lines)))
    offered = replay.possible(replay.total)
    assert [one["text"] for one in offered] == list(suggestions(sim))
    for one in offered:
        assert one["enabled"] == (not one["why"])
    enabled = [one["text"] for one in offered if one["enabled"]]
    line = data.draw(st.sampled_from(enabled))
    branch = replay.branch(replay.total, line)
    move = moves.parse(line, sim.scenario.brokers).text
    assert branch.lines() == moves.joined((*replay.lines, move))
    assert Replay(branch).total >= replay.total


@fixed(examples=25)
@given(data=st.data())
def test_a_run_cut_anywhere_stands_where_the_whole_one_stood(data: st.DataObject) -> None:
    profile = data.draw(st.sampled_from(sorted(PROFILES)), label="profile")
    _, lines = wander(data, profile, "manual")
    replay = Replay(Run(WORLDS["manual"], profile, 0, tuple(lines)))
    step = data.draw(st.integers(0, replay.total), label="step")
    sim = play_all(Run(WORLDS["manual"], profile, 0, replay.cut(step)))
    assert sim.events == step
    there = replay.final_view() if step == replay.total else replay.steps(step, 1)[0]["view"]
    assert without_ghosts(dress(sim, view(sim))) == without_ghosts(there)
