"""The search from a step: what it finds is a run, what it takes for one state is one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import click.testing
import pytest

from app.command import cli
from engine.dataplane import truncation
from engine.explore import card, key_exclusions
from engine.explore.budgets import NAMES, Budgets
from engine.explore.choices import Choice, Choices, advance
from engine.explore.danger import FAR, NEAR, SAFE, Distance, distances
from engine.explore.goals import goal, invariants
from engine.explore.key_exclusions import LEFT_OUT, SPOKEN_FOR
from engine.explore.keys import Key, Keys
from engine.explore.question import SearchQuestion, cut_at
from engine.explore.searching import REACHED, Bounds, Graph, SearchOutcome, StateSearch, search
from engine.model.copying import fields
from engine.model.errors import InputError
from engine.model.log import Log
from engine.model.state import Disk
from engine.scenarios import file
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all
from engine.sim.simulation import Simulation
from tests.conftest import ROOT, sample
from tests.recorded import cut_after

pytestmark = pytest.mark.gate


def ask(run: Run, bounds: Bounds | None = None, **more: Any) -> SearchOutcome:
    budgets = Budgets(**{name: more.pop(name) for name in NAMES if name in more})
    return search(SearchQuestion(run, budgets, **more), bounds)


def test_a_search_begins_where_messages_of_clients_are_under_way() -> None:
    run = Run(file.find("S30"), "K39")
    assert any("P1->" in str(choice.move.text) for choice in choices_of(cut_at(run, 3)))
    assert ask(cut_at(run, 3), Bounds(50), crashes=1).progress.distinct >= 50


def choices_of(run: Run) -> list[Choice]:
    sim, _ = SearchQuestion(run, Budgets()).begun()
    return Choices(run.scenario).of(sim, Budgets())


# -- verdicts -------------------------------------------------------------------------------------


def test_a_search_notices_and_heals_a_broker_without_zookeeper() -> None:
    run = Run(file.find("S20"), "Z28", moves=("cut A zk",))
    offered = {choice.move.text for choice in choices_of(run)}
    assert {"detect A", "heal A zk"} <= offered


def test_two_crashes_lose_an_acknowledged_record_of_0_10_2() -> None:
    outcome = ask(cut_after("S20", "Z0102", 6), crashes=2)
    assert outcome.complete
    for name in ("I6", "I7", "I10"):
        assert outcome.found[name].moves == ("kill A", "restart A", "kill B", "restart B")
        assert outcome.found[name].left == Budgets()
    assert set(outcome.found) == {"I6", "I7", "I10"}


def test_one_write_and_two_crashes_lose_it_from_earlier_on() -> None:
    outcome = ask(cut_after("S20", "Z0102", 3), crashes=2, writes=1, never=("I7",))
    assert outcome.ended and not outcome.complete
    found = outcome.found["I7"].moves
    assert len(found) == 5
    assert sorted(move.split()[0] for move in found) == [
        *("kill", "kill", "produce", "restart", "restart")
    ]


@pytest.mark.parametrize("profile", ["Z011", "Z20", "Z21", "K39"])
def test_later_releases_lose_nothing_to_two_crashes(profile: str) -> None:
    outcome = ask(cut_after("S20", profile, 6), crashes=2)
    assert outcome.complete
    assert not outcome.found
    assert outcome.with_acked


def test_with_one_crash_nothing_is_lost_and_with_two_it_is() -> None:
    run = cut_after("S20", "Z0102", 6)
    assert not ask(run, crashes=1).found
    assert ask(run, crashes=2).found


FOUND = (
    (("S20", "Z0102", 6), {"crashes": 2}, {}),
    (("S20", "Z0102", 3), {"power": 1, "crashes": 1, "writes": 1}, {}),
    (("S20", "K39", 6), {"power": 1, "crashes": 1, "cuts": 1}, {"reach": "nobody leads"}),
    (("S20", "K39", 3), {"writes": 1}, {"reach": "A HW 4"}),
    (("S20", "Z20", 3), {"losses": 1, "cuts": 1}, {"reach": "two leaders"}),
)


@pytest.mark.parametrize(("start", "spent", "more"), FOUND)
def test_search_results_are_runs_that_end_the_same(
    start: tuple[str, str, int], spent: dict[str, int], more: dict[str, Any]
) -> None:
    outcome = ask(cut_after(*start), **spent, **more)
    assert outcome.found
    for name, found in outcome.found.items():
        assert found.run.lines()[-len(found.moves) :] == found.moves
        again = play_all(Run.from_text(found.run.text()))
        if name == REACHED:
            assert goal(more["reach"], found.run.scenario.brokers)(again)
            continue
        assert name in {broken for broken, _, _ in again.broken}
        shorter = Run(found.run.scenario, found.run.profile, 0, found.run.lines()[:-1])
        assert name not in {broken for broken, _, _ in play_all(shorter).broken}


def test_a_search_begins_at_any_step_and_takes_the_wires_over() -> None:
    scenario = file.find("S20")
    run = Run(scenario, "Z0102")
    for step in (0, 7, 33):
        cut = cut_at(run, step)
        assert play_all(cut).events == step
    assert search(SearchQuestion(cut_at(run, 33), Budgets(crashes=2), ("I7",))).found["I7"]
    auto = Scenario.from_dict({"title": "x", "brokers": 2, "fetching": "auto"})
    cut = cut_at(Run(auto, "K39", 0, ("produce m0", "advance 3ms")))
    assert cut.lines()[-1] == "fetching manual"
    assert ask(cut, crashes=1).complete


def test_a_question_gives_the_same_card_again() -> None:
    cards = [card.card(ask(cut_after("S20", "Z20", 6), crashes=2)) for _ in range(2)]
    assert json.dumps(cards[0]) == json.dumps(cards[1])
    assert cards[0]["digest"]
    fewer = card.card(ask(cut_after("S20", "Z20", 6), crashes=1))
    assert fewer["digest"] != cards[0]["digest"]


@pytest.mark.night
@pytest.mark.parametrize("asked", [("S20", "--at", "33"), ("--ladder", "kip101")])
def test_another_process_gives_the_same_answer(asked: tuple[str, ...]) -> None:
    """Whatever the seed of Python's hashes is."""
    size = ["--replicas", "2", "--log", "2", "--records", "2", "--epochs", "2"]
    more = ["--crashes", "2", "--profile", "Z0102"] if asked[0] == "S20" else size
    told = []
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-m", "app", "explore", *asked, *more, "--json"],
            capture_output=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
        )
        answer = json.loads(done.stdout)
        del answer["cpu_s"]
        told.append(answer)
    assert told[0] == told[1]


