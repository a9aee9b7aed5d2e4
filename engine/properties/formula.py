"""Syntax tree of a property: small frozen values, each with its place in the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

NUMBER: Final = "number"
BROKER: Final = "broker"
RECORD: Final = "record"
BROKERS: Final = "set of brokers"
RECORDS: Final = "set of records"
EPOCHS: Final = "leader epochs"
PARTITION: Final = "partition"

Place = tuple[int, int]
"""(line, column), both from 1."""


@dataclass(frozen=True, slots=True)
class Name:
    """A broker, a record or a number, as its place in the formula needs."""

    text: str
    at: Place


@dataclass(frozen=True, slots=True)
class Call:
    """HW(B), log(A), isr, acked(m3) ...: a fact with what it is asked of."""

    name: str
    args: tuple[Name | Call, ...]
    at: Place


@dataclass(frozen=True, slots=True)
class Members:
    """A set of names or calls, written {A, B}."""

    items: tuple[Name | Call, ...]
    at: Place


@dataclass(frozen=True, slots=True)
class Vector:
    """[0:0, 2:3]: leader epochs and where they start."""

    entries: tuple[tuple[int, int], ...]
    at: Place


Term = Name | Call | Members | Vector


@dataclass(frozen=True, slots=True)
class Compare:
    """left op right, op one of < <= > >= = != in."""

    op: str
    left: Term
    right: Term
    at: Place


@dataclass(frozen=True, slots=True)
class Shorthand:
    """One line of the notation that scripts use after `expect`."""

    text: str
    at: Place


@dataclass(frozen=True, slots=True)
class Not:
    one: Formula


@dataclass(frozen=True, slots=True)
class Joined:
    """op: and, or, implies."""

    op: str
    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Timed:
    """op: always, never, eventually, of one formula."""

    op: str
    one: Formula


@dataclass(frozen=True, slots=True)
class Until:
    """`right` comes, and until then `left` holds."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class LeadsTo:
    """Rule that after each `left`, `right` holds then or later, within a limit in ms (-1: none)."""

    left: Formula
    right: Formula
    within: int


@dataclass(frozen=True, slots=True)
class Quantified:
    """every / some broker | record | partition `name`: `one`."""

    every: bool
    over: str
    name: str
    one: Formula
    at: Place


Formula = Compare | Call | Shorthand | Not | Joined | Timed | Until | LeadsTo | Quantified
