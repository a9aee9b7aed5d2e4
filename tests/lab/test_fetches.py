"""Fetches between real brokers, as on the wire: R20 on 0.10.2.2 and 1.1.1, S14 on 3.9.1."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.kafka import fetches
from app.kafka.cursor import MalformedError
from app.kafka.fetches import PartitionFetch

TOPIC = "53845dae69324e88a3c36cb5b5e1aac0"
FRAMES = [
    (one["version"], one["kind"], bytes.fromhex(one["hex"]))
    for one in json.loads((Path(__file__).parent / "files" / "fetches.json").read_text())
]
REQUESTS = [(version, frame) for version, kind, frame in FRAMES if kind == "request"]
RESPONSES = [(version, frame) for version, kind, frame in FRAMES if kind == "response"]


def test_requests_name_the_follower_and_the_offset() -> None:
    heads = [fetches.header(frame) for _, frame in REQUESTS]
    assert [(head.version, head.client) for head in heads] == [
        (3, "ReplicaFetcherThread-0-2"),
        (7, "broker-3-fetcher-0"),
        (17, "broker-3-fetcher-0"),
    ]
    asked = [fetches.request(frame, head) for (_, frame), head in zip(REQUESTS, heads, strict=True)]
    assert asked == [
        [PartitionFetch("R20", 0, 0)],
        [PartitionFetch("R20", 0, 0)],
        [PartitionFetch(TOPIC, 0, 0, 0)],
    ]
    assert fetches.replica_of(REQUESTS[0][1], heads[0]) == 1


def test_answers_say_what_is_served() -> None:
    [served] = zip(*(fetches.response(frame, version) for version, frame in RESPONSES), strict=True)
    assert [one.error for one in served if one.error != "NONE"] == ["NOT_LEADER_OR_FOLLOWER"]
    assert [
        [(batch.base, batch.last, batch.epoch) for batch in one.batches]
        for one in served
        if one.batches
    ] == [[(0, 0, None)], [(0, 0, 2)], [(0, 0, 0), (1, 1, 0)]]
    assert [(one.diverging, one.hw) for one in served if one.diverging] == [((0, 2), 3)]
    assert [one.idle for one in served] == [
        not (one.batches or one.diverging or one.error != "NONE") for one in served
    ]


@pytest.mark.parametrize("number", range(len(FRAMES)))
def test_half_a_message_is_malformed(number: int) -> None:
    version, kind, frame = FRAMES[number]
    half = frame[: len(frame) // 2]
    with pytest.raises(MalformedError):
        if kind == "request":
            fetches.request(half, fetches.header(half))
        else:
            fetches.response(half, version)
