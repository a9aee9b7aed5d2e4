"""CPU quotas: of an address, for all that it asks at once, and of one piece of work.

An address of IPv6 stands for its network of 64 bits, since a client with one address of it has all.
"""

from __future__ import annotations

import ipaddress
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Final

from app.admission import client_disconnect
from app.admission.rates import Buckets, CpuAccounts, count_down
from app.core import clock
from app.core.config import HANDS, Settings
from app.core.refusals import RequestError

DAY_S: Final = 24 * 3600
KIB: Final = 1024
AGAIN_MS: Final = 1_000
BODIES_BYTES: Final = 8 * 1024 * KIB
"""Of the bodies of one address that are being read or answered."""

OWN: Final = 8
"""Divisor: a browser gets 1/OWN of the share of an address that is running short."""

PAID_EVERY_S: Final = 0.02
"""CPU seconds after which work is charged, though it goes on."""
LOOK_EVERY_S: Final = 0.2
"""Seconds between two looks at whether the client is still connected."""


@lru_cache(4_096)
def payer(address: str) -> str:
    """Return the account that is charged for requests from an address."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return address
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))


class Accounts:
    """CPU milliseconds, requests and bytes in progress, and bytes kept, by address.

    And refusals by reason.  Safe for threads.

    `audit` receives every charge: the address and the milliseconds.
    """

    def __init__(
        self, settings: Settings, audit: Callable[[str, float], None] = lambda *_: None
    ) -> None:
        self._audit = audit
        self._cpu = CpuAccounts(settings.cpu_ms_per_s, settings.cpu_burst_ms)
        self._own = CpuAccounts(settings.cpu_ms_per_s / OWN, settings.cpu_burst_ms / OWN)
        self._scarce_ms = settings.cpu_burst_ms / 2
        # The most that one piece of work may take: an address with any time left may finish one.
        self._overdraft_ms = settings.build_cpu_s * 1_000
        self._pace = {
            "saves": Buckets(settings.saves_per_s, settings.saves_burst),
            "checks": Buckets(settings.moves_per_s, settings.moves_burst),
            "tries": Buckets(settings.opens_per_s, settings.opens_burst),
        }
        burst = settings.saved_kib_per_day * KIB
        self._kept = Buckets(burst / DAY_S, burst)
        self._hands = settings.sockets_per_address + HANDS
        self._lock = threading.Lock()
        self._here: Counter[str] = Counter()
        self._bytes: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.spent_ms = 0.0

    def take(self, address: str, what: str) -> None:
        """Charge one of "saves", "checks" or "tries".  Raises RequestError "slow_down"."""
        wait_ms = self._pace[what].take(payer(address))
        if wait_ms:
            raise self.refusal(RequestError("slow_down", ms=wait_ms))

    def require_time(self, address: str, cookie: str = "") -> None:
        """Raise RequestError "slow_down" for an address that has overdrawn its processor time.

        Once half of it is gone, the rest is for those browsers that had little of it so far: a
        class behind one address is not one visitor.  A browser without a cookie is one of them.
        """
        name = payer(address)
        wait_ms = self._cpu.wait_ms(name)
        if wait_ms:
            raise self.refusal(RequestError("slow_down", "slow_down.cpu", ms=wait_ms))
        if self._cpu.left(name) < self._scarce_ms:
            wait_ms = self._own.wait_ms(f"{name} {cookie}")
            if wait_ms:
                raise self.refusal(RequestError("slow_down", "slow_down.own", ms=wait_ms))

    def charge(self, address: str, spent_ms: float, cookie: str = "") -> None:
        self._audit(address, spent_ms)
        name = payer(address)
        self._cpu.charge(name, spent_ms)
        self._own.charge(f"{name} {cookie}", spent_ms)
        with self._lock:
            self.spent_ms += spent_ms

    def require_overdraft(self, address: str) -> None:
        """Raise RequestError "slow_down" for an address that has overdrawn its account too far.

        That is where its work under way has together taken what was left and as much as one piece
        of work may take.
        """
        name = payer(address)
        if self._cpu.left(name) < -self._overdraft_ms:
            wait_ms = self._cpu.wait_ms(name)
            raise self.refusal(RequestError("slow_down", "slow_down.cpu", ms=wait_ms))

    @contextmanager
    def charged(self, address: str, cookie: str = "") -> Iterator[None]:
        """Charge what this thread spends in the block, as it goes on.

        Raises as `require_time` does.
        """
        charge = Charge(self, address, cookie)
        try:
            yield
        finally:
            charge.close()

    def keep(self, address: str, size: int) -> None:
        """Charge bytes that are saved.  Raises RequestError "slow_down"."""
        wait_ms = self._kept.take(payer(address), size)
        if wait_ms:
            raise self.refusal(RequestError("slow_down", "slow_down.kept", ms=wait_ms))

    @contextmanager
    def under_way(self, address: str, size: int) -> Iterator[None]:
        """Count a request with a body of `size` bytes until the block ends.

        Raises RequestError.
        """
        name = payer(address)
        with self._lock:
            here, held = self._here[name], self._bytes[name]
            if here >= self._hands or (size and held + size > BODIES_BYTES):
                refusal = RequestError("slow_down", "slow_down.hands", n=here, ms=AGAIN_MS)
                self.refused[refusal.key] += 1
                raise refusal
            self._here[name] += 1
            self._bytes[name] += size
        try:
            yield
        finally:
            with self._lock:
                count_down(self._here, name, 1)
                count_down(self._bytes, name, size)

    def refusal(self, refusal: RequestError) -> RequestError:
        """Count a refusal, wherever it is raised or answered."""
        with self._lock:
            self.refused[refusal.key] += 1
        return refusal

    def totals(self) -> dict[str, float]:
        """Return the sums over all addresses, for the operator."""
        with self._lock:
            return {
                "requests": self._here.total(),
                "body_bytes": self._bytes.total(),
                "cpu_ms": self.spent_ms,
            }


_charge: ContextVar[Charge | None] = ContextVar("charge", default=None)


class Charge:
    """Charges of one thread for its client, from now until it is closed.

    Raises as `Accounts.require_time` does.

    Were it charged at the end alone, an address could begin as many pieces of work at one moment as
    it may have under way, each against the whole account.
    """

    def __init__(self, accounts: Accounts, address: str, cookie: str) -> None:
        accounts.require_time(address, cookie)
        self._accounts, self._address, self._cookie = accounts, address, cookie
        self._before = _charge.get()
        self._paid = clock.processor()
        _charge.set(self)

    @property
    def payer(self) -> str:
        return payer(self._address)

    def go_on(self, now: float) -> None:
        """Charge what was spent since the last call.  Raises as `require_overdraft` does."""
        if now - self._paid >= PAID_EVERY_S:
            self._pay(now)
            self._accounts.require_overdraft(self._address)

    def close(self) -> None:
        self._pay(clock.processor())
        _charge.set(self._before)

    def _pay(self, now: float) -> None:
        spent_ms, self._paid = (now - self._paid) * 1_000, now
        self._accounts.charge(self._address, spent_ms, self._cookie)


def asking() -> str:
    """Return the account that pays for this thread; "" where there is none."""
    charge = _charge.get()
    return charge.payer if charge is not None else ""


class CpuBudget:
    """Budget of one piece of work: seconds of its thread's processor, paid while a client waits.

    `others` counts further clients that wait for the same work.
    """

    def __init__(self, seconds: float, others: Callable[[], int] = lambda: 0) -> None:
        self._seconds = seconds
        self._others = others
        self._began = clock.processor()
        self._next_look = clock.monotonic() + LOOK_EVERY_S

    def is_spent(self) -> bool:
        return clock.processor() - self._began > self._seconds

    def check(self) -> None:
        """Charge what was spent since the last call.

        Raises RequestError "too_large" once the budget is spent, "slow_down" once the client for
        which this thread works cannot pay, "unwanted" once no client waits any more.
        """
        now = clock.processor()
        if now - self._began > self._seconds:
            raise RequestError("too_large", "cpu.build", s=round(self._seconds))
        charge = _charge.get()
        if charge is not None:
            charge.go_on(now)
        if clock.monotonic() >= self._next_look:
            self._next_look = clock.monotonic() + LOOK_EVERY_S
            if client_disconnect.is_gone() and not self._others():
                raise RequestError("unwanted", "unwanted")
