"""Promises of consumer groups, and how often a record is processed (G-): INV-35 to INV-38."""

from __future__ import annotations

from collections.abc import Collection
from typing import ClassVar

from engine.checks.facts import MemberState
from engine.checks.invariant import COUNTED, DURABILITY, About, Invariant, Observation


class OneOwner(Invariant):
    about: ClassVar = About(
        "INV-35",
        "OneOwner",
        "In one generation of a group a partition has one owner.",
        "A partition has two owners in one generation of a group.",
        DURABILITY,
    )

    def on_assigned(self, run: Observation, members: Collection[MemberState]) -> None:
        owners: dict[tuple[int, int], str] = {}
        for owner in members:
            for tp in owner.assigned:
                first = owners.setdefault((owner.generation, tp), owner.member)
                if first != owner.member:
                    why = "{0} and {1} both own partition {2} in generation {3}"
                    self.report(run, why, first, owner.member, tp, owner.generation)


class OldGenerationFenced(Invariant):
    about: ClassVar = About(
        "INV-36",
        "OldGenerationFenced",
        "No commit of an older generation of a group overwrites one of a newer.",
        "A commit of an older generation of a group overwrites one of a newer.",
        DURABILITY,
    )

    def on_group_commit(self, run: Observation, group: int, base: int, generation: int) -> None:
        last: dict[int, tuple[int, int]] = self.memory(run)  # group -> (offset, generation)
        at, newest = last.get(group, (-1, -1))
        if base > at and generation < newest:
            why = "a commit of generation {0} follows one of {1}"
            self.report(run, why, generation, newest)
        last[group] = max((at, newest), (base, generation))


class ProcessedOnce(Invariant):
    about: ClassVar = About(
        "INV-37",
        "ProcessedOnce",
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
        "INV-38", "NothingSkipped", "A group skips no record.", "A group skipped a record.", COUNTED
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
