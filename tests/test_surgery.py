"""One message held, delayed, sent again: what it models, and that nothing else changes."""

from __future__ import annotations

import pytest

from engine.replay.replay import Replay
from engine.scenarios.file import find
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all
from engine.sim.simulation import Simulation

SCENARIO = Scenario.from_dict(
    {
        "title": "What does one message change?",
        "brokers": [1, 2, 3],
        "fetching": "auto",
        "network": {"delay_ms": 20, "control_delay_ms": 5},
        "workload": {"producers": [{"rate_per_s": 5, "acks": "all", "retries": True}]},
    }
)


def run_of(*moves: str, scenario: Scenario = SCENARIO, profile: str = "K39") -> Run:
    return Run(scenario, profile, 3, moves)


def after(*moves: str, **how: str) -> Simulation:
    return play_all(run_of(*moves, **how))  # type: ignore[arg-type]


def test_a_message_between_voters_can_be_held_and_dropped() -> None:
    whole = Replay(Run(find("S83"), "K39"))
    assert "C2->C1" in [m["way"] for m in whole.steps(0, 1)[0]["view"]["messages"]]
    offered = {move["text"]: move["why"] for move in whole.possible(0)}
    held = Replay(whole.branch(0, "hold C2->C1; advance 100"))
    assert [m["way"] for m in held.steps(held.total - 1, 1)[0]["view"]["messages"] if m["held"]]
    for verb in ("hold", "drop", "deliver"):
        assert offered[f"{verb} C2->C1"] == ""
        assert Replay(whole.branch(0, f"{verb} C2->C1")).total > 0


def until(kind: str, *, profile: str = "K39") -> tuple[str, str]:
    """(the move that leads to it, its way): the first step with such a message under way."""
    whole = Replay(run_of("run 3s", profile=profile))
    for first in range(0, whole.total, 64):
        for step in whole.steps(first, 64):
            for m in step["view"]["messages"]:
                if m["kind"] == kind and not m["reply"]:
                    return f"run 3s !{step['n']}", m["way"]
    raise AssertionError(f"no {kind} in this run")


def values(sim: Simulation, broker: int = 1) -> list[str]:
    return [
        value
        for batch in sim.brokers[broker].machine.disks[0].log.batches
        for value in batch.values
    ]


def leader(sim: Simulation) -> int:
    return sim.cluster.controller.records[0].leader


def test_a_produce_that_is_sent_again_is_stored_twice_and_acknowledged_once() -> None:
    moves, way = until("Produce")
    sim = after(moves, f"duplicate {way}", "run 1s")
    stored = values(sim, leader(sim))
    twice = [value for value in set(stored) if stored.count(value) == 2]
    assert len(twice) == 1
    acked = [value for one in sim.ledger.acked[0] for value in one.values]
    assert acked.count(twice[0]) == 1


def test_an_idempotent_producer_is_stored_once() -> None:
    spec = SCENARIO.to_dict()
    spec["workload"]["producers"][0]["idempotent"] = True
    scenario = Scenario.from_dict(spec)
    whole = Replay(run_of("run 3s", scenario=scenario))
    step = next(
        step
        for step in whole.steps(0, 64)
        for m in step["view"]["messages"]
        if m["kind"] == "Produce" and not m["reply"]
    )
    way = next(m["way"] for m in step["view"]["messages"] if m["kind"] == "Produce")
    sim = after(f"run 3s !{step['n']}", f"duplicate {way}", "run 1s", scenario=scenario)
    stored = values(sim, leader(sim))
    assert stored and len(stored) == len(set(stored))


@pytest.mark.parametrize("profile", ["K39", "Z28", "Z0102"])
def test_a_fetch_that_is_sent_again_changes_no_log(profile: str) -> None:
    moves, way = until("Fetch", profile=profile)
    sim = after(moves, f"duplicate {way}", "run 2s", profile=profile)
    assert values(sim, 1) and not sim.broken
    assert values(sim, 1)[:3] == values(sim, 2)[:3] == values(sim, 3)[:3]


def test_nothing_overtakes_what_is_delayed() -> None:
    moves, way = until("Fetch")
    sim = after(moves, f"delay {way} 300ms")
    late = [m for m in sim.network.under_way() if m.due >= sim.now + 280]
    assert late
    (src, dst) = (late[0].src, late[0].dst)
    sim.run_until(sim.now + 100)
    order = [m for m in sim.network.under_way() if (m.src, m.dst) == (src, dst)]
    assert [m.due for m in order] == sorted(m.due for m in order)


def test_held_messages_wait_and_go_on_in_order() -> None:
    moves, way = until("Fetch")
    src, dst = way.split(" ")[0].split("->")
    held = after(moves, f"hold {src}->{dst}", "run 2s")
    assert [m for m in held.network.held if (m.src, m.dst) == (int(src), int(dst))]
    assert len(values(held, int(src))) < len(values(held, int(dst)))
    freed = after(moves, f"hold {src}->{dst}", "run 2s", f"release {src}->{dst}", "run 2s")
    assert not freed.network.held and freed.network.plain
    assert values(freed, int(src))[:8] == values(freed, int(dst))[:8]


def test_a_run_with_surgery_plays_the_same_step_by_step() -> None:
    moves, way = until("Produce")
    run = run_of(moves, f"duplicate {way}", f"hold {way}", "run 1s", f"release {way}", "run 1s")
    one, two = Replay(run), Replay(run)
    assert one.outcome == two.outcome
    forwards = [s["view"] for f in range(0, one.total, 64) for s in one.steps(f, 64)]
    backwards = [two.steps(n, 1)[0]["view"] for n in (one.total, one.total // 2, 1)]
    assert backwards == [forwards[n] for n in (one.total, one.total // 2, 1) if n < len(forwards)]
