"""Questions of the live channel: their client, their content, and the step they are about."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from app.admission.rates import Bucket
from app.core import clock
from app.core.request_fields import RequestFields
from app.questions.context import Context

STRIKES = 3
FORGIVEN_AFTER_S = 10.0


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
    """Event being answered: its client, its content and its context."""

    client: Client
    asked: RequestFields
    context: Context


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
