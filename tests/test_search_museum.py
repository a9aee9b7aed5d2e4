"""Defects of the past, found by the search from an empty cluster, without a hint."""

from __future__ import annotations

from typing import Final, NamedTuple

import pytest

from engine.explore.budgets import Budgets
from engine.explore.question import SearchQuestion, cut_at
from engine.explore.searching import Bounds, SearchOutcome, search
from engine.scenarios import file
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all


class Piece(NamedTuple):
    """A defect: within what it is looked for, and how near it is in the release that had it."""

    brokers: int
    unclean: bool
    budgets: Budgets
    never: str
    profile: str
    moves: int


CUT_TO_THE_MARK: Final = Piece(3, False, Budgets(elections=2, writes=1), "I7", "Z0102", 9)
"""KIP-101: nothing fails, leadership moves twice, and an acknowledged record is gone."""
TWO_HISTORIES: Final = Piece(2, True, Budgets(crashes=2, writes=2), "I5", "Z0102", 10)
"""KIP-101: two records at one offset, for good."""
END_WITHOUT_EPOCH: Final = Piece(2, False, Budgets(elections=2, writes=3), "I5", "Z011", 11)
"""KIP-279: an answer that does not say of which epoch it speaks."""
UNCLEAN: Final = Piece(2, False, Budgets(crashes=2, writes=1, elections=1), "I7", "K39", 5)
"""The operator elects any live replica."""

FOUND: Final = (
    pytest.param(END_WITHOUT_EPOCH, id="KIP-279"),
    pytest.param(UNCLEAN, id="unclean"),
    pytest.param(CUT_TO_THE_MARK, id="KIP-101-1", marks=pytest.mark.night),
    pytest.param(TWO_HISTORIES, id="KIP-101-2", marks=pytest.mark.night),
)


def looked_for(piece: Piece, profile: str) -> SearchOutcome:
    """The search of an empty cluster of this release for the piece."""
    data = {
        "title": "An empty cluster",
        "brokers": piece.brokers,
        "configs": {"unclean.leader.election.enable": piece.unclean},
    }
    start = cut_at(Run(Scenario.from_dict(data), profile))
    return search(SearchQuestion(start, piece.budgets, (piece.never,)))


def replays(outcome: SearchOutcome, name: str) -> bool:
    """Does the run that was found break this, and no shorter part of it?"""
    run = outcome.found[name].run
    shorter = Run(run.scenario, run.profile, run.seed, run.lines()[:-1])
    return name in broken(run) and name not in broken(shorter)


def broken(run: Run) -> set[str]:
    return {name for name, _, _ in play_all(Run.from_text(run.text())).broken}


@pytest.mark.parametrize("piece", FOUND)
def test_an_empty_cluster_is_enough_to_find_it(piece: Piece) -> None:
    outcome = looked_for(piece, piece.profile)
    assert len(outcome.found[piece.never].moves) == piece.moves
    assert replays(outcome, piece.never)


@pytest.mark.parametrize(
    ("piece", "profile"),
    [
        pytest.param(END_WITHOUT_EPOCH, "Z20", id="KIP-279"),
        pytest.param(TWO_HISTORIES, "Z011", id="KIP-101-2", marks=pytest.mark.night),
    ],
)
def test_the_release_that_mended_it_does_not_have_it(piece: Piece, profile: str) -> None:
    outcome = looked_for(piece, profile)
    assert outcome.complete, "everything within the budgets was seen"
    assert piece.never not in outcome.found
    assert outcome.with_acked


def test_a_replica_in_the_past_is_served_until_fetches_carry_their_epoch() -> None:
    """KIP-320: from where broker 2 has missed one election, with a second one allowed."""
    asked = Budgets(elections=1, writes=1)
    scenario = file.find("R11")
    told = {}
    for profile in ("Z20", "Z21"):
        run = Run(scenario, profile, 0, Run(scenario, profile).lines()[:14])
        told[profile] = search(SearchQuestion(cut_at(run), asked, ("I5",)), Bounds(1_000))
    found = told["Z20"].found["I5"].moves
    assert found == ("elect 1", "deliver 2->1", "deliver 1->2", "deliver 2->1")
    assert replays(told["Z20"], "I5")
    assert not told["Z21"].found
    assert len(told["Z21"].widths) > len(found)
