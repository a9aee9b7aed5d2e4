"""Benchmark of losses when the server is killed, or its disk or database fails: counted, not timed.

Servers are started as always, on an instance directory that outlives them; what was acknowledged is
looked up in it afterwards, past any server.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

from app.batch.runners.rows import chunks_on_disk, files_on_disk, read_chunks
from app.core.config import ROOT
from app.storage.database import Database
from app.storage.saved import Store
from tests.bench.server import ServerWire, busy, environment

KILLS: Final = 50
KILLS_OF_A_BATCH: Final = 20
HANDS: Final = 4
SAVED_FIRST: Final = 5
LOCKED_S: Final = 30.0
RUNS: Final = 7_000
PROFILES: Final = ("K39", "Z0102", "Z011")
SMALL: Final = "4m"
ENDED_S: Final = 600.0
BUDGETS: Final = {"saves_lost": 0.0, "runs_lost": 0.0, "runs_double": 0.0}
GENEROUS: Final = {
    "saves_per_s": "100000",
    "saves_burst": "100000",
    "saved_kib_per_day": "100000000",
    "batches_per_address": "1000",
}
DOWN: Final = 0


class Life:
    """One life of a server on an instance; `kill` ends it as the system would."""

    def __init__(
        self, instance: Path, port: int = 0, settings: Mapping[str, str] | None = None
    ) -> None:
        wanted = {"instance": str(instance), "database_url": "", **GENEROUS, **(settings or {})}
        self._log = (instance.parent / "log").open("a")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "app", "serve", "--port", str(port)],
            cwd=ROOT,
            env=environment(**wanted),
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        assert self.process.stdout is not None
        found = re.search(r":(\d+)/", self.process.stdout.readline())
        if found is None:
            raise RuntimeError(f"The server did not start: {self._log.name} says why.")
        self.port = int(found[1])

    def kill(self) -> None:
        self.process.kill()
        self._close()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self._close()

    def _close(self) -> None:
        self.process.wait(30)
        assert self.process.stdout is not None
        self.process.stdout.close()
        self._log.close()


class Person:
    """A browser at an address of this machine: cookies that outlive servers."""

    def __init__(self, address: str = "127.0.0.1") -> None:
        self._address = address
        self._cookie = ""
        self._token = ""

    def ask(
        self, port: int, method: str, path: str, body: Any = None, kind: str = "application/json"
    ) -> tuple[int, Any]:
        """Return (status, body); (DOWN, None) where there was no response.

        Sends bytes as they are, and anything else as JSON.
        """
        link = http.client.HTTPConnection(
            "127.0.0.1", port, timeout=60, source_address=(self._address, 0)
        )
        headers = {"Cookie": self._cookie, "X-CSRF-Token": self._token}
        data = body if body is None or isinstance(body, bytes) else json.dumps(body)
        if data:
            headers |= {"Content-Type": kind, "Accept": "application/json"}
        try:
            with contextlib.closing(link):
                link.request(method, path, data, headers)
                answer = link.getresponse()
                text = answer.read().decode()
        except (OSError, http.client.HTTPException):
            return DOWN, None
        given = answer.headers.get("Set-Cookie", "")
        if given.startswith("highwater="):
            self._cookie = given.split(";")[0]
        return answer.status, json.loads(text) if text.startswith("{") else text

    def know(self, port: int) -> None:
        if not self._token:
            _, page = self.ask(port, "GET", "/batch")
            found = re.search(r'name="csrf" value="([^"]+)"', page or "")
            self._token = found[1] if found else ""

    def wire(self, port: int) -> ServerWire:
        """Open a live connection of this browser."""
        self.know(port)
        return ServerWire(port, cookie=self._cookie, csrf=self._token)

    def save(self, port: int, title: str) -> tuple[int, str]:
        """Return (status, digest of what was acknowledged)."""
        self.know(port)
        text = f"title: {title}\nbrokers: 2\nprofiles: [K39]\nscript: |\n  produce m0\n"
        status, told = self.ask(port, "POST", "/api/scenarios", {"yaml": text})
        return status, told["digest"] if status in (200, 201) else ""


class Saving:
    """Threads that save as fast as they can until the block, which is the storm, ends."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.told: list[str] = []
        self.statuses: Counter[int] = Counter()

    def at(self, *ports: int) -> contextlib.AbstractContextManager[None]:
        return busy([partial(self._save, ports[hand % len(ports)], hand) for hand in range(HANDS)])

    def _save(self, port: int, hand: int, over: threading.Event) -> None:
        me = Person()
        number = 0
        while not over.is_set():
            number += 1
            status, digest = me.save(port, f"{self.name} {hand} {number}")
            self.statuses[status] += 1
            if digest:
                self.told.append(digest)
            if status == DOWN:
                return

    def lost(self, instance: Path) -> int:
        """Return the number of acknowledged saves that are missing."""
        database = Database(f"sqlite:///{instance / 'highwater.db'}")
        store = Store(database)
        try:
            return sum(store.scenario(digest) is None for digest in self.told)
        finally:
            database.close()


