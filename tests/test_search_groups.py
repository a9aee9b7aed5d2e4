"""The search over consumer groups and remote storage: small clusters whose answers are known."""

from __future__ import annotations

from typing import Any

import pytest

from engine.explore import card
from engine.explore.broker_key import Face
from engine.explore.budgets import Budgets, known
from engine.explore.question import SearchQuestion, cut_at
from engine.explore.searching import REACHED, SearchOutcome, search
from engine.model.errors import InputError
from engine.scenarios import file
from engine.scenarios.file import load_text
from engine.sim.run import Run, play_all
from tests import group_errors, tier_errors
from tests.conftest import sample
from tests.test_search import stay_alike

GROUP = """
title: a group of two, and its coordinator
brokers: 1
groups: [{name: orders, members: [C1, C2], offsets: [1]}]
"""
JOINED = "produce m1 to 1 acks=all; join C1"
TWO_BROKERS = """
title: a group of one, whose coordinator has a follower
brokers: 2
partitions: [[1]]
groups: [{name: orders, members: [C1], offsets: [2, 1]}]
"""
TIERED = """
title: a partition with two replicas and a remote part
brokers: [A, B]
configs:
  remote.storage.enable: true
  segment.records: 1
  local.retention.bytes: 1000
  retention.bytes: 3000
"""
WRITTEN = "produce m0 m1 m2 acks=all; settle"


def after(text: str, lines: str, profile: str = "K39") -> Run:
    scenario = load_text(text) if "\n" in text else file.find(text)
    return cut_at(Run(scenario, profile, 0, tuple(lines.split("; "))))


def ask(run: Run, reach: str = "", never: tuple[str, ...] = (), **given: Any) -> SearchOutcome:
    return search(SearchQuestion(run, Budgets(**given), never, reach))


# -- groups ---------------------------------------------------------------------------------------


def test_a_record_is_processed_twice_only_after_a_member_is_gone_or_a_rebalance() -> None:
    run = after(GROUP.replace("[C1, C2]", "[C1]"), JOINED)
    assert not ask(run, "any record twice", commits=2).found
    found = ask(run, "any record twice", members=1).found[REACHED]
    assert found.moves == ("read C1", "timeout C1", "repeat C1", "read C1", "process C1")
    assert play_all(found.run).ledger.processed == {(1, "m1"): 2}
    run = after(GROUP, f"{JOINED}; read C1; process C1")
    found = ask(run, "record m1 twice", members=1).found[REACHED]
    assert found.moves == ("leave C1", "join C1", "read C1", "process C1")


def test_a_record_is_skipped_only_if_it_was_committed_before_it_was_processed() -> None:
    run = after(GROUP.replace("[C1, C2]", "[C1]"), JOINED)
    outcome = ask(run, "any record skipped", members=1, writes=1)
    assert outcome.complete and not outcome.found
    found = ask(run, "record m1 skipped", members=1, writes=1, commits=1).found[REACHED]
    assert found.moves[:2] == ("read C1", "commit C1") and "process C1" not in found.moves


