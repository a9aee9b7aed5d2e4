"""Groups in the laboratory: what members obey, when sessions end, and records of commits."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from uuid import uuid4

import pytest

from app.kafka import batches, offsets_topic
from app.kafka.cursor import NO_TAGS, i16, i32
from app.lab import disk, laboratory, playing
from app.lab.cluster import RealCluster, Tools
from app.lab.configuration import Ports
from app.lab.groups import LabGroups
from app.lab.laboratory import Wish
from app.lab.links import LinkControls, member_node
from app.lab.member_moves import OF_MEMBERS, member_deed
from app.lab.proxy import without_news
from app.lab.releases import release_of
from app.lab.stage import LabStage
from app.lab.trouble import LabError
from engine.moves import moves
from engine.scenarios import expectations, file
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run

FILES = Path(__file__).parent / "files"
ORDERS = {"name": "orders", "members": ["C1", "C2"], "offsets": [2, 3, 1]}


def a_scenario(**fields: object) -> Scenario:
    return Scenario.from_dict(
        {"title": "A run", "profiles": ["K41"], "brokers": 3, "groups": [ORDERS], **fields}
    )


class ObedientCluster:
    """Clients that obey at once; `described` is what the admin client says of a group."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.brokers = [1, 2, 3]
        self.ports = Ports(20_000, self.brokers)
        self.hand = LinkControls()
        self.processes = SimpleNamespace(running={})
        self.lines: list[str] = []
        self.killed: list[str] = []
        self.release = release_of("4.1.1")
        self.described: dict[str, Any] = {"state": "Empty", "coordinator": 2, "members": []}
        self.arguments: dict[str, list[str]] = {}

    def output(self, name: str) -> Path:
        return self.folder / f"{name}.out"

    def start_client(self, name: str, program: Path, arguments: list[str]) -> None:
        assert program.exists()
        self.arguments[name] = arguments
        self._say(name, 0)
        stdin = SimpleNamespace(write=lambda line: self._obey(name, line.decode().strip()))
        stdin.flush = lambda: None
        self.processes.running[name] = SimpleNamespace(stdin=stdin)

    def _say(self, name: str, done: int, **more: Any) -> None:
        with self.output(name).open("a") as out:
            out.write("SLF4J: something else\n" + json.dumps({"done": done, **more}) + "\n")

    def _obey(self, name: str, line: str) -> None:
        done = json.loads(self.output(name).read_text().splitlines()[-1])["done"] + 1
        if name == "admin":
            self._say(name, done, **self.described)
        else:
            self.lines.append(f"{name} {line}")
            self._say(name, done, alive=True, failed="", busy=False)

    def kill(self, name: str) -> None:
        self.killed.append(name)

    def check(self) -> None:
        pass


@pytest.fixture
def cluster(tmp_path: Path) -> ObedientCluster:
    return ObedientCluster(tmp_path)


def groups_on(cluster: ObedientCluster, scenario: Scenario) -> LabGroups:
    groups = LabGroups(cast(RealCluster, cluster), scenario)
    groups.begin("run")
    return groups


@pytest.mark.parametrize("release", ["3.9.1", "4.1.1"])
def test_records_of_a_real_coordinator_read_as_the_model_writes_them(
    release: str, cluster: ObedientCluster, tmp_path: Path
) -> None:
    (tmp_path / "0.log").write_bytes((FILES / f"offsets-{release}.log").read_bytes())
    groups = LabGroups(cast(RealCluster, cluster), a_scenario())
    log = disk.read_log(tmp_path, groups.text_of)
    wanted = {
        "3.9.1": ["g1:C1-1", "p0:3:e0", "g2", "g3:C2-1"],
        "4.1.1": ["g1:C1-1", "p0:1:e0"],
    }[release]
    assert [value for _, value, _ in log.records] == wanted
    assert (log.end, log.counted(log.end)) == (len(wanted) + len(log.uncounted), len(wanted))
    assert log.uncounted == ((0,) if release == "4.1.1" else ())


def test_the_record_of_a_static_member_has_what_it_owns(cluster: ObedientCluster) -> None:
    text = (FILES / "offsets-3.9.1.log").read_bytes()
    generation = next(batches.stream(io.BytesIO(text)))
    assert generation.records
    record = offsets_topic.parse(generation.keys[0], generation.records[0][1])
    assert isinstance(record, offsets_topic.GenerationRecord)
    [member] = record.members
    assert (record.generation, member.client, member.assigned) == (1, "C1", (0,))
    assert offsets_topic.parse(generation.keys[0], b"") is None, "a tombstone"


