"""Every rule of the specification, by its identifier: what it is called, and why no run shows it.

Which functions follow a rule is never written down here: their docstrings cite it.  What it does,
and where in Kafka, is in the source map.
"""

from __future__ import annotations

import re
from typing import Final

from engine.model.profiles import Profile

IDENTIFIER: Final = re.compile(
    r"(?<![\w-])(?:CP-[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*|[CDEFGHLPQRSTX]-\d+)(?![\w-])"
)
"""A citation; what follows the dot (S-2.4) is a sub-step and belongs to the rule."""

FORMER: Final = {
    "CP-ALTER": ("alter_partition", "CP-ALTER.direct", "The leader writes the ISR itself"),
}
"""Rule -> (flag, name, title): what it is called by where a release lacks the flag."""

TITLES: Final[dict[str, str]] = {
    # -- the log ---------------------------------------------------------------------------------
    "L-1": "Batches and offsets",
    "L-2": "Segments",
    "L-3": "Append as leader",
    "L-4": "Append as follower",
    "L-5": "Roll",
    "L-6": "Read",
    "L-7": "Raise the log start",
    "L-8": "Retention",
    "L-9": "DeleteRecords (KIP-107)",
    "L-10": "Flush",
    "L-11": "Crash classes",
    "L-12": "Clean shutdown order",
    "L-13": "Load and recovery",
    "L-14": "Truncate to an offset",
    "L-15": "Truncate fully and start elsewhere",
    "L-16": "Disk error",
    # -- the leader-epoch cache ------------------------------------------------------------------
    "E-1": "The epoch cache",
    "E-2": "Assign an epoch",
    "E-3": "Truncate from the end",
    "E-4": "Truncate from the start",
    "E-5": "Where an epoch ended",
    "E-6": "A trailing epoch without records",
    "E-7": "The epoch of an offset",
    "E-8": "Downgrade of the message format",
    # -- the high watermark ----------------------------------------------------------------------
    "H-1": "What the high watermark means",
    "H-2": "The leader's computation",
    "H-3": "When it runs",
    "H-4": "The follower's rule",
    "H-5": "The mark lags behind by a fetch",
    "H-6": "Delayed operations that depend on it",
    "H-7": "Checkpoint files",
    "H-8": "Leader change",
    "H-9": "Does it go back?",
    "H-10": "How far readers may see",
    "H-11": "Before 0.11 it was the truncation point",
    # -- the fetcher -----------------------------------------------------------------------------
    "F-1": "Which thread fetches a partition",
    "F-2": "Adding a partition",
    "F-3": "Removing a partition",
    "F-4": "The loop: truncate, then fetch",
    "F-5": "Build the Fetch",
    "F-6": "Process the response",
    "F-7": "Process one partition's data",
    "F-8": "Failures",
    "F-9": "Out of range",
    "F-10": "Fenced",
    # -- truncation ------------------------------------------------------------------------------
    "T-0": "To the own high watermark",
    "T-1": "To an epoch's end (KIP-101)",
    "T-2": "By epoch and end (KIP-279)",
    "T-3": "With fencing (KIP-320)",
    "T-4": "On fetch (KIP-595)",
    # -- the leader's side of Fetch --------------------------------------------------------------
    "S-1": "Before the log",
    "S-2": "Per partition: which failure wins",
    "S-3": "Divergence check",
    "S-4": "Follower state update",
    "S-5": "Respond or park",
    "S-6": "When a parked Fetch is answered",
    "S-7": "Expand the ISR",
    "S-8": "Shrink the ISR",
    "S-9": "Result of an ISR change",
    # -- fetch sessions --------------------------------------------------------------------------
    "X-1": "The idea of a fetch session (KIP-227)",
    "X-2": "Session identifiers",
    "X-3": "The server takes a request",
    "X-4": "What a response contains",
    "X-5": "The session cache",
    "X-6": "The client's side",
    # -- replication quotas ----------------------------------------------------------------------
    "Q-1": "Configurations of the quotas",
    "Q-2": "The leader's side",
    "Q-3": "The follower's side",
    "Q-4": "Exempt from being held back, not from being counted",
    "Q-5": "Accounting",
    "Q-6": "The sliding rate",
    "Q-7": "A throttled follower stays out of the ISR",
    # -- producers -------------------------------------------------------------------------------
    "P-1": "The request",
    "P-2": "What acks means",
    "P-3": "The flow",
    "P-4": "When a waiting produce is answered",
    "P-5": "The two errors “not enough replicas”",
    "P-6": "What the client does",
    "P-7": "Idempotent producer",
    "P-8": "Stories to animate",
    # -- consumers -------------------------------------------------------------------------------
    "C-1": "From whom consumers fetch",
    "C-2": "Visibility",
    "C-3": "A position beyond the high watermark",
    "C-4": "Out of range",
    "C-5": "ListOffsets",
    "C-6": "Other errors",
    "C-7": "The client detects truncation (KIP-320)",
    "C-8": "Fetch from a follower (KIP-392)",
    # -- consumer groups -------------------------------------------------------------------------
    "G-1": "Who coordinates a group",
    "G-2": "Join, leave, and generations",
    "G-3": "Sessions of members",
    "G-4": "Commit and fetch offsets",
    "G-5": "Coordinator fail-over, and where members begin",
    "G-6": "Commit before or after processing",
    # -- tiered storage --------------------------------------------------------------------------
    "R-1": "Copy closed segments to remote storage",
    "R-2": "Remote segments and their metadata",
    "R-3": "Local retention",
    "R-4": "Retention of the whole log",
    "R-5": "A follower begins after the remote part",
    "R-6": "Reads below the local log start",
    # -- moves between directories of one broker -------------------------------------------------
    "D-1": "The future log",
    "D-2": "Its fetcher",
    "D-3": "Its quota",
    "D-4": "Truncation reaches it, too",
    "D-5": "Promotion",
    "D-6": "A known defect: its epoch cache",
    # -- membership ------------------------------------------------------------------------------
    "CP-ZK-REG": "A broker registers (ZooKeeper)",
    "CP-ZK-CTRL": "Controller election and fail-over (ZooKeeper)",
    "CP-ZK-BROKERS": "The set of brokers changes (ZooKeeper)",
    "CP-ZK-SHUTDOWN": "Controlled shutdown (ZooKeeper)",
    "CP-KR-REG": "A broker registers (KRaft)",
    "CP-KR-HB": "Heartbeats and the two state machines (KRaft)",
    "CP-KR-FENCE": "Session expiry and fencing",
    "CP-KR-UNFENCE": "Unfencing",
    "CP-KR-SHUTDOWN": "Controlled shutdown (KRaft)",
    # -- placement and elections -----------------------------------------------------------------
    "CP-PLACE-SIMPLE": "The textbook's modulo rule",
    "CP-PLACE-ZK": "Placement of the ZooKeeper era",
    "CP-PLACE-ZK-RACK": "Its rack-aware variant (KIP-36)",
    "CP-PLACE-KR": "The striped placer (KRaft)",
    "CP-ELECT-NEW": "A new partition",
    "CP-ELECT-ZK": "The four strategies of the ZooKeeper era",
    "CP-ELECT-KR": "The rule of partition changes (KRaft)",
    "CP-PREFERRED": "Preferred leader election",
    "CP-UNCLEAN-TRIGGERS": "What triggers an unclean election",
    # -- the ISR ---------------------------------------------------------------------------------
    "CP-ISR-CLOCK": "The follower's clock that the leader keeps",
    "CP-ISR-SHRINK": "Shrink",
    "CP-ISR-EXPAND": "Expand",
    "CP-ALTER": "AlterPartition (KIP-497)",
    "CP-ISR-ZKPROP": "ISR propagation of the ZooKeeper era",
    "CP-MINISR": "min.insync.replicas",
    "CP-ELR": "Eligible leader replicas (KIP-966)",
    "CP-CLEAN-SHUTDOWN": "Was a shutdown clean?",
    # -- requests to the brokers -----------------------------------------------------------------
    "CP-LISR": "LeaderAndIsr",
    "CP-KR-APPLY": "A broker applies metadata",
    "CP-MAKE-LEADER": "A broker becomes leader",
    "CP-MAKE-FOLLOWER": "A broker becomes follower",
    # -- reassignment ----------------------------------------------------------------------------
    "CP-REASSIGN-KR": "Reassignment (KRaft)",
    "CP-REASSIGN-ZK": "Reassignment (ZooKeeper)",
    "CP-THROTTLE": "Throttled reassignment",
    "CP-DECOMMISSION": "Retiring a broker",
    # -- the KRaft quorum ------------------------------------------------------------------------
    "CP-RAFT-VOTE": "Voters elect a leader (KIP-595)",
    "CP-RAFT-PREVOTE": "A voter first asks who would vote for it (KIP-996)",
    "CP-RAFT-EPOCH": "A leader begins and ends its epoch",
    "CP-RAFT-FETCH": "Voters fetch the metadata log",
    "CP-RAFT-COMMIT": "The quorum commits metadata",
    "CP-RAFT-OBSERVER": "Brokers observe the quorum",
}

