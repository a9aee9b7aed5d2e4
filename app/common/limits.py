"""Token buckets: how much one connection or one address may ask for."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

Clock = Callable[[], float]


class Bucket:
    """Holds up to ``burst`` tokens and regains ``rate`` of them a second."""

    __slots__ = ("_at", "_clock", "_tokens", "burst", "rate")

    def __init__(self, rate: float, burst: int, clock: Clock = time.monotonic) -> None:
        self.rate = rate
        self.burst = burst
        self._clock = clock
        self._tokens = float(burst)
        self._at = clock()

    def take(self) -> int:
        """Takes a token and returns 0, or returns the milliseconds until there is one."""
        now = self._clock()
        self._tokens = min(self.burst, self._tokens + (now - self._at) * self.rate)
        self._at = now
        if self._tokens >= 1:
            self._tokens -= 1
            return 0
        return max(1, round((1 - self._tokens) / self.rate * 1000))


class Buckets:
    """One bucket per name (an address); the longest unused is forgotten first."""

    def __init__(self, rate: float, burst: int, most: int = 10_000) -> None:
        self._rate = rate
        self._burst = burst
        self._most = most
        self._lock = threading.Lock()
        self._of: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, name: str) -> int:
        with self._lock:
            bucket = self._of.get(name)
            if bucket is None:
                bucket = self._of[name] = Bucket(self._rate, self._burst)
                if len(self._of) > self._most:
                    self._of.popitem(last=False)
            self._of.move_to_end(name)
            return bucket.take()
