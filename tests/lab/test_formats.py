"""Kafka's formats, on bytes that real brokers wrote (S30 on 4.1.1) and on bytes made here."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from app.kafka import batches, cursor
from app.kafka.cursor import ByteCursor, MalformedError
from app.kafka.history import Image, entries
from app.kafka.metadata import PartitionMetadata
from app.reading.formats import checkpoint

FILES = Path(__file__).parent / "files"


@pytest.mark.parametrize("value", [0, 1, -1, 63, 64, -65, 300, -(2**31), 2**31 - 1])
def test_signed_numbers_go_there_and_back(value: int) -> None:
    assert ByteCursor(cursor.varint(value)).varint() == value


def test_numbers_have_the_bytes_of_the_specification() -> None:
    assert cursor.uvarint(300) == b"\xac\x02"
    assert cursor.varint(-1) == b"\x01"
    assert cursor.text(None) == b"\xff\xff"
    assert cursor.compact_array(None) == b"\0"
    assert cursor.compact_array([]) == b"\1"


@pytest.mark.parametrize(
    ("data", "read"),
    [
        (b"\0", lambda c: c.i16()),
        (b"\0\5ab", lambda c: c.text()),
        (b"\xff" * 11, lambda c: c.uvarint()),
        (b"\x7f\xff\xff\xff", lambda c: c.array(c.i8)),
        (b"\xff\xff\xff\xff\x0f", lambda c: c.compact_array(c.i8)),
        (b"\1\0\5", lambda c: c.tags()),
    ],
)
def test_bytes_that_end_too_early_are_malformed(data: bytes, read) -> None:
    with pytest.raises(MalformedError):
        read(ByteCursor(data))


def test_a_segment_of_a_real_broker_is_read() -> None:
    found = list(batches.parse((FILES / "segment-4.1.1.log").read_bytes()))
    assert [(one.header.base, one.header.last, one.header.epoch) for one in found] == [
        (0, 0, 0),
        (1, 1, 0),
        (2, 2, 0),
    ]
    assert [one.records for one in found] == [((0, b"a"),), ((1, b"b"),), ((2, b"c"),)]
    assert found[0].header.time_ms == 1795366009388


def test_a_torn_batch_is_not_there() -> None:
    data = (FILES / "segment-4.1.1.log").read_bytes()
    assert len(list(batches.parse(data[:-1]))) == 2
    assert list(batches.parse(data[:60])) == []


def test_headers_are_read_without_values_and_name_the_byte_that_is_wrong() -> None:
    data = (FILES / "segment-4.1.1.log").read_bytes()
    assert [one.last for one in batches.headers(io.BytesIO(data))] == [0, 1, 2]
    assert [one.last for one in batches.headers(io.BytesIO(data + bytes(100)))] == [0, 1, 2]
    with pytest.raises(MalformedError, match="Byte 138: the file ends within a batch"):
        list(batches.headers(io.BytesIO(data[:-1])))
    with pytest.raises(MalformedError, match="Byte 207: There is no batch"):
        list(batches.headers(io.BytesIO(data + b"no batch" * 10)))


@pytest.mark.parametrize("made", [batches.one_record, batches.one_message])
def test_produced_records_read_back(made) -> None:
    [batch] = batches.parse(made(b"m0", 1_000))
    assert batch.records == ((0, b"m0"),)
    assert batch.header.time_ms == 1_000
    assert (batch.header.epoch is None) == (made is batches.one_message)


def test_the_checksum_is_castagnolis() -> None:
    assert batches.crc32c(b"123456789") == 0xE3069283
    data = (FILES / "segment-4.1.1.log").read_bytes()[:69]
    assert batches.crc32c(data[21:]).to_bytes(4, "big") == data[17:21]


def test_the_log_of_a_real_controller_folds_into_the_history_of_a_partition() -> None:
    image = Image()
    found = [
        stated.state
        for entry in entries(batches.parse((FILES / "metadata-4.1.1.log").read_bytes()))
        for stated in image.apply(entry)
        if stated.topic == "S30"
    ]
    told = [(s.leader, s.leader_epoch, s.partition_epoch, sorted(s.isr)) for s in found]
    assert told == [
        (1, 0, 0, [1, 2, 3]),
        (1, 0, 1, [1, 3]),
        (1, 0, 2, [1]),
        (-1, 1, 3, []),
        (3, 2, 4, [3]),
        (3, 2, 5, [2, 3]),
        (3, 2, 6, [1, 2, 3]),
    ]
    assert [sorted(s.elr) for s in found] == [[], [], [3], [1, 3], [1], [], []]
    assert [list(s.last_known_elr) for s in found] == [[], [], [], [1], [], [], []]
    assert image.partition("S30", 0) == found[-1]
    assert image.brokers == {1: "unfenced", 2: "unfenced", 3: "unfenced"}
    assert image.configs[2, "S30"] == {"min.insync.replicas": "2"}
    assert isinstance(found[0], PartitionMetadata)
    assert found[0].replicas == (1, 2, 3)


def test_checkpoints() -> None:
    assert checkpoint.epochs("0\n2\n0 0\n2 3\n") == [(0, 0), (2, 3)]
    assert checkpoint.epochs("0\n0\n") == []
    assert checkpoint.epochs("") == []
    assert checkpoint.offsets("0\n1\nmy.topic 0 5\n") == {("my.topic", 0): 5}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("hello\nworld\n", "Line 1"),
        ("0\n2\n0 0\n", "Line 4: 2 entries"),
        ("0\n1\n0 x\n", "Line 3: an entry has 2 fields"),
        ("0\n1\n0 1 2\n", "Line 3: an entry has 2 fields"),
    ],
)
def test_malformed_checkpoints_are_named_with_their_line(text: str, why: str) -> None:
    with pytest.raises(MalformedError, match=why):
        checkpoint.epochs(text)
