"""Brokers: a machine and, while it runs, a process.

A crash is the process gone, and nothing of it can be kept by mistake.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from engine.model.compiling import mypyc_attr
from engine.model.configs import Configs, for_topic
from engine.model.copying import Twins, shallow
from engine.model.declared import begins, declared, fresh, unset
from engine.model.groups import Group
from engine.model.last_fetch import LastFetch
from engine.model.profiles import Profile
from engine.model.quotas import Quotas, ReplicationQuota, settled
from engine.model.remote_log import RemoteLogTask, RemoteStore
from engine.model.sessions import SessionCache
from engine.model.state import (
    DOWN,
    NEVER,
    STARTING,
    DelayedFetch,
    DirectoryMove,
    Disk,
    FetcherThread,
    Peer,
    Replica,
)

SESSION_IDS: Final = 1_000
"""Each incarnation of a broker counts its fetch sessions from another thousand."""

NO_REPLICAS: Final[Mapping[int, Replica]] = {}


@declared
class Machine:
    """State that survives a crash: disks, log directories with their contents, and settings.

    `broken` are the log directories that have failed; they and `disks` survive everything but
    `wipe`.  `auto_fetch` false means that a hand drives the fetchers.  `corr` and `incarnation`
    only ever grow: an answer to an earlier process, and its timers, match nothing.
    """

    id: int
    name: str
    rack: str
    profile: Profile
    configs: Configs
    auto_fetch: bool
    # F-1: topic and number of the partitions that the run has made
    topics: dict[int, tuple[str, int]] = fresh(dict)
    # C-8: where every broker stands, from the metadata when it was created
    racks: dict[int, str] = fresh(dict)
    disks: dict[int, Disk] = fresh(dict)
    dirs: int = begins(1)  # log directories
    broken: set[int] = fresh(set)
    futures: dict[int, DirectoryMove] = fresh(dict)  # D-1: on their way to another directory
    topic_configs: dict[int, Configs] = fresh(dict)  # by partition, where a topic has its own
    clean_epoch: int = begins(-1)  # broker epoch in the clean-shutdown file, -1 = none
    disk_rate: float = begins(0.0)  # records a second that its disk writes (CP 8.6), 0: any number
    read_rate: float = begins(0.0)  # ... that it reads for followers
    store: RemoteStore | None = begins(None)  # shared by all brokers
    incarnation: int = begins(0)
    corr: int = begins(0)

    def twin(self, twins: Twins) -> Machine:
        """Return a copy; `racks` and `topics` are those of the simulation's own copy."""
        twin = shallow(self)
        twin.disks = {tp: twins.of(disk) for tp, disk in self.disks.items()}
        twin.broken = self.broken.copy()
        twin.futures = {tp: twins.of(move) for tp, move in self.futures.items()}
        twin.topic_configs = self.topic_configs.copy()
        twin.store = self.store and twins.of(self.store)
        return twin


