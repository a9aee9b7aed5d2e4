"""Futures of a present: the past stays as it was, chance goes on otherwise."""

from __future__ import annotations

import pytest

from engine.model.errors import InputError
from engine.replay.replay import Replay
from engine.scenarios.file import find
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all, run_to_end
from engine.study.batch import run_chunk
from engine.study.futures import Present, between, closer, longest, places_most, presents, turn

SCENARIO = find("S61")
RUN = Run(SCENARIO, "Z0102", 3)


def breaks(run: Run) -> bool:
    return any(name == "I7" for name, _, _ in play_all(run).broken)


def test_the_first_look_spreads_from_the_beginning_to_the_violation() -> None:
    found = presents(RUN, "I7")
    steps = [present.step for present in found]
    broken = next(step for name, step, _ in Replay(RUN).end.broken if name == "I7")
    assert len(steps) == 8 < broken and steps == sorted(set(steps))
    assert (steps[0], steps[-1]) == (1, broken - 1)


@pytest.mark.parametrize("last", [1, 2, 7, 8, 9, 60, 480, 2_900])
@pytest.mark.parametrize("point", [1.0, 0.7, 0.4, 0.0])
def test_looks_end_at_neighbours_for_no_more_than_was_said(last: int, point: float) -> None:
    """A run that is lost from some step on: each look asks whether a step is before it."""
    lost = max(2, round(last * point))
    looked = {1 + (last - 1) * i // max(1, min(last, 8) - 1) for i in range(min(last, 8))}
    for _ in range(3):
        held, first = turn((step, float(step >= lost)) for step in looked)
        if held is None or first is None:
            break
        looked |= between(held, first)
    assert len(looked) <= places_most(last)
    held, first = turn((step, float(step >= lost)) for step in looked)
    assert (held, first) == ((last, None) if lost > last else (lost - 1, lost))


def test_the_cost_of_futures_is_known_from_the_length_of_the_run() -> None:
    table = longest()
    assert len(table) == 31 and table == sorted(table) and table[0] == 1
    for places, last in enumerate(table, start=1):
        assert places_most(last) <= places < places_most(last + 1)


def test_a_closer_look_lies_between_the_last_that_holds_and_the_next() -> None:
    first, second, *_ = (present.step for present in presents(RUN, "I7"))
    shares = [(first, 0.1), (second, 0.9), (second + 5, 1.0)]
    found = [present.step for present in closer(RUN, reversed(shares))]
    assert found == sorted(set(found)) and first < found[0] and found[-1] < second
    assert closer(RUN, [(first, 0.1), (first + 1, 0.9)]) == [], "they are neighbours"
    assert closer(RUN, [(first, 0.9)]) == closer(RUN, [(first, 0.1)]) == []


def test_a_future_shares_the_past_and_the_end_of_the_run() -> None:
    present = presents(RUN, "I7")[4]
    future = present.future(RUN, 3)
    there, here = RUN.simulation(), future.simulation()
    run_to_end(there, present.past)
    run_to_end(here, present.past)
    assert here.events == there.events == present.step
    assert here.now == there.now
    assert play_all(future).now == play_all(RUN).now == SCENARIO.duration_ms


def test_futures_differ_and_each_is_a_run_like_any_other() -> None:
    present = presents(RUN, "I7")[2]
    outcomes = {Replay(present.future(RUN, number)).outcome for number in range(4)}
    assert len(outcomes) == 4
    again = present.future(RUN, 2)
    assert Replay(again).outcome == Replay(Run.from_text(again.text())).outcome
    assert Present.from_dict(present.to_dict()) == present


def test_the_last_present_has_no_way_out() -> None:
    first, *_, last = presents(RUN, "I7")
    assert all(breaks(last.future(RUN, number)) for number in range(6))
    assert not all(breaks(first.future(RUN, number)) for number in range(12))


def test_strikes_that_were_awaited_do_not_fall_in_a_new_future() -> None:
    sim = RUN.simulation()
    run_to_end(sim, ("run !20",))
    before = {id(event[4]): event[0] for event in sim.kernel.pending if event[4] in sim.plans}
    sim.draw_anew(5)
    after = {id(event[4]): event[0] for event in sim.kernel.pending if event[4] in sim.plans}
    assert before and before != after
    assert len(set(after)) == len(after), "each plan awaits one strike at most"


def test_a_new_future_draws_other_elections() -> None:
    """The delays of S83 are fixed: only the timeouts of its voters are drawn."""

    def leads(number: int) -> tuple[int, int]:
        lines = ("advance 1s", f"future {number}", "kill C1", "advance 5s")
        k = play_all(Run(find("S83"), "K41", 0, lines)).cluster.controller
        return k.voter, k.epoch

    assert len({leads(number) for number in range(1, 9)}) > 1
    assert leads(3) == leads(3)


def test_futures_of_a_run_with_importance_factors_all_count_the_same() -> None:
    data = SCENARIO.to_dict()
    for fault in data["faults"]:
        fault.update(importance=2)
    run = Run(Scenario.from_dict(data), "Z0102", 1)
    half = Present(20, ("run !20",), (f"at {run.scenario.duration_ms}ms",))
    rows = run_chunk(
        {"scenario": {"run": run.text(), "present": half.to_dict()}, "profile": "Z0102",
         "cell": 0, "first_seed": 0, "count": 3}
    )  # fmt: skip
    assert {row["verdict"] for row in rows} <= {"holds", "violates"}
    assert {row["log_weight"] for row in rows} == {0}


def test_a_run_that_holds_has_no_point_of_no_return() -> None:
    with pytest.raises(InputError, match="does not break I7"):
        presents(Run(SCENARIO, "K39", 1), "I7")
