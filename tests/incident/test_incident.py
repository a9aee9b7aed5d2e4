"""Incidents of real clusters (S30 on 3.9.1, R20 on 0.10.2.2), rebuilt from their files alone."""

from __future__ import annotations

import random
import re
import shutil
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.command.cli import main
from app.incident import reconstruction, render, timeline
from app.incident.reconstruction import Rebuilt
from app.incident.timeline import Timeline
from app.reading import sources
from app.reading.files import Gathered, ReplicaFiles
from app.reading.names import TopicIdentity
from app.reading.sources import events_of
from engine.model.errors import InputError
from engine.replay.replay import Replay

FILES = Path(__file__).parent / "files"
S30 = FILES / "S30-3.9.1"
R20 = FILES / "R20-0.10.2.2"


def told_of(*paths: Path | str, partition: str = "S30") -> Timeline:
    return timeline.gather(
        sources.readable_files(tuple(map(str, paths))), TopicIdentity(partition, 0)
    )


def records(told: Timeline) -> list[str]:
    return [render.record(state.record) for state in told.states]


def losses(told: Timeline) -> list[str]:
    return [what for _, _, what in render.losses(told)]


@pytest.fixture(scope="module")
def kraft() -> Timeline:
    return told_of(S30)


@pytest.fixture(scope="module")
def zookeeper() -> Timeline:
    return told_of(R20, partition="R20")


def broken(rebuilt: Rebuilt) -> set[str]:
    replay = Replay(rebuilt.run, most=100_000)
    return {one["invariant"] for one in replay.verdict()["broken"]}


# -- the timeline ----------------------------------------------------------------------------------


def test_every_state_of_the_record(kraft: Timeline, zookeeper: Timeline) -> None:
    assert records(kraft) == [
        "P{1 0 0 [1,2,3]}",
        "P{1 0 1 [1,3]}",
        "P{1 0 2 [1]}",
        "P{-1 1 3 [1]}",
        "P{1 2 4 [1]}",
        "P{1 2 5 [1,2]}",
        "P{1 2 6 [1,2,3]}",
    ]
    assert records(zookeeper) == [
        "P{2 0 0 [1,2,3]}",
        "P{3 1 1 [1,3]}",
        "P{1 2 2 [1]}",
        "P{1 2 3 [1,3]}",
        "P{1 2 4 [1,2,3]}",
        "P{2 3 5 [1,2,3]}",
        "P{3 4 6 [1,3]}",
        "P{3 4 7 [1,2,3]}",
    ]


def test_facts_of_the_whole_cluster(kraft: Timeline, zookeeper: Timeline) -> None:
    assert (kraft.version, kraft.kraft, kraft.replicas) == ("3.9.1", True, [1, 2, 3])
    assert kraft.configs == {"min.insync.replicas": "2"}
    assert (zookeeper.version, zookeeper.kraft) == ("0.10.2.2", False)
    assert zookeeper.replicas == [2, 3, 1]
    assert zookeeper.configs["unclean.leader.election.enable"] == "true"


def test_committed_records_that_are_gone(kraft: Timeline, zookeeper: Timeline) -> None:
    [loss] = losses(kraft)
    assert loss.startswith("LOST: offsets 1 to 2 were committed (high watermark 3 on b")
    assert losses(zookeeper) == [
        "LOST: offset 1 was committed (high watermark 2 on b1), and the leader's log ends at 1"
    ]


def test_the_text_tells_cuts_with_the_leaders_answer(kraft: Timeline) -> None:
    text = "\n".join(render.lines(kraft))
    assert text.splitlines()[0] == "S30-0 on Kafka 3.9.1, replicas [1,2,3]"
    assert (
        len(re.findall("truncates its log to 1: in the leader's log epoch 0 ends at 1", text)) == 2
    )
    assert "b1   had not shut down cleanly: no clean shutdown file" in text
    assert "now   b1   log [0, 1) [0, 1)@0 epochs 0:0 2:1 high watermark 1" in text


def test_output_of_kafka_dump_log_is_as_good(kraft: Timeline) -> None:
    dumps = FILES / "dumps"
    told = told_of(dumps / "metadata.txt", f"2={dumps / 'segment.txt'}")
    assert records(told) == records(kraft)
    assert told.disks["2"].runs == [(0, 0, 1)]
    anonymous = told_of(dumps / "metadata.txt", dumps / "segment.txt")
    assert anonymous.disks == {}
    assert "name the file like 2=segment.txt" in anonymous.notes[0]


