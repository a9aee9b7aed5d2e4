"""Decisions of the controller, read from the KRaft log or from ZooKeeper's znodes."""

from __future__ import annotations

import contextlib
import json
import logging
import time
from pathlib import Path
from typing import Any, Final, Protocol

from app.kafka.metadata import PartitionMetadata
from app.lab.client import HOST
from app.lab.disk import ControllerLog
from app.lab.trouble import LabError

PREFERRED: Final = "/admin/preferred_replica_election"
ZOOKEEPER_WITHIN_S: Final = 30
CONTROLLER_ELECTIONS: Final = 20
"""Elections after which the laboratory takes whichever broker is the controller."""


def session_password(session: int) -> bytes:
    """Return the password of a ZooKeeper session, which follows from its id.

    `ZooKeeperServer.generatePasswd` draws sixteen bytes from a `java.util.Random` that is seeded
    with the id and a constant.
    """
    state = (((session & (1 << 64) - 1) ^ 0xB3415C00) ^ 0x5DEECE66D) & (1 << 48) - 1
    drawn = b""
    while len(drawn) < 16:
        state = (state * 0x5DEECE66D + 0xB) & (1 << 48) - 1
        drawn += (state >> 16).to_bytes(4, "little")
    return drawn


class Metadata(Protocol):
    """The controller's side of the cluster, as facts."""

    def live(self, broker: int) -> bool:
        """Check whether the controller counts this broker as alive."""

    def record(self, topic: str, index: int = 0) -> PartitionMetadata | None:
        """Return the record of a partition."""

    def history(self, topic: str) -> list[tuple[int, PartitionMetadata]]:
        """Return every state the record had, with its offset in the controller's log; or []."""

    def topic_id(self, topic: str) -> str:
        """Return the topic's id in hex, "" where there are none."""

    def close(self) -> None:
        """Close the connection."""


class KraftMetadata:
    """Metadata read from the controller's disk as bytes."""

    def __init__(self, log_directory: Path) -> None:
        self._log = ControllerLog(log_directory)

    def live(self, broker: int) -> bool:
        return self._log.refresh().brokers.get(broker) == "unfenced"

    def broker_epoch(self, broker: int) -> int:
        return self._log.refresh().epochs.get(broker, -1)

    def record(self, topic: str, index: int = 0) -> PartitionMetadata | None:
        return self._log.refresh().partition(topic, index)

    def history(self, topic: str) -> list[tuple[int, PartitionMetadata]]:
        log = self._log
        log.refresh()
        return [
            (stated.offset, stated.state)
            for stated in log.history
            if stated.topic == topic and stated.index == 0
        ]

    def topic_id(self, topic: str) -> str:
        found = self._log.refresh().id_of(topic)
        return found.hex() if found else ""

    def close(self) -> None:
        pass


class ZooKeeperMetadata:
    """Metadata read from ZooKeeper; while it is down the last answer stands, as on its disk."""

    def __init__(self, port: int) -> None:
        try:
            from kazoo.client import KazooClient
        except ImportError:
            raise LabError(
                "Releases before 3.3 need ZooKeeper, and the laboratory the package kazoo to ask "
                "it: pip install 'highwater[lab]'."
            ) from None
        logging.getLogger("kazoo").setLevel(logging.CRITICAL)
        self._port = port
        self._client: Any = KazooClient(f"{HOST}:{port}", timeout=30)
        self._client.start(ZOOKEEPER_WITHIN_S)
        self._last: dict[str, PartitionMetadata] = {}
        self.started: dict[int, float] = {}
        """When each broker was last started: a registration from before is that of the dead."""

    def live(self, broker: int) -> bool:
        from kazoo.exceptions import KazooException

        try:
            znode = self._client.exists(f"/brokers/ids/{broker}")
        except KazooException:
            return False
        return znode is not None and znode.created >= self.started.get(broker, 0.0) - 1

    def record(self, topic: str, index: int = 0) -> PartitionMetadata | None:
        from kazoo.exceptions import KazooException, NoNodeError

        path = f"/brokers/topics/{topic}/partitions/{index}/state"
        try:
            data, stat = self._client.get(path)
        except NoNodeError:
            return None
        except KazooException:
            return self._last.get(path)
        state = json.loads(data)
        self._last[path] = PartitionMetadata(
            state["leader"], state["leader_epoch"], stat.version, tuple(state["isr"])
        )
        return self._last[path]

    def history(self, topic: str) -> list[tuple[int, PartitionMetadata]]:
        return []

    def topic_id(self, topic: str) -> str:
        return ""

    def controller(self) -> int:
        """Return the broker that is the controller, or -1."""
        from kazoo.exceptions import KazooException

        try:
            return int(json.loads(self._client.get("/controller")[0])["brokerid"])
        except (KazooException, ValueError, KeyError):
            return -1

    def end_session(self, broker: int) -> None:
        """End the ZooKeeper session of a broker at once, as its expiry would."""
        from kazoo.client import KazooClient
        from kazoo.exceptions import KazooException

        try:
            znode = self._client.exists(f"/brokers/ids/{broker}")
        except KazooException:
            return
        if znode is None:
            return
        owner = znode.ephemeralOwner
        session = KazooClient(
            f"{HOST}:{self._port}", client_id=(owner, session_password(owner)), timeout=30
        )
        session.start(ZOOKEEPER_WITHIN_S)
        session.stop()
        session.close()

    def move_controller(self, broker: int) -> None:
        """Let brokers elect a controller until it is the wanted one."""
        from kazoo.exceptions import KazooException

        for _ in range(CONTROLLER_ELECTIONS):
            if self.controller() == broker:
                return
            with contextlib.suppress(KazooException):
                self._client.delete("/controller")
            time.sleep(1.0)

    def elect_preferred(self, topic: str) -> None:
        """Ask for an election as the tools before 2.4 did, and wait until it is over."""
        election = {"version": 1, "partitions": [{"topic": topic, "partition": 0}]}
        self._client.create(PREFERRED, json.dumps(election).encode())
        end = time.monotonic() + 10
        while self._client.exists(PREFERRED) and time.monotonic() < end:
            time.sleep(0.1)

    def close(self) -> None:
        self._client.stop()
        self._client.close()
