"""What share of what can happen a study's runs met, over HTTP: asked, cancelled, shown, refused."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from flask.testing import FlaskClient

from app.batch.jobs import Jobs
from app.explore import worker
from app.explore.search_request import MetAsk, budgets_of
from engine.model.errors import InputError
from engine.scenarios import file
from tests.app.conftest import post
from tests.app.test_batch_jobs import ended, make_jobs

__all__ = ["make_jobs"]

PATIENCE_S = 120


@pytest.fixture
def study(client: FlaskClient, make_jobs: Callable[..., Jobs]) -> str:
    """The number of a small study that has ended."""
    jobs = make_jobs()
    asked = {"scenario": "S61", "runs": 6, "profiles": ["Z0102", "K39"]}
    number = str(post(client, "/api/batches", asked).json["id"])
    ended(jobs, number)
    return number


def ask(**budgets: int) -> MetAsk:
    return MetAsk(file.find("S61"), "K39", 0, 6, budgets_of(budgets))


def token(client: FlaskClient, study: str) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', client.get(f"/batch/{study}/met").text)
    assert found
    return found[1]


def answered(client: FlaskClient, address: str) -> str:
    end = time.monotonic() + PATIENCE_S
    page = client.get(address).text
    while "data-running" in page and time.monotonic() < end:
        time.sleep(0.2)
        page = client.get(address).text
    return page


@pytest.mark.parametrize(
    ("lang", "share", "mine"),
    [
        ("en", r"Of 125 situations that can be reached, 6 runs met (\d+): [\d.]+ %", "Kafka 3.9"),
        ("zh", r"可以到达的局面有 125 种，6 次运行遇到了 (\d+) 种：[\d.]+ %", "Kafka 3.9"),
    ],
)
def test_a_share_is_told_on_its_page_and_on_the_study(
    client: FlaskClient, study: str, lang: str, share: str, mine: str
) -> None:
    before = client.get(f"/batch/{study}?lang={lang}").text
    assert f"/batch/{study}/met" in before and not re.search(share, before)
    asked = {"csrf": token(client, study), "profile": "K39", "crashes": "1", "writes": "1"}
    answer = client.post(f"/batch/{study}/met?lang={lang}", data=asked)
    assert answer.status_code == 303
    page = answered(client, answer.headers["Location"])
    found = re.search(share, page)
    assert found and 1 < int(found[1]) < 125, page
    ways = re.findall(r'href="(/r/[0-9a-f]{16})"', page)
    assert len(ways) == 5 and client.get(ways[0]).status_code == 200
    after = client.get(f"/batch/{study}?lang={lang}").text
    section = after[after.index('id="met"') :]
    assert re.search(share, section) and mine in section[: section.index("</section>")]


def test_a_world_too_large_has_no_share(
    client: FlaskClient, study: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.explore.search_request.STATES", 50)
    found = worker.met_answer(ask(crashes=2, writes=2), lambda _: None, lambda: False)
    assert found["card"]["share"] is None and found["card"]["runs"] == 6
    state = {"answer": found, "state": "done", "over": True}
    monkeypatch.setattr("app.explore.searches.Searches.find", lambda *_: type("One", (), state)())
    monkeypatch.setattr("app.explore.searches.Searches.place", lambda *_: 0)
    page = client.get(f"/batch/{study}/met/answer?profile=K39&crashes=2&writes=2").text
    assert f"Not exhausted: at least {found['card']['situations']} situations" in page
    assert "%" not in page and "<progress" not in page


def test_a_cancelled_search_shows_the_runs_so_far_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "EVERY_S", 0.0)
    told: list[dict[str, Any]] = []

    def at(doing: str) -> Callable[[], bool]:
        return lambda: bool(told) and told[-1]["doing"] == doing

    runs = worker.met_answer(ask(writes=1), told.append, at("runs"))
    assert runs["cancelled"] and 0 < runs["card"]["runs"] < 6
    assert {one["doing"] for one in told} == {"search", "runs"}
    told.clear()
    search = worker.met_answer(ask(crashes=2, writes=2), told.append, at("search"))
    assert search["cancelled"] and search["card"]["runs"] == 0
    assert search["card"]["share"] is None


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({"crashes": "9"}, 400),
        ({"profile": "K41"}, 400),
        ({"cell": "1"}, 400),
    ],
)
def test_what_cannot_be_asked_is_refused(
    client: FlaskClient, study: str, asked: dict[str, str], status: int
) -> None:
    answer = client.post(f"/batch/{study}/met", data={**asked, "csrf": token(client, study)})
    assert answer.status_code == status
    assert client.post(f"/batch/{study}/met", data=asked).status_code == 403
    assert client.get("/batch/000000000000/met").status_code == 404


def test_the_same_question_has_one_number_and_another_study_another() -> None:
    one = ask(crashes=1)
    assert one.number == ask(crashes=1).number != ask(crashes=2).number
    assert one.same_study(ask(crashes=2, writes=1))
    assert not one.same_study(MetAsk(one.scenario, "K41", 0, 6, one.budgets))
    with pytest.raises(InputError, match="at most 3"):
        ask(crashes=4).check()