@contextlib.contextmanager
def _instance() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="highwater-") as folder:
        yield Path(folder) / "instance"


def killed_while_saving() -> dict[str, float]:
    """Kill the whole server and its worker alone in turn, at random moments, during saves."""
    dice = Random(1)
    lost = acknowledged = 0
    times = int(os.environ.get("HIGHWATER_KILLS", KILLS))
    with _instance() as instance:
        for number in range(times):
            life = Life(instance)
            saving = Saving(f"kill {number}")
            with saving.at(life.port):
                _wait(60, lambda told=saving.told: len(told) > SAVED_FIRST)  # type: ignore[misc]
                time.sleep(dice.uniform(0.0, 0.5))
                if number % 2:
                    kill_worker(life.process.pid)
                    time.sleep(0.2)
                life.kill()
            acknowledged += len(saving.told)
            lost += saving.lost(instance)
    return {"kills": times, "saves": acknowledged, "saves_lost": lost}


def workers(pid: int) -> list[int]:
    """Return the workers of a server whose master is this process."""
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def kill_worker(pid: int) -> None:
    for child in workers(pid):
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


def _progress(me: Person, port: int, number: str) -> dict[str, Any]:
    status, told = me.ask(port, "GET", f"/api/batches/{number}")
    return told if status == 200 else {"state": "", "done_chunks": 0}


def _wait(seconds: float, ready: Callable[[], bool]) -> None:
    until = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > until:
            raise RuntimeError("What was waited for did not come.")
        time.sleep(0.2)


def killed_in_a_batch() -> dict[str, float]:
    """Kill the server while a study runs on Spark, and resume it; damage its files."""
    me, dice = Person(), Random(2)
    times = int(os.environ.get("HIGHWATER_KILLS_OF_A_BATCH", KILLS_OF_A_BATCH))
    with _instance() as instance:
        number = ""
        for kill in range(times + 1):
            life = Life(instance)
            me.know(life.port)
            if number:
                me.ask(life.port, "POST", f"/api/batches/{number}/resume", {})
            else:
                body = {"scenario": "S20", "runs": RUNS, "profiles": list(PROFILES)}
                _, told = me.ask(life.port, "POST", "/api/batches", body)
                number = told["id"]
            if kill == times:
                break
            _go_on(me, life.port, number)
            time.sleep(dice.uniform(0.0, 0.5))
            life.kill()
        _wait(ENDED_S, lambda: _ended(me, life.port, number))
        directory = instance / "batches" / number
        _harm(directory, dice)
        me.ask(life.port, "POST", f"/api/batches/{number}/resume", {})
        _wait(ENDED_S, lambda: _ended(me, life.port, number))
        state = _progress(me, life.port, number)["state"]
        life.stop()
        rows = read_chunks(str(directory), chunks_on_disk(str(directory)), ["profile", "seed"])
        found = Counter((row["profile"], row["seed"]) for row in rows)
    wanted = {(profile, seed) for profile in PROFILES for seed in range(RUNS)}
    lost = len(wanted - found.keys()) + (RUNS if state != "done" else 0)
    return {
        "batch_kills": times,
        "runs": len(wanted),
        "runs_lost": lost,
        "runs_double": sum(count - 1 for count in found.values()),
    }


def _go_on(me: Person, port: int, number: str) -> None:
    """Wait until another chunk is done."""
    before = _progress(me, port, number)["done_chunks"]

    def further() -> bool:
        told = _progress(me, port, number)
        return bool(told["done_chunks"] > before or told["state"] == "done")

    _wait(ENDED_S, further)


