"""The invariants by name: control-plane 11 (I...) and data-plane 14 (INV-...)."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

from engine.checks import invariants
from engine.checks.invariant import Invariant


def _kinds() -> Iterator[type[Invariant]]:
    """Find the classes in the modules of `invariants`."""
    for module in iter_modules(invariants.__path__):
        contents = import_module(f"{invariants.__name__}.{module.name}")
        for kind in vars(contents).values():
            if isinstance(kind, type) and issubclass(kind, Invariant) and kind is not Invariant:
                kind.about.title = kind.about.title or kind.__name__
                yield kind


def _number(kind: type[Invariant]) -> tuple[bool, int]:
    name = kind.about.name
    return name.startswith("INV-"), int(name.removeprefix("INV-").removeprefix("I"))


EVERY: Final = [kind() for kind in sorted(_kinds(), key=_number)]
INVARIANTS: Final = {one.about.name: one.about for one in EVERY}
VIOLABLE: Final = tuple(name for name, about in INVARIANTS.items() if not about.statistic)
"""Invariants that can be violated, and so can stand in a verdict."""
INTERESTED: Final = {
    event: tuple(one for one in EVERY if event in vars(type(one)))
    for event in vars(Invariant)
    if event.startswith("on_")
}
"""Kind of event -> the invariants that define it."""