def test_members_get_the_settings_of_their_group(cluster: ObedientCluster) -> None:
    group = {**ORDERS, "commit": "auto", "group.instance.id": {"C2": "app-1"}}
    configs = {"retry.backoff.ms": 1000}
    readers = {"consumers": [{"reset": "latest"}]}
    groups_on(cluster, a_scenario(groups=[group], configs=configs, workload=readers))
    first, second = cluster.arguments["C1"], cluster.arguments["C2"]
    assert {"group.id=orders", "enable.auto.commit=true", "retry.backoff.ms=1000"} <= set(first)
    assert "auto.offset.reset=latest" in first
    assert {"auto.offset.reset=earliest", "group.instance.id=app-1"} <= set(second)


def test_each_group_has_the_partition_of_its_number(cluster: ObedientCluster) -> None:
    second = {"name": "orders2", "members": ["C3"], "offsets": [3, 1, 2]}
    groups = LabGroups(cast(RealCluster, cluster), a_scenario(groups=[ORDERS, second]))
    ids = [group.id for group in groups.groups]
    # "orders".hashCode() is -1008770331, and that of "orders-1" odd as well.
    assert ids == ["orders-2", "orders2"]
    assert [group.partition for group in groups.groups] == [0, 1]
    third = {"name": "orders3", "members": ["C4"], "offsets": [1, 2, 3]}
    three = LabGroups(cast(RealCluster, cluster), a_scenario(groups=[ORDERS, second, third]))
    assert three.groups[0].id == "orders", "1008770331 is divisible by 3"


