"""Claims: each file is read strictly, and each verdict is what playing gives."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from engine.learn import claims as module
from engine.learn import judging
from engine.learn.claims import Claim, claims, read
from engine.learn.judging import Judgement, verdicts
from engine.model.errors import InputError
from engine.model.profiles import GENERATIONS
from engine.properties.evaluate import Verdict
from engine.properties.recording import MomentRecording
from engine.scenarios.file import library
from tests.conftest import THOROUGH, sample

SAMPLE = ("Z0102", "Z011", "K39", "K41")
FOLDER = Path(module.__file__).parent / module.FOLDER
CLAIMS = [pytest.param(one, id=one.slug) for one in claims().values()]


def profiles_of(claim: Claim) -> list[str]:
    return [name for name in claim.profiles if THOROUGH or name in SAMPLE]


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_claim_is_told_in_chinese(claim: Claim) -> None:
    for texts in (claim.sentence, claim.truth):
        assert re.search("[一-鿿]", texts["zh-Hans"]), texts


def test_there_are_many() -> None:
    assert len(claims()) >= 40
    assert {one.source for one in claims().values()} == set(module.SOURCES)


def test_the_table_of_verdicts_is_written_on_demand(rewrite: bool) -> None:
    if rewrite:
        (FOLDER / judging.VERDICTS).write_text(judging.write(judging.compute()), "utf-8")
        verdicts.cache_clear()
    table_of = verdicts()
    assert table_of.keys() == claims().keys()
    for slug, row in table_of.items():
        assert tuple(row) == claims()[slug].profiles, slug


@pytest.mark.parametrize("claim", sample(CLAIMS, 4))
def test_the_run_of_a_verdict_shows_it(claim: Claim) -> None:
    """The run that a refutation names refutes the claim at its step; an own run that survives has
    not refuted it."""
    for name in profiles_of(claim):
        kept = verdicts()[claim.slug][name]
        try:
            own = claim.judged(name)
        except InputError:  # a move of its run does not exist in this release
            assert kept == Judgement(judging.UNTESTED, 0), (claim.slug, name)
            continue
        if kept.source == judging.OWN:
            assert own.step == kept.step, f"{claim.slug} under {name}: rewrite with --rewrite"
            assert own.holds or kept.word != judging.SURVIVED
        else:
            recording = MomentRecording(kept.run(claim, name))
            assert judging.refutes(claim, recording) == kept.step, (claim.slug, name)


CODES = None if THOROUGH else [*sample([one.code for one in library().values()], 24), "R20", "S74"]


@pytest.mark.parametrize("profile", GENERATIONS if THOROUGH else ("Z0102",))
def test_no_claim_contradicts_a_run_of_the_library(profile: str) -> None:
    counted: Counter[str] = Counter()
    for witness in judging.witnesses(profile, CODES or ()):
        for slug, claim in claims().items():
            if profile not in claim.profiles or not claim.everywhere:
                continue
            step = judging.refutes(claim, witness.recording)
            kept = verdicts()[slug][profile]
            told = f"{slug} under {profile} is {kept.word}; {witness.name} says {step}: --rewrite"
            counted[slug] += step is not None
            assert step is None or step == -1 or kept.word == judging.REFUTED, told
            assert step is None or kept.word != judging.UNTESTED, told
    assert counted, "no run put any claim to the test"


def test_a_claim_that_no_own_run_refutes_is_asked_of_others_too() -> None:
    """What only its own run can show says so: it survived one run."""
    for slug, claim in claims().items():
        for name, one in verdicts()[slug].items():
            if not claim.everywhere and one.word == judging.SURVIVED:
                assert (one.runs, one.states) == (1, 0), (slug, name)


@pytest.mark.parametrize(
    ("slug", "profile", "word"),
    [
        ("acks-all-survives-the-leader", "Z0102", "refuted"),
        ("acks-all-survives-the-leader", "Z21", "refuted"),
        ("acks-all-survives-the-leader", "Z24", "survived"),
        ("acks-all-survives-the-leader", "K41", "survived"),
        ("acks-1-may-be-unreadable", "Z08", "survived"),
        ("readers-may-see-one-copy", "K36", "survived"),
        ("readers-may-see-one-copy", "K37", "refuted"),
        ("a-clean-election-may-lose", "K39", "survived"),
        ("a-clean-election-may-lose", "K41", "untested"),
        ("an-error-after-append-was-not-written", "K36", "refuted"),
        ("an-error-after-append-was-not-written", "K41", "untested"),
        ("kafka-never-loses-what-it-confirmed", "K41", "refuted"),
        ("epochs-made-truncation-safe", "Z20", "refuted"),
        ("epochs-made-truncation-safe", "Z21", "refuted"),
        ("epochs-made-truncation-safe", "Z24", "survived"),
        ("epochs-made-truncation-safe", "K41", "survived"),
    ],
)
def test_well_known_verdicts(slug: str, profile: str, word: str) -> None:
    assert verdicts()[slug][profile].word == word


@pytest.mark.night
def test_a_search_refutes_where_it_finds_a_run_that_breaks_the_property() -> None:
    claim = claims()["acks-all-survives-the-leader"]
    assert claim.search is not None
    found = judging.judgement(claim, "Z0102", ())
    assert (found.word, found.source) == (judging.REFUTED, judging.SEARCH) and found.moves
    recording = MomentRecording(found.run(claim, "Z0102"))
    assert judging.refutes(claim, recording) == found.step
    survived = judging.judgement(claim, "Z24", ())
    assert survived.word == judging.SURVIVED and survived.states >= claim.search.states


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("survived", "survived", "untested"), (("", True),)),
        (("refuted", "untested", "refuted"), (("", False),)),
        (("refuted", "survived", "survived"), (("K39", True), ("Z0102", False))),
        (("survived", "refuted", "refuted"), (("Z0102", True), ("K39", False))),
    ],
)
def test_a_claim_has_a_card_for_each_side(
    words: tuple[str, ...], told: tuple[tuple[str, bool], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    claim = read(GOOD, "mine")
    names = ("Z0102", "Z011", "K39")
    row = {name: Judgement(word, 0) for name, word in zip(names, words, strict=True)}
    monkeypatch.setattr(judging, "verdicts", lambda: {"mine": row})
    assert judging.sides(claim) == told


def test_a_judgement_is_read_back_as_written() -> None:
    for row in verdicts().values():
        for one in row.values():
            assert Judgement.from_json(json.loads(json.dumps(one.to_json()))) == one


GOOD = """sentence: {en: A, zh-Hans: 甲}
truth: {en: B, zh-Hans: 乙}
topic: isr
source: guide
run: S22
property: "leader = A"
"""


def test_a_claim_of_ones_own_is_read() -> None:
    claim = read(GOOD, "mine")
    assert claim.profiles == tuple(GENERATIONS) and claim.moves is None
    assert claim.judged("K39") == Verdict(False, 226)


BAD = [
    ("", "mine.yaml:1:1", "The text is empty."),
    (GOOD.replace("run: S22\n", ""), "mine.yaml", "A claim needs its run."),
    (GOOD.replace("S22", "S999"), "mine.yaml:5:6", "There is no scenario S999 in the library."),
    (GOOD.replace("leader = A", "leader = "), "mine.yaml:6:11", "Line 1, column 10:"),
    (GOOD.replace("en: A, ", ""), "mine.yaml:1:11", "The text in en is missing."),
    (GOOD.replace("guide", "gossip"), "mine.yaml:4:9", ""),
    (GOOD + "moves: [jump over]\n", "mine.yaml:7:9", ""),
    (GOOD + "profiles: [K99]\n", "mine.yaml:7:12", ""),
    (GOOD + "colour: red\n", "mine.yaml:7:1", ""),
    (GOOD + 'everywhere: "leader ="\n', "mine.yaml:7:13", "Line 1, column 9:"),
    (GOOD + "search: {reach: x, states: 99999}\n", "mine.yaml:7:", ""),
    (GOOD + "moves: [settle]\nfirst: [settle]\n", "mine.yaml:8", "Moves of its own"),
]


@pytest.mark.parametrize(("text", "where", "sentence"), BAD)
def test_malformed_claims_are_refused_with_their_place(
    text: str, where: str, sentence: str
) -> None:
    with pytest.raises(InputError) as caught:
        read(text, "mine")
    assert caught.value.where.startswith(where), caught.value.where
    assert caught.value.sentence.startswith(sentence)
