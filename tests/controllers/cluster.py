"""Two controllers of one release whose voters change (KIP-853), seen by what is on their disks."""

from __future__ import annotations

import base64
import json
import shutil
import signal
import time
import uuid
from collections.abc import Callable
from typing import Final, TypedDict

from app.kafka.batches import HEADER, RecordBatch, parse
from app.kafka.cursor import NO_TAGS, ByteCursor, compact_text, i32
from app.lab.client import HOST, Connection
from app.lab.cluster import CLUSTER_ID, RealCluster, Tools, wait_until
from app.lab.configuration import LOG4J, LOG4J2, Properties
from app.lab.disk import METADATA, segments
from app.lab.processes import Processes
from app.lab.proxy import Proxy
from app.lab.quorum import described
from app.lab.releases import KafkaRelease
from app.lab.trouble import LabError

NODES: Final = (1, 2)
REMOVE_VOTER: Final = 81
VOTERS_KEY: Final = b"\x00\x00\x00\x06"
"""Key of a VotersRecord: version 0, type 6 (`ControlRecordType.KRAFT_VOTERS`)."""
WITHIN_S: Final = 60.0
PARKED_S: Final = 0.7
"""More than a fetch waits at a leader (`MAX_FETCH_WAIT_MS`, 500)."""


class ControllerMark(TypedDict):
    """State on the disks of both controllers after `moves` moves of the scenario.

    -1 moves: after what the model has no move for, the way out.
    `voters`: those of the last VotersRecord in each log; `leader`: the one that DescribeQuorum
    names, or -1; `longest`: where none leads, the controllers whose log no other exceeds; `epoch`:
    the largest.
    """

    moves: int
    what: str
    voters: dict[str, list[int]]
    longest: list[int]
    epoch: int
    leader: int


