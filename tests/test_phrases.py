"""Sentences of the engine in Chinese: none is left over."""

from __future__ import annotations

import pickle
import re

import pytest

from engine.model.errors import InputError
from engine.model.languages import words_of
from engine.model.phrases import (
    Phrase,
    capitalized,
    catalogue,
    join,
    phrase,
    translate,
    with_values,
)
from engine.moves.move_errors import REFUSALS, Refused, refuse
from engine.replay.replay import Replay
from engine.scenarios.file import find, load_text
from engine.sim.run import Run
from tests.phrases import constants

CHINESE = "zh-Hans"
HAN = "\u3400-\u9fff"
PLACE = re.compile(r"\{\w+\}")
COMPOSED = {"{0} or {1}", "{0} and {1}"}
"""Templates that `join` makes of what it joins."""


@pytest.mark.night
def test_no_template_is_stale() -> None:
    own = {capitalized(text) for text, _, _ in constants("engine", "app")} | COMPOSED
    stale = [text for text in words_of("phrases", CHINESE) if capitalized(text) not in own]
    assert stale == [], "take out of engine/words/phrases.zh-Hans.json"


def test_places_and_style() -> None:
    for english, chinese in catalogue(CHINESE).items():
        assert sorted(PLACE.findall(english)) == sorted(PLACE.findall(chinese)), english
        assert not re.search(rf"[{HAN}][,;:()?!](?! [{HAN}])|[,;()?!][{HAN}]", chinese), chinese
        assert not re.search(rf"[{HAN}][A-Za-z0-9]|[A-Za-z0-9][{HAN}]", chinese), chinese
        if english.endswith("."):
            assert chinese.endswith("。"), chinese


def refused_key() -> str:
    with pytest.raises(InputError) as refused:
        load_text("title: a\nscrpt: b")
    return refused.value.sentence


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        (phrase("{0} is missing.", "A broker"), "缺少 Broker。"),
        ("The controller is active.", "Controller 处于活动状态。"),
        (
            phrase("{0} went from epoch {1} to an older one", phrase("broker {0}", "A"), 3),
            "Broker A 从 epoch 3 退到了更旧的 epoch",
        ),
        ("Nobody ever said this.", "Nobody ever said this."),
        (phrase("{0} was never said.", 3), "3 was never said."),
        ("", ""),
    ],
)
def test_a_sentence_is_translated_with_its_values(english: str, chinese: str) -> None:
    assert translate(english, CHINESE).replace("\u2009", " ") == chinese
    assert translate(english, "en") == english


def test_a_hint_is_translated_within_its_sentence() -> None:
    sentence = refused_key()
    assert sentence == "There is no key scrpt; did you mean script?"
    assert translate(sentence, CHINESE).replace("\u2009", " ") == "没有键 scrpt；你是指 script 吗？"


def test_a_phrase_survives_another_process() -> None:
    sentence = phrase("{0} was followed by {1}", phrase("broker {0}", 1), "{2}")
    again = pickle.loads(pickle.dumps(sentence))
    assert (again, type(again)) == ("broker 1 was followed by {2}", Phrase)
    assert translate(again, CHINESE) == translate(sentence, CHINESE)
    sim = Run(find("S01"), "K39").simulation()
    refused = refuse(sim, "down", "restart 1", b=1)
    again = pickle.loads(pickle.dumps(refused))
    assert isinstance(again, Refused)
    assert (again.key, again.args, again.cure) == (refused.key, refused.args, "restart 1")
    error = pickle.loads(pickle.dumps(InputError("unknown", sentence, where="a:1:1")))
    assert (error.code, error.where) == ("unknown", "a:1:1")
    assert isinstance(error.sentence, Phrase)


def test_pieces_are_joined_and_capitalized() -> None:
    pieces = join([phrase("broker {0}", 1), "", "starts"], ", ")
    assert isinstance(pieces, Phrase)
    assert (pieces, pieces.template) == ("broker 1, , starts", "{0}, {1}, {2}")
    assert capitalized(phrase("broker {0}", "b")) == "Broker b"
    assert capitalized(phrase("{0} leads", "b")) == "b leads"
    assert (
        with_values(phrase("{0}: {1}", "/tmp/a", "no"), lambda text: text.upper()) == "/TMP/A: NO"
    )


def test_half_a_character_that_was_sent_can_be_answered() -> None:
    assert InputError("unknown", "There is no move “{0}”.{1}", "\ud800", "").sentence.encode()


def is_english(sentence: str) -> bool:
    return re.search(f"[{HAN}]", translate(sentence, CHINESE)) is None


@pytest.mark.parametrize("code", ["S01", "S13", "S22", "S53", "S83", "S87", "S93"])
def test_every_reason_against_a_move_is_translated(code: str) -> None:
    scenario = find(code)
    for profile in scenario.profiles[:2]:
        replay = Replay(Run(scenario, profile))
        for step in range(0, replay.total, max(9, replay.total // 20)):
            for move in replay.possible(step):
                assert not move["why"] or not is_english(move["why"]), move
                assert not is_english(move["help"]), move


def test_every_broken_promise_is_translated() -> None:
    for code, profile in (("R20", "Z0102"), ("S21", "Z0102"), ("S24", "Z20"), ("S05", "K36")):
        for broken in Replay(Run(find(code), profile)).verdict()["broken"]:
            assert not is_english(broken["why"]), broken


@pytest.mark.parametrize(
    "text",
    [
        "titel: a", "title: a\nbrokers: many", "title: ''", "title: a\nnetwork: {loss: 2}",
        "title: a\nconfigs: {min.insync.replicas: x}", "title: a\nprofiles: [K93]", "a: *b",
        "title: a\nscript: |\n  expect nonsense", "title: a\nfaults: [{kind: kill}]",
    ],
)  # fmt: skip
def test_every_mistake_in_a_scenario_is_translated(text: str) -> None:
    with pytest.raises(InputError) as refused:
        load_text(text)
    assert not is_english(refused.value.sentence)


@pytest.mark.parametrize("move", ["fech 2", "fetch 9", "advance x", "cut 1", "power 1 now", ""])
def test_every_mistake_in_a_move_is_translated(move: str) -> None:
    with pytest.raises(InputError) as refused:
        Run(find("S01"), "K39", 0, (move,)).simulation()
        Replay(Run(find("S01"), "K39", 0, (move,)))
    assert not is_english(refused.value.sentence), refused.value.sentence


def test_refusals_are_in_the_catalogue() -> None:
    assert set(REFUSALS.values()) <= catalogue(CHINESE).keys()
