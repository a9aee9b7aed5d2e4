"""Cache shared by the views of a run: found once, and then only added to.

A log grows at its end and a ledger as well, so what was found of them holds until something is cut
(`Log.cuts`).  Without this, each step of a long run would look at all of its records again.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from itertools import pairwise
from operator import eq
from typing import Any, Final

from engine.checks.ledger import Acked
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


class ViewCache:
    """Cached findings of one run: what was acknowledged holds for its every simulation.

    What is known of logs is of those that were looked at last, or that were the longest.
    """

    def __init__(self) -> None:
        self._acked: dict[int, tuple[dict[str, int], list[int]]] = {}
        self._stretches: dict[tuple[int, int], tuple[_Stretches, _Stretches]] = {}
        self._pairs: dict[tuple[int, int], _Pair] = {}

    def forget_pairs(self) -> None:
        """Drop what is known of pairs of logs: other logs are looked at from now on."""
        self._pairs.clear()

    def acked(self, sim: Simulation, tp: int) -> Callable[[str], bool]:
        """Return a check of whether a record of a partition was acknowledged."""
        upto = len(sim.ledger.acked[tp])
        places, _ = self._told(tp, sim.ledger.acked[tp])
        return lambda value: places.get(value, upto) < upto

    def acked_in_all(self, sim: Simulation) -> int:
        """Return how many records were acknowledged; a resent one counts as often."""
        every = enumerate(sim.ledger.acked)
        return sum(self._told(tp, told)[1][len(told)] for tp, told in every if told)

    def _told(self, tp: int, acked: list[Acked]) -> tuple[dict[str, int], list[int]]:
        """Return the first place of each record among acknowledgements, and counts up to each."""
        places, counts = cached = self._acked.setdefault(tp, ({}, [0]))
        for at in range(len(counts) - 1, len(acked)):
            values = acked[at].values
            for value in values:
                places.setdefault(value, at)
            counts.append(counts[-1] + len(values))
        return cached

    def stretches(self, log: Log, broker: int, tp: int) -> list[list[int]]:
        """Return [from, to, epoch] for each stretch of equal epoch of a log of any length."""
        cached, longest = self._stretches.get((broker, tp), (None, None))
        if cached is None or cached.log is not log or cached.cuts != log.cuts:
            cached = _Stretches(log, longest)
        stretches = cached.update()
        if longest is None or longest.cuts != longest.log.cuts or cached.upto >= longest.upto:
            longest = cached
        self._stretches[broker, tp] = cached, longest
        return stretches

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
        for i, log in enumerate(logs):
            for other in logs[i + 1 :]:
                at = self._pair(log, other).differs_at()
                if at >= 0:
                    first = at if first < 0 else min(first, at)
                    last = max(last, _last_difference(log, other, at))
        return None if first < 0 else [first, last]

    def _pair(self, log: Log, other: Log) -> _Pair:
        key = id(log), id(other)
        pair = self._pairs.get(key)
        if pair is None or pair.one is not log or pair.other is not other:
            pair = self._pairs[key] = _Pair(log, other)
        return pair


class _Stretches:
    """Stretches of one log: the numbers of their first batches, and how many were looked at.

    It begins with what is known of another log, as far as both have the same batches.
    """

    __slots__ = ("_firsts", "cuts", "log", "upto")

    def __init__(self, log: Log, other: _Stretches | None = None) -> None:
        self.log = log
        self.cuts = log.cuts
        self._firsts: list[int] = []
        self.upto = 0
        if other is not None and other.log.cuts == other.cuts:
            self.upto = min(other.upto, alike(log.batches, other.log.batches))
            self._firsts = other._firsts[: bisect_left(other._firsts, self.upto)]

    def update(self) -> list[list[int]]:
        batches, firsts, upto = self.log.batches, self._firsts, self.upto
        if batches and not upto:
            firsts.append(0)
        firsts += [
            at
            for at, (batch, other) in enumerate(pairwise(batches[max(0, upto - 1) :]), max(1, upto))
            if batch.epoch != other.epoch or batch.end != other.base
        ]
        self.upto = len(batches)
        ends = [*firsts[1:], len(batches)]
        return [
            [batches[first].base, batches[end - 1].end, batches[first].epoch]
            for first, end in zip(firsts, ends, strict=False)
        ]


class _Pair:
    """Two logs, and up to where they were found to hold the same records."""

    __slots__ = ("_at", "_cuts", "_upto", "one", "other")

    def __init__(self, log: Log, other: Log) -> None:
        self.one = log
        self.other = other
        self._cuts = (-1, -1)
        self._upto = 0
        self._at = -1

    def differs_at(self) -> int:
        """Return the first offset of both at which they hold different records, or -1."""
        log, other = self.one, self.other
        if self._cuts != (log.cuts, other.cuts):
            self._cuts = log.cuts, other.cuts
            self._upto, self._at = 0, -1
        if self._at < 0:
            if not self._upto:
                same = alike(log.batches, other.batches)
                self._upto = log.batches[same - 1].end if same else 0
            self._at = log.agrees_with(other, self._upto, min(log.leo, other.leo))
            if log.batches and other.batches:
                self._upto = min(log.batches[-1].end, other.batches[-1].end)
        return self._at


def alike(one: list[Any], other: list[Any]) -> int:
    """Return how many entries two lists begin with that are equal."""
    most = min(len(one), len(other))
    return most if one[:most] == other[:most] else bytes(map(eq, one, other)).find(0)


def _last_difference(log: Log, other: Log, at: int) -> int:
    """Return the end of the last two batches that stand at one offset and are not the same."""
    theirs: dict[int, Batch] = {batch.base: batch for batch in other.batches[other.index_of(at) :]}
    end = 0
    for batch in log.batches[log.index_of(at) :]:
        twin = theirs.get(batch.base)
        if twin is not None and not twin.same(batch):
            end = max(end, min(batch.end, twin.end))
    return end
