"""The pages of claims: every sentence with its verdicts, every link at its moment."""

from __future__ import annotations

import re
from html import unescape

import pytest
from flask.testing import FlaskClient

from engine.learn.claims import claims, verdicts
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


def test_what_is_no_claim_is_not_found(client: FlaskClient) -> None:
    assert client.get("/claims/../../etc/passwd").status_code == 404
    assert client.get("/claims/nothing-like-it").status_code == 404
