"""Time travel: from a checkpoint a run goes on just as it would have from its beginning."""

from __future__ import annotations

import json
import pickle
import random
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise

import pytest

from engine.model.errors import InputError
from engine.replay import checkpoints as checkpoints_module
from engine.replay.checkpoints import EVENTS_BETWEEN, Checkpoints, Growth
from engine.replay.cursor import played
from engine.replay.replay import STEPS_MOST, KeptSteps, Replay
from engine.scenarios.file import find, library
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, run_to_end
from engine.study.digest import digest
from tests.conftest import sample


@pytest.mark.parametrize(("code", "profile"), [("S61", "Z0102"), ("S62", "K39"), ("S63", "K39")])
def test_a_step_is_the_same_from_every_checkpoint(code: str, profile: str) -> None:
    run = Run(find(code), profile, seed=5)
    taken = Replay(run)
    if code == "S62":  # as it comes from another process
        told = taken.facts(), taken.golden(), taken.final_view(), taken.outcome
        taken = pickle.loads(pickle.dumps(taken))
        assert (taken.facts(), taken.golden(), taken.final_view(), taken.outcome) == told
    assert len(taken._checkpoints) > 2
    straight = Replay(run)
    straight._checkpoints = Checkpoints()
    steps = [
        step for first in range(0, straight.total + 1, 64) for step in straight.steps(first, 64)
    ]
    assert [step["n"] for step in steps] == list(range(straight.total + 1))
    for checkpoint in taken._checkpoints:
        for first in (checkpoint.events, checkpoint.events + 1, checkpoint.events + 40):
            taken._cursor = None
            taken._cache = KeptSteps()
            for step in taken.steps(first, 3):
                assert json.dumps(step) == json.dumps(steps[step["n"]])


def test_a_copy_shares_nothing_that_changes() -> None:
    run = Run(find("S61"), "Z0102", seed=1)
    sim = run.simulation()
    twin = sim.copy()
    for clock in (sim, twin):
        clock.run_until(20_000)
    assert sim.events == twin.events
    before = [broker.machine.disks[0].log.leo for broker in twin.brokers.values()]
    sim.run_until(40_000)
    assert before == [broker.machine.disks[0].log.leo for broker in twin.brokers.values()]


def test_a_run_cut_inside_a_move_is_where_the_whole_run_was() -> None:
    whole = Replay(Run(find("S20"), "Z0102"))
    for step in range(1, whole.total, 7):
        run = Run(whole.run.scenario, "Z0102", 0, whole.cut(step))
        part = Replay(run)
        assert part.total == step
        assert part.final_view() == whole.steps(step, 1)[0]["view"]


BY_HAND = "\n".join(f"produce m{number}\nadvance 30ms\nsettle" for number in range(60))


@pytest.mark.parametrize("code", ["S61", "S20", "S53", "by hand"])
def test_views_are_the_same_from_every_checkpoint(
    code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints_module, "EVENTS_BETWEEN", 7)
    lines = tuple(BY_HAND.splitlines()) if code == "by hand" else None
    run = Run(find("S20" if lines else code), "Z0102", 3, lines)
    taken = Replay(run, most=900)
    assert len(taken._checkpoints) >= 2
    shown = [json.dumps(one) for at in range(0, taken.total, 64) for one in taken.steps(at, 64)]
    for place in sample(taken._checkpoints, 4):
        for step in {place.events, place.events + 1, place.events + 5, taken.total}:
            if step > taken.total:
                continue
            taken._cursor = None
            taken._cache = KeptSteps()
            assert json.dumps(taken.steps(step, 1)[0]) == shown[step]
            found, told = taken._at(step), [json.dumps(taken.dashboard(step), default=str)]
            straight = played(run, taken.cut(step), step)
            assert digest(found) == digest(straight), step
            assert (found.out.cues, found.clock_until) == (None, -1)
            taken._there = (step, straight)
            assert told == [json.dumps(taken.dashboard(step), default=str)]


