"""Whatever a stranger sends is read, or refused in one sentence: nothing else, and soon.

Texts are good ones that were changed at some places, since noise alone does not get far.  With
HIGHWATER_THOROUGH=1 each parser gets twenty times as many.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.admission.rates import Bucket
from app.admission.websocket_meter import Meter, WireError
from app.core.refusals import RequestError
from app.live.channel import JsonPacket
from app.questions.names import parse_run
from app.reading import lines, paste
from app.reading.formats import dump
from app.reading.names import TopicIdentity
from engine.model.errors import InputError
from engine.properties import grammar
from engine.scenarios import file
from engine.scenarios.file import find
from engine.sim.run import Run
from tests.app.conftest import SCENARIO
from tests.conftest import THOROUGH

EXAMPLES = 2_000 if THOROUGH else 100
PASTE = """\
Topic: t\tTopicId: abc\tPartitionCount: 2\tReplicationFactor: 3\tConfigs: min.insync.replicas=2
\tTopic: t\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1,2\tElr: 3\tLastKnownElr: \tOffline: 3
"""
LINE = (
    "[2026-11-22 16:50:31,594] INFO [Broker id=1] Received LeaderAndIsr request "
    "PartitionState(controllerEpoch=1, leader=3, leaderEpoch=1, isr=3,1, zkVersion=1, "
    "replicas=2,3,1, isNew=false) correlation id 4 from controller 4 epoch 1 for partition t-0"
)
DUMP = (
    '| offset: 7 CreateTime: 1 keySize: -1 payload: {"type":"PARTITION_CHANGE_RECORD",'
    '"version":0,"data":{"partitionId":0,"topicId":"AAAAAAAAAAAAAAAAAAAAAA","isr":[1],"leader":1}}'
)
PARSERS: dict[str, tuple[Callable[[str], Any], str]] = {
    "scenario": (lambda text: file.load_text(text, "scenario"), SCENARIO),
    "run": (parse_run, Run(find("R20"), "Z0102", 7, ("produce m0", "kill 1")).text()),
    "packet": (lambda text: JsonPacket(encoded_packet=text), '217["open",{"scenario":"S20"}]'),
    "property": (
        grammar.parse,
        "every record m: (committed(m) leads to m in log(A) within 1s)",
    ),
    "paste": (paste.read, PASTE),
    "log": (
        lambda text: lines.read(text.encode("utf-8", "replace"), TopicIdentity("t", 0), "1", "x"),
        LINE,
    ),
    "dump": (dump.record_of, DUMP),
}
ODD = (
    *("", "\0", "\ud800", "\U0010ffff", "\r", "\t", "  ", "0" * 5_000, "-1", "9" * 20, "1e999"),
    *("[" * 200, "{" * 200, "(" * 200, "- " * 200, "&a [*a]", "!!python/object:os.system x"),
    *("\\U00110000", "%YAML 99999", "NaN", "null", "~", ": ", "|", "'", '"', "٣", "ß", "<<: *a"),
)


def changed(text: str) -> st.SearchStrategy[str]:
    """The text, with up to four pieces of it left out, doubled, or replaced by something odd."""
    at = st.integers(0, len(text))
    put = st.one_of(
        st.sampled_from(ODD), st.text(max_size=6), st.sampled_from(text.split() or [""])
    )

    def apply(changes: list[tuple[int, int, str]]) -> str:
        told = text
        for first, length, new in changes:
            told = told[:first] + new + told[first + length :]
        return told

    return st.lists(st.tuples(at, st.integers(0, 30), put), max_size=4).map(apply)


@pytest.mark.parametrize("name", PARSERS)
def test_input_is_parsed_or_refused(name: str) -> None:
    read, good = PARSERS[name]
    assert read(good) is not None

    @settings(max_examples=EXAMPLES, deadline=2_000, suppress_health_check=list(HealthCheck))
    @given(changed(good))
    def check(text: str) -> None:
        try:
            read(text)
        except (InputError, RequestError) as refused:
            sentence = refused.sentence() if isinstance(refused, RequestError) else refused.sentence
            assert sentence and len(sentence) < 4_000
        except ValueError:  # a packet that is none: its connection is cut
            assert name == "packet"

    check()


@settings(max_examples=EXAMPLES, deadline=2_000)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), st.lists))
def test_any_question_is_a_packet_or_none(data: Any) -> None:
    text = "217" + json.dumps(["open", data])
    try:
        packet = JsonPacket(encoded_packet=text)
    except ValueError:
        return
    assert isinstance(packet.data[0], str)
    orjson.dumps(packet.data[:1])


@settings(max_examples=EXAMPLES, deadline=2_000)
@given(st.lists(st.binary(max_size=40), max_size=20))
def test_frames_are_metered_however_they_come(pieces: list[bytes]) -> None:
    together, apart = Meter(Bucket(1.0, 600)), Meter(Bucket(1.0, 600))

    def taken(meter: Meter, parts: list[bytes]) -> str:
        try:
            for part in parts:
                meter.take(part)
        except WireError as trouble:
            return str(trouble)
        return ""

    assert taken(together, [b"".join(pieces)]) == taken(apart, pieces)
