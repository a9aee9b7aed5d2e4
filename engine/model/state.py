"""Brokers and replicas as plain state: what survives a crash (Disk) and what does not (Replica)."""

from __future__ import annotations

from typing import Any, Final

from engine.model.configs import Configs
from engine.model.copying import Twins, shallow
from engine.model.log import Log
from engine.model.messages import FetchRequest, ProduceRequest, SessionRead
from engine.model.profiles import Profile
from engine.model.quotas import Quotas, ReplicationQuota, settled
from engine.model.session_client import SessionClient
from engine.model.sessions import SessionCache

NEVER: Final = -(1 << 60)
"""Where Kafka writes the time 0 for 'never': a clock that starts at 0 needs minus infinity."""

SESSION_IDS: Final = 1_000
"""Each incarnation of a broker counts its fetch sessions from another thousand."""

NONE: Final = 0
FOLLOWER: Final = 1
LEADER: Final = 2
ROLE_NAMES: Final = {NONE: "none", FOLLOWER: "follower", LEADER: "leader"}

COMMITTED: Final = 0
EXPAND: Final = 1
SHRINK: Final = 2

TRUNCATING: Final = 0
FETCHING: Final = 1

UP: Final = "up"
DOWN: Final = "down"
PAUSED: Final = "paused"
STARTING: Final = "starting"


class Disk:
    """One replica's directory and its lines in the checkpoint files (H-7); survives a crash.

    `dir` is the log directory it lies in: 1 unless the broker has several.
    """

    __slots__ = ("dir", "hw_checkpoint", "log", "log_start_checkpoint", "recovery_checkpoint")

    def __init__(self, log: Log, dir: int = 1) -> None:
        self.log = log
        self.dir = dir
        self.hw_checkpoint = 0
        self.recovery_checkpoint = 0
        self.log_start_checkpoint = 0

    def twin(self, twins: Twins) -> Disk:
        twin = shallow(self)
        twin.log = self.log.copy()
        return twin


class RemoteReplica:
    """What a leader remembers of one follower (0.3; the clock is CP-ISR-CLOCK)."""

    __slots__ = (
        "broker_epoch",
        "last_caught_up_ms",
        "last_fetch_leader_leo",
        "last_fetch_ms",
        "last_sent_hw",
        "leo",
        "log_start",
    )

    def __init__(self) -> None:
        self.leo = -1
        self.last_sent_hw = 0  # only where it is sent at once (H-5)
        self.log_start = -1
        self.last_fetch_leader_leo = 0
        self.last_fetch_ms = NEVER
        self.last_caught_up_ms = NEVER
        self.broker_epoch = -1


class DelayedFetch:
    """S-6.  A Fetch that waits in the purgatory of its leader."""

    __slots__ = ("deadline", "done", "request", "segments")

    def __init__(self, request: FetchRequest, deadline: int) -> None:
        self.request = request
        self.deadline = deadline
        self.segments: tuple[int, ...] = ()
        self.done = False

    def twin(self, twins: Twins) -> DelayedFetch:
        twin = shallow(self)
        if isinstance(self.request, SessionRead):
            twin.request = twins.of(self.request)
        return twin


class DelayedProduce:
    """P-4.  An acks=all produce that waits until HW reaches `required`."""

    __slots__ = ("base", "deadline", "request", "required")

    def __init__(self, request: ProduceRequest, base: int, required: int, deadline: int) -> None:
        self.request = request
        self.base = base
        self.required = required
        self.deadline = deadline


