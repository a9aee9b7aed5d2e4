"""Links: delay, loss, cuts, order.  One connection a pair of nodes, or one a fetcher thread."""

from __future__ import annotations

from collections.abc import Mapping
from heapq import heappush

from engine.faults.delay_quantiles import choices
from engine.model.broker import Broker
from engine.model.compiling import mypyc_attr
from engine.model.control_messages import AlterPartitionRequest, ControlAnswer, ControlRequest
from engine.model.copying import shallow
from engine.model.declared import begins, declared
from engine.model.messages import (
    ALTER_PARTITION,
    BROKEN,
    CONTROLLER,
    FIRST_PRODUCER,
    HEARTBEAT,
    ISR_CHANGE,
    LEADER_AND_ISR,
    LOG_DIR_EVENT,
    METADATA_FETCH_R,
    PRODUCE,
    REGISTER,
    REPLICATION,
    REPLIES,
    SESSION_CLOSED,
    STOP_REPLICA,
    UPDATE_METADATA,
    Broken,
    Message,
    ProduceRequest,
)
from engine.scenarios.parts import NetworkSpec as Settings
from engine.sim.kernel import DELIVERY, Chance, Kernel

NOTICE_LOSS_MS = 200
"""Time until a requester notices that a lost segment broke its connection."""

ONE_WAY = frozenset((LEADER_AND_ISR, UPDATE_METADATA, STOP_REPLICA, LOG_DIR_EVENT))
UNANSWERED = REPLIES | ONE_WAY | {HEARTBEAT, SESSION_CLOSED, ISR_CHANGE}
TO_ZOOKEEPER = frozenset((HEARTBEAT, REGISTER, SESSION_CLOSED, ISR_CHANGE))
METADATA = frozenset((METADATA_FETCH_R, LEADER_AND_ISR, UPDATE_METADATA, STOP_REPLICA))


