"""Small rules that came or went with one release, each seen on both sides of it."""

from __future__ import annotations

from typing import Any

import pytest

from engine.controlplane import kraft
from engine.dataplane import reading, serving
from engine.model import configs
from engine.model.control_messages import RegisterRequest
from engine.model.controller import Controller
from engine.model.effects import Effects
from engine.model.messages import CONTROLLER, FetchPartition
from engine.model.profiles import get_profile
from engine.scenarios.file import find
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all
from tests.conformance.fetchers import FetcherCase
from tests.conformance.requests import BrokerCase


@pytest.mark.parametrize(("release", "order"), [("0.10.0.1", [0, 1]), ("0.10.1.0", [1, 0])])
def test_a_partition_in_error_goes_to_the_end_of_the_order(release: str, order: list[int]) -> None:
    """KIP-74: so that one bad partition does not always stand first."""
    given = {"leader_mode": "scripted", "fetch_backoff_ms": 100, "partitions": {"p": {}, "q": {}}}
    case = FetcherCase(given, "any", release)
    case.run(
        [
            {"op": "add_partition", "p": "p", "fetch_offset": 0, "leader_epoch": 0},
            {"op": "add_partition", "p": "q", "fetch_offset": 0, "leader_epoch": 0},
            {"op": "script_fetch_answer", "p": "p", "error": "NOT_LEADER_OR_FOLLOWER"},
            {"op": "do_work"},
        ]
    )
    (thread,) = case.broker.fetchers.values()
    assert list(thread.partitions) == order


@pytest.mark.parametrize(
    ("release", "order"), [("3.2.3", "read read note note"), ("3.3.0", "read note read note")]
)
def test_when_a_leader_notes_the_position(
    release: str, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    read, note = serving.read_partition, serving.update_follower_fetch_state

    def reads(*all: Any) -> Any:
        seen.append("read")
        return read(*all)

    def notes(*all: Any) -> Any:
        seen.append("note")
        return note(*all)

    monkeypatch.setattr(serving, "read_partition", reads)
    monkeypatch.setattr(serving, "update_follower_fetch_state", notes)
    scenario = Scenario.from_dict(
        {"title": "x", "brokers": 2, "partitions": [[1, 2], [1, 2]], "fetching": "manual"}
    )
    sim = play_all(Run(scenario, f"{release}-zk", moves=("produce a p=0", "fetch 2")))
    assert " ".join(seen[:4]) == order
    assert sim.brokers[2].replicas[0].log.leo == 1


@pytest.mark.parametrize(("release", "kept"), [("3.8.1", False), ("3.9.0", True)])
def test_a_process_that_registers_again_keeps_its_epoch(release: str, kept: bool) -> None:
    profile = get_profile(f"{release}-kraft")
    k, out = Controller(profile, configs.build(profile)), Effects()
    first = RegisterRequest(1, CONTROLLER, 0, 4, -1)
    kraft.on_register(k, first, out)
    kraft.unfence(k, 1, out)
    epoch = k.brokers[1].epoch
    kraft.on_register(k, RegisterRequest(1, CONTROLLER, 1, 4, -1), out)
    assert (k.brokers[1].epoch == epoch) is kept
    assert k.brokers[1].fenced is not kept
    out.now += 60_000  # another process, once the session of the first is over
    kraft.on_register(k, RegisterRequest(1, CONTROLLER, 2, 5, -1), out)
    assert k.brokers[1].epoch > epoch and k.brokers[1].fenced


@pytest.mark.parametrize(("rolls", "done"), [(True, True), (False, False)])
def test_a_waiting_fetch_is_answered_when_the_log_goes_on_in_another_segment(
    rolls: bool, done: bool
) -> None:
    """S-6: bytes are counted within a segment, so what lies in an older one is not weighed."""
    case = BrokerCase({"local": 1, "mode": "kraft", "partitions": {"p": {"log": [[0, 0]]}}}, "any")
    case.broker.replicas[0].log.segment_records = 1 if rolls else 100
    produce = {"op": "produce", "p": "p", "acks": 1}
    fetch = {"op": "fetch", "p": "p", "offset": 1, "replica": 2, "min_bytes": 50, "handle": "f"}
    case.run(
        [
            {"op": "become", "p": "p", "leader": 1, "leader_epoch": 0, "isr": [1],
             "replicas": [1, 2]},
            {**fetch, "max_wait_ms": 500},
            produce,
            {"op": "poll", "handle": "f", "as": "f"},
        ]
    )  # fmt: skip
    assert case.results["f"]["done"] is done


@pytest.mark.parametrize(("release", "sent_to"), [("3.3.1", 2), ("3.3.2", -1)])
def test_consumers_are_sent_only_to_followers_in_sync(release: str, sent_to: int) -> None:
    """KAFKA-14372: a follower that had fallen out of the ISR was good enough."""
    lines = ("fetching auto", "produce a to 1 acks=all", "advance 600ms")
    sim = play_all(Run(find("S72"), release, moves=lines))
    leader = sim.brokers[1].running
    leader.replicas[0].isr = (1, 3)
    found = reading.preferred_read_replica(leader, "b", FetchPartition(0, 1, -1, -1, 0), sim.now)
    assert found == sent_to
