"""The few requests that the laboratory sends, in versions that every release it starts answers."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

from app.kafka import batches, cursor
from app.kafka.cursor import NO_TAGS, ByteCursor, array, i8, i16, i32, i64, text
from app.kafka.fetches import BROKER_HEARTBEAT
from app.lab.releases import KafkaRelease
from engine.model.errors import name_of
from engine.model.messages import LATEST

T = TypeVar("T")

HOST: Final = "127.0.0.1"
CLIENT_ID: Final = "highwater-lab"
LARGEST: Final = 64 * 1024 * 1024
ANSWER_WITHIN_S: Final = 20.0

PRODUCE, FETCH, LIST_OFFSETS, METADATA = 0, 1, 2, 3
CREATE_TOPICS, DELETE_TOPICS, DELETE_RECORDS, ALTER_CONFIGS = 19, 20, 21, 33
ELECT_LEADERS, INCREMENTAL_ALTER_CONFIGS, ALTER_REASSIGNMENTS = 43, 44, 45
TOPIC: Final = 2
"""The type of a topic among the resources that have configurations."""


@dataclass(frozen=True, slots=True)
class Produced:
    error: str
    offset: int


@dataclass(frozen=True, slots=True)
class ClientBelief:
    """Partition state as a broker believes it; the leader epoch is -1 before 2.1."""

    leader: int
    leader_epoch: int


class Connection:
    """One connection to a broker.  Raises OSError where it breaks."""

    def __init__(self, port: int, timeout_s: float = ANSWER_WITHIN_S) -> None:
        self._socket = socket.create_connection((HOST, port), 5)
        self._socket.settimeout(timeout_s)
        self._number = 0

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def send(self, api: int, version: int, body: bytes, flexible: bool = False) -> None:
        self._number += 1
        head = i16(api) + i16(version) + i32(self._number) + text(CLIENT_ID)
        frame = head + (NO_TAGS if flexible else b"") + body
        self._socket.sendall(i32(len(frame)) + frame)

    def receive(self) -> ByteCursor:
        """Return the next response, without its correlation id."""
        size = struct.unpack(">i", self._exactly(4))[0]
        if not 4 <= size <= LARGEST:
            raise ConnectionError("The answer has no sensible length.")
        return ByteCursor(self._exactly(size), 4)

    def ask(self, api: int, version: int, body: bytes, flexible: bool = False) -> ByteCursor:
        self.send(api, version, body, flexible)
        answer = self.receive()
        if flexible:
            answer.tags()
        return answer

    def _exactly(self, size: int) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            part = self._socket.recv(size - len(parts))
            if not part:
                raise ConnectionError("The broker closed the connection.")
            parts += part
        return bytes(parts)


class KafkaClient:
    """Requests to the broker behind one port.  Raises OSError where it does not answer."""

    def __init__(self, port: int, release: KafkaRelease) -> None:
        self.port = port
        self.release = release

    def _ask(
        self, api: int, version: int, body: bytes, flexible: bool = False, within_s: float = 20
    ) -> ByteCursor:
        with Connection(self.port, within_s) as connection:
            return connection.ask(api, version, body, flexible)

    def send_produce(
        self,
        connection: Connection,
        topic: str,
        value: str,
        acks: int,
        timeout_ms: int,
        index: int = 0,
    ) -> None:
        """Send one record to a partition; `receive_produced` reads the answer."""
        old = not self.release.epochs
        made = batches.one_message if old else batches.one_record
        data = made(value.encode(), time.time_ns() // 1_000_000)
        body = b"" if old else text(None)  # no transaction
        body += i16(acks) + i32(timeout_ms)
        body += array([text(topic) + array([i32(index) + i32(len(data)) + data])])
        connection.send(PRODUCE, 2 if old else 3, body)

    @staticmethod
    def receive_produced(connection: Connection) -> Produced:
        answer = connection.receive()

        def partition() -> Produced:
            answer.i32()
            produced = Produced(name_of(answer.i16()), answer.i64())
            answer.i64()
            return produced

        return _only(answer.array(lambda: (answer.text(), answer.array(partition))))

    def listed_offset(self, topic: str, timestamp: int = LATEST) -> tuple[str, int]:
        """Return (error, latest or EARLIEST offset) of a ListOffsets request for partition 0."""
        body = i32(-1) + array([text(topic) + array([i32(0) + i64(timestamp)])])
        answer = self._ask(LIST_OFFSETS, 1, body)

        def partition() -> tuple[str, int]:
            answer.i32()
            error = name_of(answer.i16())
            answer.i64()
            return error, answer.i64()

        return _only(answer.array(lambda: (answer.text(), answer.array(partition))))

    def belief(self, topic: str, index: int = 0) -> ClientBelief | None:
        """Return the leader of a partition as this broker knows it; None for an unknown topic."""
        epochs = self.release.numbers >= (2, 1, 0)
        body = array([text(topic)]) + (i8(0) if epochs else b"")
        answer = self._ask(METADATA, 7 if epochs else 1, body, within_s=5)
        if epochs:
            answer.i32()
        answer.array(lambda: (answer.i32(), answer.text(), answer.i32(), answer.text()))
        if epochs:
            answer.text()
        answer.i32()  # the controller

        def partition() -> tuple[int, ClientBelief]:
            answer.i16()
            number, leader = answer.i32(), answer.i32()
            belief = ClientBelief(leader, answer.i32() if epochs else -1)
            for _ in range(3 if epochs else 2):
                answer.array(answer.i32)
            return number, belief

        partitions = answer.array(
            lambda: (answer.i16(), answer.text(), answer.i8(), answer.array(partition))
        )
        return next((belief for row in partitions for n, belief in row[3] if n == index), None)

    def create_topic(self, topic: str, partitions: list[list[int]], configs: dict[str, str]) -> str:
        """Create a topic on these brokers; return the error's name, and the broker's message."""
        old = not self.release.epochs
        assignment = array(
            i32(index) + array(i32(broker) for broker in replicas)
            for index, replicas in enumerate(partitions)
        )
        settings = array(text(name) + text(value) for name, value in configs.items())
        body = array([text(topic) + i32(-1) + i16(-1) + assignment + settings])
        answer = self._ask(CREATE_TOPICS, 1 if old else 2, body + i32(20_000) + i8(0))
        if not old:
            answer.i32()
        rows = answer.array(lambda: (answer.text(), name_of(answer.i16()), answer.text()))
        _, error, said = rows[0]
        return error if said is None else f"{error} ({said})"

    def elect(self, topic: str, unclean: bool) -> str:
        """Send ElectLeaders (KIP-460, since 2.4) for partition 0; return the error's name."""
        body = i8(int(unclean)) + array([text(topic) + array([i32(0)])]) + i32(10_000)
        answer = self._ask(ELECT_LEADERS, 1, body)
        answer.i32()
        whole = name_of(answer.i16())

        def partition() -> str:
            answer.i32()
            error = name_of(answer.i16())
            answer.text()
            return error

        rows = answer.array(lambda: (answer.text(), answer.array(partition)))
        return rows[0][1][0] if rows else whole

    def reassign(self, topic: str, replicas: list[int] | None) -> str:
        """Send AlterPartitionReassignments (KIP-455, since 2.4); return the error's name.

        None cancels.
        """
        listed = None if replicas is None else [i32(broker) for broker in replicas]
        partition = i32(0) + cursor.compact_array(listed) + NO_TAGS
        entry = cursor.compact_text(topic) + cursor.compact_array([partition]) + NO_TAGS
        body = i32(10_000) + cursor.compact_array([entry]) + NO_TAGS
        answer = self._ask(ALTER_REASSIGNMENTS, 0, body, flexible=True)
        answer.i32()
        whole = name_of(answer.i16())
        answer.compact_text()

        def partition_error() -> str:
            answer.i32()
            error = name_of(answer.i16())
            answer.compact_text()
            answer.tags()
            return error

        rows = answer.compact_array(
            lambda: (answer.compact_text(), answer.compact_array(partition_error), answer.tags())
        )
        return rows[0][1][0] if rows else whole

    def delete_topic(self, topic: str) -> str:
        """Delete a topic; return the error's name."""
        body = array([text(topic)]) + i32(20_000)
        answer = self._ask(DELETE_TOPICS, int(self.release.epochs), body)
        if self.release.epochs:
            answer.i32()
        rows = answer.array(lambda: (answer.text(), name_of(answer.i16())))
        return rows[0][1]

    def fence(self, broker: int, epoch: int) -> str:
        """Send BrokerHeartbeat in a broker's name with WantFence; return the error's name."""
        body = i32(broker) + i64(epoch) + i64(0) + i8(1) + i8(0) + NO_TAGS
        answer = self._ask(BROKER_HEARTBEAT, 0, body, flexible=True)
        answer.i32()
        return name_of(answer.i16())

    def delete_records(self, topic: str, before: int) -> str:
        """Send DeleteRecords (KIP-107) for partition 0; return the error's name."""
        body = array([text(topic) + array([i32(0) + i64(before)])]) + i32(15_000)
        answer = self._ask(DELETE_RECORDS, 0, body)
        answer.i32()

        def partition() -> str:
            answer.i32()
            answer.i64()
            return name_of(answer.i16())

        return _only(answer.array(lambda: (answer.text(), answer.array(partition))))

    def set_config(self, topic: str, name: str, value: str, others: Mapping[str, str]) -> str:
        """Set a setting of a topic; return the error's name.

        Before 2.3 (KIP-339) a request replaces all settings of the topic: it repeats the others.
        """
        resource = i8(TOPIC) + text(topic)
        if self.release.numbers >= (2, 3, 0):
            body = array([resource + array([text(name) + i8(0) + text(value)])]) + i8(0)
            answer = self._ask(INCREMENTAL_ALTER_CONFIGS, 0, body)
        else:
            every = {**others, name: value}.items()
            body = array([resource + array([text(key) + text(it) for key, it in every])]) + i8(0)
            answer = self._ask(ALTER_CONFIGS, 0, body)
        answer.i32()
        return name_of(answer.i16() if answer.i32() else 0)

    def read(self, topic: str, offset: int) -> tuple[str, int, list[str]]:
        """Return what a consumer gets from `offset` on: (error, high watermark, values)."""
        old = not self.release.epochs
        body = i32(-1) + i32(300) + i32(1) + i32(1 << 20) + (b"" if old else i8(0))
        body += array([text(topic) + array([i32(0) + i64(offset) + i32(1 << 20)])])
        answer = self._ask(FETCH, 3 if old else 4, body)
        answer.i32()

        def partition() -> tuple[str, int, list[str]]:
            answer.i32()
            error, hw = name_of(answer.i16()), answer.i64()
            if not old:
                answer.i64()
                answer.array(lambda: (answer.i64(), answer.i64()))
            parsed = batches.parse(answer.take(max(0, answer.i32())))
            values = [
                value.decode(errors="replace")
                for batch in parsed
                for at, value in batch.records or ()
                if offset <= at < hw
            ]
            return error, hw, values

        return _only(answer.array(lambda: (answer.text(), answer.array(partition))))


def _only(rows: list[tuple[str | None, list[T]]]) -> T:
    """Return the response for the only partition of the only topic of the request."""
    if not rows or not rows[0][1]:
        raise ConnectionError("The broker answered about nothing.")
    return rows[0][1][0]
