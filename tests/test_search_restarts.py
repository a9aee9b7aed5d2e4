"""Restarts that a search does not play lead where they would if they were played."""

from __future__ import annotations

import pytest

from engine.explore.budgets import Budgets
from engine.explore.question import SearchQuestion, cut_at
from engine.explore.searching import Bounds, Graph, Restarts, StateSearch
from engine.moves.moves import Move
from engine.scenarios import file
from engine.sim.run import Run
from tests.conftest import sample
from tests.test_search import MERGED

Edges = list[tuple[int, int]]


CASES = [*MERGED, ("K39", 3, Budgets(crashes=1, power=1, pauses=1))]


def edges(profile: str, moves: int, budgets: Budgets) -> tuple[Edges, list[tuple[str, ...]]]:
    """Return the graph of a search, and the first way to each of its states."""
    run = Run(file.find("S20"), profile)
    begin = cut_at(Run(run.scenario, profile, 0, run.lines()[:moves]))
    graph = Graph()
    searching = StateSearch(SearchQuestion(begin, budgets), Bounds(states=400), graph)
    progress = searching.run().progress
    assert progress.generated == len(graph.arrows) + 1
    return graph.arrows, [searching.way(number) for number in range(progress.distinct)]


@pytest.mark.parametrize("case", sample(CASES, 2))
def test_each_restart_leads_where_it_would_if_it_were_played(
    case: tuple[str, int, Budgets], monkeypatch: pytest.MonkeyPatch
) -> None:
    known: list[int] = []
    result = Restarts.result

    def count(self: Restarts, state: int, move: Move) -> int | None:
        number = result(self, state, move)
        if number is not None:
            known.append(number)
        return number

    monkeypatch.setattr(Restarts, "result", count)
    short = edges(*case)
    monkeypatch.setattr(Restarts, "result", lambda self, state, move: None)
    assert edges(*case) == short
    assert bool(known) == case[0].startswith("K"), "ZooKeeper's bounce is a move of its own"