class Replica:
    """One partition as one broker sees it, while the process lives."""

    __slots__ = (
        "adding",
        "assignment",
        "broker",
        "configs",
        "disk",
        "epoch_start",
        "isr",
        "leader",
        "leader_epoch",
        "log",
        "maximal_isr",
        "parked",
        "partition_epoch",
        "pending",
        "pending_isr",
        "profile",
        "remote",
        "removing",
        "role",
        "tp",
        "waiting",
    )

    def __init__(
        self, tp: int, broker: int, disk: Disk, profile: Profile, configs: Configs
    ) -> None:
        self.tp = tp
        self.broker = broker
        self.disk = disk
        self.log = disk.log
        self.profile = profile
        self.configs = configs
        self.role = NONE
        self.leader = -1
        self.leader_epoch = -1
        self.partition_epoch = -1
        self.assignment: tuple[int, ...] = ()
        self.adding: tuple[int, ...] = ()
        self.removing: tuple[int, ...] = ()
        # Leader only.
        self.epoch_start = -1
        self.isr: tuple[int, ...] = ()
        self.maximal_isr: tuple[int, ...] = ()
        self.pending = COMMITTED
        self.pending_isr: tuple[int, ...] = ()
        self.remote: dict[int, RemoteReplica] = {}
        self.parked: list[DelayedFetch] = []
        self.waiting: list[DelayedProduce] = []

    def twin(self, twins: Twins) -> Replica:
        twin = shallow(self)
        twin.disk = twins.of(self.disk)
        twin.log = twin.disk.log
        twin.remote = {follower: shallow(remote) for follower, remote in self.remote.items()}
        twin.parked = [twins.of(parked) for parked in self.parked]
        twin.waiting = [shallow(waiting) for waiting in self.waiting]
        return twin

    def min_isr(self) -> int:
        """CP-MINISR: the effective min.insync.replicas as this leader applies it."""
        wanted = self.configs.min_insync_replicas
        if self.profile.cap_min_isr_to_rf and self.assignment:
            return min(wanted, len(self.assignment))
        return wanted


class PartitionFetchState:
    """0.4.  Where a fetcher stands with one partition."""

    __slots__ = (
        "asked",
        "asked_epoch",
        "delay_until",
        "lag",
        "last_epoch",
        "leader_epoch",
        "offset",
        "state",
        "topic_id",
        "tp",
    )

    def __init__(
        self, tp: int, offset: int, leader_epoch: int, state: int, last_epoch: int
    ) -> None:
        self.tp = tp
        self.offset = offset
        self.leader_epoch = leader_epoch
        self.state = state
        self.last_epoch = last_epoch
        self.lag: int | None = None
        self.topic_id: str | None = None  # 2.8 and later, once metadata has told it
        self.delay_until = NEVER
        # What the request in flight said of this partition; -1 = it is in no request.
        self.asked = -1
        self.asked_epoch = -1


class Move:
    """D-1.  A log on its way to another directory: the future log, which survives a crash as `Disk`
    does, how far its fetcher is, and what the controller was asked and has answered (D-5)."""

    __slots__ = ("accepted", "asked", "disk", "fetch")

    def __init__(self, disk: Disk, fetch: PartitionFetchState) -> None:
        self.disk = disk
        self.fetch = fetch
        self.asked = False
        self.accepted = False

    def twin(self, twins: Twins) -> Move:
        twin = shallow(self)
        twin.disk = twins.of(self.disk)
        twin.fetch = shallow(self.fetch)
        return twin


class FetcherThread:
    """0.4.  One replica fetcher: key (leader, fetcher id), at most one request outstanding."""

    __slots__ = (
        "dead",
        "fetcher",
        "leader",
        "lookups",
        "outstanding",
        "partitions",
        "requested",
        "session",
        "waking",
    )

    def __init__(self, leader: int, fetcher: int) -> None:
        self.leader = leader
        self.fetcher = fetcher
        self.partitions: dict[int, PartitionFetchState] = {}
        self.dead = False  # F-8: an unexpected error has ended it (before 2.3)
        self.outstanding = 0  # corr of the request in flight, 0 = none
        self.requested: frozenset[int] = frozenset()  # of an OffsetForLeaderEpoch in flight
        self.lookups: list[int] = []  # F-9: partitions whose offsets are to be looked up
        self.session: SessionClient | None = None  # KIP-227; None: every fetch is a full one
        self.waking = NEVER  # when the back-off timer is set for

    def is_idle(self) -> bool:
        """Could its loop go round now?"""
        return not self.outstanding and not self.dead

    def copy(self) -> FetcherThread:
        twin = shallow(self)
        twin.partitions = {tp: shallow(state) for tp, state in self.partitions.items()}
        twin.lookups = self.lookups.copy()
        if self.session is not None:
            twin.session = self.session.copy()
        return twin


