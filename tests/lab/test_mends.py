"""Faults of the laboratory that random scripts found, each held without brokers."""

from __future__ import annotations

import json
import signal
import socket
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from app.kafka.fetches import FETCH
from app.lab import configuration, laboratory, metadata, moves, order, playing, script_cluster
from app.lab.cluster import RealCluster
from app.lab.configuration import Ports
from app.lab.facts import Adjusted
from app.lab.links import CONTROLLER, HeldResponse, LinkControls
from app.lab.metadata import ZooKeeperMetadata, session_password
from app.lab.releases import release_of
from app.lab.stage import LabStage
from app.lab.trouble import LabError
from engine.moves.moves import parse
from engine.recordings import reading
from engine.recordings.comparing import compare
from engine.recordings.facts import facts_now
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, run_to_end
from engine.sim.simulation import Simulation
from tests.lab.test_playing import a_run, made_of, steps_of
from tests.lab.test_proxy import Wire, fetch, received, send
from tests.lab.test_proxy import wire as wire  # the fixture


@pytest.mark.parametrize("value", [1, True])
def test_truths_are_written_as_kafka_reads_them(value: int) -> None:
    configs = {"unclean.leader.election.enable": value, "min.insync.replicas": 2}
    assert laboratory.topic_configs(a_run(configs=configs).scenario) == {
        "unclean.leader.election.enable": "true",
        "min.insync.replicas": "2",
    }


@pytest.mark.parametrize(
    ("text", "word"),
    [("false", "false"), ("False", "false"), ("true", "true"), ("TRUE", "true")],
)
def test_the_text_of_a_move_is_read_by_the_type_of_its_setting(
    stage: LabStage, monkeypatch: pytest.MonkeyPatch, text: str, word: str
) -> None:
    asked: list[tuple[str, str]] = []
    client = SimpleNamespace(
        set_config=lambda topic, key, value, others: asked.append((key, value)) or "NONE"
    )
    monkeypatch.setattr(stage.cluster, "controller_client", lambda: client)
    move = parse(f"set unclean.leader.election.enable={text}", a_run().scenario.brokers)
    moves.DEEDS["set"](stage, move.args)
    assert asked == [("unclean.leader.election.enable", word)]
    assert configuration.word_of("min.insync.replicas", "1") == "1"


def test_waiting_fetches_do_not_wake_each_other(wire: Wire) -> None:
    """A hundred notifications a second would be the polls of two fetches at the gate."""
    wire.hand.by_hand([1, 2, 3], True)
    notified = 0
    notify_all = wire.hand.changed.notify_all

    def counted() -> None:
        nonlocal notified
        notified += 1
        notify_all()

    wire.hand.changed.notify_all = counted  # type: ignore[method-assign]
    with wire.connect() as one, wire.connect() as other:
        send(one, fetch(11))
        send(other, fetch(12, client="broker-3-fetcher-0"))
        for broker in (2, 3):
            assert wire.hand.wait_for(lambda at=broker: wire.hand.link(at, 1).waiting, 5)
        notified = 0
        time.sleep(0.5)
        assert notified == 0


def test_a_held_response_goes_with_the_connection_of_its_sender(wire: Wire) -> None:
    wire.hand.by_hand([1, 2], True)
    link = wire.hand.link(2, 1)
    with wire.connect() as follower:
        with wire.hand.change():
            link.credits, link.keep_next = 1, True
        send(follower, fetch(11))
        assert wire.hand.wait_for(lambda: len(link.kept) == 1, 5)
        for connection in wire.accepted:
            connection.shutdown(socket.SHUT_RDWR)
        assert wire.hand.wait_for(lambda: not link.kept, 5)
        assert received(follower) == b""


def test_fetches_of_a_paused_broker_are_broken_but_not_a_held_response() -> None:
    hand = LinkControls()
    broken: list[tuple[int, int]] = []
    for source, target in ((2, 1), (2, 3), (2, CONTROLLER), (1, 2)):
        hand.link(source, target).close[0] = lambda way=(source, target): broken.append(way)
    hand.link(2, 3).kept.append(HeldResponse())
    hand.break_fetches(2)
    assert broken == [(2, 1)]


