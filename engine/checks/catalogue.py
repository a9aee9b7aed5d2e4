"""The invariants by name: control-plane 11 (I...) and data-plane 14 (INV-...)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from engine.model.profiles import Profile

ALWAYS: Final = "always"
"""Promised of every run."""
EPOCHS: Final = "epochs"
"""Promised where leader epochs are in the log, and the epoch cache has no known defect."""
DURABILITY: Final = "durability"
"""Promised where no known defect loses records, no disk loses any, and every election is clean."""
NEVER: Final = "never"
COUNTED: Final = "counted"
"""A statistic: never promised, and breaking it is no violation."""

Promised = Literal["always", "epochs", "durability", "never", "counted"]


@dataclass(frozen=True, slots=True)
class Invariant:
    """One invariant: its statement, what is seen where it breaks, and the runs that it promises.

    `promised` is ALWAYS, EPOCHS, DURABILITY, NEVER or COUNTED, under a Kafka that has the flags of
    `needs` and none of the bugs in `broken_by`.  `also` is the data plane's name for it. `explains`
    names the promise that breaks by the mechanism this one looks at: a scenario that says so of the
    promise need not name both.
    """

    name: str
    title: str
    statement: str
    broken: str
    promised: Promised
    also: str = ""
    needs: tuple[str, ...] = ()
    broken_by: tuple[str, ...] = ()
    explains: str = ""

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


_LIST: Final = (
    Invariant(
        "I1",
        "OneLeaderPerEpoch",
        "One broker leads in a leader epoch.",
        "Two leaders act in one epoch.",
        ALWAYS,
        also="INV-7",
    ),
    Invariant(
        "I2",
        "EpochMonotonic",
        "Leader epochs and partition epochs never decrease.",
        "An epoch decreased.",
        ALWAYS,
        also="INV-9",
    ),
    Invariant(
        "I3",
        "IsrInAR",
        "The ISR is a subset of the assigned replicas, and the leader is in it.",
        "The ISR or its leader is not valid.",
        ALWAYS,
        broken_by=("keeps_removed_replicas",),  # KAFKA-1097
    ),
    # AlterPartition breaks it for a moment (docs/explanation/model.md).
    Invariant(
        "I4",
        "MaximalIsrSuperset",
        "The leader's maximal ISR contains the controller's ISR.",
        "The leader's ISR lacks a replica of the controller's ISR.",
        NEVER,
    ),
    Invariant(
        "I5",
        "LogMatching",
        "In-sync replicas have equal logs below their high watermarks.",
        "Two logs differ below their high watermarks.",
        DURABILITY,
        also="INV-14",
    ),
    Invariant(
        "I6",
        "LeaderComplete",
        "A new leader has every committed record.",
        "The leader lacks a committed record.",
        DURABILITY,
        also="INV-17, INV-19",
    ),
    Invariant(
        "I7",
        "AckedAllDurable",
        "A record acknowledged with acks=all stays.",
        "An acknowledged record is gone.",
        DURABILITY,
        also="INV-16",
    ),
    Invariant(
        "I8",
        "Ack1Durable",
        "A record acknowledged with acks=1 stays.",
        "A record acknowledged with acks=1 is gone.",
        COUNTED,
    ),
    Invariant(
        "I9",
        "ConsumerPrefix",
        "A record that a consumer read never changes or disappears.",
        "A record that a consumer read changed or disappeared.",
        DURABILITY,
        also="INV-24",
    ),
    Invariant(
        "I10",
        "TrueHwMonotonic",
        "A committed record is never removed or replaced.",
        "A committed record was removed or replaced.",
        DURABILITY,
        also="INV-15",
    ),
    Invariant(
        "I12",
        "NoDuplicate",
        "Each record of an idempotent producer is committed at most once.",
        "A record appears twice.",
        DURABILITY,
        also="INV-26",
        needs=("idempotent_producer",),
    ),
    Invariant(
        "I13",
        "Convergence",
        "After faults and traffic end, in-sync replicas reach the leader's LEO and high watermark.",
        "The replicas differ after all faults were repaired.",
        ALWAYS,
    ),
    Invariant(
        "I14",
        "NoCommitWithoutQuorum",
        "No record is committed with fewer in-sync replicas than min.insync.replicas (3.7).",
        "A record was committed with too few in-sync replicas.",
        ALWAYS,
        needs=("strict_min_isr",),
    ),
    Invariant(
        "I15",
        "ZombieCannotCommit",
        "A deposed leader commits no new record.",
        "A deposed leader committed a record.",
        ALWAYS,
        also="INV-11",
    ),
    Invariant(
        "INV-1",
        "OffsetOrder",
        "Log start offset <= high watermark <= log end offset.",
        "A high watermark is outside the log.",
        ALWAYS,
        broken_by=("full_truncation_keeps_hw", "mark_outside_is_unknown"),  # KAFKA-9491, KAFKA-3978
    ),
    Invariant(
        "INV-3",
        "EpochMonotoneInLog",
        "Epochs never decrease along a log.",
        "Epochs decrease along a log.",
        EPOCHS,
    ),
    Invariant(
        "INV-4",
        "EpochCacheSorted",
        "In the epoch cache, epochs and start offsets increase, within the log.",
        "An epoch cache is out of order.",
        EPOCHS,
    ),
    Invariant(
        "INV-5",
        "EpochCacheMatchesLog",
        "The epoch cache has the epoch of each batch.",
        "An epoch cache has a wrong start offset.",
        EPOCHS,
    ),
    Invariant(
        "INV-10",
        "LeaderAppendOnly",
        "A leader never truncates its own log.",
        "A leader truncated its own log.",
        ALWAYS,
    ),
    Invariant(
        "INV-12",
        "LogMatching",
        "Two logs with the same epoch at an offset are equal up to it.",
        "Two logs have the same epoch at an offset, but differ below it.",
        DURABILITY,
        explains="I5",
    ),
    Invariant(
        "INV-13",
        "FetchPrefix",
        "A replica that joins the ISR has the leader's log up to its own end.",
        "A replica joined the ISR with records that differ from its leader's.",
        DURABILITY,
        explains="I6",
    ),
    Invariant(
        "INV-18",
        "LeaderHwMonotone",
        "A leader's high watermark never decreases.",
        "A leader's high watermark decreased.",
        ALWAYS,
    ),
    Invariant(
        "INV-20",
        "FollowerHwBounded",
        "A follower's high watermark is at most the highest that a leader had.",
        "A follower's high watermark exceeds the highest that a leader had.",
        ALWAYS,
    ),
    Invariant(
        "INV-23",
        "VisibleIsCommitted",
        "A consumer receives only records below the high watermark.",
        "A consumer received an uncommitted record.",
        ALWAYS,
    ),
    Invariant(
        "INV-25",
        "LatestMonotone",
        "The latest offset that a client receives never decreases.",
        "A client received a smaller latest offset than before.",
        DURABILITY,
        needs=("offset_not_available",),
    ),
    Invariant(
        "INV-27",
        "TruncationNoticed",
        "A consumer that read truncated records notices before it reads on.",
        "A consumer reads on, although records that it read are gone.",
        DURABILITY,
        needs=("consumer_epochs",),
        broken_by=("mark_before_cut",),  # KAFKA-14704
    ),
    Invariant(
        "INV-28",
        "IsrNotThrottled",
        "A quota throttles no in-sync follower.",
        "A quota throttled an in-sync follower.",
        ALWAYS,
        broken_by=("quota_covers_in_sync", "waiting_fetch_throttled"),  # KAFKA-4313, KAFKA-6937
    ),
    Invariant(
        "INV-29",
        "SessionInStep",
        "A leader's fetch session has each partition as the fetcher last sent it.",
        "A fetch session and its fetcher do not match.",
        ALWAYS,
    ),
    Invariant(
        "INV-31",
        "OneLeaderPerQuorumEpoch",
        "One voter leads an epoch of the quorum.",
        "Two voters lead the same epoch of the quorum.",
        ALWAYS,
    ),
    Invariant(
        "INV-32",
        "MetadataLogMatching",
        "Voters that share an entry of the metadata log share all before it.",
        "Two voters differ below an entry of the metadata log that they share.",
        ALWAYS,
    ),
    Invariant(
        "INV-33",
        "QuorumLeaderComplete",
        "A new leader of the quorum has all committed metadata.",
        "A leader of the quorum lacks committed metadata.",
        ALWAYS,
    ),
    Invariant(
        "INV-34",
        "MetadataDurable",
        "Committed metadata stays on a majority of the voters, and below every high watermark.",
        "Committed metadata is gone.",
        ALWAYS,
    ),
    Invariant(
        "INV-35",
        "OneOwner",
        "In one generation of a group a partition has one owner.",
        "A partition has two owners in one generation of a group.",
        DURABILITY,
    ),
    Invariant(
        "INV-36",
        "OldGenerationFenced",
        "No commit of an older generation of a group overwrites one of a newer.",
        "A commit of an older generation of a group overwrites one of a newer.",
        DURABILITY,
    ),
    Invariant(
        "INV-37",
        "ProcessedOnce",
        "A group processes each record once.",
        "A group processed a record more than once.",
        COUNTED,
    ),
    Invariant(
        "INV-38", "NothingSkipped", "A group skips no record.", "A group skipped a record.", COUNTED
    ),
    Invariant(
        "INV-39",
        "DeletedMeansCopied",
        "What was committed and no local segment of the leader holds is in remote storage.",
        "Committed records are neither on the leader's disk nor in remote storage.",
        DURABILITY,
    ),
    Invariant(
        "INV-40",
        "RebuiltEpochs",
        "A follower that began after a remote segment has the epochs of its leader.",
        "A follower has rebuilt its log with other epochs than its leader's.",
        NEVER,
    ),
    Invariant(
        "INV-41",
        "CopiedMeansCommitted",
        "Only committed records are copied.",
        "Records that were not committed are in remote storage.",
        ALWAYS,
    ),
)
INVARIANTS: Final = {one.name: one for one in _LIST}
VIOLABLE: Final = tuple(one.name for one in _LIST if not one.statistic)
"""Invariants that can be violated, and so can stand in a verdict."""
