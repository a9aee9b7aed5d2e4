"""Reading and writing the primitive types of Kafka's protocol (big-endian, KIP-482 varints)."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import TypeVar

from engine.model.declared import declared
from engine.model.phrases import phrase

T = TypeVar("T")

LONGEST_VARINT = 10


class MalformedError(ValueError):
    """The bytes are not what the format says; the text is one sentence without a place."""

    @property
    def sentence(self) -> str:
        text: str = self.args[0]
        return text


@declared
class ByteCursor:
    """A position in bytes that moves on with everything that is read.

    Every method raises MalformedError where the bytes end too early.
    """

    data: bytes
    at: int = 0

    def take(self, size: int) -> bytes:
        """Return the next `size` bytes."""
        if size < 0 or self.at + size > len(self.data):
            raise MalformedError(
                phrase("{0} bytes are announced, {1} are there.", size, len(self.data) - self.at)
            )
        taken = self.data[self.at : self.at + size]
        self.at += size
        return taken

    def _number(self, form: str, size: int) -> int:
        number: int = struct.unpack(form, self.take(size))[0]
        return number

    def i8(self) -> int:
        return self._number(">b", 1)

    def i16(self) -> int:
        return self._number(">h", 2)

    def i32(self) -> int:
        return self._number(">i", 4)

    def i64(self) -> int:
        return self._number(">q", 8)

    def uvarint(self) -> int:
        """Return an unsigned number, seven bits a byte, the lowest first."""
        value = 0
        for place in range(LONGEST_VARINT):
            byte = self.take(1)[0]
            value |= (byte & 127) << (7 * place)
            if byte < 128:
                return value
        raise MalformedError("A number goes on for more than ten bytes.")

    def varint(self) -> int:
        """Return a signed number in zigzag form, as in records."""
        value = self.uvarint()
        return (value >> 1) ^ -(value & 1)

    def text(self) -> str | None:
        """Return a nullable string with a length of two bytes."""
        size = self.i16()
        return None if size < 0 else self.take(size).decode(errors="replace")

    def compact_text(self) -> str | None:
        """Return a nullable string of the flexible versions."""
        size = self.uvarint()
        return None if size == 0 else self.take(size - 1).decode(errors="replace")

    def array(self, read: Callable[[], T]) -> list[T]:
        return self._several(self.i32(), read)

    def compact_array(self, read: Callable[[], T]) -> list[T]:
        return self._several(self.uvarint() - 1, read)

    def _several(self, count: int, read: Callable[[], T]) -> list[T]:
        if count > len(self.data) - self.at:
            raise MalformedError(
                phrase("{0} entries are announced, more than there are bytes.", count)
            )
        return [read() for _ in range(count)]

    def tags(self) -> dict[int, bytes]:
        """Return the tagged fields of a flexible version: number -> bytes."""
        fields = {}
        for _ in range(self.uvarint()):
            number = self.uvarint()
            fields[number] = self.take(self.uvarint())
        return fields


def i8(value: int) -> bytes:
    return struct.pack(">b", value)


def i16(value: int) -> bytes:
    return struct.pack(">h", value)


def i32(value: int) -> bytes:
    return struct.pack(">i", value)


def i64(value: int) -> bytes:
    return struct.pack(">q", value)


def uvarint(value: int) -> bytes:
    out = bytearray()
    while value >= 128:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def varint(value: int) -> bytes:
    return uvarint(value << 1 if value >= 0 else ~value << 1 | 1)


def text(value: str | None) -> bytes:
    if value is None:
        return i16(-1)
    encoded = value.encode()
    return i16(len(encoded)) + encoded


def compact_text(value: str) -> bytes:
    encoded = value.encode()
    return uvarint(len(encoded) + 1) + encoded


def array(items: Iterable[bytes]) -> bytes:
    listed = list(items)
    return i32(len(listed)) + b"".join(listed)


def compact_array(items: Iterable[bytes] | None) -> bytes:
    if items is None:
        return uvarint(0)
    listed = list(items)
    return uvarint(len(listed) + 1) + b"".join(listed)


NO_TAGS = uvarint(0)
