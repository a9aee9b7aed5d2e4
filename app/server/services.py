"""Services shared by requests and sockets: one object per application."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from flask import current_app

from app.admission.cpu_quota import Accounts
from app.admission.deadlines import Deadlines
from app.admission.queue import Gate
from app.core.config import Settings
from app.core.words import Catalogue
from app.workers.absence import NoWorkerError
from engine.learn.guides import Guide

if TYPE_CHECKING:
    from flask_socketio import SocketIO

    from app.batch.jobs import Jobs
    from app.explore.searches import Searches
    from app.runs.replays import Replays
    from app.storage.database import Database
    from app.storage.saved import Store
    from app.workers.pool import Workers

KEY = "highwater"
T = TypeVar("T")


class Connections(Protocol):
    """Open live connections (`app.admission.connections`)."""

    def count(self) -> int: ...

    def close(self) -> None: ...


@dataclass
class Services:
    """Container of the services, made once by ``app.server.factory``."""

    settings: Settings
    database: Database
    store: Store
    replays: Replays
    socketio: SocketIO
    accounts: Accounts
    plays: Gate
    jobs: Jobs
    searches: Searches
    workers: Workers
    words: Catalogue = field(default_factory=Catalogue)
    deadlines: Deadlines = field(default_factory=Deadlines)
    gateway: Connections | None = None
    guides: dict[str, Guide] = field(default_factory=dict)

    def hang_up(self) -> None:
        """End live connections, and so the threads that serve them."""
        if self.gateway is not None:
            self.gateway.close()

    def close(self) -> None:
        """End what runs in the background; what was stored stays."""
        self.hang_up()
        self.searches.close()
        self.workers.close()
        self.jobs.close()
        self.database.close()


def services() -> Services:
    """Return the services of the current application."""
    found: Services = current_app.extensions[KEY]
    return found


def apart(work: Callable[..., T], *args: object) -> T:
    """Return `work(*args)`, computed by a worker process within limits.

    Text of a visitor is read this way: here `re` or a parser would hold the interpreter's lock, and
    nothing could end it.  Where there are no processes, it is computed here, in turn.
    """
    try:
        return services().workers.do(work, *args)
    except NoWorkerError:
        with services().plays.turn():
            return work(*args)
