"""Comparison rules of the conformance cases, between an observation and an expectation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final


def matches(expected: Any, actual: Any) -> bool:
    """Check whether `actual` equals `expected`, or satisfies it where it is a matcher.

    Lists compare element by element, objects by exactly the same keys; true, false and null are
    themselves and nothing else (1 is not true).
    """
    if isinstance(expected, dict):
        wanted = [key for key in expected if key.startswith("$")]
        if wanted:
            return all(_satisfies(key, expected[key], actual) for key in wanted)
        return (
            isinstance(actual, dict)
            and expected.keys() == actual.keys()
            and all(matches(value, actual[key]) for key, value in expected.items())
        )
    if isinstance(expected, list):
        return (
            isinstance(actual, list | tuple)
            and len(expected) == len(actual)
            and all(map(matches, expected, actual))
        )
    if expected is None or isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    return bool(expected == actual)


Reported = Mapping[str, Mapping[str, object]]
"""Label of an operation -> its fields."""


def differences(then: Reported, result: Reported) -> list[tuple[str, str, object, object]]:
    """Return (label, field, expected, observed) for all of `then` that `result` does not meet."""
    wrong: list[tuple[str, str, object, object]] = []
    for label, fields in then.items():
        observed = result.get(label, {})
        for field, expected in fields.items():
            if field not in observed:
                wrong.append((label, field, expected, "(nothing)"))
            elif not matches(expected, observed[field]):
                wrong.append((label, field, expected, observed[field]))
    return wrong


def _is_list(actual: Any) -> bool:
    return isinstance(actual, list | tuple)


def _is_number(actual: Any) -> bool:
    return isinstance(actual, int | float) and not isinstance(actual, bool)


def _same_set(wanted: Any, actual: Any) -> bool:
    if not _is_list(actual) or len(actual) != len(wanted):
        return False
    rest = list(actual)
    for expected in wanted:
        for i, value in enumerate(rest):
            if matches(expected, value):
                del rest[i]
                break
        else:
            return False
    return True


def _contains(wanted: Any, actual: Any) -> bool:
    return _is_list(actual) and all(any(matches(w, a) for a in actual) for w in wanted)


def _has_part(wanted: Any, actual: Any) -> bool:
    return isinstance(actual, dict) and all(
        key in actual and matches(value, actual[key]) for key, value in wanted.items()
    )


_MATCHERS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "$ne": lambda wanted, actual: not matches(wanted, actual),
    "$any_of": lambda wanted, actual: any(matches(w, actual) for w in wanted),
    "$ge": lambda wanted, actual: _is_number(actual) and actual >= wanted,
    "$gt": lambda wanted, actual: _is_number(actual) and actual > wanted,
    "$le": lambda wanted, actual: _is_number(actual) and actual <= wanted,
    "$lt": lambda wanted, actual: _is_number(actual) and actual < wanted,
    "$set": _same_set,
    "$contains": _contains,
    "$len": lambda wanted, actual: (
        (_is_list(actual) or isinstance(actual, dict)) and len(actual) == wanted
    ),
    "$keys": lambda wanted, actual: isinstance(actual, dict) and set(actual) == set(wanted),
    "$sub": _has_part,
    "$approx": lambda wanted, actual: _is_number(actual) and abs(actual - wanted[0]) <= wanted[1],
}


def _satisfies(name: str, wanted: Any, actual: Any) -> bool:
    if name not in _MATCHERS:
        raise ValueError(f"unknown matcher {name}")
    return _MATCHERS[name](wanted, actual)
