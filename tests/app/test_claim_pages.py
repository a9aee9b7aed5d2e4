"""The pages of claims: every sentence with its verdicts, every link at its moment."""

from __future__ import annotations

import re
from html import unescape

import pytest
from flask.testing import FlaskClient

from engine.learn.claims import claims
from engine.learn.judging import REFUTED, verdicts
from tests.conftest import sample

UNFILLED = re.compile(r">\s*(?:learn|claims)\.[\w.%-]+\s*<")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_all_sentences_stand_in_both_languages(client: FlaskClient, lang: str) -> None:
    text = unescape(client.get(f"/claims?lang={lang}").text)
    assert UNFILLED.search(text) is None
    for claim in claims().values():
        assert claim.sentence["en" if lang == "en" else "zh-Hans"] in text


@pytest.mark.parametrize("slug", sample(list(claims()), 3))
def test_a_page_opens_the_run_where_it_is_decided(client: FlaskClient, slug: str) -> None:
    text = client.get(f"/claims/{slug}?lang=en").text
    assert UNFILLED.search(text) is None
    frame = unescape(re.search(r'<iframe[^>]* src="([^"]+)"', text)[1])  # type: ignore[index]
    row = verdicts()[slug]
    step = int(re.search(r"step=(\d+)", frame)[1])  # type: ignore[index]
    assert step in {one.step for one in row.values()}
    shown = client.get(frame)
    assert shown.status_code == 200 and f'"step": {step},' in shown.text


def test_one_way_can_be_shown_alone(client: FlaskClient) -> None:
    text = client.get("/claims?show=until").text
    assert 0 < text.count('href="/claims/') < len(claims())
    assert client.get("/claims?show=all").text.count('href="/claims/') == len(claims())


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_deck_tells_no_verdict_before_the_answer(client: FlaskClient, lang: str) -> None:
    text = unescape(client.get(f"/claims?lang={lang}").text)
    assert 'class="pill' not in text
    for claim in claims().values():
        assert claim.truth["en" if lang == "en" else "zh-Hans"] not in text


def test_the_cards_lead_through_the_whole_deck(client: FlaskClient) -> None:
    """Without a script: answer, verdict, next; every sentence comes once."""
    slug, met = "never-two-leaders", []
    for _ in claims():
        text = client.get(f"/claims?card={slug}").text
        assert f'action="/claims/{slug}"' in text
        met.append(slug)
        answer = client.get(f"/claims/{slug}?said=true&lang=en").text
        assert 'id="verdict"' in answer
        following = re.search(r'id="next" href="/claims\?card=([a-z0-9-]+)"', answer)
        assert following is not None
        slug = following[1]
    assert sorted(met) == sorted(claims()) and slug == met[0]


@pytest.mark.parametrize(
    ("slug", "said", "right"),
    [
        ("never-two-leaders", "false", True),
        ("never-two-leaders", "true", False),
        ("acks-all-survives-the-leader", "depends", True),
        ("acks-all-survives-the-leader", "true", False),
        ("preferred-leader-comes-back-at-once", "true", True),
    ],
)
def test_an_answer_is_judged(client: FlaskClient, slug: str, said: str, right: bool) -> None:
    text = client.get(f"/claims/{slug}?said={said}&lang=en").text
    assert (">Right: " in text) == right and (">Wrong. " in text) != right


def test_a_refutation_links_the_run_that_refutes(client: FlaskClient) -> None:
    row = verdicts()["acks-all-survives-the-leader"]
    text = unescape(client.get("/claims/acks-all-survives-the-leader?profile=Z0102&lang=en").text)
    assert row["Z0102"].word == REFUTED
    assert f"/s/{row['Z0102'].name}?profile=Z0102&step={row['Z0102'].step}" in text
    newest = unescape(client.get("/claims/acks-all-survives-the-leader?profile=Z24&lang=en").text)
    assert re.search(r"survived \d+ runs and a search of \d+ states", newest)
    error = "/claims/an-error-after-append-was-not-written?profile=K41&lang=en"
    assert "not tested by a run" in client.get(error).text


def test_every_version_is_said_only_of_what_all_tested(client: FlaskClient) -> None:
    text = unescape(client.get("/claims/epochs-made-truncation-safe?lang=en").text)
    assert "under every release" not in text
    text = client.get("/claims/an-error-after-append-was-not-written?lang=en").text
    assert "Refuted wherever it was tested" in text


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("s=S22&profile=K39&property=leader+%3D+B", "It holds in this run."),
        ("s=S22&profile=K39&property=leader+%3D+A", "It does not hold in this run."),
        ("s=S22&profile=K39&property=leader+%3D", "Line 1, column 9:"),
        ("s=S22&profile=K39&property=HW(Q)+%3D+1", "there is no broker Q"),
        ("s=S22&profile=K99&property=leader+%3D+A", "There is no profile K99"),
        ("s=S22&profile=K39&property=" + "x" * 1001, "at most 1000 characters"),
    ],
)
def test_a_property_of_ones_own_is_judged_or_refused(
    client: FlaskClient, query: str, told: str
) -> None:
    answer = client.get(f"/claims?lang=en&{query}")
    assert answer.status_code == 200 and told in unescape(answer.text)


def test_unknown_claims_are_not_found(client: FlaskClient) -> None:
    assert client.get("/claims/../../etc/passwd").status_code == 404
    assert client.get("/claims/nothing-like-it").status_code == 404
