"""Replicas and fetchers as plain state: what survives a crash (Disk), what does not (Replica)."""

from __future__ import annotations

from typing import Final

from engine.model.configs import Configs
from engine.model.copying import Twins, shallow
from engine.model.log import Log
from engine.model.messages import FetchRequest, ProduceRequest, SessionRead
from engine.model.profiles import Profile
from engine.model.session_client import SessionClient

NEVER: Final = -(1 << 60)
"""Where Kafka writes the time 0 for 'never': a clock that starts at 0 needs minus infinity."""

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
