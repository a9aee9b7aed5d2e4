"""Hashes of Java, by which Kafka chooses partitions and threads."""

from __future__ import annotations


def string_hash(text: str) -> int:
    """Return `String.hashCode` of a text of ASCII."""
    code = 0
    for char in text:
        code = wrapped(31 * code + ord(char))
    return code


def wrapped(value: int) -> int:
    """Return a number as an int of 32 bits, which wraps around."""
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def absolute(code: int) -> int:
    """Return an int without its sign, and 0 for the smallest one (`Utils.abs`)."""
    return 0 if code == -(1 << 31) else abs(code)
