"""The hand on the wire, between sockets of this process: nothing passes that it does not let."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Iterator

import pytest

from app.kafka import batches
from app.kafka.cursor import array, i8, i16, i32, i64, text
from app.kafka.fetches import ALTER_PARTITION, FETCH
from app.lab.links import CONTROLLER, LinkControls, node_of
from app.lab.proxy import Proxy

VERSION = 9


def fetch(correlation: int, epoch: int = 0, client: str = "broker-2-fetcher-0") -> bytes:
    """A replica's fetch of partition t-0 from offset 7 on, in version 9."""
    head = i16(FETCH) + i16(VERSION) + i32(correlation) + text(client)
    body = i32(2) + i32(500) + i32(1) + i32(1 << 20) + i8(0) + i32(0) + i32(-1)
    partition = i32(0) + i32(epoch) + i64(7) + i64(0) + i32(1 << 20)
    return head + body + array([text("t") + array([partition])]) + array([])


def answer(correlation: int, data: bytes) -> bytes:
    partition = i32(0) + i16(0) + i64(5) + i64(5) + i64(0) + i32(-1) + i32(len(data)) + data
    return i32(correlation) + i32(0) + i16(0) + i32(0) + array([text("t") + array([partition])])


def listening() -> socket.socket:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    return listener


def serve(listener: socket.socket, accepted: list[socket.socket]) -> None:
    """A broker that answers every request with one record."""
    with contextlib.suppress(OSError):
        while True:
            connection, _ = listener.accept()
            accepted.append(connection)
            threading.Thread(target=converse, args=(connection,), daemon=True).start()


def converse(connection: socket.socket) -> None:
    with contextlib.suppress(OSError), connection:
        while frame := received(connection):
            correlation = struct.unpack_from(">i", frame, 4)[0]
            send(connection, answer(correlation, batches.one_record(b"m0", 1)))


def received(connection: socket.socket) -> bytes:
    size = connection.recv(4, socket.MSG_WAITALL)
    return connection.recv(struct.unpack(">i", size)[0], socket.MSG_WAITALL) if size else b""


def send(connection: socket.socket, frame: bytes) -> None:
    connection.sendall(i32(len(frame)) + frame)


class Wire:
    def __init__(self, hand: LinkControls, port: int) -> None:
        self.hand = hand
        self.port = port
        self.accepted: list[socket.socket] = []
        """The broker's ends."""

    def connect(self) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self.port), 5)
        connection.settimeout(5)
        return connection


@pytest.fixture
def wire() -> Iterator[Wire]:
    """The proxy before broker 1."""
    broker, front, hand = listening(), listening(), LinkControls()
    broker.listen()
    made = Wire(hand, front.getsockname()[1])
    threading.Thread(target=serve, args=(broker, made.accepted), daemon=True).start()
    proxy = Proxy(hand, front, broker.getsockname()[1], target=1)
    yield made
    hand.stopped = True
    proxy.close()
    broker.shutdown(socket.SHUT_RDWR)
    broker.close()


def test_messages_that_are_not_held_pass_and_are_recorded(wire: Wire) -> None:
    with wire.connect() as follower:
        send(follower, fetch(11))
        assert received(follower)[:4] == i32(11)
    [note] = wire.hand.notes
    assert (note["source"], note["target"], note["asked"]) == (1, 2, 7)
    served = note["served"]
    assert (served.topic, served.hw, served.error) == ("t", 5, "NONE")
    assert [(one.base, one.epoch) for one in served.batches] == [(0, -1)]


def test_a_fetch_by_hand_waits_for_its_credit(wire: Wire) -> None:
    wire.hand.by_hand([1, 2], True)
    link = wire.hand.link(2, 1)
    with wire.connect() as follower:
        send(follower, fetch(11))
        assert wire.hand.wait_for(lambda: link.waiting, 5)
        assert link.delivered == 0
        with wire.hand.change():
            link.credits = 1
        assert received(follower)[:4] == i32(11)
        assert wire.hand.wait_for(lambda: link.delivered == 1, 5)
        send(follower, fetch(12))
        assert wire.hand.wait_for(lambda: link.waiting, 5)
        assert link.credits == 0


