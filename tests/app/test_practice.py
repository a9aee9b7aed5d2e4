"""The deck and its cards: every card in both languages, judged by its run, at its moment."""

from __future__ import annotations

import re
from html import unescape

import pytest
from flask.testing import FlaskClient

from app.learn.practice import href
from engine.learn import judging
from engine.learn.claims import claims
from engine.learn.deck import CLAIM, INTERVIEW, PREDICTION, PREDICTIONS, deck
from engine.learn.interview import moments, questions
from engine.learn.topics import TOPICS
from tests.conftest import sample

UNFILLED = re.compile(r">\s*(?:learn|claims|interview|practice|memory)\.[\w.%-]+\s*<")
LANGS = {"en": "en", "zh": "zh-Hans"}
CARDS = list(deck().values())
OF_CLAIMS = [one for one in CARDS if one.kind == CLAIM]


@pytest.mark.parametrize("lang", LANGS)
def test_the_deck_lists_every_card_once_by_topic(client: FlaskClient, lang: str) -> None:
    text = client.get(f"/practice?lang={lang}").text
    assert UNFILLED.search(text) is None
    assert re.findall(r'data-topic="(\w+)"', text) == list(TOPICS)
    assert sorted(re.findall(r'data-card="([^"]+)"', text)) == sorted(deck())
    told = unescape(text)
    for claim in claims().values():
        assert claim.sentence[LANGS[lang]] in told and claim.truth[LANGS[lang]] not in told
    for item in questions().values():
        assert item.ask[LANGS[lang]] in told and item.facts[0][LANGS[lang]] not in told


@pytest.mark.parametrize("card", sample(CARDS, 20), ids=lambda one: one.id)
@pytest.mark.parametrize("lang", LANGS)
def test_a_card_opens(client: FlaskClient, card: object, lang: str) -> None:
    address = href(card)  # type: ignore[arg-type]
    answer = client.get(f"{address}{'&' if '?' in address else '?'}lang={lang}")
    assert answer.status_code == 200 and UNFILLED.search(answer.text) is None
    assert f'data-card="{card.id}"' in answer.text  # type: ignore[attr-defined]


def test_the_cards_of_a_kind_lead_through_all_of_them(client: FlaskClient) -> None:
    """Without a script: each card leads to the next of its kind, and every card comes once."""
    address, met = href(OF_CLAIMS[0]), []
    for _ in OF_CLAIMS:
        text = client.get(address).text
        assert f'action="{address}"' in text and "verdict" not in text
        met.append(address)
        following = re.search(r'id="next" href="([^"]+)"', text)
        assert following is not None
        address = unescape(following[1])
    assert sorted(met) == sorted(map(href, OF_CLAIMS)) and address == met[0]


@pytest.mark.parametrize("card", sample(OF_CLAIMS, 16), ids=lambda one: one.id)
def test_a_claim_is_judged_where_its_run_decides(client: FlaskClient, card: object) -> None:
    assert isinstance(card, type(OF_CLAIMS[0]))
    for said in ("true", "false"):
        text = client.get(f"/practice/{card.id}?said={said}&lang=en").text
        good = card.right is (said == "true")
        assert f'class="verdict {"ok" if good else "bad"}"' in text
        assert UNFILLED.search(text) is None
    frame = unescape(re.search(r'<iframe[^>]* src="([^"]+)"', text)[1])  # type: ignore[index]
    row = judging.verdicts()[card.name]
    step = int(re.search(r"step=(\d+)", frame)[1])  # type: ignore[index]
    assert step in {one.step for one in row.values()}


def test_a_claim_is_shown_under_another_release(client: FlaskClient) -> None:
    row = judging.verdicts()["acks-all-survives-the-leader"]
    address = "/practice/acks-all-survives-the-leader?said=true&lang=en"
    text = unescape(client.get(f"{address}&profile=Z0102").text)
    assert row["Z0102"].word == judging.REFUTED
    assert f"/s/{row['Z0102'].name}?profile=Z0102&step={row['Z0102'].step}" in text
    newest = unescape(client.get(f"{address}&profile=Z24").text)
    assert re.search(r"survived \d+ runs and a search of \d+ states", newest)


