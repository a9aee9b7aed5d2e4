"""State of replicas and fetchers: on disk, which survives a crash, and in memory (Replica)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, Literal

from engine.model.configs import Configs
from engine.model.copying import Twins, shallow
from engine.model.declared import begins, declared, fresh, unset
from engine.model.last_fetch import LastFetch, SentFetch
from engine.model.log import Log
from engine.model.messages import FetchRequest, ProduceRequest
from engine.model.profiles import Profile
from engine.model.remote_log import Rebuild
from engine.model.session_client import SessionClient
from engine.model.session_messages import SessionRead

NEVER: Final = -(1 << 60)
"""Minus infinity for Kafka's time 0, 'never': a clock that starts at 0 needs it."""

MAX_FETCH_WAIT_MS: Final = 500
"""Longest wait of a fetch of the metadata log (`KafkaRaftClient.MAX_FETCH_WAIT_MS`)."""

NONE: Final = 0
FOLLOWER: Final = 1
LEADER: Final = 2
ROLE_NAMES: Final[dict[int, Literal["none", "follower", "leader"]]] = {
    NONE: "none",
    FOLLOWER: "follower",
    LEADER: "leader",
}

COMMITTED: Final = 0
EXPAND: Final = 1
SHRINK: Final = 2

TRUNCATING: Final = 0
FETCHING: Final = 1

UP: Final = "up"
DOWN: Final = "down"
PAUSED: Final = "paused"
STARTING: Final = "starting"


@declared
class Disk:
    """Directory of one replica, with its lines in the checkpoint files (H-7); survives a crash.

    `dir` is the number of its log directory, 1 if the broker has only one.
    """

    log: Log
    dir: int = 1
    hw_checkpoint: int = begins(0)
    recovery_checkpoint: int = begins(0)
    log_start_checkpoint: int = begins(0)

    def twin(self, twins: Twins) -> Disk:
        twin = shallow(self)
        twin.log = self.log.copy()
        return twin


@declared
class RemoteReplica:
    """Leader's view of one follower (0.3; the clock is CP-ISR-CLOCK).

    If `last_fetch` is set, the partition is settled: each fetch of the follower updates its times.
    `caught_up_ms` and `fetched_ms` then have the times from before it was settled.
    """

    leo: int = begins(-1)
    last_sent_hw: int = begins(0)  # only where it is sent at once (H-5)
    log_start: int = begins(-1)
    last_fetch_leader_leo: int = begins(0)
    fetched_ms: int = begins(NEVER)
    caught_up_ms: int = begins(NEVER)
    last_fetch: LastFetch | None = begins(None)
    broker_epoch: int = begins(-1)

    @property
    def last_fetch_ms(self) -> int:
        """Time of the follower's last fetch of the partition."""
        return self.fetched_ms if self.last_fetch is None else self.last_fetch.fetched_ms

    @last_fetch_ms.setter
    def last_fetch_ms(self, ms: int) -> None:
        self.unsettle()
        self.fetched_ms = ms

    @property
    def last_caught_up_ms(self) -> int:
        """Time at which the follower was last known to have all of the leader's log."""
        if self.last_fetch is None:
            return self.caught_up_ms
        return max(self.caught_up_ms, self.last_fetch.fetched_ms)

    @last_caught_up_ms.setter
    def last_caught_up_ms(self, ms: int) -> None:
        self.unsettle()
        self.caught_up_ms = ms

    def unsettle(self) -> None:
        """Copy the times of the follower's last fetch; its later fetches no longer update them."""
        if self.last_fetch is not None:
            self.caught_up_ms = self.last_caught_up_ms
            self.fetched_ms = self.last_fetch.fetched_ms
            self.last_fetch = None

    def copy(self) -> RemoteReplica:
        twin = shallow(self)
        twin.caught_up_ms = self.last_caught_up_ms
        twin.fetched_ms = self.last_fetch_ms
        twin.last_fetch = None
        return twin


@declared
class DelayedFetch:
    """S-6.  A fetch request in the purgatory of the leader, watching the partitions `tps`.

    `last` is the leader's record of the follower's fetch, if it has one.
    """

    request: FetchRequest
    deadline: int
    last: LastFetch | None = None
    segments: tuple[int, ...] = begins(())
    tps: Collection[int] = unset()

    def __post_init__(self) -> None:
        m, last = self.request, self.last
        self.tps = tuple([fp.tp for fp in m.partitions]) if last is None else last.parts

    def twin(self, twins: Twins) -> DelayedFetch:
        twin = shallow(self)
        twin.last = None
        twin.tps = self.tps if self.last is None else tuple(self.tps)
        if isinstance(self.request, SessionRead):
            twin.request = twins.of(self.request)
        return twin


@declared
class DelayedProduce:
    """P-4.  An acks=all produce that waits until the HW reaches `required`; immutable."""

    request: ProduceRequest
    base: int
    required: int
    deadline: int


