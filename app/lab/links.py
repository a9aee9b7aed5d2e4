"""Control of the network: which messages may pass between two nodes of the cluster, and when.

A link is one direction of asking: `Link(2, 1)` carries the requests of broker 2 to broker 1 and
their answers.  A proxy (`app.lab.proxy`) asks the hand before it passes anything on.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, NotRequired, TypedDict

from app.kafka.fetches import Served

CONTROLLER: Final = -1
CLIENT: Final = -2
FIRST_VOTER_ID: Final = 101
BEFORE_MEMBERS: Final = -1_000
Node = int
"""A broker's id, CONTROLLER (or ZooKeeper), CLIENT: any peer but a follower, -ID of a voter, or a
member of a group."""

POLL_S: Final = 0.03


def member_node(number: int) -> Node:
    """Return the node of the client C1, C2, ..."""
    return BEFORE_MEMBERS - number


def node_of(number: int) -> Node:
    """Return the node of a process: a voter's is negative, as no fetch of it is replication."""
    return -number if number >= FIRST_VOTER_ID else number


class WireNote(TypedDict):
    """A message that passed; of an answer to a fetch also the offset asked for and the batches."""

    source: Node
    target: Node
    kind: str
    asked: NotRequired[int]
    served: NotRequired[Served]


@dataclass(slots=True)
class ProxyLink:
    """State of one direction.  Read and changed only under the hand's lock."""

    manual: bool = False
    """Fetches, and questions for epochs, wait for a credit."""
    cut: bool = False
    credits: int = 0
    keep_next: bool = False
    """The answer to the next fetch is kept: it is on its way until it is released."""
    kept: list[HeldResponse] = field(default_factory=list)
    waiting: bool = False
    """A fetch stands before the gate."""
    asks_epoch: bool = False
    """An OffsetForLeaderEpoch stands before the gate."""
    delivered: int = 0
    """Fetches that were let through by a credit and whose answers arrived."""
    holding: set[int] = field(default_factory=set)
    """Kinds of requests that wait: AlterPartition, or the fetch of metadata."""
    close: dict[int, Callable[[], None]] = field(default_factory=dict)
    """How to break each open connection."""


@dataclass(slots=True)
class HeldResponse:
    """A response that is held on its way."""

    go: bool = False


class LinkControls:
    """Controls of all links.

    `notes` is what passed, in order; `floors` the newest leader epoch of a topic, by name and by
    id: a fetch with an older one is refused by its leader, and need not wait; `heard` when the last
    sign of life of a broker was on its way to the controller (time.monotonic); `paused` the brokers
    whose process is stopped: a fetch that reached one would be answered when it goes on; `unaware`
    the members whose heartbeats tell them nothing of their group.
    """

    def __init__(self) -> None:
        self._links: dict[tuple[Node, Node], ProxyLink] = {}
        self.changed = threading.Condition()
        self.notes: list[WireNote] = []
        self.floors: dict[str, int] = {}
        self.heard: dict[Node, float] = {}
        self.paused: set[Node] = set()
        self.unaware: set[Node] = set()
        self.stopped = False

    def link(self, source: Node, target: Node) -> ProxyLink:
        with self.changed:
            return self._links.setdefault((source, target), ProxyLink())

    @contextmanager
    def change(self) -> Iterator[None]:
        """Make everything that is changed inside visible at once."""
        with self.changed:
            yield
            self.changed.notify_all()

    def note(self, what: WireNote) -> None:
        with self.changed:
            self.notes.append(what)

    def hear(self, broker: Node, at: float) -> None:
        """Record that the controller received a heartbeat of a broker at that time."""
        with self.change():
            self.heard[broker] = at

    def wait_for(self, is_so: Callable[[], bool], seconds: float) -> bool:
        """Wait until the condition holds, at most `seconds`; return whether it does."""
        end = time.monotonic() + seconds
        with self.changed:
            while not is_so():
                if time.monotonic() >= end:
                    return False
                self.changed.wait(POLL_S)
        return True

    def passes(self, source: Node, target: Node) -> bool:
        """Check whether neither direction between the two is cut."""
        return not (self.link(source, target).cut or self.link(target, source).cut)

    def cut(self, node: Node, other: Node) -> None:
        """Break the connections of both directions and let no new one through."""
        broken: list[Callable[[], None]] = []
        with self.change():
            for link in (self.link(node, other), self.link(other, node)):
                link.cut = True
                broken += link.close.values()
        for close in broken:
            close()

    def break_fetches(self, broker: Node) -> None:
        """Break the connections on which a broker asks others, except where a response is held."""
        with self.change():
            broken = [
                close
                for (source, target), link in self._links.items()
                if source == broker and target >= 0 and not link.kept
                for close in link.close.values()
            ]
        for close in broken:
            close()

    def heal(self, one: Node, other: Node) -> None:
        with self.change():
            self.link(one, other).cut = self.link(other, one).cut = False

    def cuts(self) -> list[tuple[Node, Node]]:
        with self.changed:
            return [ends for ends, link in self._links.items() if link.cut]

    def by_hand(self, brokers: list[Node], on: bool) -> None:
        """Let replication between brokers wait for credits, or flow by itself."""
        with self.change():
            for broker in brokers:
                for other in brokers:
                    if broker == other:
                        continue
                    link = self.link(broker, other)
                    link.manual, link.credits, link.keep_next = on, 0, False
                    for response in link.kept if not on else ():
                        response.go = True

    def hold(self, broker: Node, kind: int, on: bool) -> None:
        """Hold requests of one kind from a broker to the controller, or let them pass."""
        with self.change():
            holding = self.link(broker, CONTROLLER).holding
            (holding.add if on else holding.discard)(kind)

    def let_go(self) -> None:
        """Release everything that is cut, held or by hand."""
        with self.change():
            for link in self._links.values():
                link.cut = link.manual = link.keep_next = False
                link.holding.clear()
                for response in link.kept:
                    response.go = True