def test_a_question_opens_its_proof_and_leads_on(client: FlaskClient) -> None:
    for name, item in list(questions().items())[::6]:
        text = unescape(client.get(f"/practice/{name}?lang=en").text)
        for told in (item.ask, *item.facts, item.wrong, item.follow, item.answer):
            assert told["en"] in text, name
        assert f'data-then="{item.then}"' in text and questions()[item.then].ask["en"] in text
        proof = f"/s/{item.scenario}?profile={item.profile}&step={moments()[name]}"
        assert f'href="{proof}"' in text
    assert client.get(proof).status_code == 200


def test_a_sheet_has_what_was_asked_for(client: FlaskClient) -> None:
    text = unescape(client.get("/practice/sheet?only=Q39,Q2,Q2,nothing&lang=en").text)
    assert text.count("<article>") == 2
    assert questions()["Q39"].ask["en"] in text and "<svg viewBox" in text
    assert client.get("/practice/sheet").text.count("<article>") > 5


@pytest.mark.parametrize(
    ("address", "there"),
    [
        ("/learn", "/practice"),
        ("/learn?end=1", "/practice"),
        ("/learn?n=1&lang=zh", "/practice/question?s=S02&profile=K39&kind=hw&lang=zh"),
        ("/learn?n=2&answer=1", "/practice/question?s=S10&profile=K39&kind=leader&answer=1"),
        ("/learn?mix=1", "/practice/question?s=S03&profile=K39&kind=truncate"),
        ("/learn?s=S22&q=hw@1.0.1", "/practice/question?s=S22&q=hw%401.0.1"),
        ("/interview", "/practice"),
        ("/interview/sheet?only=Q1", "/practice/sheet?only=Q1"),
        ("/claims", "/practice"),
        ("/claims?show=until", "/practice"),
        ("/claims?card=never-two-leaders", "/practice/two-brokers-may-lead-at-once"),
        ("/claims/never-two-leaders?said=true", "/practice/two-brokers-may-lead-at-once?said=true"),
        ("/claims?s=S22&property=leader+%3D+A", "/property?s=S22&property=leader+%3D+A"),
    ],
)
def test_addresses_of_earlier_pages_lead_to_the_same(
    client: FlaskClient, address: str, there: str
) -> None:
    answer = client.get(address)
    assert answer.status_code == 301 and answer.headers["Location"] == there
    assert client.get(there).status_code in (200, 400)


@pytest.mark.parametrize("name", ["../../etc/passwd", "nothing-like-it", "Q999", "acks-99"])
def test_unknown_cards_are_not_found(client: FlaskClient, name: str) -> None:
    assert client.get(f"/practice/{name}").status_code == 404
    assert client.get(f"/claims/{name}").status_code == 404


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("s=S22&profile=K39&property=leader+%3D+B", "It holds in this run."),
        ("s=S22&profile=K39&property=leader+%3D+A", "It does not hold in this run."),
        ("s=S22&profile=K39&property=leader+%3D", "Line 1, column 9:"),
        ("s=S22&profile=K39&property=HW(Q)+%3D+1", "There is no broker “Q”"),
        ("s=S22&profile=K99&property=leader+%3D+A", "There is no profile K99"),
        ("s=S22&profile=K39&property=" + "x" * 1001, "at most 1000 characters"),
    ],
)
def test_a_property_of_ones_own_is_judged_or_refused(
    client: FlaskClient, query: str, told: str
) -> None:
    answer = client.get(f"/property?lang=en&{query}")
    assert answer.status_code == 200 and told in unescape(answer.text)


def test_every_topic_has_questions_and_predictions_are_of_the_deck() -> None:
    assert {one.topic for one in CARDS if one.kind == INTERVIEW} == set(TOPICS)
    assert sum(one.kind == PREDICTION for one in CARDS) == len(PREDICTIONS)
