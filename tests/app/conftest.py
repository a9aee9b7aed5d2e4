"""An application on a database of its own, a browser's session, and a socket."""

from __future__ import annotations

import shutil
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.routing import Rule

from app import create_app
from app.batch import estimate
from app.batch.jobs import Jobs
from app.batch.runners.rows import RunChunk
from app.core import config
from app.core.config import Settings
from app.server.services import KEY, Services
from app.storage.database import Database
from tests.batch_runner import plain_jobs, play_chunk

SESSION = "token-of-this-browser"


def sent(token: str) -> str:
    """A session's token as a page might have sent it, under a cover of zeros."""
    return urlsafe_b64encode(bytes(len(token)) + token.encode()).decode()


TOKEN = sent(SESSION)

SCENARIO = """\
title: Does the second broker copy what the first has?
brokers: 2
configs: {min.insync.replicas: 1}
profiles: [K39, Z0102]
script: |
  produce m0
  fetch 2 x2
  produce m1
expect:
  K39: {verdict: holds}
  Z0102: {verdict: holds}
"""


@pytest.fixture(scope="session", autouse=True)
def addresses_compiled_once() -> Iterator[None]:
    """Two thirds of making an application is code that werkzeug generates for each address, a
    function of nothing but the address; hundreds of applications here have the same ones."""
    compile_builder, made = Rule._compile_builder, {}

    def once(rule: Rule, append_unknown: bool = True) -> Callable[..., tuple[str, str]]:
        key = rule.rule, tuple(rule._trace), repr(rule.defaults), append_unknown
        if key not in made:
            made[key] = compile_builder(rule, append_unknown)
        return made[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rule, "_compile_builder", once)
        yield


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database that was migrated once, to be copied: that is faster than migrating each."""
    path = tmp_path_factory.mktemp("empty") / "highwater.db"
    database = Database(f"sqlite:///{path}")
    database.migrate()
    database.close()
    return path


@pytest.fixture
def settings(tmp_path: Path, empty_database: Path) -> Settings:
    found = config.load({}, instance=tmp_path / "instance")
    shutil.copy(empty_database, found.instance / "highwater.db")
    return found


@pytest.fixture
def make_app() -> Iterator[Callable[[Settings], Flask]]:
    """Applications that are closed at the end, so that no connection is left open."""
    made: list[Services] = []

    def make(settings: Settings) -> Flask:
        app = create_app(settings)
        made.append(app.extensions[KEY])
        return app

    yield make
    for services in made:
        services.close()


@pytest.fixture
def app(make_app: Callable[[Settings], Flask], settings: Settings) -> Flask:
    return make_app(settings)


@pytest.fixture
def services(app: Flask) -> Services:
    found: Services = app.extensions[KEY]
    return found


@pytest.fixture
def make_jobs(services: Services, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Jobs]]:
    monkeypatch.setattr(estimate, "PROBE_S", 0.05)
    made: list[Jobs] = []

    def make(pace_s: float = 0.0, play: RunChunk = play_chunk) -> Jobs:
        made.append(plain_jobs(services, play, pace_s))
        return made[-1]

    yield make
    for jobs in made:
        jobs.close()


@pytest.fixture
def jobs(make_jobs: Callable[..., Jobs]) -> Jobs:
    """Batches of the fake engine, in this process."""
    return make_jobs()


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return browser(app)


def browser(app: Flask) -> FlaskClient:
    """A client with a session, as after its first page."""
    client = app.test_client()
    with client.session_transaction() as session:
        session["csrf"] = SESSION
    return client


def post(client: FlaskClient, path: str, body: Any) -> Any:
    return client.post(path, json=body, headers={"X-CSRF-Token": TOKEN})


class Socket:
    """A connection whose questions return their answers."""

    def __init__(self, app: Flask, client: FlaskClient | None = None, **auth: Any) -> None:
        services: Services = app.extensions[KEY]
        self.raw = services.socketio.test_client(
            app, flask_test_client=client or browser(app), auth={"csrf": TOKEN, **auth}
        )

    def ask(self, event: str, data: Any = None) -> Any:
        return self.raw.emit(event, data if data is not None else {}, callback=True)

    def open(self, **data: Any) -> Any:
        answer = self.ask("open", data)
        assert answer["ok"], answer
        return answer

    @property
    def connected(self) -> bool:
        return bool(self.raw.is_connected())


@pytest.fixture
def socket(app: Flask, client: FlaskClient) -> Socket:
    return Socket(app, client)


@pytest.fixture
def scenario(client: FlaskClient) -> str:
    """The digest of a scenario that was just saved."""
    answer = post(client, "/api/scenarios", {"yaml": SCENARIO})
    assert answer.status_code == 201, answer.json
    return str(answer.json["digest"])
