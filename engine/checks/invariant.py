"""An invariant: its statement, what it remembers of a run, and what it checks after which event."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import Any, ClassVar, Final, Literal

from engine.checks.facts import Assignment, GroupCommit, MemberState
from engine.checks.ledger import Acked, Ledger
from engine.checks.replica_memory import ReplicaMemory
from engine.model.broker import Process
from engine.model.cluster import Cluster
from engine.model.compiling import mypyc_attr
from engine.model.declared import begins, declared, fresh
from engine.model.log import Batch
from engine.model.messages import FetchData
from engine.model.phrases import phrase
from engine.model.profiles import Profile
from engine.model.quorum import Quorum, Voter
from engine.model.records import Ids, PartitionRecord
from engine.model.remote_log import RemoteLog
from engine.model.state import Replica

ALWAYS: Final = "always"
"""Promised of every run."""
EPOCHS: Final = "epochs"
"""Promised where leader epochs are in the log, and the epoch cache has no known defect."""
DURABILITY: Final = "durability"
"""Promised where no known defect loses records, no disk loses any, and every election is clean."""
DISKS: Final = "disks"
"""Promised of every run in which disks keep what they had (A1)."""
NEVER: Final = "never"
COUNTED: Final = "counted"
"""A statistic: never promised, and breaking it is no violation."""

Promised = Literal["always", "epochs", "durability", "disks", "never", "counted"]


@declared
class About:
    """Statement of an invariant, what is seen where it breaks, and the runs that promise it.

    `promised` is ALWAYS, EPOCHS, DURABILITY, DISKS, NEVER or COUNTED, under a Kafka that has the
    flags of `needs` and none of the bugs in `broken_by`.  `also` is the data plane's name for it.
    `explains` names the promise that breaks by the mechanism this one looks at: a scenario that
    says so of the promise need not name both.
    """

    name: str
    statement: str
    broken: str
    promised: Promised
    also: str = ""
    needs: tuple[str, ...] = ()
    broken_by: tuple[str, ...] = ()
    explains: str = ""
    title: str = ""  # the name of its class, unless it says another

    @property
    def statistic(self) -> bool:
        """True of what is counted and never a violation."""
        return self.promised == COUNTED

    @property
    def mechanism(self) -> bool:
        """True of what looks at one mechanism of the data plane, beneath a promise to users."""
        return self.name.startswith("INV-")

    def holds_under(self, profile: Profile) -> bool:
        """Check that the profile has what the invariant needs, and no bug that breaks it."""
        return all(getattr(profile, flag) for flag in self.needs) and not any(
            getattr(profile, bug) for bug in self.broken_by
        )


@declared
class Observation:
    """A cluster, the ledger of its run, and what was seen of both up to event number `step`.

    `broken` has (invariant, event number, why), the first time only.  `reached` is per partition
    the highest high watermark of any leader, past ones too.  `memories` are the invariants' own.
    """

    cluster: Cluster
    ledger: Ledger
    broken: list[tuple[str, int, str]] = fresh(list)
    told: set[str] = fresh(set)
    counts: dict[str, int] = fresh(dict)
    memories: defaultdict[str, dict[Any, Any]] = fresh(lambda: defaultdict(dict))
    records: dict[int, PartitionRecord] = fresh(dict)
    reached: list[int] = fresh(list)
    step: int = begins(0)

    def name(self, node: int) -> str:
        """Return the name of a broker for messages."""
        return phrase("broker {0}", self.cluster.brokers[node].name)


@mypyc_attr(allow_interpreted_subclasses=True)
class Invariant:
    """Base of the invariants: what one defines is called when it happens, in order of their names.

    One object of a class looks at all runs.
    """

    about: ClassVar[About]

    def memory(self, run: Observation) -> dict[Any, Any]:
        """Return what it remembers of a run; values never change, since copies share them."""
        return run.memories[self.about.name]

    def count(self, run: Observation) -> None:
        name = self.about.name
        run.counts[name] = run.counts.get(name, 0) + 1

    def report(self, run: Observation, why: str, *values: object) -> None:
        """Record the first violation and count the later ones."""
        self.count(run)
        name = self.about.name
        if not self.about.statistic and name not in run.told:
            run.told.add(name)
            run.broken.append((name, run.step, phrase(why, *values)))

    # -- replicas: `seen` still has the replica as it was when it was looked at last --------------

    def on_replica(self, run: Observation, seen: ReplicaMemory) -> None:
        """Check a replica of which anything changed."""

    def on_epoch(self, run: Observation, seen: ReplicaMemory) -> None:
        """Check a replica whose leader epoch changed."""

    def on_append(self, run: Observation, replica: Replica, at: int) -> None:
        """Check what was appended to a log, from batch number `at`."""

    def on_truncated(self, run: Observation, seen: ReplicaMemory) -> None:
        """Check a replica whose log ends earlier than before."""

    def on_leader(self, run: Observation, replica: Replica) -> None:
        """Check a replica that has become leader."""

    def on_missing(self, run: Observation, replica: Replica, batches: list[Batch]) -> None:
        """Check committed batches that a new leader lacks."""

    def on_lost(self, run: Observation, replica: Replica, acked: Acked, records: list[str]) -> None:
        """Check acknowledged records that the leader lacks."""

    def on_hw_raised(self, run: Observation, replica: Replica) -> None:
        """Check a leader that raised its high watermark above what this replica had before."""

    def on_committed_twice(self, run: Observation, batch: Batch, first: int) -> None:
        """Check a batch of an idempotent producer that is committed at offset `first` already."""

    def on_replaced(self, run: Observation, batch: Batch) -> None:
        """Check a committed batch in whose place another was committed."""

    def on_pair(
        self, run: Observation, replica: Replica, other: Replica, start: int, end: int
    ) -> None:
        """Compare two in-sync replicas on [start, end), which is below the first one's mark."""

    # -- brokers, the controller and its quorum ---------------------------------------------------

    def on_broker(self, run: Observation, process: Process) -> None:
        """Check a broker after any of its events."""

    def on_record(
        self, run: Observation, tp: int, record: PartitionRecord, before: PartitionRecord | None
    ) -> None:
        """Check a partition's new record."""

    def on_joined(self, run: Observation, leader: Replica, members: Ids) -> None:
        """Check replicas that joined the ISR of a leader."""

    def on_voter_leads(self, run: Observation, voter: Voter, first: Voter) -> None:
        """Check a voter that leads an epoch, and the voter that was first seen to lead it."""

    def on_voter_log(self, run: Observation, quorum: Quorum, voter: Voter) -> None:
        """Check a voter whose log or high watermark changed."""

    def on_quorum(self, run: Observation, quorum: Quorum) -> None:
        """Check the voters together after any of their logs changed."""

    def on_remote(self, run: Observation, tp: int, remote: RemoteLog) -> None:
        """Check the remote log of a partition after any event."""

    def on_tier(self, run: Observation, remote: RemoteLog, leader: Replica, start: int) -> None:
        """Check a leader against its remote log; `start` is the largest log start of any leader."""

    def on_settled(self, run: Observation) -> None:
        """Check the cluster long after all faults and traffic."""

    # -- clients ----------------------------------------------------------------------------------

    def on_retried(self, run: Observation, leader: Replica, acked: Acked, since: int) -> None:
        """Check an acknowledged batch that was sent more than once, `since` when (ms)."""

    def on_read(
        self, run: Observation, client: int, src: int, data: FetchData, batches: list[Batch]
    ) -> None:
        """Check the batches that broker `src` served to a consumer."""

    def on_latest(self, run: Observation, tp: int, latest: int) -> None:
        """Check a latest offset that a client was sent."""

    def on_moved(self, run: Observation, client: int) -> None:
        """Note that the application knows of the consumer's new position."""

    def on_processed(self, run: Observation, value: str, times: int) -> None:
        """Check a record that a group has processed for the n-th time (`times`)."""

    def on_polled(
        self, run: Observation, group: int, tp: int, base: int, members: Collection[MemberState]
    ) -> None:
        """Check what lies below the offset from which a member was given records."""

    def on_assigned(self, run: Observation, assigned: Assignment) -> None:
        """Check the running members of a group after an assignment."""

    def on_group_commit(self, run: Observation, commit: GroupCommit) -> None:
        """Check a commit of a group."""
