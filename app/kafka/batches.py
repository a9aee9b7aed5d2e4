"""Record batches, as they lie in segments and travel in Produce and Fetch.

Magic 2 (since 0.11, KIP-98) has a leader epoch; magic 0 and 1 are single messages without one.
A segment may end in the middle of a batch: a reader stops there, as Kafka's recovery does.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import BinaryIO, Final

from app.kafka.cursor import ByteCursor, MalformedError, i8, i16, i32, i64, varint
from engine.model.phrases import phrase

PREFIX: Final = 17
"""Bytes up to and with the magic: base offset, length, epoch or checksum, magic."""
HEADER: Final = 61
"""Bytes of the header of a batch of magic 2."""
LARGEST: Final = 256 * 1024 * 1024
"""More than any broker accepts; a length beyond it is not a batch."""

_COMPRESSION: Final = 0b111
_CONTROL: Final = 0x20


@dataclass(frozen=True, slots=True)
class Header:
    """Header of a batch.

    `epoch` is None before magic 2, `time_ms` -1 before magic 1; `at` and `end` are the bytes of the
    file that it covers.
    """

    base: int
    last: int
    epoch: int | None
    count: int
    time_ms: int
    compressed: bool
    control: bool
    at: int
    end: int


@dataclass(frozen=True, slots=True)
class RecordBatch:
    """A header and the values of its records: (offset, value).  None where it is compressed.

    `keys` has the keys of the records, where they have any.
    """

    header: Header
    records: tuple[tuple[int, bytes], ...] | None
    keys: tuple[bytes, ...] = ()


def read_header(data: bytes, at: int) -> Header:
    """Return the header that begins with the first byte of `data`, which is byte `at` of its file.

    Raises MalformedError.
    """
    if len(data) < PREFIX:
        raise MalformedError("The batch ends within its header.")
    base, size = struct.unpack_from(">qi", data)
    magic = data[PREFIX - 1]
    if not PREFIX - 12 <= size <= LARGEST or base < 0 or magic > 2:
        raise MalformedError("There is no batch of records here.")
    end = at + 12 + size
    if magic == 2:
        if len(data) < HEADER:
            raise MalformedError("The batch ends within its header.")
        epoch, _, _, attributes, delta = struct.unpack_from(">ibIhi", data, 12)
        time_ms, count = (
            struct.unpack_from(">q", data, 35)[0],
            struct.unpack_from(">i", data, 57)[0],
        )
        return Header(
            base,
            base + delta,
            epoch,
            count,
            time_ms,
            bool(attributes & _COMPRESSION),
            bool(attributes & _CONTROL),
            at,
            end,
        )
    if len(data) < PREFIX + 1:
        raise MalformedError("The message ends within its header.")
    time_ms = struct.unpack_from(">q", data, 18)[0] if magic == 1 and len(data) >= 26 else -1
    compressed = bool(data[PREFIX] & _COMPRESSION)
    return Header(base, base, None, 1, time_ms, compressed, False, at, end)


def parse(data: bytes) -> Iterator[RecordBatch]:
    """Yield the whole batches at the beginning of `data`; a torn one at the end is left out."""
    at = 0
    while at + PREFIX <= len(data):
        try:
            header = read_header(data[at : at + HEADER], at)
        except MalformedError:
            return
        if header.end > len(data):
            return
        yield _batch(data, header)
        at = header.end


def headers(stream: BinaryIO) -> Iterator[Header]:
    """Yield the headers of the batches of a segment, in memory that does not grow with the file.

    Raises MalformedError, naming the byte, where something else than a batch follows.
    """
    at = 0
    while True:
        stream.seek(at)
        data = stream.read(HEADER)
        if not data or not data.strip(b"\0"):
            return  # preallocated space
        try:
            header = read_header(data, at)
        except MalformedError as error:
            raise MalformedError(phrase("Byte {0}: {1}", at, error.sentence)) from None
        stream.seek(header.end - 1)
        if not stream.read(1):
            raise MalformedError(phrase("Byte {0}: the file ends within a batch.", at))
        yield header
        at = header.end


def _batch(data: bytes, header: Header) -> RecordBatch:
    if header.compressed:
        return RecordBatch(header, None)
    if header.epoch is None:
        return RecordBatch(header, ((header.base, _old_value(data, header)),))
    cursor = ByteCursor(data, header.at + HEADER)
    records, keys = [], []
    for _ in range(header.count):
        size = cursor.varint()
        end = cursor.at + size
        cursor.i8()
        cursor.varint()
        offset = header.base + cursor.varint()
        keys.append(cursor.take(max(0, cursor.varint())))
        records.append((offset, cursor.take(max(0, cursor.varint()))))
        cursor.at = end
    return RecordBatch(header, tuple(records), tuple(keys))


def _old_value(data: bytes, header: Header) -> bytes:
    cursor = ByteCursor(data, header.at + PREFIX - 1)
    magic = cursor.i8()
    cursor.i8()
    if magic == 1:
        cursor.i64()
    cursor.take(max(0, cursor.i32()))
    return cursor.take(max(0, cursor.i32()))


def one_record(value: bytes, time_ms: int) -> bytes:
    """Return a batch of magic 2 with one record, for Produce since 0.11."""
    record = i8(0) + varint(0) + varint(0) + varint(-1) + varint(len(value)) + value + varint(0)
    record = varint(len(record)) + record
    rest = i16(0) + i32(0) + i64(time_ms) + i64(time_ms) + i64(-1) + i16(-1) + i32(-1) + i32(1)
    rest += record
    # Partition leader epoch and magic are not part of the checksum.
    tail = i32(-1) + i8(2) + struct.pack(">I", crc32c(rest)) + rest
    return i64(0) + i32(len(tail)) + tail


def one_message(value: bytes, time_ms: int) -> bytes:
    """Return a message of magic 1, for Produce before 0.11."""
    body = i8(1) + i8(0) + i64(time_ms) + i32(-1) + i32(len(value)) + value
    message = struct.pack(">I", zlib.crc32(body)) + body
    return i64(0) + i32(len(message)) + message


def _crc32c_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return tuple(table)


_CRC32C: Final = _crc32c_table()


def crc32c(data: bytes) -> int:
    """Return the Castagnoli checksum of a batch (RFC 3720, appendix B.4)."""
    value = 0xFFFFFFFF
    for byte in data:
        value = _CRC32C[(value ^ byte) & 255] ^ value >> 8
    return value ^ 0xFFFFFFFF


def stream(file: BinaryIO) -> Iterator[RecordBatch]:
    """Yield the batches of a file with their records, one at a time in memory.

    Raises MalformedError, naming the byte, where something else than a batch follows.
    """
    for header in headers(file):
        file.seek(header.at)
        data = file.read(header.end - header.at)
        yield replace(_batch(data, replace(header, at=0, end=len(data))), header=header)
