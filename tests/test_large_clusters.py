"""Clusters with more partitions than a view lists: some are shown, the others counted."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.model.errors import InputError
from engine.replay.replay import Replay
from engine.scenarios.parts import MOST_REPLICAS
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all
from engine.sim.simulation import Simulation
from engine.view.shown_partitions import ALL_SHOWN, SOME_SHOWN
from engine.view.view import view

WRITTEN = 700
KILLED = 5


def cluster(partitions: int, brokers: int = 30, replicas: int = 3, **more: Any) -> Scenario:
    lists = [[1 + (at + n) % brokers for n in range(replicas)] for at in range(partitions)]
    data = {"title": "x", "brokers": brokers, "fetching": "auto", "partitions": lists}
    return Scenario.from_dict(data | more)


@pytest.fixture(scope="module")
def large() -> Replay:
    scenario = cluster(1_000)
    return Replay(Run(scenario, "K39", 0, (f"produce m p={WRITTEN}", f"kill {KILLED}", "run 12s")))


def numbers(shown: Any) -> list[int]:
    return [part["p"] for part in shown["partitions"]]


def test_a_view_lists_what_is_written_to_and_what_is_in_trouble(large: Replay) -> None:
    before = large.steps(0, 1)[0]["view"]
    assert numbers(before) == list(range(SOME_SHOWN))
    assert before["partitionsMore"] == {"n": 1_000 - SOME_SHOWN, "leaderless": 0, "under": 0}
    end = large.final_view()
    struck = [at for at in range(1_000) if KILLED in large.end.scenario.partitions[at]]
    assert numbers(end) == sorted([*struck[: SOME_SHOWN - 1], WRITTEN])
    rest = {"n": 1_000 - SOME_SHOWN, "leaderless": 0, "under": len(struck) - SOME_SHOWN + 1}
    assert end["partitionsMore"] == rest
    assert all(len(part["record"]["isr"]) == 2 for part in end["partitions"] if part["p"] < WRITTEN)


def test_partitions_without_a_leader_are_counted() -> None:
    sim = play_all(Run(cluster(1_000, replicas=1), "K39", 0, ("kill 1", "run 12s")))
    gone = sum(record.leader < 0 for record in sim.cluster.controller.records.values())
    shown = view(sim)
    listed = sum(part["record"]["leader"] < 0 for part in shown["partitions"])
    assert 0 < listed < gone == len(range(0, 1_000, 30))
    assert shown["partitionsMore"]["leaderless"] == gone - listed


def test_the_bytes_of_a_view_do_not_grow_with_the_partitions(large: Replay) -> None:
    sizes = [len(json.dumps(step["view"])) for step in large.each(large.total - 40, large.total)]
    assert max(sizes) < 100_000
    assert len(large.golden()) < 3_000_000


def test_all_partitions_of_a_smaller_cluster_are_shown() -> None:
    for count, listed in ((ALL_SHOWN, ALL_SHOWN), (ALL_SHOWN + 1, SOME_SHOWN)):
        shown = view(Simulation(cluster(count, brokers=3), "K39"))
        assert len(shown["partitions"]) == listed
        assert ("partitionsMore" in shown) == (listed < count)


def test_replicas_are_bounded_in_all() -> None:
    full = cluster(MOST_REPLICAS // 5, brokers=6, replicas=5)
    replay = Replay(Run(full, "K39", 0, ("advance 1ms",)))
    for move in ("create_topic more 1,2", "reassign 1 2 3 4 6"):
        with pytest.raises(InputError, match=f"at most {MOST_REPLICAS} replicas; there is room"):
            replay.branch(replay.total, move)
    replay.branch(replay.total, "reassign 1 2 3 4")
