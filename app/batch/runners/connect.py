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
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import pyarrow as pa
from pyspark.errors import PySparkException

from app.batch.runners.engine_zip import engine_sent
from app.batch.runners.local import LocalRunner
from app.batch.runners.plan import BatchPlan, Chunk, PlanTally
from app.batch.runners.rows import RunChunk, finish_chunk
from app.batch.runners.spark import SparkRunner, follow, reach, reason, send_engine, taken
from app.batch.runners.tables import SparkError

SCHEME: Final = "sc://"
PORT: Final = 15002
TOLD: Final = "told string"


class ConnectRunner(SparkRunner):
    """The same for a session of a Spark Connect server."""

    def __init__(self, remote: str) -> None:
        self.master = remote
        self._lock = threading.Lock()
        self._session: Any = None

    def __str__(self) -> str:
        where = urlsplit(self.master)  # behind it may stand a token
        version = importlib.metadata.version("pyspark")
        return f"Spark Connect {version} at {SCHEME}{where.hostname}:{where.port or PORT}"

    def start(self) -> Any:
        """Return the session, started if there is none.  Raises SparkError."""
        with self._lock:
            if self._session is None:
                try:
                    self._session = self._connect()
                except (PySparkException, OSError, ValueError) as error:
                    raise SparkError(f"{self} did not answer: {reason(error)}") from error
                except ImportError:
                    raise SparkError(
                        "Spark Connect needs more of PySpark: pip install highwater[connect]."
                    ) from None
            return self._session

    def _connect(self) -> Any:
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
        fresh: list[Any] = []
        seen: set[int] = set()

        def job() -> None:
            session.addTag(tag)
            for row in frame.toLocalIterator():
                fresh.append(json.loads(row.told))

        def cancel() -> None:
            session.interruptTag(tag)

        return follow(threading.Thread, job, lambda: taken(fresh, seen), cancel, on_done, stop)

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