def test_a_bound_leaves_nothing_said_to_hold() -> None:
    outcome = ask(cut_after("S20", "K39", 3), Bounds(states=50), crashes=2)
    assert not outcome.complete and not outcome.ended
    verdicts = card.card(outcome)["invariants"].values()
    assert {verdict["holds"] for verdict in verdicts} == {None}
    assert "not everything was seen" in "\n".join(card.lines(outcome))


def test_a_verdict_without_anything_to_compare_is_said_to_be() -> None:
    outcome = ask(cut_after("S20", "K39", 0), crashes=1, pauses=0, losses=1)
    told = "\n".join(card.lines(outcome))
    assert "I7 had nothing to compare" in told
    assert card.card(outcome)["states_with_acknowledged"] == 0


# -- keys -----------------------------------------------------------------------------------------


def merged(
    run: Run, budgets: Budgets, most: int
) -> list[tuple[Simulation, Simulation, Budgets, tuple[str, ...], tuple[str, ...]]]:
    """Pairs of states that a search takes for one, reached in two ways."""
    choices, make = Choices(run.scenario), Keys()
    sim = SearchQuestion(run, budgets).start()
    sim.rush = True
    seen: dict[Key, tuple[Simulation, tuple[str, ...]]] = {make.of(sim, *budgets): (sim, ())}
    frontier = [(sim, budgets, ())]
    pairs = []
    while frontier and len(seen) < most:
        following: list[Any] = []
        for state, left, way in frontier:
            for move, pays in choices.of(state, left):
                twin = state.copy()
                advance(twin, move)
                rest, path = left.less(pays), (*way, move.text)
                key = make.of(twin, *rest)
                if key in seen:
                    other, before = seen[key]
                    pairs.append((other, twin, rest, before, path))
                else:
                    seen[key] = twin, path
                    following.append((twin, rest, path))
        frontier = following
    return pairs


MERGED = [
    ("Z0102", 6, Budgets(crashes=2)),
    ("K39", 3, Budgets(crashes=2, writes=1)),
    ("K39", 3, Budgets(crashes=1, losses=1, cuts=1)),
    ("Z011", 3, Budgets(power=1, timers=1, writes=1)),
    ("K41", 3, Budgets(power=1, timers=1, controller=1)),
    ("Z28", 3, Budgets(crashes=1, pauses=1, controller=1)),
]


