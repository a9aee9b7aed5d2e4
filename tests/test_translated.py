"""The library in Chinese: nothing stale, good style, and shown without changing a run."""

from __future__ import annotations

import re

import pytest

from engine.replay.replay import Replay
from engine.scenarios import file
from engine.scenarios.file import find, library, translations
from engine.scenarios.script import retold
from engine.scenarios.translated import in_language
from engine.sim.run import Run
from tests.translations import gaps

CHINESE = "zh-Hans"
HAN = "\u3400-\u9fff"


def test_chinese_of_the_library_belongs_to_a_text() -> None:
    found = gaps(CHINESE, translations(CHINESE))
    left = [one for one in found if ": take out " in one or ": no scenario " in one]
    assert left == [], "in engine/scenarios/library:\n" + "\n".join(left)


def texts() -> list[tuple[str, str]]:
    return [
        (code, text)
        for code, told in translations(CHINESE).items()
        for text in (told.title, told.teaches, *told.comments.values())
    ]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (rf"[{HAN}][,;:()?!]|[,;:()?!][{HAN}]", "full-width punctuation"),
        (rf"[{HAN}][A-Za-z0-9]|[A-Za-z0-9][{HAN}]|[{HAN}] | [{HAN}]", "a thin space between"),
        (r"\.\.\.|[^0-9A-Za-z]\.$", "Chinese dots"),
    ],
)
def test_style_of_the_chinese_texts(wrong: str, why: str) -> None:
    found = [(code, text) for code, text in texts() if re.search(wrong, text)]
    assert found == [], f"{why}: docs/reference/terms.zh-Hans.md"


def test_titles_ask_and_lessons_end() -> None:
    for code, told in translations(CHINESE).items():
        assert told.title.endswith("？"), code
        assert told.teaches.endswith("。"), code
        for text in told.comments.values():
            assert text[-1] in "。？…，", (code, text)


def test_names_of_brokers_and_records_are_kept() -> None:
    """Whatever stands for itself in the original stands in the translation, too."""
    kept = re.compile(r"\b[a-z]\d\b|\backs=\w+|\b[A-Z_]{6,}\b|\[\d[\d,]*\]|min\.insync\.replicas")
    for code, told in translations(CHINESE).items():
        for english, chinese in told.comments.items():
            for word in kept.findall(english):
                assert word in chinese, (code, english)


def test_a_run_is_the_same_in_every_language() -> None:
    scenario = find("R20")
    told = in_language(scenario, CHINESE)
    replay = Replay(Run(scenario, "Z0102"))
    ours, theirs = replay.facts(), replay.facts(told)
    assert theirs["scenario"]["title"] == "已确认的消息会丢吗？"
    assert theirs["beats"][0][1].startswith("维护之后")
    for facts in (ours, theirs):
        for chapter in facts["chapters"]:
            chapter[2] = ""
        facts["beats"] = [step for step, _ in facts["beats"]]
        facts["scenario"] = facts["scenario"]["digest"]
    assert ours == theirs


def test_untranslated_texts_stay_as_they_are() -> None:
    scenario = library()["happy-path"]
    assert in_language(scenario, "en") is scenario
    assert in_language(scenario, "fr") is scenario
    changed = scenario.vary("duration_ms", 1).named("mine")
    assert in_language(changed, CHINESE).title != scenario.title
    assert retold("settle # Quiet.\nsettle", {"Quiet.": "静。"}) == "settle # 静。\nsettle"
    assert retold("settle # Loud.", {"Quiet.": "静。"}) == "settle # Loud."


def test_a_gap_says_what_to_do() -> None:
    told = dict(translations(CHINESE))
    first = told.pop("S01")
    comments = dict(list(told["S02"].comments.items())[1:])
    told["S02"] = file.ScenarioWords("a", "b", {**comments, "Old.": "旧"})
    told["S999"] = first
    found = gaps(CHINESE, told)
    assert "zh-Hans/S01.yaml is missing: title, teaches and comments of happy-path.yaml" in found
    assert any(one.startswith("zh-Hans/S02.yaml: add the comment 'Broker ") for one in found)
    assert "zh-Hans/S02.yaml: take out 'Old.'" in found
    assert "zh-Hans/S999.yaml: no scenario S999" in found
