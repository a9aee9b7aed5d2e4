"""Key of one broker, independent of the other brokers."""

from __future__ import annotations

from hashlib import blake2b
from marshal import dumps
from typing import Any, Final

from engine.explore.key_exclusions import PLAIN, batch_key, frozen
from engine.model.broker import Broker, Machine, Process
from engine.model.copying import fields
from engine.model.group_messages import CoordinatorAppend
from engine.model.groups import Group, GroupEntry
from engine.model.last_fetch import IMPLIED
from engine.model.log import Log
from engine.model.messages import BROKEN, REPLIES, Message
from engine.model.state import (
    DelayedFetch,
    DelayedProduce,
    Disk,
    FetcherThread,
    PartitionFetchState,
    Peer,
    RemoteReplica,
    Replica,
)

DIGEST_BYTES: Final = 16
PLAIN_FORMAT: Final = 2
"""Version of `marshal`: in later ones the bytes also tell which parts are shared."""
_OF_MESSAGE: Final = IMPLIED | {
    *("broker_epoch", "corr", "dst", "due", "id", "replica_epoch", "request", "requests"),
    *("sent", "src"),
}


class Contents:
    """Cached contents of messages in one search: they never change."""

    def __init__(self) -> None:
        self._messages: dict[int, tuple[Message, Any]] = {}

    def of(self, m: Message) -> Any:
        """Return the contents of a message beside its numbers."""
        entry = self._messages.get(id(m))
        if entry is None:
            names = [name for name in fields(type(m)) if name not in _OF_MESSAGE]
            said = tuple([frozen(getattr(m, name)) for name in names])
            entry = self._messages[id(m)] = m, (m.kind, said)
        return entry[1]


def digest(part: tuple[Any, ...]) -> bytes:
    """Return 16 bytes for tuples of plain things; the same in every process."""
    return blake2b(dumps(part, PLAIN_FORMAT), digest_size=DIGEST_BYTES).digest()


class RelativeNumbers:
    """The numbers in a part that count only in relation to others, each kind in a fixed order.

    `requests` (node, number of its request), `generations` (broker, its epoch), `offsets` of the
    metadata log, `clocks` (when a follower was caught up last, when it fetched, how many ms are
    too many).
    """

    __slots__ = ("_contents", "clocks", "generations", "offsets", "requests")

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self.requests: list[tuple[int, int]] = []
        self.generations: list[tuple[int, int]] = []
        self.offsets: list[int] = []
        self.clocks: list[tuple[int, int, int]] = []

    def number(self, node: int, corr: int) -> bool:
        """Append a number of a request, the same wherever it stands.  0: none."""
        if corr:
            self.requests.append((node, corr))
        return corr != 0

    def generation(self, broker: int, epoch: int) -> bool:
        """Append a broker's epoch; only equal, older and newer matter.  -1: unknown."""
        if epoch >= 0:
            self.generations.append((broker, epoch))
        return epoch >= 0

    def message(self, m: Message) -> Any:
        """Return a message; answers carry the number of their request."""
        asker = m.dst if m.kind in REPLIES or m.kind == BROKEN else m.src
        generation: int = getattr(m, "broker_epoch", getattr(m, "replica_epoch", -1))
        owner = m.src if m.src >= 0 else m.dst
        return (
            m.src,
            m.dst,
            self._contents.of(m),
            self.number(asker, m.corr),
            self.generation(owner, generation),
        )


