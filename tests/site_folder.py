"""A static site for tests: built once for a session, with some of its runs frozen."""

from __future__ import annotations

import contextlib
import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from app.site.building import Report, build_site
from engine.scenarios.file import find

LANGS = ("en", "zh-Hans")
FROZEN = ("R20", "S01", "S31", "S82", "S13")
"""Scenarios whose runs are frozen; the library has a hundred, and the others play in the tab."""


def build(folder: Path) -> Report:
    """Build the site of the tests."""
    slugs = {find(code).slug for code in FROZEN}
    return build_site(folder, LANGS, "https://example.org/some/where", jobs=1, scenarios=slugs)


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Write nothing."""


class _Helpful(_Quiet):
    def send_error(self, code: int, *_: Any) -> None:
        """Send 404.html, as many hosts of files do."""
        body = (Path(self.directory) / "404.html").read_bytes()
        self.send_response(code)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(body)


@contextlib.contextmanager
def served(folder: Path, helpful: bool = False) -> Iterator[str]:
    """Serve a folder as a host without any header of its own; yield its address.

    `helpful` hosts send 404.html for what they do not have.
    """
    handler = functools.partial(_Helpful if helpful else _Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
