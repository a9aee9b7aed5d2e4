"""State of the controller: a KRaft quorum as one node, or ZooKeeper with its controller."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.model.configs import Configs
from engine.model.control_messages import ControlRequest
from engine.model.copying import shallow
from engine.model.declared import begins, declared, fresh, unset
from engine.model.messages import Message
from engine.model.profiles import Profile
from engine.model.records import PartitionRecord
from engine.model.state import NEVER


@declared
class Registration:
    """Controller's view of one broker (control-plane 0.4).

    `last_contact` is soft state: each new controller resets it.  `registered_at` is the metadata
    offset of the broker's registration record; `shutdown_at` the offset at which its controlled
    shutdown started, or -1.  `unsent` has the control requests that wait to be sent again.
    """

    epoch: int
    incarnation: int
    rack: str
    last_contact: int
    fenced: bool = begins(True)
    shutting_down: bool = begins(False)
    metadata_offset: int = begins(0)
    registered_at: int = unset()
    shutdown_at: int = begins(-1)
    lost_dirs: tuple[int, ...] = begins(())  # failed log directories
    unsent: list[ControlRequest] = fresh(list)

    def __post_init__(self) -> None:
        self.registered_at = self.epoch

    def copy(self) -> Registration:
        twin = shallow(self)
        twin.unsent = self.unsent.copy()
        return twin


@declared
class TopicConfig:
    """Settings of one topic; for None the cluster's value applies."""

    min_insync_replicas: int | None = begins(None)
    unclean: bool | None = begins(None)


@declared
class Topic:
    """A topic by name: the numbers of its partitions, in order, and its own configuration."""

    tps: list[int] = fresh(list)
    config: TopicConfig = fresh(TopicConfig)

    def copy(self) -> Topic:
        twin = shallow(self)
        twin.tps = self.tps.copy()
        twin.config = shallow(self.config)
        return twin


@declared
class Deletion:
    """A topic that ZooKeeper's controller is deleting.

    `records` has the records of its partitions once the deletion has started; `left` maps each
    broker, live or dead, to the partitions whose logs it has not deleted yet.
    """

    records: dict[int, PartitionRecord] = fresh(dict)
    left: dict[int, set[int]] = fresh(dict)

    def copy(self) -> Deletion:
        twin = shallow(self)
        twin.records = self.records.copy()
        twin.left = {broker: tps.copy() for broker, tps in self.left.items()}
        return twin


@declared
class Controller:
    """Controller, node -1.  With ZooKeeper, `brokers` are live sessions and `records` the znodes.

    With KRaft, `log` has metadata records, visible below `committed`; `readers` has the brokers'
    fetches that wait for more, broker -> (offset, corr); `answers` are sent once an offset is
    committed.  `topics` has the topics created by name, not a cluster's first partitions.
    `next_partition` is the number of the next partition; numbers are not reused.  `unsaid` has the
    requests of an operator that a controller had not committed when it died.
    `directories` maps (broker, partition) to a log directory, for brokers with several; `offline`
    has those whose directory has failed.  `voter` is the node whose log this controller writes to
    if the voters of the quorum are played, else 0.
    """

    profile: Profile
    configs: Configs
    alive: bool = begins(True)
    epoch: int = begins(1)
    brokers: dict[int, Registration] = fresh(dict)
    records: dict[int, PartitionRecord] = fresh(dict)
    log: list[tuple[Any, ...]] = fresh(list)
    committed: int = begins(0)
    readers: dict[int, tuple[int, int]] = fresh(dict)
    answers: list[tuple[int, Message]] = fresh(list)
    check_at: int = begins(NEVER)
    next_broker_epoch: int = begins(1)
    unclean_elections: int = begins(0)
    unsaid: list[tuple[Any, ...]] = fresh(list)
    topics: dict[str, Topic] = fresh(dict)
    deletions: dict[str, Deletion] = fresh(dict)
    next_partition: int = begins(0)
    directories: dict[tuple[int, int], int] = fresh(dict)
    offline: set[tuple[int, int]] = fresh(set)
    preferred_orders: tuple[int, ...] = begins(())  # noted for good by 0.8.1 (KAFKA-1365)
    voter: int = begins(0)
    queued: tuple[int, ...] = begins(())  # dead brokers that it had not handled when it froze

    def copy(self) -> Controller:
        twin = shallow(self)
        twin.brokers = {
            broker: registration.copy() for broker, registration in self.brokers.items()
        }
        twin.records = self.records.copy()
        twin.log = self.log.copy()
        twin.readers = self.readers.copy()
        twin.answers = self.answers.copy()
        twin.unsaid = self.unsaid.copy()
        twin.topics = {name: topic.copy() for name, topic in self.topics.items()}
        twin.deletions = {name: deletion.copy() for name, deletion in self.deletions.items()}
        twin.directories = self.directories.copy()
        twin.offline = self.offline.copy()
        return twin

    def take_numbers(self, count: int) -> int:
        """Reserve `count` numbers for new partitions and return the first."""
        first = max(self.next_partition, max(self.records, default=-1) + 1)
        self.next_partition = first + count
        return first

    def config_of(self, tp: int) -> TopicConfig | None:
        """Return the settings of the partition's topic."""
        for topic in self.topics.values():
            if tp in topic.tps:
                return topic.config
        return None

    def min_isr_for(self, tp: int) -> int:
        """Return min.insync.replicas of the topic, or else of the cluster."""
        own = self.config_of(tp) if self.topics else None
        if own is not None and own.min_insync_replicas is not None:
            return own.min_insync_replicas
        return self.configs.min_insync_replicas

    def unclean_for(self, tp: int) -> bool:
        """Return unclean.leader.election.enable of the topic, or else of the cluster.

        Until 3.8 a KRaft controller ignores it (KAFKA-12670).
        """
        if self.profile.unclean_setting_ignored:
            return False
        own = self.config_of(tp) if self.topics else None
        if own is not None and own.unclean is not None:
            return own.unclean
        return self.configs.unclean

    def acceptable(self, tp: int) -> Callable[[int], bool]:
        """Check whether a broker may lead this partition: active, its log directory online."""
        if not self.offline:
            return self.active
        return lambda broker: self.active(broker) and (broker, tp) not in self.offline

    def active(self, broker: int) -> bool:
        """Check whether a broker is registered, not fenced and not in controlled shutdown."""
        registration = self.brokers.get(broker)
        return (
            registration is not None and not registration.fenced and not registration.shutting_down
        )
