"""The application as it is, in a process that can be killed.

Database, rows, runner and sockets are the real ones where they are files, and stand-ins of this
module where they are other machines.
"""

from __future__ import annotations

import errno
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

from flask import Flask, request

from app.admission.connections import Gateway
from app.admission.cpu_quota import Accounts
from app.admission.deadlines import Cut, Deadline, Deadlines
from app.batch.announcer import Emit
from app.batch.batch_run import BatchRun
from app.batch.jobs import Jobs
from app.batch.runners.plan import BatchPlan, PlanTally
from app.batch.runners.rows import RunChunk, finish_chunk, read_chunks
from app.batch.runners.summary import CellSummary, Summary
from app.batch.runners.tables import SparkError
from app.core.config import Settings
from app.server.factory import Parts, WsgiApp, build
from app.server.services import KEY, Services
from app.storage.database import BUSY_MS, Database, watch
from app.workers.pool import Workers
from engine.study.batch import run_chunk as play_chunk
from tests.storm.world import Killed, Lock, World

STATEMENT_S: Final = 0.000_2
PAGE_S: Final = 0.012
"""Of a processor, for what has no row below: about what this takes where it was measured."""
COSTS_S: Final = (
    ("/static/", 0.000_5),
    ("/ladder", 0.12),
    ("/export/", 0.06),
    ("/compare", 0.08),
    ("/steps.json", 0.03),
    ("/api/", 0.006),
)
LINE: Final = "highwater.storm.line"
"""Key in the WSGI environment: the server of a live connection."""
CHUNK_S: Final = 0.4
START_S: Final = 1.5
"""How long a process takes from its start to its first answer, and Spark likewise."""


class Trouble:
    """Faults that are active now, whatever process is there."""

    def __init__(self) -> None:
        self.locked = False
        self.full = False
        self.readonly = False
        self.broken = False
        self.spark = ""
        self.rows_full = False
        self.delay_s = 0.0
        self.kill_in = -1
        """Statements of the database until the process is killed before the next; -1: it is not."""


