"""The invariants by name: control-plane 11 (I...) and data-plane 14 (INV-...)."""

from __future__ import annotations

from typing import Final


class Invariant:
    """A name, the statement, the data plane's name for it, and whether breaking it is a violation.

    A statistic (I8) is counted and never a violation.  `explains` names the promise that breaks by
    the mechanism this one looks at: a scenario that says so of the promise need not name both.
    """

    __slots__ = ("also", "explains", "name", "statement", "statistic", "title")

    def __init__(
        self,
        name: str,
        title: str,
        also: str,
        statement: str,
        statistic: bool = False,
        explains: str = "",
    ) -> None:
        self.name = name
        self.title = title
        self.also = also
        self.statement = statement
        self.statistic = statistic
        self.explains = explains


_LIST: Final = (
    Invariant("I1", "OneLeaderPerEpoch", "INV-7", "One broker leads in a leader epoch."),
    Invariant("I2", "EpochMonotonic", "INV-9", "Leader and partition epochs never go back."),
    Invariant("I3", "IsrInAR", "", "The ISR lies within the assigned replicas; the leader in it."),
    Invariant(
        "I4",
        "MaximalIsrSuperset",
        "",
        "The controller's ISR lies within the maximal ISR of the leader.",
    ),
    Invariant("I5", "LogMatching", "INV-14", "In-sync replicas agree below their high watermarks."),
    Invariant("I6", "LeaderComplete", "INV-17, INV-19", "A new leader has every committed record."),
    Invariant("I7", "AckedAllDurable", "INV-16", "A record acknowledged with acks=all stays."),
    Invariant("I8", "Ack1Durable", "", "A record acknowledged with acks=1 stays.", statistic=True),
    Invariant("I9", "ConsumerPrefix", "INV-24", "What was read is never contradicted later."),
    Invariant("I10", "TrueHwMonotonic", "INV-15", "What was committed is never undone."),
    Invariant(
        "I12",
        "NoDuplicate",
        "INV-26",
        "What an idempotent producer sends is stored once among the committed.",
    ),
    Invariant(
        "I13",
        "Convergence",
        "",
        "When faults and traffic are over, the in-sync replicas reach the leader's end and mark.",
    ),
    Invariant("I14", "NoCommitWithoutQuorum", "", "Nothing is committed below min ISR (3.7)."),
    Invariant("I15", "ZombieCannotCommit", "INV-11", "A deposed leader commits nothing new."),
    Invariant("INV-1", "OffsetOrder", "", "Log start <= high watermark <= log end."),
    Invariant("INV-3", "EpochMonotoneInLog", "", "Epochs never decrease along a log."),
    Invariant("INV-4", "EpochCacheSorted", "", "Epochs and their starts rise, within the log."),
    Invariant("INV-5", "EpochCacheMatchesLog", "", "The epoch cache tells each batch's epoch."),
    Invariant("INV-10", "LeaderAppendOnly", "", "A leader's log only grows."),
    Invariant(
        "INV-12",
        "LogMatching",
        "",
        "Equal epoch at an offset means equal logs up to it.",
        explains="I5",
    ),
    Invariant(
        "INV-13",
        "FetchPrefix",
        "",
        "Who joins the ISR has the leader's log so far.",
        explains="I6",
    ),
    Invariant("INV-18", "LeaderHwMonotone", "", "A leader's high watermark never goes back."),
    Invariant(
        "INV-20", "FollowerHwBounded", "", "A follower's mark is no higher than a leader's was."
    ),
    Invariant("INV-23", "VisibleIsCommitted", "", "A consumer gets only what lies below the mark."),
    Invariant("INV-25", "LatestMonotone", "", "The latest offset a client is told only grows."),
    Invariant(
        "INV-27", "TruncationNoticed", "", "Who read records that were cut learns it in time."
    ),
    Invariant("INV-28", "IsrNotThrottled", "", "A quota holds back nobody who is in sync."),
    Invariant(
        "INV-29", "SessionInStep", "", "A session knows of each partition what was last said of it."
    ),
    Invariant("INV-31", "OneLeaderPerQuorumEpoch", "", "One voter leads an epoch of the quorum."),
    Invariant(
        "INV-32",
        "MetadataLogMatching",
        "",
        "Voters that share an entry of the metadata log share all before it.",
    ),
    Invariant(
        "INV-33",
        "QuorumLeaderComplete",
        "",
        "A new leader of the quorum has all committed metadata.",
    ),
    Invariant(
        "INV-34",
        "MetadataDurable",
        "",
        "Committed metadata stays, on a majority of the voters and in every mark.",
    ),
    Invariant(
        "INV-35",
        "OneOwner",
        "",
        "In one generation of a group a partition has one owner.",
    ),
    Invariant(
        "INV-36",
        "OldGenerationFenced",
        "",
        "No commit of an older generation of a group follows one of a newer.",
    ),
    Invariant("INV-37", "ProcessedOnce", "", "A group processes each record once.", statistic=True),
    Invariant("INV-38", "NothingSkipped", "", "A group skips no record.", statistic=True),
)
INVARIANTS: Final = {one.name: one for one in _LIST}
VIOLABLE: Final = tuple(one.name for one in _LIST if not one.statistic)
"""Invariants that can be violated, and so can stand in a verdict."""
