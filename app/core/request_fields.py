"""Fields of a request: an untrusted object, read field by field with bounds."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from app.core.refusals import RequestError

NAME_CHARS = 200
SEED_MAX = 2**53 - 1
"""Seeds travel through browsers, whose numbers are exact up to here."""
TYPED_CHARS = 16
"""Digits of the largest number that may be typed, `SEED_MAX`."""


def whole_number(text: str, low: int = 0, high: int = SEED_MAX) -> int | None:
    """Parse a whole number within bounds; None for anything else."""
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit() and len(digits) <= TYPED_CHARS):
        return None
    number = int(digits)
    return number if low <= number <= high else None


def typed(
    fields: Mapping[str, str],
    name: str,
    low: int = 0,
    high: int = SEED_MAX,
    default: int | None = None,
) -> int:
    """Parse a whole number of an address or a form, whose values are all text.

    Raises `RequestError` "invalid" naming the field.
    """
    text = fields.get(name, "")
    if not text and default is not None:
        return default
    number = whole_number(text, low, high)
    if number is None:
        raise RequestError("invalid", what=name)
    return number


T = TypeVar("T", bound=str)


def one_of(text: str, name: str, choices: Collection[T]) -> T:
    """Return one of the choices.  Raises `RequestError` "invalid", which names them."""
    chosen = next((choice for choice in choices if choice == text), None)
    if chosen is None:
        raise RequestError("invalid", "invalid.choice", what=name, choices=", ".join(choices))
    return chosen


def require_known(given: Iterable[str], allowed: Collection[str]) -> None:
    """Raise `RequestError` "invalid" for the first field that is not known."""
    unknown = next((name for name in given if name not in allowed), None)
    if unknown is not None:
        fields = ", ".join(sorted(allowed)) or "-"
        raise RequestError("invalid", "invalid.unknown", what=unknown[:NAME_CHARS], known=fields)


class RequestFields:
    """One message or body.  Every reader raises `RequestError` "invalid" naming the field."""

    def __init__(self, data: object) -> None:
        if not isinstance(data, Mapping):
            raise RequestError("invalid", key="invalid.json")
        self._data: Mapping[str, Any] = data

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def has(self, name: str) -> bool:
        return self._data.get(name) is not None

    def text(self, name: str, default: str | None = None, most: int = NAME_CHARS) -> str:
        value = self._data.get(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, str) or not value:
            raise RequestError("invalid", what=name)
        if len(value) > most:
            raise RequestError("too_large", limit=most)
        return value

    def fields(self, name: str) -> RequestFields:
        """Return an object within this one; without it, an empty one."""
        value = self._data.get(name, {})
        if not isinstance(value, Mapping):
            raise RequestError("invalid", what=name)
        return RequestFields(value)

    def raw(self, name: str) -> object:
        return self._data.get(name)

    def whole(self, name: str, low: int, high: int, default: int | None = None) -> int:
        value = self._data.get(name)
        if value is None and default is not None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise RequestError("invalid", what=name)
        return value

    def count(self, name: str, most: int, default: int) -> int:
        """Return a count; a larger one than `most` becomes `most`."""
        return min(most, self.whole(name, 0, SEED_MAX, default))
