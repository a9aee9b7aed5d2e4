"""Claims: each file is read strictly, and each verdict is what playing gives."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from engine.learn import claims as module
from engine.learn.claims import Claim, claims, read, summary, verdicts
from engine.model.errors import BadInput
from engine.model.profiles import GENERATIONS
from engine.properties.evaluate import Verdict
from tests.conftest import THOROUGH

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


def test_the_table_of_verdicts_is_written_anew_on_demand(rewrite: bool) -> None:
    if rewrite:
        table = {
            slug: {name: list(_pair(one.judged(name))) for name in one.profiles}
            for slug, one in claims().items()
        }
        lines = [f'  "{slug}": {json.dumps(row)}' for slug, row in table.items()]
        (FOLDER / module.VERDICTS).write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
        verdicts.cache_clear()
    table_of = verdicts()
    assert table_of.keys() == claims().keys()
    for slug, row in table_of.items():
        assert tuple(row) == claims()[slug].profiles, slug


def _pair(verdict: Verdict) -> tuple[bool, int]:
    return verdict.holds, verdict.step


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_verdict_is_what_playing_gives(claim: Claim) -> None:
    for name in profiles_of(claim):
        played, told = claim.judged(name), verdicts()[claim.slug][name]
        assert played == told, f"{claim.slug} under {name}: rewrite with --rewrite, read the diff"


def test_claims_stand_in_every_way_a_claim_can() -> None:
    ways = {summary(row)[0] for row in verdicts().values()}
    assert ways >= {module.HOLDS, module.NEVER, module.SINCE, module.UNTIL}


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ((True, True, True), (module.HOLDS, "")),
        ((False, False, False), (module.NEVER, "")),
        ((False, True, True), (module.SINCE, "Z011")),
        ((True, False, False), (module.UNTIL, "Z0102")),
        ((True, False, True), (module.SOME, "")),
    ],
)
def test_a_summary_says_where_it_turns(values: tuple[bool, ...], told: tuple[str, str]) -> None:
    row = dict(zip(("Z0102", "Z011", "K39"), (Verdict(one, 0) for one in values), strict=True))
    assert summary(row) == told


GOOD = """sentence: {en: A, zh-Hans: 甲}
truth: {en: B, zh-Hans: 乙}
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
    (GOOD.replace("S22", "S999"), "mine.yaml:4:6", "There is no scenario S999 in the library."),
    (GOOD.replace("leader = A", "leader = "), "mine.yaml:5:11", "Line 1, column 10:"),
    (GOOD.replace("en: A, ", ""), "mine.yaml:1:11", "The text in en is missing."),
    (GOOD.replace("guide", "gossip"), "mine.yaml:3:9", ""),
    (GOOD + "moves: [jump over]\n", "mine.yaml:6:9", ""),
    (GOOD + "profiles: [K99]\n", "mine.yaml:6:12", ""),
    (GOOD + "colour: red\n", "mine.yaml:6:1", ""),
    (GOOD + "moves: [settle]\nfirst: [settle]\n", "mine.yaml:7", "Moves of its own"),
]


@pytest.mark.parametrize(("text", "where", "sentence"), BAD)
def test_what_is_no_claim_is_refused_with_its_place(text: str, where: str, sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        read(text, "mine")
    assert caught.value.where.startswith(where), caught.value.where
    assert caught.value.sentence.startswith(sentence)
