"""The form of the advisor, and its page."""

from __future__ import annotations

import re
import threading
from typing import Any

import pytest
from flask import Flask

from app.advisor.result import advice_of, better, how_long, how_often
from app.batch import cycles, records
from app.batch.jobs import Jobs
from app.batch.result import result
from app.batch.wire import BatchResult
from engine.advisor import importance
from engine.advisor.cycles import Tree
from engine.sim.run import play_all
from tests.app.conftest import TOKEN, browser
from tests.app.test_batch_jobs import ended
from tests.app.test_failing import jobs
from tests.wire import held

__all__ = ["jobs"]

ASKED = {
    "csrf": TOKEN, "profile": "K41", "brokers": "3", "racks": "1", "factor": "3", "min_isr": "2",
    "acks": "all", "process_days": "5", "process_repair_s": "30", "machine_days": "30",
    "machine_repair_min": "5", "rack_days": "60", "rack_repair_min": "5", "disk_days": "60",
    "disk_repair_min": "5", "runs": "1",
}  # fmt: skip


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small trees, and one for a pilot: the pages are the same."""
    monkeypatch.setattr(importance, "FLOOR", (1.0, 0.1, 0.02, 0.01))
    monkeypatch.setattr(cycles, "PILOT_TREES", 1)


def asked(app: Flask, jobs: Jobs, **other: str) -> str:
    """The number of a study that has ended."""
    answer = browser(app).post("/advisor", data={**ASKED, **other})
    assert answer.status_code == 303, answer.text
    number = answer.location.rsplit("/", 1)[1]
    ended(jobs, number)
    return number


def test_the_answer_comes_in_the_language_that_the_address_asked_for(
    app: Flask, jobs: Jobs
) -> None:
    """A shared link shows its language and sets no cookie: what follows keeps it."""
    client = browser(app)
    assert 'action="/advisor?lang=zh"' in client.get("/advisor?lang=zh").text
    answer = client.post("/advisor?lang=zh", data=ASKED)
    assert answer.location.endswith("?lang=zh")
    ended(jobs, answer.location.rsplit("/", 1)[1].split("?")[0])
    named = client.post(answer.location.replace("?", "/title?"), data={**ASKED, "title": "x"})
    assert named.location == answer.location
    assert 'action="/batch?lang=zh"' in client.get("/batch?lang=zh").text


def test_the_advisor_answers_with_intervals_and_assumptions(app: Flask, jobs: Jobs) -> None:
    client = browser(app)
    assert "min.insync.replicas" in client.get("/advisor").text
    number = asked(app, jobs)
    held(result(jobs, number), BatchResult)
    told = advice_of(jobs.database, jobs.batch(number))
    assert told is not None
    yours = told["yours"]
    assert yours["lost"]["hits"] > 0, "one rack loses power"
    assert 0 < yours["lost"]["low"] < yours["lost"]["rate"] < yours["lost"]["high"]
    assert 0 < yours["down"]["low"] <= yours["down"]["mean"] <= yours["down"]["high"]
    assert yours["lost"]["rate"] <= 1.2 * yours["overlaps"], "no loss without an overlap"
    assert yours["ways"][0]["path"] == ["rack"]
    assert {one["label"] for one in told["settings"]} > {"", "racks=3", "workload.acks=1"}
    for lang in ("en", "zh"):
        page = client.get(f"/batch/{number}?lang={lang}").text
        assert 'id="advice"' in page and "racks=3" in page
        shown = re.sub(r"(?s)<script.*?</script>|href=\S+|src=\S+|action=\S+", "", page)
        assert "advice." not in shown and "batch." not in shown
        assert ("rack" if lang == "en" else "机架") in shown
        assert "acks=all" in shown, "whose writes wait"


@pytest.mark.parametrize(
    ("acks", "said"),
    [("all", "all replicas are out together"), ("1", "so no formula gives a bound")],
)
def test_before_the_first_tree_the_formula_answers(
    app: Flask, jobs: Jobs, monkeypatch: pytest.MonkeyPatch, acks: str, said: str
) -> None:
    begun, goes_on = threading.Event(), threading.Event()
    tree = cycles.Tree

    def waits(*asked: Any) -> Tree:
        begun.set()
        assert goes_on.wait(60)
        return tree(*asked)

    monkeypatch.setattr(cycles, "Tree", waits)
    client = browser(app)
    answer = client.post("/advisor", data={**ASKED, "acks": acks})
    number = answer.location.rsplit("/", 1)[1]
    assert begun.wait(60)
    page = client.get(f"/batch/{number}").text
    for text in (page, client.get(f"/batch/{number}/advice").text):
        assert 'id="first"' in text and said in text
    assert f'href="/advisor?again={number}"' in page, "what is asked can be changed at once"
    goes_on.set()
    ended(jobs, number)
    assert 'id="advice"' in client.get(f"/batch/{number}/advice").text


def test_writes_wait_for_what_their_acks_need(app: Flask, jobs: Jobs) -> None:
    """With min.insync.replicas=3 of 3, acks=all waits for every repair, acks=1 for a leader."""
    number = asked(app, jobs, acks="1", min_isr="3", racks="3", runs="2")
    told = advice_of(jobs.database, jobs.batch(number))
    assert told is not None
    by_label = {one["label"]: one for one in told["settings"]}
    one, everyone = told["yours"], by_label["workload.acks=all"]
    assert (one["acks"], everyone["acks"]) == ("1", "all")
    page = browser(app).get(f"/batch/{number}").text
    assert "Kafka promises nothing to a record that was written with acks=1" in page
    assert 0 < one["down"]["mean"] < everyone["down"]["mean"] / 2


def test_a_request_can_be_changed_and_sent_again(app: Flask, jobs: Jobs) -> None:
    wanted = {"acks": "1", "unclean": "on", "min_isr": "1", "disk_days": "77", "runs": "2"}
    number = asked(app, jobs, **wanted)
    client = browser(app)
    assert f'href="/advisor?again={number}"' in client.get(f"/batch/{number}").text
    form = client.get(f"/advisor?again={number}").text
    for name, value in {**ASKED, **wanted}.items():
        if name in ("acks", "profile"):
            assert f'value="{value}" selected' in form, name
        elif name not in ("csrf", "unclean"):
            assert re.search(f'name="{name}"[^>]* value="{value}"', form), name
    assert 'name="unclean" checked' in form
    assert client.get("/advisor?again=nothing").status_code == 404


def test_a_loss_opens_the_cycle_that_lost(app: Flask, jobs: Jobs) -> None:
    """Its failures are lines of a fault plan: the run loses what the tree counted."""
    number = asked(app, jobs)
    batch = jobs.batch(number)
    _, failures = records.failures(jobs.database, batch)
    assert failures
    one = failures[0]
    sim = play_all(records.run_in(batch, one.profile, one.cell, one.seed))
    assert one.invariant in {name for name, *_ in sim.broken}
    url = f"/batch/{number}/failure/{one.profile}/{one.cell}/{one.seed}/{one.invariant}"
    assert browser(app).get(url).status_code == 302
    assert browser(app).get(f"/batch/{number}/row/{one.profile}/{one.cell}/999").status_code == 404


def test_failures_can_begin_as_they_were_counted(app: Flask) -> None:
    form = browser(app).get("/advisor?preset=fleet").text
    assert re.search('name="disk_days"[^>]* value="23248"', form) and "Backblaze" in form
    assert browser(app).get("/advisor?preset=nothing").status_code == 200


@pytest.mark.night
def test_the_cost_of_a_study_is_shown_before(app: Flask, jobs: Jobs) -> None:
    answer = browser(app).post("/advisor", data={**ASKED, "act": "estimate"})
    assert answer.status_code == 200 and 'id="estimated"' in answer.text
    assert 'name="machine_days"' in answer.text and 'value="30"' in answer.text


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"brokers": "10"}, "brokers is a whole number from 1 to 9"),
        ({"process_repair_s": "x"}, "process_repair_s is a whole number"),
        ({"disk_repair_min": "481"}, "disk_repair_min is a whole number from 1 to 480"),
        ({"factor": "5"}, "fewer brokers than replicas"),
        ({"profile": "K99"}, "K99"),
        ({"acks": "most"}, "acks is all or 1"),
        ({"runs": "999999"}, "runs"),
    ],
)
def test_a_wrong_answer_is_one_sentence(
    app: Flask, jobs: Jobs, wrong: dict[str, Any], why: str
) -> None:
    answer = browser(app).post("/advisor", data={**ASKED, **wrong})
    assert answer.status_code == 400
    assert why in answer.text


def test_better_is_said_of_what_can_be_told() -> None:
    def one(low: float, high: float, waits: float = 10.0) -> dict[str, Any]:
        down = {"mean": waits, "low": waits * 0.9, "high": waits * 1.1}
        return {"lost": {"rate": low, "low": low, "high": high}, "down": down}

    yours = one(0.01, 0.02)
    assert better(one(0.001, 0.005), yours)
    assert better(one(0.01, 0.02, 5.0), yours)
    assert not better(one(0.0, 9.0, 5.0), yours), "it waits less, but nobody knows what it loses"
    assert not better(one(0.001, 0.015), yours)


def test_rates_and_times_are_said_as_people_say_them() -> None:
    assert how_often(2.5) == ("advice.times", {"n": "2.5"})
    assert how_often(0.05) == ("advice.once", {"n": "20"})
    assert how_often(4e-8) == ("advice.once.millions", {"n": "25"})
    assert how_often(0.0) == ("advice.never", {})
    assert how_long(45) == ("advice.s", {"n": "45"})
    assert how_long(600) == ("advice.min", {"n": "10.0"})
    assert how_long(86_400 * 3) == ("advice.d", {"n": "3.0"})
