"""The real server on a real port: what a test client inside the process cannot show."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import simple_websocket

from tests.app.conftest import SCENARIO
from tests.conftest import ROOT


@dataclass
class Server:
    process: subprocess.Popen[str]
    port: int


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("live")
    environ = {
        **os.environ,
        "HIGHWATER_INSTANCE": str(folder),
        "HIGHWATER_MOVES_BURST": "500",
        "PYTHONPATH": str(ROOT),
    }
    with (
        (folder / "log").open("w") as log,
        subprocess.Popen(
            [sys.executable, "-m", "app", "serve", "--port", "0"],
            cwd=ROOT,
            env=environ,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        ) as process,
    ):
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r":(\d+)/", line)
        assert found, line + (folder / "log").read_text()
        yield Server(process, int(found[1]))
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0


class Wire:
    """Engine.IO 4 spoken by hand, so that nothing between the test and the server is polite."""

    def __init__(self, port: int, origin: str = "") -> None:
        headers = {"Origin": origin} if origin else {}
        self.ws = simple_websocket.Client.connect(
            f"ws://127.0.0.1:{port}/socket.io/?EIO=4&transport=websocket", headers=headers
        )
        assert self._receive().startswith("0")
        self.ws.send("40{}")
        assert self._receive().startswith("40")
        self.number = 0

    def _receive(self) -> str:
        while True:
            text = self.ws.receive(timeout=10)
            assert isinstance(text, str), "no answer in ten seconds"
            if text != "2":
                return text
            self.ws.send("3")

    def send(self, event: str, data: Any) -> int:
        self.number += 1
        self.ws.send(f"42{self.number}" + json.dumps([event, data]))
        return self.number

    def answer(self) -> tuple[int, Any]:
        match = re.match(r"43(\d+)(.*)", self._receive(), re.S)
        assert match
        return int(match[1]), json.loads(match[2])[0]

    def ask(self, event: str, data: Any) -> Any:
        number = self.send(event, data)
        answered, answer = self.answer()
        assert answered == number
        return answer


def save_scenario(port: int) -> str:
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    link.request("GET", "/")
    page = link.getresponse()
    cookie = page.getheader("Set-Cookie", "").split(";")[0]
    token = re.search(r'name="csrf-token" content="([^"]+)"', page.read().decode())
    assert token, "pages carry the token"
    link.request(
        "POST",
        "/api/scenarios",
        json.dumps({"yaml": SCENARIO}),
        {"Cookie": cookie, "X-CSRF-Token": token[1], "Content-Type": "application/json"},
    )
    answer = json.loads(link.getresponse().read())
    link.close()
    assert answer["ok"], answer
    return str(answer["digest"])


def test_fifty_questions_at_once_are_answered_in_order(server: Server) -> None:
    wire = Wire(server.port)
    run = wire.ask("open", {"scenario": save_scenario(server.port)})["run"]
    sent = [
        (wire.send("move", {"run": run, "step": 1, "text": f"produce r{index}"}), index)
        for index in range(50)
    ]
    for number, index in sent:
        answered, answer = wire.answer()
        assert answered == number
        assert answer["facts"]["moves"][-1] == f"produce r{index}"
    wire.ws.close()


def test_a_message_that_is_too_large_closes_only_its_own_connection(server: Server) -> None:
    polite, rude = Wire(server.port), Wire(server.port)
    rude.send("open", {"text": "x" * 300_000})
    with pytest.raises((simple_websocket.ConnectionClosed, AssertionError)):
        rude.answer()
    assert polite.ask("open", {"scenario": "no-such"})["code"] == "not_found"
    polite.ws.close()


def test_what_is_no_packet_closes_only_its_own_connection(server: Server) -> None:
    polite = Wire(server.port)
    for junk in ("42[", "42{", "4", "999", "42999999[1]", "45-1[]", "\x00"):
        rude = Wire(server.port)
        rude.ws.send(junk)
        assert polite.ask("seek", {})["code"] == "invalid"
        rude.ws.close()
    polite.ws.close()


def test_another_site_may_not_connect(server: Server) -> None:
    for origin in ("https://elsewhere.example", "null"):
        link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        link.request("GET", "/socket.io/?EIO=4&transport=polling", headers={"Origin": origin})
        assert link.getresponse().status == 400
        link.close()
    Wire(server.port, origin=f"http://127.0.0.1:{server.port}").ws.close()


def test_five_megabytes_are_refused_with_a_sentence_that_arrives(server: Server) -> None:
    link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    link.request(
        "POST", "/api/scenarios", b"x" * 5_000_000, {"Content-Type": "application/yaml"}
    )
    answer = link.getresponse()
    assert answer.status == 413
    assert json.loads(answer.read())["code"] == "too_large"
    link.close()


def test_a_taken_port_is_told_at_once(server: Server, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        told = subprocess.run(
            [sys.executable, "-m", "app", "serve", "--port", str(port)],
            cwd=ROOT,
            env={**os.environ, "HIGHWATER_INSTANCE": str(tmp_path)},
            capture_output=True,
            text=True,
        )
    assert told.returncode == 2
    assert told.stderr.count("\n") == 1
    assert f"port {port}" in told.stderr
