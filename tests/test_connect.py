"""Spark Connect plays what plain processes play; its server comes with the Python package."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pyspark
import pytest
from pyspark.sql import SparkSession

import highwater as hw
from app.batch.jobs import runner_of
from app.batch.runners.connect import ConnectRunner
from app.batch.runners.java import find_java
from app.batch.runners.local import LocalRunner, counted_here
from app.batch.runners.plan import BatchPlan, PlanTally
from app.batch.runners.rows import chunk_name
from app.batch.runners.summary import Summary
from app.batch.runners.tables import SparkError
from app.core.config import load
from engine.scenarios import file
from engine.study.metrics import METRICS
from tests.conftest import THOROUGH
from tests.ports import free_port
from tests.spark_cluster import Cluster, end

START_WITHIN_S = 120

pytestmark = [
    # PySpark leaves sockets to the collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    port = free_port()
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    settings = {
        "spark.connect.grpc.binding.port": str(port),
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.ui.enabled": "false",
    }
    confs = [part for pair in settings.items() for part in ("--conf", "=".join(pair))]
    server_class = "org.apache.spark.sql.connect.service.SparkConnectServer"
    environ = os.environ | {
        "JAVA_HOME": str(find_java().home),
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": "",  # workers must get the engine from the client
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            [submit, "--class", server_class, "--master", "local[2]", *confs, "spark-internal"],
            stdout=log, stderr=log, env=environ, cwd=tmp_path, start_new_session=True,
        )  # fmt: skip
    try:
        until = time.monotonic() + START_WITHIN_S
        while not answers(port):
            assert process.poll() is None and time.monotonic() < until, (
                tmp_path / "log"
            ).read_text()
            time.sleep(0.2)
        yield f"sc://127.0.0.1:{port}"
    finally:
        end(process)


def plan(runs: int = 30) -> BatchPlan:
    scenario = file.find("S63").to_dict()
    scenario["duration_ms"] = 20_000
    return BatchPlan((scenario,), ("Z24", "K39"), runs, 5, 5, tuple(METRICS))


class Played(NamedTuple):
    """What plain processes make of the study: its rows, chunk by chunk, and their counts."""

    rows: list[bytes]
    counted: Summary


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    whole = range(plan().total_chunks)
    plain = tmp_path_factory.mktemp("plain")
    LocalRunner(2).run(plan(), str(plain))
    rows = [(plain / chunk_name(number)).read_bytes() for number in whole]
    return Played(rows, counted_here(plan(), str(plain), whole, 3))


@pytest.fixture
def cluster() -> Iterator[str]:
    with Cluster() as started:
        yield started.master


if THOROUGH:

    @pytest.mark.spark
    @pytest.mark.parametrize("place", ["connect", "local", "standalone"])
    def test_the_same_rows_wherever_they_are_played(
        place: str,
        played: Played,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        request: pytest.FixtureRequest,
    ) -> None:
        """A Spark Connect server, local[2], a standalone cluster: each as plain processes."""
        elsewhere = f"sc://127.0.0.1:{free_port()}"
        remote = request.getfixturevalue("server") if place == "connect" else elsewhere
        master = {"connect": "", "local": "local[2]"}.get(place) or (
            request.getfixturevalue("cluster") if place == "standalone" else ""
        )
        # An operator's variable is there all the time, and what is named for us wins.
        monkeypatch.setenv("SPARK_REMOTE", remote)
        monkeypatch.setenv("HIGHWATER_SPARK_MASTER", master)
        runner = runner_of(load(instance=tmp_path / "instance"))
        directory = tmp_path / place
        whole = range(plan().total_chunks)
        told: list[PlanTally] = []
        try:
            assert runner.run(plan(), str(directory), place, told.extend)
            # Spark itself counts what has a scheme; a process has one cluster's Java for that.
            at = str(directory) if place == "standalone" else directory.as_uri()
            assert runner.summarise(plan(), at, whole, 3) == played.counted
        finally:
            runner.close()
        assert sorted(tally.number for tally in told) == list(whole)
        assert [(directory / chunk_name(n)).read_bytes() for n in whole] == played.rows

    @pytest.mark.spark
    def test_a_study_of_a_program_sends_the_engine(server: str) -> None:
        """Twice to one session: the second time it is there."""
        session = SparkSession.builder.remote(server).create()
        try:
            there = hw.study("S74", runs=40, kafka="0.10.2.2", spark=session)
            assert there.arrow().equals(hw.study("S74", runs=40, kafka="0.10.2.2").arrow())
            assert len(there.more(10)) == 50
        finally:
            session.stop()

    @pytest.mark.spark
    def test_a_study_over_connect_can_be_stopped(server: str, tmp_path: Path) -> None:
        told: list[PlanTally] = []
        runner = ConnectRunner(server)
        try:
            assert not runner.run(
                plan(5_000), str(tmp_path), "stop", told.extend, lambda: len(told) > 2
            )
        finally:
            runner.close()
        assert 2 < len(told) < plan(5_000).total_chunks


def test_a_server_that_does_not_answer_is_one_sentence(tmp_path: Path) -> None:
    port = free_port()
    runner = ConnectRunner(f"sc://127.0.0.1:{port}/;token=secret")
    with pytest.raises(SparkError, match=rf"^Spark Connect .* at sc://127.0.0.1:{port} ") as told:
        runner.run(plan(), str(tmp_path), "none", lambda fresh: None)
    assert "secret" not in str(told.value) and "nobody answers there" in str(told.value)
