"""Proxy ports through which everything between the nodes of the cluster goes.

A follower is identified by the client id of its fetcher ("broker-2-fetcher-0"), or, up to 0.10.2,
by the request itself; the way to the controller or to ZooKeeper has a port of its own for each
broker; where a controller has one address for all, by the client id of a node's raft client
("raft-client-2") or of its other requests ("2"); a member of a group by its own ("C1").  So every
connection belongs to a link, and the hand decides what passes.
"""

from __future__ import annotations

import contextlib
import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from app.kafka import fetches
from app.kafka.cursor import MalformedError
from app.kafka.fetches import (
    BROKER_HEARTBEAT,
    FETCH,
    GROUP_HEARTBEAT,
    OFFSET_FOR_LEADER_EPOCH,
    PartitionFetch,
    RequestHeader,
)
from app.lab.client import CLIENT_ID, HOST
from app.lab.links import (
    CLIENT,
    CONTROLLER,
    POLL_S,
    HeldResponse,
    LinkControls,
    Node,
    ProxyLink,
    member_node,
    node_of,
)
from engine.model.errors import (
    FENCED_INSTANCE_ID,
    ILLEGAL_GENERATION,
    REBALANCE_IN_PROGRESS,
    UNKNOWN_MEMBER_ID,
)

_BROKER: Final = re.compile(r"broker-(\d+)-fetcher-\d+|raft-client-(\d+)|(\d+)$")
_MEMBER: Final = re.compile(r"C(\d+)$")
NEWS: Final = frozenset(
    (UNKNOWN_MEMBER_ID, ILLEGAL_GENERATION, REBALANCE_IN_PROGRESS, FENCED_INSTANCE_ID)
)
"""Errors by which a heartbeat tells a member of its group."""
FLEXIBLE_HEARTBEAT: Final = 4
LARGEST: Final = 128 * 1024 * 1024
CHUNK: Final = 65_536


@dataclass(slots=True)
class SentFrame:
    """A request that waits for its response."""

    head: RequestHeader
    asked: list[PartitionFetch] = field(default_factory=list)
    counted: bool = False
    keep: bool = False
    at: float = 0.0
    """When it was passed on."""


class Proxy:
    """Listener on loopback that forwards to one port.

    source: the connecting node, where the port alone identifies it; raw: bytes that are not Kafka's
    protocol.
    """

    def __init__(
        self,
        hand: LinkControls,
        listener: socket.socket,
        port: int,
        target: Node,
        source: Node | None = None,
        raw: bool = False,
    ) -> None:
        self.hand = hand
        self.port = port
        self.target = target
        self.source = source
        self.raw = raw
        self._listener = listener
        listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        _shut(self._listener)

    def _accept(self) -> None:
        while not self.hand.stopped:
            try:
                incoming, _ = self._listener.accept()
            except OSError:
                return
            incoming.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._connection, args=(incoming,), daemon=True).start()

    def _connection(self, incoming: socket.socket) -> None:
        try:
            if self.raw and self.source is not None:
                with self._onward(incoming, self.source) as outgoing:
                    self._pump_both(incoming, outgoing, self.source)
                return
            frame = _frame(incoming)
            if frame is None:
                return
            source = self._who(frame) if self.source is None else self.source
            with self._onward(incoming, source) as outgoing:
                _Conversation(self, incoming, outgoing, source).carry(frame)
        except (OSError, MalformedError):
            pass  # a connection that breaks is what cutting and killing are about
        finally:
            _shut(incoming)

    @contextlib.contextmanager
    def _onward(self, incoming: socket.socket, source: Node) -> Iterator[socket.socket]:
        """Open the other half of a connection, known to its link while it lasts."""
        if not self.hand.passes(source, self.target):
            raise ConnectionError("The link is cut.")
        link = self.hand.link(source, self.target)
        outgoing = socket.create_connection((HOST, self.port), 2)
        outgoing.settimeout(None)
        outgoing.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def close() -> None:
            _shut(incoming)
            _shut(outgoing)

        with self.hand.change():
            link.close[id(close)] = close
        try:
            yield outgoing
        finally:
            close()
            with self.hand.change():
                link.close.pop(id(close), None)

    def _who(self, frame: bytes) -> Node:
        head = fetches.header(frame)
        broker = _BROKER.match(head.client)
        if broker:
            return node_of(int(broker[1] or broker[2] or broker[3]))
        if member := _MEMBER.match(head.client):
            return member_node(int(member[1]))
        if head.api == FETCH and head.client.startswith("ReplicaFetcherThread"):
            return fetches.replica_of(frame, head)
        return CLIENT if head.client == CLIENT_ID else CONTROLLER

    def _pump_both(self, client: socket.socket, other: socket.socket, source: Node) -> None:
        back = threading.Thread(target=_pump, args=(other, client), daemon=True)
        back.start()
        # ZooKeeper counts whatever comes as a sign of life.
        _pump(client, other, lambda: self.hand.hear(source, time.monotonic()))
        back.join()