class Peer:
    """What a broker has heard of another broker."""

    __slots__ = ("alive", "broker_epoch", "fenced", "shutting_down")

    def __init__(
        self, broker_epoch: int, fenced: bool = False, shutting_down: bool = False
    ) -> None:
        self.broker_epoch = broker_epoch
        self.fenced = fenced
        self.shutting_down = shutting_down
        self.alive = True


class Broker:
    """One broker process and its disks.

    `disks` and `broken`, the log directories that have failed, survive everything but `wipe`; the
    rest ends with the process.  `metadata` is the
    client-visible cache: tp -> (leader, leader epoch).  `image` (KRaft) holds the last partition
    records applied.  `auto_fetch` false means that a hand drives the fetchers.
    """

    __slots__ = (
        "alter_corr",
        "alter_queue",
        "assign_corr",
        "assignments",
        "auto_fetch",
        "broken",
        "broker_epoch",
        "clean_epoch",
        "configs",
        "controller_epoch",
        "copying",
        "corr",
        "dir_due",
        "dir_quota",
        "dir_report",
        "dirs",
        "disk_free_us",
        "disk_rate",
        "disks",
        "failed",
        "fenced",
        "fetchers",
        "futures",
        "halted",
        "heartbeat_due",
        "id",
        "image",
        "incarnation",
        "isr_changed_at",
        "isr_changes",
        "isr_told_at",
        "known_isr",
        "metadata",
        "metadata_corr",
        "metadata_offset",
        "name",
        "num_fetchers",
        "offline",
        "peers",
        "preferred_dirs",
        "profile",
        "purgatory_wake",
        "quotas",
        "rack",
        "racks",
        "register_attempt",
        "registered_corr",
        "replicas",
        "retention_armed",
        "sessions",
        "shutdown_attempt",
        "shutting_down",
        "spoiled",
        "status",
        "topic_configs",
        "topics",
    )

    def __init__(
        self, id: int, name: str, rack: str, profile: Profile, configs: Configs, auto_fetch: bool
    ) -> None:
        self.id = id
        self.name = name
        self.rack = rack
        self.profile = profile
        self.configs = configs
        self.auto_fetch = auto_fetch
        # F-1: topic and number of the partitions that the run has made
        self.topics: dict[int, tuple[str, int]] = {}
        # C-8: where every broker stands, as metadata told when it was created
        self.racks: dict[int, str] = {}
        self.disks: dict[int, Disk] = {}
        self.dirs = 1  # log directories
        self.broken: set[int] = set()
        self.futures: dict[int, Move] = {}  # D-1: on their way to another directory
        self.topic_configs: dict[int, Configs] = {}  # by partition, where a topic has its own
        self.clean_epoch = -1  # broker epoch in the clean-shutdown file, -1 = none
        self.disk_rate = 0.0  # records a second that its disk writes (CP 8.6), 0: any number
        self.incarnation = 0
        self.corr = 0  # never reset: an answer to an earlier incarnation matches nothing
        self.status = DOWN
        self.forget()

    def forget(self) -> None:
        """What every end of the process loses (L-11)."""
        self.broker_epoch = -1
        self.fenced = True
        self.num_fetchers = self.configs.fetchers  # F-1, per source broker
        self.spoiled: set[int] = set()  # F-8: partitions whose next records cannot be used
        self.halted = False  # a mark for the simulation: the process ends itself
        self.shutting_down = False
        self.shutdown_attempt = 0
        self.heartbeat_due = NEVER
        self.replicas: dict[int, Replica] = {}
        self.fetchers: dict[tuple[int, int], FetcherThread] = {}
        self.failed: set[int] = set()
        self.quotas: Quotas | None = None  # KIP-73; None: nothing is throttled
        self.sessions: SessionCache | None = None  # KIP-227; None: it keeps none
        self.offline: set[int] = set()  # L-16: partitions whose log directory failed
        self.peers: dict[int, Peer] = {}
        self.metadata: dict[int, tuple[int, int]] = {}
        self.image: dict[int, Any] = {}
        self.metadata_offset = 0
        self.metadata_corr = 0
        self.retention_armed = False  # is the timer of L-8 set?
        self.disk_free_us = 0  # when a slow disk has written all it was given
        self.purgatory_wake = NEVER  # when the timer of waiting requests is set for
        self.registered_corr = 0
        self.register_attempt = 0
        self.alter_queue: dict[int, Any] = {}
        self.alter_corr = 0
        self.controller_epoch = 0
        # CP-ISR-ZKPROP: changes that only this leader and the state znode know, and when.
        self.isr_changes: tuple[int, ...] = ()
        self.isr_changed_at = NEVER
        self.isr_told_at = 0
        self.known_isr: dict[int, tuple[int, ...]] = {}  # what its clients are told (0.9 - 2.6)
        self.assignments: dict[int, int] = {}  # KIP-858: partition -> directory, not told yet
        self.assign_corr = 0
        self.copying = False  # D-2: the thread is to go round
        self.dir_quota: ReplicationQuota | None = None  # D-3
        self.preferred_dirs: dict[int, int] = {}  # D-1: of partitions that are not hosted yet
        self.dir_due = 0  # until when the controller has to hear of a failed directory
        self.dir_report = 0  # corr of the heartbeat that tells of a failed directory, until heard

    def twin(self, twins: Twins) -> Broker:
        """`racks` and `topics` are the simulation's: whoever copies that hands its own to all."""
        twin = shallow(self)
        twin.disks = {tp: twins.of(disk) for tp, disk in self.disks.items()}
        twin.broken = self.broken.copy()
        twin.futures = {tp: twins.of(move) for tp, move in self.futures.items()}
        twin.topic_configs = self.topic_configs.copy()
        twin.replicas = {tp: twins.of(replica) for tp, replica in self.replicas.items()}
        twin.fetchers = {key: fetcher.copy() for key, fetcher in self.fetchers.items()}
        twin.failed = self.failed.copy()
        twin.spoiled = self.spoiled.copy()
        twin.quotas = self.quotas and self.quotas.copy()
        twin.sessions = self.sessions and self.sessions.twin(twins)
        twin.offline = self.offline.copy()
        twin.peers = {peer: shallow(known) for peer, known in self.peers.items()}
        twin.metadata = self.metadata.copy()
        twin.image = self.image.copy()
        twin.alter_queue = self.alter_queue.copy()
        twin.known_isr = self.known_isr.copy()
        twin.assignments = self.assignments.copy()
        twin.dir_quota = self.dir_quota and self.dir_quota.copy()
        twin.preferred_dirs = self.preferred_dirs.copy()
        return twin

    def configure(self, configs: Configs) -> None:
        """Q-1, X-1.  From now on these configurations hold for the broker and its replicas."""
        self.configs = configs
        for replica in self.replicas.values():
            replica.configs = configs
            replica.log.segment_records = configs.segment_records
        self.quotas = settled(self.quotas, configs.values, self.id)
        if not (configs.values["fetch_sessions"] and self.profile.fetch_sessions):
            self.sessions = None
        elif self.sessions is None:
            slots = int(configs.values["max.incremental.fetch.session.cache.slots"])
            self.sessions = SessionCache(slots, last_id=self.incarnation * SESSION_IDS)

    def known_epoch(self, tp: int) -> int:
        """The leader epoch of the last role it heard of, -1 if it hosts no such partition."""
        replica = self.replicas.get(tp)
        return -1 if replica is None else replica.leader_epoch

    def next_corr(self) -> int:
        self.corr += 1
        return self.corr
