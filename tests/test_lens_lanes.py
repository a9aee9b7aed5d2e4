"""Threads over time: which rows, which blocks, and empty turns that are folded."""

from __future__ import annotations

from typing import Any

import pytest

from engine.lens.lanes import BEGINS, ENDS, TURN, WHOLE, LaneAct, fold, lanes, turn
from engine.lens.source import release_of, source
from engine.lens.stacks import stack
from engine.model.profiles import get_profile
from engine.replay.replay import Replay
from engine.scenarios.file import find, library
from engine.sim.run import Run


def act(step: int, empty: str = "") -> LaneAct:
    return LaneAct(step, "F-5", ("A.b",), 0, empty)


def drawn(*acts: LaneAct) -> list[tuple[list[int], int]]:
    return [([one.step for one in block.acts], block.turns) for block in fold(acts)]


def test_empty_turns_that_follow_one_another_are_one_block() -> None:
    asked = [act(1, BEGINS), act(2, ENDS), act(3, BEGINS), act(5, ENDS)]
    assert drawn(*asked) == [([1, 2, 3, 5], 2)]
    assert drawn(*asked, act(7), act(8, WHOLE), act(9, WHOLE)) == [
        ([1, 2, 3, 5], 2),
        ([7], 0),
        ([8, 9], 2),
    ]


def test_a_turn_that_brought_something_is_no_empty_one() -> None:
    assert drawn(act(1, BEGINS), act(2), act(3, BEGINS)) == [([1], 0), ([2], 0), ([3], 0)]


def test_a_turn_whose_beginning_lies_before_the_window_is_one() -> None:
    assert drawn(act(1, ENDS), act(2, BEGINS), act(3, ENDS)) == [([1, 2, 3], 2)]
    assert drawn(act(1, BEGINS), act(2, BEGINS), act(3, ENDS)) == [([1], 0), ([2, 3], 1)]
    assert drawn() == []


def window(code: str, profile: str, first: int) -> dict[str, Any]:
    run = Run(find(code), profile)
    steps = Replay(run).steps(first - 1, 41)
    return lanes(steps[1:], release_of(get_profile(profile)), steps[0])


def blocks(told: dict[str, Any], node: Any, thread: str) -> list[tuple[list[int], int, str]]:
    (row,) = [one for one in told["rows"] if (one["node"], one["thread"]) == (node, thread)]
    return [(one["steps"], one["turns"], one["name"].rpartition(".")[2]) for one in row["blocks"]]


def test_a_fetcher_asks_cuts_and_fetches() -> None:
    told = window("S23", "Z011", 60)
    assert blocks(told, 1, "ReplicaFetcherThread-0-2") == [
        ([83], 0, "fetchEpochsFromLeader"),
        ([85], 0, "truncateTo"),
        ([86], 0, "buildFetchRequest"),
        ([88], 0, "append"),
        ([88], 0, "highWatermark_="),
        ([89, 92, 95, 98], 2, "buildFetchRequest"),
    ]
    assert blocks(told, 2, "kafka-scheduler-<n>") == [([64, 65], 2, "maybeShrinkIsr")]
    # Brokers of 1.1 write the ISR to ZooKeeper themselves: the row is theirs, not the controller's.
    assert ([93], 0, "updateLeaderAndIsr") in blocks(told, 2, "kafka-request-handler-<n>")
    assert [one["thread"] for one in told["rows"] if one["node"] == "K"] == [
        "controller-event-thread"
    ]


def test_a_chain_stands_in_the_turn_of_its_loop() -> None:
    told = window("S23", "K39", 60)
    for chain in told["chains"]:
        names = [name for name, _ in chain["frames"]]
        assert chain["acting"] in [name for name, on in chain["frames"] if on]
        assert all(source().has("3.9.1", name) for name in names), names
    asking = (
        "ShutdownableThread.run",
        "AbstractFetcherThread.doWork",
        "AbstractFetcherThread.maybeFetch",
        "RemoteLeaderEndPoint.buildFetch",
    )
    shown = turn(asking, "3.9.1")
    assert [name.rpartition(".")[2] + ("" if on else "?") for name, on in shown] == [
        "run", "doWork", "maybeTruncate?", "truncateToEpochEndOffsets?", "fetchEpochEndOffsets?",
        "maybeFetch", "buildFetch", "processFetchRequest?", "fetch?", "processPartitionData?",
    ]  # fmt: skip


ASKS = [
    ("T-1", "1.1.1", "fetchEpochsFromLeader"),
    ("T-2", "2.5.1", "fetchEpochEndOffsets"),
]


@pytest.mark.parametrize(("cue", "release", "asks"), ASKS)
def test_a_follower_asks_before_it_cuts(cue: str, release: str, asks: str) -> None:
    one = stack(cue, release, "zk")
    shown = turn(tuple(frame.name for frame in one.frames), release)
    names = [name.rpartition(".")[2] for name, _ in shown]
    assert names.index(asks) < names.index("truncateTo") < names.index("processFetchRequest")


@pytest.mark.parametrize("release", source().releases)
def test_every_release_has_a_turn(release: str) -> None:
    whole = [name for name, _ in turn((), release)]
    assert len(whole) == len(set(whole)) >= 4
    assert all(source().has(release, name) for name in whole)
    assert len(whole) <= len(TURN)


def test_no_fetcher_without_a_follower() -> None:
    """A leader that deletes records moves its log's start by the rule of followers."""
    found = 0
    for one in library().values():
        if one.code not in ("S01", "S22", "S24", "S38"):
            continue
        replay = Replay(Run(one, "K39"))
        steps = replay.steps(0, 64)
        for row in lanes(steps[1:], "3.9.1", steps[0])["rows"]:
            if row["thread"].startswith("ReplicaFetcherThread"):
                assert isinstance(row["node"], int) and row["node"] > 0, one.code
                assert not row["thread"].endswith(f"-{row['node']}"), one.code
                found += 1
    assert found > 2
