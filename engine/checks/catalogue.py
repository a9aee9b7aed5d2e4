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
        "Leader and partition epochs never go back.",
        "An epoch went back.",
        ALWAYS,
        also="INV-9",
    ),
    Invariant(
        "I3",
        "IsrInAR",
        "The ISR lies within the assigned replicas; the leader in it.",
        "The ISR is not as it must be.",
        ALWAYS,
        broken_by=("keeps_removed_replicas",),  # KAFKA-1097
    ),
    # AlterPartition breaks it for a moment (docs/explanation/model.md).
    Invariant(
        "I4",
        "MaximalIsrSuperset",
        "The controller's ISR lies within the maximal ISR of the leader.",
        "The leader counts fewer replicas than the controller.",
        NEVER,
    ),
    Invariant(
        "I5",
        "LogMatching",
        "In-sync replicas agree below their high watermarks.",
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
        "What was read is never contradicted later.",
        "What was read is contradicted.",
        DURABILITY,
        also="INV-24",
    ),
    Invariant(
        "I10",
        "TrueHwMonotonic",
        "What was committed is never undone.",
        "What was committed is undone.",
        DURABILITY,
        also="INV-15",
    ),
    Invariant(
        "I12",
        "NoDuplicate",
        "What an idempotent producer sends is stored once among the committed.",
        "A record appears twice.",
        DURABILITY,
        also="INV-26",
        needs=("idempotent_producer",),
    ),
    Invariant(
        "I13",
        "Convergence",
        "When faults and traffic are over, the in-sync replicas reach the leader's end and mark.",
        "Healed replicas stay different.",
        ALWAYS,
    ),
    Invariant(
        "I14",
        "NoCommitWithoutQuorum",
        "Nothing is committed below min ISR (3.7).",
        "A record was committed with too small an ISR.",
        ALWAYS,
        needs=("strict_min_isr",),
    ),
    Invariant(
        "I15",
        "ZombieCannotCommit",
        "A deposed leader commits nothing new.",
        "A deposed leader committed a record.",
        ALWAYS,
        also="INV-11",
    ),
    Invariant(
        "INV-1",
        "OffsetOrder",
        "Log start <= high watermark <= log end.",
        "A high watermark lies outside the log.",
        ALWAYS,
        broken_by=("full_truncation_keeps_hw", "mark_outside_is_unknown"),  # KAFKA-9491, KAFKA-3978
    ),
    Invariant(
        "INV-3",
        "EpochMonotoneInLog",
        "Epochs never decrease along a log.",
        "Epochs fall along a log.",
        EPOCHS,
    ),
    Invariant(
        "INV-4",
        "EpochCacheSorted",
        "Epochs and their starts rise, within the log.",
        "An epoch cache is out of order.",
        EPOCHS,
    ),
    Invariant(
        "INV-5",
        "EpochCacheMatchesLog",
        "The epoch cache tells each batch's epoch.",
        "An epoch cache misplaces records.",
        EPOCHS,
    ),
    Invariant(
        "INV-10",
        "LeaderAppendOnly",
        "A leader's log only grows.",
        "A leader cut its own log.",
        ALWAYS,
    ),
    Invariant(
        "INV-12",
        "LogMatching",
        "Equal epoch at an offset means equal logs up to it.",
        "Logs with one epoch at an offset differ below it.",
        DURABILITY,
        explains="I5",
    ),
    Invariant(
        "INV-13",
        "FetchPrefix",
        "Who joins the ISR has the leader's log so far.",
        "A replica joined the ISR with other records than its leader.",
        DURABILITY,
        explains="I6",
    ),
    Invariant(
        "INV-18",
        "LeaderHwMonotone",
        "A leader's high watermark never goes back.",
        "A leader's high watermark went back.",
        ALWAYS,
    ),
    Invariant(
        "INV-20",
        "FollowerHwBounded",
        "A follower's mark is no higher than a leader's was.",
        "A follower's high watermark passed every leader's.",
        ALWAYS,
    ),
    Invariant(
        "INV-23",
        "VisibleIsCommitted",
        "A consumer gets only what lies below the mark.",
        "A consumer was given an uncommitted record.",
        ALWAYS,
    ),
    Invariant(
        "INV-25",
        "LatestMonotone",
        "The latest offset a client is told only grows.",
        "A client was told an earlier latest offset than before.",
        DURABILITY,
        needs=("offset_not_available",),
    ),
    Invariant(
        "INV-27",
        "TruncationNoticed",
        "A consumer that read records that were cut learns it in time.",
        "A consumer reads on though what it read is gone.",
        DURABILITY,
        needs=("consumer_epochs",),
        broken_by=("mark_before_cut",),  # KAFKA-14704
    ),
    Invariant(
        "INV-28",
        "IsrNotThrottled",
        "A quota holds back no follower that is in sync.",
        "A quota held back a replica in sync.",
        ALWAYS,
        broken_by=("quota_covers_in_sync", "waiting_fetch_throttled"),  # KAFKA-4313, KAFKA-6937
    ),
    Invariant(
        "INV-29",
        "SessionInStep",
        "A session knows of each partition what was last said of it.",
        "A fetch session and its fetcher are out of step.",
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
        "Committed metadata stays, on a majority of the voters and in every mark.",
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
        "No commit of an older generation of a group follows one of a newer.",
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