@declared
class Process:
    """One incarnation of a broker, from its start to its end, whatever ends it (L-11).

    `metadata` is the client-visible cache: tp -> (leader, leader epoch).  `image` (KRaft) holds the
    last partition records applied.
    """

    machine: Machine
    incarnation: int = unset()
    id: int = unset()
    profile: Profile = unset()
    configs: Configs = unset()
    status: str = begins(STARTING)
    broker_epoch: int = begins(-1)
    num_fetchers: int = unset()  # F-1, per source broker
    spoiled: set[int] = fresh(set)  # F-8: partitions whose next records cannot be used
    halted: bool = begins(False)  # a mark for the simulation: the process ends itself
    shutting_down: bool = begins(False)
    shutdown_attempt: int = begins(0)
    heartbeat_due: int = begins(NEVER)
    replicas: dict[int, Replica] = fresh(dict)
    opened: int = begins(0)  # replicas, so far
    fetchers: dict[tuple[int, int], FetcherThread] = fresh(dict)
    failed: set[int] = fresh(set)
    # By follower and number of the request: what is remembered of the fetches of followers
    last_fetches: dict[tuple[int, int], LastFetch] = fresh(dict)
    parked: list[DelayedFetch] = fresh(list)  # S-6: in the order in which they began to wait
    quotas: Quotas | None = begins(None)  # KIP-73; None: nothing is throttled
    sessions: SessionCache | None = begins(None)  # KIP-227; None: it keeps none
    groups: dict[int, Group] = fresh(dict)  # G-1: that it coordinates, by their partition
    remote_tasks: dict[int, RemoteLogTask] = fresh(dict)  # of tiered partitions
    offline: set[int] = fresh(set)  # L-16: partitions whose log directory failed
    peers: dict[int, Peer] = fresh(dict)
    metadata: dict[int, tuple[int, int]] = fresh(dict)
    image: dict[int, Any] = fresh(dict)
    metadata_offset: int = begins(0)
    metadata_corr: int = begins(0)
    retention_armed: bool = begins(False)  # is the timer of L-8 set?
    log_start_armed: bool = begins(False)  # ... and that of L-7?
    disk_free_us: int = begins(0)  # when a slow disk has written all it was given
    purgatory_wake: int = begins(NEVER)  # when the timer of waiting requests is set for
    registered_corr: int = begins(0)
    register_attempt: int = begins(0)
    alter_queue: dict[int, Any] = fresh(dict)
    alter_corr: int = begins(0)
    controller_epoch: int = begins(0)
    # CP-ISR-ZKPROP: changes that only this leader and the state znode know, and when.
    isr_changes: tuple[int, ...] = begins(())
    isr_changed_at: int = begins(NEVER)
    isr_told_at: int = begins(0)
    known_isr: dict[int, tuple[int, ...]] = fresh(dict)  # the ISR for its clients (0.9 - 2.6)
    assignments: dict[int, int] = fresh(dict)  # KIP-858: partition -> directory, not reported yet
    assign_corr: int = begins(0)
    copying: bool = begins(False)  # D-2: the thread is to go round
    dir_quota: ReplicationQuota | None = begins(None)  # D-3
    preferred_dirs: dict[int, int] = fresh(dict)  # D-1: of partitions that are not hosted yet
    dir_due: int = begins(0)  # until when the controller has to hear of a failed directory
    # The correlation id of the heartbeat that reports a failed directory, until answered
    dir_report: int = begins(0)

    def __post_init__(self) -> None:
        machine = self.machine
        machine.incarnation += 1
        self.incarnation = machine.incarnation
        self.id = machine.id
        self.profile = machine.profile
        self.configs = machine.configs
        self.num_fetchers = self.configs.fetchers

    def twin(self, twins: Twins) -> Process:
        twin = shallow(self)
        twin.machine = twins.of(self.machine)
        twin.replicas = {tp: twins.of(replica) for tp, replica in self.replicas.items()}
        twin.fetchers = {key: fetcher.copy() for key, fetcher in self.fetchers.items()}
        twin.failed = self.failed.copy()
        twin.last_fetches = {}
        twin.parked = [twins.of(parked) for parked in self.parked]
        twin.spoiled = self.spoiled.copy()
        twin.quotas = self.quotas and self.quotas.copy()
        twin.sessions = self.sessions and self.sessions.twin(twins)
        twin.groups = {tp: group.copy() for tp, group in self.groups.items()}
        twin.remote_tasks = {tp: task.copy() for tp, task in self.remote_tasks.items()}
        twin.offline = self.offline.copy()
        twin.peers = {peer: heard.copy() for peer, heard in self.peers.items()}
        twin.metadata = self.metadata.copy()
        twin.image = self.image.copy()
        twin.alter_queue = self.alter_queue.copy()
        twin.known_isr = self.known_isr.copy()
        twin.assignments = self.assignments.copy()
        twin.dir_quota = self.dir_quota and self.dir_quota.copy()
        twin.preferred_dirs = self.preferred_dirs.copy()
        return twin

    def configure(self, configs: Configs) -> None:
        """Q-1, X-1.  Apply these configurations to the broker and its replicas."""
        self.configs = self.machine.configs = configs
        own = self.machine.topic_configs
        for tp, topic in own.items():
            settings = {name: topic.values[name] for name in topic.given}
            own[tp] = for_topic(self.profile, configs, settings)
        for replica in self.replicas.values():
            replica.configs = own.get(replica.tp, configs) if own else configs
            replica.log.segment_records = replica.configs.segment_records
        self.quotas = settled(self.quotas, configs.values, self.id)
        if not (configs.values["fetch_sessions"] and self.profile.fetch_sessions):
            self.sessions = None
        elif self.sessions is None:
            slots = int(configs.values["max.incremental.fetch.session.cache.slots"])
            self.sessions = SessionCache(slots, last_id=self.incarnation * SESSION_IDS)

    def forget_fetches(self) -> None:
        """Visit every partition at the next fetch from this broker and of it."""
        for thread in self.fetchers.values():
            if thread.sent is not None:
                thread.forget_sent()
        if self.last_fetches:
            for last in self.last_fetches.values():
                last.is_valid = False
            self.last_fetches.clear()

    def next_corr(self) -> int:
        self.machine.corr = corr = self.machine.corr + 1
        return corr


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Broker:
    """A machine, and the process that runs on it or None.

    `face` is a search's cached key of the broker, valid until an event changes the broker; a copy
    has none.
    """

    __slots__ = ("face", "id", "machine", "process")

    def __init__(self, machine: Machine, process: Process | None = None) -> None:
        self.id = machine.id
        self.machine = machine
        self.process = process
        self.face: object = None

    def twin(self, twins: Twins) -> Broker:
        process = None if self.process is None else self.process.twin(twins)
        return Broker(twins.of(self.machine), process)

    @property
    def name(self) -> str:
        """Name of the broker on pages and in messages."""
        return self.machine.name

    @property
    def status(self) -> str:
        """UP, PAUSED or STARTING, as its process is, or DOWN."""
        return DOWN if self.process is None else self.process.status

    @property
    def running(self) -> Process:
        """The process of a broker that is known to run."""
        assert self.process is not None, f"broker {self.id} is down"
        return self.process

    @property
    def replicas(self) -> Mapping[int, Replica]:
        """Hosted replicas; to an observer a broker that is down hosts none."""
        return NO_REPLICAS if self.process is None else self.process.replicas
