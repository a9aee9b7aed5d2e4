"""The form of the advisor, and its page."""

from __future__ import annotations

import re
from typing import Any

import pytest
from flask import Flask

from app.batch import records, statistics
from app.batch.advice_result import advice_of, how_long, how_often
from app.batch.jobs import Jobs
from engine.study import advice
from tests.app.conftest import TOKEN, browser
from tests.app.test_batch_jobs import ended
from tests.app.test_failing import jobs

__all__ = ["jobs"]

ASKED = {
    "csrf": TOKEN, "profile": "K41", "brokers": "3", "racks": "1", "factor": "3", "min_isr": "2",
    "acks": "all", "process_days": "5", "process_repair_s": "30", "machine_days": "30",
    "machine_repair_min": "5", "rack_days": "60", "rack_repair_min": "5", "disk_days": "60",
    "disk_repair_min": "5", "runs": "8",
}  # fmt: skip


def asked(app: Flask, jobs: Jobs, **other: str) -> str:
    """The number of a study that has ended."""
    answer = browser(app).post("/advisor", data={**ASKED, **other})
    assert answer.status_code == 303, answer.text
    number = answer.location.rsplit("/", 1)[1]
    ended(jobs, number)
    return number


def test_the_advisor_answers_with_intervals_and_assumptions(app: Flask, jobs: Jobs) -> None:
    client = browser(app)
    assert "min.insync.replicas" in client.get("/advisor").text
    number = asked(app, jobs)
    told = advice_of(jobs.database, jobs.batch(number))
    assert told is not None
    yours = told["yours"]
    assert yours["lost"]["hits"] > 0, "one rack loses power"
    assert 0 < yours["lost"]["low"] < yours["lost"]["rate"] < yours["lost"]["high"]
    assert {one["label"] for one in told["settings"]} > {"", "racks=3", "workload.acks=1"}
    heaviest = {(row.profile, row.cell): row.weights["heaviest"][0]
                for row in records.cells(jobs.database, jobs.batch(number))}  # fmt: skip
    for one in told["settings"]:
        bound = statistics.rule_of_three(one["n"], records.look_of(jobs.batch(number)))
        share = min(1.0, bound * heaviest[one["profile"], one["cell"]])
        unseen = advice.per_year(share, told["window_s"] * 1000)
        assert one["unseen"] == pytest.approx(unseen)
        if not one["lost"]["hits"]:
            assert one["lost"]["high"] == pytest.approx(unseen)
        elif one["lost"]["hits"] < 5:
            assert one["lost"]["high"] >= unseen * 0.999
    assert {bool(one["lost"]["hits"]) for one in told["settings"]} == {True, False}
    for lang in ("en", "zh"):
        page = client.get(f"/batch/{number}?lang={lang}").text
        assert 'id="advice"' in page and "racks=3" in page
        shown = re.sub(r"(?s)<script.*?</script>|href=\S+|src=\S+|action=\S+", "", page)
        assert "advice." not in shown and "batch." not in shown
        assert "10.0 min" in shown, "how long a window is"
        assert "acks=all" in shown, "whose writes wait"


def test_writes_wait_for_what_their_acks_need(app: Flask, jobs: Jobs) -> None:
    """With min.insync.replicas=3 of 3, acks=all waits for every repair, acks=1 for a leader."""
    number = asked(app, jobs, acks="1", min_isr="3", racks="3")
    told = advice_of(jobs.database, jobs.batch(number))
    assert told is not None
    by_label = {one["label"]: one for one in told["settings"]}
    one, everyone = told["yours"], by_label["workload.acks=all"]
    assert (one["acks"], everyone["acks"]) == ("1", "all")
    assert 0 < one["down"]["mean"] < everyone["down"]["mean"] / 2
    assert by_label["min.insync.replicas=2"]["down"] == one["down"], "it is not asked"


def test_what_was_asked_can_be_changed_and_asked_again(app: Flask, jobs: Jobs) -> None:
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


def test_a_study_of_before_still_shows(app: Flask, jobs: Jobs) -> None:
    """Older studies had one time for all repairs, and windows of ten minutes."""
    number = asked(app, jobs, runs="2")
    about = jobs.batch(number).about
    old = {"process_days": 30, "machine_days": 180, "rack_days": 720, "repair_s": 60}
    records.update(jobs.database, number, about={"setting": about["setting"], "failures": old})
    told = advice_of(jobs.database, jobs.batch(number))
    assert told is not None and told["window_s"] == 600
    for lang, words in (("en", "repairs of 60 s"), ("zh", "修复 60 s")):
        assert words in browser(app).get(f"/batch/{number}?lang={lang}").text


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


def test_rates_and_times_are_said_as_people_say_them() -> None:
    assert how_often(2.5) == ("advice.times", {"n": "2.5"})
    assert how_often(0.05) == ("advice.once", {"n": "20"})
    assert how_often(0.0) == ("advice.never", {})
    assert how_long(45) == ("advice.s", {"n": "45"})
    assert how_long(600) == ("advice.min", {"n": "10.0"})
    assert how_long(86_400 * 3) == ("advice.d", {"n": "3.0"})
