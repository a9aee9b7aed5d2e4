"""The deck: balanced in every topic, and every question has one right answer that can be seen."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from app.web.home import TOPICS as FIRST_PAGE
from engine.learn import judging
from engine.learn.claims import claims
from engine.learn.counterfactuals import saves
from engine.learn.deck import CLAIM, INTERVIEW, PREDICTIONS, deck
from engine.learn.misconceptions import of_kind
from engine.learn.probes import Probe, probes_of, told_of
from engine.learn.render import Teller
from engine.learn.topics import TOPICS
from engine.model.languages import LANGUAGES
from engine.properties.recording import MomentRecording
from engine.scenarios.file import find
from tests.conftest import THOROUGH, sample
from tests.recorded import recorded

MOST_OFF = 0.1


@pytest.mark.parametrize("topic", TOPICS)
def test_true_and_false_are_balanced_in_every_topic(topic: str) -> None:
    sides = Counter(one.right for one in deck().values() if (one.kind, one.topic) == (CLAIM, topic))
    share = sides[True] / sides.total()
    assert abs(share - 0.5) <= MOST_OFF, f"{topic}: {sides[True]} of {sides.total()} are true"


@pytest.mark.parametrize("topic", TOPICS)
def test_every_topic_has_several_kinds(topic: str) -> None:
    kinds = {one.kind for one in deck().values() if one.topic == topic}
    assert kinds >= {CLAIM, INTERVIEW}


def test_a_sentence_that_names_its_releases_is_judged_in_them() -> None:
    for slug, claim in claims().items():
        if claim.names_releases():
            ((profile, right),) = judging.sides(claim)
            words = {one.word for one in judging.verdicts()[slug].values()}
            assert profile == "" and right is (judging.REFUTED not in words), slug
            assert words != {judging.UNTESTED}


def test_a_card_of_one_release_is_judged_in_that_release() -> None:
    for card in deck().values():
        if card.kind == CLAIM and card.profile:
            word = judging.verdicts()[card.name][card.profile].word
            assert word == (judging.SURVIVED if card.right else judging.REFUTED), card.id


def test_a_claim_that_something_can_happen_is_shown_and_never_refuted() -> None:
    for slug, claim in claims().items():
        if claim.may:
            words = {one.word for one in judging.verdicts()[slug].values()}
            assert judging.SURVIVED in words and judging.REFUTED not in words, slug


LINKED = [(code, find(code).profiles[0]) for _, codes in FIRST_PAGE for code in codes]
ASKED = [(code, profile) for code, profile, *_ in PREDICTIONS]
RUNS = list(dict.fromkeys([*LINKED, *ASKED]))
NONSENSE = re.compile(r"\bNone\b(?! of)|\{[a-z]\w*\}|\{\}|\[\]|\(\)|[+-]\w+=|\b\w+:\w+:e\d")
"""Places without their values, profiles with flags, and names of records of __consumer_offsets."""


@pytest.mark.parametrize(("code", "profile"), RUNS if THOROUGH else sample(RUNS, 12))
def test_every_question_has_one_right_answer_and_believable_others(code: str, profile: str) -> None:
    """All generated questions of the runs that pages link to."""
    recording = recorded(code, profile)
    tellers = [Teller(recording, language) for language in LANGUAGES]
    for probe in probes_of(recording):
        name = f"{code} {profile} {probe.text}"
        assert [bool(one.wrong) for one in probe.choices].count(False) == 1, name
        for teller in tellers:
            offered = [teller.answer(probe, one.answer) for one in probe.choices]
            assert len(set(offered)) == len(offered) >= 3, f"{name}: {offered}"
            texts = [*offered, teller.question(probe), teller.next(probe), teller.reason(probe)]
            assert not [one for one in texts if NONSENSE.search(one)], f"{name}: {texts}"
        assert_wrong_by_rules(recording, probe, name)


def assert_wrong_by_rules(recording: MomentRecording, probe: Probe, name: str) -> None:
    """Each wrong answer is what its misconceptions say there, and no move left out saves twice."""
    asked = told_of(recording, probe)
    rules = {row.id: row for row in of_kind(probe.kind)}
    for choice in probe.choices:
        for wrong in choice.wrong:
            assert rules[wrong].rule(asked) == choice.answer, f"{name}: {wrong}"
        if probe.kind == "epochs":
            epochs = [entry[0] for entry in choice.answer]  # type: ignore[union-attr]
            assert epochs == sorted(set(epochs)), name
        if probe.kind == "cause":
            saved = saves(recording.run, int(str(choice.answer)), asked.told[0])
            assert saved is (not choice.wrong), f"{name}: {choice.answer}"


@pytest.mark.night
def test_predictions_are_under_releases_that_exist() -> None:
    for code, profile, kind, topic in PREDICTIONS:
        assert "+" not in profile and "-" not in profile and topic in TOPICS
        probe = next((one for one in probes_of(recorded(code, profile)) if one.kind == kind), None)
        assert probe is not None, (code, profile, kind)
