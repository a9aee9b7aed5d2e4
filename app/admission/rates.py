"""Token buckets: rate limits for each connection and each address."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable

from app.core import clock

Clock = Callable[[], float]


class Bucket:
    """Token bucket of up to ``burst`` tokens that regains ``rate`` of them a second."""

    __slots__ = ("_at", "_clock", "_tokens", "burst", "rate")

    def __init__(self, rate: float, burst: int, clock: Clock = clock.monotonic) -> None:
        self.rate = rate
        self.burst = burst
        self._clock = clock
        self._tokens = float(burst)
        self._at = clock()

    def take(self, cost: float = 1.0) -> int:
        """Take a token, or more, and return 0; or the milliseconds until these are there.

        What costs more than a whole bucket holds never comes through.
        """
        now = self._clock()
        self._tokens = min(self.burst, self._tokens + (now - self._at) * self.rate)
        self._at = now
        if self._tokens >= cost:
            self._tokens -= cost
            return 0
        return max(1, round((cost - self._tokens) / self.rate * 1000))


class Buckets:
    """One bucket per name (an address); evicts the least recently used."""

    def __init__(self, rate: float, burst: int, most: int = 10_000) -> None:
        self._rate = rate
        self._burst = burst
        self._most = most
        self._lock = threading.Lock()
        self._of: OrderedDict[str, Bucket] = OrderedDict()

    def take(self, name: str, cost: float = 1.0) -> int:
        with self._lock:
            bucket = self._of.get(name)
            if bucket is None:
                bucket = self._of[name] = Bucket(self._rate, self._burst)
                if len(self._of) > self._most:
                    self._of.popitem(last=False)
            self._of.move_to_end(name)
            return bucket.take(cost)


class CpuAccounts:
    """CPU milliseconds per name: regained at `rate` a second, up to `burst` of them.

    Work is charged after it was done, so an account may be overdrawn; its owner has to wait until
    it is not.  The least recently used account is evicted first.  Safe for threads.
    """

    def __init__(
        self, rate: float, burst: float, most: int = 10_000, clock: Clock = clock.monotonic
    ) -> None:
        self._rate = rate
        self._burst = burst
        self._most = most
        self._clock = clock
        self._lock = threading.Lock()
        self._of: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait_ms(self, name: str) -> int:
        """Return the milliseconds until the account is even; 0 if it is."""
        with self._lock:
            left = self._left(name)
        return 0 if left > 0 else max(1, round((1 - left) / self._rate * 1000))

    def left(self, name: str) -> float:
        """Return the milliseconds that the account holds; below 0 where it is overdrawn."""
        with self._lock:
            return self._left(name)

    def charge(self, name: str, spent_ms: float) -> None:
        with self._lock:
            self._of[name] = (self._left(name) - spent_ms, self._clock())
            self._of.move_to_end(name)
            while len(self._of) > self._most:
                self._of.popitem(last=False)

    def _left(self, name: str) -> float:
        left, at = self._of.get(name, (self._burst, 0.0))
        return min(self._burst, left + (self._clock() - at) * self._rate)


def count_down(counts: Counter[str], name: str, by: int = 1) -> None:
    """Lower a count; forget the name at zero, so that names do not pile up."""
    counts[name] -= by
    if counts[name] <= 0:
        del counts[name]