class Face:
    """A broker as a key sees it."""

    __slots__ = ("digest", "said")

    def __init__(self, broker: Broker, contents: Contents) -> None:
        self.said = RelativeNumbers(contents)
        self.digest = digest(self._broker(broker))

    def __reduce__(self) -> tuple[type, tuple[()]]:
        """Return None for another process: what is cached here refers to the whole search."""
        return type(None), ()

    def _broker(self, broker: Broker) -> Any:
        me, machine = broker.id, broker.machine
        return (
            PLAIN[Machine](machine),
            self.said.generation(me, machine.clean_epoch),
            tuple([(tp, _disk(disk)) for tp, disk in machine.disks.items()]),
            broker.process and self._process(broker.process),
        )

    def _process(self, process: Process) -> Any:
        me, said = process.id, self.said
        said.offsets.append(process.metadata_offset)
        return (
            PLAIN[Process](process),
            said.number(me, process.alter_corr),
            said.number(me, process.assign_corr),
            said.number(me, process.metadata_corr),
            said.number(me, process.registered_corr),
            said.number(me, process.dir_report),
            said.generation(me, process.broker_epoch),
            tuple([self._replica(process, replica) for replica in process.replicas.values()]),
            tuple(
                [
                    (key, self._fetcher(me, fetcher))
                    for key, fetcher in sorted(process.fetchers.items())
                ]
            ),
            tuple(
                [
                    (peer, PLAIN[Peer](heard), said.generation(peer, heard.broker_epoch))
                    for peer, heard in sorted(process.peers.items())
                ]
            ),
            tuple([(tp, record.key()) for tp, record in sorted(process.image.items())]),
            tuple([(tp, self._proposal(item)) for tp, item in sorted(process.alter_queue.items())]),
            tuple([(tp, self._group(group)) for tp, group in sorted(process.groups.items())]),
        )

    def _group(self, group: Group) -> Any:
        """Return what a coordinator knows of a group; members in the order in which they came."""
        return (
            PLAIN[Group](group),
            tuple(
                [
                    (
                        member,
                        PLAIN[GroupEntry](entry),
                        entry.joining and self.said.message(entry.joining),
                    )
                    for member, entry in group.members.items()
                ]
            ),
        )

    def _proposal(self, item: Any) -> Any:
        """Return an AlterPartition that waits to be sent; members come with their generation."""
        members = tuple(
            [(member, self.said.generation(member, epoch)) for member, epoch in item.isr]
        )
        return item.leader_epoch, item.partition_epoch, item.recovering, item.tp, members

    def _replica(self, process: Process, replica: Replica) -> Any:
        said, tp, lag_ms = self.said, replica.tp, replica.configs.lag_time_max_ms
        parked = [fetch for fetch in process.parked if tp in fetch.tps]
        followers = []
        for follower, remote in sorted(replica.remote.items()):
            generation = said.generation(follower, remote.broker_epoch)
            followers.append((follower, PLAIN[RemoteReplica](remote), generation))
            said.clocks.append((remote.last_caught_up_ms, remote.last_fetch_ms, lag_ms))
        return (
            tp,
            PLAIN[Replica](replica),
            tuple(followers),
            tuple([(PLAIN[DelayedFetch](fetch), said.message(fetch.request)) for fetch in parked]),
            tuple(
                [
                    (PLAIN[DelayedProduce](produce), *map(said.message, _requests(produce.request)))
                    for produce in replica.waiting
                ]
            ),
        )

    def _fetcher(self, me: int, thread: FetcherThread) -> Any:
        partitions = [  # in order: limits reach the first
            (
                tp,
                PLAIN[PartitionFetchState](state),
                self.said.number(me, state.stale[0]),
                state.stale[1],
            )
            for tp, state in thread.partitions.items()
        ]
        return (
            PLAIN[FetcherThread](thread),
            self.said.number(me, thread.outstanding),
            tuple(partitions),
        )


def _requests(m: Message) -> tuple[Message, ...]:
    """Return a request, and those that a coordinator answers with it."""
    return (m, *m.requests) if isinstance(m, CoordinatorAppend) else (m,)


def _disk(disk: Disk) -> Any:
    log = disk.log
    return (
        PLAIN[Disk](disk),
        PLAIN[Log](log),
        tuple([batch_key(batch) for batch in log.batches]),
        tuple(log.epochs.epochs),
        tuple(log.epochs.starts),
        tuple(
            [
                (producer, entry.epoch, tuple(entry.batches))
                for producer, entry in sorted(log.producers.entries.items())
            ]
        ),
    )
