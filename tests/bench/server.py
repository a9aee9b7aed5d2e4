"""A server in a process of its own, and a connection to it: for benchmarks and tests."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import simple_websocket

from app.core.config import ROOT

ANSWER_S = 30


Hand = Callable[[threading.Event], None]
"""What one visitor does until the event is set."""


@contextlib.contextmanager
def busy(hands: Sequence[Hand], patience_s: float | None = None) -> Iterator[None]:
    """Run each of these in a thread during the block; then each has `patience_s` to end."""
    over = threading.Event()
    threads = [threading.Thread(target=hand, args=(over,), daemon=True) for hand in hands]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join(patience_s)


def environment(**settings: str) -> dict[str, str]:
    """Return the environment of this process, with these settings of a server."""
    own = {**os.environ, "HIGHWATER_BACKGROUND_BUILD": "0"}
    return {**own, **{f"HIGHWATER_{name.upper()}": one for name, one in settings.items()}}


@contextlib.contextmanager
def serving(**settings: str) -> Iterator[int]:
    """Run ``highwater serve`` on a free port with an instance of its own; yield the port.

    ``settings`` are names of `app.core.config` without their prefix.
    """
    with tempfile.TemporaryDirectory(prefix="highwater-") as folder:
        # One machine plays all visitors here.
        wanted = {"instance": folder, "database_url": "", "cpu_ms_per_s": "100000", **settings}
        log = Path(folder) / "log"
        with (
            log.open("w") as errors,
            subprocess.Popen(
                [sys.executable, "-m", "app", "serve", "--port", "0"],
                cwd=ROOT,
                env=environment(**wanted),
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            ) as process,
        ):
            assert process.stdout is not None
            found = re.search(r":(\d+)/", process.stdout.readline())
            if found is None:
                process.kill()
                raise RuntimeError(f"The server did not start: {log.read_text()}")
            try:
                yield int(found[1])
            finally:
                process.send_signal(signal.SIGTERM)
                assert process.wait(20) == 0


class ServerWire:
    """Minimal Engine.IO 4 client: nothing between the caller and the server limits or delays it."""

    def __init__(self, port: int, origin: str = "", cookie: str = "", csrf: str = "") -> None:
        headers = {"Origin": origin} if origin else {}
        headers |= {"Cookie": cookie} if cookie else {}
        self.ws = simple_websocket.Client.connect(
            f"ws://127.0.0.1:{port}/socket.io/?EIO=4&transport=websocket", headers=headers
        )
        self._number = 0
        # Before anything is read: what came together with the handshake's answer is only found
        # when more comes.
        self.ws.send("40" + json.dumps({"csrf": csrf} if csrf else {}))
        self._expect("0")
        self._expect("40")

    def send(self, event: str, data: Any) -> int:
        """Send a question; return the number its answer will carry."""
        self._number += 1
        self.ws.send(f"42{self._number}" + json.dumps([event, data]))
        return self._number

    def answer(self) -> tuple[int, Any]:
        """Return the next answer and its number.

        Raises `simple_websocket.ConnectionClosed`.
        """
        match = re.match(r"43(\d+)(.*)", self._expect("43"), re.S)
        assert match
        return int(match[1]), json.loads(match[2])[0]

    def ask(self, event: str, data: Any) -> Any:
        number = self.send(event, data)
        answered, answer = self.answer()
        assert answered == number
        return answer

    def _expect(self, start: str) -> str:
        while True:
            text = self.ws.receive(timeout=ANSWER_S)
            if text == "2":
                self.ws.send("3")
                continue
            if isinstance(text, str) and text.startswith("42[") and start == "43":
                continue  # news of a class, which no caller here waits for
            if not isinstance(text, str) or not text.startswith(start):
                raise RuntimeError(f"Instead of {start}... there came {text!r:.80}")
            return text

    def close(self) -> None:
        """End the connection, whatever state it is in, and wait until its thread has ended."""
        with contextlib.suppress(simple_websocket.ConnectionClosed, OSError):
            self.ws.close()
        self.ws.sock.close()
        self.ws.thread.join(5)

    def __enter__(self) -> ServerWire:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
