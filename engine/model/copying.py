"""Copies of state: each class names its own fields; immutable values are shared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from engine.model.declared import declared, fresh

T = TypeVar("T")

_FIELDS: dict[type, tuple[str, ...]] = {}
_COPIES: dict[type, Callable[[Any], Any]] = {}


def fields(kind: type) -> tuple[str, ...]:
    """Return the slots of a class and of those it inherits from."""
    names = _FIELDS.get(kind)
    if names is None:
        listed = [name for base in kind.__mro__ for name in _own_fields(base)]
        names = _FIELDS[kind] = tuple(dict.fromkeys(listed))
    return names


def _own_fields(kind: type) -> tuple[str, ...]:
    """Return the names of a class's own fields, in alphabetical order.

    A class that was compiled has no slots: it names all its attributes, inherited ones and what
    objects would have of their class (`of_class`), too.
    """
    own = kind.__dict__
    if "__mypyc_attrs__" not in own:
        return tuple(sorted(own.get("__slots__", ())))
    inherited = {name for base in kind.__mro__[1:] for name in _own_fields(base)}
    inherited.update(getattr(kind, "of_class", ()))
    return tuple(sorted(set(own["__mypyc_attrs__"]) - inherited))


def shallow(one: T) -> T:
    """Return another object with the same fields; what it holds is shared."""
    kind = one.__class__
    twin: T = (_COPIES.get(kind) or _copier(kind))(one)
    return twin


def _copier(kind: type) -> Callable[[Any], Any]:
    """Return the function that copies the fields of a class, made once."""
    lines = [f"    twin.{name} = one.{name}" for name in fields(kind)]
    text = "\n".join(["def copy(one):", "    twin = new(kind)", *lines, "    return twin"])
    names: dict[str, Any] = {"kind": kind, "new": kind.__new__}
    exec(text, names)
    copy: Callable[[Any], Any] = names["copy"]
    _COPIES[kind] = copy
    return copy


def state_of(state: Any) -> dict[str, Any]:
    """Return the fields of an object for another process, as its `__getstate__`.

    A compiled class has one that knows no fields of a subclass that is not compiled.
    """
    return {name: getattr(state, name) for name in fields(state.__class__)}


def set_state(one: Any, state: dict[str, Any]) -> None:
    """Set the fields that `state_of` returned, as `__setstate__`."""
    for name, value in state.items():
        setattr(one, name, value)


class Shared(Protocol):
    """Something that several parts of a cluster may hold at once."""

    def twin(self, twins: Twins) -> Any:
        """Return a copy; shared parts are taken from `twins`."""


S = TypeVar("S", bound=Shared)


@declared
class Twins:
    """The copies made so far in one copy of a whole: what two parts share, their copies share."""

    _of: dict[int, tuple[Shared, Any]] = fresh(dict)

    def of(self, state: S) -> S:
        entry = self._of.get(id(state))
        if entry is None:
            entry = self._of[id(state)] = state, state.twin(self)
        twin: S = entry[1]
        return twin
