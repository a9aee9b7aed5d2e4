"""Clock, pending events, and the one source of chance."""

from __future__ import annotations

from array import array
from hashlib import sha256
from heapq import heapify, heappop, heappush
from random import Random
from typing import Any, Final

from engine.model.compiling import mypyc_attr
from engine.model.copying import shallow
from engine.model.declared import begins, declared, fresh

FAILURE: Final = 0
DELIVERY: Final = 1
TIMER: Final = 2
CLIENT: Final = 3

Event = tuple[int, int, int, int, Any]
"""(due, kind, node, seq, payload); ties at one instant break in this order (data-plane 16.5)."""


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Chance:
    """One stream of chance, for one concern of one run.

    Only `Random.random` is promised the same sequence by every Python, so nothing else is drawn.
    A stream per concern keeps a new draw in one from shifting the others.
    """

    __slots__ = ("_draw", "_random", "_shared")

    def __init__(self, seed: int, concern: str) -> None:
        digest = sha256(f"{seed}/{concern}".encode()).digest()
        self._random = Random(int.from_bytes(digest[:8], "big"))
        self._draw = self._random.random
        self._shared = False

    def copy(self) -> Chance:
        """Return a stream that goes on as this one would.

        The state of a stream is large and few copies draw: both keep this one as it is, and the
        first of them to draw takes a copy of the state then.
        """
        twin = shallow(self)
        twin._random, twin._draw = self._random, self._draw
        twin._shared = self._shared = True
        return twin

    def _take_own(self) -> None:
        """Copy the state before the first draw after a copy."""
        own = Random()
        own.setstate(self._random.getstate())
        self._random, self._draw = own, own.random
        self._shared = False

    def __getstate__(self) -> object:
        version, words, gauss = self._random.getstate()
        return version, array("I", words).tobytes(), gauss

    def __setstate__(self, state: Any) -> None:
        version, words, gauss = state
        self._random = Random()
        self._random.setstate((version, tuple(array("I", words)), gauss))
        self._draw = self._random.random
        self._shared = False

    def below(self, limit: int) -> int:
        """Return an integer in [0, limit)."""
        if self._shared:
            self._take_own()
        return int(self._draw() * limit)

    def between(self, low: int, high: int) -> int:
        """Return an integer in [low, high], both included."""
        if self._shared:
            self._take_own()
        return low + int(self._draw() * (high - low + 1))

    def hits(self, share: float) -> bool:
        """Return True in `share` of the cases."""
        if self._shared:
            self._take_own()
        return self._draw() < share

    def exponential(self, mean: int) -> int:
        """Return a waiting time with this mean, at least 1.

        By von Neumann's comparison of uniforms, so that no logarithm of some C library decides.
        """
        if self._shared:
            self._take_own()
        draw = self._draw
        whole = 0
        while True:
            first = last = draw()
            length = 1
            while (following := draw()) < last:
                last = following
                length += 1
            if length % 2:
                return max(1, int((whole + first) * mean))
            whole += 1


@declared
class Kernel:
    """Orders what happens.  It knows nothing of brokers, logs or epochs."""

    now: int = begins(0)
    seq: int = begins(0)
    pending: list[Event] = fresh(list)

    def schedule(self, delay: int, kind: int, node: int, payload: Any) -> int:
        """Add an event `delay` ms from now and return its number."""
        assert delay >= 0
        self.seq = seq = self.seq + 1
        heappush(self.pending, (self.now + delay, kind, node, seq, payload))
        return seq

    def pop(self) -> Event:
        """Return the next event by the clock: how a run or a batch advances."""
        event = heappop(self.pending)
        if event[0] > self.now:
            self.now = event[0]
        return event

    def remove(self, payload: Any) -> bool:
        """Take the event with this payload out, wherever it stands; False if there is none."""
        for index, event in enumerate(self.pending):
            if event[4] is payload:
                self.pending[index] = self.pending[-1]
                self.pending.pop()
                heapify(self.pending)
                return True
        return False

    def due(self) -> int:
        """Time of the next event, or -1."""
        return self.pending[0][0] if self.pending else -1
