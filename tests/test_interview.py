"""Interview questions: complete in both languages, and each proved by a run at its moment."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from engine.learn import interview
from engine.learn.interview import Item, moments, questions, read
from engine.model.errors import InputError

FOLDER = Path(interview.__file__).parent / "interview"


def test_they_are_numbered_and_of_every_topic_and_level() -> None:
    found = questions()
    numbers = range(1, len(found) + 1)
    assert sorted(found, key=lambda one: int(one[1:])) == [f"Q{n}" for n in numbers]
    assert {one.topic for one in found.values()} == set(interview.TOPICS)
    assert {one.level for one in found.values()} == set(interview.LEVELS)


def test_follow_up_questions_lead_on() -> None:
    """A chain of a question, its follow-up and what is asked then repeats no question."""
    found = questions()
    for item in found.values():
        assert found[item.then].ask != item.ask and item.then != item.id
        assert item.answer["en"] not in {one["en"] for one in item.facts}


def test_the_moments_are_rewritten_on_demand(rewrite: bool) -> None:
    if rewrite:
        table = {name: item.judged().step for name, item in questions().items()}
        (FOLDER / interview.MOMENTS).write_text(json.dumps(table, indent=1) + "\n", "utf-8")
        moments.cache_clear()
    assert moments().keys() == questions().keys()


@pytest.mark.parametrize("item", questions().values(), ids=list(questions()))
def test_a_question_is_proved_where_its_run_is_opened(item: Item) -> None:
    played = item.judged()
    assert played.holds, f"{item.moment} never comes in {item.scenario} under {item.profile}"
    assert played.step == moments()[item.id] > 0


def test_chinese_is_in_the_words_of_kafka_people() -> None:
    for item in questions().values():
        for texts in (item.ask, *item.facts, item.wrong, item.follow, item.answer):
            assert re.search("[一-鿿]", texts["zh-Hans"])
            assert not re.search("追随者|领导者|纪元|位移|控制器|您", texts["zh-Hans"]), item.id
            assert texts["en"].endswith((".", "?", "%")), texts


GOOD = """Q1:
  level: 1
  ask: {en: a, zh-Hans: 甲}
  facts: [{en: a, zh-Hans: 甲}, {en: b, zh-Hans: 乙}, {en: c, zh-Hans: 丙}]
  wrong: {en: a, zh-Hans: 甲}
  follow: {en: a, zh-Hans: 甲}
  answer: {en: a, zh-Hans: 甲}
  then: Q2
  run: S22
  profile: K39
  moment: "eventually leader = C"
"""


def test_a_file_of_ones_own_is_read() -> None:
    assert read(GOOD, "mine")[0].judged().holds


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (GOOD.replace("Q1", "first"), "mine.yaml:1:1"),
        (GOOD.replace("level: 1", "level: 9"), "mine.yaml:2:10"),
        (GOOD.replace("S22", "S999"), "mine.yaml:9:8"),
        (GOOD.replace("K39", "K99"), "mine.yaml:10:12"),
        (GOOD.replace("leader = C", "leader ="), "mine.yaml:11:11"),
        (GOOD.replace("then: Q2", "then: Q1"), "mine.yaml:8:9"),
        (GOOD.replace("then: Q2", "then: more"), "mine.yaml:8:9"),
        (GOOD.replace(", {en: c, zh-Hans: 丙}", ""), "mine.yaml:4:10"),
        (GOOD.replace("  wrong: {en: a, zh-Hans: 甲}\n", ""), "mine.yaml:"),
        ("- a\n", "mine.yaml:1:1"),
    ],
)
def test_malformed_questions_are_refused_with_their_place(text: str, where: str) -> None:
    with pytest.raises(InputError) as caught:
        read(text, "mine")
    assert caught.value.where.startswith(where), caught.value.where
    assert caught.value.sentence.endswith((".", "?"))