@declared
class Replica:
    """State of one partition in the memory of one broker process."""

    tp: int
    broker: int
    disk: Disk
    profile: Profile
    configs: Configs
    log: Log = unset()
    role: int = begins(NONE)
    opened: int = begins(0)  # how many replicas its process had opened then
    leader: int = begins(-1)
    leader_epoch: int = begins(-1)
    partition_epoch: int = begins(-1)
    assignment: tuple[int, ...] = begins(())
    adding: tuple[int, ...] = begins(())
    removing: tuple[int, ...] = begins(())
    # (follower, LEO, log start) of the last term as a leader, where they are used (KAFKA-13778)
    former: tuple[tuple[int, int, int], ...] = begins(())
    # Leader only.
    epoch_start: int = begins(-1)
    isr: tuple[int, ...] = begins(())
    maximal_isr: tuple[int, ...] = begins(())
    pending: int = begins(COMMITTED)
    pending_isr: tuple[int, ...] = begins(())
    remote: dict[int, RemoteReplica] = fresh(dict)
    waiting: list[DelayedProduce] = fresh(list)

    def __post_init__(self) -> None:
        self.log = self.disk.log

    def twin(self, twins: Twins) -> Replica:
        twin = shallow(self)
        twin.disk = twins.of(self.disk)
        twin.log = twin.disk.log
        twin.remote = {follower: remote.copy() for follower, remote in self.remote.items()}
        twin.waiting = self.waiting.copy()
        return twin

    def unsettle(self) -> None:
        """Make the next fetch of each follower visit the partition, as its log has changed."""
        for remote in self.remote.values():
            if remote.last_fetch is not None:
                remote.last_fetch.unsettled.add(self.tp)
                remote.unsettle()

    def min_isr(self) -> int:
        """CP-MINISR.  Return the effective min.insync.replicas as this leader applies it."""
        least = self.configs.min_insync_replicas
        if self.profile.cap_min_isr_to_rf and self.assignment:
            return min(least, len(self.assignment))
        return least


@declared
class PartitionFetchState:
    """0.4.  State of one partition in a fetcher thread."""

    tp: int
    offset: int
    leader_epoch: int
    state: int
    last_epoch: int
    lag: int | None = begins(None)
    topic_id: str | None = begins(None)  # 2.8 and later, once metadata has it
    delay_until: int = begins(NEVER)
    # What was asked last: the fetch in flight's offset, -1 = it is in none; and the epoch.
    asked: int = begins(-1)
    asked_epoch: int = begins(-1)
    # The fetch that was out when this epoch began: its number and offset (KAFKA-18991).
    stale: tuple[int, int] = begins((0, -1))

    def copy(self) -> PartitionFetchState:
        return shallow(self)


@declared
class DirectoryMove:
    """D-1.  Move of a log to another directory of its broker.

    It has the future log, which survives a crash as `Disk` does, the progress of its fetcher, and
    the last request to the controller with its response (D-5).
    """

    disk: Disk
    fetch: PartitionFetchState
    asked: bool = begins(False)
    accepted: bool = begins(False)
    fenced: bool = begins(False)  # D-2: its thread has let go of it (2.1 - 2.4)

    def twin(self, twins: Twins) -> DirectoryMove:
        twin = shallow(self)
        twin.disk = twins.of(self.disk)
        twin.fetch = self.fetch.copy()
        return twin


@declared
class FetcherThread:
    """0.4.  Replica fetcher thread of (leader, fetcher id), with at most one request in flight."""

    leader: int
    fetcher: int
    partitions: dict[int, PartitionFetchState] = fresh(dict)
    dead: bool = begins(False)  # F-8: an unexpected error has ended it (before 2.3)
    outstanding: int = begins(0)  # corr of the request in flight, 0 = none
    requested: frozenset[int] = begins(frozenset())  # of an OffsetForLeaderEpoch in flight
    lookups: list[int] = fresh(list)  # F-9: partitions whose offsets are to be looked up
    rebuilds: dict[int, Rebuild] = fresh(dict)  # of partitions in `lookups`
    session: SessionClient | None = begins(None)  # KIP-227; None: every fetch is a full one
    sent: SentFetch | None = begins(None)  # None: the next fetch visits every partition
    waking: int = begins(NEVER)  # when the back-off timer is set for

    def is_idle(self) -> bool:
        """Return True if the thread could send a request now."""
        return not self.outstanding and not self.dead

    def to_visit(self) -> Iterable[PartitionFetchState]:
        """Return the states of the partitions that are not settled."""
        if self.sent is None:
            return self.partitions.values()
        return [self.partitions[tp] for tp in self.sent.unsettled if tp in self.partitions]

    def forget_sent(self) -> None:
        """Visit every partition at the next fetch; store the requested offsets of settled ones."""
        sent = self.sent
        if sent is None:
            return
        self.sent = None
        for tp, state in self.partitions.items():
            if tp not in sent.unsettled:
                state.asked = state.offset if self.outstanding else -1

    def copy(self) -> FetcherThread:
        twin = shallow(self)
        twin.partitions = {tp: state.copy() for tp, state in self.partitions.items()}
        twin.forget_sent()
        twin.lookups = self.lookups.copy()
        twin.rebuilds = {tp: rebuild.copy() for tp, rebuild in self.rebuilds.items()}
        if self.session is not None:
            twin.session = self.session.copy()
        return twin


@declared
class Peer:
    """Broker's view of another broker."""

    broker_epoch: int
    fenced: bool = False
    shutting_down: bool = False
    alive: bool = begins(True)

    def copy(self) -> Peer:
        return shallow(self)
