"""When are two states the same?  When nothing that can still happen tells them apart.

A key is made of everything but what `LEFT_OUT` lists, each with its reason.  Numbers that only
have to match (of requests), or to be newer (of brokers' generations), count by their relation to
the others that are still known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from hashlib import blake2b
from operator import attrgetter
from typing import Any, Final

from engine.checks.invariants import Checker
from engine.checks.ledger import Ledger
from engine.model.broker import Broker, Machine, Process
from engine.model.controller import Controller, Registration
from engine.model.copying import fields
from engine.model.log import Batch, Log
from engine.model.messages import BROKEN, REPLIES, Message
from engine.model.records import PartitionRecord
from engine.model.state import (
    NEVER,
    DelayedFetch,
    DelayedProduce,
    Disk,
    FetcherThread,
    PartitionFetchState,
    Peer,
    RemoteReplica,
    Replica,
)
from engine.model.timers import PURGATORY
from engine.sim.clients import Producer, Sent
from engine.sim.consumers import Consumer
from engine.sim.idempotent import IdempotentProducer
from engine.sim.kernel import DELIVERY, TIMER
from engine.sim.network import Link, Network
from engine.sim.simulation import Simulation

Key = bytes
DIGEST_BYTES: Final = 16

TIME: Final = "a time: what must pass is a choice of its own"
COUNT: Final = "a count that nothing asks for"
FIXED: Final = "the same in every state of a search"
ELSEWHERE: Final = "said elsewhere in the key"

LEFT_OUT: Final[dict[type, dict[str, str]]] = {
    Machine: {
        **dict.fromkeys(("auto_fetch", "configs", "dirs", "disk_rate", "futures", "id"), FIXED),
        **dict.fromkeys(("name", "profile", "rack", "racks", "topic_configs", "topics"), FIXED),
        "set_while_down": "only fetch sessions ask for it",
        **dict.fromkeys(("corr", "incarnation"), COUNT),
    },
    Process: {
        **dict.fromkeys(("configs", "copying", "dir_quota", "id", "num_fetchers"), FIXED),
        **dict.fromkeys(("preferred_dirs", "profile", "quotas", "sessions"), FIXED),
        **dict.fromkeys(("heartbeat_due", "disk_free_us", "purgatory_wake"), TIME),
        **dict.fromkeys(("isr_changed_at", "isr_told_at", "dir_due", "register_attempt"), TIME),
        **dict.fromkeys(("incarnation", "shutdown_attempt"), COUNT),
        "machine": ELSEWHERE,
        "retention_armed": FIXED,
    },
    Replica: {
        **dict.fromkeys(("broker", "configs", "profile", "tp"), FIXED),
        **dict.fromkeys(("disk", "log"), ELSEWHERE),
    },
    Disk: {"dir": FIXED},
    Log: {
        "bases": ELSEWHERE,
        **dict.fromkeys(("clamps_hw", "cleans_on_noop", "segment_records"), FIXED),
        "cuts": COUNT,
    },
    RemoteReplica: {},
    FetcherThread: {"waking": TIME, "session": FIXED},
    PartitionFetchState: {"delay_until": TIME, "lag": "only quotas ask for it"},
    Peer: {},
    DelayedFetch: {"deadline": TIME},
    DelayedProduce: {"deadline": TIME},
    Controller: {
        **dict.fromkeys(("configs", "profile", "topics", "next_partition"), FIXED),
        "check_at": TIME,
        **dict.fromkeys(("next_broker_epoch", "unclean_elections"), COUNT),
    },
    Registration: {
        "last_contact": TIME,
        "rack": FIXED,
        "incarnation": COUNT,
    },
    Network: {
        **dict.fromkeys(("by_hand", "chance", "control_delay", "data_delay", "kernel"), FIXED),
        **dict.fromkeys(("md_delay", "settings"), FIXED),
        "last_due": TIME,
        "lost": COUNT,
        "plain": ELSEWHERE,
        "running": ELSEWHERE,
    },
    Link: {},
    Producer: {
        **dict.fromkeys(("acks", "backoff_ms", "brokers", "chance", "delivery_ms", "id"), FIXED),
        **dict.fromkeys(("interval", "pace", "partition", "partitions", "retries"), FIXED),
        **dict.fromkeys(("stop_at", "ticking", "timeout"), FIXED),
        **dict.fromkeys(("acked", "corr", "made", "sent"), COUNT),
    },
    Sent: {"created": TIME},
    Consumer: {
        **dict.fromkeys(("backoff_ms", "brokers", "id", "max_age_ms", "rack", "reset"), FIXED),
        **dict.fromkeys(("sessions", "validates", "wait_ms"), FIXED),
        "preferred_until": TIME,
        **dict.fromkeys(("corr", "read"), COUNT),
    },
    Ledger: {
        **dict.fromkeys(("isr_expands", "isr_shrinks", "sent", "truncated"), COUNT),
        **dict.fromkeys(("committed_lost", "elections_clean", "elections_unclean"), COUNT),
        **dict.fromkeys(("leaderless", "unwritable"), TIME),
    },
    Checker: {
        **dict.fromkeys(("cluster", "lags", "step"), FIXED),
        **dict.fromkeys(("ledger", "records"), ELSEWHERE),
        "broken": "told: which are broken, not when",
        "counts": COUNT,
        "decisions": COUNT,
    },
}
"""Fields of each class that are no part of a key, with the reason."""
LEFT_OUT[IdempotentProducer] = LEFT_OUT[Producer]

SPOKEN_FOR: Final[dict[type, tuple[str, ...]]] = {
    Machine: ("clean_epoch", "disks"),
    Process: (
        *("alter_corr", "assign_corr", "metadata_corr", "registered_corr", "dir_report"),
        *("broker_epoch", "fetchers", "image", "metadata_offset"),
        *("peers", "replicas", "alter_queue"),
    ),
    Replica: ("parked", "remote", "waiting"),
    Disk: ("log",),
    Log: ("batches", "epochs", "producers"),
    RemoteReplica: ("broker_epoch", "last_caught_up_ms", "last_fetch_ms"),
    FetcherThread: ("outstanding", "partitions"),
    PartitionFetchState: (),
    Peer: ("broker_epoch",),
    DelayedFetch: ("request",),
    DelayedProduce: ("request",),
    Controller: ("answers", "brokers", "committed", "deletions", "log", "readers", "records"),
    Registration: ("epoch", "metadata_offset", "registered_at", "shutdown_at"),
    Network: ("hands", "held", "links", "open"),
    Link: (),
    Producer: ("outstanding", "queue", "unsent"),
    Sent: (),
    Consumer: ("outstanding",),
    Ledger: ("acked", "committed", "read_last", "seen"),
    Checker: ("seen",),
}
"""Fields that a function below turns into something comparable."""
SPOKEN_FOR[IdempotentProducer] = SPOKEN_FOR[Producer]


_ATOMS: Final = frozenset((int, str, bool, float, type(None)))


def _frozen(value: Any) -> Any:
    """A value whose parts may be lists, sets and dictionaries of plain things."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is tuple or kind is list:
        return tuple([part if type(part) in _ATOMS else _frozen(part) for part in value])
    if isinstance(value, dict):
        return tuple([(key, _frozen(part)) for key, part in sorted(value.items())])
    if isinstance(value, (set, frozenset)):
        return tuple(sorted(value))
    if kind is Batch:
        return _batch(value)
    if kind is PartitionRecord:
        return value.key()
    return kind.__name__, tuple([(name, _frozen(getattr(value, name))) for name in fields(kind)])


