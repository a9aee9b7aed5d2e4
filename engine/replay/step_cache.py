"""Steps of a run that were made, kept as long as there is room: by count and by bytes."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, NamedTuple

from engine.replay import memory_estimate
from engine.view.wire import StepJson

CACHED_STEPS: Final = 600
CACHED_BYTES: Final = 64 * 1024 * 1024
STEP_BYTES: Final = 4_000
"""Bytes of a step beside its view."""


class CachedStep(NamedTuple):
    """A step, its size as JSON, and what it takes of memory."""

    step: StepJson
    size: int
    weight: int


class KeptSteps:
    """Steps by number, the first made forgotten first; `weight` is about what all take."""

    def __init__(self) -> None:
        self._of: OrderedDict[int, CachedStep] = OrderedDict()
        self.weight = 0

    def __len__(self) -> int:
        return len(self._of)

    def __contains__(self, number: int) -> bool:
        return number in self._of

    def __getitem__(self, number: int) -> CachedStep:
        return self._of[number]

    def put(self, step: StepJson, size: int, last: bool = True) -> None:
        """Keep a step; `size`: of its view as JSON, borne by the last of those that share one."""
        weight = STEP_BYTES + (memory_estimate.OF_A_VIEW * size if last else 0)
        known = self._of.pop(step["n"], None)
        self.weight += weight - (known.weight if known else 0)
        self._of[step["n"]] = CachedStep(step, STEP_BYTES + size, weight)

    def make_room(self) -> None:
        """Evict steps before more are put; those of one turn of the kernel stay together."""
        while self._of and (len(self._of) > CACHED_STEPS or self.weight > CACHED_BYTES):
            self.weight -= self._of.popitem(last=False)[1].weight
