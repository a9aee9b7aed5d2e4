"""Values that are computed once and cached; concurrent callers wait for the first.

`functools.cache` remembers as well, but it is no lock: of a hundred threads that ask at the same
moment, each makes the value for itself.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import update_wrapper
from typing import Any, Generic, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")


class _Pending:
    """Slot of one value, filled by the first caller that has the lock."""

    __slots__ = ("lock", "made", "value")

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.made = False
        self.value: Any = None


class ComputedValues:
    """Values by key, each computed by its first caller.

    An exception is not kept: the next caller tries again.  Of `most` values the least recently used
    is evicted first; None keeps all.
    """

    def __init__(self, most: int | None = None) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._places: OrderedDict[Hashable, _Pending] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], R]) -> R:
        """Return the value of a key; an error of `make` is raised for the caller that ran it."""
        place = self._place(key)
        if not place.made:
            with place.lock:
                if not place.made:
                    self._fill(key, place, make)
        return cast(R, place.value)

    def clear(self) -> None:
        with self._lock:
            self._places.clear()

    def _place(self, key: Hashable) -> _Pending:
        with self._lock:
            place = self._places.setdefault(key, _Pending())
            self._places.move_to_end(key)
            while self._most is not None and len(self._places) > self._most:
                self._places.popitem(last=False)
            return place

    def _fill(self, key: Hashable, place: _Pending, make: Callable[[], object]) -> None:
        try:
            place.value = make()
            place.made = True
        finally:
            if not place.made:
                with self._lock:
                    if self._places.get(key) is place:
                        del self._places[key]


class Once(Generic[P, R]):
    """Function of hashable positional arguments whose every value is computed by one thread."""

    def __init__(self, make: Callable[P, R], most: int | None = None) -> None:
        self._make = make
        self._kept = ComputedValues(most)
        update_wrapper(self, make)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        assert not kwargs, "arguments are positional: they are the key"
        return self._kept.get(args, lambda: self._make(*args, **kwargs))

    def cache_clear(self) -> None:
        self._kept.clear()


def once(make: Callable[P, R]) -> Once[P, R]:
    """Compute every value once and keep it for as long as the process lives."""
    return Once(make)


def last(most: int) -> Callable[[Callable[P, R]], Once[P, R]]:
    """Do the same for the `most` values that were used last."""
    return lambda make: Once(make, most)