class _Conversation:
    """One connection in Kafka's protocol: requests one way, answers the other."""

    def __init__(
        self, proxy: Proxy, incoming: socket.socket, outgoing: socket.socket, source: Node
    ) -> None:
        self.hand = proxy.hand
        self.source = source
        self.target = proxy.target
        self.link: ProxyLink = self.hand.link(source, self.target)
        self.incoming = incoming
        self.outgoing = outgoing
        self.sent: dict[int, SentFrame] = {}

    @property
    def replicates(self) -> bool:
        return self.source >= 0 and self.target >= 0

    def carry(self, frame: bytes | None) -> None:
        """Pass requests on until the connection ends."""
        answers = threading.Thread(target=self._answers, daemon=True)
        answers.start()
        try:
            while frame is not None:
                head = fetches.header(frame)
                sent = SentFrame(head)
                if head.api == FETCH and self.replicates:
                    sent.asked = fetches.request(frame, head)
                elif head.api in fetches.NAMES:
                    kind = fetches.NAMES[head.api]
                    self.hand.note({"source": self.source, "target": self.target, "kind": kind})
                if not self._may_pass(sent):
                    break
                sent.at = time.monotonic()
                with self.hand.changed:
                    self.sent[head.correlation] = sent
                self.outgoing.sendall(struct.pack(">i", len(frame)) + frame)
                frame = _frame(self.incoming)
        finally:
            _shut(self.incoming)
            _shut(self.outgoing)
            answers.join()

    def _may_pass(self, sent: SentFrame) -> bool:
        """Wait at the gate; return False where the link is cut or the other end is gone."""
        hand, link, api = self.hand, self.link, sent.head.api
        by_hand = api in (FETCH, OFFSET_FOR_LEADER_EPOCH) and self.replicates
        fetch = api == FETCH and self.replicates
        try:
            with hand.changed:
                while hand.passes(self.source, self.target):
                    stopped = by_hand and self.target in hand.paused
                    if api not in link.holding and not (by_hand and link.manual) and not stopped:
                        return True
                    if fetch and not stopped and (not sent.asked or self._refused_anyway(sent)):
                        return True
                    if by_hand and link.credits > 0 and not stopped:
                        if fetch:
                            self._take_credit(sent)
                        return True
                    if fetch and not link.waiting:
                        link.waiting = True
                        hand.changed.notify_all()
                    elif by_hand and not fetch and not link.asks_epoch:
                        link.asks_epoch = True
                        hand.changed.notify_all()
                    # Waiting requests do not wake each other: only a change notifies.
                    hand.changed.wait(POLL_S)
                    if _is_closed(self.incoming):
                        return False
                return False
        finally:
            if fetch and link.waiting:
                with hand.change():
                    link.waiting = False

    def _refused_anyway(self, sent: SentFrame) -> bool:
        """Check whether the fetch carries a leader epoch that its leader will refuse as old.

        A leader that is cut off does not know a newer one, and would answer.
        """
        hand, target = self.hand, self.target
        if not hand.passes(target, CONTROLLER) or FETCH in hand.link(target, CONTROLLER).holding:
            return False
        floors = hand.floors
        return any(0 <= fetch.leader_epoch < floors.get(fetch.topic, -1) for fetch in sent.asked)

    def _take_credit(self, sent: SentFrame) -> None:
        self.link.credits -= 1
        sent.counted = True
        sent.keep, self.link.keep_next = self.link.keep_next, False

    def _answers(self) -> None:
        try:
            while (frame := _frame(self.outgoing)) is not None:
                correlation = struct.unpack_from(">i", frame)[0]
                with self.hand.changed:
                    sent = self.sent.pop(correlation, None)
                if sent is not None:
                    self._look_at(sent, frame)
                    if sent.keep and not self._keep():
                        break
                    if sent.head.api == GROUP_HEARTBEAT and self.source in self.hand.unaware:
                        frame = without_news(frame, sent.head.version)
                self.incoming.sendall(struct.pack(">i", len(frame)) + frame)
                if sent is not None and sent.counted:
                    with self.hand.change():
                        self.link.delivered += 1
        except (OSError, MalformedError):
            pass
        finally:
            _shut(self.incoming)
            _shut(self.outgoing)

    def _look_at(self, sent: SentFrame, frame: bytes) -> None:
        if sent.head.api == BROKER_HEARTBEAT and self.target == CONTROLLER:
            self.hand.hear(self.source, sent.at)
        if sent.head.api != FETCH or not self.replicates:
            return
        offsets = {(fetched.topic, fetched.partition): fetched.offset for fetched in sent.asked}
        for served in fetches.response(frame, sent.head.version):
            if not served.idle:
                offset = offsets.get((served.topic, served.partition), -1)
                self.hand.note(
                    {
                        "source": self.target,
                        "target": self.source,
                        "kind": "FetchResponse",
                        "asked": offset,
                        "served": served,
                    }
                )

    def _keep(self) -> bool:
        """Hold the response until it is released; return False where either end is gone."""
        held = HeldResponse()
        with self.hand.changed:
            self.link.kept.append(held)
            self.hand.changed.notify_all()
            try:
                while not held.go:
                    self.hand.changed.wait(POLL_S)
                    if _is_closed(self.incoming) or _is_closed(self.outgoing):
                        return False
            finally:
                self.link.kept.remove(held)
        return True


