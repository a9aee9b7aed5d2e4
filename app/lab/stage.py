"""A run on its cluster: its topic, its groups' partitions, and the state that moves read."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from app.kafka.cursor import MalformedError
from app.kafka.fetches import FETCH
from app.kafka.metadata import PartitionMetadata
from app.lab import disk, facts
from app.lab.client import ClientBelief
from app.lab.cluster import RealCluster, wait_until
from app.lab.facts import Adjusted, CopiesFact, LabFacts, LabPartition
from app.lab.groups import LabGroups
from app.lab.links import CONTROLLER
from app.lab.quorum import QuorumCluster
from app.lab.trouble import LabError
from engine.model.groups import OFFSETS_TOPIC
from engine.scenarios.scenario import Scenario

QUIET_S: Final = 1.2
SETTLED_WITHIN_S: Final = 40.0
CHECKPOINT_S: Final = 0.35
"""High watermarks are on disk after 200 ms."""
ATTEMPTS: Final = 3
READINGS: Final = 12
READ_AGAIN_S: Final = 0.2
"""An election takes less once a voter has begun it, and marks are on disk sooner."""

UNREACHABLE = (OSError, MalformedError, struct.error)


@dataclass(slots=True)
class LabStage:
    """State of one script on a real cluster.

    `replicas` are the brokers that the partition was created on, preferred first.
    """

    cluster: RealCluster
    name: str
    replicas: list[int]
    configs: dict[str, str]
    topic: str = ""
    adjusted: Adjusted = field(default_factory=Adjusted)
    answers: dict[str, tuple[str, int]] = field(default_factory=dict)
    """The response to the producer of each record: (error or "waiting", offset)."""
    flushed: dict[int, int] = field(default_factory=dict)
    """Offset up to which the model has flushed each broker's log, before the current move."""
    others: dict[int, LabPartition] = field(default_factory=dict)
    """Other partitions than 0 by their numbers in the model: the topic's, __consumer_offsets'."""
    groups: LabGroups | None = None
    has_deleted: bool = False
    began: float = 0.0
    acted: float = 0.0
    """When the current move took effect."""
    paced: float = 0.0
    """From when on an `advance` counts, if the clock does: other moves take no time in a script."""

    @property
    def quorum(self) -> QuorumCluster | None:
        """The cluster, if it has several controllers; its followers fetch by themselves."""
        return self.cluster if isinstance(self.cluster, QuorumCluster) else None

    @property
    def own(self) -> LabPartition:
        """Partition 0, which moves are about."""
        return LabPartition(self.topic, 0, self.replicas, self.adjusted)

    @property
    def partitions(self) -> list[LabPartition]:
        return [self.own, *self.others.values()]

    # -- the beginning -----------------------------------------------------------------------------

    def add_groups(self, scenario: Scenario) -> None:
        """Play the groups of a scenario, too, if it has any, and what they read."""
        if scenario.groups:
            for number, assignment in enumerate(scenario.partitions[1:], 1):
                self.others[number] = LabPartition("", number, list(assignment))
            self.groups = LabGroups(self.cluster, scenario)
            for group in self.groups.groups:
                read, replicas = self.groups.text_of, list(group.spec.offsets)
                number = len(scenario.partitions) + group.partition
                self.others[number] = LabPartition(
                    OFFSETS_TOPIC, group.partition, replicas, read=read
                )

    def begin(self) -> None:
        """Create the topic and wait until every broker knows of it.  Raises LabError."""
        for attempt in range(1, ATTEMPTS + 1):
            if self._create(attempt):
                if self.quorum:
                    self.quorum.begin(self.topic)
                if self.groups:
                    self.groups.begin(self.topic)
                self.began = self.paced = time.monotonic()
                return
            self.by_hand(False)
        raise LabError("The cluster does not become quiet; the machine may be too busy.")

    def _create(self, attempt: int) -> bool:
        self.topic = self.name if attempt == 1 else f"{self.name}-{attempt}"
        for partition in self.others.values():
            if partition.topic != OFFSETS_TOPIC:
                partition.topic = self.topic
        for topic in dict.fromkeys(partition.topic for partition in self.partitions):
            if topic == self.topic or attempt == 1:
                of_it = [other.replicas for other in self.partitions if other.topic == topic]
                self._ask_for_topic(topic, of_it)
        wait_until(lambda: all(map(self._is_whole, self.partitions)), SETTLED_WITHIN_S)
        for partition in self.partitions:
            before = self.must_record(partition)
            partition.adjusted.partition_epoch = before.partition_epoch
            partition.adjusted.leader_epoch = before.leader_epoch
        time.sleep(1.0)
        self.by_hand(True)
        time.sleep(CHECKPOINT_S)
        self.raise_floor()
        return all(map(self._is_as_created, self.partitions))

    def _is_whole(self, partition: LabPartition) -> bool:
        """Check whether all replicas exist and are in sync, and every broker knows the leader."""
        record, replicas = self.record(partition), partition.replicas
        if record is None or len(record.isr) != len(replicas):
            return False
        if not all(self.directory(broker, partition).is_dir() for broker in replicas):
            return False
        beliefs = [self.belief(broker, partition) for broker in self.cluster.brokers]
        return all(belief and belief.leader == record.leader for belief in beliefs)

    def _is_as_created(self, partition: LabPartition) -> bool:
        record = self.must_record(partition)
        return (
            record.partition_epoch == partition.adjusted.partition_epoch
            and record.leader == partition.replicas[0]
            and len(record.isr) == len(partition.replicas)
        )

    def _ask_for_topic(self, topic: str, partitions: list[list[int]]) -> None:
        client = self.cluster.controller_client()
        error = client.create_topic(topic, partitions, self.configs)
        if error != "NONE":
            raise LabError(f"The topic {topic} was not created: {error}.")

    # -- facts -------------------------------------------------------------------------------------

    def record(self, partition: LabPartition | None = None) -> PartitionMetadata | None:
        partition = partition or self.own
        return self.cluster.metadata.record(partition.topic, partition.index)

    def must_record(self, partition: LabPartition | None = None) -> PartitionMetadata:
        record = self.record(partition)
        if record is None:
            raise LabError("The controller has no record of the partition.")
        return record

    def directory(self, broker: int, partition: LabPartition | None = None) -> Path:
        partition = partition or self.own
        return self.cluster.log_directory(broker) / f"{partition.topic}-{partition.index}"

    def log_end(self, broker: int, partition: LabPartition | None = None) -> int:
        return disk.read_log(self.directory(broker, partition)).end

    def running(self) -> list[int]:
        """Return brokers of the run that are alive and not frozen."""
        return [
            broker
            for broker in self.cluster.brokers
            if self.cluster.alive(broker) and broker not in self.cluster.paused
        ]

    def log_ends(self, partition: LabPartition) -> dict[int, int]:
        return {broker: self.log_end(broker, partition) for broker in partition.replicas}

    def belief(self, broker: int, partition: LabPartition | None = None) -> ClientBelief | None:
        """Return the leader as a broker knows it; None where it does not answer."""
        partition = partition or self.own
        try:
            return self.cluster.client(broker).belief(partition.topic, partition.index)
        except UNREACHABLE:
            return None

    def facts(self) -> LabFacts:
        own = self._copies(self.own)
        facts: LabFacts = {"P": own["P"], "brokers": own["brokers"]}
        if self.quorum:
            facts["voters"] = self.quorum.voter_facts()
        if self.groups:
            facts["groups"] = self.groups.group_facts()
            facts["members"] = self.groups.member_facts()
            facts["partitions"] = {
                str(number): self._copies(partition) for number, partition in self.others.items()
            }
        return facts

    def _copies(self, partition: LabPartition) -> CopiesFact:
        record = self.record(partition)
        # Brokers that have, or had from the beginning, a replica.
        holders = sorted({*partition.replicas, *(record.replicas if record else ())})
        return {
            "P": None if record is None else facts.record(record, partition.adjusted),
            "brokers": {
                str(broker): facts.replica(self.cluster, broker, partition) for broker in holders
            },
        }

    def stable_facts(self) -> tuple[LabFacts, float, float]:
        """Return facts that two readings have, and when these were made.

        So no reading is from the middle of an election, and marks have reached the disks.
        """
        facts, since = self.facts(), time.monotonic()
        for _ in range(READINGS):
            time.sleep(READ_AGAIN_S)
            before, earlier = facts, since
            facts, since = self.facts(), time.monotonic()
            if facts == before:
                return facts, earlier, since
        return facts, since, since

    def log_start(self, broker: int) -> int:
        """Return the first offset of a replica; 0 where the broker has none."""
        replica = self.facts()["brokers"][str(broker)]
        return replica.get("start", 0) if replica else 0

    def latest_offset(self) -> int | str | None:
        """Return the consumers' latest offset; the error's name, or None without a leader."""
        record = self.record()
        if record is None or record.leader not in self.running():
            return None
        try:
            error, offset = self.cluster.client(record.leader).listed_offset(self.topic)
        except UNREACHABLE as broken:
            return type(broken).__name__
        return offset if error == "NONE" else error

    # -- waiting -----------------------------------------------------------------------------------

    def await_checkpoints(self) -> None:
        """Wait until disks have the high watermarks, and the log starts that were raised."""
        if self.has_deleted and not self.cluster.release.checkpoints_early:
            for broker in self.running():
                self.cluster.await_log_starts(broker)
        time.sleep(CHECKPOINT_S)

    def by_hand(self, on: bool) -> None:
        """Let followers fetch only when a move says so, or always."""
        self.cluster.hand.by_hand(self.cluster.brokers, on and not self.quorum)

    def settle(self) -> bool:
        """Let everything flow until no fact changes for a while; return whether that happened."""
        self.by_hand(False)
        settled = self._is_stable()
        self.by_hand(True)
        time.sleep(0.3)
        return settled

    def _is_stable(self) -> bool:
        end = time.monotonic() + SETTLED_WITHIN_S
        last, since = self.facts(), time.monotonic()
        while time.monotonic() < end:
            time.sleep(0.25)
            now = self.facts()
            if now != last:
                last, since = now, time.monotonic()
            elif time.monotonic() - since >= QUIET_S and not (
                self._owes_an_isr(now) or (self.groups and self.groups.is_busy())
            ):
                return True
        return False

    def _owes_an_isr(self, now: LabFacts) -> bool:
        """Check whether a running replica is at the leader's end, and not yet in the ISR.

        A busy machine may need seconds for that, and nothing else moves meanwhile.
        """
        record, replicas = now["P"], now["brokers"]
        if record is None or record["leader"] not in self.running():
            return False
        hand, leader = self.cluster.hand, record["leader"]
        if not hand.passes(leader, CONTROLLER) or hand.link(leader, CONTROLLER).holding:
            return False  # the leader cannot propose an ISR, or hears no answer
        led = replicas.get(str(leader))
        return led is not None and any(
            (replica := replicas.get(str(broker))) is not None
            and replica["leo"] == led["leo"]
            and broker not in record["isr"]
            and self.cluster.hand.passes(broker, record["leader"])
            and self.cluster.hand.passes(broker, CONTROLLER)
            and self.cluster.metadata.live(broker)
            for broker in self.running()
        )

    def informed(self, seconds: float = 12.0) -> None:
        """Wait until every running broker that reaches the controller knows the newest records."""

        def all_know() -> bool:
            return all(
                self._knows(broker, partition)
                for partition in self.partitions
                for broker in self.running()
            )

        wait_until(all_know, seconds)
        self.raise_floor()

    def _knows(self, broker: int, partition: LabPartition) -> bool:
        hand, record = self.cluster.hand, self.record(partition)
        if not hand.passes(broker, CONTROLLER) or FETCH in hand.link(broker, CONTROLLER).holding:
            return True
        belief = self.belief(broker, partition)
        if belief is None:
            return True
        return record is not None and (
            belief.leader == record.leader and belief.leader_epoch in (-1, record.leader_epoch)
        )

    def raise_floor(self) -> None:
        """Let fetches of older leader epochs pass: their leader refuses them by itself."""
        floors: dict[str, int] = {}
        for partition in self.partitions:
            record, topic = self.record(partition), partition.topic
            if record is not None:
                floors[topic] = min(record.leader_epoch, floors.get(topic, record.leader_epoch))
        with self.cluster.hand.change():
            for topic, epoch in floors.items():
                for name in (topic, self.cluster.metadata.topic_id(topic)):
                    self.cluster.hand.floors[name] = epoch

    def wait_for(self, is_so: Callable[[], bool], seconds: float) -> bool:
        return self.cluster.hand.wait_for(is_so, seconds)
