"""Questions to a class: each browser answers once, and sees no answers before the end."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from flask import Flask

from app.live import polls
from engine.learn.misconceptions import MISCONCEPTIONS
from tests.app.conftest import SESSION, Socket, browser, sent

SECRETS = {"histogram", "right", "why", "beliefs", "until"}


class Class:
    """A leader and her room, at the first good question of S22."""

    def __init__(self, app: Flask, kind: str = "truncate") -> None:
        self.app = app
        self.leader = Socket(app)
        self.run = self.leader.open(scenario="S22", profile="K39", step=0)["run"]
        self.room = self.ok("lead", run=self.run, step=0)["room"]
        found = self.ok("questions", run=self.run, step=0)["questions"]
        self.probe = next(one for one in found if one["kind"] == kind)

    def ok(self, event: str, **data: Any) -> Any:
        answer = self.leader.ask(event, data)
        assert answer["ok"], answer
        return answer

    def pupil(self, name: str, lang: str = "en") -> Socket:
        client = self.app.test_client()
        with client.session_transaction() as session:
            session["csrf"] = name
        socket = Socket(self.app, client, csrf=sent(name), lang=lang)
        assert socket.ask("join", {"room": self.room})["ok"]
        return socket

    def ask(self) -> int:
        told = self.ok("ask", room=self.room, run=self.run, probe=self.probe["probe"])
        return int(told["n"])

    def rows(self, token: str = SESSION) -> list[dict[str, str]]:
        client = browser(self.app)
        with client.session_transaction() as session:
            session["csrf"] = token
        answer = client.get(f"/class/{self.room}/answers.csv")
        assert answer.status_code == 200, answer.text
        return list(csv.DictReader(io.StringIO(answer.text)))


@pytest.fixture
def school(app: Flask) -> Class:
    return Class(app)


def test_an_answer_counts_once_and_is_not_shown_before_the_end(school: Class) -> None:
    first, second = school.pupil("first"), school.pupil("second", "zh")
    n = school.ask()
    before = first.ask("asked")
    assert before["open"] and before["mine"] is None and not SECRETS & before.keys()
    assert not any(name in str(before) for name in MISCONCEPTIONS)
    told = first.ask("answer", {"n": n, "choice": 0})
    assert told["ok"], told
    assert told["mine"]["pupil"] == 1 and not SECRETS & told.keys()
    again = first.ask("answer", {"n": n, "choice": 1})
    assert (again["ok"], again["code"]) == (False, "invalid") and "first" in again["sentence"]
    # The same browser over another connection is the same pupil.
    other_tab = school.pupil("first")
    assert not other_tab.ask("answer", {"n": n, "choice": 1})["ok"]
    assert other_tab.ask("asked")["mine"] == told["mine"]
    assert not SECRETS & second.ask("asked").keys()
    held = school.ok("asked")
    assert held["histogram"][0]["n"] == 1 and "right" not in held
    assert not any("ids" in row for row in held["histogram"])
    school.ok("ask", room=school.room, closed=True)
    late = second.ask("answer", {"n": n, "choice": 0})
    assert (late["ok"], late["code"]) == (False, "invalid")
    shown = second.ask("asked")
    assert [row["n"] for row in shown["histogram"]] == [row["n"] for row in held["histogram"]]
    assert not shown["histogram"][shown["right"]]["ids"]
    assert all(row["ids"] for i, row in enumerate(shown["histogram"]) if i != shown["right"])
    assert "截断" in str(shown["words"]) or "截" in shown["why"]
    school.ok("ask", room=school.room, done=True)
    assert second.ask("asked")["code"] == "gone"


def test_no_step_beyond_the_question_is_sent_to_the_class(school: Class) -> None:
    pupil = school.pupil("first")
    at = school.probe["step"]
    assert max(one["n"] for one in pupil.open(run=school.run, step=at)["steps"]) > at
    school.ask()
    for event, step in (("open", at), ("seek", at + 3), ("play", at), ("play", at - 1)):
        answer = pupil.ask(event, {"run": school.run, "step": step, "count": 32})
        assert answer["ok"] and all(one["n"] <= at for one in answer["steps"]), event
    assert max(one["n"] for one in school.ok("play", run=school.run, step=at)["steps"]) > at
    school.ok("ask", room=school.room, closed=True)
    assert pupil.ask("play", {"run": school.run, "step": at})["steps"][0]["n"] == at + 1


def test_answers_by_hand_count_if_they_are_on_the_stage(school: Class) -> None:
    n = school.ask()
    known = [one["text"] for one in school.ok("asked")["histogram"]]
    for i, text in enumerate(("0", "1", "1")):
        assert school.pupil(f"p{i}").ask("answer", {"n": n, "by": text})["ok"]
    late = school.pupil("late")
    for text in ("4000", "A", "", "1,2", "m0", "x" * 500):
        refused = late.ask("answer", {"n": n, "by": text})
        assert not refused["ok"] and refused["sentence"].endswith("."), text
    assert [row["pupil"] for row in school.rows()] == ["1", "2", "3"]
    rows = {row["text"]: row["n"] for row in school.ok("asked")["histogram"]}
    assert sum(rows.values()) == 3 and rows["Offset 1"] == 2
    assert len(rows) == len({*known, "Offset 0", "Offset 1"})


@pytest.mark.parametrize(
    ("event", "data", "code"),
    [
        ("ask", {"probe": "truncate@1.0.1"}, "unknown"),
        ("ask", {"probe": "rm -rf"}, "invalid"),
        ("ask", {"run": "0123456789abcdef"}, "gone"),
        ("ask", {"room": "abc-defg-hjk"}, "forbidden"),
        ("questions", {"step": 10**6}, "stale"),
        ("answer", {"n": 1, "choice": 0}, "invalid"),
    ],
)
def test_invalid_questions_get_a_sentence(
    school: Class, event: str, data: dict[str, Any], code: str
) -> None:
    n = school.ask()
    usual = {"room": school.room, "run": school.run, "probe": school.probe["probe"], "n": n}
    answer = school.leader.ask(event, {**usual, **data})
    assert (answer["ok"], answer["code"]) == (False, code), answer
    assert answer["sentence"].endswith(".")


def test_only_the_leader_asks_and_has_the_table(school: Class) -> None:
    pupil = school.pupil("first")
    school.ask()
    for data in ({"run": school.run, "probe": school.probe["probe"]}, {"closed": True}):
        answer = pupil.ask("ask", {"room": school.room, **data})
        assert (answer["ok"], answer["code"]) == (False, "forbidden")
    assert pupil.ask("asked")["open"]
    client = browser(school.app)
    with client.session_transaction() as session:
        session["csrf"] = "first"
    assert client.get(f"/class/{school.room}/answers.csv").status_code == 403
    assert client.get("/class/abc-defg-hjk/answers.csv").status_code == 404


def test_questions_of_a_class_are_bounded(school: Class, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.live.classroom_registry.POLLS_MOST", 2)
    for _ in range(2):
        school.ask()
    refused = school.leader.ask(
        "ask", {"room": school.room, "run": school.run, "probe": school.probe["probe"]}
    )
    assert (refused["ok"], refused["code"]) == (False, "busy")
    assert polls.POLLS_MOST <= 40


def test_confidence_of_pupils_is_counted_and_optional(school: Class) -> None:
    n = school.ask()
    given = ({"choice": 0, "sure": 3}, {"choice": 0, "sure": 1}, {"choice": 0})
    for i, data in enumerate(given):
        assert school.pupil(f"p{i}").ask("answer", {"n": n, **data})["ok"]
    refused = school.pupil("late").ask("answer", {"n": n, "choice": 0, "sure": 4})
    assert (refused["ok"], refused["code"]) == (False, "invalid")
    assert [row["sure"] for row in school.rows()] == ["3", "1", ""]
    school.ok("ask", room=school.room, closed=True)
    shown = school.pupil("p0").ask("asked")["histogram"]
    assert [(row["n"], row["certain"]) for row in shown[:2]] == [(3, 1), (0, 0)]