def _plain(kind: type) -> Callable[[Any], tuple[Any, ...]]:
    """The fields that stand for themselves."""
    names = sorted(set(fields(kind)) - set(LEFT_OUT[kind]) - set(SPOKEN_FOR[kind]))
    if not names:
        return lambda one: ()
    if len(names) == 1:
        get = attrgetter(names[0])
        return lambda one: (_frozen(get(one)),)
    many = attrgetter(*names)
    return lambda one: _frozen(many(one))


_PLAIN: Final = {kind: _plain(kind) for kind in LEFT_OUT}
_OF_MESSAGE: Final = frozenset(("corr", "dst", "due", "id", "sent", "src"))
_GENERATIONS: Final = frozenset(("broker_epoch", "replica_epoch"))


def _batch(batch: Batch) -> tuple[Any, ...]:
    return batch.base, batch.epoch, batch.values, batch.producer, batch.sequence


def _by_base(known: dict[int, Batch]) -> list[Any]:
    return [(base, _batch(batch)) for base, batch in sorted(known.items())]


class Keys:
    """Makes keys of the states of one search; what a message says is looked at once."""

    def __init__(self) -> None:
        self._contents: dict[int, tuple[Message, Any]] = {}

    def of(self, sim: Simulation, *more: object) -> Key:
        """The key of a state, and of what else tells states apart."""
        return _Writer(sim, self).key(more)

    def content(self, m: Message) -> Any:
        """What a message says beside its numbers; it never changes."""
        known = self._contents.get(id(m))
        if known is None:
            names = [name for name in fields(type(m)) if name not in _OF_MESSAGE | _GENERATIONS]
            said = tuple([_frozen(getattr(m, name)) for name in names])
            known = self._contents[id(m)] = m, (m.kind, said)
        return known[1]


