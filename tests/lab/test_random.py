"""Random scripts: the same on every machine, playable, and a difference is repeated and shortened.

The model stands in for the brokers (`ModelBrokers`), so no cluster is started.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from app.command import lab as command
from app.command.cli import main
from app.lab import chance_page, random_quorum, random_script
from app.lab.moves import DEEDS
from app.lab.playing import must_be_playable
from app.lab.random_play import RandomPlayer, RandomResults, summary
from app.lab.random_quorum import QuorumScripts
from app.lab.releases import release_of
from app.lab.trouble import LabError
from engine.dataplane import watermark
from engine.model.broker import Process
from engine.model.state import RemoteReplica
from engine.recordings import by_chance, reading
from engine.recordings.comparing import compare
from tests.conftest import ROOT
from tests.lab.model_brokers import ModelBrokers

RELEASES = ("1.1.1", "2.3.1", "3.9.1", "4.4.0")


def player(brokers: ModelBrokers, into: Path, kafka: str = "3.9.1", **more: Any) -> RandomPlayer:
    return RandomPlayer(brokers, release_of(kafka), 1, into, lambda line: None, **more)


# -- drawing --------------------------------------------------------------------------------------


def test_a_seed_gives_the_same_scripts_in_every_process() -> None:
    code = (
        "from app.lab.random_script import draw; from app.lab.releases import release_of;"
        "print([draw(7, n, release_of(k)).text() for n in range(1, 9) for k in ('2.3.1', '4.4.0')])"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": str(salt)},
        ).stdout
        for salt in (1, 2)
    }
    assert len(told) == 1 and "settle" in told.pop()


@pytest.mark.parametrize("kafka", RELEASES)
def test_drawn_scripts_can_be_played_and_end_in_order(kafka: str) -> None:
    release = release_of(kafka)
    for number in range(1, 31):
        run = random_script.draw(3, number, release)
        must_be_playable(run, release)
        assert random_script.why_unfit(run, release) == ""
        sim = run.simulation()
        sim.rush = True
        for line in run.lines():
            random_script.advance(sim, line)
        assert {broker.status for broker in sim.brokers.values()} == {"up"}, run.lines()


@pytest.mark.night
def test_elections_and_reassignments_are_as_frequent_as_kills() -> None:
    drawn: Counter[str] = Counter()
    for number in range(1, 301):
        run = random_script.draw(1, number, release_of("3.9.1"))
        drawn.update(line.split()[0] for line in run.lines())
    for verb in ("elect", "reassign"):
        assert 0.6 < drawn[verb] / drawn["kill"] < 1.7, drawn
    assert set(drawn) >= set(random_script.WEIGHTS)


def test_every_weight_is_of_a_move_that_the_laboratory_plays() -> None:
    assert set(random_script.WEIGHTS) <= set(DEEDS)


ZOOKEEPER = "under ZooKeeper: "


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (ZOOKEEPER + "kill 3; detect 3; restart 3; pause 1; detect 1; bounce 3", "may wait for"),
        ("restart 1", "is running"),
        ("kill 2; restart 2", "session is about to end"),
        ("kill 2; settle", "session is about to end"),
        (
            "reassign 1 2; settle; kill 2; detect 2; kill 1; detect 1; "
            "set unclean.leader.election.enable=true",
            "look for an unclean leader at any time",
        ),
        ("ask 2; fetch 2", "its response is held"),
        ("produce m0 to 2 acks=1", "it does not lead"),
        ("kill K; kill 1", "the controller is down"),
        (
            "kill 3; detect 3; kill 2; detect 2; restart 3; restart 2; reassign 3 1; settle",
            "race for the end of a reassignment",
        ),
        ("kill 1; detect 1; kill 2; detect 2; kill 3", "no broker is left to ask"),
        ("kill 3; detect 3; restart 3; reassign 3 1; fetch 3 x2", "race with the news"),
    ],
)
def test_moves_that_the_clock_would_decide_do_not_fit(line: str, why: str) -> None:
    release = release_of("0.10.2.2" if line.startswith(ZOOKEEPER) else "3.9.1")
    line = line.removeprefix(ZOOKEEPER)
    run = random_script.draw(1, 1, release)
    whole = {**run.scenario.to_dict(), "partitions": [[1, 2, 3]]}
    run = replace(run, scenario=type(run.scenario).from_dict(whole))
    told = random_script.why_unfit(replace(run, moves=tuple(line.split("; "))), release)
    assert told.startswith(f"“{line.split('; ')[-1]}”: ") and why in told


# -- playing --------------------------------------------------------------------------------------


def test_equal_scripts_leave_only_their_results(tmp_path: Path) -> None:
    results = list(player(ModelBrokers(), tmp_path).play(5))
    assert [(one.number, one.outcome, one.different) for one in results] == [
        (number, "equal", 0) for number in range(1, 6)
    ]
    assert [one.name for one in tmp_path.iterdir()] == ["results-3.9.1-1.json"]
    kept = RandomResults.load(tmp_path, "3.9.1", 1)
    assert list(kept.scripts.values()) == results
    moves = sum(one.moves for one in results)
    equal = sum(one.equal for one in results)
    assert f"| 3.9.1 | 5 | {moves} | {equal} | 0 | 0 | 0 | 0 | 0 |" in summary(kept)


def test_finished_scripts_are_not_played_again(tmp_path: Path) -> None:
    first = ModelBrokers(failing={2})
    assert [one.outcome for one in player(first, tmp_path).play(3)] == ["equal", "failed", "equal"]
    second = ModelBrokers()
    assert [one.number for one in player(second, tmp_path).play(4)] == [2, 4]
    assert len(second.played) == 2
    assert second.played[0] == first.played[1]


def test_no_script_begins_after_the_deadline(tmp_path: Path) -> None:
    brokers = ModelBrokers()
    assert list(player(brokers, tmp_path, deadline=time.monotonic() - 1).play(3)) == []
    assert brokers.played == []


def test_a_difference_that_the_second_play_has_not_is_chance(tmp_path: Path) -> None:
    brokers = ModelBrokers(chance={1})
    [result] = player(brokers, tmp_path).play(1)
    assert (result.outcome, result.different, len(brokers.played)) == ("passed", 1, 2)
    [recording] = reading.load([tmp_path / result.file])
    assert len(compare(recording).different) == 1


def test_results_that_are_no_results_are_reported(tmp_path: Path) -> None:
    (tmp_path / "results-3.9.1-1.json").write_text("[]")
    with pytest.raises(LabError, match="move it away"):
        list(player(ModelBrokers(), tmp_path).play(1))


# -- a planted error ------------------------------------------------------------------------------

Eligible = Callable[[Process, int, RemoteReplica], bool]


def without_epoch(broker: Process, follower: int, remote: RemoteReplica) -> bool:
    """As the model was once: a follower that never fetched from this leader may join the ISR."""
    peer = broker.peers.get(follower)
    return peer is not None and not (peer.fenced or peer.shutting_down)


def without_fence(broker: Process, follower: int, remote: RemoteReplica) -> bool:
    peer = broker.peers.get(follower)
    return peer is not None and not peer.shutting_down


@pytest.mark.parametrize(("wrong", "most"), [(without_epoch, 5), (without_fence, 7)])
def test_a_planted_error_is_found_and_shortened(
    wrong: Eligible, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = watermark.eligible

    @contextmanager
    def undo() -> Iterator[None]:
        with monkeypatch.context() as context:
            context.setattr(watermark, "eligible", right)
            yield

    monkeypatch.setattr(watermark, "eligible", wrong)
    playing = player(ModelBrokers(undo), tmp_path, shorten_plays=200)
    found = next(one for one in playing.play(60) if one.outcome == "differs")
    assert 0 < len(found.short) <= most < found.moves
    [short] = reading.load(tmp_path.glob("*-short.json"))
    assert short.moves == found.short
    assert found.first[2] in {one.fact for one in compare(short).different}
    monkeypatch.setattr(watermark, "eligible", right)
    assert not compare(short).different


# -- the command ----------------------------------------------------------------------------------


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> ModelBrokers:
    brokers = ModelBrokers()

    @contextmanager
    def started(*_: object) -> Iterator[ModelBrokers]:
        yield brokers

    monkeypatch.setattr(command, "ScriptCluster", started)
    return brokers


def run_command(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["lab", *words])
    return result.exit_code, result.output


def test_the_command_plays_and_resumes(tmp_path: Path, cluster: ModelBrokers) -> None:
    words = ["--random", "3", "--kafka", "2.3.1", "--seed", "5", "--into", str(tmp_path)]
    code, said = run_command(*words)
    assert code == 0 and "| 2.3.1 | 3 | " in said and "3 of 3: " in said
    code, said = run_command(*words)
    assert code == 0 and len(cluster.played) == 3
    cluster.failing.add(4)
    words[1] = "4"
    code, said = run_command(*words)
    assert code == 1 and "could not be played: Broker 2 died by itself." in said


def test_cancelled_it_keeps_what_was_played(
    tmp_path: Path, cluster: ModelBrokers, monkeypatch: pytest.MonkeyPatch
) -> None:
    play = cluster.play

    def interrupted(run: Any) -> Any:
        if len(cluster.played) == 2:
            raise KeyboardInterrupt
        return play(run)

    monkeypatch.setattr(cluster, "play", interrupted)
    words = ["--random", "9", "--kafka", "3.9.1", "--into", str(tmp_path)]
    code, said = run_command(*words)
    assert code == 130 and "The same command goes on." in said
    assert len(json.loads((tmp_path / "results-3.9.1-1.json").read_text())["scripts"]) == 2


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--kafka", "3.9.1"], "Name either a scenario or --random"),
        (["S30", "--random", "3", "--kafka", "3.9.1"], "Name either a scenario or --random"),
        (["--random", "3", "--kafka", "3.9.1", "--moves", "settle"], "go with a scenario"),
        (["--random", "3", "--kafka", "9"], "is no release of Kafka"),
        (["--random", "0", "--kafka", "3.9.1"], "range"),
        (["S83", "--quorum", "3", "--kafka", "3.9.1"], "--quorum goes with --random"),
        (["--random", "3", "--quorum", "3", "--kafka", "1.1.1"], "need KRaft"),
    ],
)
def test_the_options_are_checked_before_anything_starts(
    words: list[str], why: str, cluster: ModelBrokers
) -> None:
    code, said = run_command(*words)
    assert code == 2 and why in said
    assert cluster.played == []


@pytest.mark.cluster
@pytest.mark.night
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_of_random_scripts(number: signal.Signals, tmp_path: Path) -> None:
    before = set(Path("/tmp").glob("highwater-lab-*"))
    words = ["lab", "--random", "1", "--kafka", "3.9.1", "--into", str(tmp_path)]
    playing = subprocess.Popen([sys.executable, "-m", "app", *words], cwd=ROOT)
    time.sleep(30)
    [directory] = set(Path("/tmp").glob("highwater-lab-*")) - before
    playing.send_signal(number)
    playing.wait(60)
    end = time.monotonic() + 20
    while directory.exists() and time.monotonic() < end:
        time.sleep(0.2)
    assert not directory.exists()
    told = subprocess.run(["pgrep", "-f", str(directory)], capture_output=True, text=True)
    assert told.stdout == ""


def test_totals_for_the_page_are_those_of_the_results(tmp_path: Path) -> None:
    played = list(player(ModelBrokers(failing={3}), tmp_path, kafka="2.3.1").play(3))
    rows = {row["kafka"]: row for row in chance_page.merged([tmp_path])["releases"]}
    row = rows["2.3.1"]
    assert (row["profile"], row["scripts"]) == ("Z21", 2)
    assert row["equal"] == played[0].equal + played[1].equal
    kept = {one.kafka: one.findings for one in by_chance.totals()}
    assert len(row["findings"]) == len(kept.get("2.3.1", ()))
    assert set(kept) <= set(rows)


@pytest.mark.parametrize(("kafka", "voters"), [("3.9.1", 3), ("4.1.1", 5)])
def test_scripts_of_a_quorum_can_be_played_and_leave_it_whole(kafka: str, voters: int) -> None:
    release, scripts = release_of(kafka), QuorumScripts(voters)
    drawn: Counter[str] = Counter()
    for number in range(1, 13):
        run = scripts.draw(3, number, release)
        assert run.lines() == scripts.draw(3, number, release).lines()
        must_be_playable(run, release_of("3.9.1"))
        assert scripts.why_unfit(run, release) == ""
        drawn.update(line.split()[0] for line in run.lines())
        sim = run.simulation()
        sim.rush = True
        for line in run.lines():
            random_script.advance(sim, line)
        quorum = sim.cluster.quorum
        assert quorum is not None and quorum.leading() is not None
        assert all(one.alive and not one.paused for one in quorum.voters.values()), run.lines()
    assert set(drawn) == {*random_quorum.WEIGHTS, "advance"}


@pytest.mark.parametrize(
    ("line", "unfit"),
    [
        ("kill C2; kill C2", True),
        ("resume C1", True),
        ("heal", True),
        ("kill C2; restart C2", False),
    ],
)
def test_a_shortened_script_of_a_quorum_must_be_possible(line: str, unfit: bool) -> None:
    run = QuorumScripts(3).draw(1, 1, release_of("4.1.1"))
    run = replace(run, moves=tuple(line.split("; ")))
    assert bool(QuorumScripts(3).why_unfit(run, release_of("4.1.1"))) is unfit
