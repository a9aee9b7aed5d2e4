"""Reasons and refusals in Chinese: every template of the engine has its own, and none is stale."""

from __future__ import annotations

import re

import pytest

from engine.model.errors import InputError
from engine.moves.move_errors import REFUSALS
from engine.replay.replay import Replay
from engine.scenarios.file import find, load_text
from engine.sim.run import Run
from engine.story.sayings import catalogue, translate
from tests.sayings import templates

CHINESE = "zh-Hans"
HAN = "\u3400-\u9fff"
PLACE = re.compile(r"\{\w+\}")
PIECES = re.compile(
    r"[.]| Did you mean .*| in \{0\}|; known are .*|A .*|An .*|a letter .*|small letters.*|No \{0\}"
    r"|(?:[Tt]he|[Bb]roker|[Cc]onsumer C|[Pp]roducer P).*"
    r"|Auto or .*|Count=.*|Md,.*|Preferred,.*|Records a .*"
    r"|[Nn]othing|any size|paused|acknowledged|refused \{0\}|not answered yet|empty"
    r"|There is no (?:key|profile|release|flag|configuration|scenario|error|move) .*"
    r"|\{0\} \(\{1\}\)\.|\{0\} is a whole number \(\{1\}\), not \{2\}\."
)
"""What no call or return holds whole: pieces of sentences, and sentences put together of them."""


def test_every_reason_and_refusal_has_its_chinese() -> None:
    known = catalogue(CHINESE)
    missing = [f"{where}: {text!r}" for text, where in templates().items() if text not in known]
    told = "add to engine/words/sayings.zh-Hans.json (template: Chinese):\n"
    assert missing == [], told + "\n".join(missing)


def test_no_template_is_stale() -> None:
    own = templates()
    kept = [text for text in catalogue(CHINESE) if text not in REFUSALS.values()]
    stale = [text for text in kept if text not in own and not PIECES.fullmatch(text)]
    assert stale == [], "take out of engine/words/sayings.zh-Hans.json"


def test_places_and_style() -> None:
    for english, chinese in catalogue(CHINESE).items():
        assert sorted(PLACE.findall(english)) == sorted(PLACE.findall(chinese)), english
        assert not re.search(rf"[{HAN}][,;:()?!](?! [{HAN}])|[,;()?!][{HAN}]", chinese), chinese
        assert not re.search(rf"[{HAN}][A-Za-z0-9]|[A-Za-z0-9][{HAN}]", chinese), chinese
        if english.endswith("."):
            assert chinese.endswith("。"), chinese


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("Broker 2 is down; restart it first.", "Broker 2 已停机；请先重启它。"),
        ("The controller is active.", "Controller 处于活动状态。"),
        ("There is no move “fech”. Did you mean “fetch”?", "没有操作“fech”。你是指“fetch”吗？"),
        (
            "There is no key scrpt; did you mean script?",
            "没有键\u2009scrpt；你是指\u2009script\u2009吗？",
        ),
        (
            "Move 3 (“kill 9”): There is no broker “9”; there are 1, 2. It is written: kill B",
            "操作\u20093（“kill 9”）：没有\u2009Broker“9”；现有\u20091, 2。写法是：kill B",
        ),
        (
            "m3 at offset 3, acknowledged with acks=all, is gone: "
            "broker A leads epoch 1 without it",
            "offset 3\u2009的\u2009m3\u2009已用\u2009acks=all\u2009确认，却丢了："
            "Broker A\u2009在 epoch 1\u2009当选 Leader，但它的日志里没有这条消息",
        ),
        ("Nobody ever said this.", "Nobody ever said this."),
        ("", ""),
    ],
)
def test_a_sentence_is_told_with_its_values(english: str, chinese: str) -> None:
    plain = re.compile("\u2009")
    assert plain.sub(" ", translate(english, CHINESE)) == plain.sub(" ", chinese)
    assert translate(english, "en") == english


def test_input_of_visitors_cannot_stall_it() -> None:
    text = "There is no broker “" * 200
    assert translate(text, CHINESE) == text
    assert translate("{0}{1}{2} is " * 100, CHINESE)


def untold(sentence: str) -> bool:
    return re.search(f"[{HAN}]", translate(sentence, CHINESE)) is None


@pytest.mark.parametrize("code", ["S01", "S13", "S22", "S53"])
def test_whatever_refuses_a_move_is_told(code: str) -> None:
    scenario = find(code)
    for profile in scenario.profiles[:2]:
        replay = Replay(Run(scenario, profile))
        for step in range(0, replay.total, 9):
            for move in replay.possible(step):
                assert not move["why"] or not untold(move["why"]), move
                assert not untold(move["help"]), move


def test_whatever_breaks_is_told() -> None:
    for code, profile in (("R20", "Z0102"), ("S21", "Z0102"), ("S24", "Z20"), ("S05", "K36")):
        for broken in Replay(Run(find(code), profile)).verdict()["broken"]:
            assert not untold(broken["why"]), broken


@pytest.mark.parametrize(
    "text",
    [
        "titel: a", "title: a\nbrokers: many", "title: ''", "title: a\nnetwork: {loss: 2}",
        "title: a\nconfigs: {min.insync.replicas: x}", "title: a\nprofiles: [K93]", "a: *b",
        "title: a\nscript: |\n  expect nonsense", "title: a\nfaults: [{kind: kill}]",
    ],
)  # fmt: skip
def test_whatever_is_wrong_with_a_scenario_is_told(text: str) -> None:
    with pytest.raises(InputError) as refused:
        load_text(text)
    assert not untold(refused.value.sentence)
