"""A cluster of the laboratory with remote storage in a directory, which a file makes fail."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypedDict

from app.lab.client import Connection
from app.lab.cluster import RealCluster, Tools, wait_until
from app.lab.configuration import Properties
from app.lab.trouble import LabError

SOURCE: Final = Path(__file__).with_name("FileStorage.java")
TOPIC: Final = "orders"
METADATA: Final = "__remote_log_metadata"
SEGMENT_BYTES: Final = 1_048_576
"""The least that a segment has from 4.1 on (KIP-1030)."""
BATCH_HEAD: Final = 72
"""Bytes of a batch of one record, without its value."""
WITHIN_S: Final = 60.0
TASKS_S: Final = 2.0
"""Time in which tasks and followers, which act every 500 ms, have come to rest."""
APART_S: Final = 0.3
"""Between two requests to a frozen broker: it takes its connections in any order."""


class TieredMark(TypedDict):
    """State of brokers and remote storage after `moves` moves of the scenario.

    `remote`: (first, last) offsets of remote segments; `local`: first offset of each segment on a
    broker's disk; `epochs`: [epoch, start] of each entry of its leader-epoch-checkpoint.
    """

    moves: int
    what: str
    leader: int
    isr: list[int]
    remote: list[list[int]]
    local: dict[str, list[int]]
    epochs: dict[str, list[list[int]]]


def with_storage(tools: Tools, directory: Path) -> Tools:
    """Return tools whose jars have FileStorage among them, compiled for this release."""
    libs, classes = directory / "libs", directory / "classes"
    libs.mkdir()
    for jar in tools.jars.glob("*.jar"):
        (libs / jar.name).symlink_to(jar)
    programs = tools.java.resolve().parent
    compile_ = [str(programs / "javac"), "-cp", f"{libs}/*", "-d", str(classes), str(SOURCE)]
    pack = [str(programs / "jar"), "cf", str(libs / "storage.jar"), "-C", str(classes), "."]
    for command in (compile_, pack):
        subprocess.run(command, check=True)
    return Tools(tools.java, libs, directory / "classes.jsa")


class TieredCluster(RealCluster):
    """Three brokers.

    `store` is the directory of remote storage; `in_segment` the number of records that fill one.
    """

    store: Path
    in_segment = 1

    @property
    def batch_bytes(self) -> int:
        return 600_000 if self.in_segment == 1 else 400_000

    def _value(self, text: str) -> str:
        return text.ljust(self.batch_bytes - BATCH_HEAD)

    def _broker_properties(self, broker: int) -> Properties:
        return super()._broker_properties(broker) | {
            "remote.log.storage.system.enable": "true",
            "remote.log.storage.manager.class.name": "FileStorage",
            "remote.log.storage.manager.impl.prefix": "rsm.config.",
            "rsm.config.directory": str(self.store),
            "remote.log.metadata.manager.listener.name": "CLIENT",
            "rlmm.config.remote.log.metadata.topic.replication.factor": 3,
            "rlmm.config.remote.log.metadata.topic.num.partitions": 1,
            "remote.log.manager.task.interval.ms": 500,
            "log.retention.check.interval.ms": 500,
            "log.segment.delete.delay.ms": 0,
        }

    def _write(self, name: str, properties: Properties) -> None:
        if name == "K":
            properties = properties | {"remote.log.storage.system.enable": "true"}
        super()._write(name, properties)

    # -- doing -----------------------------------------------------------------------------------

    def create(self, retained: int = -1) -> None:
        """Create the topic, led by broker 1; its metadata topic is led by broker 2.

        `retained`: records that the whole log may have, -1 for any number; a disk may have two.
        """
        configs = {"retention.bytes": str(retained * self.batch_bytes)} if retained >= 0 else {}
        every = {
            "min.insync.replicas": "2",
            "remote.storage.enable": "true",
            "segment.bytes": str(SEGMENT_BYTES),
            "local.retention.bytes": str(2 * self.batch_bytes),
        }
        error = self.client(1).create_topic(TOPIC, [1, 2, 3], every | configs)
        if error != "NONE":
            raise LabError(f"The topic was not created: {error}.")
        self.until(lambda: len(self.isr()) == 3, "all replicas are in sync")
        self.until(lambda: self.metadata.record(METADATA) is not None, "there is remote metadata")
        self.controller_client().reassign(METADATA, [2, 3, 1])
        self.elect(METADATA, 2)

    def produce(self, broker: int, *values: str) -> None:
        """Produce records with acks=all, until each is acknowledged."""
        for value in values:
            self.until(lambda value=value: self._send(broker, value) == "NONE", f"{value} is in")

    def send(self, broker: int, *values: str) -> None:
        """Send records to a broker that is frozen; they wait in its sockets."""
        for value in values:
            threading.Thread(target=self._send, args=(broker, value), daemon=True).start()
            time.sleep(APART_S)

    def _send(self, broker: int, value: str) -> str:
        """Send a record with acks=all; return the error's name."""
        with Connection(self.ports.client(broker), 2 * WITHIN_S) as connection:
            client = self.client(broker)
            client.send_produce(connection, TOPIC, self._value(value), -1, int(WITHIN_S * 1_000))
            return client.receive_produced(connection).error

    def rest(self) -> None:
        """Let tasks and followers come to rest."""
        time.sleep(TASKS_S)

    def elect(self, topic: str, leader: int) -> None:
        """Elect the preferred leader, until it leads."""

        def leads() -> bool:
            self.controller_client().elect(topic, unclean=False)
            record = self.metadata.record(topic)
            return record is not None and record.leader == leader

        self.until(leads, f"{leader} leads {topic}")

    def until(self, is_so: Callable[[], bool], what: str) -> None:
        if not wait_until(is_so, WITHIN_S, 0.1):
            raise LabError(f"Not within a minute: {what}.")

    # -- seeing ----------------------------------------------------------------------------------

    def leader(self) -> int:
        record = self.metadata.record(TOPIC)
        return record.leader if record else -1

    def isr(self) -> list[int]:
        record = self.metadata.record(TOPIC)
        return sorted(record.isr) if record else []

    def remote(self) -> list[list[int]]:
        """Return the first and last offset of each remote segment that was not deleted."""
        names = (path.name.split("-") for path in self.store.iterdir() if path.is_dir())
        return sorted([int(name[0]), int(name[1])] for name in names if name[0] != "deleted")

    def local(self, broker: int) -> list[int]:
        return sorted(int(path.stem) for path in self._of(broker).glob("*.log"))

    def epochs(self, broker: int) -> list[list[int]]:
        lines = (self._of(broker) / "leader-epoch-checkpoint").read_text().splitlines()[2:]
        return [[int(word) for word in line.split()] for line in lines]

    def _of(self, broker: int) -> Path:
        return self.log_directory(broker) / f"{TOPIC}-0"

    def mark(self, moves: int, what: str) -> TieredMark:
        return {
            "moves": moves,
            "what": what,
            "leader": self.leader(),
            "isr": self.isr(),
            "remote": self.remote(),
            "local": {str(broker): self.local(broker) for broker in self.brokers},
            "epochs": {str(broker): self.epochs(broker) for broker in self.brokers},
        }

    def read(self, broker: int, offset: int) -> list[int | str]:
        """Return what a consumer gets at an offset: [offset, error or value]."""
        error, _, values = self.client(broker).read(TOPIC, offset)
        return [offset, error if error != "NONE" else " ".join(values).split()[0]]

    def said(self, broker: int, *parts: str) -> list[str]:
        """Return lines of a broker's log in which one of these parts stands."""
        lines = self.server_log(broker).read_text(errors="replace").splitlines()
        return [line for line in lines if any(part in line for part in parts)]
