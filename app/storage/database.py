"""The database: one engine, sessions that read or write, and the schema brought up to date."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import (
    URL,
    Connection,
    Engine,
    create_engine,
    event,
    func,
    inspect,
    make_url,
    select,
)
from sqlalchemy.exc import (
    ArgumentError,
    DatabaseError,
    DBAPIError,
    IntegrityError,
    ProgrammingError,
)
from sqlalchemy.exc import TimeoutError as NoConnection
from sqlalchemy.orm import Session

from app.core.config import SettingError
from app.core.refusals import RequestError
from app.storage.models import Base

MIGRATIONS = Path(__file__).resolve().parent / "migrations"
_BEGIN = "highwater_begin"
BUSY_MS = 15_000
"""How long a transaction waits for another process's."""
PROBE_MS = 200
CONNECTIONS = 20
"""To a database that is a server: reading takes milliseconds, and writers take turns."""
WRITER = 0x4857
"""The advisory lock of PostgreSQL that writers take turns by."""
FULL = ("full", "readonly", "read-only", "No space", "No more space")

_POSTGRES = {
    "connect_timeout": BUSY_MS // 1_000,
    "application_name": "highwater",
    "options": f"-c lock_timeout={BUSY_MS} -c idle_in_transaction_session_timeout={4 * BUSY_MS}",
}

log = logging.getLogger(__name__)


class Database:
    """Owner of the engine.  What ``writing()`` leaves without an exception is on disk."""

    def __init__(self, url: str) -> None:
        try:
            parsed = make_url(url)
        except ArgumentError:
            raise SettingError(
                "HIGHWATER_DATABASE_URL is not an SQLAlchemy address, "
                "such as sqlite:////var/lib/highwater/highwater.db."
            ) from None
        self.trouble: RequestError | None = None
        """What went wrong last, until something goes well."""
        self.sqlite = parsed.get_backend_name() == "sqlite"
        if self.sqlite and parsed.database and parsed.database != ":memory:":
            Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
        try:
            self.engine: Engine = _connect(parsed)
        except ImportError as error:
            raise SettingError(
                f"HIGHWATER_DATABASE_URL needs the Python package {error.name}: pip install it."
            ) from None
        if self.sqlite:
            event.listen(self.engine, "connect", _on_connect)
            event.listen(self.engine, "begin", _on_begin)
        elif parsed.get_backend_name() == "postgresql":
            event.listen(self.engine, "begin", _take_turns)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Open a session for queries; nothing it changes is kept."""
        with self._told(), Session(self.engine, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """Open a session in one transaction: committed, or rolled back on an exception."""
        with self._told(True), Session(self.engine, expire_on_commit=False) as session:
            session.connection(execution_options={_BEGIN: "IMMEDIATE"})
            yield session
            session.commit()

    def try_again(self) -> None:
        """Write what is there already after an error, without waiting.

        Raises `RequestError` as `writing` does, as long as it goes wrong.
        """
        if self.trouble is None:
            return
        with self._told(True), self.engine.connect() as connection:
            self._wait_at_most(connection, PROBE_MS)
            try:
                with connection.execution_options(**{_BEGIN: "IMMEDIATE"}).begin():
                    if self.sqlite:
                        connection.exec_driver_sql("PRAGMA user_version = 0")
            finally:
                self._wait_at_most(connection, BUSY_MS)

    def _wait_at_most(self, connection: Connection, wait_ms: int) -> None:
        if self.sqlite:
            connection.exec_driver_sql(f"PRAGMA busy_timeout = {wait_ms}")
            connection.rollback()

    @contextmanager
    def _told(self, writing: bool = False) -> Iterator[None]:
        """Turn errors of the database into refusals.  Raises `RequestError` "busy" or "full"."""
        try:
            yield
            if writing:  # that it can be read says nothing of a disk that is full
                self.trouble = None
        except (DatabaseError, NoConnection) as error:
            if isinstance(error, IntegrityError | ProgrammingError):
                raise
            text = str(error.orig if isinstance(error, DBAPIError) else error)
            log.error("The database failed: %s", text)
            full = any(word in text for word in FULL)
            key = "database.full" if full else "database"
            self.trouble = RequestError("full" if full else "busy", key)
            raise self.trouble from None

    def migrate(self) -> None:
        """Bring the schema to the newest revision; data of earlier versions is kept."""
        try:
            with self.engine.connect() as connection:
                exclusive = connection.execution_options(**{_BEGIN: "EXCLUSIVE"})
                with exclusive.begin():
                    # Two processes may start at once: the second waits, then finds all done.
                    if _revision(exclusive) != newest():
                        _upgrade(exclusive)
                    for table in Base.metadata.sorted_tables:  # that its pages can be read
                        exclusive.execute(select(func.count()).select_from(table))
        except DatabaseError as error:
            why = " ".join(str(error.orig).split()).rstrip(".")
            raise SettingError(f"The database cannot be used: {why}.") from None

    def close(self) -> None:
        self.engine.dispose()


def place_of(url: str) -> str:
    """Return where a database is, for people: the path of a file, or the address, no password."""
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite" and parsed.database:
        return parsed.database
    return parsed.render_as_string(hide_password=True)


def only_to_read(url: str) -> str:
    """Return the address to read from: of an empty database, where reading would create a file."""
    file = make_url(url)
    absent = file.get_backend_name() == "sqlite" and not Path(file.database or ".").exists()
    return "sqlite://" if absent else url


def newest() -> str:
    """Return the newest revision of the schema: its file is named after it."""
    return max(file.name[1:5] for file in (MIGRATIONS / "versions").glob("v*.py"))


def _revision(connection: Connection) -> str | None:
    """Return the schema's revision, as Alembic does, whose import costs a start 200 ms."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.exec_driver_sql(
        "SELECT version_num FROM alembic_version"
    ).scalar()
    return revision


def _upgrade(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise SettingError(f"The database is of a newer Highwater: {error}.") from None


def _connect(url: URL) -> Engine:
    if url.get_backend_name() == "sqlite":
        return create_engine(url)
    return create_engine(
        url,
        pool_pre_ping=True,  # a server that was started again is connected to again
        pool_size=CONNECTIONS // 2,
        max_overflow=CONNECTIONS - CONNECTIONS // 2,
        pool_timeout=BUSY_MS / 1_000,
        connect_args=_POSTGRES if url.get_driver_name() == "psycopg" else {},
    )


def _on_connect(connection: Any, _record: Any) -> None:
    # The sqlite3 module begins transactions on its own and only before some statements; with
    # its own mode off, every transaction is begun by _on_begin, schema changes included.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.close()


def _on_begin(connection: Connection) -> None:
    # A transaction that will write says so at once: one that reads first and writes later
    # fails without waiting when another process wrote in between.
    mode = connection.get_execution_options().get(_BEGIN, "DEFERRED")
    connection.exec_driver_sql(f"BEGIN {mode}")


def _take_turns(connection: Connection) -> None:
    # A writer's reads stay true until it has written, as with SQLite.
    if _BEGIN in connection.get_execution_options():
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({WRITER})")