def test_a_cleared_elr_is_compared_at_once() -> None:
    """A ClearElrRecord writes no record of the partition, and the recorder applies it."""
    run = Run(Scenario.from_dict({"title": "x", "configs": {"min.insync.replicas": 2}}), "K41")
    sim = Simulation(run.scenario, "K41")
    script = ("produce a to 1 acks=all", "settle", "kill 2", "detect 2", "shutdown 3")
    run_to_end(sim, script)
    assert facts_now(sim)["elr"] == [3]
    run_to_end(sim, ("set min.insync.replicas=1",))
    assert facts_now(sim)["elr"] == []


def test_a_recording_of_brokers_without_names_is_read_back() -> None:
    run = a_run(brokers=2, partitions=[[1, 2]])
    made = made_of(run, steps_of("produce a to 1 acks=all"))
    made["names"] = ["1", "2"]
    assert not compare(reading.read(json.dumps(made), "later")).different


def test_a_setting_that_is_not_passed_on_is_refused() -> None:
    with pytest.raises(LabError, match=r"does not set retention\.ms"):
        playing.must_be_playable(a_run(configs={"retention.ms": 60_000}), release_of("3.9.1"))


@pytest.mark.parametrize(("version", "early"), [("3.7.2", False), ("3.8.0", True), ("4.4.0", True)])
def test_checkpoints_are_written_from_the_start_on(
    version: str, early: bool, tmp_path: Any
) -> None:
    made = configuration.broker(release_of(version), 1, Ports(20_000, [1]), tmp_path, 101)
    assert ("log.initial.task.delay.ms" in made) is early


def test_a_zookeeper_session_has_the_password_that_its_id_gives() -> None:
    """As `new Random(id ^ 0xB3415C00L).nextBytes(new byte[16])` prints it."""
    assert session_password(0x100000B5D2B0000).hex() == PASSWORD


PASSWORD = "5717a3fb984b326e8d8b7543a1610bd6"


# -- moves on a cluster that only keeps count -----------------------------------------------------


class CountingCluster:
    """Stands in for a cluster whose brokers are all alive."""

    def __init__(self, kafka: str = "3.9.1") -> None:
        self.release = release_of(kafka)
        self.brokers = [1, 2, 3]
        self.hand = LinkControls()
        self.paused = self.hand.paused
        self.killed: list[Any] = []
        self.live_asked: list[int] = []
        self.metadata = SimpleNamespace(live=self._live, topic_id=lambda _: "")
        self.ports = Ports(20_000, self.brokers)

    def _live(self, broker: int) -> bool:
        self.live_asked.append(broker)
        return True

    def alive(self, broker: int) -> bool:
        return True

    def kill(self, who: Any, number: Any = None) -> None:
        self.killed.append(who)

    controller_client = RealCluster.controller_client
    client = RealCluster.client
    end_of = RealCluster.end_of
    _metadata = None


@pytest.fixture
def stage(monkeypatch: pytest.MonkeyPatch) -> LabStage:
    monkeypatch.setattr(moves.time, "sleep", lambda _: None)
    made = LabStage(cast(RealCluster, CountingCluster()), "run", [1, 2, 3], {})
    monkeypatch.setattr(LabStage, "informed", lambda *_: None)
    return made


def test_operators_ask_a_broker_that_runs_and_reaches_the_controller(stage: LabStage) -> None:
    stage.cluster.paused.add(1)
    stage.cluster.hand.cut(2, CONTROLLER)
    assert stage.cluster.controller_client().port == stage.cluster.ports.client(3)
    stage.cluster.hand.cut(3, CONTROLLER)
    assert stage.cluster.controller_client().port == stage.cluster.ports.client(1)


def test_heal_waits_only_for_brokers_that_reach_the_controller(stage: LabStage) -> None:
    hand = stage.cluster.hand
    hand.floors["run"] = 3
    hand.cut(1, 2)
    hand.cut(3, CONTROLLER)
    moves.DEEDS["heal"](stage, {"a": 1, "b": 2})
    assert cast(CountingCluster, stage.cluster).live_asked == [1, 2]
    assert hand.floors == {}, "a deposed leader may answer until it is informed"


def test_a_leader_that_goes_on_is_asked_only_once_it_is_informed(stage: LabStage) -> None:
    hand = stage.cluster.hand
    moves.DEEDS["pause"](stage, {"broker": 1})
    assert hand.paused == {1}
    hand.floors["run"] = 3
    moves.DEEDS["resume"](stage, {"broker": 1})
    assert (hand.paused, hand.floors) == (set(), {})


