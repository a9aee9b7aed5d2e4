"""Inputs that are spoilt, or made to hurt: every reader ends soon, and raises nothing."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from app.cluster.scenario import scenario_of
from app.incident import reconstruction, timeline
from app.reading import lines, paste
from app.reading.files import Gathered
from app.reading.layouts import origin_of, unwrapped
from app.reading.sources import events_of, readable_files
from engine.model.errors import InputError
from engine.scenarios.scenario import Scenario
from tests.conftest import sample
from tests.field.readings import HERE, READING, cases

LONG = 100_000
SECONDS = 5.0
"""Far more than each takes; what backtracks takes hours."""
PASTES = {
    "blanks behind a host": "a@b " + " " * LONG + "x",
    "brackets": "[" * LONG,
    "open braces": '{"a":\n' * 2_000,
    "rows without an end": "Topic: a Partition: 0 Leader: 1 Repl\n" * 1_500,
    "columns": "Topic: a Partition: 0 " * 5_000,
    "almost healthy": ("Leader: 1 Replicas: 1 Isr: 1 " * 20 + "Offline: 1\n") * 170,
    "pipes": "a|" * 50_000,
    "settings": "Topic: a PartitionCount: 1 Configs: a=b,\n" + "c=d,\n" * 2_000,
    "deep JSON": "[" * 20_000 + "]" * 20_000,
    "a table": "NodeId LogEndOffset\n" + ("1 " * 500 + "\n") * 100,
}
LINES = {
    "partitions": "Partition a-1 " * 4_600 + "Expanding ISR ",
    "brokers": "[Broker " * 8_000 + "Expanding ISR ",
    "dashes": "Partition " + "1-" * 30_000 + "Expanding ISR ",
    "states": "Received LeaderAndIsr request " + "PartitionState(leader=1 " * 2_500,
    "lists": "with state LeaderAndIsr(leader=" + "List(" * 10_000,
    "changes": "partition change for a-1: " + "isr: [1] -> " * 5_000,
    "JSON": '{"message":"Expanding ISR ' + '\\"' * 30_000,
    "times": "2026-01-01 10:00:00 " * 3_000 + "Expanding ISR ",
}


@pytest.mark.parametrize("text", PASTES.values(), ids=PASTES)
def test_no_paste_takes_long(text: str) -> None:
    began = time.process_time()
    scenario_of(paste.read(text), "x")
    assert time.process_time() - began < SECONDS


@pytest.mark.parametrize("text", LINES.values(), ids=LINES)
def test_no_line_takes_long(text: str) -> None:
    began = time.process_time()
    line = text.encode()
    lines.read(line, None, "1", "x")
    plain = unwrapped(line)
    lines.speaker_in(plain.text)
    origin_of(plain, len(plain.text))
    assert time.process_time() - began < SECONDS


def _spoilt(data: bytes, chance: random.Random) -> bytes:
    """Lines lost, doubled and swapped, bytes changed, the end cut off."""
    rows = data.split(b"\n")
    for _ in range(chance.randrange(1, 8)):
        at = chance.randrange(len(rows))
        kind = chance.randrange(5)
        if kind == 0 and len(rows) > 1:
            del rows[at]
        elif kind == 1:
            rows.insert(chance.randrange(len(rows)), rows[at])
        elif kind == 2 and rows[at]:
            spoilt = bytearray(rows[at])
            spoilt[chance.randrange(len(spoilt))] = chance.choice(b'0 9,:#-\t[]{}()"=x\0\xff')
            rows[at] = bytes(spoilt)
        elif kind == 3:
            rows[at] = rows[at].replace(b"0", b"99999999")
        else:
            rows[at] = rows[at][: chance.randrange(len(rows[at]) + 1)]
    return b"\n".join(rows)


@pytest.mark.parametrize("name", cases("cluster"))
def test_a_spoilt_paste_is_read_or_named(name: str) -> None:
    data = (HERE / "cluster" / name / "input.txt").read_bytes()
    for seed in range(25):
        text = _spoilt(data, random.Random(seed)).decode("utf-8", "replace")
        scenario, _ = scenario_of(paste.read(text), "x")
        if scenario is not None:
            try:
                Scenario.from_dict(scenario)
            except InputError as bad:
                assert bad.sentence


@pytest.mark.parametrize("name", sample(cases("incident"), 3))
def test_spoilt_files_are_read_or_named(name: str, tmp_path: Path) -> None:
    folder = HERE / "incident" / name
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != READING]
    for seed in range(8):
        for path in files:
            copy = tmp_path / path.relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(_spoilt(path.read_bytes(), random.Random(seed)))
        try:
            sources = readable_files((str(tmp_path),))
            for wanted in list(timeline.partitions(sources))[:2]:
                told = timeline.gather(sources, wanted)
                if told.states:
                    reconstruction.rebuild(told)
                for source in sources:
                    list(events_of(source, Gathered(wanted, str)))
        except InputError as bad:
            assert bad.sentence
