"""Runner over Spark Connect: this process uses a Spark server at sc://host:port.

It has no Java, and no part of Spark but the client (`highwater[connect]`).  What is played is what
`spark.py` plays, chunk by chunk, and the rows are the same.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import re
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import pyarrow as pa
from pyspark.errors import PySparkException

from app.batch.runners.engine_zip import engine_sent
from app.batch.runners.local import LocalRunner, counted_here
from app.batch.runners.plan import BatchPlan, Chunk, PlanTally
from app.batch.runners.rows import RunChunk, finish_chunk
from app.batch.runners.spark import reach, reason, send_engine
from app.batch.runners.summary import Summary, summarise
from app.batch.runners.tables import SparkError, SparkTables

SCHEME: Final = "sc://"
PORT: Final = 15002
POLL_S: Final = 0.25
TOLD: Final = "told string"


class ConnectRunner:
    """Counterpart of `SparkRunner` for a session of a Spark Connect server."""

    def __init__(self, remote: str, environ: Mapping[str, str] | None = None) -> None:
        self.master = remote
        self.environ = os.environ if environ is None else environ
        self._lock = threading.Lock()
        self._session: Any = None

    def __str__(self) -> str:
        where = urlsplit(self.master)  # behind it may stand a token
        version = importlib.metadata.version("pyspark")
        return f"Spark Connect {version} at {SCHEME}{where.hostname}:{where.port or PORT}"

    @property
    def started(self) -> bool:
        return self._session is not None

    def start(self) -> Any:
        """Return the session, started if there is none.  Raises SparkError."""
        with self._lock:
            if self._session is None:
                try:
                    self._session = self._new_session()
                except (PySparkException, OSError, ValueError) as error:
                    raise SparkError(f"{self} did not answer: {reason(error)}") from error
                except ImportError:
                    raise SparkError(
                        "Spark Connect needs more of PySpark: pip install highwater[connect]."
                    ) from None
            return self._session

    def _new_session(self) -> Any:
        where = urlsplit(self.master)
        reach(f"spark://{where.hostname}:{where.port or PORT}")
        from pyspark.sql.connect.session import SparkSession

        session = SparkSession.builder.remote(self.master).create()
        send_engine(session, sys.modules[__name__])
        return session

    def cores(self) -> int:
        """Return the number of cores, as far as the server reports it."""
        told = self._session.conf.get("spark.master", "") if self._session else ""
        match = re.match(r"local\[(\d+)", told or "")
        return int(match[1]) if match else os.cpu_count() or 1

    def close(self) -> None:
        with self._lock:
            if self._session is not None:
                with contextlib.suppress(Exception):  # the server is gone already
                    self._session.stop()
            self._session = None

    def run(
        self,
        plan: BatchPlan,
        directory: str,
        tag: str,
        on_done: Callable[[list[PlanTally]], None],
        stop: Callable[[], bool] = lambda: False,
        done: Collection[int] = (),
        run_chunk: RunChunk | None = None,
    ) -> bool:
        """Run as `SparkRunner.run` does; finished chunks are reported in their order."""
        chunks = [tuple(chunk) for chunk in plan.chunks() if chunk.number not in done]
        if not chunks:
            return True
        session = self.start()
        frame = session.range(0, len(chunks), 1, len(chunks)).mapInArrow(
            playing(chunks, plan.scenarios, plan.metrics, directory, run_chunk), TOLD
        )
        fresh: list[PlanTally] = []
        trouble: list[BaseException] = []

        def act() -> None:
            session.addTag(tag)
            try:
                for row in frame.toLocalIterator():
                    fresh.append(PlanTally(*json.loads(row.told)))
            except BaseException as error:  # given to the waiting thread, which decides
                trouble.append(error)

        thread = threading.Thread(target=act, name=f"connect-{tag}", daemon=True)
        thread.start()
        stopped, running = False, True
        while running:
            thread.join(POLL_S)
            running = thread.is_alive()
            told = fresh[:]
            del fresh[: len(told)]
            on_done(told)
            if running and stop():
                stopped = True
                session.interruptTag(tag)
        if trouble and not stopped:
            raise SparkError(f"Spark gave up on the batch: {reason(trouble[0])}") from trouble[0]
        return not trouble

    def summarise(
        self, plan: BatchPlan, directory: str, done: Collection[int], keep: int
    ) -> Summary:
        """Count these finished chunks: here, or on the server where only it can read them."""
        if "://" not in directory:
            return counted_here(plan, directory, done, keep)
        try:
            tables = SparkTables(self.start(), directory, done, plan.metrics)
            return summarise(tables, plan, keep)
        except (PySparkException, OSError) as error:
            raise SparkError(f"Spark could not summarise the batch: {reason(error)}") from error

    def causes(self, runs: Sequence[str]) -> list[tuple[str, str] | None]:
        """Return the cause of failure of each run, given as text; few, so they are played here."""
        return LocalRunner().causes(runs)


def playing(
    chunks: Sequence[tuple[Any, ...]],
    scenarios: Sequence[dict[str, Any]],
    metrics: Sequence[str],
    directory: str,
    run_chunk: RunChunk | None,
) -> Callable[[Iterable[Any]], Iterator[Any]]:
    """Return a function from numbers of chunks to their tallies as JSON; it stores their rows."""

    def work(batches: Iterable[Any]) -> Iterator[Any]:
        play = run_chunk or engine_sent()
        for batch in batches:
            for number in batch.column(0).to_pylist():
                tally = finish_chunk(Chunk(*chunks[number]), scenarios, metrics, directory, play)
                yield pa.RecordBatch.from_pydict({"told": [json.dumps(tuple(tally))]})

    return work
