"""INV-35 to INV-38: what consumer groups promise, and how often a record is processed (G-)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final, NamedTuple, Protocol

from engine.checks.ledger import Acked
from engine.model.copying import shallow
from engine.model.declared import declared, fresh
from engine.model.log import Batch

PROCESSED: Final = "processed"
POLLED: Final = "polled"
ASSIGNED: Final = "assigned"
COMMITTED: Final = "committed"


class MemberState(NamedTuple):
    """A running member: the partitions it believes it owns, and its unprocessed records."""

    member: str
    generation: int
    assigned: tuple[int, ...]
    polled: frozenset[str]


class GroupObserver(Protocol):
    """Part of a run's checker that group invariants use."""

    ledger: Any

    def report(self, invariant: str, why: str, *values: object) -> None: ...
    def on_acked(self, acked: Acked) -> None: ...


@declared
class GroupMemory:
    """Observations of groups, each by the number of its partition of __consumer_offsets.

    `processed`: (group, record) -> times processed.  `skipped`: (group, record) -> partition.
    `upto`: (group, partition) -> (offset below which skipped records are known, number of unclean
    elections by then).  `last`: group -> (offset in the log, generation) of its last commit.
    """

    processed: dict[tuple[int, str], int] = fresh(dict)
    skipped: dict[tuple[int, str], int] = fresh(dict)
    upto: dict[tuple[int, int], tuple[int, int]] = fresh(dict)
    last: dict[int, tuple[int, int]] = fresh(dict)

    def copy(self) -> GroupMemory:
        twin = shallow(self)
        twin.processed = self.processed.copy()
        twin.skipped = self.skipped.copy()
        twin.upto = self.upto.copy()
        twin.last = self.last.copy()
        return twin

    def of(self, group: int, tp: int, committed: dict[int, Batch]) -> tuple[int, int]:
        """Return (records of a partition processed more than once, records skipped)."""
        values = {value for batch in committed.values() for value in batch.values}
        twice = sum(self.processed.get((group, value), 0) > 1 for value in values)
        return twice, sum((group, value) in self.skipped for value in values)

    def note(
        self,
        group: int,
        facts: Iterable[tuple[Any, ...]],
        members: Collection[MemberState],
        observer: GroupObserver,
        now: int,
    ) -> None:
        """Record a member's actions in an event; `members` are the running members of its group."""
        for kind, *what in facts:
            if kind == PROCESSED:
                self._on_processed(group, what[1], observer)
            elif kind == POLLED:
                self._on_polled(group, what[0], what[1], members, observer)
            elif kind == ASSIGNED:
                _check_owners(members, observer)
            else:
                base, generation, records, since = what
                self._on_committed(group, base, generation, observer)
                observer.on_acked(Acked(group, base, records, -1, now - since))

    def _on_processed(self, group: int, batch: Batch, observer: GroupObserver) -> None:
        """INV-37.  Report each record that was processed before."""
        for value in batch.values:
            times = self.processed[group, value] = self.processed.get((group, value), 0) + 1
            if times > 1:
                observer.report("INV-37", "{0} was processed {1} times", value, times)

    def _on_polled(
        self,
        group: int,
        tp: int,
        base: int,
        members: Collection[MemberState],
        observer: GroupObserver,
    ) -> None:
        """INV-38.  Report each committed record below `base` that no member has or processed."""
        ledger = observer.ledger
        rewritten = len(ledger.unclean_epochs)
        at, then = self.upto.get((group, tp), (0, rewritten))
        if then != rewritten:
            at = 0
        self.upto[group, tp] = max(at, base), rewritten
        while at < base:
            batch = ledger.committed[tp].get(at)
            for value in batch.values if batch is not None else ():
                key = group, value
                held = any(value in one.polled for one in members)
                if key not in self.processed and key not in self.skipped and not held:
                    self.skipped[key] = tp
                    observer.report(
                        "INV-38", "{0} was skipped: a member got offset {1}", value, base
                    )
            at = batch.end if batch is not None else at + 1

    def _on_committed(
        self, group: int, base: int, generation: int, observer: GroupObserver
    ) -> None:
        """INV-36.  Check that a commit's generation is not older than the previous commit's."""
        at, newest = self.last.get(group, (-1, -1))
        if base > at and generation < newest:
            observer.report(
                "INV-36", "a commit of generation {0} follows one of {1}", generation, newest
            )
        self.last[group] = max((at, newest), (base, generation))


def _check_owners(members: Collection[MemberState], observer: GroupObserver) -> None:
    """INV-35.  Check that members of the same generation own different partitions."""
    owners: dict[tuple[int, int], str] = {}
    for one in members:
        for tp in one.assigned:
            first = owners.setdefault((one.generation, tp), one.member)
            if first != one.member:
                observer.report(
                    "INV-35",
                    "{0} and {1} both own partition {2} in generation {3}",
                    first,
                    one.member,
                    tp,
                    one.generation,
                )
