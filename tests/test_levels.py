"""Levels: par and the number of states are what an exhaustive search finds; the engine judges."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from engine.learn.levels import CANVAS, KINDS, Level, is_wait, kind_of, levels, make, read
from engine.model.errors import InputError
from engine.model.profiles import get_profile
from engine.scenarios.file import find
from engine.sim.run import Run
from tests.conftest import THOROUGH
from tests.level_search import search

ALL = [pytest.param(level, id=level.slug) for level in levels().values()]
SMALL = 400
"""States of a search that every test run repeats; the rest with HIGHWATER_THOROUGH=1."""


def run_of(level: Level, *moves: str) -> Run:
    return Run(find(CANVAS), level.profile, 0, (*level.first, *moves))


def test_there_are_twelve_levels_and_some_cannot_be_lost() -> None:
    assert len(levels()) == 12
    assert 0 < sum(not level.solution for level in levels().values()) < 6


@pytest.mark.night
@pytest.mark.parametrize(
    "level",
    [one for one in ALL if THOROUGH or one.values[0].states <= SMALL],  # type: ignore[union-attr]
)
def test_an_exhaustive_search_finds_what_is_stored(level: Level) -> None:
    assert search(level) == (level.states, level.solution)


@pytest.mark.parametrize("level", ALL)
def test_the_solution_loses_the_record_and_fewer_moves_do_not(level: Level) -> None:
    moves = [line for line in level.solution if not is_wait(line)]
    for n in range(len(moves)):
        shorter = level.solution[: level.solution.index(moves[n])]
        attempt = level.attempt(run_of(level, *shorter))
        assert (attempt.lost, attempt.used) == (False, n)
    attempt = level.attempt(run_of(level, *level.solution))
    assert (attempt.lost, attempt.used) == (bool(moves), level.par)


@pytest.mark.parametrize("level", ALL)
def test_no_other_move_counts(level: Level) -> None:
    for line in ("elect 2", "produce z to 1 acks=0", "advance 5s", "settle !1", "detect 1"):
        with pytest.raises(InputError):
            level.attempt(run_of(level, line))
    with pytest.raises(InputError):
        level.attempt(Run(find("S20"), level.profile))
    other = "K33" if level.profile != "K33" else "K39"
    with pytest.raises(InputError):
        level.attempt(replace(run_of(level), profile=other))


def test_a_hand_is_spent() -> None:
    level = levels()["one-copy"]
    outcome = level.attempt(run_of(level, "kill 2"))
    assert {move.kind for move in outcome.moves} == {"write 1"}
    with pytest.raises(InputError):
        level.attempt(run_of(level, "kill 2", "kill 3"))


@pytest.mark.parametrize(
    ("slug", "moves", "verdict"),
    [
        ("one-copy", (), "none"),
        ("three-copies", (), "kept"),
        ("three-copies", ("kill 1",), "gone"),
        ("three-copies", ("kill 1", "wait"), "kept"),
        ("three-copies", ("kill 1", "kill 2", "kill 3", "wait"), "headless"),
        ("high-watermark", ("kill 1", "restart 1", "kill 2", "wait"), "lost"),
    ],
)
def test_verdicts(slug: str, moves: tuple[str, ...], verdict: str) -> None:
    level = levels()[slug]
    played: list[str] = []
    outcome = level.attempt(level.beginning)
    for move in moves:
        played += outcome.wait.split("; ") if move == "wait" else [move]
        outcome = level.attempt(run_of(level, *played))
    assert (outcome.verdict, outcome.used) == (verdict, len(set(moves) - {"wait"}))


@pytest.mark.parametrize("level", ALL)
def test_time_can_pass_where_a_level_begins(level: Level) -> None:
    sim = level.start()
    for line in level.attempt(level.beginning).wait.split("; "):
        make(sim, line)


def test_each_kind_names_its_own_moves() -> None:
    sim = levels()["one-copy"].start()
    for kind, moves in KINDS.items():
        for move in moves(sim, kind, 1):
            assert kind_of(move.text) == kind == move.kind


def test_chinese_is_in_the_words_of_kafka_people() -> None:
    for level in levels().values():
        for texts in (level.title, level.goal, level.hint):
            assert not re.search("追随者|领导者|纪元|位移|控制器|您", texts["zh-Hans"]), level.slug
        assert (
            len(level.goal["en"].split()) <= 20 and level.profile == get_profile(level.profile).name
        )


GOOD = """mine:
  title: {en: a}
  goal: {en: a}
  hint: {en: a}
  release: K39
  hand: {kill: 1}
  states: 1
  solution: [kill 1]
"""


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (GOOD.replace("K39", "K99"), "levels.yaml:5:12"),
        (GOOD.replace("[kill 1]", "[kill]"), "levels.yaml:8:14"),
        (GOOD.replace("{kill: 1}", "{fly: 1}"), "levels.yaml:6:10"),
        (GOOD.replace("{kill: 1}", "{kill: 100}"), "levels.yaml:6:16"),
        (GOOD.replace("  states: 1\n", ""), "levels.yaml:"),
        ("[]", "levels.yaml:1:1"),
    ],
)
def test_malformed_levels_are_refused_with_their_place(text: str, where: str) -> None:
    assert read(GOOD)["mine"].par == 1
    with pytest.raises(InputError) as caught:
        read(text)
    assert caught.value.where.startswith(where), caught.value.where
