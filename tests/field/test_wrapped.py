"""Whatever wraps, splits, mixes or cuts an input: its reading stays, or a sentence says why not."""

from __future__ import annotations

import itertools
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.incident import render, timeline
from app.reading import lines, sources
from app.reading.layouts import unwrapped
from app.reading.names import TopicIdentity
from engine.model.errors import InputError
from tests.field.readings import of_paste
from tests.field.test_lines import ABOUT_BROKERS, FOUND, T
from tests.field.wrappings import AROUND, LAYOUTS, Layout, Logged, apache

FEW = settings(max_examples=60, deadline=None, derandomize=True)
STATE, PART = "state.change.logger", "kafka.cluster.Partition"


def _logged(minute: int, logger: str, message: str) -> Logged:
    return Logged(f"2026-03-04 05:{minute:02d}:07,089", "INFO", logger, message)


def _leads(broker: int, epoch: int, offset: int, version: int, isr: str) -> str:
    return (
        f"[Broker id={broker}] Leader rides-3 with topic id Some(x) starts at leader epoch {epoch} "
        f"from offset {offset} with partition epoch {version}, high watermark {offset - 2}, ISR "
        f"[{isr}], adding replicas [] and removing replicas [] . Previous leader Some({broker}) "
        f"and previous leader epoch was {epoch - 1}."
    )


STORY = [
    _logged(10, STATE, _leads(31, 6, 400, 20, "31,32,33")),
    _logged(
        11,
        STATE,
        "[Broker id=32] Follower rides-3 starts at leader epoch 6 from offset 399 with partition "
        "epoch 20 and high watermark 390. Current leader is 31. Previous leader Some(31) and "
        "previous leader epoch was 6.",
    ),
    _logged(
        20,
        PART,
        "[Partition rides-3 broker=31] Shrinking ISR from 31,32,33 to 31,32. Leader: "
        "(highWatermark: 410, endOffset: 433). Out of sync replicas: (brokerId: 33, endOffset: "
        "410).",
    ),
    _logged(21, PART, "[Partition rides-3 broker=31] Expanding ISR from 31,32 to 31,32,33"),
    _logged(
        22,
        PART,
        "[Partition rides-3 broker=31] ISR updated to 31,32,33  and version updated to 22",
    ),
    _logged(30, STATE, _leads(32, 7, 440, 23, "32,33")),
]
STATES = [
    "P{31 6 20 [31,32,33]}",
    "P{31 6 21 [31,32]}",
    "P{31 6 22 [31,32,33]}",
    "P{32 7 23 [32,33]}",
]
NOISE = [
    _logged(5, "kafka.log.LogCleaner", "Starting the log cleaner"),
    _logged(15, STATE, "[Broker id=31] Creating new partition other-1 with topic id y."),
    _logged(25, PART, "[Partition other-1 broker=31] Expanding ISR from 31 to 31,33"),
]


def told_of(texts: list[str]) -> tuple[list[str], list[str]]:
    """(states, notes) of files with these texts; a refusal is a note."""
    with tempfile.TemporaryDirectory() as place:
        for number, text in enumerate(texts):
            Path(place, f"part-{number}.log").write_text(text, "utf-8")
        try:
            told = timeline.gather(sources.readable_files((place,)), TopicIdentity("rides", 3))
        except InputError as bad:
            return [], [bad.sentence]
    return [render.record(state.record) for state in told.states], told.notes


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize(("text", "kind", "data"), [*FOUND, *ABOUT_BROKERS])
def test_every_known_line_in_every_layout(
    text: str, kind: str, data: dict[str, object], layout: Layout
) -> None:
    message = text.rsplit(" (", 1)[0] if text.endswith(("(x)", "logger)", "Log)")) else text
    logger = "kafka.server.KafkaServer" if kind == "starts" else "kafka.x.X"
    wrapped = layout(_logged(9, logger, message.removesuffix(" (kafka.server.KafkaServer)")))
    event = lines.read(wrapped.encode(), T, "77", "server.log:7")
    assert event is not None, wrapped
    about = {"partition": T} if "partition" in event.data else {}
    assert (event.kind, event.data) == (kind, data | about)
    assert event.node == (lines.speaker_in(text) or "77")
    assert event.time_ms % 60_000 == 7_089


@FEW
@given(
    layout=st.sampled_from(sorted(LAYOUTS)),
    order=st.permutations(STORY + NOISE),
    cuts=st.lists(st.integers(0, len(STORY + NOISE)), max_size=3),
    ending=st.sampled_from(["\n", "\r\n"]),
)
def test_a_story_in_any_layout_order_and_files(
    layout: str, order: list[Logged], cuts: list[int], ending: str
) -> None:
    texts = [LAYOUTS[layout](one) + ending for one in order]
    bounds = [0, *sorted(cuts), len(texts)]
    files = ["".join(texts[a:b]) for a, b in itertools.pairwise(bounds) if a < b]
    assert told_of(files)[0] == STATES


@FEW
@given(
    layout=st.sampled_from(sorted(LAYOUTS)),
    at=st.integers(0, len(STORY) - 1),
    share=st.floats(0.05, 0.99),
)
def test_a_line_that_is_cut_off_is_never_read_as_another(
    layout: str, at: int, share: float
) -> None:
    whole = [LAYOUTS[layout](one) for one in [*NOISE, *STORY, *NOISE, *NOISE]]
    place = len(NOISE) + at
    cut = whole[place][: int(len(whole[place]) * share)]
    states, notes = told_of(["\n".join([*whole[:place], cut, *whole[place + 1 :]]) + "\n"])
    has_tail = apache(STORY[at])[-1] == LAYOUTS[layout](STORY[at])[-1] or "{" in cut
    if has_tail:
        assert set(states) <= set(STATES), (cut, states)
        silent = states != STATES and not any("cut off" in note for note in notes)
        assert not silent or not any(key in cut for key in ("starts at", "ISR ")), (cut, notes)


DESCRIBED = """\
Topic: rides\tTopicId: 8kQ\tPartitionCount: 2\tReplicationFactor: 3\tConfigs: min.insync.replicas=2
\tTopic: rides\tPartition: 0\tLeader: 31\tReplicas: 31,32,33\tIsr: 31,33
\tTopic: rides\tPartition: 1\tLeader: none\tReplicas: 32,33,31\tIsr: 32
"""


@pytest.mark.parametrize("first", AROUND)
@pytest.mark.parametrize("second", AROUND)
def test_a_paste_in_any_wrapping(first: str, second: str) -> None:
    plain = of_paste(DESCRIBED)
    wrapped = of_paste(AROUND[second](AROUND[first](DESCRIBED)))
    for name in ("partitions", "offline", "settings", "profile", "problems"):
        assert wrapped[name] == plain[name], (first, second)


@FEW
@given(width=st.integers(40, 120))
def test_a_paste_that_a_terminal_wrapped_is_read_or_named(width: int) -> None:
    plain = of_paste(DESCRIBED)["partitions"]
    text = "".join(
        f"{line[at : at + width]}\n"
        for line in DESCRIBED.splitlines()
        for at in range(0, len(line), width)
    )
    wrapped = of_paste(text)
    for name, state in wrapped.get("partitions", {}).items():
        assert state == plain[name]
    assert len(wrapped.get("partitions", {})) == 2 or wrapped["problems"]


def test_json_within_json_is_unwrapped() -> None:
    inner = json.dumps({"message": "hello", "@timestamp": "2026-03-04T05:06:07Z"})
    plain = unwrapped(json.dumps({"log": inner}).encode())
    assert (plain.text, plain.stamp_ms) == ("hello", 1_772_600_767_000)