def without_news(frame: bytes, version: int) -> bytes:
    """Return the response to a heartbeat without what it tells a member of its group."""
    at = 4 + (1 if version >= FLEXIBLE_HEARTBEAT else 0) + (4 if version else 0)
    error = struct.unpack_from(">h", frame, at)[0]
    return frame[:at] + bytes(2) + frame[at + 2 :] if error in NEWS else frame


def _pump(
    source: socket.socket, target: socket.socket, hear: Callable[[], None] = lambda: None
) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(CHUNK):
            hear()
            target.sendall(data)
    _shut(source)
    _shut(target)


def _frame(connection: socket.socket) -> bytes | None:
    """Return the next message without its length; None where the connection ended."""
    size = _exactly(connection, 4)
    if size is None:
        return None
    length = struct.unpack(">i", size)[0]
    if not 4 <= length <= LARGEST:
        raise MalformedError("A message has no sensible length.")
    return _exactly(connection, length)


def _exactly(connection: socket.socket, size: int) -> bytes | None:
    parts = bytearray()
    while len(parts) < size:
        part = connection.recv(min(size - len(parts), CHUNK))
        if not part:
            return None
        parts += part
    return bytes(parts)


def _is_closed(connection: socket.socket) -> bool:
    """Check whether the other end has closed, without reading from the connection."""
    try:
        return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def _shut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
    with contextlib.suppress(OSError):
        connection.close()