def test_logs_of_brokers_alone_tell_what_they_heard(tmp_path: Path) -> None:
    for broker in "123":
        shutil.copy(S30 / f"b{broker}" / "server.log", tmp_path / f"{broker}.log")
    told = told_of(tmp_path)
    assert records(told)[:3] == ["P{1 0 0 [1,2,3]}", "P{1 0 1 [1,3]}", "P{1 0 2 [1]}"]
    assert "No file shows the state at partition epoch 3." in told.notes


# -- clocks ----------------------------------------------------------------------------------------


def test_clocks_are_bounded_and_a_clock_an_hour_off_changes_nothing(
    kraft: Timeline, tmp_path: Path
) -> None:
    assert all(skew.most is not None and skew.most < 1_000 for skew in kraft.clocks.skews.values())
    place = tmp_path / "S30"
    shutil.copytree(S30, place)
    log = place / "b2" / "server.log"
    log.write_text(re.sub(r"(?m)^(\[2026-11-22 )(\d\d)", later, log.read_text()))
    told = told_of(place)
    skew = told.clocks.skews["2"]
    assert skew.least is not None
    assert skew.most is not None
    assert 3_590_000 < skew.least <= skew.most < 3_601_000
    moments = [[t for t, event in one.events if event.node == "2"] for one in (kraft, told)]
    assert len(moments[0]) == len(moments[1])
    assert max(abs(a - b) for a, b in zip(*moments, strict=True)) < 2_000
    assert records(told) == records(kraft)
    assert reconstruction.rebuild(told).finding == ""


def later(match: re.Match[str]) -> str:
    return f"{match[1]}{int(match[2]) + 1:02d}"


CLOCK = re.compile(r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\]", re.MULTILINE)


@pytest.mark.parametrize("apart_ms", [(25_201_234, -95_000, 3_599_923), (400, -700, 250)])
def test_machines_whose_clocks_are_all_wrong_tell_the_same_story(
    kraft: Timeline, tmp_path: Path, apart_ms: tuple[int, ...]
) -> None:
    place = tmp_path / "S30"
    shutil.copytree(S30, place)
    for broker, ms in zip("123", apart_ms, strict=True):
        log = place / f"b{broker}" / "server.log"
        log.write_text(CLOCK.sub(partial(shifted, ms=ms), log.read_text()))
    told = told_of(place)
    assert records(told) == records(kraft)
    rebuilt = reconstruction.rebuild(told)
    assert rebuilt.finding == ""
    assert list(rebuilt.run.lines()) == list(reconstruction.rebuild(kraft).run.lines())


def shifted(match: re.Match[str], ms: int) -> str:
    form = "%Y-%m-%d %H:%M:%S,%f"
    now = datetime.strptime(match[1], form) + timedelta(milliseconds=ms)
    return f"[{now.strftime(form)[:-3]}]"


def test_a_log_that_is_no_text_is_named(tmp_path: Path) -> None:
    place = tmp_path / "S30"
    shutil.copytree(S30, place)
    (place / "b2" / "server.log").write_bytes(random.Random(1).randbytes(20_000))
    (place / "b3" / "controller.log").write_bytes(b"")
    answer = CliRunner().invoke(main, ["incident", str(place)])
    assert "b2/server.log is not a log, segment, checkpoint or dump of Kafka" in answer.output
    assert "b3/controller.log is empty." in answer.output


# -- the run ---------------------------------------------------------------------------------------


def test_the_model_follows_a_power_failure_of_the_last_replica(kraft: Timeline) -> None:
    rebuilt = reconstruction.rebuild(kraft)
    assert (rebuilt.run.profile, rebuilt.followed, rebuilt.finding) == ("K39", 7, "")
    moves = rebuilt.run.lines()
    assert [move for move in moves if "fetch" not in move] == [
        "produce o0e0 o1e0 o2e0 to 1 acks=1",
        "cut 2 K",
        "detect 2",
        "cut 3 K",
        "detect 3",
        "flush 1 upto 1",
        "power 1",
        "detect 1",
        "heal 2 K",
        "heal 3 K",
        "restart 1",
        "settle",
    ]
    assert "I6" in broken(rebuilt)


