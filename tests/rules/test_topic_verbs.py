"""DeleteRecords and reassignment as moves: what is refused, and with which sentence."""

from __future__ import annotations

import pytest

from engine.model.errors import InputError
from engine.replay.replay import Replay
from engine.scenarios.file import find
from engine.sim.run import Run


def after(code: str, profile: str, *moves: str) -> Replay:
    return Replay(Run(find(code), profile, 0, moves))


@pytest.mark.parametrize("profile", ["Z33", "K39"])
@pytest.mark.parametrize(
    ("moves", "move", "why"),
    [
        (("produce a", "settle"), "delete records 2", "OFFSET_OUT_OF_RANGE"),
        (("produce a",), "delete records 1", "OFFSET_OUT_OF_RANGE"),
        (("kill 1",), "delete records 0", "is down"),
        ((), "reassign cancel", "NO_REASSIGNMENT_IN_PROGRESS"),
        (("kill K",), "reassign 4 5 6", "no active controller"),
        ((), "reassign 4 4", "named twice"),
        ((), "reassign 9", "no broker"),
        ((), "delete topic 1", "Only records"),
    ],
)
def test_refusals(profile: str, moves: tuple[str, ...], move: str, why: str) -> None:
    replay = after("S45", profile, *moves)
    with pytest.raises(InputError) as refused:
        replay.branch(replay.total, move)
    assert why in refused.value.sentence


def test_a_reassignment_is_not_cancelled_uncleanly() -> None:
    """7.2: only broker 4 is left in sync, and it is one of those that would go."""
    moves = ["produce a", "settle", "reassign 4 5 6", "fetch 4", "fetch 4"]
    for broker in (2, 3, 1):
        moves += [f"kill {broker}", f"detect {broker}"]
    replay = after("S45", "K39", *moves)
    record = replay.final_view()["partitions"][0]["record"]
    assert (record["leader"], record["le"], record["pe"], record["isr"]) == (4, 1, 5, [4])
    with pytest.raises(InputError, match="INVALID_REPLICA_ASSIGNMENT"):
        replay.branch(replay.total, "reassign cancel")


def test_suggested_moves_can_be_typed() -> None:
    offered = {one["text"] for one in after("S45", "K39").possible(0)}
    assert {"delete records 0", "reassign 2 3 4"} <= offered
    moving = after("S45", "K39", "reassign 2 3 4")
    offered = {one["text"] for one in moving.possible(moving.total)}
    assert "reassign cancel" in offered
