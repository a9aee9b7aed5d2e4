"""A real standalone Spark on the loopback: one master, two workers.

As a script it starts one and prints its address: python tests/spark_cluster.py
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType

import pyspark

from app.batch.runners.java import find_java

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"
MASTER_AT = re.compile(r"Starting Spark master at (spark://\S+)")
REGISTERED = "Successfully registered with master"
START_WITHIN_S = 60


class Cluster:
    """Starts on entering, ends its own processes on leaving."""

    def __init__(self, workers: int = 2) -> None:
        self.wanted = workers
        self.home = Path(tempfile.mkdtemp(prefix="spark-cluster-"))
        self.master = ""
        self.processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Cluster:
        try:
            log = self._start(
                "master", "Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0"
            )
            self.master = self._await(log, MASTER_AT)[1]
            logs = [
                self._start(
                    f"worker{n}",
                    "Worker",
                    "--host",
                    "127.0.0.1",
                    "--cores",
                    "1",
                    "--memory",
                    "1g",
                    "--webui-port",
                    "0",
                    self.master,
                )
                for n in range(self.wanted)
            ]
            for log in logs:
                self._await(log, re.compile(REGISTERED))
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        for process in reversed(self.processes):
            end(process)

    @property
    def workers(self) -> list[subprocess.Popen[bytes]]:
        return self.processes[1:]

    def executors(self) -> list[int]:
        """Process numbers of the JVMs that this cluster's workers started for applications."""
        parents = {process.pid for process in self.workers}
        return [pid for pid, parent in parents_of() if parent in parents]

    def _start(self, name: str, role: str, *arguments: str) -> Path:
        log = self.home / f"{name}.log"
        environ = os.environ | {
            "JAVA_HOME": str(find_java().home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_WORKER_DIR": str(self.home / name),
            "PYTHONPATH": "",  # executors must get the engine from the driver
        }
        command = [str(SPARK_CLASS), f"org.apache.spark.deploy.{role.lower()}.{role}", *arguments]
        with log.open("wb") as out:
            self.processes.append(
                subprocess.Popen(
                    command,
                    stdout=out,
                    stderr=out,
                    env=environ,
                    cwd=self.home,
                    start_new_session=True,
                )
            )
        return log

    def _await(self, log: Path, wanted: re.Pattern[str]) -> re.Match[str]:
        until = time.monotonic() + START_WITHIN_S
        while time.monotonic() < until:
            found = wanted.search(log.read_text(errors="replace"))
            if found:
                return found
            time.sleep(0.1)
        raise TimeoutError(f"{log}:\n{log.read_text(errors='replace')[-2000:]}")


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process we started, with all of its session."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(20)


def parents_of() -> list[tuple[int, int]]:
    """(process, its parent) of every process on this machine."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        found.append((int(stat.parent.name), int(fields[1])))
    return found


def descendants(root: int) -> list[int]:
    """All processes below one, nearest first."""
    children: dict[int, list[int]] = {}
    for pid, parent in parents_of():
        children.setdefault(parent, []).append(pid)
    found, todo = [], [root]
    while todo:
        for child in children.get(todo.pop(0), []):
            found.append(child)
            todo.append(child)
    return found


if __name__ == "__main__":
    with Cluster() as cluster:
        print(cluster.master, flush=True)
        signal.pause()
