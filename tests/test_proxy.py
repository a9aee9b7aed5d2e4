"""nginx with docs/nginx.conf in front of the real server: what it lets through, and as whose."""

from __future__ import annotations

import json
import os
import shutil
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import socketio

from tests.e2e.conftest import Server
from tests.ports import free_port

ROOT = Path(__file__).resolve().parent.parent
NGINX = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin") or "nginx"
pytestmark = [
    pytest.mark.gate,
    pytest.mark.skipif(
        not Path(NGINX).exists() and not os.environ.get("CI"),
        reason="no nginx: apt-get install nginx",
    ),
]
AROUND = """
daemon off; worker_processes 1; pid {place}/pid; error_log {place}/error.log; {user}
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {place}/1; proxy_temp_path {place}/2; fastcgi_temp_path {place}/3;
    uwsgi_temp_path {place}/4; scgi_temp_path {place}/5;
    include {place}/highwater.conf;
}}
"""
PATIENCE_S = 20


class Proxy:
    """nginx as it is told in docs/, but for ports, names and where the certificate lies."""

    def __init__(self, place: Path, behind: int) -> None:
        self.place, self.http, self.https = place, free_port(), free_port()
        text = (ROOT / "docs/nginx.conf").read_text("utf-8")
        for told, here in (
            ("listen 80;", f"listen 127.0.0.1:{self.http};"),
            ("listen 443 ssl;", f"listen 127.0.0.1:{self.https} ssl;"),
            ("127.0.0.1:8000", f"127.0.0.1:{behind}"),
            ("/etc/ssl/highwater.pem", f"{place}/certificate.pem"),
            ("/etc/ssl/highwater.key", f"{place}/key.pem"),
        ):
            assert told in text, told
            text = text.replace(told, here)
        (place / "highwater.conf").write_text(text)
        user = "user root;" if os.geteuid() == 0 else ""  # the directory is pytest's alone
        (place / "nginx.conf").write_text(AROUND.format(place=place, user=user))
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
             "-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout", place / "key.pem",
             "-out", place / "certificate.pem"],
            check=True, capture_output=True,
        )  # fmt: skip
        self.trust = ssl.create_default_context(cafile=str(place / "certificate.pem"))
        self.trust.check_hostname = False
        self.url = f"https://127.0.0.1:{self.https}"
        command = [NGINX, "-p", str(place), "-e", f"{place}/error.log", "-c", f"{place}/nginx.conf"]
        self.process = subprocess.Popen(command)
        until = time.monotonic() + PATIENCE_S
        while self.get("/health")[0] != 200:
            assert self.process.poll() is None and time.monotonic() < until, self.errors()
            time.sleep(0.05)

    def errors(self) -> str:
        return (self.place / "error.log").read_text()

    def get(self, path: str, body: bytes | None = None, **headers: str) -> tuple[int, Any, bytes]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        asked = urllib.request.Request(self.url + path, body, named)
        try:
            with urllib.request.urlopen(asked, context=self.trust, timeout=PATIENCE_S) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, error.read()
        except OSError:
            return 0, {}, b""

    def raw(self) -> ssl.SSLSocket:
        plain = socket.create_connection(("127.0.0.1", self.https), PATIENCE_S)
        return self.trust.wrap_socket(plain)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(10)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    made = Server(tmp_path_factory.mktemp("behind"))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (("PROXIES", "1"), ("SAVES_PER_S", "0.001"), ("SAVES_BURST", "3")):
            patch.setenv(f"HIGHWATER_{name}", value)
        made.start()
    yield made
    made.stop()


