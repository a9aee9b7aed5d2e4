"""A run on its cluster: one topic of one partition, and what moves need to know of it."""

from __future__ import annotations

import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from app.kafka.cursor import MalformedError
from app.kafka.fetches import FETCH
from app.kafka.metadata import PartitionMetadata
from app.lab import disk, facts
from app.lab.client import ClientBelief
from app.lab.cluster import RealCluster, wait_until
from app.lab.facts import Adjusted, LabFacts
from app.lab.links import CONTROLLER
from app.lab.quorum import QuorumCluster
from app.lab.trouble import LabError

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

    # -- the beginning -----------------------------------------------------------------------------

    def begin(self) -> None:
        """Create the topic and wait until every broker knows of it.  Raises LabError."""
        for attempt in range(1, ATTEMPTS + 1):
            if self._create(attempt):
                if self.quorum:
                    self.quorum.begin(self.topic)
                self.began = self.paced = time.monotonic()
                return
            self.by_hand(False)
        raise LabError("The cluster does not become quiet; the machine may be too busy.")

    def _create(self, attempt: int) -> bool:
        self.topic = self.name if attempt == 1 else f"{self.name}-{attempt}"
        error = self._ask_for_topic()
        if error != "NONE":
            raise LabError(f"The topic was not created: {error}.")

        def is_whole() -> bool:
            record = self.record()
            if record is None or len(record.isr) != len(self.replicas):
                return False
            if not all(self.directory(broker).is_dir() for broker in self.replicas):
                return False
            beliefs = [self.belief(broker) for broker in self.replicas]
            return all(belief and belief.leader == record.leader for belief in beliefs)

        wait_until(is_whole, SETTLED_WITHIN_S)
        before = self.must_record()
        self.adjusted = Adjusted(before.partition_epoch, before.leader_epoch)
        time.sleep(1.0)
        self.by_hand(True)
        time.sleep(CHECKPOINT_S)
        self.raise_floor()
        after = self.must_record()
        return (
            after.partition_epoch == before.partition_epoch
            and after.leader == self.replicas[0]
            and len(after.isr) == len(self.replicas)
        )

    def _ask_for_topic(self) -> str:
        return self.cluster.controller_client().create_topic(
            self.topic, self.replicas, self.configs
        )

    # -- facts -------------------------------------------------------------------------------------

    def record(self) -> PartitionMetadata | None:
        return self.cluster.metadata.record(self.topic)

    def must_record(self) -> PartitionMetadata:
        record = self.record()
        if record is None:
            raise LabError("The controller has no record of the partition.")
        return record

    def directory(self, broker: int) -> Any:
        return self.cluster.log_directory(broker) / f"{self.topic}-0"

    def log_end(self, broker: int) -> int:
        return disk.read_log(self.directory(broker)).end

    def holders(self) -> list[int]:
        """Return brokers that have, or had from the beginning, a replica."""
        record = self.record()
        return sorted({*self.replicas, *(record.replicas if record else ())})

    def running(self) -> list[int]:
        """Return brokers of the run that are alive and not frozen."""
        return [
            broker
            for broker in self.cluster.brokers
            if self.cluster.alive(broker) and broker not in self.cluster.paused
        ]

    def belief(self, broker: int) -> ClientBelief | None:
        """Return the leader as a broker knows it; None where it does not answer."""
        try:
            return self.cluster.client(broker).belief(self.topic)
        except UNREACHABLE:
            return None

    def facts(self) -> LabFacts:
        record = self.record()
        found: LabFacts = {
            "P": None if record is None else facts.record(record, self.adjusted),
            "brokers": {
                str(broker): facts.replica(self.cluster, broker, self.topic, self.adjusted)
                for broker in self.holders()
            },
        }
        if self.quorum:
            found["voters"] = self.quorum.voter_facts()
        return found

    def stable_facts(self) -> tuple[LabFacts, float, float]:
        """Return facts that two readings have, and when these were made.

        So no reading is from the middle of an election, and marks have reached the disks.
        """
        found, since = self.facts(), time.monotonic()
        for _ in range(READINGS):
            time.sleep(READ_AGAIN_S)
            before, earlier = found, since
            found, since = self.facts(), time.monotonic()
            if found == before:
                return found, earlier, since
        return found, since, since

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
            elif time.monotonic() - since >= QUIET_S and not self._owes_an_isr(now):
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
            (found := replicas.get(str(broker))) is not None
            and found["leo"] == led["leo"]
            and broker not in record["isr"]
            and self.cluster.hand.passes(broker, record["leader"])
            and self.cluster.hand.passes(broker, CONTROLLER)
            and self.cluster.metadata.live(broker)
            for broker in self.running()
        )

    def informed(self, seconds: float = 12.0) -> None:
        """Wait until every running broker that reaches the controller knows the newest record."""

        def all_know() -> bool:
            record = self.record()
            return record is not None and all(
                self._knows(broker, record) for broker in self.running()
            )

        wait_until(all_know, seconds)
        self.raise_floor()

    def _knows(self, broker: int, record: PartitionMetadata) -> bool:
        hand = self.cluster.hand
        if not hand.passes(broker, CONTROLLER) or FETCH in hand.link(broker, CONTROLLER).holding:
            return True
        belief = self.belief(broker)
        if belief is None:
            return True
        return belief.leader == record.leader and belief.leader_epoch in (-1, record.leader_epoch)

    def raise_floor(self) -> None:
        """Let fetches of older leader epochs pass: their leader refuses them by itself."""
        record = self.record()
        if record is None:
            return
        with self.cluster.hand.change():
            for name in (self.topic, self.cluster.metadata.topic_id(self.topic)):
                self.cluster.hand.floors[name] = record.leader_epoch

    def wait_for(self, is_so: Callable[[], bool], seconds: float) -> bool:
        return self.cluster.hand.wait_for(is_so, seconds)
