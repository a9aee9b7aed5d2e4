"""Runner on Spark: local by default, on any master by configuration.

Two files name PySpark, this one and connect.py.  Executors play chunks and write their rows; the
driver sees a tally a chunk, and counts the rows when all are there.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import logging
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import pyspark.cloudpickle
from py4j.protocol import Py4JError, Py4JJavaError  # type: ignore[import-untyped]
from pyspark import InheritableThread, SparkConf, SparkContext
from pyspark.accumulators import AddingAccumulatorParam
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from app.batch.runners import engine_zip as engine_zip_module
from app.batch.runners import exploring as exploring_module
from app.batch.runners import plan as plan_module
from app.batch.runners import rows as rows_module
from app.batch.runners.engine_zip import ENGINE_ZIP, engine_sent, engine_zip
from app.batch.runners.exploring import search_on
from app.batch.runners.java import Java, JavaMissingError, find_java, without_incubator
from app.batch.runners.local import counted_here
from app.batch.runners.plan import BatchPlan, Chunk, PlanTally
from app.batch.runners.rows import RunChunk, finish_chunk
from app.batch.runners.summary import Summary, summarise
from app.batch.runners.tables import SparkError, SparkTables
from app.core import compiled_engine
from engine.explore.question import SearchQuestion
from engine.explore.searching import Bounds, SearchOutcome

PYTHON_ERROR = re.compile(r"^(\w[\w.]*(?:Error|Exception|Exit|Interrupt)(?:: .*)?)$", re.M)
SQL_ERROR = re.compile(r"\[[A-Z0-9_.]+\] (.*?\.)(?: SQLSTATE.*)?$", re.S)
LOCAL = re.compile(r"local(?:\[(\*|\d+)\])?$")
TASK_TRIES = 4
POLL_S = 0.25
ENGINE_ARCHIVE = "highwater-compiled"
"""Folder of an executor that holds the compiled engine, where the driver has one."""
REACH_WITHIN_S = 3.0
JAVA_ENDS_WITHIN_S = 10.0
PREFIX = "HIGHWATER_SPARK_CONF"

# Here Java only hands out work, on the same cores that do it: its optimising compiler and parallel
# collector took a tenth of them.
LEAN_JAVA = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"

# Left to itself, PySpark's gateway prints that it changes the level.
QUIET = """rootLogger.level = {level}
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = {level}
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = spark %p %c{{1}}: %m%n
"""


class SparkRunner:
    """One warm Spark session for this process, started when the first batch needs it.

    It must not be started before a fork (a server starts it in the worker that serves).
    """

    def __init__(
        self, master: str = "", environ: Mapping[str, str] | None = None, scratch: str = ""
    ) -> None:
        self.environ = os.environ if environ is None else environ
        self.master = with_retries(
            master or self.environ.get("HIGHWATER_SPARK_MASTER", "") or "local[*]"
        )
        self.scratch = scratch
        self.java: Java | None = None
        self._lock = threading.Lock()
        self._session: SparkSession | None = None
        self._pid = 0

    @property
    def started(self) -> bool:
        return self._session is not None

    def __str__(self) -> str:
        version = importlib.metadata.version("pyspark")
        return f"Spark {version} at {self.master}, {self.java or 'not started'}"

    def start(self) -> SparkSession:
        """Return the session, started if there is none.  Raises SparkError."""
        with self._lock:
            if self._session is not None:
                if self._pid != os.getpid():
                    raise SparkError("Spark was started before this process forked from another.")
                if _answers(self._session):
                    return self._session
                _forget()
                self._session = None
            try:
                self.java = find_java(self.environ)
                reach(self.master)
                self._session = self._new_session(self.java)
            except JavaMissingError as error:
                raise SparkError(str(error)) from None
            except (PySparkException, Py4JError, OSError, ValueError) as error:
                _forget()
                raise SparkError(
                    f"Spark could not start at {self.master}: {reason(error)}"
                ) from error
            self._pid = os.getpid()
            return self._session

    def cores(self) -> int:
        """Return the number of tasks that run at once, as far as it is known before the start."""
        if self._session is not None and self._pid == os.getpid():
            return self._session.sparkContext.defaultParallelism
        match = re.match(r"local\[(\d+)", self.master)
        return int(match[1]) if match else os.cpu_count() or 1

    def close(self) -> None:
        with self._lock:
            if self._session is not None and self._pid == os.getpid():
                try:
                    self._session.stop()
                except (Py4JError, OSError):
                    _forget()
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
        """Compute the chunks that are not in `done`; True if all are on disk, False if stopped.

        `on_done` gets the tallies of newly finished chunks, each chunk once, about four times a
        second (also an empty list, as a heartbeat).  Raises SparkError if Spark gives up.
        """
        # Plain tuples: a worker unpickles them before it knows any class of ours.
        chunks = [tuple(chunk) for chunk in plan.chunks() if chunk.number not in done]
        if not chunks:
            return True
        context = self.start().sparkContext
        if stop():  # asked while Spark started
            return False
        # A list that workers extend: an update arrives once, when its task is done.
        finished: Any = context.accumulator([], AddingAccumulatorParam([]))
        shared = context.broadcast((plan.scenarios, plan.metrics, directory))

        def work(todo: Iterable[tuple[Any, ...]]) -> Iterator[int]:
            play = run_chunk or engine_sent()
            scenarios, metrics, place = shared.value
            for fields in todo:
                tally = finish_chunk(Chunk(*fields), scenarios, metrics, place, play)
                finished.add([tuple(tally)])
                yield tally.number

        def job() -> None:
            context.addJobTag(tag)
            context.setLocalProperty("spark.scheduler.pool", tag)
            context.parallelize(chunks, len(chunks)).mapPartitions(work).count()

        seen: set[int] = set()

        def cancel() -> None:
            with contextlib.suppress(Py4JError, OSError):  # no Java left: the job ends by that
                context.cancelJobsWithTag(tag)

        try:
            return follow(
                InheritableThread, job, lambda: taken(finished.value, seen), cancel, on_done, stop
            )
        finally:
            finished.value = []
            with contextlib.suppress(Py4JError, OSError):  # no Java left
                shared.unpersist()

    def summarise(
        self, plan: BatchPlan, directory: str, done: Collection[int], keep: int
    ) -> Summary:
        """Count these finished chunks: in this process, or in Spark where it cannot read them.

        Raise SparkError.
        """
        if "://" not in directory:
            return counted_here(plan, directory, done, keep)
        session = self.start()
        try:
            return summarise(SparkTables(session, directory, done, plan.metrics), plan, keep)
        except (PySparkException, Py4JError, OSError) as error:
            raise SparkError(f"Spark could not summarise the batch: {reason(error)}") from error

    def search(self, question: SearchQuestion, bounds: Bounds) -> SearchOutcome:
        """Return a search from a step of a run, its states dealt out; InputError, SparkError."""
        context = self.start().sparkContext
        try:
            return search_on(context, engine_sent, question, bounds)
        except (PySparkException, Py4JError, OSError) as error:
            raise SparkError(f"Spark gave up on the search: {reason(error)}") from error

    def causes(self, runs: Sequence[str]) -> list[tuple[str, str] | None]:
        """Return the cause of failure of each run, given as text (engine.study.causes).

        Raises SparkError.
        """
        if not runs:
            return []
        context = self.start().sparkContext

        def trace(text: str) -> tuple[str, str] | None:
            engine_sent()
            from engine.sim.run import Run
            from engine.study.causes import cause_of

            return cause_of(Run.from_text(text))

        try:
            parts = min(len(runs), 4 * context.defaultParallelism)
            causes: list[tuple[str, str] | None] = (
                context.parallelize(runs, parts).map(trace).collect()
            )
        except (PySparkException, Py4JError, OSError) as error:
            raise SparkError(f"Spark could not trace the failures: {reason(error)}") from error
        return causes

    def _new_session(self, java: Java) -> SparkSession:
        scratch = self.scratch or tempfile.mkdtemp(prefix="highwater-spark-")
        Path(scratch).mkdir(parents=True, exist_ok=True)
        home = without_incubator(java.home / "bin" / "java", self.environ)
        os.environ["JAVA_HOME"] = str(home)
        # Spark's scripts ask for the driver's Python; PySpark sends the other one to the executors.
        os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
        os.environ["PYSPARK_PYTHON"] = python_there(self.master, self.environ)
        # With it, PySpark would connect to the Spark that it names, and refuse our master.
        os.environ.pop("SPARK_REMOTE", None)
        if on_this_machine(self.master):
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        conf = SparkConf().setAll(list(self.settings(scratch).items()))
        session = SparkSession.builder.config(conf=conf).getOrCreate()
        send_engine(session, exploring_module, sys.modules[__name__], scratch=scratch)
        return session

    def settings(self, scratch: str) -> dict[str, str]:
        """Return all spark.* settings: ours, then those of the environment, which win."""
        log = Path(scratch) / "log4j2.properties"
        log.write_text(QUIET.format(level=self.environ.get("HIGHWATER_SPARK_LOG", "fatal")))
        settings = {
            "spark.master": self.master,
            "spark.app.name": "Highwater",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={log.as_uri()}",
            "spark.driver.memory": "1g",
            "spark.driver.maxResultSize": "0",
            "spark.scheduler.mode": "FAIR",
            "spark.sql.shuffle.partitions": "8",
            "spark.sql.warehouse.dir": str(Path(scratch) / "warehouse"),
            "spark.task.maxFailures": str(TASK_TRIES),
        }
        if on_this_machine(self.master):
            settings["spark.driver.host"] = settings["spark.driver.bindAddress"] = "127.0.0.1"
        if self.master.startswith("local"):
            settings["spark.driver.extraJavaOptions"] += f" {LEAN_JAVA}"
        elif compiled := self.environ.get(compiled_engine.VARIABLE):
            # Executors of this Python and processor load it; others read the sources beside it.
            archive = shutil.make_archive(str(Path(scratch) / ENGINE_ARCHIVE), "zip", compiled)
            settings["spark.archives"] = f"{archive}#{ENGINE_ARCHIVE}"
            settings[f"spark.executorEnv.{compiled_engine.VARIABLE}"] = ENGINE_ARCHIVE
        settings.update(extra_settings(self.environ))
        return settings


@contextlib.contextmanager
def statement() -> Iterator[None]:
    """Raise SparkError, with one sentence, for what is wrong with a statement."""
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)  # stacks of Java
    try:
        yield
    except PySparkException as error:
        match = SQL_ERROR.match(str(error))
        raise SparkError(match[1] if match else reason(error)) from error
    except Py4JError as error:
        raise SparkError(reason(error)) from error


def taken(entries: list[Any], seen: set[int]) -> list[PlanTally]:
    """Take tallies that workers reported out of a list; those that come meanwhile stay there."""
    arrived = entries[:]
    del entries[: len(arrived)]
    # A task that was tried twice is still one chunk.
    fresh = {entry[0]: PlanTally(*entry) for entry in arrived if entry[0] not in seen}
    seen.update(fresh)
    return list(fresh.values())


def follow(
    thread_of: Callable[..., threading.Thread],
    job: Callable[[], None],
    take: Callable[[], list[PlanTally]],
    cancel: Callable[[], None],
    on_done: Callable[[list[PlanTally]], None],
    stop: Callable[[], bool],
) -> bool:
    """Do a job in a thread, and report the chunks that finish; False if it was stopped.

    Raises SparkError if Spark gives up.
    """
    trouble: list[BaseException] = []

    def act() -> None:
        try:
            job()
        except BaseException as error:  # given to the waiting thread, which decides
            trouble.append(error)

    thread = thread_of(target=act, daemon=True)
    thread.start()
    stopped, running = False, True
    try:
        while running:
            thread.join(POLL_S)
            running = thread.is_alive()
            on_done(take())
            if running and stop():
                stopped = True
                cancel()  # at every look: what is active ends, and the job may not be there yet
    except BaseException:
        cancel()  # the listener failed, so the result is lost
        raise
    if trouble and not stopped:
        raise SparkError(f"Spark gave up on the batch: {reason(trouble[0])}") from trouble[0]
    return not trouble


def send_engine(session: Any, *modules: ModuleType, scratch: str | None = None) -> None:
    """Send the engine to the executors of a session, classic or of Spark Connect, if it has none.

    They have no such packages as ours either: `modules`, and those of rows, travel as code.
    """
    for module in (engine_zip_module, plan_module, rows_module, *modules):
        pyspark.cloudpickle.register_pickle_by_value(module)  # type: ignore[no-untyped-call]
    context = getattr(session, "sparkContext", None)
    if context is None:
        with tempfile.TemporaryDirectory(prefix="highwater-engine-") as folder:
            session.addArtifacts(engine_zip(folder), pyfile=True)
    elif not any(place.endswith(ENGINE_ZIP) for place in context.listFiles):
        # The folder stays: a session may outlive this process, and get more executors.
        context.addPyFile(engine_zip(tempfile.mkdtemp(prefix="highwater-engine-", dir=scratch)))


def with_retries(master: str) -> str:
    """Return the master with retries: local[N] gives a task one try, local[N,F] gives it F."""
    match = LOCAL.match(master)
    return f"local[{match[1] or 1},{TASK_TRIES}]" if match else master


def python_there(master: str, environ: Mapping[str, str]) -> str:
    """Return the Python that executors start: PySpark takes it from PYSPARK_PYTHON alone.

    Those of `local` are processes beside this one and get its own.  Elsewhere the server's path may
    mean nothing: spark.pyspark.python of the settings, then the environment say which.
    """
    if master.startswith("local"):
        return sys.executable
    python = extra_settings(environ).get("spark.pyspark.python")
    return python or environ.get("PYSPARK_PYTHON") or sys.executable


def on_this_machine(master: str) -> bool:
    host = urlsplit(master).hostname
    return master.startswith("local") or host in ("127.0.0.1", "localhost", "::1")


def extra_settings(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the spark.* settings that the environment adds.

    HIGHWATER_SPARK_CONF holds any number of `spark.name=value`, parted by spaces or lines;
    HIGHWATER_SPARK_CONF_EXECUTOR_MEMORY=2g is spark.executor.memory=2g.
    """
    settings = {}
    for pair in environ.get(PREFIX, "").split():
        name, equals, value = pair.partition("=")
        if not equals or not name.startswith("spark."):
            raise ValueError(f"{PREFIX} must hold spark.name=value, not {pair!r}.")
        settings[name] = value
    for name, value in environ.items():
        if name.startswith(PREFIX + "_"):
            settings["spark." + name[len(PREFIX) + 1 :].lower().replace("_", ".")] = value
    return settings