@pytest.fixture(scope="module")
def proxy(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    made = Proxy(tmp_path_factory.mktemp("nginx"), server.port)
    yield made
    made.stop()


def test_a_page_comes_over_tls_and_says_so(proxy: Proxy) -> None:
    status, headers, body = proxy.get("/s/S20")
    assert status == 200 and b"<html" in body
    assert "max-age" in headers["Strict-Transport-Security"]
    assert "Secure" in headers["Set-Cookie"]
    assert headers["Server"] == "nginx"


def test_requests_without_tls_are_redirected_to_tls(proxy: Proxy) -> None:
    with socket.create_connection(("127.0.0.1", proxy.http), PATIENCE_S) as plain:
        plain.sendall(b"GET /s/S20?x=1 HTTP/1.1\r\nHost: highwater.example\r\n\r\n")
        told = plain.recv(4096).decode()
    assert " 308 " in told and "Location: https://highwater.example/s/S20?x=1\r\n" in told


def test_live_runs_go_through(proxy: Proxy) -> None:
    """The upgrade to a websocket, several answers over it, and one that is large."""
    _, headers, body = proxy.get("/s/S20")
    token = body.split(b'data-csrf="')[1].split(b'"')[0].decode()
    cookie = headers["Set-Cookie"].split(";")[0]
    client = socketio.Client(ssl_verify=False)
    try:
        client.connect(
            proxy.url, headers={"Cookie": cookie}, auth={"csrf": token}, transports=["websocket"]
        )
        opened = client.call("open", {"scenario": "S20"}, timeout=PATIENCE_S)
        assert opened["ok"], opened
        asked = {"run": opened["run"], "step": 0, "count": 32}
        many = client.call("play", asked, timeout=PATIENCE_S)
        assert many["ok"] and len(many["steps"]) > 5, many
        assert len(json.dumps(many)) > 20_000
    finally:
        client.disconnect()


def test_the_largest_scenario_goes_through_and_a_larger_body_does_not(proxy: Proxy) -> None:
    status, _, body = proxy.get("/api/scenarios", b"#" * 70_000, Content_Type="text/plain")
    assert status in (403, 413) and b'"sentence"' in body, "the application's own answer"
    status, _, body = proxy.get("/api/scenarios", b"#" * 300_000, Content_Type="text/plain")
    assert status == 413 and b"nginx" in body, "the application is not asked"


def connections(port: int) -> int:
    """Established ones to a port of this machine."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    return sum(line.split()[2].endswith(f":{port:04X}") and " 01 " in line for line in lines)


def test_slow_bodies_wait_at_the_proxy(proxy: Proxy, server: Server) -> None:
    """Half a body costs the application nothing: it does not hear of it."""
    before = connections(server.port)
    slow = [proxy.raw() for _ in range(10)]
    try:
        for one in slow:
            one.sendall(b"POST /api/runs HTTP/1.1\r\nHost: localhost\r\n")
            one.sendall(b"Content-Length: 1000\r\n\r\nhalf")
        time.sleep(0.3)
        assert connections(server.port) <= before
    finally:
        for one in slow:
            one.close()


def saving(proxy: Proxy, **headers: str) -> int:
    """The status of one more save by a visitor of this address."""
    _, got, body = proxy.get("/s/S20", **headers)
    token = body.split(b'data-csrf="')[1].split(b'"')[0].decode()
    sent = json.dumps({"yaml": "title: Saved?\n"}).encode()
    cookie = got["Set-Cookie"].split(";")[0]
    status, _, _ = proxy.get(
        "/api/scenarios", sent, Cookie=cookie, X_CSRF_Token=token, **headers,
        Content_Type="application/json",
    )  # fmt: skip
    return status


def test_a_visitor_cannot_name_an_address_of_his_own(proxy: Proxy) -> None:
    """Three saves are let through; what the header says about addresses changes nothing."""
    told = [saving(proxy, X_Forwarded_For=f"198.51.100.{number}") for number in range(5)]
    assert told[:3] in ([201, 200, 200], [200, 200, 200]), told
    assert told[3:] == [429, 429], told


@pytest.mark.night
def test_an_address_has_forty_connections(proxy: Proxy) -> None:
    held = []
    try:
        for _ in range(40):
            one = proxy.raw()
            one.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n")
            held.append(one)
        time.sleep(0.2)
        assert proxy.get("/health")[0] == 429
    finally:
        for one in held:
            one.close()
    until = time.monotonic() + PATIENCE_S
    while proxy.get("/health")[0] != 200:
        assert time.monotonic() < until