def test_an_answer_can_be_kept_on_its_way(wire: Wire) -> None:
    wire.hand.by_hand([1, 2], True)
    link = wire.hand.link(2, 1)
    with wire.connect() as follower:
        with wire.hand.change():
            link.credits, link.keep_next = 1, True
        send(follower, fetch(11))
        assert wire.hand.wait_for(lambda: len(link.kept) == 1, 5)
        follower.settimeout(0.2)
        with pytest.raises(TimeoutError):
            follower.recv(1)
        follower.settimeout(5)
        wire.hand.by_hand([1, 2], False)
        assert received(follower)[:4] == i32(11)


def test_a_fetch_of_an_older_epoch_does_not_wait(wire: Wire) -> None:
    wire.hand.by_hand([1, 2], True)
    with wire.hand.change():
        wire.hand.floors["t"] = 3
    with wire.connect() as follower:
        send(follower, fetch(11, epoch=2))
        assert received(follower)[:4] == i32(11)
        send(follower, fetch(12, epoch=3))
        assert wire.hand.wait_for(lambda: wire.hand.link(2, 1).waiting, 5)


@pytest.mark.parametrize("by_hand", [True, False])
def test_no_fetch_reaches_a_paused_leader(wire: Wire, by_hand: bool) -> None:
    """It would be answered when the leader goes on, by the epoch that the leader then believes."""
    wire.hand.by_hand([1, 2], by_hand)
    with wire.hand.change():
        wire.hand.floors["t"] = 3
        wire.hand.paused.add(1)
    with wire.connect() as follower:
        send(follower, fetch(11, epoch=2))
        assert wire.hand.wait_for(lambda: wire.hand.link(2, 1).waiting, 5)
        with pytest.raises(TimeoutError):
            follower.settimeout(0.2)
            follower.recv(1)
        follower.settimeout(5)
        with wire.hand.change():
            wire.hand.paused.clear()
        assert received(follower)[:4] == i32(11)


def test_a_cut_breaks_what_is_open_and_lets_nothing_new_through(wire: Wire) -> None:
    with wire.connect() as follower:
        send(follower, fetch(11))
        assert received(follower)
        wire.hand.cut(2, 1)
        with contextlib.suppress(ConnectionError):
            assert follower.recv(1) == b""
    with wire.connect() as follower:
        send(follower, fetch(12))
        with contextlib.suppress(ConnectionError):
            assert follower.recv(1) == b""
    wire.hand.heal(1, 2)
    with wire.connect() as follower:
        send(follower, fetch(13))
        assert received(follower)[:4] == i32(13)


def test_one_kind_of_request_to_the_controller_is_held(wire: Wire) -> None:
    broker, front = listening(), listening()
    broker.listen()
    threading.Thread(target=serve, args=(broker, []), daemon=True).start()
    proxy = Proxy(wire.hand, front, broker.getsockname()[1], CONTROLLER, source=2)
    wire.hand.hold(2, ALTER_PARTITION, True)
    head = i16(ALTER_PARTITION) + i16(2) + i32(21) + text("2")
    with Wire(wire.hand, front.getsockname()[1]).connect() as asking:
        send(asking, head)
        asking.settimeout(0.2)
        with pytest.raises(TimeoutError):
            asking.recv(1)
        asking.settimeout(5)
        wire.hand.hold(2, ALTER_PARTITION, False)
        assert received(asking)[:4] == i32(21)
    assert [note["kind"] for note in wire.hand.notes] == ["AlterPartition"]
    proxy.close()
    broker.shutdown(socket.SHUT_RDWR)
    broker.close()


def test_brokers_and_voters_are_cut_from_a_controller_with_one_address_for_all() -> None:
    controller, front, hand = listening(), listening(), LinkControls()
    controller.listen()
    threading.Thread(target=serve, args=(controller, []), daemon=True).start()
    proxy = Proxy(hand, front, controller.getsockname()[1], target=CONTROLLER)
    wire = Wire(hand, front.getsockname()[1])
    hand.cut(2, CONTROLLER)
    hand.cut(node_of(102), CONTROLLER)
    for client in ("raft-client-3", "3", "raft-client-101", "101"):
        with wire.connect() as other:
            send(other, fetch(11, client=client))
            assert received(other)[:4] == i32(11)
    for client in ("raft-client-2", "2", "raft-client-102", "102"):
        with wire.connect() as cut_off:
            send(cut_off, fetch(12, client=client))
            assert received(cut_off) == b""
    hand.stopped = True
    proxy.close()
    controller.close()
