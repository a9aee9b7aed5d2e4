"""Hostile clients against the server as it is started: they waste only their own time.

They are 127.0.0.1; the honest visitor has another address.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import simple_websocket

from tests.bench.server import ServerWire, serving

PATIENCE_S = 20.0
"""What an honest visitor would wait at most; what is looked for takes far less, or for ever."""
HONEST = "127.0.0.2"
ANYTHING = {"scenario": "no-such"}


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serving(sockets_per_address="40", threads="96") as port:
        yield port


def get(port: int, path: str, address: str = "127.0.0.1") -> int:
    link = http.client.HTTPConnection(
        "127.0.0.1", port, timeout=PATIENCE_S, source_address=(address, 0)
    )
    with contextlib.closing(link):
        link.request("GET", path)
        answer = link.getresponse()
        answer.read()
        return answer.status


@contextlib.contextmanager
def many(port: int, count: int, said: bytes) -> Iterator[list[socket.socket]]:
    """Connections that say something and then nothing more."""
    with contextlib.ExitStack() as stack:
        links = []
        for _ in range(count):
            link = stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE_S))
            with contextlib.suppress(OSError):  # it may have been cut already
                link.sendall(said)
            links.append(link)
        yield links


@pytest.mark.night
def test_a_server_just_started_answers_a_class_and_bounds_its_live_connections() -> None:
    with serving(sockets_per_address="40") as port, ThreadPoolExecutor(40) as pool:
        assert set(pool.map(lambda _: get(port, "/s/S20"), range(40))) == {200}
        with contextlib.ExitStack() as stack:
            for _ in range(40):
                stack.enter_context(ServerWire(port))
            with pytest.raises(RuntimeError, match="slow_down"):
                ServerWire(port)


HANDSHAKE = (
    b"GET /socket.io/?EIO=4&transport=websocket HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
HALF_A_BODY = (
    b"POST /api/scenarios HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100000\r\n"
    b"Content-Type: application/json\r\n\r\n{"
)
HALF_A_HEAD = b"GET / HTTP/1.1\r\nHost: 127"


@pytest.mark.parametrize(
    "said", [HANDSHAKE, HALF_A_BODY, HALF_A_HEAD, b""], ids=["links", "bodies", "heads", "silence"]
)
def test_stalled_connections_do_not_block_others(port: int, said: bytes) -> None:
    with many(port, 140, said) as links:
        for _ in range(5):
            assert get(port, "/s/S20", HONEST) == 200
        for link in links[:10]:  # each ends by itself, with an answer or without
            with contextlib.suppress(ConnectionError):
                while link.recv(4096):
                    pass


def test_connections_that_do_not_close_are_closed_by_their_own_threads(port: int) -> None:
    # Each is waited for up to 2 s; where connections are accepted, that would be two minutes.
    with many(port, 60, b"NONSENSE\r\n\r\n"):
        for _ in range(3):
            assert get(port, "/health", HONEST) == 200


def test_half_a_body_is_told_so(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), 2 * PATIENCE_S) as link:
        link.sendall(HALF_A_BODY)
        answer = http.client.HTTPResponse(link)
        answer.begin()
        assert answer.status == 408 and "within 10 seconds" in json.loads(answer.read())["sentence"]


@pytest.mark.parametrize("name", ["disconnect", "connect", "connect_error", "*", "malformed"])
def test_a_reserved_name_is_no_question(port: int, name: str) -> None:
    with ServerWire(port) as rude:
        for _ in range(3):
            assert rude.ask(name, {})["ok"] is False
        assert rude.ask("seek", {})["code"] == "invalid", "it is still known"


def test_to_connect_again_fills_no_bucket(port: int) -> None:
    with ServerWire(port) as rude:
        for _ in range(8):
            rude.ask("open", ANYTHING)
        rude.ws.send("41")
        rude.ws.send("40{}")
        rude._expect("40")
        codes = [rude.ask("open", ANYTHING)["code"] for _ in range(2)]
        assert codes[-1] == "slow_down"


@pytest.mark.parametrize("text", ['["open",{"seed":NaN}]', '["open","\\ud800"]', "[]", "[1]", "{}"])
def test_a_question_that_is_none_is_answered(port: int, text: str) -> None:
    with ServerWire(port) as rude:
        rude.ws.send("4217" + text)
        number, answer = rude.answer()
        assert number == 17
        assert answer["ok"] is False and answer["sentence"].endswith(".")


@pytest.mark.parametrize("junk", ["4", "49", "42-1[]", "42[", "42{}", "451-[]", "44{}", "x", "4x"])
def test_malformed_packets_close_their_connection(port: int, junk: str) -> None:
    with ServerWire(port) as rude, pytest.raises((simple_websocket.ConnectionClosed, OSError)):
        rude.ws.send(junk)
        while rude.ws.receive(timeout=PATIENCE_S):
            pass


def test_a_flood_of_packets_is_cut(port: int) -> None:
    with ServerWire(port) as rude:
        with pytest.raises((simple_websocket.ConnectionClosed, OSError)):
            for _ in range(5_000):
                rude.ws.send("43999[]")
            while rude.ws.receive(timeout=PATIENCE_S):
                pass
        assert get(port, "/health") == 200
