"""Values that are made once: by one thread, however many others ask meanwhile."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.core.memoize import ComputedValues, last, once

THREADS = 16


def test_one_of_many_threads_makes_the_value() -> None:
    made: list[int] = []
    together = threading.Barrier(THREADS)

    @once
    def square(number: int) -> int:
        made.append(number)
        threading.Event().wait(0.05)
        return number * number

    def ask(number: int) -> int:
        together.wait()
        return square(number % 2)

    with ThreadPoolExecutor(THREADS) as pool:
        assert list(pool.map(ask, range(THREADS))) == [0, 1] * (THREADS // 2)
    assert sorted(made) == [0, 1]
    square.cache_clear()
    assert square(1) == 1 and sorted(made) == [0, 1, 1]


def test_failures_are_tried_again() -> None:
    kept = ComputedValues()
    with pytest.raises(ZeroDivisionError):
        kept.get("a", lambda: 1 // 0)
    assert kept.get("a", lambda: 2) == 2
    assert kept.get("a", lambda: 3) == 2


def test_the_least_recently_used_value_is_evicted() -> None:
    made: list[str] = []

    @last(2)
    def name(text: str) -> str:
        made.append(text)
        return text

    for text in ("a", "b", "a", "c", "a", "b"):
        assert name(text) == text
    assert made == ["a", "b", "c", "b"]