def test_a_controlled_shutdown_lets_no_fetch_pass(stage: LabStage) -> None:
    stage.by_hand(True)
    moves.DEEDS["shutdown"](stage, {"broker": 3})
    assert cast(CountingCluster, stage.cluster).killed == [3]
    assert stage.cluster.hand.link(2, 1).manual


def test_hold_md_waits_for_the_fetch_that_is_on_its_way(
    stage: LabStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(moves.time, "sleep", waited.append)
    moves.DEEDS["hold"](stage, {"broker": 2, "metadata": True})
    assert FETCH in stage.cluster.hand.link(2, CONTROLLER).holding
    assert sum(waited) >= 0.5
    waited.clear()
    moves.DEEDS["hold"](stage, {"broker": 2, "metadata": False})
    assert waited == []


@pytest.mark.parametrize(("elected", "reorderings"), [(True, 2), (False, 2), (True, 0)])
def test_only_reorderings_are_subtracted_from_an_election(
    stage: LabStage, monkeypatch: pytest.MonkeyPatch, elected: bool, reorderings: int
) -> None:
    state = SimpleNamespace(replicas=(1, 2, 3), leader_epoch=4, partition_epoch=7)
    order = (2, 1, 3) if not reorderings else (1, 2, 3)
    state.replicas = order

    class Operator:
        def reassign(self, topic: str, listed: list[int]) -> str:
            state.replicas = tuple(listed)
            state.partition_epoch += 1
            return "NONE"

        def elect(self, topic: str, unclean: bool) -> str:
            state.leader_epoch += elected
            state.partition_epoch += elected
            return "NONE"

    monkeypatch.setattr(stage.cluster, "controller_client", Operator)
    monkeypatch.setattr(LabStage, "must_record", lambda _: SimpleNamespace(**vars(state)))
    stage.adjusted = Adjusted()
    moves.DEEDS["elect"](stage, {"broker": 2, "kind": "online"})
    assert stage.adjusted.partition_epoch == reorderings


def test_held_metadata_is_not_waited_for(stage: LabStage) -> None:
    stage.cluster.hand.hold(2, FETCH, True)
    stage.cluster.metadata.record = lambda *_: SimpleNamespace(leader=1, leader_epoch=3)
    assert stage._knows(2, stage.own)


def test_the_next_script_finds_a_whole_cluster(stage: LabStage) -> None:
    """Brokers are resumed and started, sessions of the dead are ended, and the topic goes."""
    told: list[Any] = []
    cluster = cast(Any, stage.cluster)
    cluster.alive = lambda broker: broker != 3
    cluster.controller_alive = False
    for name in ("start_controller", "end_session", "start", "await_up"):
        setattr(cluster, name, lambda *who, name=name: told.append((name, *who)))
    cluster.controller_client = lambda: SimpleNamespace(
        delete_topic=lambda topic: told.append(("delete", topic)) or "NONE"
    )
    cluster.metadata.record = lambda *_: None
    cluster.paused.add(2)
    cluster.hand.cut(1, 2)
    cluster.hand.floors["run"] = 4
    stage.topic = "run"
    script_cluster.tidy(stage)
    assert told == [
        ("start_controller",),
        ("end_session", 3),
        ("start", 3),
        *(("await_up", broker) for broker in (1, 2, 3)),
        ("delete", "run"),
    ]
    assert cluster.killed == [2] and not cluster.paused
    assert cluster.hand.passes(1, 2) and cluster.hand.floors == {}


@pytest.mark.parametrize(("session_ms", "ended"), [(0, []), (60_000, [2])])
def test_detect_ends_sessions_only_where_they_are_long(
    stage: LabStage, session_ms: int, ended: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = cast(Any, stage.cluster)
    found: list[int] = []
    cluster.session_ms = session_ms
    cluster.end_session = found.append
    cluster.metadata.live = lambda broker: False
    state = SimpleNamespace(leader=1, isr=(1, 3))
    monkeypatch.setattr(LabStage, "must_record", lambda *_: state)
    assert moves.DEEDS["detect"](stage, {"broker": 2}) == ""
    assert found == ended


def test_the_controller_moves_to_the_broker_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each deletion of /controller is an election; the third makes broker 4 the controller."""
    monkeypatch.setattr(metadata.time, "sleep", lambda _: None)
    elected = [2, 1, 4]

    class Client:
        def get(self, path: str) -> tuple[bytes, None]:
            return json.dumps({"brokerid": elected[0]}).encode(), None

        def delete(self, path: str) -> None:
            assert path == "/controller"
            elected.pop(0)

    known = ZooKeeperMetadata.__new__(ZooKeeperMetadata)
    known._client = Client()
    known.move_controller(4)
    assert elected == [4]


def test_a_bounce_under_zookeeper_closes_the_old_session(
    stage: LabStage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The controller is frozen only until the new session exists."""
    told: list[Any] = []
    known = ZooKeeperMetadata.__new__(ZooKeeperMetadata)
    monkeypatch.setattr(known, "controller", lambda: 4)
    monkeypatch.setattr(known, "end_session", lambda broker: told.append(("end", broker)))
    monkeypatch.setattr(known, "live", lambda broker: False)
    cluster = cast(Any, stage.cluster)
    cluster.metadata = known
    cluster.kill = lambda who, number=signal.SIGKILL: told.append((number.name, who))
    cluster.end_session = known.end_session
    cluster.start = cluster.await_up = lambda broker: told.append(("start", broker))
    moves.DEEDS["bounce"](stage, {"broker": 2, "power": False})
    assert told == [
        ("SIGSTOP", 4),
        ("SIGKILL", 2),
        ("end", 2),
        ("start", 2),
        ("start", 2),
        ("SIGCONT", 4),
    ]


@pytest.mark.parametrize(("session_ms", "ended"), [(0, []), (60_000, [2])])
def test_a_bounce_under_kraft_ends_a_long_session(
    stage: LabStage, session_ms: int, ended: list[int]
) -> None:
    """A broker gives up after initial.broker.registration.timeout.ms, which is as long."""
    cluster = cast(Any, stage.cluster)
    found: list[int] = []
    cluster.session_ms = session_ms
    cluster.end_session = found.append
    cluster.metadata.live = lambda broker: False
    cluster.start = cluster.await_up = lambda broker: None
    moves.DEEDS["bounce"](stage, {"broker": 2, "power": False})
    assert found == ended


@pytest.mark.parametrize(
    ("script", "flushed"),
    [
        ("produce a to 1 acks=1; power 1", 0),
        ("produce a to 1 acks=1; flush 1; produce b to 1 acks=1; power 1", 1),
        ("produce a to 1 acks=1; settle; shutdown 1; restart 1; power 1", 1),
        ("produce a to 1 acks=1; flush 1; settle; kill 1; detect 1; wipe 1; restart 1; power 1", 0),
    ],
)
def test_a_power_failure_spares_what_the_model_has_flushed(script: str, flushed: int) -> None:
    """A clean shutdown flushes, too, and a new disk has nothing."""
    lines = script.split("; ")
    assert order.plan(a_run(), lines).flushed[-1].get(1, 0) == flushed


@pytest.mark.parametrize(("kafka", "deleted"), [("3.7.2", True), ("3.7.2", False), ("3.8.0", True)])
def test_deleted_records_wait_for_the_log_starts_on_disk(
    stage: LabStage, kafka: str, deleted: bool
) -> None:
    waited: list[int] = []
    cluster = cast(Any, stage.cluster)
    cluster.release = release_of(kafka)
    cluster.await_log_starts = waited.append
    cluster.paused.add(3)
    stage.has_deleted = deleted
    stage.await_checkpoints()
    assert waited == ([1, 2] if deleted and kafka == "3.7.2" else [])


@pytest.mark.parametrize(
    ("kafka", "passed"), [("0.11.0.3", False), ("2.8.2", False), ("3.9.1", True)]
)
def test_only_a_kraft_broker_waits_a_minute_for_the_controller(
    kafka: str, passed: bool, tmp_path: Any
) -> None:
    """ZooKeeper's controller waits as long for a paused broker, and a `detect` for 45 s."""
    made = configuration.broker(release_of(kafka), 1, Ports(20_000, [1]), tmp_path, 101)
    assert ("request.timeout.ms" in made) is passed