@pytest.mark.parametrize(("profile", "moves", "budgets"), MERGED)
def test_a_cached_key_equals_a_fresh_one(profile: str, moves: int, budgets: Budgets) -> None:
    """What was said of a broker holds until a search works on it, and no longer."""
    run = cut_after("S20", profile, moves)
    choices, kept = Choices(run.scenario), Keys()
    frontier = [(SearchQuestion(run, budgets).start(), budgets)]
    looked = 0
    while frontier and looked < 200:
        following = []
        for sim, left in frontier[:20]:
            for move, pays in choices.of(sim, left):
                branch = sim.branch()
                advance(branch, move)
                assert kept.of(branch) == Keys().of(branch.copy()), move.text
                following.append((branch, left.less(pays)))
                looked += 1
        frontier = following
    assert looked > 100


@pytest.mark.parametrize(("profile", "moves", "budgets"), sample(MERGED, 3))
def test_states_with_one_key_stay_alike(profile: str, moves: int, budgets: Budgets) -> None:
    """Whatever is done next to either of them can be done to both, and leads to one key again."""
    stay_alike(cut_after("S20", profile, moves), budgets, 6)


def stay_alike(run: Run, budgets: Budgets, nth: int = 1) -> None:
    choices, make = Choices(run.scenario), Keys()
    pairs = merged(run, budgets, 500)
    assert len(pairs) > 100
    for one, other, left, before, path in sample(pairs, nth):
        here = choices.of(one, left)
        assert here == choices.of(other, left), (before, path)
        for choice in here:
            twins = [one.copy(), other.copy()]
            for twin in twins:
                advance(twin, choice.move)
            assert make.of(twins[0]) == make.of(twins[1]), (before, path, choice.move.text)


def test_each_field_is_in_the_key_or_left_out_for_a_reason() -> None:
    for kind, without in LEFT_OUT.items():
        every, spoken = set(fields(kind)), SPOKEN_FOR[kind]
        assert set(without) <= every, kind
        assert set(spoken) <= every, kind
        assert not set(without) & set(spoken), kind
        assert all(without.values())


CHANGES = {
    "status": lambda sim: setattr(sim.brokers[1].running, "status", "paused"),
    "broker epoch": lambda sim: setattr(sim.brokers[1].running, "broker_epoch", 77),
    "hw": lambda sim: setattr(sim.brokers[1].machine.disks[0].log, "hw", 1),
    "checkpoint": lambda sim: setattr(sim.brokers[1].machine.disks[0], "hw_checkpoint", 1),
    "flushed": lambda sim: setattr(sim.brokers[1].machine.disks[0].log, "flushed", 1),
    "batches": lambda sim: sim.brokers[1].machine.disks[0].log.batches.pop(),
    "epochs": lambda sim: sim.brokers[1].machine.disks[0].log.epochs.assign(9, 9),
    "isr": lambda sim: setattr(sim.brokers[2].replicas[0], "isr", (2,)),
    "leo of a follower": lambda sim: setattr(sim.brokers[2].replicas[0].remote[1], "leo", 1),
    "caught up": lambda sim: setattr(
        sim.brokers[2].replicas[0].remote[1], "last_caught_up_ms", -(10**9)
    ),
    "outstanding": lambda sim: setattr(sim.brokers[1].running.fetchers[2, 0], "outstanding", 0),
    "offset": lambda sim: setattr(sim.brokers[1].running.fetchers[2, 0].partitions[0], "offset", 1),
    "peer": lambda sim: setattr(sim.brokers[1].running.peers[2], "fenced", True),
    "registration": lambda sim: setattr(sim.cluster.controller.brokers[1], "fenced", True),
    "record": lambda sim: sim.cluster.controller.records.pop(0),
    "waiting": lambda sim: sim.brokers[2].running.parked.pop(),
    "link": lambda sim: sim.network.cut(1, -1),
    "committed": lambda sim: sim.ledger.committed[0].popitem(),
    "acked": lambda sim: sim.ledger.acked[0].pop(),
    "told": lambda sim: sim.checker.told.add("I7"),
    "controller": lambda sim: setattr(sim.cluster.controller, "alive", False),
}


@pytest.mark.parametrize("what", CHANGES)
def test_relevant_facts_change_the_key(what: str) -> None:
    sim = SearchQuestion(cut_after("S20", "K39", 6), Budgets()).start()
    make = Keys()
    before = make.of(sim)
    assert make.of(sim.copy()) == before
    CHANGES[what](sim)
    assert make.of(sim) != before


