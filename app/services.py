"""What requests and sockets share: one object per application."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flask import current_app

from app.config import Settings
from app.db import Database
from app.gate import Gate
from app.limits import Buckets
from app.replays import Replays
from app.rooms import Rooms
from app.store import Store
from app.words import Catalogue

if TYPE_CHECKING:
    from flask_socketio import SocketIO

    from app.jobs import Jobs

KEY = "highwater"


@dataclass
class Services:
    """Made once by ``app.factory``, which adds the jobs: these run within the application."""

    settings: Settings
    database: Database
    store: Store
    replays: Replays
    socketio: SocketIO
    rooms: Rooms
    saves: Buckets
    checks: Buckets
    tries: Buckets
    plays: Gate
    words: Catalogue = field(default_factory=Catalogue)
    jobs: Jobs = field(init=False)

    def close(self) -> None:
        """Ends what runs in the background; what was stored stays."""
        self.jobs.close()
        self.database.close()


def services() -> Services:
    """The services of the current application."""
    found: Services = current_app.extensions[KEY]
    return found
