"""Two runs in lock-step: pairs that go on together, and the step at which they part."""

from __future__ import annotations

import itertools

import pytest

from engine.export.comparing import compare, playable
from engine.replay.replay import Replay
from engine.scenarios.file import find, library
from engine.sim.run import Run
from tests.conftest import sample

SCRIPTED = [one for one in library().values() if not one.workload.producers]
PAIRED = sample(SCRIPTED, 64)


def replay(code: str, profile: str, *moves: str) -> Replay:
    return Replay(Run(find(code), profile, 0, moves or None))


def test_kip_101_parts_at_the_change_of_leader_and_nowhere_before() -> None:
    """R20: the old follower cuts to its own mark; the new one asks for the epoch's end.

    KAFKA-7482, which 1.1 brought, would part them earlier.
    """
    a, b = replay("R20", "Z0102"), replay("R20", "Z011-leaving_leader_not_told")
    found = compare(a, b)
    first = next(part for part in found["parts"] if part["what"])
    step_a, step_b = found["pairs"][first["at"]]
    told = a.steps(step_a, 1)[0]
    assert {cue["rule"] for cue in told["cues"]} >= {"T-0"}
    assert {name: (x, y) for name, x, y in first["what"]}["b3:leo"] == (1, 2)
    assert b.steps(step_b, 1)[0]["move"] == told["move"]


def test_a_run_does_not_differ_from_itself() -> None:
    a, b = replay("S20", "K39"), replay("S20", "K39")
    found = compare(a, b)
    assert not any(part["what"] for part in found["parts"])
    assert found["pairs"] == [[n, n] for n in range(a.total + 1)]


@pytest.mark.parametrize("scenario", PAIRED, ids=lambda one: one.code)
def test_pairs_lead_through_both_runs(scenario) -> None:  # type: ignore[no-untyped-def]
    profiles = (scenario.profiles * 2)[:2] if len(scenario.profiles) > 1 else ("K39", "Z28")
    a, b = (Replay(playable(Run(scenario, name))[0]) for name in profiles)
    found = compare(a, b)
    pairs = found["pairs"]
    assert pairs[0] == [0, 0] and (found["cut"] or pairs[-1] == [a.total, b.total])
    for before, after in itertools.pairwise(pairs):
        assert before != after
        assert all(0 <= y - x <= 1 for x, y in zip(before, after, strict=True))
    assert [part["at"] for part in found["parts"]] == sorted({p["at"] for p in found["parts"]})


def test_branches_are_compared_too() -> None:
    lines = Run(find("S20"), "K39").lines()
    shorter = replay("S20", "K39", *lines[:4], "kill B")
    found = compare(replay("S20", "K39"), shorter)
    assert found["pairs"][-1][1] == shorter.total
    assert any(name == "b2:alive" for part in found["parts"] for name, _, _ in part["what"])


def test_a_move_that_cannot_be_played_ends_the_run_there() -> None:
    """An election of the ELR's era asked of an older controller."""
    run = Run(find("S01"), "K39", 0, ("produce a", "settle", "kill 2", "kill 2"))
    shorter, why = playable(run)
    assert shorter.lines() == ("produce a", "settle", "kill 2")
    assert "is down" in why
    assert playable(shorter) == (shorter, "")