QUEUES = tuple(
    line
    for first in range(0, 240, 40)
    for line in (
        "produce " + " ".join(f"r{number}" for number in range(first, first + 40)),
        *(["settle"] if first % 80 else ["advance 3s"]),
    )
)
"""Queues that grow and are read from their beginnings, some entries of which stay."""


@pytest.mark.parametrize(
    ("code", "profile", "lines"),
    [
        ("S20", "K39", QUEUES),
        ("S20", "Z0102", (*QUEUES, "kill 1", "advance 20s", "produce x", "restart 1", "settle")),
        ("S61", "K39", ("run 20s",)),
        ("R20", "", None),
    ],
)
def test_seeks_in_any_order_show_what_the_run_shows(
    code: str, profile: str, lines: tuple[str, ...] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoints_module, "EVENTS_BETWEEN", 16)
    monkeypatch.setattr(checkpoints_module, "SHORT", 3)
    scenario = find(code)
    run = Run(scenario, profile or scenario.profiles[0], 2, lines)
    here = Replay(run, most=1_500)
    there = pickle.loads(pickle.dumps(here))
    straight = Replay(run, most=1_500)
    straight._checkpoints = Checkpoints()
    shown = [json.dumps(step) for step in straight.each(0, straight.total + 1)]
    chance = random.Random(code)
    for step in [chance.randrange(here.total + 1) for _ in range(60)]:
        for taken in (here, there):
            taken._cache = KeptSteps()
            assert json.dumps(taken.steps(step, 1)[0]) == shown[step], f"step {step} of {code}"


def test_a_growth_returns_what_was_there() -> None:
    chance = random.Random(1)
    growth, entries, kept = Growth(2), dict[int, object](), []
    for number in range(300):
        for _ in range(chance.randrange(6)):
            entries[len(growth.columns[0]) + chance.randrange(9)] = object()
        gone = [key for key in entries if chance.random() < (0.02 if number % 50 else 0.9)]
        for key in gone:
            del entries[key]
        if number % 9 == 0 and entries:
            entries[next(iter(entries))] = object()
        if not growth.follow(([*entries], [*entries.values()])):
            growth = Growth(2)
            assert growth.follow(([*entries], [*entries.values()]))
        kept.append((growth, growth.spans, entries.copy()))
    for growth, spans, found in kept:
        assert [*growth.taken(spans).items()] == [*found.items()]
    assert len({id(growth) for growth, _, _ in kept}) < 100


@pytest.mark.night
def test_a_move_that_settles_has_checkpoints_between_its_rounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(checkpoints_module, "EVENTS_BETWEEN", 7)
    names = [f"m{number}" for number in range(200)]
    lines = tuple(f"produce {' '.join(names[at : at + 50])}" for at in range(0, 200, 50))
    scenario = Scenario.from_dict(
        {"title": "x", "brokers": 3, "configs": {"fetch_max_records": 20}}
    )
    taken = Replay(Run(scenario, "K39", 0, (*lines, "settle", "settle")))
    places = [one for one in taken._checkpoints if one.settling >= 0]
    assert len(places) >= 2
    shown = [json.dumps(one) for at in range(0, taken.total, 64) for one in taken.steps(at, 64)]
    for place in pickle.loads(pickle.dumps(places)):
        taken._checkpoints._all = [place]
        for step in range(place.events + 1, taken.total + 1, 5):
            taken._cursor = None
            taken._cache = KeptSteps()
            assert json.dumps(taken.steps(step, 1)[0]) == shown[step]
            straight = played(taken.run, taken.cut(step), step)
            assert digest(taken._at(step)) == digest(straight), step


LONG = Run(find("S61"), "K39", 1, ("run 30m",))
FEW = 24
"""Checkpoints of a run, so that they lie far apart."""


