"""Answers are counted for browsers that agree, once each, as numbers; shown from twenty on."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from app.batch.intervals import exact
from app.context.services import KEY
from app.core.refusals import RequestError
from app.storage.answered import OTHER, RIGHT, Answers
from app.storage.database import Database
from app.storage.models import AnswerCountRow as Row
from engine.learn.probes import probe_at, probes_of
from engine.properties.recording import MomentRecording
from engine.scenarios.file import find
from engine.sim.run import Run
from tests.app.conftest import TOKEN

ASKED = "truncate@156.0.1"


def send(client: FlaskClient, **body: Any) -> Any:
    return client.post("/api/answers", json=body, headers={"X-CSRF-Token": TOKEN})


def rows(app: Flask) -> dict[tuple[str, str, str], int]:
    with app.extensions[KEY].database.reading() as session:
        return {(r.kind, r.question, r.said): r.n for r in session.scalars(select(Row))}


@pytest.fixture
def counts(empty_database: Path, tmp_path: Path) -> Any:
    copy = tmp_path / "counts.db"
    copy.write_bytes(empty_database.read_bytes())
    database = Database(f"sqlite:///{copy}")
    yield database
    database.close()


def test_an_answer_is_judged_here_and_counted_once(app: Flask, client: FlaskClient) -> None:
    probe = probe_at(MomentRecording(Run(find("S22"), "K39")), ASKED)
    wrong = next(i for i, one in enumerate(probe.choices) if one.wrong)
    question = {"s": "S22", "profile": "K39", "q": ASKED}
    assert send(client, **question, answer=wrong).json == {"ok": True, "counted": True}
    assert send(client, **question, answer=probe.right).json == {"ok": True, "counted": False}
    # In another order it is the same question.
    assert send(client, **{**question, "q": f"{ASKED}~7"}, answer=0).json["counted"] is False
    said = probe.choices[wrong].wrong[0]
    assert rows(app) == {("truncate", f"S22 K39 {ASKED}", said): 1}


def test_what_is_shown_by_hand_counts_too_and_an_own_run_only_for_its_kind(
    app: Flask, client: FlaskClient
) -> None:
    assert send(client, s="S22", profile="K39", q=ASKED, by="99").json["counted"]
    run = Run(find("S61"), "K39", 7)
    probe = probes_of(MomentRecording(run))[0]
    digest = app.extensions[KEY].replays.register(run)
    assert send(client, run=digest, q=probe.text, answer=probe.right).json["counted"]
    assert rows(app) == {("truncate", f"S22 K39 {ASKED}", OTHER): 1, (probe.kind, "", RIGHT): 1}


def test_nothing_is_counted_by_looking_and_nothing_without_our_token(
    app: Flask, client: FlaskClient
) -> None:
    client.get(f"/learn?s=S22&profile=K39&q={ASKED}&answer=0")
    answer = client.post("/api/answers", json={"s": "S22", "q": ASKED, "answer": 0})
    assert answer.status_code == 403 and rows(app) == {}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"s": "S22", "profile": "K39", "q": ASKED},
        {"s": "S22", "profile": "K39", "q": ASKED, "answer": 9},
        {"s": "S22", "profile": "K39", "q": ASKED, "answer": True},
        {"s": "S22", "profile": "K39", "q": "hw@1.0.1", "answer": 0},
        {"s": "S22", "profile": "Z" * 401, "q": ASKED, "answer": 0},
        {"run": "../../etc", "q": ASKED, "answer": 0},
    ],
)
def test_what_cannot_be_read_is_refused_and_not_counted(
    app: Flask, client: FlaskClient, body: dict[str, Any]
) -> None:
    answer = send(client, **body)
    assert 400 <= answer.status_code < 500 and answer.json["sentence"].endswith(".")
    assert rows(app) == {}


def test_rows_are_bounded_and_no_answer_is_lost_to_that(counts: Database) -> None:
    answers = Answers(counts, most_rows=30)
    for n in range(60):
        answers.count("a", f"q{n}", "hw", f"q{n}", RIGHT)
    for who in "bcd":
        answers.count(who, "q59", "hw", "q59", "MC-HW-ALL")
    with counts.reading() as session:
        assert len(list(session.scalars(select(Row)))) <= 31
    (kind,), questions = answers.tallies()
    assert (kind.n, kind.wrong, kind.most) == (63, 3, "MC-HW-ALL")
    assert max(questions, key=lambda one: one.n).question == "q59"


def test_what_could_not_be_written_may_be_sent_again(counts: Database) -> None:
    answers = Answers(counts)
    with counts.writing() as session:
        session.connection().exec_driver_sql("ALTER TABLE answer_count RENAME TO away")
    with pytest.raises(RequestError):
        answers.count("a", "q", "hw", "q", RIGHT)
    with counts.writing() as session:
        session.connection().exec_driver_sql("ALTER TABLE away RENAME TO answer_count")
    assert answers.count("a", "q", "hw", "q", RIGHT)


def test_the_page_tells_shares_from_twenty_answers_on(app: Flask, client: FlaskClient) -> None:
    answers = app.extensions[KEY].answers
    empty = client.get("/learn/hard?lang=en").text
    assert "Too few to say" in empty and "% wrong" not in empty
    name = f"S22 K39 {ASKED}"
    for n in range(19):
        said = RIGHT if n < 6 else "MC-TRUNC-HW" if n < 15 else "MC-TRUNC-NEVER"
        answers.count(f"v{n}", name, "truncate", name, said)
    few = client.get("/learn/hard?lang=en").text
    assert "% wrong" not in few and "Where a log is cut" in few
    answers.count("v19", name, "truncate", name, OTHER)
    answers.count("v20", "gone", "hw", "S99 K39 hw@1.0.1", RIGHT)
    low, high = exact(14, 20)
    for lang in ("en", "zh"):
        told = client.get(f"/learn/hard?lang={lang}").text
        assert told.count(f"{100 * low:.1f} %") == 2 and told.count(f"{100 * high:.1f} %") == 2
        assert told.count("70.0 %") == 2 and "MC-" not in told and "hard." not in told
        links = set(re.findall(r'href="(/learn\?s=[^"]+)"', told))
        assert len(links) == 1
        assert 'name="answer"' in client.get(links.pop().replace("&amp;", "&")).text
    assert "Most often believed: “" in client.get("/learn/hard?lang=en").text
