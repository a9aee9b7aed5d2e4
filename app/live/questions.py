"""Questions of the live channel: their client, their content, and the step they are about."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from app.context import naming
from app.context.services import services
from app.core import clock
from app.core.limits import Bucket
from app.core.request_fields import RequestFields
from engine.replay.replay import Replay
from engine.sim.run import Run

STRIKES = 3
FORGIVEN_AFTER_S = 10.0

Answer = dict[str, Any]


@dataclass
class Client:
    """One connection: its address, and its remaining budget."""

    address: str
    cookie: str
    lang: str
    trusted: bool
    moves: Bucket
    opens: Bucket
    strikes: int = 0
    struck_at: float = 0.0

    def may(self, bucket: Bucket) -> int:
        """Return 0, or the milliseconds to wait; -1 after three such refusals."""
        wait_ms = bucket.take()
        if not wait_ms:
            return 0
        now = clock.monotonic()
        if now - self.struck_at > FORGIVEN_AFTER_S:
            self.strikes = 0
        self.struck_at = now
        self.strikes += 1
        return wait_ms if self.strikes <= STRIKES else -1


@dataclass
class Question:
    """Event being answered: its client, its content, and the run it is about once known."""

    client: Client
    asked: RequestFields
    run: Run | None = None


@dataclass
class Clients:
    """Connected clients, counted so that one address cannot take all the threads."""

    most: int
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _of: dict[str, Client] = field(default_factory=dict)

    def join(self, sid: str, client: Client) -> bool:
        with self._lock:
            same = sum(1 for other in self._of.values() if other.address == client.address)
            if same >= self.most:
                return False
            self._of[sid] = client
            return True

    def leave(self, sid: str) -> None:
        with self._lock:
            self._of.pop(sid, None)

    def get(self, sid: str) -> Client | None:
        return self._of.get(sid)


@contextmanager
def at_step(question: Question) -> Iterator[tuple[str, Replay, int]]:
    """Yield the run that a question is about, ready to be read, and the step in it."""
    digest = naming.digest_asked(question.asked)
    question.run = services().replays.run(digest)
    with services().replays.using(digest) as replay:
        yield digest, replay, naming.step_asked(question.asked, digest, replay.total)