def _ended(me: Person, port: int, number: str) -> bool:
    return _progress(me, port, number)["state"] in ("done", "failed", "interrupted")


def _harm(directory: Path, dice: Random) -> None:
    one, two, three = dice.sample([file.name for file in files_on_disk(str(directory))], 3)
    (directory / one).unlink()
    for name, change in ((two, lambda whole: whole[:100]), (three, _flipped)):
        path = directory / name
        path.write_bytes(change(path.read_bytes()))


def _flipped(whole: bytes) -> bytes:
    middle = len(whole) // 3
    return whole[:middle] + bytes([whole[middle] ^ 0xFF]) + whole[middle + 1 :]


def locked() -> dict[str, float]:
    """Save while another process locks the database for half a minute."""
    with _instance() as instance:
        life, saving = Life(instance), Saving("locked")
        with saving.at(life.port):
            time.sleep(1.0)
            other = sqlite3.connect(instance / "highwater.db", isolation_level=None, timeout=30)
            other.execute("BEGIN EXCLUSIVE")
            time.sleep(LOCKED_S)
            played = Person().ask(life.port, "GET", "/s/S20")[0]
            other.close()
            time.sleep(2.0)
        after = Person().save(life.port, "after")[0]
        lost = saving.lost(instance)
        life.stop()
    return {
        "locked_saves": len(saving.told),
        "locked_saves_lost": lost,
        "locked_refused": saving.statuses[503],
        "locked_failed": saving.statuses[500] + (played != 200) + (after != 201),
    }


def full() -> dict[str, float]:
    """Fill a disk of 4 MiB by saving.

    Then room is made, and nothing is started again.
    """
    with tempfile.TemporaryDirectory(prefix="highwater-") as folder:
        disk = Path(folder) / "disk"
        disk.mkdir()
        mount = ["mount", "-t", "tmpfs", "-o", f"size={SMALL}", "highwater", str(disk)]
        if subprocess.run(mount, check=False, capture_output=True).returncode:
            return {}  # a small disk needs the right to mount
        try:
            return _filled(disk / "instance", disk)
        finally:
            subprocess.run(["umount", "-l", str(disk)], check=False)


def _filled(instance: Path, disk: Path) -> dict[str, float]:
    instance.mkdir()
    ballast = disk / "ballast"
    life, saving = Life(instance), Saving("full")
    free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize
    ballast.write_bytes(bytes(max(0, free - 200_000)))
    with saving.at(life.port):
        _wait(60, lambda: saving.statuses[507] > 20)
        played = Person().ask(life.port, "GET", "/s/S20")[0]
        health = Person().ask(life.port, "GET", "/health")[0]
        ballast.unlink()
        before = len(saving.told)
        _wait(60, lambda: len(saving.told) > before + 20)
    lost = saving.lost(instance)
    life.stop()
    return {
        "full_saves": len(saving.told),
        "full_saves_lost": lost,
        "full_refused": saving.statuses[507],
        "full_failed": saving.statuses[500] + (played != 200) + (health != 507),
    }


def two_servers() -> dict[str, float]:
    """Kill one of two servers on one instance; the other has what both acknowledged."""
    with _instance() as instance:
        one, two = Life(instance), Life(instance)
        saving = Saving("two")
        with saving.at(one.port, two.port):
            time.sleep(3.0)
            one.kill()
            time.sleep(1.0)
        lost = saving.lost(instance)
        opened = [Person().ask(two.port, "GET", f"/s/{one}")[0] for one in saving.told[:20]]
        two.stop()
    return {
        "two_saves": len(saving.told),
        "two_saves_lost": lost + sum(status != 200 for status in opened),
        "two_failed": saving.statuses[500],
    }


PARTS: Final = {
    "saves": killed_while_saving,
    "batch": killed_in_a_batch,
    "locked": locked,
    "full": full,
    "two": two_servers,
}


def kills() -> tuple[float, dict[str, float]]:
    """Return the number of losses, which must be zero; and all figures."""
    wanted = os.environ.get("HIGHWATER_KILLED", " ".join(PARTS)).split()
    figures: dict[str, float] = {}
    for name in wanted:
        figures |= {key: float(value) for key, value in PARTS[name]().items()}
        print(f"{name}: {figures}", file=sys.stderr, flush=True)
    lost = sum(value for key, value in figures.items() if key.endswith(("_lost", "_double")))
    return lost, figures