def test_an_old_owner_never_overwrites_the_commit_of_a_new_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both commit the same partition: INV-36 holds in every order, while generations are fenced."""
    run = after(GROUP, f"{JOINED}; read C1; timeout C1; join C2; read C2")
    given = {"commits": 2, "never": ("INV-35", "INV-36")}
    outcome = ask(run, **given)
    assert outcome.complete and not outcome.found
    group_errors.any_member_commits(monkeypatch)
    outcome = ask(run, **given)
    assert "INV-36" in outcome.found
    assert "INV-36" in {name for name, _, _ in play_all(outcome.found["INV-36"].run).broken}


@pytest.mark.night
def test_a_coordinator_that_crashes_loses_no_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    run = after(TWO_BROKERS, f"{JOINED}; settle; read C1; process C1")
    outcome = ask(run, crashes=1, commits=1)
    assert outcome.complete and outcome.found == {}
    group_errors.commits_are_answered_at_once(monkeypatch)
    assert "I7" in ask(run, never=("I7",), crashes=1, commits=1).found


# -- remote storage -------------------------------------------------------------------------------

DEPOSED = (
    "produce m0 m1 m2 m3 m4 to A acks=all; settle; advance 1s; pause A; "
    "produce n0 n1 n2 n3 to A acks=all; detect A; settle"
)


def test_a_deposed_leader_deletes_remote_segments_before_it_hears_of_its_successor() -> None:
    """S99: the time that has passed is that of its retention task, which waits for the resume."""
    assert ask(after("S99", f"{DEPOSED}; hold md A")).found["INV-39"].moves[-1] == "resume A"
    outcome = ask(after("S99", DEPOSED), timers=1)
    assert outcome.complete and outcome.found == {}
    assert outcome.played["resume"] and outcome.played["tick"]


REBUILT = (
    "produce m0 m1 m2 to A acks=all; settle; advance 1s; shutdown A; "
    "produce n0 n1 n2 to B acks=all; settle; advance 2s"
)


@pytest.mark.night
def test_an_interrupted_rebuild_loses_what_one_that_ended_keeps() -> None:
    """S100: a restart, and the preferred election; docs/explanation/hunt.md has the figures."""
    budgets = {"crashes": 1, "elections": 1, "timers": 1}
    run = after("S100", f"{REBUILT}; store down; restart A; settle; store up", "4.4.0")
    found = ask(run, never=("I6",), **budgets).found["I6"]
    assert found.moves == ("bounce A", "deliver 1->2", "deliver 2->1", "deliver 1->2", "elect A")


@pytest.mark.night
def test_nothing_breaks_after_a_rebuild_that_ended() -> None:
    run = after("S100", f"{REBUILT}; restart A; settle", "4.4.0")
    outcome = ask(run, crashes=1, elections=1, timers=1)
    assert outcome.complete and not outcome.found


@pytest.mark.night
def test_no_crash_makes_retention_lose_what_it_should_keep() -> None:
    outcome = ask(after(TIERED, WRITTEN), timers=2, crashes=1)
    assert outcome.complete and outcome.found == {}


def test_a_segment_that_is_deleted_before_it_is_copied_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tier_errors.anything_is_deleted_locally(monkeypatch)
    run = after(TIERED, f"{WRITTEN}; tick A remote; produce m3 m4 acks=all; settle")
    found = ask(run, never=("INV-39",), timers=1, store=1).found["INV-39"]
    assert found.moves == ("tick A retention",) and found.left.store == 1


# -- keys, and what is said -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "lines", "budgets"),
    sample(
        [
            (GROUP, JOINED, Budgets(members=1, commits=1)),
            (TWO_BROKERS, f"{JOINED}; settle; read C1", Budgets(crashes=1, commits=1)),
            (TWO_BROKERS, f"{JOINED}; settle", Budgets(cuts=1, members=1)),
            (TIERED, WRITTEN, Budgets(timers=2, crashes=1)),
            (TIERED, WRITTEN, Budgets(timers=2, store=1, pauses=1)),
        ],
        3,
    ),
)
def test_states_of_groups_and_remote_storage_with_one_key_stay_alike(
    text: str, lines: str, budgets: Budgets
) -> None:
    stay_alike(after(text, lines), budgets, 18)


def test_a_key_without_the_group_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Face, "_group", lambda face, group: ())
    with pytest.raises(AssertionError):
        stay_alike(after(GROUP, JOINED), Budgets(members=1, commits=1))


def test_a_search_names_what_it_leaves_out() -> None:
    told = "\n".join(card.lines(ask(after(GROUP, JOINED), commits=1)))
    assert "no link of a client is cut" in told and "no member crashes" in told
    assert "emote storage" not in told
    told = "\n".join(card.lines(ask(after(TIERED, WRITTEN), timers=1)))
    assert "Remote storage answers at once" in told and "remote storage works" in told
    assert "ember" not in told
    assert {"members", "commits"} <= set(known(load_text(GROUP)))
    assert "store" in known(load_text(TIERED)) and "store" not in known(load_text(GROUP))


@pytest.mark.parametrize(
    ("setting", "lines", "why"),
    [
        ("retention.ms: 1000", WRITTEN, "expire by age"),
        ("local.retention.ms: 1000", WRITTEN, "expire by age"),
        ("min.insync.replicas: 1", f"{WRITTEN}; store slow 1s", "remote storage that is slow"),
    ],
)
def test_remote_storage_by_the_clock_is_refused(setting: str, lines: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        ask(after(f"{TIERED}  {setting}\n", lines), timers=1)
