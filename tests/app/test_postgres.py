"""The same storage on PostgreSQL: the tests of saving and of batches, migrations, and kills."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from flask import Flask
from sqlalchemy import create_engine, make_url

from app.core import config
from app.core.config import SettingError, Settings
from app.core.refusals import RequestError
from app.server.services import KEY
from app.storage import database as storage
from app.storage.database import Database
from app.storage.models import Base, ScenarioRow
from app.storage.saved import Store
from engine.scenarios.scenario import Scenario
from tests.app import test_batch_jobs as batches
from tests.app import test_saving as saving
from tests.app.conftest import SCENARIO, Socket, browser, post
from tests.conftest import ROOT
from tests.ports import free_port

HOMES = [Path("/usr/lib/postgresql"), Path("/usr/local/pgsql")]
FOUND = [path.parent for home in HOMES for path in sorted(home.glob("**/bin/initdb"))]
BIN = Path(shutil.which("initdb") or (FOUND[-1] / "initdb" if FOUND else "")).parent
AS: dict[str, Any] = {"user": "postgres"} if os.geteuid() == 0 else {}

pytestmark = pytest.mark.skipif(
    not FOUND and not shutil.which("initdb") and not os.environ.get("CI"),
    reason="no PostgreSQL: apt-get install postgresql",
)

# On PostgreSQL as on SQLite:
test_saved_twice = saving.test_a_saved_scenario_has_a_link_and_saving_twice_changes_nothing
test_saved_and_restarted = saving.test_a_branch_that_was_saved_opens_after_a_restart
test_of_another_engine = saving.test_a_run_saved_by_another_engine_says_so
test_nothing_without_token = saving.test_nothing_is_stored_without_the_token
test_counted_and_stored = batches.test_a_batch_is_counted_and_stored
test_failures_found_again = batches.test_failures_can_be_chosen_and_found_again
test_cancelled_and_resumed = batches.test_cancel_keeps_what_is_done_and_resume_does_the_rest
test_interrupted_by_restart = batches.test_a_restart_interrupts_and_keeps
test_only_its_owner = batches.test_only_its_owner_changes_a_batch


class Postgres:
    """A server of these tests' own, on a port of its own, in a directory of its own."""

    def __init__(self, place: Path) -> None:
        self.port = free_port()
        self.place = place
        self.data = place / "data"
        self._count = 0

    def run(self, program: str, *words: str) -> str:
        done = subprocess.run(
            [str(BIN / program), *words], capture_output=True, text=True, cwd=self.place, **AS
        )
        assert done.returncode == 0, (program, done.stdout, done.stderr)
        return done.stdout

    def start(self) -> None:
        told = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= "
        told += "-c fsync=off"  # the machine stays up, whichever process is killed
        log = str(self.place / "log")
        self.run("pg_ctl", "-D", str(self.data), "-w", "-l", log, "-o", told, "start")

    def stop(self, how: str) -> None:
        self.run("pg_ctl", "-D", str(self.data), "-w", "-m", how, "stop")

    def url(self, name: str) -> str:
        return f"postgresql+psycopg://highwater@127.0.0.1:{self.port}/{name}"

    def new(self, template: str = "template0") -> str:
        """The address of a database of a test's own."""
        self._count += 1
        name = f"test{self._count}"
        engine = create_engine(self.url("postgres"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.exec_driver_sql(f"CREATE DATABASE {name} TEMPLATE {template}")
        engine.dispose()
        return self.url(name)


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    # Its own user must be able to enter every directory above, so none of pytest's.
    place = Path(subprocess.check_output(["mktemp", "-d"], text=True, **AS).strip())
    made = Postgres(place)
    made.run("initdb", "-D", str(made.data), "-U", "highwater", "-A", "trust", "--no-sync")
    made.start()
    yield made
    made.stop("immediate")
    shutil.rmtree(place)


@pytest.fixture(scope="module")
def migrated(server: Postgres) -> str:
    url = server.new()
    database = Database(url)
    database.migrate()
    database.close()
    return str(make_url(url).database)


@pytest.fixture
def settings(tmp_path: Path, server: Postgres, migrated: str) -> Settings:
    found = config.load({}, instance=tmp_path / "instance")
    return replace(found, database_url=server.new(migrated))


def scenario(title: str) -> Scenario:
    return Scenario.from_dict({"title": title, "profiles": ["K39"]})


def test_it_is_postgres(app: Flask) -> None:
    assert app.extensions[KEY].database.engine.dialect.name == "postgresql"


def test_migrations_make_what_the_models_say(server: Postgres) -> None:
    """Two servers may start at once: one migrates, the other finds all done."""
    url = server.new()
    both = [Database(url), Database(url)]
    threads = [threading.Thread(target=one.migrate) for one in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with both[0].engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
    for one in both:
        one.close()


def test_the_same_scenario_saved_by_many_at_once_is_new_once(settings: Settings) -> None:
    database = Database(settings.database_url)
    store, new = Store(database), []
    one = scenario("Who was first?")
    threads = [
        threading.Thread(target=lambda: new.append(store.save_scenario(one))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(new) == [False] * 7 + [True]
    database.close()


def test_any_unicode_text_can_be_saved(settings: Settings) -> None:
    database = Database(settings.database_url)
    store = Store(database)
    for title in ("高水位 🌊", "x" * 200, "quote ' and \\ and % and :name"):
        kept = scenario(title)
        assert store.save_scenario(kept)
        found = store.scenario(kept.digest)
        assert found is not None and found.digest == kept.digest
    database.close()


def test_a_writer_that_holds_on_makes_others_wait_and_then_say_so(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(storage._POSTGRES, "options", "-c lock_timeout=50")
    first, second = Database(settings.database_url), Database(settings.database_url)
    with first.writing() as session:
        session.add(ScenarioRow(digest="a" * 16, text="{}", engine_version=1))
        with pytest.raises(RequestError, match="does not answer"), second.writing():
            raise AssertionError("two writers at once")
    with second.writing() as session:
        assert session.get(ScenarioRow, "a" * 16) is not None
    first.close()
    second.close()


def test_a_database_that_may_only_be_read_is_told_so(settings: Settings) -> None:
    database = Database(settings.database_url)
    name = make_url(settings.database_url).database
    with database.engine.begin() as connection:
        connection.exec_driver_sql(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    database.engine.dispose()
    with pytest.raises(RequestError, match="database is full"):
        Store(database).save_scenario(scenario("Is there room?"))
    database.close()


def test_a_server_that_is_not_there_is_told_in_one_sentence(server: Postgres) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        database = Database(f"postgresql+psycopg://highwater@127.0.0.1:{port}/none")
        with pytest.raises(SettingError, match=r"cannot be used: .*refused") as told:
            database.migrate()
    assert "\n" not in str(told.value)
    database.close()


SAVES = """
import os, sys
from app.storage.database import Database
from app.storage.saved import Store
from tests.app.test_postgres import scenario
store = Store(Database(sys.argv[1]))
for number in range(100_000):
    one = scenario(f"Number {number}")
    store.save_scenario(one)
    print(one.digest, flush=True)
"""


@pytest.mark.parametrize("killed", ["application", "database"])
def test_a_kill_during_saves_loses_nothing_that_was_told_saved(
    server: Postgres, settings: Settings, killed: str
) -> None:
    command = [sys.executable, "-c", SAVES, settings.database_url]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as saving:
        assert saving.stdout is not None
        told = [saving.stdout.readline().strip() for _ in range(50)]
        if killed == "database":
            server.stop("immediate")  # as a power cut: no checkpoint, no goodbye
            server.start()
        saving.send_signal(signal.SIGKILL)
        told += [line.strip() for line in saving.stdout if line.endswith("\n")]
    database = Database(settings.database_url)
    database.migrate()
    store = Store(database)
    kept = {row.digest for row in store.scenarios(limit=200_000)}
    assert len(told) >= 50 and set(told) <= kept
    assert len(kept) <= len(told) + 1, "one more may be saved than was told"
    assert store.save_scenario(scenario("After the kill"))
    database.close()


def test_a_server_that_comes_back_is_used_again(
    server: Postgres, make_app: Callable[[Settings], Flask], settings: Settings
) -> None:
    app = make_app(settings)
    there = browser(app)
    saved = post(there, "/api/scenarios", {"yaml": SCENARIO})
    server.stop("immediate")
    try:
        sick = there.get("/health")
        assert sick.status_code == 503, json.dumps(sick.json)
    finally:
        server.start()
    until = time.monotonic() + 10
    while there.get("/health").status_code != 200:
        assert time.monotonic() < until
    assert Socket(app).open(scenario=saved.json["digest"])["ok"]