@declared
class Link:
    """Faults of one direction between two nodes."""

    cut: bool = begins(False)
    delay: int = begins(0)
    loss: float = begins(0.0)

    def copy(self) -> Link:
        return shallow(self)

    def is_plain(self) -> bool:
        return not self.cut and self.delay == 0 and self.loss == 0.0


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Network:
    """Messages under way.

    `hands` are those that wait for a hand: replication traffic while fetching is manual.  `held`
    are control messages that a scenario holds back.  `open` are requests without an answer yet:
    (sender, corr) -> request; the sender is notified when the connection breaks.
    """

    __slots__ = (
        "by_hand",
        "chance",
        "control_delay",
        "controller_up",
        "data_delay",
        "fetchers",
        "hands",
        "held",
        "held_alter",
        "held_metadata",
        "held_ways",
        "kernel",
        "last_due",
        "links",
        "lost",
        "md_delay",
        "open",
        "orphans",
        "plain",
        "running",
        "settings",
        "unanswered",
        "without_zookeeper",
    )

    def __init__(self, kernel: Kernel, settings: Settings, chance: Chance, by_hand: bool) -> None:
        self.kernel = kernel
        self.settings = settings
        self.data_delay = choices(settings.delay_ms)
        self.control_delay = choices(settings.control_delay_ms)
        self.chance = chance
        self.by_hand = by_hand
        self.controller_up = True
        self.links: dict[tuple[int, int], Link] = {}
        self.hands: list[Message] = []
        self.held: list[Message] = []
        self.held_metadata: set[int] = set()
        self.held_alter: set[int] = set()
        self.held_ways: set[tuple[int, int, int]] = set()  # (src, dst, kind); kind 0: all
        self.without_zookeeper: set[int] = set()  # brokers that reach the controller alone
        self.orphans = False  # a request was sent again: answers to its first copy are lost
        self.open: dict[tuple[int, int], Message] = {}
        self.last_due: dict[tuple[int, ...], int] = {}
        self.fetchers: Mapping[int, Broker] | None = None  # where a broker may have several (F-1)
        self.running: set[int] = set()  # brokers whose process lives
        self.md_delay = 0
        self.lost = 0
        self.unanswered: list[tuple[ControlRequest, bool]] = []  # lost in this event; was it sent?
        self.plain = not by_hand  # no link, no hand and no hold to think of

    def copy(self, kernel: Kernel) -> Network:
        """Return a copy with the same messages under way, on another kernel."""
        twin = shallow(self)
        twin.unanswered = []
        twin.kernel = kernel
        twin.chance = self.chance.copy()
        twin.links = {way: link.copy() for way, link in self.links.items()}
        twin.hands = self.hands.copy()
        twin.held = self.held.copy()
        twin.held_alter = self.held_alter.copy()
        twin.held_metadata = self.held_metadata.copy()
        twin.held_ways = self.held_ways.copy()
        twin.last_due = self.last_due.copy()
        twin.open = self.open.copy()
        twin.without_zookeeper = self.without_zookeeper.copy()
        twin.running = self.running.copy()
        return twin

    # -- sending -------------------------------------------------------------------------------

    def send(self, m: Message) -> None:
        """Take a message: schedule it, leave it to a hand, lose it, or break its connection."""
        kernel = self.kernel
        src, dst, kind = m.src, m.dst, m.kind
        kernel.seq = m.id = kernel.seq + 1
        m.sent = kernel.now
        if kind not in UNANSWERED and (kind != PRODUCE or self._wants_answer(m)):
            self.open[src, m.corr] = m
        if dst == CONTROLLER:
            if not self.controller_up:
                self._break(m, 0)
                return
        elif dst > FIRST_PRODUCER and dst not in self.running:
            self._break(m, 0, was_sent=False)
            return
        extra = 0
        if not self.plain:
            extra = self._intercept(m)
            if extra < 0:
                return
        settings = self.settings
        if FIRST_PRODUCER < dst < 0 or FIRST_PRODUCER < src < 0:
            low, high, table = self.control_delay
            if kind in METADATA:
                extra += self.md_delay
        else:
            low, high, table = self.data_delay
            if settings.loss and self.chance.hits(settings.loss):
                self.lost += 1
                self._break(m, NOTICE_LOSS_MS)
                return
        if low != high:
            if table:
                low = table[self.chance.below(len(table))]
            else:
                low = self.chance.between(low, high)
        due = kernel.now + low + extra
        # In order per connection: never due before an earlier message of the same direction.
        key = (src, dst) if self.fetchers is None else self._connection(m)
        last = self.last_due
        if due < last.get(key, 0):
            due = last[key]
        else:
            last[key] = due
        m.due = due
        kernel.seq = seq = kernel.seq + 1
        heappush(kernel.pending, (due, DELIVERY, dst, seq, m))

    def _intercept(self, m: Message) -> int:
        """Return the ms that faults add, or -1 if the message goes no further now."""
        link = self.links.get((m.src, m.dst))
        if link is not None and link.cut:
            self._break(m, 0, was_sent=False)
            return -1
        if self.without_zookeeper and self._is_for_zookeeper(m):
            self._break(m, 0)
            return -1
        if m.corr < 0 and m.kind in REPLIES:
            return -1
        if self.held_ways and self._is_held_back(m):
            m.due = self.kernel.now
            self.held.append(m)
            return -1
        if self.by_hand and m.src >= 0 and m.dst >= 0 and m.kind in REPLICATION:
            m.due = self.kernel.now
            self.hands.append(m)
            return -1
        if self._is_held(m):
            m.due = self.kernel.now
            self.held.append(m)
            return -1
        if link is None:
            return 0
        if link.loss and self.chance.hits(link.loss):
            self.lost += 1
            self._break(m, NOTICE_LOSS_MS)
            return -1
        return link.delay

    def _connection(self, m: Message) -> tuple[int, ...]:
        """F-1.  Return a connection, on which nothing overtakes; one for each fetcher thread."""
        asker, leader = (m.dst, m.src) if m.kind in REPLIES else (m.src, m.dst)
        broker = None if self.fetchers is None else self.fetchers.get(asker)
        if broker is not None and broker.process is not None:
            for thread in broker.process.fetchers.values():
                if thread.fetcher and thread.leader == leader and thread.outstanding == m.corr:
                    return m.src, m.dst, thread.fetcher
        return m.src, m.dst

    def _wants_answer(self, m: Message) -> bool:
        assert isinstance(m, ProduceRequest)
        return m.acks != 0

    def _is_held_back(self, m: Message) -> bool:
        ways = self.held_ways
        return (m.src, m.dst, 0) in ways or (m.src, m.dst, m.kind) in ways

    def _is_held(self, m: Message) -> bool:
        if m.dst in self.held_metadata and m.kind in METADATA:
            return True
        return m.src in self.held_alter and m.kind == ALTER_PARTITION

    def under_way(self) -> list[Message]:
        """Return every message on the wire, oldest first: scheduled, held, or for a hand."""
        messages = [
            event[4]
            for event in self.kernel.pending
            if event[1] == DELIVERY and event[4].kind != BROKEN
        ]
        messages += self.hands
        messages += self.held
        return sorted(messages, key=lambda m: m.id)

    def arrived(self, m: Message) -> None:
        """Close the request of an answer that is being handled."""
        self.open.pop((m.dst, m.corr), None)

    # -- breaking ------------------------------------------------------------------------------

    def _break(self, m: Message, delay: int, was_sent: bool = True) -> None:
        """Notify the requester, be it the message's sender or its addressee."""
        self.note_lost(m, was_sent)
        requester = m.dst if m.kind in REPLIES else m.src
        self._tell_broken(requester, m.corr, delay)

    def time_out(self, requester: int, corr: int) -> Message | None:
        """Close the connection of a request and return it; None if it has its response."""
        request = self.open.get((requester, corr))
        self._tell_broken(requester, corr, 0)
        return request

    def is_given_up(self, m: Message) -> bool:
        """Check for a request whose sender waits no longer."""
        return m.kind not in UNANSWERED and m.kind != BROKEN and (m.src, m.corr) not in self.open

    def note_lost(self, m: Message, was_sent: bool = True) -> None:
        """Note a control request that gets no answer, be it lost itself or its answer."""
        if isinstance(m, ControlRequest):
            self.unanswered.append((m, was_sent))
        elif isinstance(m, ControlAnswer):
            self.unanswered.append((m.request, was_sent))

    def _tell_broken(self, requester: int, corr: int, delay: int) -> None:
        request = self.open.pop((requester, corr), None)
        if request is None:
            return
        if requester > FIRST_PRODUCER and requester not in self.running:
            return  # a broker, or a voter: the controller side sends no requests
        broken = Broken(request.dst, requester, corr, request.kind)
        self.kernel.seq = broken.id = self.kernel.seq + 1
        broken.sent = self.kernel.now
        broken.due = self.kernel.now + delay
        self.kernel.schedule(delay, DELIVERY, requester, broken)

    def remove(self, m: Message) -> None:
        """Take a message off the wire, wherever it waits."""
        if m in self.hands:
            self.hands.remove(m)
        elif m in self.held:
            self.held.remove(m)
        else:
            self.kernel.remove(m)

    def drop(self, m: Message) -> None:
        """Lose the message and break its connection."""
        self.remove(m)
        self.lost += 1
        self._break(m, 0)

    def take_behind(self, lost: ControlRequest) -> list[ControlRequest]:
        """Take back the control requests that wait for the answer to a lost one."""
        behind = [
            m
            for m in self.under_way()
            if isinstance(m, ControlRequest) and m.dst == lost.dst and m.id > lost.id
        ]
        for m in behind:
            self.remove(m)
        return behind

    def reaches(self, broker: int) -> bool:
        """Check whether the controller can connect to a broker."""
        return broker in self.running and not self.is_cut(CONTROLLER, broker)

    def break_connections(self, a: int, b: int | None = None) -> None:
        """Lose everything between `a` and `b` (or all nodes) and notify the waiting senders."""

        def concerns(src: int, dst: int) -> bool:
            return a in (src, dst) and (b is None or b in (src, dst))

        for m in [m for m in self.under_way() if concerns(m.src, m.dst)]:
            self.remove(m)
            self.note_lost(m)
        for (requester, corr), request in list(self.open.items()):
            if concerns(request.src, request.dst):
                self._tell_broken(requester, corr, 0)

    # -- links ---------------------------------------------------------------------------------

    def link(self, a: int, b: int) -> Link:
        """Return the direction a -> b, for changing."""
        link = self.links.get((a, b))
        if link is None:
            link = self.links[a, b] = Link()
            self._refresh()
        return link

    def tidy(self) -> None:
        """Drop links that are as all others again."""
        self.links = {key: link for key, link in self.links.items() if not link.is_plain()}
        self._refresh()

    def cut(self, a: int, b: int, both: bool = True) -> None:
        self.link(a, b).cut = True
        if both:
            self.link(b, a).cut = True
        self.break_connections(a, b)

    def heal(self, a: int, b: int) -> None:
        self.link(a, b).cut = self.link(b, a).cut = False
        self.tidy()

    def is_cut(self, a: int, b: int) -> bool:
        """Check whether at least one direction between the two is cut.  A request needs both."""
        for key in ((a, b), (b, a)):
            link = self.links.get(key)
            if link is not None and link.cut:
                return True
        return False

    def cut_zookeeper(self, broker: int) -> None:
        """8.5.  Stop the broker's session with ZooKeeper; the controller reaches it."""
        self.without_zookeeper.add(broker)
        for m in [m for m in self.under_way() if self._is_for_zookeeper(m)]:
            self.remove(m)
        for (requester, corr), request in list(self.open.items()):
            if self._is_for_zookeeper(request):
                self._tell_broken(requester, corr, 0)
        self._refresh()

    def heal_zookeeper(self, broker: int) -> None:
        self.without_zookeeper.discard(broker)
        self._refresh()

    def is_out_of_touch(self, broker: int) -> bool:
        """Check whether a broker's heartbeats do not arrive, or its session with ZooKeeper ends."""
        return self.is_cut(broker, CONTROLLER) or broker in self.without_zookeeper

    def _is_for_zookeeper(self, m: Message) -> bool:
        """Check whether a cut-off broker writes it to ZooKeeper; before 2.7 its ISR, too."""
        if m.src not in self.without_zookeeper:
            return False
        if isinstance(m, AlterPartitionRequest):
            return m.direct
        return m.kind in TO_ZOOKEEPER

    # -- hands ---------------------------------------------------------------------------------

    def waiting_on(self, src: int, dst: int, kind: int = 0) -> Message | None:
        """Return the oldest message (of a kind) from `src` to `dst`, the next for a hand."""
        requests = [
            m
            for m in self.under_way()
            if m.src == src and m.dst == dst and (not kind or m.kind == kind)
        ]
        return min(requests, key=lambda m: m.id) if requests else None

    def release(self, broker: int, metadata: bool) -> list[Message]:
        """Return messages held for (or from) a broker, in order, and hold none any more."""
        (self.held_metadata if metadata else self.held_alter).discard(broker)
        freed = [
            m
            for m in self.held
            if (metadata and m.dst == broker and m.kind in METADATA)
            or (not metadata and m.src == broker and m.kind == ALTER_PARTITION)
        ]
        for m in freed:
            self.held.remove(m)
            m.due = self.kernel.now
            self.kernel.schedule(0, DELIVERY, m.dst, m)
        self._refresh()
        return freed

    def hold(self, broker: int, metadata: bool) -> None:
        """Hold control messages for a broker, or its AlterPartition, from now on."""
        (self.held_metadata if metadata else self.held_alter).add(broker)
        self._refresh()

    def drive(self, by_hand: bool) -> None:
        """Deliver replication traffic by hand or by the clock.  Waiting messages are sent again."""
        self.by_hand = by_hand
        self._refresh()
        if not by_hand:
            waiting, self.hands = self.hands, []
            for m in waiting:
                self.send(m)

    def _refresh(self) -> None:
        self.plain = not (
            self.by_hand
            or self.links
            or self.held_metadata
            or self.held_alter
            or self.held_ways
            or self.without_zookeeper
            or self.orphans
        )

    # -- one message ---------------------------------------------------------------------------

    def hold_way(self, src: int, dst: int, kind: int) -> None:
        """Hold the messages from `src` to `dst`, now and from now on."""
        self.held_ways.add((src, dst, kind))
        for m in self.under_way():
            if m not in self.held and self._is_held_back(m):
                self.remove(m)
                self.held.append(m)
        self._refresh()

    def release_way(self, src: int, dst: int, kind: int) -> None:
        """Release held messages: at once, or into the hands that move replication traffic."""
        self.held_ways.discard((src, dst, kind))
        for m in sorted(self.held, key=lambda m: m.id):
            if (m.src, m.dst) != (src, dst) or self._is_held_back(m) or self._is_held(m):
                continue
            self.held.remove(m)
            if self.by_hand and src >= 0 and dst >= 0 and m.kind in REPLICATION:
                self.hands.append(m)
            else:
                self._put(m, self.kernel.now)
        self._refresh()

    def delay(self, m: Message, ms: int) -> None:
        """Delay a message; nothing on its connection overtakes it."""
        due = m.due + ms
        key = self._connection(m)
        behind = [
            event[4]
            for event in self.kernel.pending
            if event[1] == DELIVERY
            and self._connection(event[4]) == key
            and event[4].id >= m.id
            and event[0] < due
        ]
        for late in sorted(behind, key=lambda message: message.id):
            self.kernel.remove(late)
            self._put(late, due)
        self.last_due[key] = max(self.last_due.get(key, 0), due)

    def duplicate(self, m: Message) -> None:
        """Send a request again: the first copy arrives, its answer does not."""
        first, again = shallow(m), shallow(m)
        first.corr = -m.id
        self.kernel.seq = again.id = self.kernel.seq + 1
        again.sent = self.kernel.now
        if (m.src, m.corr) in self.open:
            self.open[m.src, m.corr] = again
        for waiting in (self.hands, self.held):
            if m in waiting:
                at = waiting.index(m)
                waiting[at : at + 1] = [first, again]
                break
        else:
            self.kernel.remove(m)
            self._put(first, m.due)
            self._put(again, m.due)
        self.orphans = True
        self._refresh()

    def _put(self, m: Message, due: int) -> None:
        """Put a copy on its way, due then: checkpoints of the run share the message."""
        late = shallow(m)
        late.due = due
        self.kernel.seq = seq = self.kernel.seq + 1
        heappush(self.kernel.pending, (due, DELIVERY, m.dst, seq, late))
