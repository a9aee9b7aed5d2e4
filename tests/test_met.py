"""What share of what can happen runs have met: both sides against one that is counted by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.explore import met
from engine.explore.budgets import Budgets
from engine.explore.choices import Choices, advance
from engine.explore.keys import Keys
from engine.explore.question import SearchQuestion
from engine.explore.searching import Bounds
from engine.explore.situations import at_rest, situation
from engine.model.errors import InputError
from engine.scenarios import file
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play, play_all
from engine.sim.simulation import Simulation
from tests.app.test_cli import highwater

SMALL: dict[str, Any] = {
    "title": "Two brokers, one producer",
    "brokers": 2,
    "partitions": [[1, 2]],
    "fetching": "auto",
    "network": {"delay_ms": [2, 60], "control_delay_ms": [1, 60]},
    "configs": {"broker.session.timeout.ms": 3000, "zookeeper.session.timeout.ms": 3000},
    "workload": {"producers": [{"rate_per_s": 1, "acks": "all"}]},
    "duration_ms": 8_000,
    "script": "run",
}
CRASHES = {**SMALL, "faults": [{"kind": "kill", "mtbf_ms": 3_000, "mttr_ms": 400}]}
QUIET, STORM = Scenario.from_dict(SMALL), Scenario.from_dict(CRASHES)
ENOUGH = Bounds(20_000)


def never(_: met.Met) -> bool:
    return False


def state_of(scenario: Scenario, profile: str, *moves: str) -> Simulation:
    return play_all(Run(scenario, profile, 0, moves))


def by_hand(scenario: Scenario, profile: str, budgets: Budgets) -> set[bytes]:
    """Every situation, by a search that copies whole states and keeps nothing but their keys."""
    start = met.by_hand(scenario)
    sim, _ = SearchQuestion(Run(start, profile, 0, ()), budgets).begun()
    choices, keys = Choices(start), Keys()
    seen, found, waiting = {keys.of(sim, *budgets)}, {situation(sim)}, [(sim, budgets)]
    while waiting:
        one, left = waiting.pop()
        for move, pays in choices.of(one, left):
            twin = one.copy()
            try:
                advance(twin, move)
            except InputError:
                continue
            key = keys.of(twin, *left.less(pays))
            if key not in seen:
                seen.add(key)
                found.add(situation(twin))
                waiting.append((twin, left.less(pays)))
    return found


@pytest.mark.parametrize("profile", ["Z0102", "K39"])
def test_both_counts_are_those_of_a_plain_search_and_of_plain_runs(profile: str) -> None:
    budgets, seeds = Budgets(crashes=1, writes=1), range(40)
    reached = met.reach(STORM, profile, budgets, ENOUGH)
    card = met.card(met.meet(reached, STORM, profile, seeds, never), len(seeds))
    known = by_hand(STORM, profile, budgets)
    seen = set()
    for seed in seeds:
        run = Run(STORM, profile, seed)
        sim = run.simulation(told=True)
        seen.add(situation(sim))
        for _ in play(sim, run.lines()):
            if sim.ledger.sent > budgets.writes:
                break
            if at_rest(sim):
                seen.add(situation(sim))
    assert card["complete"] and card["failed"] == 0
    assert (card["situations"], card["met"]) == (len(known), len(known & seen))
    assert card["beyond"] == len(seen - known)
    assert 1 < card["met"] < card["situations"], "neither all nor nothing: the runs are few"
    assert card["share"] == card["met"] / card["situations"]
    assert sum(all for _, all, _ in card["depths"]) == card["situations"]
    assert sum(found for _, _, found in card["depths"]) == card["met"]
    assert card["curve"][-1] == [40, card["met"]]


@pytest.mark.parametrize("profile", ["Z0102", "Z011", "Z20", "K39", "K41"])
def test_what_runs_without_failures_meet_is_reached(profile: str) -> None:
    """By the clock nothing happens that a search cannot reach: the share is of the right whole."""
    reached = met.reach(QUIET, profile, Budgets(writes=2), ENOUGH)
    found = met.meet(reached, QUIET, profile, range(60), never)
    assert found.beyond == set()
    assert len(found.met) > len(reached.first) / 2


def test_runs_that_fail_no_more_than_the_search_meet_nothing_beyond_it() -> None:
    reached = met.reach(STORM, "K39", Budgets(crashes=1, writes=1), ENOUGH)
    once = [seed for seed in range(60) if crashes_until(STORM, "K39", seed, writes=1) <= 1]
    assert len(once) > 30
    assert met.meet(reached, STORM, "K39", once, never).beyond == set()


def crashes_until(scenario: Scenario, profile: str, seed: int, writes: int) -> int:
    """Count the processes that die before more than `writes` records were sent."""
    run = Run(scenario, profile, seed)
    sim = run.simulation(told=True)
    down, crashes = set[int](), 0
    for _ in play(sim, run.lines()):
        if sim.ledger.sent > writes:
            break
        now = {broker.id for broker in sim.cluster.brokers.values() if broker.process is None}
        crashes += len(now - down)
        down = now
    return crashes


def test_what_none_met_is_there_and_is_told_by_a_shortest_way() -> None:
    reached = met.reach(STORM, "K39", Budgets(crashes=1, writes=1), ENOUGH)
    found = met.meet(reached, STORM, "K39", range(5), never)
    card = met.card(found, 5)
    lengths = [len(one["moves"]) for one in card["unmet"]]
    assert len(lengths) == met.UNMET_SHOWN and lengths == sorted(lengths)
    for one in card["unmet"]:
        shown = situation(play_all(Run.from_text(one["run"])))
        assert shown in reached.first and shown not in found.met


def test_a_bound_leaves_no_share() -> None:
    reached = met.reach(STORM, "Z0102", Budgets(crashes=2, writes=2), Bounds(200))
    card = met.card(met.meet(reached, STORM, "Z0102", range(3), never), 3)
    assert not card["complete"] and card["share"] is None
    assert 1 < card["situations"] < card["states"]


def test_what_can_break_is_told_with_how_many_runs_broke_it() -> None:
    """Two crashes lose a record of 0.10.2: the search says how, whatever the runs did."""
    reached = met.reach(STORM, "Z0102", Budgets(crashes=2, writes=1), ENOUGH)
    found = met.meet(reached, STORM, "Z0102", range(2), never)
    card = met.card(found, 2)
    lost = next(one for one in card["broken"] if one["invariant"] == "I7")
    assert "I7" in {name for name, _, _ in play_all(Run.from_text(lost["run"])).broken}
    assert lost["runs"] == found.broke.get("I7", 0)


def test_runs_are_ended_with_what_they_have() -> None:
    reached = met.reach(STORM, "K39", Budgets(writes=1), ENOUGH)
    found = met.meet(reached, STORM, "K39", range(100), lambda so_far: so_far.runs == 7)
    card = met.card(found, 100)
    assert (card["runs"], card["asked_runs"], card["curve"][-1][0]) == (7, 100, 7)


def test_a_situation_knows_logs_marks_roles_and_nothing_of_names() -> None:
    plain = met.by_hand(QUIET)
    one, other = (state_of(plain, "K39", f"produce {name} acks=all") for name in ("x1", "y1"))
    assert situation(one) == situation(other), "a record has no name of its own"
    beginning = situation(state_of(plain, "K39"))
    ways = [
        ("produce x1 acks=all",),
        ("produce x1 acks=all", "deliver 2->1", "deliver 1->2"),
        ("produce x1 acks=all", "deliver 2->1", "deliver 1->2", "deliver 2->1"),
        ("kill 1",),
        ("kill 2",),
        ("kill 1", "detect 1"),
        ("pause 2",),
        ("kill K",),
    ]
    found = [beginning, *(situation(state_of(plain, "K39", *way)) for way in ways)]
    assert len(set(found)) == len(found)
    assert situation(state_of(plain, "K39", "deliver 2->1")) == beginning, "nothing is held anew"


def test_budgets_follow_the_plan() -> None:
    assert met.usual(file.find("S74")) == Budgets(crashes=1, cuts=1, pauses=1, writes=1)
    slow = Scenario.from_dict({**SMALL, "faults": [{"kind": "slow", "mtbf_ms": 900}]})
    assert met.usual(slow) == Budgets(writes=1) and met.not_searched(slow) == ("slow",)


def test_the_command_tells_a_share_only_where_everything_was_reached(tmp_path: Any) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(json.dumps({**CRASHES, "profiles": ["K39"]}))
    whole = highwater("explore", str(path), "--runs", "20", "--json")
    told = json.loads(whole.stdout)
    assert whole.exit_code == 0 and told["complete"] and told["runs"] == 20
    assert 0 < told["share"] < 1
    text = highwater("explore", str(path), "--runs", "20")
    assert f"20 runs met {told['met']} of {told['situations']} situations" in text.stdout
    assert "Ctrl+C" in text.stderr, "what it will take is said before"
    part = highwater("explore", str(path), "--runs", "20", "--max-states", "40")
    assert part.exit_code == 3 and "Not exhausted: at least" in part.stdout
    assert "%" not in part.stdout
    refused = highwater("explore", str(path), "--runs", "20", "--never", "I7")
    assert refused.exit_code == 2 and "do not go together" in refused.stderr
