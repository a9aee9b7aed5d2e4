"""The promises of Raft, held by the voters of a KRaft quorum (10.1): INV-31 to INV-34."""

from __future__ import annotations

from typing import ClassVar

from engine.checks.invariant import ALWAYS, DISKS, About, Invariant, Observation
from engine.checks.voters import Entry
from engine.model.quorum import LEADER, MetadataLog, Quorum, Voter, majority


def has_all(log: MetadataLog, committed: list[Entry]) -> bool:
    """Check whether a log begins with all these entries."""
    end = len(committed)
    if log.end < end:
        return False
    if log.records[:end] != [record for _, record in committed]:
        return False
    return end == 0 or log.epoch_at(end - 1) == committed[-1][0]


class OneLeaderPerQuorumEpoch(Invariant):
    about: ClassVar = About(
        "INV-31",
        "One voter leads an epoch of the quorum.",
        "Two voters lead the same epoch of the quorum.",
        DISKS,
    )

    def on_voter_leads(self, run: Observation, voter: Voter, first: Voter) -> None:
        if first is not voter:
            why = "{0} and {1} both lead epoch {2} of the quorum"
            self.report(run, why, first.name, voter.name, voter.epoch)


class MetadataLogMatching(Invariant):
    about: ClassVar = About(
        "INV-32",
        "Voters that share an entry of the metadata log share all before it.",
        "Two voters differ below an entry of the metadata log that they share.",
        DISKS,
    )

    def on_voter_log(self, run: Observation, quorum: Quorum, voter: Voter) -> None:
        for other in (quorum.voters[node] for node in quorum.others(voter)):
            at = _differs(voter.log, other.log)
            if at >= 0:
                why = "{0} and {1} differ at {2}, below an entry that they share"
                self.report(run, why, voter.name, other.name, at)


def _differs(log: MetadataLog, other: MetadataLog) -> int:
    """Return an offset where two logs differ below an entry of the same offset and epoch, or -1."""
    end = min(log.end, other.end)
    while end and log.epoch_at(end - 1) != other.epoch_at(end - 1):
        end -= 1
    if log.records[:end] == other.records[:end]:
        return -1
    return next(at for at in range(end) if log.records[at] != other.records[at])


class QuorumLeaderComplete(Invariant):
    about: ClassVar = About(
        "INV-33",
        "A new leader of the quorum has all metadata that smaller epochs committed.",
        "A leader of the quorum lacks committed metadata.",
        DISKS,
    )

    def on_voter_leads(self, run: Observation, voter: Voter, first: Voter) -> None:
        voters = run.ledger.voters
        ends = (end for leader, end in voters.commits.items() if leader < voter.epoch)
        if not has_all(voter.log, voters.committed[: max(ends, default=0)]):
            why = "{0} leads epoch {1} without all committed metadata"
            self.report(run, why, voter.name, voter.epoch)


class MetadataDurable(Invariant):
    about: ClassVar = About(
        "INV-34",
        "Committed metadata stays on a majority of the voters, and below every high watermark.",
        "Committed metadata is gone.",
        DISKS,
    )

    def on_voter_log(self, run: Observation, quorum: Quorum, voter: Voter) -> None:
        hw = min(voter.hw, voter.log.end)
        if hw > 0 and not has_all(voter.log, run.ledger.voters.committed[:hw]):
            why = "{0} has another record than the one committed below {1}"
            self.report(run, why, voter.name, hw)

    def on_quorum(self, run: Observation, quorum: Quorum) -> None:
        committed = run.ledger.voters.committed
        members = run.ledger.voters.members or quorum.static
        holders = sum(has_all(quorum.voters[node].log, committed) for node in members)
        if holders < majority(members):
            why = "only {0} voters store the metadata committed up to {1}"
            self.report(run, why, holders, len(committed))


class OneVoterChangeAtATime(Invariant):
    about: ClassVar = About(
        "INV-42",
        "A leader of the quorum has at most one change of the voters that is not committed.",
        "Two changes of the voters are under way at once.",
        ALWAYS,
    )

    def on_voter_log(self, run: Observation, quorum: Quorum, voter: Voter) -> None:
        if not quorum.dynamic or voter.state != LEADER:
            return
        high_watermark = len(run.ledger.voters.committed)
        changes = sum(offset >= high_watermark for offset, _ in voter.log.voter_sets)
        if changes > 1:
            why = "{0} has {1} changes of the voters that no majority stores"
            self.report(run, why, voter.name, changes)
