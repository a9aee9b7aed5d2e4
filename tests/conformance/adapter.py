"""Parts shared by all adapters: labels, references, repetition, unexpected errors.

An adapter translates names and formats between a case and the engine.  It holds no protocol rules:
every step of `when` goes through the functions that the engine itself plays with.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Fields = dict[str, Any]
"""A JSON object of a case or a result."""

NONE = "NONE"


class CaseError(Exception):
    """A case that cannot go on: an operation without label failed, or no subject implements it."""


class Adapter:
    """One case being carried out.  Subclasses have a method `op_<name>` per operation.

    `release`: the exact release whose rules apply, "" for those of the generation.
    """

    def __init__(self, given: Fields, generation: str, release: str = "") -> None:
        self.given = given
        self.generation = generation
        self.release = release
        self.results: dict[str, Fields] = {}
        self.tps: dict[str, int] = {}

    def run(self, operations: Sequence[Fields]) -> dict[str, Fields]:
        """Carry out all operations and return the observations by label."""
        for operation in operations:
            self.perform(operation)
        return self.results

    def perform(self, operation: Fields) -> None:
        """Carry out one operation, as often as it says."""
        method = getattr(self, "op_" + operation["op"], None)
        if method is None:
            raise CaseError(f"operation {operation['op']}")
        for _ in range(operation.get("repeat", 1)):
            # The operations in `do` are resolved when they are carried out, not before.
            arguments = {
                k: v if k == "do" else self._resolve(v) for k, v in operation.items() if k != "op"
            }
            label = arguments.pop("as", None)
            result: Fields = method(arguments) or {}
            result.setdefault("error", NONE)
            if label is not None:
                self.results[label] = result
            elif result["error"] != NONE:
                raise CaseError(f"{operation['op']}: {result['error']}")

    def _tp_of(self, p: str) -> int:
        """Return the engine's number of a partition, which is the next one for a new name."""
        return self.tps.setdefault(p, len(self.tps))

    def _resolve(self, value: Any) -> Any:
        """Replace {"ref": "label.field", "plus": n} by what an earlier operation reported."""
        if isinstance(value, list):
            return [self._resolve(v) for v in value]
        if not isinstance(value, dict):
            return value
        if "ref" in value:
            label, field = value["ref"].rsplit(".", 1)
            found = self.results[label][field]
            return found + value["plus"] if "plus" in value else found
        return {k: self._resolve(v) for k, v in value.items()}


def ids(values: Sequence[int] | None) -> tuple[int, ...]:
    """Return a list of broker ids, as the engine keeps them."""
    return tuple(values or ())


def from_null(value: Any) -> int:
    """Return a number of a case, or -1 if it has none."""
    return -1 if value is None else int(value)


def or_null(value: int) -> int | None:
    """Return the engine's -1 for 'undefined' where a case says null."""
    return None if value < 0 else value
