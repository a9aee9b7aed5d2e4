"""States that differ only in the names of the replicas: one of them stands for all."""

from __future__ import annotations

from itertools import pairwise, permutations

from engine.ladder.numbering import MASK, Numbering
from engine.ladder.state import renamed, renamed_controller
from engine.ladder.tables import StateTable


class Renaming:
    """One way to give the replicas each other's names: r becomes names[r]."""

    def __init__(self, numbers: Numbering, names: tuple[int, ...]) -> None:
        self.shifts = [numbers.shifts[name] for name in names]

        def renamed_replica(number: int) -> int:
            return numbers.replica_number(renamed(numbers.replicas[number], names))

        def renamed_record(number: int) -> int:
            record = renamed_controller(numbers.controllers[number], names)
            return numbers.controller_number(record) << numbers.top

        self.replica = StateTable(renamed_replica)
        self.record = StateTable(renamed_record)
        self.places = sorted(range(len(names)), key=names.__getitem__)
        """The replicas in their new order."""


class Renamings:
    """All ways to rename, and the least image of a state under them."""

    def __init__(self, numbers: Numbering) -> None:
        self._numbers = numbers
        every = permutations(range(len(numbers.shifts)))
        self._all = [Renaming(numbers, names) for names in every]
        self._alike: dict[tuple[object, ...], int] = {}
        self._likeness = StateTable(self._likeness_of)
        self._sorting: dict[tuple[int, ...], list[Renaming]] = {}

    def representative(self, state: int) -> int:
        """Return the least number among the images under the renamings that sort the replicas.

        They are sorted by what no renaming changes (log, high watermark, epoch), so only those
        that are alike in this are tried in every order.
        """
        replicas = [state >> shift & MASK for shift in self._numbers.shifts]
        likeness = self._likeness
        alike = tuple([likeness[replica] for replica in replicas])
        sorting = self._sorting.get(alike)
        if sorting is None:
            sorting = self._sorting[alike] = self._that_sort(alike)
        record = state >> self._numbers.top
        least = -1
        for renaming in sorting:
            image = renaming.record[record]
            for replica, shift in zip(replicas, renaming.shifts, strict=True):
                image |= renaming.replica[replica] << shift
            if least < 0 or image < least:
                least = image
        return least

    def _likeness_of(self, number: int) -> int:
        replica = self._numbers.replicas[number]
        key = (replica.log, replica.hw, replica.epoch)
        return self._alike.setdefault(key, len(self._alike))

    def _that_sort(self, alike: tuple[int, ...]) -> list[Renaming]:
        return [
            renaming
            for renaming in self._all
            if all(alike[before] <= alike[after] for before, after in pairwise(renaming.places))
        ]