class Later(Deadlines):
    """Deadlines in virtual time."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world

    def arm(self, seconds: float, cut: Cut) -> Deadline:
        deadline = Deadline(self._world.now + seconds, cut)
        self._world.later(seconds, deadline.strike)
        return deadline


class Runner:
    """Stand-in for Spark: plays chunks one after the other, each a while of virtual time."""

    def __init__(self, world: World, trouble: Trouble) -> None:
        self._world = world
        self._trouble = trouble

    def __str__(self) -> str:
        return "a runner in virtual time"

    def cores(self) -> int:
        return 1

    def start(self) -> None:
        self._world.sleep(START_S)
        self._look()

    def close(self) -> None:
        """Do nothing, as it holds nothing."""

    def _look(self) -> None:
        if self._trouble.spark:
            raise SparkError(self._trouble.spark)

    def run(
        self,
        plan: BatchPlan,
        directory: str,
        _tag: str,
        on_done: Callable[[list[PlanTally]], None],
        stop: Callable[[], bool] = lambda: False,
        done: Collection[int] = (),
        _play: RunChunk | None = None,
    ) -> bool:
        for chunk in plan.chunks():
            if chunk.number in done:
                continue
            self._world.sleep(CHUNK_S)
            if stop():
                return False
            self._look()
            if self._trouble.rows_full:
                raise SparkError(f"Spark gave up on the batch: {OSError(errno.ENOSPC, 'full')}")
            tally = finish_chunk(chunk, plan.scenarios, plan.metrics, directory, play_chunk)
            on_done([tally])
        return True

    def summarise(
        self, plan: BatchPlan, directory: str, done: Collection[int], keep: int
    ) -> Summary:
        self._look()
        counts: dict[tuple[str, int], list[int]] = {}
        try:
            rows = list(read_chunks(directory, done, ["profile", "cell", "verdict"]))
        except (OSError, ValueError) as error:
            raise SparkError(f"Spark could not summarise the batch: {error}") from error
        for row in rows:
            mine = counts.setdefault((row["profile"], row["cell"]), [0, 0, 0])
            mine[0] += 1
            mine[1] += row["verdict"] == "violates"
            mine[2] += row["verdict"] == "error"
        cells = [
            CellSummary(profile, cell, n, violating, errors, {}, {})
            for (profile, cell), (n, violating, errors) in sorted(counts.items())
        ]
        return Summary(tuple(cells), (), [])

    def causes(self, runs: Sequence[str]) -> list[tuple[str, str] | None]:
        return [None for _ in runs]


class Studies(Jobs):
    """Batches whose workers are tasks of the world."""

    def __init__(
        self, process: Process, database: Database, settings: Settings, emit: Emit
    ) -> None:
        self._process = process
        world = process.world
        runner: Any = Runner(world, process.trouble)
        super().__init__(database, settings, emit, runner, mutex=Lock(world))

    def _employ(self) -> None:
        self._process.world.spawn("studies", self._next, self._process)

    def _next(self) -> None:
        while (run := self._queue.take()) is not None:
            self._done(run)

    def _done(self, run: BatchRun) -> None:
        self._work(run)
        self._queue.ended(run)


def _routed(app: WsgiApp) -> WsgiApp:
    """Return the application, or the server of a live connection in its place."""

    def routed(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        found: Iterable[bytes] = environ.get(LINE, app)(environ, start_response)
        return found

    return routed


class Process:
    """One life of the server, from a start to a kill; the instance directory is what stays."""

    def __init__(self, world: World, settings: Settings, trouble: Trouble) -> None:
        self.world = world
        self.trouble = trouble
        self.dead = False
        self.born = world.now
        self.charged: defaultdict[str, float] = defaultdict(float)
        """Address -> seconds of the processor that its account was charged."""
        self.app: Flask = build(settings, self._parts())
        self.services: Services = self.app.extensions[KEY]
        assert isinstance(self.services.gateway, Gateway)
        self.gateway = self.services.gateway
        watch(self.services.database.engine, self._on_connection, self._on_statement)
        self.app.before_request(self._cost)

    def _parts(self) -> Parts:
        """Return the parts of the application that are tasks of the world or look at its clock."""
        return Parts(
            deadlines=lambda: Later(self.world),
            accounts=lambda settings: Accounts(settings, self._audit),
            jobs=lambda database, settings, emit: Studies(self, database, settings, emit),
            workers=lambda _settings: Workers(0, 0, 0),
            around=self._working,
            within=_routed,
        )

    def _audit(self, address: str, spent_ms: float) -> None:
        self.charged[address] += spent_ms / 1_000

    # -- what things cost, and where they go wrong ---------------------------------------------

    def _cost(self) -> None:
        path = request.path
        self.world.spend(next((cost for part, cost in COSTS_S if part in path), PAGE_S))

    def _working(self, behind: WsgiApp) -> WsgiApp:
        def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
            found = list(behind(environ, start_response))
            self.world.work()
            return found

        return answer

    def _on_connection(self, connection: Any) -> None:
        """Apply the state of the disk before a transaction."""
        pages = 1 if self.trouble.full else 2**31 - 2
        cursor = connection.cursor()
        cursor.execute("PRAGMA busy_timeout = 0")  # waited for in virtual time
        cursor.execute(
            "PRAGMA synchronous = OFF"
        )  # the machine stays up, whatever process is killed
        cursor.execute(f"PRAGMA max_page_count = {pages}")  # never below what is there
        cursor.execute(f"PRAGMA query_only = {'ON' if self.trouble.readonly else 'OFF'}")
        cursor.close()

    def _on_statement(self, statement: str) -> None:
        if self.dead:
            raise Killed
        self.world.spend(STATEMENT_S)
        trouble = self.trouble
        if trouble.kill_in >= 0:
            trouble.kill_in -= 1
            if trouble.kill_in < 0:
                self.kill()
                raise Killed
        if trouble.broken:
            raise OSError(errno.EIO, "disk I/O error")
        if trouble.delay_s:
            self.world.sleep(trouble.delay_s)
        if trouble.locked and ("IMMEDIATE" in statement or "EXCLUSIVE" in statement):
            until = self.world.now + BUSY_MS / 1_000
            while trouble.locked and self.world.now < until:
                self.world.sleep(0.1)

    # -- its end -------------------------------------------------------------------------------

    def kill(self) -> None:
        """Discard what is in memory, release locks, leave files as they are."""
        self.dead = True
        for job in list(self.services.jobs._jobs.values()):
            job.lock.close()
        self.world.kill(self)

    def bury(self) -> None:
        """Close what the system would have closed."""
        self.services.database.engine.dispose()


def place_of(settings: Settings) -> Path:
    """Return the directory with the rows of studies."""
    return Path(settings.instance).resolve() / "batches"