BESIDE: Final[dict[str, str]] = {
    "CP-ISR": "The recorded ISR changes",
    "CP-REG": "A broker registers",
    "CP-ELECT-ADMIN": "An operator asks for an election",
    "CP-STOP-REPLICA": "A replica stops",
    "CP-SHUTDOWN": "Controlled shutdown",
    "CP-REASSIGN": "An operator asks for other replicas",
    "CP-12": "A configuration changes",
    "CP-5.4": "Delivery of metadata",
    "CP-7.7": "A topic is deleted",
    "CP-8.1": "A process or a machine crashes",
    "CP-8.2": "Restart",
    "CP-8.3": "Pause",
    "CP-8.4": "A log directory fails",
    "CP-8.5": "Faults of the network",
    "CP-8.6": "Slow and lossy links, slow disks",
    "CP-8.7": "Clocks",
    "CP-10": "The controller",
}
"""Titles of cues beside the rules: changes without a rule of their own, operators, faults."""

EXCUSES: Final[dict[str, str]] = {
    "E-8": "not modelled: every batch has the format that carries its epoch",
    "P-8": "stories, told by scenarios of the library; no rule of their own",
}
"""Identifier -> why nothing that a run plays follows it: deliberately, or not yet."""

UNLIT: Final[dict[str, str]] = {
    "E-7": "it answers a question within another rule, and leaves no mark of its own",
    "L-5": "a roll moves no offset: the logs of the stage show records, not their files",
    "C-3": "an empty answer without an error changes nothing that could be told",
    "C-4": "no consumer of the library is without auto.offset.reset",
    "C-6": "consumers ask again, which the sentence of the refusal tells",
    "D-3": "no scenario of the library limits a copy between directories",
    "CP-PLACE-KR": "the scenarios of the library say where replicas are",
    "CP-PLACE-ZK-RACK": "no scenario places by racks under ZooKeeper",
}
"""Identifier -> why no step of the library lights its card, beside those of EXCUSES."""

DORMANT: Final[dict[str, str]] = {}
"""Identifier -> why its code, though a run passes by it, never comes into effect there."""


def name_and_title(rule: str, profile: Profile) -> tuple[str, str]:
    """Return (name, title) of a rule in a profile."""
    flag, name, title = FORMER.get(rule, ("", rule, ""))
    if flag and not getattr(profile, flag):
        return name, title
    return rule, {**TITLES, **BESIDE}[rule]