def test_the_model_follows_kip_101(zookeeper: Timeline) -> None:
    rebuilt = reconstruction.rebuild(zookeeper)
    assert (rebuilt.run.profile, rebuilt.followed, rebuilt.finding) == ("Z0102", 8, "")
    assert [move for move in rebuilt.run.lines() if "fetch" not in move] == [
        "shutdown 2",
        "shutdown 3",
        "restart 3",
        "restart 2",
        "produce o0e2 to 1 acks=1",
        "produce o1e2 to 1 acks=1",
        "ask 3",
        "elect preferred",
        "kill 2",
        "detect 2",
        "restart 2",
        "settle",
    ]
    assert "I6" in broken(rebuilt)


def test_moves_that_the_model_does_not_make_are_the_finding(kraft: Timeline) -> None:
    states = list(kraft.states)
    states[3] = replace(states[3], record=replace(states[3].record, leader=2, isr=(2,)))
    told = replace_states(kraft, states[:4])
    rebuilt = reconstruction.rebuild(told)
    assert rebuilt.followed == 3
    assert (
        "the partition's state becomes P{2 1 3 [2]}; the model of Kafka 3.9.1 is at P{-1 1 3 [1]}"
        in (rebuilt.finding)
    )


def test_a_disk_that_ends_elsewhere_is_the_finding(kraft: Timeline) -> None:
    told = replace_states(kraft, kraft.states)
    disk = told.disks["3"]
    disk = ReplicaFiles(disk.runs, disk.start, disk.hw, disk.epochs)
    disk.runs = []
    told.disks = {**told.disks, "3": disk}
    assert reconstruction.rebuild(told).finding == ""
    disk.runs = [(0, 0, 1), (2, 1, 2)]
    told.disks = {"3": disk, "1": kraft.disks["1"]}
    assert reconstruction.rebuild(told).finding.startswith("On broker 1's disk the log ends at 1")


def replace_states(told: Timeline, states: list[timeline.TimelineState]) -> Timeline:
    return replace(told, states=states, disks=dict(told.disks), notes=[])


MIDDLE = """\
[2026-11-22 10:00:00,000] INFO [Broker id=1] Leader big-0 with topic id Some(x) starts at leader \
epoch 12 from offset 5000000 with partition epoch 40, high watermark 5000000, ISR [1,2], adding \
replicas [] and removing replicas [] . Previous leader None and previous leader epoch was -1. (s)
[2026-11-22 11:00:00,000] INFO [Broker id=1] Follower big-0 starts at leader epoch 13 from offset \
5900000 with partition epoch 41 and high watermark 5800000. Current leader is 2. Previous leader \
Some(1) and previous leader epoch was 12. (s)
"""
OTHER = """\
[2026-11-22 11:00:00,010] INFO [Broker id=2] Leader big-0 with topic id Some(x) starts at leader \
epoch 13 from offset 5800000 with partition epoch 41, high watermark 5800000, ISR [1,2], adding \
replicas [] and removing replicas [] . Previous leader Some(1) and previous leader epoch was 12. (s)
[2026-11-22 11:00:00,000] INFO [Broker id=2] Transition (s)
"""


def test_an_incident_in_the_middle_of_millions_of_records(tmp_path: Path) -> None:
    (tmp_path / "1.log").write_text(MIDDLE)
    (tmp_path / "2.log").write_text(OTHER)
    told = told_of(tmp_path, partition="big")
    assert records(told) == ["P{1 12 40 [1,2]}", "P{2 13 41 [1,2]}"]
    rebuilt = reconstruction.rebuild(told)
    assert (rebuilt.followed, rebuilt.finding) == (2, "")
    assert rebuilt.run.scenario.initial is not None
    assert len(rebuilt.run.lines()) < 20
    assert any("long stretches" in note for note in rebuilt.notes)


# -- files that are not as they should be ----------------------------------------------------------


def complaints(path: Path, wanted: str = "t") -> list[str]:
    found: list[str] = []
    gathered = Gathered(TopicIdentity(wanted, 0), found.append)
    for source in sources.readable_files((str(path),)):
        for _ in events_of(source, gathered):
            pass
    return found


