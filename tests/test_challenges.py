"""Challenges: each solution plays and is as short as its par says; nothing is done at the start."""

from __future__ import annotations

import re

import pytest

from engine.learn.challenges import MOST_MOVES, Challenge, challenges, read
from engine.model.errors import InputError

ALL = [pytest.param(one, id=one.slug) for one in challenges().values()]


def test_there_are_many_of_every_level() -> None:
    levels = [one.level for one in challenges().values()]
    assert len(levels) >= 24 and set(levels) == {1, 2, 3} and levels == sorted(levels)


@pytest.mark.parametrize("challenge", ALL)
def test_the_solution_does_it_and_none_of_its_beginnings_do(challenge: Challenge) -> None:
    done = [challenge.attempt(challenge.solution[:n]).done for n in range(challenge.par + 1)]
    assert done == [False] * challenge.par + [True]


@pytest.mark.parametrize("challenge", ALL)
def test_every_move_of_the_solution_is_needed(challenge: Challenge) -> None:
    """Leaving one out is either impossible to play or does not reach the goal."""
    for n in range(challenge.par):
        rest = (*challenge.solution[:n], *challenge.solution[n + 1 :])
        try:
            shorter = challenge.attempt(rest).done
        except InputError:
            shorter = False
        assert not shorter, f"{challenge.slug} works without “{challenge.solution[n]}”"


def test_chinese_is_in_the_words_of_kafka_people() -> None:
    for one in challenges().values():
        for texts in (one.task, one.hint):
            assert re.search("[一-鿿]", texts["zh-Hans"])
            assert not re.search("追随者|领导者|纪元|位移|控制器|您", texts["zh-Hans"]), one.slug


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (("fech 2",), "Move 1 (“fech 2”): "),
        (("settle", "kill Q"), "Move 2 (“kill Q”): "),
        (("settle", "elect unclean"), "Move 2 (“elect unclean”): elect is not allowed here."),
        (("settle",) * (MOST_MOVES + 1), f"At most {MOST_MOVES} moves"),
        (("restart 1",), "Move 1 (“restart 1”): "),
    ],
)
def test_unplayable_moves_are_refused(lines: tuple[str, ...], told: str) -> None:
    with pytest.raises(InputError) as caught:
        challenges()["last-standing"].attempt(lines)
    assert caught.value.sentence.startswith(told)


GOOD = """mine:
  level: 1
  task: {en: a, zh-Hans: 甲}
  hint: {en: a, zh-Hans: 甲}
  run: S60
  profile: K39
  goal: "leader = 3"
  solution: [elect 3]
"""


def test_a_file_of_ones_own_is_read() -> None:
    assert read(GOOD)["mine"].attempt(("elect 3",)).done


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (GOOD.replace("leader = 3", "leader ="), "challenges.yaml:7:9"),
        (GOOD.replace("K39", "K99"), "challenges.yaml:6:12"),
        (GOOD.replace("[elect 3]", "[elect]"), "challenges.yaml:8:14"),
        (GOOD.replace("  level: 1\n", ""), "challenges.yaml:"),
        (GOOD + "  without: [fly]\n", "challenges.yaml:9:13"),
        ("[]", "challenges.yaml:1:1"),
    ],
)
def test_malformed_challenges_are_refused_with_their_place(text: str, where: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text)
    assert caught.value.where.startswith(where), caught.value.where
