"""Where text and files of visitors are read, and what bounds the time that it takes.

Every route that takes a body, every question of the socket and every parameter of an address stands
in a table here.  Text that may be long is read in a worker process: under the CPU quota of its
address, within a limit of CPU seconds, and ended when the client leaves (`app.workers.pool`).  Text
that is read in the server is short, and its patterns are linear (`tests/test_patterns.py`).
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any, Final

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.incident.pages import FILES_PATH
from app.live.socket_handlers import EVENTS
from app.server.services import Services
from engine.learn import course
from engine.scenarios.file import find
from engine.sim.run import Run
from tests.app.conftest import SCENARIO, TOKEN, Socket
from tests.conftest import ROOT, sample

WORKER: Final = "a worker process"
NAMES: Final = "in the server: names, digests and numbers, looked up"
SEARCH: Final = "a process of its own (app.explore.searches), within its CPU seconds"
FORM: Final = "in the server: numbers and names within bounds, settings of at most 300 characters"
TITLE: Final = "in the server: at most 120 characters, stored as they are"
NOTHING: Final = "reads no text"

BODIES: Final = {
    "advice.ask": FORM,
    "api.save_run": WORKER,
    "api.save_scenario": WORKER,
    "batches.act": NOTHING,
    "batches.cancel": NOTHING,
    "batches.delete": NOTHING,
    "batches.delete_form": NOTHING,
    "batches.estimate": FORM,
    "batches.more": NAMES,
    "batches.more_form": NAMES,
    "batches.resume": NOTHING,
    "batches.submit": FORM,
    "batches.submit_form": FORM,
    "cluster.read_cluster": WORKER,
    "compiled.cancel": NOTHING,
    "compiled.start": NOTHING,
    "editing.attempt": WORKER,
    "editing.check": WORKER,
    "editing.play": WORKER,
    "exploring.begin": SEARCH,
    "exploring.cancel": SEARCH,
    "failing.futures": NAMES,
    "failing.futures_of_failure": NAMES,
    "failing.shorten_failure": NOTHING,
    "shortening.shorten_run": NAMES,
    "incident.read_files": WORKER,
    "learning.quiz": WORKER,
    "programs.compare": WORKER,
    "programs.explore": WORKER,
    "programs.incident": WORKER,
    "programs.play": WORKER,
    "programs.why": WORKER,
    "studies.rename": TITLE,
    "studies.rename_form": TITLE,
}
"""Endpoint that takes a body -> where its text is read, and what bounds that."""

MOVE: Final = "in the server: at most 2,000 characters, played within the CPU budget of the run"
SUBJECT: Final = "in the server: at most 100 characters"

QUESTIONS: Final = {
    "open": WORKER,
    "move": MOVE,
    "why": SUBJECT,
    "answer": "in the server: at most 80 characters",
    "ask": "in the server: at most 60 characters",
    "join": NAMES,
    "lead": NAMES,
    "asked": NAMES,
    "questions": NAMES,
    "watch": NAMES,
    "cancel": NAMES,
    "play": NAMES,
    "seek": NAMES,
    "possible": NAMES,
    "level": NAMES,
    "metrics": NAMES,
}
"""Question of the socket -> the same."""

WORDS: Final = "in the server: 16 words of 200 characters; templates of lines on at most 2,000"
ECHO: Final = "in the server: at most 2,000 characters, put into the box"
LINE: Final = "a worker process; a release is read in the server, in at most 2,000 characters"
MOVES: Final = "a worker process, at most 2,000 characters"

PARAMETERS: Final = {
    "q": WORDS,
    "ask": ECHO,
    "line": ECHO,
    "from": LINE,
    "to": LINE,
    "mode": LINE,
    "moves": MOVES,
    "property": "a worker process, at most 1,000 characters",
    "title": TITLE,
    "only": "in the server: at most 400 characters of names",
    "partition": "a worker process, with the files",
    "own": SEARCH,
    "vary": FORM,
}
"""Parameter that is text, not a name, a digest or a number -> the same."""
KNOWN: Final = frozenset({
    "a", "acks", "act", "address", "after", "again", "answer", "at", "b", "begin", "broker", "by",
    "c", "card", "count", "crashes", "csrf", "difficulty", "end", "first_seed", "goal", "guess",
    "invariant", "kind", "lang", "lead", "lens", "level", "limit", "mix", "n", "name",
    "number", "order", "other", "page", "plain", "preset", "probe", "profile", "profiles",
    "quiz", "run", "runs", "s", "said", "scenario", "scene", "seed", "show", "since", "step",
    "tab", "tag", "times", "tp", "unclean", "uses", "v", "watch", "with", "within",
})  # fmt: skip
"""Parameters that are names, digests or numbers."""


def test_every_route_with_a_body_has_a_row(app: Flask) -> None:
    found = {
        rule.endpoint for rule in app.url_map.iter_rules() if rule.methods & {"POST", "DELETE"}
    }
    assert found == BODIES.keys()


def test_every_question_of_the_socket_has_a_row() -> None:
    assert EVENTS.keys() == QUESTIONS.keys()


def test_every_parameter_of_an_address_has_a_row() -> None:
    read = re.compile(r"(?:args|form|fields)\.get(?:list)?\(\s*\"(\w+)\"")
    sources = {path: path.read_text("utf-8") for path in (ROOT / "app").rglob("*.py")}
    found = {
        (name, path.relative_to(ROOT).as_posix())
        for path, source in sources.items()
        if re.search(r"from flask import .*\brequest\b", source)
        for name in read.findall(source)
    }
    assert len(found) > 40
    assert not [one for one in sorted(found) if one[0] not in PARAMETERS and one[0] not in KNOWN]


@pytest.fixture
def read_apart(services: Services, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the functions that worker processes call."""
    called: list[str] = []
    do = services.workers.do

    def noted(work: Callable[..., Any], *args: object, **more: Any) -> Any:
        called.append(work.__name__)
        return do(work, *args, **more)

    monkeypatch.setattr(services.workers, "do", noted)
    return called