def a_replica(place: Path, data: bytes) -> Path:
    (place / "t-0").mkdir(parents=True)
    (place / "meta.properties").write_text("node.id=3\n")
    (place / "t-0" / f"{0:020}.log").write_bytes(data)
    return place


def test_a_truncated_segment_is_named_with_its_byte(tmp_path: Path) -> None:
    data = (S30 / "b1" / "S30-0" / f"{0:020}.log").read_bytes()
    [sentence] = complaints(a_replica(tmp_path, data + data[:40]))
    assert sentence.endswith(
        "t-0/00000000000000000000.log: Byte 69: The batch ends within its header."
    )


def test_a_binary_line_is_named_and_passed_over(tmp_path: Path) -> None:
    log = tmp_path / "server.log"
    log.write_bytes(MIDDLE.encode() + b"\0\1\2\n" + b"\xff\xfe\n")
    [sentence] = complaints(log, "big")
    assert sentence == f"{log}:3: this line is not text and was skipped."


def test_a_checkpoint_that_is_none_is_named_with_its_line(tmp_path: Path) -> None:
    place = a_replica(tmp_path, b"")
    (place / "replication-offset-checkpoint").write_text("0\n1\nt 0\n")
    [sentence] = complaints(place)
    assert "replication-offset-checkpoint: Line 3: an entry has 3 fields" in sentence


def highwater(*words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, ["incident", *words])
    return result.exit_code, result.stdout, result.stderr


def test_files_that_are_not_there_or_of_no_use(tmp_path: Path) -> None:
    assert highwater("/nowhere.log") == (2, "", "There is no file /nowhere.log.\n")
    (tmp_path / "picture.log").write_bytes(bytes(range(256)) * 10)
    code, _, said = highwater(str(tmp_path))
    assert (code, said) == (
        2,
        "None of these is a log, a segment or a checkpoint of Kafka.\n",
    )
    code, _, said = highwater(str(S30), "--partition", "orders-7")
    assert (code, said) == (2, "The files do not show the state of orders-7.\n")
    code, _, said = highwater(str(S30), "--partition", "orders")
    assert (code, said) == (2, "A partition is named like orders-0, not orders.\n")


def test_one_of_several_partitions_is_to_be_chosen() -> None:
    code, _, said = highwater(str(S30), str(R20))
    assert code == 2
    assert said.endswith("as far as the files tell: S30-0 (7), R20-0 (5).\n")
    assert highwater(str(S30), str(R20), "--partition", "S30-0")[0] == 0


def test_the_run_opens_in_the_playground(tmp_path: Path) -> None:
    out = tmp_path / "incident.yaml"
    code, told, _ = highwater(str(S30), "--out", str(out))
    assert code == 0
    assert told.splitlines()[-1] == "Finding: none; the model follows to the end."
    result = CliRunner().invoke(main, ["run", str(out), "--export", "golden"])
    assert "violates I6" in result.stdout


def test_as_json(kraft: Timeline) -> None:
    import json

    from engine.sim.run import Run

    code, told, _ = highwater(str(S30), "--json")
    data = json.loads(told)
    assert (code, data["followed"], data["finding"]) == (0, 7, "")
    assert (
        Run.from_text(json.dumps(data["run"])).lines() == reconstruction.rebuild(kraft).run.lines()
    )


@pytest.mark.night
def test_a_long_log_takes_no_more_memory(tmp_path: Path) -> None:
    def many() -> Iterator[str]:
        for number in range(12_000):
            yield f"[2026-11-22 10:00:00,{number % 1000:03d}] INFO [Broker id=1] Other {number}\n"

    log = tmp_path / "server.log"
    with log.open("w") as file:
        file.write(MIDDLE)
        file.writelines(many())
        file.write("x" * 3_000_000 + "\n")
    assert log.stat().st_size > 3_500_000
    tracemalloc.start()
    told_of(log, partition="big")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_500_000


def test_too_many_events_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timeline, "MOST_EVENTS", 1)
    (tmp_path / "1.log").write_text(MIDDLE)
    with pytest.raises(InputError, match="more than 1 events"):
        told_of(tmp_path, partition="big")
