"""The search over the voters of a quorum: every crash, restart and cut within small budgets."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from engine.explore import key_exclusions
from engine.explore.budgets import NAMES, Budgets
from engine.explore.keys import Keys
from engine.explore.question import SearchQuestion, cut_at
from engine.explore.searching import REACHED, SearchOutcome, StateSearch, search
from engine.model.errors import InputError
from engine.model.quorum import Voter
from engine.scenarios.file import load_text
from engine.sim.run import Run, play_all
from engine.sim.simulation import Simulation
from tests import quorum_errors
from tests.conftest import sample
from tests.rules.playing import quorum_of
from tests.test_search import stay_alike

AT_ONCE = """
title: voters whose messages arrive at once
brokers: 2
quorum: [C1, C2, C3]
"""
BY_HAND = AT_ONCE + "network: {control_delay_ms: 1}\n"


def after(*lines: str, profile: str = "K39", text: str = AT_ONCE) -> Run:
    return cut_at(Run(load_text(text), profile, 0, ("advance 1s", *lines)))


def ask(run: Run, reach: str = "", **given: Any) -> SearchOutcome:
    return search(SearchQuestion(run, Budgets(**given), reach=reach))


def watch(run: Run, **given: Any) -> tuple[SearchOutcome, Counter[int]]:
    """Search; return also in how many states a controller is active, by the voters alive."""
    active: Counter[int] = Counter()

    def note(sim: Simulation, number: int, moves: int) -> None:
        alive = sum(v.alive for v in quorum_of(sim).voters.values())
        active[alive] += sim.cluster.controller.alive

    return StateSearch(SearchQuestion(run, Budgets(**given)), note=note).run(), active


# -- verdicts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("profile", "states"), [pytest.param("K39", 5_296, marks=pytest.mark.night), ("K41", 845)]
)
def test_a_quorum_of_three_loses_no_metadata_to_any_crash(profile: str, states: int) -> None:
    outcome = ask(after(profile=profile), controller=1, timers=2, elections=1)
    assert outcome.complete and outcome.found == {}
    assert outcome.progress.distinct == states
    assert {"kill", "restart", "timeout", "repeat", "elect"} == set(outcome.played)


@pytest.mark.night
def test_neither_a_cut_nor_a_crash_beside_it_loses_metadata() -> None:
    outcome = ask(after(), controller=1, cuts=1, timers=1)
    assert outcome.complete and outcome.found == {}
    assert outcome.played["cut"] and outcome.played["heal"]


@pytest.mark.parametrize("victim", ["C1", "C2", "C3"])
def test_after_any_single_crash_a_controller_is_active_without_a_restart(victim: str) -> None:
    outcome, active = watch(after(f"kill {victim}"), timers=1)
    assert outcome.complete and outcome.found == {}
    assert active[2] > 0


def test_two_crashes_of_three_cost_availability_and_no_metadata() -> None:
    run = after("kill C1", "kill C2")
    outcome, active = watch(run, timers=2)
    assert outcome.complete and outcome.found == {}
    assert active[1] == 0 < active[2]
    again = ask(run, reach="controller active", timers=2)
    assert any(move.startswith("restart") for move in again.found[REACHED].moves)


def test_a_wrong_rule_is_found_with_its_way(monkeypatch: pytest.MonkeyPatch) -> None:
    quorum_errors.voters_grant_every_vote(monkeypatch)
    outcome = search(SearchQuestion(after(text=BY_HAND), Budgets(timers=2), never=("INV-31",)))
    assert outcome.ended and outcome.found["INV-31"].moves[:2] == ("timeout C2", "timeout C3")
    assert "INV-31" in {name for name, _, _ in play_all(outcome.found["INV-31"].run).broken}


# -- keys -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", sample(["K39", "K41"], 2))
def test_states_of_voters_with_one_key_stay_alike(profile: str) -> None:
    run = after(profile=profile, text=BY_HAND)
    stay_alike(run, Budgets(controller=1, cuts=1, timers=1), 18)


def test_a_key_without_votes_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(key_exclusions.PLAIN, Voter, lambda v: (v.alive, v.epoch, v.state))
    with pytest.raises(AssertionError):
        stay_alike(after(text=BY_HAND), Budgets(controller=1, timers=2), 3)


FACTS = {
    "log": lambda v: v.log.append(1, [("NoOp",)]),
    "mark": lambda v: setattr(v, "hw", 1),
    "epoch": lambda v: setattr(v, "epoch", 9),
    "vote": lambda v: setattr(v, "voted_for", -4),
    "leader": lambda v: setattr(v, "leader", -4),
    "state": lambda v: setattr(v, "state", 0),
    "down": lambda v: setattr(v, "alive", False),
    "fetch": lambda v: setattr(v, "fetching", 0),
    "fetched": lambda v: setattr(v, "has_fetched", not v.has_fetched),
}


@pytest.mark.parametrize("what", FACTS)
def test_facts_about_a_voter_change_the_key(what: str) -> None:
    sim = SearchQuestion(after(), Budgets()).start()
    before = Keys().of(sim)
    assert Keys().of(sim.copy()) == before
    FACTS[what](list(quorum_of(sim).voters.values())[1])
    assert Keys().of(sim) != before


def test_times_of_a_voter_change_no_key() -> None:
    sim = SearchQuestion(after(), Budgets()).start()
    before = Keys().of(sim)
    for v in quorum_of(sim).voters.values():
        v.deadline += 7
        v.retries += 1
    assert Keys().of(sim) == before


# -- questions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in NAMES if name in ("crashes", "waits", "writes")])
def test_budgets_of_brokers_are_refused(name: str) -> None:
    with pytest.raises(InputError, match=f"leave out {name}; it knows controller, losses"):
        SearchQuestion(after(), Budgets(**{name: 1})).begun()


def test_a_way_that_was_found_is_a_run() -> None:
    found = ask(after("kill C1"), reach="controller active", timers=1).found[REACHED]
    sim = play_all(found.run)
    assert sim.cluster.controller.alive and sim.cluster.controller.epoch > 1
