"""Cache shared by the views of a run: found once, and then only added to.

A log grows at its end and a ledger as well, so what was found of them holds until something is cut
(`Log.cuts`).  Without this, each step of a long run would look at all of its records again.
"""

from __future__ import annotations

from itertools import chain, compress, count, groupby, pairwise
from operator import attrgetter, is_, ne
from typing import Final

from engine.model.log import Batch, Log
from engine.sim.simulation import Simulation

RECORDS_SHOWN: Final = 64
"""Last records of a replica's log that are shown by themselves; the rest is shown as stretches."""
RECORDS_IN_ALL: Final = 4_096
LEAST_SHOWN: Final = 8
MESSAGES_SHOWN: Final = 128
"""Oldest messages under way that are shown: more than any run of the library has at once."""
WAITING_SHOWN: Final = 128
"""Oldest produces that are shown of those that wait on a leader."""


def window(replicas: int) -> int:
    """Return how many records of each replica are shown beside `replicas` replicas."""
    return max(LEAST_SHOWN, min(RECORDS_SHOWN, RECORDS_IN_ALL // max(1, replicas)))


def last_of(batches: list[Batch], records: int) -> list[Batch]:
    """Return the batches that hold the last `records` records."""
    at = len(batches)
    while at and records > 0:
        at -= 1
        records -= len(batches[at].values)
    return batches[at:]


class Recall:
    """Cached counts of one simulation and its later states; a copy of it has a new cache."""

    def __init__(self) -> None:
        self._acked: dict[int, tuple[set[str], int]] = {}
        self._count = 0
        self._stretches: dict[int, tuple[Log, int, int, list[list[int]]]] = {}
        self._pairs: dict[tuple[int, int], _Pair] = {}

    def acked(self, sim: Simulation, tp: int) -> set[str]:
        """Return the records of a partition that were acknowledged."""
        told = sim.ledger.acked[tp]
        values, upto = self._acked.get(tp, (set(), 0))
        if upto < len(told):
            new = [one.values for one in told[upto:]]
            values.update(chain.from_iterable(new))
            self._count += sum(map(len, new))
            self._acked[tp] = values, len(told)
        return values

    def acked_in_all(self, sim: Simulation) -> int:
        """Return how many records were acknowledged; a resent one counts as often."""
        for tp, told in enumerate(sim.ledger.acked):
            if told:
                self.acked(sim, tp)
        return self._count

    def stretches(self, log: Log) -> list[list[int]]:
        """Return [from, to, epoch] for each stretch of equal epoch of a log of any length."""
        known = self._stretches.get(id(log))
        if known is None or known[0] is not log or known[1] != log.cuts:
            known = log, log.cuts, 0, []
        found = known[3]
        new = log.batches[known[2] :]
        for epoch, same in groupby(new, attrgetter("epoch")):
            batches = [*same]
            breaks = map(ne, map(attrgetter("end"), batches), map(attrgetter("base"), batches[1:]))
            parts = [0, *(at + 1 for at in compress(count(), breaks)), len(batches)]
            for first, last in pairwise(parts):
                base, end = batches[first].base, batches[last - 1].end
                if found and found[-1][2] == epoch and found[-1][1] == base:
                    found[-1][1] = end
                else:
                    found.append([base, end, epoch])
        self._stretches[id(log)] = log, log.cuts, len(log.batches), found
        return [one.copy() for one in found]

    def same_prefix(self, logs: list[Log]) -> int:
        """Return up to where all logs are equal and below every high watermark."""
        if not logs:
            return 0
        end = min(min(log.hw, log.leo) for log in logs)
        for log in logs[1:]:
            at = self._pair(logs[0], log).differs_at()
            if at >= 0:
                end = min(end, at)
        return end

    def differing(self, logs: list[Log]) -> list[int] | None:
        """Return [first, end) of the offsets at which two replicas differ, or None."""
        first, last = -1, -1
        for i, one in enumerate(logs):
            for other in logs[i + 1 :]:
                at = self._pair(one, other).differs_at()
                if at >= 0:
                    first = at if first < 0 else min(first, at)
                    last = max(last, _last_difference(one, other, at))
        return None if first < 0 else [first, last]

    def _pair(self, one: Log, other: Log) -> _Pair:
        key = id(one), id(other)
        known = self._pairs.get(key)
        if known is None or known.one is not one or known.other is not other:
            known = self._pairs[key] = _Pair(one, other)
        return known


class _Pair:
    """Two logs, and up to where they were found to hold the same records."""

    __slots__ = ("_at", "_cuts", "_upto", "one", "other")

    def __init__(self, one: Log, other: Log) -> None:
        self.one = one
        self.other = other
        self._cuts = (-1, -1)
        self._upto = 0
        self._at = -1

    def differs_at(self) -> int:
        """Return the first offset of both at which they hold different records, or -1."""
        one, other = self.one, self.other
        if self._cuts != (one.cuts, other.cuts):
            self._cuts = one.cuts, other.cuts
            self._upto, self._at = 0, -1
        if self._at < 0:
            if not self._upto:
                self._upto = _end_of_same(one.batches, other.batches)
            self._at = one.agrees_with(other, self._upto, min(one.leo, other.leo))
            if one.batches and other.batches:
                self._upto = min(one.batches[-1].end, other.batches[-1].end)
        return self._at


def _end_of_same(one: list[Batch], other: list[Batch]) -> int:
    """Return the end of the batches that two logs begin with and that are the same objects."""
    differs = bytes(map(is_, one, other)).find(0)
    at = min(len(one), len(other)) if differs < 0 else differs
    return one[at - 1].end if at else 0


def _last_difference(one: Log, other: Log, at: int) -> int:
    """Return the end of the last two batches that stand at one offset and are not the same."""
    theirs: dict[int, Batch] = {batch.base: batch for batch in other.batches[other.index_of(at) :]}
    end = 0
    for batch in one.batches[one.index_of(at) :]:
        twin = theirs.get(batch.base)
        if twin is not None and not twin.same(batch):
            end = max(end, min(batch.end, twin.end))
    return end
