"""Promises of consumer groups, and how often a record is processed (G-): INV-35 to 38, INV-43."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

from engine.checks.facts import Assignment, GroupCommit, MemberState
from engine.checks.invariant import COUNTED, DURABILITY, About, Invariant, Observation


class OneOwner(Invariant):
    """Memory, for G-9: (group, member, partition) -> when it was confirmed as the owner.

    That is from a first to a last offset of the coordinator's log.
    """

    about: ClassVar = About(
        "INV-35",
        "In one generation of a group a partition has one owner.",
        "A partition has two owners in one generation of a group.",
        DURABILITY,
    )

    def on_assigned(self, run: Observation, assigned: Assignment) -> None:
        if assigned.member.reconciles:
            self._check_epochs(run, assigned)
            return
        owners: dict[tuple[int, int], MemberState] = {}
        for owner in assigned.members:
            for tp in owner.assigned:
                first = owners.setdefault((owner.generation, tp), owner)
                if first.member != owner.member and not _are_one(first, owner):
                    why = "{0} and {1} both own partition {2} in generation {3}"
                    self.report(run, why, first.member, owner.member, tp, owner.generation)

    def _check_epochs(self, run: Observation, assigned: Assignment) -> None:
        """G-9.  Report two owners whose times in the coordinator's log overlap."""
        group, member, base, members = assigned
        commits: dict[tuple[int, str, int], tuple[int, int]] = self.memory(run)
        for key in [place for place in commits if place[:2] == (group, member.member)]:
            if key[2] not in member.assigned:
                del commits[key]
        for tp in member.assigned:
            first, _ = commits.get((group, member.member, tp), (base, base))
            commits[group, member.member, tp] = first, base
            for other in members:
                if other.member == member.member or tp not in other.assigned:
                    continue
                since, until = commits.get((group, other.member, tp), (base + 1, -1))
                if first <= until and since <= base:
                    why = "{0} and {1} both own partition {2} in epochs {3} and {4}"
                    epochs = member.generation, other.generation
                    self.report(run, why, member.member, other.member, tp, *epochs)


def _are_one(first: MemberState, other: MemberState) -> bool:
    """G-7.  Check for two processes of one static member; the former will find itself fenced."""
    return bool(first.instance) and first.instance == other.instance


class OldGenerationFenced(Invariant):
    """Memory: (group, partition for G-9, else "") -> (offset, generation) of the newest commit.

    Members of G-9 are in epochs of their own, so only those of one partition are compared.
    """

    about: ClassVar = About(
        "INV-36",
        "No commit of an older generation of a group overwrites one of a newer.",
        "A commit of an older generation of a group overwrites one of a newer.",
        DURABILITY,
    )

    def on_group_commit(self, run: Observation, commit: GroupCommit) -> None:
        group, member, base, records = commit
        last: dict[tuple[int, str], tuple[int, int]] = self.memory(run)
        names = [record.split(":")[0] for record in records] if member.reconciles else [""]
        for name in names:
            at, newest = last.get((group, name), (-1, -1))
            if base > at and member.generation < newest:
                why = "a commit of generation {0} follows one of {1}"
                self.report(run, why, member.generation, newest)
            last[group, name] = max((at, newest), (base, member.generation))


class FormerProcessFenced(Invariant):
    """Memory: (group, instance) -> (where its last process became the member, that member)."""

    about: ClassVar = About(
        "INV-43",
        "Of two processes with one group.instance.id only the later one commits.",
        "A process commits whose group.instance.id another has taken over.",
        DURABILITY,
        broken_by=("static_rejoin_not_written",),
    )

    def on_assigned(self, run: Observation, assigned: Assignment) -> None:
        group, member, base, _ = assigned
        if member.instance:
            assigned_at: dict[tuple[int, str], tuple[int, str]] = self.memory(run)
            place, now = (group, member.instance), (base, member.member)
            assigned_at[place] = max(assigned_at.get(place, now), now)

    def on_group_commit(self, run: Observation, commit: GroupCommit) -> None:
        group, member, base, _ = commit
        since, owner = self.memory(run).get((group, member.instance), (base, member.member))
        if base > since and member.member != owner:
            why = "{0} commits as {1}, which {2} has been since"
            self.report(run, why, member.member, member.instance, owner)


class ProcessedOnce(Invariant):
    about: ClassVar = About(
        "INV-37",
        "A group processes each record once.",
        "A group processed a record more than once.",
        COUNTED,
    )

    def on_processed(self, run: Observation, value: str, times: int) -> None:
        if times > 1:
            self.count(run)


class NothingSkipped(Invariant):
    """Each committed record below a poll's offset is processed, or held by a running member.

    Memory: (group, partition) -> (offset below which skipped records are known, number of unclean
    elections by then).
    """

    about: ClassVar = About(
        "INV-38", "A group skips no record.", "A group skipped a record.", COUNTED
    )

    def on_polled(
        self, run: Observation, group: int, tp: int, base: int, members: Collection[MemberState]
    ) -> None:
        ledger, upto = run.ledger, self.memory(run)
        rewritten = len(ledger.unclean_epochs)
        at, then = upto.get((group, tp), (0, rewritten))
        if then != rewritten:
            at = 0
        upto[group, tp] = max(at, base), rewritten
        while at < base:
            batch = ledger.committed[tp].get(at)
            for value in batch.values if batch is not None else ():
                key = group, value
                held = any(value in member.polled for member in members)
                if key not in ledger.processed and key not in ledger.skipped and not held:
                    ledger.skipped[key] = tp
                    self.count(run)
            at = batch.end if batch is not None else at + 1
