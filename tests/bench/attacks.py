"""Benchmark of an honest visitor's latency while others attack the server.

The visitor is 127.0.0.1, attackers are 127.0.0.2 and 127.0.0.3, on one machine and against the
usual settings, so that all share its processors.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import socket
import statistics
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import simple_websocket

from engine.scenarios.file import find
from engine.sim.run import Run
from tests.bench.kills import Person
from tests.bench.server import ServerWire, busy, serving

ATTACK_S: Final = 8.0
HANDS: Final = 8
"""Threads of the attacker."""
SILENT: Final = 140
EVIL: Final = ("127.0.0.2", "127.0.0.3")
SHOWN: Final = "S20"
BUDGETS: Final = {"worst_step_p99_ms": 1_000.0, "memory_mib": 1_500.0}
PATIENCE_S: Final = 20.0
_KEY = "dGhlIHNhbXBsZSBub25jZQ=="
HANDSHAKE = (
    "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    f"Sec-WebSocket-Key: {_KEY}\r\n\r\n"
).encode()
HALF_A_BODY = (
    b"POST /api/scenarios HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n"
    b"Content-Type: application/json\r\n\r\n{"
)
Attack = Callable[[int, threading.Event], None]


def _evil() -> str:
    """Return the address of this thread: attackers share the threads."""
    return EVIL[threading.get_ident() // 4096 % len(EVIL)]


def _linked(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), PATIENCE_S, (_evil(), 0))


def _frame(text: str) -> bytes:
    """Return a masked text frame (RFC 6455), its mask zero."""
    body = text.encode()
    if len(body) < 126:
        head = struct.pack("!BB", 0x81, 0x80 | len(body))
    else:
        head = struct.pack("!BBH", 0x81, 0x80 | 126, len(body))
    return head + bytes(4) + body


def _drain(link: socket.socket, seconds: float) -> None:
    """Read for `seconds`; a connection that was cut raises OSError."""
    link.settimeout(seconds)
    with contextlib.suppress(TimeoutError):
        while True:
            if not link.recv(1 << 20):
                raise ConnectionResetError


def silent(said: bytes) -> Attack:
    """Attack with connections that begin something and stall; those that are cut come again."""

    def attack(port: int, over: threading.Event) -> None:
        links: list[socket.socket] = []
        while not over.is_set():
            while len(links) < SILENT // HANDS:
                links.append(_linked(port))
                with contextlib.suppress(OSError):
                    links[-1].sendall(said)
            over.wait(1.0)
            links.pop(0).close()
        for link in links:
            link.close()

    return attack


def asking(questions: Callable[[int], str]) -> Attack:
    """Attack with live connections that ask as fast as they may, and reconnect when cut."""

    def attack(port: int, over: threading.Event) -> None:
        number = 0
        while not over.is_set():
            with _linked(port) as link, contextlib.suppress(OSError):
                link.sendall(HANDSHAKE + _frame("40{}"))
                while not over.is_set():
                    number += 1
                    link.sendall(_frame(f"42{number}{questions(number)}"))
                    _drain(link, 0.02)
            over.wait(0.05)

    return attack


def getting(path: Callable[[int], str]) -> Attack:
    def attack(port: int, over: threading.Event) -> None:
        number = 0
        while not over.is_set():
            number += 1
            link = http.client.HTTPConnection(
                "127.0.0.1", port, timeout=PATIENCE_S, source_address=(_evil(), 0)
            )
            with contextlib.closing(link), contextlib.suppress(OSError, http.client.HTTPException):
                link.request("GET", path(number))
                if link.getresponse().status == 429:
                    over.wait(0.02)

    return attack


def post_file(person: Person, port: int, content: bytes) -> tuple[int, Any]:
    head = b'--x\r\nContent-Disposition: form-data; name="file"; filename="server.log"\r\n\r\n'
    body = head + content + b"\r\n--x--\r\n"
    return person.ask(port, "POST", "/incident/read", body, "multipart/form-data; boundary=x")


def posting(send: Callable[[Person, int, int], tuple[int, Any]]) -> Attack:
    """Attack with text that is slow to read, from both addresses."""

    def attack(port: int, over: threading.Event) -> None:
        person, number = Person(_evil()), 0
        person.know(port)
        while not over.is_set():
            number += 1
            status, told = send(person, port, number)
            REFUSALS[f"{status} {told.get('sentence', '') if isinstance(told, dict) else ''}"] += 1
            if status == 429:
                over.wait(0.1)

    return attack


REFUSALS: Final[Counter[str]] = Counter()
"""Answers to attackers, by status and sentence."""

SLOW_TEXTS: Final = (
    "0\n3\norders 0 5\n" + "a@" * 50_000,
    "Topic: a\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1\n" * 2_000,
    "\n" * 199_000,
    " " * 199_000,
    "[" * 100_000,
    "orders-0 " * 20_000,
)


def _paste(person: Person, port: int, number: int) -> tuple[int, Any]:
    text = SLOW_TEXTS[number % len(SLOW_TEXTS)]
    return person.ask(port, "POST", "/api/cluster", {"text": text})


ISR_LINE: Final = (
    b"[2026-01-05 10:00:%02d,%03d] INFO [Partition orders-0 broker=1] Shrinking ISR from 1,2,3 to "
    b"1,2. (kafka.cluster.Partition)\n"
)
SLOW_FILES: Final = (
    b"\n" * (15 << 20),
    b"a\n" * (15 << 19),
    b"".join(ISR_LINE % (n // 1000 % 60, n % 1000) for n in range(100_000)),
)


def _upload(person: Person, port: int, number: int) -> tuple[int, Any]:
    return post_file(person, port, SLOW_FILES[number % len(SLOW_FILES)])


def _dear(number: int) -> str:
    run = Run(find("S61"), "Z0102", number + 1_000 * threading.get_ident() % 10**9, ("run 30m",))
    return json.dumps(["open", {"text": run.text(), "ahead": 32}])


def _paths(number: int) -> str:
    run = Run(find("R20"), "Z0102").digest
    return (
        "/s/S20/ladder",
        f"/r/{run}/export/steps",
        f"/r/{run}/compare.json?with={run}",
        f"/r/{run}/steps.json?from={number % 90}&count=64",
        f"/r/{run}/card.png?step={number % 90}",
    )[number % 5]


ATTACKS: Final[dict[str, Attack | None]] = {
    "nobody": None,
    "silent": silent(HANDSHAKE),
    "bodies": silent(HALF_A_BODY),
    "heads": silent(HANDSHAKE[:30]),
    "reserved": asking(lambda number: json.dumps([("disconnect", "connect")[number % 2], {}])),
    "packets": asking(lambda _: '["open",{"seed":NaN}]'),
    "builds": asking(_dear),
    "pages": getting(_paths),
    "pastes": posting(_paste),
    "uploads": posting(_upload),
}


def _get(port: int, path: str) -> tuple[float, str]:
    """Return (milliseconds, body).  Raises RuntimeError where it was refused."""
    began = time.perf_counter()
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    with contextlib.closing(link):
        link.request("GET", path)
        answer = link.getresponse()
        text = answer.read().decode()
    if answer.status != 200:
        raise RuntimeError(f"{path} was answered {answer.status}.")
    return (time.perf_counter() - began) * 1_000, text


def _visit(port: int, seconds: float) -> dict[str, float]:
    """Visit as an honest browser: a page and an open every second, steps in between."""
    steps, pages, opens = [], [], []
    lost = 0
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            pages.append(_get(port, f"/s/{SHOWN}")[0])
            with ServerWire(port) as wire:
                began = time.perf_counter()
                opened = wire.ask("open", {"scenario": SHOWN})
                opens.append((time.perf_counter() - began) * 1_000)
                total = opened["facts"]["total"]
                for index in range(15):
                    began = time.perf_counter()
                    told = wire.ask(
                        "play", {"run": opened["run"], "step": index % total, "count": 1}
                    )
                    steps.append((time.perf_counter() - began) * 1_000)
                    lost += not told["ok"]
                    time.sleep(0.05)
        except (OSError, RuntimeError, KeyError, simple_websocket.ConnectionClosed):
            lost += 1
    return _works(port) | {
        "step_p50_ms": statistics.median(steps),
        "step_p99_ms": statistics.quantiles(steps, n=100)[98],
        "page_ms": statistics.median(pages),
        "open_ms": statistics.median(opens),
        "lost": float(lost),
    }


SMALL: Final = (
    "title: One write\nscript: |\n  produce m0 acks=all\n  settle\n",
    b"[2026-01-05 10:00:00,000] INFO [Partition orders-0 broker=1] Leader orders-0 with topic id "
    b"Some(x) starts at leader epoch 3 from offset 7 with partition epoch 5, high watermark 7, ISR "
    b"[1,2], adding replicas [] and removing replicas [] . (kafka.cluster.Partition)\n",
)


def _works(port: int) -> dict[str, float]:
    """Do once each what plays or reads: answers of 4, and the slowest."""
    run = Run(find("R20"), "Z0102").digest
    me, study = Person(), {"scenario": "S74", "profiles": ["K39"], "runs": 10}
    me.know(port)
    asks: tuple[Callable[[], tuple[int, Any]], ...] = (
        lambda: me.ask(port, "GET", f"/r/{run}/compare.json?with=K39"),
        lambda: me.ask(port, "POST", "/api/scenarios/try", {"yaml": SMALL[0]}),
        lambda: me.ask(port, "POST", "/api/batches/estimate", study),
        lambda: post_file(me, port, SMALL[1]),
    )
    answered, slowest = 0, 0.0
    for ask in asks:
        began = time.perf_counter()
        answered += ask()[0] == 200
        slowest = max(slowest, (time.perf_counter() - began) * 1_000)
    return {"answered_of_4": float(answered), "slowest_ms": slowest}


def memory_mib(port: int) -> float:
    """Return the memory of the server and of the processes that work for it."""
    told = _get(port, "/metrics")[1]
    names = ("process_resident_memory_bytes", "highwater_worker_bytes")
    found = (re.search(rf"^{name} (\S+)", told, re.M) for name in names)
    return sum(float(one[1]) for one in found if one) / 2**20


def attacks() -> tuple[float, dict[str, float]]:
    """Return the worst p99 of a step under attack over that without one; and all figures."""
    figures: dict[str, float] = {}
    seconds = float(os.environ.get("HIGHWATER_ATTACK_S", ATTACK_S))
    wanted = os.environ.get("HIGHWATER_ATTACKS", " ".join(ATTACKS)).split()
    for name, attack in ((one, ATTACKS[one]) for one in wanted):
        with serving(cpu_ms_per_s="500") as port:
            _visit(port, 2.0)
            hands = [partial(attack, port)] * HANDS if attack else []
            with busy(hands, PATIENCE_S):
                seen = _visit(port, seconds)
                seen["memory_mib"] = memory_mib(port)
            seen["after_step_p50_ms"] = _visit(port, 2.0)["step_p50_ms"]
        figures |= {f"{name}_{figure}": value for figure, value in seen.items()}
    worst: Any = max(value for name, value in figures.items() if name.endswith("step_p99_ms"))
    figures["worst_step_p99_ms"] = worst
    figures["memory_mib"] = max(v for name, v in figures.items() if name.endswith("memory_mib"))
    return worst / figures[f"{wanted[0]}_step_p99_ms"], figures