def _posts() -> dict[str, tuple[str, dict[str, Any]]]:
    """Return endpoint -> address, and what is sent to it."""
    run = Run(find("R20"), "Z0102", moves=("produce m0", "settle")).text()
    describe = "Topic: orders Partition: 0 Leader: 1 Replicas: 1,2,3 Isr: 1,2,3"
    log = b"[2024-01-01 00:00:00,000] INFO [Partition orders-0 broker=1] Shrinking ISR from 1,2"
    return {
        "api.save_run": ("/api/runs", {"json": {"text": run}}),
        "api.save_scenario": ("/api/scenarios", {"json": {"yaml": SCENARIO}}),
        "cluster.read_cluster": ("/api/cluster", {"json": {"text": describe}}),
        "editing.attempt": ("/api/scenarios/try", {"json": {"yaml": SCENARIO}}),
        "editing.check": ("/api/scenarios/check", {"json": {"yaml": SCENARIO}}),
        "editing.play": ("/api/scenarios/play", {"json": {"yaml": SCENARIO}}),
        "incident.read_files": (FILES_PATH, {"data": {"file": (io.BytesIO(log), "server.log")}}),
        "learning.quiz": ("/practice/quiz", {"data": {"run": run}}),
        "programs.compare": ("/api/compare", {"json": {"scenario": "R20", "other": "4.1"}}),
        "programs.explore": ("/api/explore", {"json": {"scenario": "S60", "states": 9}}),
        "programs.incident": ("/api/incident", {"json": {"text": log.decode()}}),
        "programs.play": ("/api/play", {"json": {"scenario": "R20"}}),
        "programs.why": (
            "/api/why",
            {"json": {"scenario": "R20", "step": 3, "subject": "m1 is committed"}},
        ),
    }


@pytest.mark.parametrize(
    "endpoint", sample(sorted(name for name, at in BODIES.items() if at == WORKER), 4)
)
def test_text_of_a_body_is_read_by_a_worker(
    client: FlaskClient, read_apart: list[str], endpoint: str
) -> None:
    address, sent = _posts()[endpoint]
    answer = client.post(address, headers={"X-CSRF-Token": TOKEN}, **sent)
    assert answer.status_code < 500 and read_apart, answer.text


@pytest.mark.parametrize(
    "address",
    [
        "/property?s=S22&profile=K39&property=leader+%3D+B",
        *(
            f"/learn/{slug}/{number}?moves=settle"
            for slug in course.slugs()[:6]
            for number, scene in enumerate(course.chapter(slug, "en").scenes, 1)
            if scene.block == "do"
        ),
    ],
)
def test_text_of_an_address_is_read_by_a_worker(
    client: FlaskClient, read_apart: list[str], address: str
) -> None:
    assert client.get(address).status_code == 200
    assert read_apart


def test_the_text_of_a_run_that_is_opened_is_read_by_a_worker(
    app: Flask, read_apart: list[str]
) -> None:
    Socket(app).open(text=Run(find("R20"), "Z0102", moves=("produce m0", "settle")).text())
    assert read_apart == ["parse_run"]
