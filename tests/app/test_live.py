"""The real server on a real port: what a test client inside the process cannot show."""

from __future__ import annotations

import csv
import http.client
import io
import json
import os
import re
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import simple_websocket

from tests.app.conftest import SCENARIO
from tests.bench.server import ServerWire, serving
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serving(moves_burst="500", sockets_per_address="50") as port:
        yield port


def save_scenario(port: int) -> str:
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    link.request("GET", "/")
    page = link.getresponse()
    cookie = page.getheader("Set-Cookie", "").split(";")[0]
    token = re.search(r'data-csrf="([^"]+)"', page.read().decode())
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


def test_fifty_questions_at_once_are_answered_in_order(port: int) -> None:
    with ServerWire(port) as wire:
        run = wire.ask("open", {"scenario": save_scenario(port)})["run"]
        sent = [
            (wire.send("move", {"run": run, "step": 1, "text": f"produce r{index}"}), index)
            for index in range(50)
        ]
        for number, index in sent:
            answered, answer = wire.answer()
            assert answered == number
            assert answer["facts"]["moves"][-1] == f"produce r{index}"


def test_a_message_that_is_too_large_closes_only_its_own_connection(port: int) -> None:
    with ServerWire(port) as polite, ServerWire(port) as rude:
        rude.send("open", {"text": "x" * 300_000})
        with pytest.raises(simple_websocket.ConnectionClosed):
            rude.answer()
        assert polite.ask("open", {"scenario": "no-such"})["code"] == "not_found"


@pytest.mark.parametrize("junk", ["42[", "42{", "4", "999", "42999999[1]", "45-1[]", "\x00"])
def test_malformed_packets_do_not_harm_others(port: int, junk: str) -> None:
    with ServerWire(port) as polite, ServerWire(port) as rude:
        rude.ws.send(junk)
        assert polite.ask("seek", {})["code"] == "invalid"


def test_another_site_may_not_connect(port: int) -> None:
    for origin in ("https://elsewhere.example", "null"):
        link = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Origin": origin}
        link.request("GET", "/socket.io/?EIO=4&transport=websocket", headers=upgrade)
        answer = link.getresponse()
        assert answer.status == 400 and b"origin" in answer.read()
        link.close()
    ServerWire(port, origin="http://127.0.0.1").close()


def test_five_megabytes_are_refused_with_a_sentence_that_arrives(port: int) -> None:
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    link.request("POST", "/api/scenarios", b"x" * 5_000_000, {"Content-Type": "application/yaml"})
    answer = link.getresponse()
    assert answer.status == 413
    assert json.loads(answer.read())["code"] == "too_large"
    link.close()


def test_a_message_that_never_ends_is_cut_off_while_it_arrives(port: int) -> None:
    with ServerWire(port) as rude, pytest.raises((simple_websocket.ConnectionClosed, OSError)):
        rude.ws.send("42" + "x" * 50_000_000)
        rude.answer()


def test_one_connection_carries_many_files(port: int) -> None:
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    line.request("GET", "/static/js/pages/animator.js")
    first = line.getresponse()
    assert first.read() == (ROOT / "static/js/pages/animator.js").read_bytes()
    kept = line.sock
    line.request(
        "GET", "/static/js/pages/animator.js", headers={"If-None-Match": first.headers["ETag"]}
    )
    again = line.getresponse()
    assert (again.status, again.read(), line.sock) == (304, b"", kept)
    line.request("GET", "/static/nothing.js", headers={"Accept": "application/json"})
    missing = line.getresponse()
    assert missing.status == 404 and missing.read() and line.sock is kept
    line.request("POST", "/static/js/pages/animator.js", body=b"x" * 9)
    refused = line.getresponse()
    assert refused.status == 405 and refused.read() and line.sock is kept
    line.close()


def test_a_server_stops_while_pages_are_open_and_has_nothing_to_say(tmp_path: Path) -> None:
    """No process of it is aborted: what has threads is begun after the fork."""
    server = subprocess.Popen(
        [sys.executable, "-m", "app", "serve", "--port", "0"],
        cwd=ROOT,
        env={**os.environ, "HIGHWATER_INSTANCE": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert server.stdout is not None
    ready = re.search(r"Highwater is at http://localhost:(\d+)/", server.stdout.readline())
    assert ready
    wires = [ServerWire(int(ready[1])) for _ in range(2)]
    began = time.monotonic()
    server.terminate()
    said, _ = server.communicate(timeout=30)
    assert (said, server.returncode) == ("", 0)
    assert time.monotonic() - began < 15
    for wire in wires:
        wire.close()


def test_a_taken_port_is_told_at_once(tmp_path: Path) -> None:
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


def visitor(port: int) -> dict[str, str]:
    """A browser that has been here: its cookie and its token."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    link.request("GET", "/practice/sheet?only=Q1")
    page = link.getresponse()
    token = re.search(r'data-csrf="([^"]+)"', page.read().decode())
    assert token
    link.close()
    return {"cookie": page.getheader("Set-Cookie", "").split(";")[0], "csrf": token[1]}


def table(port: int, room: str, cookie: str) -> list[dict[str, str]]:
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    link.request("GET", f"/class/{room}/answers.csv", headers={"Cookie": cookie})
    answer = link.getresponse()
    text = answer.read().decode()
    assert answer.status == 200, text
    link.close()
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.night
def test_thirty_sockets_answer_one_question(port: int) -> None:
    """Thirty browsers, thirty sockets at once: each counts once, in histogram and table alike."""
    teacher = visitor(port)
    with ExitStack() as open_ones:
        leader = open_ones.enter_context(ServerWire(port, **teacher))
        run = leader.ask("open", {"scenario": "S22", "profile": "K39"})["run"]
        room = leader.ask("lead", {"run": run, "step": 0})["room"]
        found = leader.ask("questions", {"run": run, "step": 0})["questions"]
        pupils = [open_ones.enter_context(ServerWire(port, **visitor(port))) for _ in range(30)]
        for one in pupils:
            assert one.ask("join", {"room": room})["ok"]
        n = leader.ask("ask", {"room": room, "run": run, "probe": found[0]["probe"]})["n"]
        offered = len(pupils[0].ask("asked", {})["words"]["choices"])
        chosen = [i * i % offered for i in range(30)]
        for one, choice in zip(pupils, chosen, strict=True):
            one.send("answer", {"n": n, "choice": choice})
        given = [one.answer()[1] for one in pupils]
        assert all(one["ok"] and "histogram" not in one for one in given), given
        twice = [one.ask("answer", {"n": n, "choice": 0}) for one in pupils]
        assert not any(one["ok"] for one in twice)
        leader.ask("ask", {"room": room, "closed": True})
        shown = pupils[29].ask("asked", {})
    counted = Counter(chosen)
    assert [row["n"] for row in shown["histogram"]] == [counted[i] for i in range(offered)]
    rows = table(port, room, teacher["cookie"])
    assert {row["pupil"] for row in rows} == {str(i + 1) for i in range(30)} and len(rows) == 30
    said = Counter(row["answer"] for row in rows)
    assert said == {row["text"]: row["n"] for row in shown["histogram"] if row["n"]}
    assert sum(int(row["right"]) for row in rows) == counted[shown["right"]]
    ids = {row["text"]: " ".join(row["ids"]) for row in shown["histogram"]}
    assert all(row["misconceptions"] == ids[row["answer"]] for row in rows)