def reach(master: str) -> None:
    """Fail at once where no server listens: Spark itself would try for a minute.

    Raises OSError.
    """
    if not master.startswith("spark://"):
        return
    refused = ""
    for place in master.removeprefix("spark://").split(","):
        host, _, port = place.rpartition(":")
        if not host or not port.isdigit():
            raise OSError("the address must be spark://host:port")
        try:
            with socket.create_connection((host, int(port)), timeout=REACH_WITHIN_S):
                return
        except OSError as error:
            refused = error.strerror or str(error)
    raise OSError(f"nobody answers there ({refused})")


def reason(error: BaseException) -> str:
    """Return the one line that helps, out of a stack of Java and Python."""
    text = str(error)
    if isinstance(error, Py4JJavaError):
        text = str(error.java_exception.getMessage() or error.java_exception.toString())
    raised = PYTHON_ERROR.findall(text)
    line = raised[-1] if raised else (text.strip() or type(error).__name__).splitlines()[0]
    return f"{line.strip()[:300].rstrip(' .:')}."


def _answers(session: SparkSession) -> bool:
    """Check whether the Java side is still alive."""
    try:
        return not session.sparkContext._jsc.sc().isStopped()
    except Exception:
        return False


def _forget() -> None:
    """Let PySpark start again in this process after its Java side is gone."""
    try:
        if SparkContext._active_spark_context is not None:
            SparkContext._active_spark_context.stop()
    except Exception:
        pass  # it was gone already; what matters is that nothing refers to it
    _end_java(SparkContext._gateway)
    SparkSession._instantiatedSession = None
    SparkContext._active_spark_context = None
    SparkContext._gateway = None
    SparkContext._jvm = None


def _end_java(gateway: Any) -> None:
    """Wait for a gateway's process, which ends when its input does, so that none leaks."""
    process = getattr(gateway, "proc", None)
    if process is None:
        return
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
    try:
        process.wait(JAVA_ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
