"""Places of a scenario's values in its text, so that a mistake can be pointed at."""

from __future__ import annotations

import re
from typing import Final

from engine.model.declared import declared, fresh
from engine.model.errors import InputError
from engine.model.phrases import phrase
from engine.model.profiles import nearest
from engine.scenarios.spans import has_unit, span_ms

Path = tuple[str | int, ...]

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f]")
"""All but line ends and tabs."""
_HALF: Final = re.compile("[\ud800-\udfff]")


@declared
class Places:
    """Lines and columns (from 1) of every value and key of one text, by its path."""

    file: str = ""
    values: dict[Path, tuple[int, int]] = fresh(dict)
    keys: dict[Path, tuple[int, int]] = fresh(dict)

    def at(self, line: int, column: int) -> str:
        """Return "file:line:column"."""
        return f"{self.file}:{line}:{column}"

    def of(self, path: Path, key: bool = False) -> str:
        """Return the place of the value (or the key) of that path.

        It is that of the nearest enclosing value when it is not written at all; "" for data that
        came without a text.
        """
        if key and path in self.keys:
            return self.at(*self.keys[path])
        while path not in self.values:
            if not path:
                return ""
            path = path[:-1]
        return self.at(*self.values[path])


class Reader:
    """Reads checked values out of plain data.  Every refusal is one sentence and says where."""

    __slots__ = ("places",)

    def __init__(self, places: Places | None = None) -> None:
        self.places = places or Places()

    def bad(
        self,
        path: Path,
        sentence: str,
        *values: object,
        code: str = "invalid",
        key: bool = False,
    ) -> InputError:
        """Return the exception to raise about the value at `path`."""
        return InputError(code, sentence, *values, where=self.places.of(path, key))

    def mapping(self, value: object, path: Path, allowed: tuple[str, ...]) -> dict[str, object]:
        """Return a mapping with no other keys than the known ones (any key when none are given)."""
        if not isinstance(value, dict):
            raise self.bad(path, "{0} is written as a mapping, key: value.", name_of(path))
        for key in value:
            if not isinstance(key, str):
                raise self.bad(path, "The keys of {0} are words.", name_of(path))
            if allowed and key not in allowed:
                there = phrase(" in {0}", name_of(path)) if path else ""
                hint = nearest(key, list(allowed))
                if hint == ".":
                    hint = phrase("; known are {0}.", ", ".join(allowed))
                raise self.bad(
                    (*path, key),
                    "There is no key {0}{1}{2}",
                    short_value(key),
                    there,
                    hint,
                    code="unknown",
                    key=True,
                )
        return value

    def listing(self, value: object, path: Path, most: int, least: int = 0) -> list[object]:
        """Return a list of bounded length."""
        if isinstance(value, tuple):
            value = list(value)
        if not isinstance(value, list):
            raise self.bad(path, "{0} is written as a list, [a, b].", name_of(path))
        if len(value) > most:
            raise self.bad(
                path,
                "{0} has {1} entries; at most {2} fit.",
                name_of(path),
                len(value),
                most,
                code="too_large",
            )
        if len(value) < least:
            raise self.bad(path, "{0} needs at least {1} entries.", name_of(path), least)
        return value

    def integer(self, value: object, path: Path, low: int, high: int, unit: str = "") -> int:
        """Return a whole number within bounds; one of ms may have its unit, as 30d or 5m."""
        if unit == "ms" and isinstance(value, str) and has_unit(value) and span_ms(value) >= 0:
            value = span_ms(value)
        if isinstance(value, bool) or not isinstance(value, int):
            unit = phrase(" ({0})", unit) if unit else ""
            raise self.bad(
                path, "{0} is a whole number{1}, not {2}.", name_of(path), unit, short_value(value)
            )
        if not low <= value <= high:
            code = "too_large" if value > high else "invalid"
            raise self.bad(
                path, "{0} must lie between {1} and {2}.", name_of(path), low, high, code=code
            )
        return value

    def number(self, value: object, path: Path, low: float, high: float) -> float:
        """Return a number within bounds; a whole one is kept whole."""
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.bad(path, "{0} is a number, not {1}.", name_of(path), short_value(value))
        if not low <= value <= high:
            code = "too_large" if value > high else "invalid"
            raise self.bad(
                path,
                "{0} must lie between {1} and {2}.",
                name_of(path),
                format(low, "g"),
                format(high, "g"),
                code=code,
            )
        return value

    def boolean(self, value: object, path: Path) -> bool:
        """Return true or false."""
        if not isinstance(value, bool):
            raise self.bad(
                path, "{0} is true or false, not {1}.", name_of(path), short_value(value)
            )
        return value

    def text(self, value: object, path: Path, most: int) -> str:
        """Return a string of bounded length without control characters other than line ends."""
        if not isinstance(value, str):
            raise self.bad(path, "{0} is a text, not {1}.", name_of(path), short_value(value))
        if len(value) > most:
            raise self.bad(
                path,
                "{0} has {1} characters; at most {2} fit.",
                name_of(path),
                len(value),
                most,
                code="too_large",
            )
        if _CONTROL.search(value):
            raise self.bad(path, "{0} holds a control character.", name_of(path))
        if _HALF.search(value):
            raise self.bad(path, "{0} holds half a character (a surrogate).", name_of(path))
        return value

    def choice(self, value: object, path: Path, allowed: tuple[str, ...]) -> str:
        """Return one of a few words."""
        if not isinstance(value, str) or value not in allowed:
            words = ", ".join(allowed)
            raise self.bad(
                path, "{0} is one of {1}, not {2}.", name_of(path), words, short_value(value)
            )
        return value


def name_of(path: Path) -> str:
    """Return the name of the value in a sentence: faults[0].mtbf_ms."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += ("." if text else "") + str(step)[:60]
    return text or "A scenario"


def short_value(value: object) -> str:
    """Return a value as a short piece of a sentence."""
    if value is None:
        return "nothing"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = str(value).replace("\n", " ")
    return text if len(text) <= 40 else text[:37] + "..."