class TwoControllers(RealCluster):
    """Controllers 1 and 2 of one quorum with kraft.version 1, and no broker."""

    def __init__(
        self, release: KafkaRelease, tools: Tools, processes: Processes, base: int
    ) -> None:
        super().__init__(release, list(NODES), tools, processes, base)
        self.directories = {node: uuid.uuid4() for node in NODES}

    def _listen(self) -> list[Proxy]:
        return []

    def _controller_properties(self, node: int) -> Properties:
        ports = [f"{HOST}:{self.ports.replication(one)}" for one in NODES]
        return {
            "process.roles": "controller",
            "node.id": node,
            "controller.quorum.bootstrap.servers": ",".join(ports),
            "listeners": f"CONTROLLER://{HOST}:{self.ports.replication(node)}",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT",
            "log.dirs": str(self.log_directory(node)),
        }

    # -- doing -----------------------------------------------------------------------------------

    def start_all(self, tell: Callable[[str], None]) -> None:
        """Format both directories with both voters, and start until controller 1 leads."""
        configuration = LOG4J2 if self.release.log4j2 else LOG4J
        (self._home / "log4j.properties").write_text(configuration)
        voters = ",".join(
            f"{node}@{HOST}:{self.ports.replication(node)}:{text_of(self.directories[node])}"
            for node in NODES
        )
        for node in NODES:
            self._write(str(node), self._controller_properties(node))
            file = str(self._home / f"{node}.properties")
            arguments = ["format", "-t", CLUSTER_ID, "-c", file, "--initial-controllers", voters]
            name = self._java(f"format-{node}", "kafka.tools.StorageTool", arguments)
            if self.processes.running[name].wait() != 0:
                raise LabError(f"Not formatted: {self.processes.last_words(name)}.")
        for node in NODES:
            self.start(node)
        self.until(lambda: self.leader() > 0, "there is a leader")
        while self.leader() != 1:
            tell("2 leads; it is restarted, so that 1 may.")
            self.kill(2, signal.SIGTERM)
            self.start(2)
            self.until(lambda: self.leader() > 0, "there is a leader")

    def freeze(self, node: int) -> None:
        """Stop a process once it has no fetch that its leader could answer."""
        self.kill(node, signal.SIGSTOP)
        time.sleep(PARKED_S)

    def remove(self, leader: int, node: int) -> None:
        """Send RemoveRaftVoter, until the new set of voters is in the leader's log."""
        others = [one for one in NODES if one != node]
        body = compact_text(CLUSTER_ID) + i32(node) + self.directories[node].bytes + NO_TAGS
        with Connection(self.ports.replication(leader)) as connection:
            connection.send(REMOVE_VOTER, 0, body, flexible=True)
            self.until(lambda: self.voters(leader) == others, f"{leader} appends the removal")

    def empty(self, node: int) -> None:
        """Remove the metadata log of a controller that is down; its directory id stays."""
        shutil.rmtree(self.log_directory(node) / METADATA)

    def copy(self, source: int, target: int) -> None:
        """Replace the metadata log of a controller by another's; both are down."""
        self.empty(target)
        shutil.copytree(
            self.log_directory(source) / METADATA, self.log_directory(target) / METADATA
        )

    def until(self, is_so: Callable[[], bool], what: str) -> None:
        if not wait_until(is_so, WITHIN_S, 0.1):
            raise LabError(f"Not within a minute: {what}.")

    # -- seeing ----------------------------------------------------------------------------------

    def leader(self) -> int:
        """Return the leader that DescribeQuorum names, or -1; it knows its high watermark."""
        told = [described(self.ports.replication(node)) for node in NODES if self.alive(node)]
        return next((leader for leader, mark in told if mark >= 0), -1)

    def batches(self, node: int) -> list[tuple[bytes, RecordBatch]]:
        """Return the snapshots and the log of a controller, batch by batch."""
        place = self.log_directory(node) / METADATA
        files = [*sorted(place.glob("*.checkpoint")), *segments(place)]
        contents = [file.read_bytes() for file in files]
        return [(data, batch) for data in contents for batch in parse(data)]

    def voters(self, node: int) -> list[int]:
        """Return the voters of the last VotersRecord in a controller's log."""
        found: list[int] = []
        for data, batch in self.batches(node):
            if batch.header.control:
                found = voters_in(data, batch) or found
        return found

    def end(self, node: int) -> int:
        logs = [batch.header.last + 1 for _, batch in self.batches(node)]
        return max(logs, default=0)

    def epoch(self, node: int) -> int:
        """Return the epoch in a controller's quorum-state."""
        file = self.log_directory(node) / METADATA / "quorum-state"
        return int(json.loads(file.read_text())["leaderEpoch"]) if file.exists() else 0

    def mark(self, moves: int, what: str) -> ControllerMark:
        ends, leader = {node: self.end(node) for node in NODES}, self.leader()
        return {
            "moves": moves,
            "what": what,
            "voters": {str(node): self.voters(node) for node in NODES},
            "longest": [node for node in NODES if leader < 0 and ends[node] == max(ends.values())],
            "epoch": max(map(self.epoch, NODES)),
            "leader": leader,
        }

    def said(self, node: int, part: str) -> list[str]:
        """Return lines of a controller's log in which this part stands."""
        lines = self.server_log(node).read_text(errors="replace").splitlines()
        return [line for line in lines if part in line]


def text_of(directory: uuid.UUID) -> str:
    """Return a directory id as Kafka writes it."""
    return base64.urlsafe_b64encode(directory.bytes).decode().rstrip("=")


def voters_in(data: bytes, batch: RecordBatch) -> list[int]:
    """Return the voters of the last VotersRecord of a control batch; [] if there is none."""
    cursor, found = ByteCursor(data, batch.header.at + HEADER), list[int]()

    def voter() -> int:
        node = cursor.i32()
        cursor.take(16)
        cursor.compact_array(
            lambda: (cursor.compact_text(), cursor.compact_text(), cursor.take(2), cursor.tags())
        )
        cursor.take(4)  # the range of kraft.version
        cursor.tags()
        cursor.tags()
        return node

    for _ in range(batch.header.count):
        size = cursor.varint()
        end = cursor.at + size
        cursor.i8()
        cursor.varint()
        cursor.varint()
        if cursor.take(cursor.varint()) == VOTERS_KEY:
            cursor.varint()
            cursor.i16()
            found = sorted(cursor.compact_array(voter))
        cursor.at = end
    return found