def test_a_session_ends_when_the_clock_of_the_script_says_so(
    cluster: ObedientCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = groups_on(cluster, a_scenario(configs={"session.timeout.ms": 6000}))
    cluster.described["members"] = [["C1-aa", "C1", [0]], ["C2-bb", "C2", []]]
    waited: list[bool] = []

    def wait(is_so: Any, *_: float) -> None:
        waited.append(is_so())
        cluster.described["members"] = [["C2-bb", "C2", [0]]]
        waited.append(is_so())

    groups.die(groups.members["C1"])
    assert cluster.killed == ["C1"]
    monkeypatch.setattr("app.lab.groups.wait_until", wait)
    monkeypatch.setattr("app.lab.groups.GroupClient.ask", lambda *_: cluster.described)
    monkeypatch.setattr(LabGroups, "hear", lambda *_: None)
    groups.advance(4000)
    assert (waited, groups.silent) == ([], [(0, {"C1-aa"})]), "2 s of the session are left"
    groups.advance(2000)
    assert (waited, groups.silent) == ([False, True], [])


@pytest.mark.parametrize(
    ("line", "sent"),
    [
        ("join C2", "C2 join"),
        ("read C1", "C1 read"),
        ("commit C1", "C1 commit"),
        ("process C2", "C2 process"),
        ("leave C2", "C2 leave"),
        ("seek C1 earliest", "C1 seek earliest"),
        ("seek C1 latest", "C1 seek latest"),
    ],
)
def test_members_obey_moves(line: str, sent: str, cluster: ObedientCluster) -> None:
    scenario = a_scenario()
    groups = groups_on(cluster, scenario)
    move = moves.parse(line, scenario.brokers)
    deed = member_deed(groups, move)
    assert deed
    deed(LabStage(cast(RealCluster, cluster), "run", [1, 2, 3], {}), move.args)
    assert cluster.lines == [sent]
    assert member_deed(groups, moves.parse("settle", scenario.brokers)) is None
    assert set(OF_MEMBERS) <= set(moves.VERBS)


def test_members_learn_of_their_group_only_when_a_move_lets_them(
    cluster: ObedientCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = a_scenario()
    groups, unaware = groups_on(cluster, scenario), cluster.hand.unaware
    both = {member_node(1), member_node(2)}
    assert unaware == both
    seen: list[set[int]] = []
    monkeypatch.setattr("app.lab.groups.wait_until", lambda *_: seen.append(set(unaware)))
    monkeypatch.setattr("app.lab.groups.time.sleep", lambda _: None)
    repeat = moves.parse("repeat C2", scenario.brokers)
    deed = member_deed(groups, repeat)
    assert deed
    stage = LabStage(cast(RealCluster, cluster), "run", [1, 2, 3], {})
    assert deed(stage, repeat.args) == "the client does not run"
    groups.members["C2"].send("join")
    assert deed(stage, repeat.args) is None
    groups.advance(3000)
    groups.advance(1000)
    assert (seen, unaware) == ([{member_node(1)}, set()], both)


def test_a_static_member_is_the_client_that_joined_last(cluster: ObedientCluster) -> None:
    group = {**ORDERS, "group.instance.id": {"C1": "app-1", "C2": "app-1"}}
    groups = groups_on(cluster, a_scenario(groups=[group]))
    first, second = uuid4(), uuid4()
    groups.takes_instance("C1")
    assert groups.named(f"app-1-{first}", "C1") == "C1-1"
    groups.takes_instance("C2")
    assert groups.named(f"app-1-{second}", "C1") == "C2-1", "its coordinator still says C1"
    assert groups.named(f"app-1-{first}", "C1") == "C1-1"
    assert groups.named(f"C1-{first}", "C1") == "C1-2", "a dynamic member"


@pytest.mark.parametrize(
    ("version", "error", "told"), [(0, 27, 0), (3, 82, 0), (4, 25, 0), (4, 16, 16), (1, 0, 0)]
)
def test_a_heartbeat_keeps_its_news_back(version: int, error: int, told: int) -> None:
    head = i32(7) + (NO_TAGS if version == 4 else b"") + (i32(0) if version else b"")
    frame = head + i16(error) + (NO_TAGS if version == 4 else b"")
    assert without_news(frame, version) == frame[: len(head)] + i16(told) + frame[len(head) + 2 :]


def test_a_group_without_a_coordinator_says_nothing_else(cluster: ObedientCluster) -> None:
    groups = groups_on(cluster, a_scenario())
    cluster.described = {"error": "TimeoutException"}
    assert groups.group_facts() == {"orders": {"coordinator": None}}
    cluster.described = {"error": "GroupIdNotFoundException"}
    assert groups.group_facts() == {"orders": {"state": "Dead", "members": [], "offsets": []}}


def test_a_group_may_read_several_partitions() -> None:
    scenario = a_scenario(partitions=[[1, 2, 3], [2, 3, 1]], script="produce a to 2 acks=all p=1")
    playing.must_be_playable(Run(scenario, "K41"), release_of("4.1.1"))
    stage = LabStage(cast(RealCluster, SimpleNamespace()), "run", [1, 2, 3], {})
    stage.add_groups(scenario)
    found = {n: (one.topic, one.index, one.replicas) for n, one in stage.others.items()}
    assert found == {1: ("", 1, [2, 3, 1]), 2: ("__consumer_offsets", 0, [2, 3, 1])}


@pytest.mark.parametrize(
    ("fields", "release", "why"),
    [
        ({}, "1.1.1", "from Kafka 2.0 on"),
        (
            {"groups": [{**ORDERS, "group.protocol": "consumer"}]},
            "4.1.1",
            "group.protocol=consumer",
        ),
        ({"script": "timeout C1"}, "4.1.1", "“timeout C1” cannot be played"),
        ({"groups": [], "script": "seek C1 latest"}, "4.1.1", "“seek C1 latest” cannot be played"),
    ],
)
def test_unplayable_groups_are_refused(fields: dict[str, Any], release: str, why: str) -> None:
    run = Run(a_scenario(**fields), "K41")
    with pytest.raises(LabError, match=why):
        playing.must_be_playable(run, release_of(release))


@pytest.mark.parametrize("code", ["S87", "S88", "S89", "S90", "S91"])
def test_groups_of_the_library_can_be_played(code: str) -> None:
    playing.must_be_playable(Run(file.find(code), "K39"), release_of("3.9.1"))


def test_members_need_a_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = Tools(tmp_path / "jre" / "bin" / "java", tmp_path, tmp_path / "classes.jsa")
    monkeypatch.setattr(laboratory, "find_tools", lambda *_: tools)
    with pytest.raises(LabError, match=r"jre has no compiler .* install a JDK"):
        laboratory.play(Wish("3.9.1"), Run(file.find("S87"), "K39"), lambda line: None)


@pytest.mark.parametrize(
    ("text", "kept"), [("C1 at 3", True), ("C1 at 4", False), ("C2 at 3", None)]
)
def test_positions_are_held_against_facts(text: str, kept: bool | None) -> None:
    expected = expectations.parse(text, a_scenario().brokers)
    facts: Any = {"P": None, "brokers": {}, "members": {"C1": {"at": [[0, 3]]}}}
    assert playing.evaluate_expectation(expected, facts, {})[0] is kept


def test_replicas_of_the_group_are_held_against_facts() -> None:
    expected = expectations.parse("b2 LEO 2 HW 1 p=1", a_scenario().brokers)
    other = {"leo": 2, "hw": 1, "epochs": [], "log": ""}
    facts: Any = {
        "P": None,
        "brokers": {},
        "partitions": {"1": {"P": None, "brokers": {"2": other}}},
    }
    assert playing.evaluate_expectation(expected, facts, {})[0] is True