def test_a_seek_plays_a_bounded_share_of_a_long_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoints_module, "MOST_CHECKPOINTS", FEW)
    taken = Replay(LONG, most=20_000)
    places = [0, *(place.events for place in taken._checkpoints), taken.total]
    assert not taken.whole and len(taken._checkpoints) < FEW
    share = taken.total / (FEW / 2 - 1)
    assert max(b - a for a, b in pairwise(places)) < share


def test_far_steps_wait_for_a_turn_and_near_ones_do_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(checkpoints_module, "MOST_CHECKPOINTS", FEW)
    turns = 0

    def turn() -> AbstractContextManager[None]:
        nonlocal turns
        turns += 1
        return nullcontext()

    taken = Replay(LONG, most=20_000, turn=turn)
    between = taken._checkpoints[3].events
    for step, waits in ((1, 0), (EVENTS_BETWEEN, 0), (between, 1), (between + 1, 0)):
        turns = 0
        taken.steps(step, 1)
        assert turns == waits, step
    for step, waits in ((3, 0), (between + EVENTS_BETWEEN + 1, 1), (between + 2, 0)):
        turns = 0
        taken.possible(step)
        assert turns == waits, step


# -- runs that are too long ------------------------------------------------------------------------


def test_a_long_run_is_shown_as_far_as_can_be_looked_at() -> None:
    whole = Replay(LONG, most=20_000)
    part = Replay(LONG, most=1_000)
    assert part.total < 1_010 and not part.facts()["whole"]
    assert part.verdict()["expected"] is None
    assert f"verdict up to step {part.total}\n" in part.golden()
    assert json.dumps(part.steps(990, 11)) == json.dumps(whole.steps(990, 11))
    last = part.steps(part.total, 1)[0]["view"]
    assert part.final_view()["brokers"] == last["brokers"]
    assert digest(part._at(part.total)) == digest(whole._at(part.total))


def test_an_unfinished_replay_shows_the_same_steps() -> None:
    whole = Replay(LONG, most=20_000)
    pauses = iter(range(400))
    part = Replay(LONG, enough=lambda: next(pauses, None) is None)
    assert part.unfinished and 400 <= part.total < 1_000
    assert not whole.unfinished
    facts = part.facts()
    assert (facts["unfinished"], facts["whole"], facts["verdict"]["expected"]) == (
        True,
        False,
        None,
    )
    assert json.dumps(part.steps(380, 15)) == json.dumps(whole.steps(380, 15))
    step = part.total - 1
    assert part.cut(step) == whole.cut(step)
    assert part.possible(step) == whole.possible(step)
    assert part.branch(step, "kill 1") == whole.branch(step, "kill 1")


def test_no_move_is_made_where_it_could_not_be_shown() -> None:
    part = Replay(LONG, most=500)
    assert part.branch(400, "kill 1").lines()[0] == "run 30m !400"
    with pytest.raises(InputError, match=r"first 500 steps .* run it at scale"):
        part.branch(part.total, "kill 1")


def test_a_run_of_exactly_the_limit_is_whole() -> None:
    run = Run(find("S20"), "Z0102")
    usual = Replay(run)
    same = Replay(run, most=usual.total)
    assert same.whole and same.outcome == usual.outcome and same.facts() == usual.facts()
    assert not Replay(run, most=usual.total - 1).whole


@pytest.mark.night
def test_the_library_can_be_looked_at_whole() -> None:
    longest = 0
    for scenario in library().values():
        for profile in scenario.profiles:
            sim = Run(scenario, profile).simulation()
            sim.rush = True
            sim.budget = STEPS_MOST
            run_to_end(sim, Run(scenario, profile).lines())
            longest = max(longest, sim.events)
    assert longest < STEPS_MOST / 2


def test_a_move_may_shout_and_may_name_the_leader() -> None:
    replay = Replay(Run(find("S60"), "K39", 0, ("produce m1 to 1 acks=all", "settle", "elect 2")))
    assert replay.branch(0, "KILL leader").lines()[-1] == "kill 1"
    assert replay.branch(replay.total, "Kill leader; detect 2").lines()[-2:] == (
        "kill 2",
        "detect 2",
    )
