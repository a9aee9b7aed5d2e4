"""Classes whose fields are written once: slots, constructor and copies follow from them.

A field without a value is an argument of the constructor, one with a plain value an argument with
that default.  `begins`, `fresh` and `unset` are fields that are no arguments; `__post_init__` sets
those that follow from the arguments.  Compiled modules get the same methods as source
(`app/compiled/expand.py`), since mypyc takes no generated ones.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, dataclass_transform

T = TypeVar("T")


def begins(value: T, *, init: Literal[False] = False) -> T:
    """Declare a field that every object begins with; the value is never changed in place."""
    made: T = field(default=value, init=init)
    return made


def fresh(make: Callable[[], T], *, init: Literal[False] = False) -> T:
    """Declare a field that begins as a new, empty container of each object's own."""
    made: T = field(default_factory=make, init=init)
    return made


def unset(*, init: Literal[False] = False) -> Any:
    """Declare a field that is set after the constructor."""
    return field(init=init)


@dataclass_transform(eq_default=False, field_specifiers=(begins, fresh, unset))
def declared(kind: type[T]) -> type[T]:
    """Give a class slots and a constructor; two objects are equal only if they are one."""
    return dataclass(slots=True, eq=False, repr=False)(kind)


@dataclass_transform(eq_default=False, field_specifiers=(begins, fresh, unset))
def acyclic(kind: type[T]) -> type[T]:
    """Declare a class whose objects refer to nothing that refers to them.

    The garbage collector need not track them, once they are compiled.
    """
    return declared(kind)