class _Writer:
    """One key in the making.

    `requests` and `generations` gather, in a fixed order, what counts only in relation to others:
    (node, number of its request), (broker, its epoch).
    """

    def __init__(self, sim: Simulation, keys: Keys) -> None:
        self.sim = sim
        self.keys = keys
        self.requests: list[tuple[int, int]] = []
        self.generations: list[tuple[int, int]] = []

    def key(self, more: tuple[object, ...]) -> Key:
        sim = self.sim
        parts = (
            [self._broker(broker) for broker in sim.brokers.values()],
            self._controller(sim.cluster.controller),
            sim.cluster.zombie and self._controller(sim.cluster.zombie),
            self._network(sim.network),
            self._pending(),
            [self._client(client) for client in sim.clients.values()],
            self._ledger(sim.ledger),
            self._checker(sim.checker),
        )
        text = repr((parts, self._ranks(), more))
        return blake2b(text.encode(), digest_size=DIGEST_BYTES).digest()

    def _ranks(self) -> list[int]:
        """The gathered numbers: of requests by when they first appear here, as they only have to
        match; of generations by which is newer."""
        matched: dict[tuple[int, int], int] = {}
        ranks = [matched.setdefault(one, len(matched)) for one in self.requests]
        known: defaultdict[int, set[int]] = defaultdict(set)
        for broker, epoch in self.generations:
            known[broker].add(epoch)
        newer = {broker: sorted(epochs) for broker, epochs in known.items()}
        return ranks + [newer[broker].index(epoch) for broker, epoch in self.generations]

    def _number(self, node: int, corr: int) -> bool:
        """A number of a request; the same request is meant wherever it stands.  0: none."""
        if corr:
            self.requests.append((node, corr))
        return corr != 0

    def _generation(self, broker: int, epoch: int) -> bool:
        """A broker's epoch; only equal, older and newer matter.  -1: unknown."""
        if epoch >= 0:
            self.generations.append((broker, epoch))
        return epoch >= 0

    # -- brokers ----------------------------------------------------------------------------------

    def _broker(self, broker: Broker) -> Any:
        me, machine = broker.id, broker.machine
        return (
            _PLAIN[Machine](machine),
            self._generation(me, machine.clean_epoch),
            [(tp, self._disk(disk)) for tp, disk in machine.disks.items()],
            broker.process and self._process(broker.process),
        )

    def _process(self, process: Process) -> Any:
        me = process.id
        return (
            _PLAIN[Process](process),
            [
                self._number(me, corr)
                for corr in (
                    process.alter_corr,
                    process.assign_corr,
                    process.metadata_corr,
                    process.registered_corr,
                    process.dir_report,
                )
            ],
            self._generation(me, process.broker_epoch),
            self._behind(process.metadata_offset),
            [(tp, self._replica(replica)) for tp, replica in process.replicas.items()],
            [(key, self._fetcher(me, thread)) for key, thread in sorted(process.fetchers.items())],
            [
                (peer, _PLAIN[Peer](known), self._generation(peer, known.broker_epoch))
                for peer, known in sorted(process.peers.items())
            ],
            [(tp, record.key()) for tp, record in sorted(process.image.items())],
            [(tp, self._proposal(item)) for tp, item in sorted(process.alter_queue.items())],
        )

    def _proposal(self, item: Any) -> Any:
        """An AlterPartition that waits to be sent; members come with their generation."""
        members = [(member, self._generation(member, epoch)) for member, epoch in item.isr]
        return item.leader_epoch, item.partition_epoch, item.recovering, item.tp, members

    def _behind(self, offset: int) -> int:
        """How far a broker's metadata is behind the log; -1 before it has any."""
        return len(self.sim.cluster.controller.log) - offset if offset > 0 else -1

    def _disk(self, disk: Disk) -> Any:
        log = disk.log
        return (
            _PLAIN[Disk](disk),
            _PLAIN[Log](log),
            [_batch(batch) for batch in log.batches],
            log.epochs.entries(),
            [
                (producer, entry.epoch, entry.batches)
                for producer, entry in sorted(log.producers.entries.items())
            ],
        )

    def _replica(self, replica: Replica) -> Any:
        now, lag_ms = self.sim.now, replica.configs.lag_time_max_ms
        return (
            _PLAIN[Replica](replica),
            [
                (
                    follower,
                    _PLAIN[RemoteReplica](remote),
                    self._generation(follower, remote.broker_epoch),
                    now - remote.last_caught_up_ms <= lag_ms,
                    remote.last_fetch_ms != NEVER and now - remote.last_fetch_ms <= lag_ms,
                )
                for follower, remote in sorted(replica.remote.items())
            ],
            [(_PLAIN[DelayedFetch](one), self._message(one.request)) for one in replica.parked],
            [(_PLAIN[DelayedProduce](one), self._message(one.request)) for one in replica.waiting],
        )

    def _fetcher(self, me: int, thread: FetcherThread) -> Any:
        return (
            _PLAIN[FetcherThread](thread),
            self._number(me, thread.outstanding),
            [
                (tp, _PLAIN[PartitionFetchState](state))
                for tp, state in thread.partitions.items()  # in order: limits reach the first
            ],
        )

    # -- the controller ---------------------------------------------------------------------------

    def _controller(self, k: Controller) -> Any:
        end = len(k.log)
        known = (b.process.metadata_offset for b in self.sim.brokers.values() if b.process)
        least = min((offset for offset in known if offset > 0), default=end)
        return (
            _PLAIN[Controller](k),
            [(broker, self._registration(broker, one)) for broker, one in k.brokers.items()],
            [(tp, record.key()) for tp, record in sorted(k.records.items())],
            end - k.committed,
            _frozen(k.log[least:]),
            [
                (broker, self._behind(offset), self._number(broker, corr))
                for broker, (offset, corr) in sorted(k.readers.items())
            ],
            [(end - offset, self._message(answer)) for offset, answer in k.answers],
            _frozen(k.deletions),
        )

    def _registration(self, broker: int, one: Registration) -> Any:
        return (
            _PLAIN[Registration](one),
            self._generation(broker, one.epoch),
            one.metadata_offset >= one.registered_at,
            one.shutdown_at >= 0,
            one.metadata_offset >= one.shutdown_at,
        )

    # -- the wire ---------------------------------------------------------------------------------

    def _message(self, m: Message) -> Any:
        """Answers carry the number of whoever asked."""
        asker = m.dst if m.kind in REPLIES or m.kind == BROKEN else m.src
        generation: int = getattr(m, "broker_epoch", getattr(m, "replica_epoch", -1))
        owner = m.src if m.src >= 0 else m.dst
        return (
            m.src,
            m.dst,
            self.keys.content(m),
            self._number(asker, m.corr),
            self._generation(owner, generation),
        )

    def _network(self, network: Network) -> Any:
        return (
            _PLAIN[Network](network),
            [self._message(m) for m in network.hands],
            [self._message(m) for m in network.held],
            [(way, _PLAIN[Link](link)) for way, link in sorted(network.links.items())],
            [
                (node, self._number(node, corr), m.dst, m.kind)
                for (node, corr), m in sorted(network.open.items(), key=lambda one: one[0])
            ],
        )

    def _pending(self) -> Any:
        """What the queue holds: messages in order, and which timers are set."""
        sim = self.sim
        sent, timers = [], []
        for _, kind, node, _, payload in sorted(sim.kernel.pending, key=lambda event: event[:4]):
            if kind == DELIVERY:
                sent.append(self._message(payload))
            elif kind == TIMER:
                broker = sim.brokers.get(node)
                alive = broker is None or broker.machine.incarnation == payload[2]
                if alive and payload[0] != PURGATORY:  # what waits there is said of the leader
                    timers.append((node, payload[0]))
            else:
                timers.append((node, -1))
        deferred = [
            (node, [self._message(event[4]) for event in events if event[1] == DELIVERY])
            for node, events in sorted(sim.deferred.items())
        ]
        return sent, sorted(set(timers)), deferred

    # -- clients, and who watches -----------------------------------------------------------------

    def _client(self, client: Producer | Consumer) -> Any:
        if isinstance(client, Consumer):
            return _PLAIN[Consumer](client), self._number(client.id, client.outstanding)
        outstanding = sorted(client.outstanding.items(), key=lambda one: one[0])
        return (
            _PLAIN[type(client)](client),
            [(self._number(client.id, corr), _PLAIN[Sent](sent)) for corr, sent in outstanding],
            [_PLAIN[Sent](sent) for sent in client.queue],
            client.unsent and _PLAIN[Sent](client.unsent),
        )

    def _ledger(self, ledger: Ledger) -> Any:
        return (
            _PLAIN[Ledger](ledger),
            [sorted((one.base, one.values, one.acks) for one in acked) for acked in ledger.acked],
            [
                [(base, _batch(b)) for base, b in sorted(known.items())]
                for known in ledger.committed
            ],
            [[(base, _batch(b)) for base, b in sorted(seen.items())] for seen in ledger.seen],
            [(who, tp, _batch(b)) for who, (tp, b) in sorted(ledger.read_last.items())],
        )

    def _checker(self, checker: Checker) -> Any:
        return (
            _PLAIN[Checker](checker),
            [
                (node, tp, seen.leo, seen.hw, seen.role, seen.epoch, seen.agreed)
                for node, here in sorted(checker.seen.items())
                for tp, seen in sorted(here.items())
            ],
        )