def test_time_and_numbers_of_requests_change_no_key() -> None:
    sim = SearchQuestion(cut_after("S20", "K39", 6), Budgets()).start()
    before = Keys().of(sim)
    sim.kernel.now += 5
    sim.brokers[1].machine.corr += 10
    sim.ledger.sent += 3
    assert Keys().of(sim) == before


def test_a_key_that_forgets_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without checkpointed marks, states are merged that a restart tells apart."""
    start = cut_after("S20", "Z011", 2), Budgets(crashes=1, timers=1)
    stay_alike(*start)
    monkeypatch.setitem(key_exclusions.PLAIN, Disk, lambda disk: ())
    with pytest.raises(AssertionError, match="checkpoint"):
        stay_alike(*start)


# -- questions ------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", "record", "A HW", "diverged A Z", "two", "x" * 500])
def test_goals_that_cannot_be_meant_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        goal(text, file.find("S20").brokers)


def test_unknown_invariants_and_clusters_are_refused() -> None:
    with pytest.raises(InputError, match="There is no invariant I99"):
        invariants("I7, I99")
    with pytest.raises(InputError, match="crashes must be"):
        SearchQuestion(cut_after("S20", "K39", 0), Budgets(crashes=99))
    sessions = Scenario.from_dict({"title": "x", "brokers": 2, "configs": {"fetch_sessions": True}})
    with pytest.raises(InputError, match="fetch sessions"):
        ask(cut_at(Run(sessions, "K39", 0, ())))
    with pytest.raises(InputError, match="I7 is broken before"):
        ask(cut_at(Run(file.find("R20"), "Z0102")), never=("I7",))
    with pytest.raises(InputError, match="no step 9999"):
        cut_at(Run(file.find("S20"), "K39"), 9_999)


def highwater(*arguments: str) -> click.testing.Result:
    return click.testing.CliRunner().invoke(cli.main, ["explore", "S20", *arguments])


def test_the_command_tells_a_way_that_run_plays() -> None:
    told = highwater("--profile", "Z0102", "--at", "33", "--crashes", "2", "--never", "I7")
    assert told.exit_code == 0
    assert (
        "I7 can break (AckedAllDurable), 4 moves: kill A; restart A; kill B; restart B"
        in told.stdout
    )
    asked = ("--profile", "K39", "--at", "33", "--crashes", "2", "--json")
    answer = json.loads(highwater(*asked).stdout)
    assert answer["complete"]
    assert all(verdict["holds"] for verdict in answer["invariants"].values())
    assert answer["question"]["budgets"]["crashes"] == 2
    assert highwater(*asked, "--max-states", "20").exit_code == 3
    assert highwater("--at", "soon").exit_code == 2
    assert highwater("--crashes", "99").exit_code == 2


# -- what it is for -------------------------------------------------------------------------------


def three_brokers(profile: str) -> Run:
    data = {"title": "x", "brokers": 3, "configs": {"min.insync.replicas": 2}}
    return cut_at(Run(Scenario.from_dict(data), profile, 0, ()))


@pytest.mark.night
@pytest.mark.parametrize("profile", sample(["K41", "K39", "K35"], 3))
def test_a_safe_release_survives_one_crash_and_one_write(profile: str) -> None:
    outcome = ask(three_brokers(profile), crashes=1, writes=1)
    assert outcome.complete
    assert not outcome.found
    assert outcome.with_acked
    assert not card.card(outcome)["never_possible"]


def test_a_planted_wrong_rule_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """T-1 that cuts one record too many loses it as soon as the leader is gone."""
    run, budgets = cut_after("S20", "Z011", 6), {"crashes": 2, "controller": 1}
    assert not ask(run, never=("I7",), **budgets).found

    def one_too_many(log: Log, end: int, hw: int) -> tuple[int, bool]:
        return max(0, min(end, log.leo) - 1), True

    monkeypatch.setattr(truncation, "target_by_offset", one_too_many)
    found = ask(run, never=("I7",), **budgets).found["I7"]
    assert len(found.moves) <= 7
    assert "I7" in {name for name, _, _ in play_all(found.run).broken}


MUSEUM = (
    ("M02", "K39-diverging_skips_follower_update", 4, {"crashes": 1, "writes": 2}, 10),
    ("M03", "Z20-epoch_entry_at_election", 9, {"crashes": 1}, 15),
    ("M04", "Z20-refetch_on_missed_epoch", 12, {}, 16),
    ("M09", "K39-isr_broker_epoch", 12, {"crashes": 1}, 14),
    ("M10", "K39+truncation=HW", 9, {"crashes": 1}, 13),
    ("M11", "Z21-fetch_epoch_check", 12, {}, 15),
    ("M12", "K39+truncation=KIP101", 7, {}, 9),
    ("S09B", "Z08", 5, {"crashes": 1}, 10),
    ("S29", "K39", 10, {"power": 1}, 16),
    ("S31B", "K41", 4, {"power": 3, "timers": 1}, 13),
    ("S32", "K33", 13, {"crashes": 2}, 17),
)
"""Scenario, profile, moves before the search, what the rest of the script spends, its moves."""


@pytest.mark.parametrize(("code", "profile", "moves", "spent", "script"), MUSEUM)
def test_defects_are_found_without_their_script(
    code: str, profile: str, moves: int, spent: dict[str, int], script: int
) -> None:
    verdict = file.find(code).expectation(profile)
    assert verdict is not None
    found = ask(cut_after(code, profile, moves), never=tuple(verdict["verdict"]), **spent).found
    assert set(found) & set(verdict["verdict"])
    for name in set(found) & set(verdict["verdict"]):
        assert len(found[name].moves) <= max(8, script - moves)
        assert name in {broken for broken, _, _ in play_all(found[name].run).broken}


def test_ctrl_c_gives_what_is_known_so_far() -> None:
    asked: list[int] = []

    def stop(progress: Any) -> bool:
        asked.append(progress.distinct)
        return len(asked) == 20

    outcome = ask(cut_after("S20", "K39", 3), Bounds(stop=stop), crashes=2, writes=1)
    assert not outcome.complete
    assert outcome.progress.distinct >= 20
    assert asked == sorted(asked)


# -- distance to danger ---------------------------------------------------------------------------


def danger(
    question: SearchQuestion, bounds: Bounds | None = None
) -> tuple[SearchOutcome, tuple[Distance, ...]]:
    graph = Graph()
    outcome = StateSearch(question, bounds, graph).run()
    return outcome, distances(graph, outcome)


@pytest.mark.night
@pytest.mark.parametrize(("profile", "moves"), sample([("Z0102", 6), ("Z0102", 4), ("K39", 6)], 3))
def test_a_distance_is_that_of_a_search_which_begins_after_the_move(
    profile: str, moves: int
) -> None:
    run = cut_after("S20", profile, moves)
    budgets = Budgets(crashes=2, writes=1)
    outcome, reckoned = danger(SearchQuestion(run, budgets, ("I7",)))
    assert outcome.complete and len(reckoned) > 4
    choices = Choices(run.scenario).of(SearchQuestion(run, budgets).start(), budgets)
    paid = {move.text: pays for move, pays in choices}
    assert [one.move for one in reckoned] == list(paid)
    for one in reckoned:
        further = Run(run.scenario, run.profile, run.seed, (*run.lines(), one.move))
        left = budgets.less(paid[one.move])
        alone = search(SearchQuestion(further, left, ("I7",))).found.get("I7")
        told = (SAFE, 0) if alone is None else (NEAR, len(alone.moves) + 1)
        assert (one.kind, one.moves) == told, one


def test_unexplored_states_are_not_called_safe() -> None:
    run = cut_after("S20", "Z0102", 6)
    outcome, reckoned = danger(SearchQuestion(run, Budgets(crashes=2), ("I7",)), Bounds(states=20))
    assert not outcome.complete
    assert {one.kind for one in reckoned} == {FAR}
    assert {one.moves for one in reckoned} == {len(outcome.widths) - 1}


def test_a_disk_is_replaced_only_where_it_is_paid_for() -> None:
    """KAFKA-14139, KAFKA-15495: the last member of the ISR comes back with an empty disk."""
    moves = "produce a to 1 acks=all; settle; kill 2; detect 2; kill 3; detect 3"
    run = Run(file.find("S60"), "K39", 0, tuple(moves.split("; ")))
    with_disk = search(SearchQuestion(run, Budgets(crashes=1, disks=1), never=("I7",)))
    assert with_disk.found["I7"].moves == ("kill 1", "wipe 1", "restart 1")
    without = search(SearchQuestion(run, Budgets(crashes=1), never=("I7",)))
    assert without.complete and "I7" not in without.found
