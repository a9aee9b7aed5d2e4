"""Studies as things people keep: titles, lists, and two studies side by side."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.jobs import Jobs
from app.studies import TITLE_MOST
from tests.app.conftest import TOKEN, post
from tests.app.test_batch_jobs import make_jobs
from tests.app.test_batch_pages import browser_of_another, start

__all__ = ["make_jobs"]


@pytest.fixture
def jobs(make_jobs: Callable[..., Jobs]) -> Jobs:
    return make_jobs()


def bare(page: str) -> str:
    """A page as people read it: no markup, no scripts, one space between words."""
    text = re.sub(r"(?s)<(script|style).*?</\1>|<[^>]*>", " ", page)
    return " ".join(text.replace("\u202f", " ").split())


def test_a_study_has_the_title_its_owner_gave_it(
    app: Flask, client: FlaskClient, jobs: Jobs
) -> None:
    number = start(client, jobs, runs=20)
    named = client.post(
        f"/batch/{number}/title", data={"csrf": TOKEN, "title": "  <b>Prod</b>\n 2026 "}
    )
    assert named.status_code == 303
    page = client.get(f"/batch/{number}").text
    assert "<h1>&lt;b&gt;Prod&lt;/b&gt; 2026</h1>" in page
    assert 'value="&lt;b&gt;Prod&lt;/b&gt; 2026"' in page
    other = browser_of_another(app)
    assert f"/batch/{number}/title" not in other.get(f"/batch/{number}").text
    address = f"/api/batches/{number}/title"
    foreign = other.post(address, json={"title": "x"}, headers={"X-CSRF-Token": "somebody else"})
    assert foreign.status_code == 403
    for title, status in (("x" * (TITLE_MOST + 1), 400), (7, 400), ("y" * TITLE_MOST, 200)):
        assert post(client, address, {"title": title}).status_code == status
    assert post(client, address, {"title": ""}).json["title"] == ""
    assert "y" * TITLE_MOST not in client.get(f"/batch/{number}").text


def test_your_studies_are_found_again(app: Flask, client: FlaskClient, jobs: Jobs) -> None:
    number = start(client, jobs, runs=50, profiles=["Z0102"])
    post(client, f"/api/batches/{number}/title", {"title": "My own one"})
    mine, others = lists(client)
    assert "My own one" in mine
    assert re.search(r"\d of 50 runs lost an acknowledged record under Z0102", mine)
    assert "Z0102 50 done" in mine
    assert others == ""
    theirs = lists(browser_of_another(app))
    assert "Nothing was run yet." in theirs[0]
    assert "My own one" in theirs[1]


def lists(client: FlaskClient) -> tuple[str, str]:
    page = client.get("/batch").text
    _, _, below = page.partition('<section aria-labelledby="recent">')
    mine, _, others = below.partition('<section aria-labelledby="others">')
    return bare(mine), bare(others)


def test_a_study_of_one_run_does_not_pretend_to_know(client: FlaskClient, jobs: Jobs) -> None:
    number = start(client, jobs, runs=1, profiles=["K39"], first_seed=1)
    found = client.get(f"/api/batches/{number}").json
    assert found["cells"][0]["violating"]["hits"] == 0
    assert "None of 1 runs" in (page := bare(client.get(f"/batch/{number}").text))
    assert "so few runs do not tell how rare it is" in page
    assert "below 100 %" not in page
