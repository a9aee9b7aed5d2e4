"""What real brokers can play, what is expected of them, and the table beside the model."""

from __future__ import annotations

import json
from typing import Any

import pytest

from app.lab import playing, recording, table
from app.lab.configuration import LAG_MS
from app.lab.facts import format_record
from app.lab.laboratory import lag_ms
from app.lab.releases import release_of
from app.lab.trouble import LabError
from engine.moves import moves
from engine.recordings import reading
from engine.recordings.comparing import compare
from engine.scenarios import expectations, file
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run

VOTERS = {"quorum": ["C1", "C2", "C3"], "fetching": "auto"}


def a_run(**fields: object) -> Run:
    scenario = Scenario.from_dict({"title": "A run", "profiles": ["K41"], **fields})
    return Run(scenario, "K41")


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"partitions": [[1, 2, 3], [2, 3, 1]]}, "of one partition; this one has 2"),
        ({"brokers": 9, "partitions": [[1, 2]]}, "at most 6 brokers; this run has 9"),
        ({"fetching": "auto"}, "this run has followers that fetch by themselves"),
        ({"quorum": ["C1", "C2", "C3"]}, "needs “fetching: auto”"),
        ({"quorum": [f"C{n}" for n in range(1, 8)]}, "at most 5 controllers; this run has 7"),
        ({**VOTERS, "configs": {"kraft.version": 1}}, "this run has voters that change"),
        ({**VOTERS, "script": "fetch 2"}, "followers fetch by themselves"),
        ({**VOTERS, "script": "bounce C1"}, "write “shutdown” and “restart”"),
        (
            {"faults": [{"kind": "kill", "mtbf_ms": 1000, "mttr_ms": 500}]},
            "this run has a fault plan",
        ),
        ({"script": "kill 1\nslow 1 2 200"}, "“slow 1 2 200” cannot be played on real brokers"),
        ({"script": "deliver 2->1"}, "“deliver 2->1” cannot be played on real brokers"),
        ({"script": "cut 1->2"}, "links are cut in both directions"),
        ({"script": "hold 2->1"}, "only “md” and “alter” can be held"),
        ({"script": "produce a acks=0"}, "nobody hears"),
        ({"script": "set replica.lag.time.max.ms=5000"}, "only these change while brokers run"),
        ({"script": "set min.insync.replicas=many"}, "is a whole number"),
        ({"script": "set unclean.leader.election.enable=0"}, "is either true or false"),
        ({"script": "pause K"}, "there is one controller"),
        ({"script": "settle !3"}, "cannot be stopped in its middle"),
    ],
)
def test_unplayable_scenarios_are_refused_before_brokers_start(
    fields: dict[str, object], why: str
) -> None:
    with pytest.raises(LabError, match=why):
        playing.must_be_playable(a_run(**fields), release_of("3.9.1"))


def test_a_quorum_needs_kraft() -> None:
    with pytest.raises(LabError, match="need KRaft"):
        playing.must_be_playable(a_run(**VOTERS), release_of("2.8.2"))


def test_an_election_of_ones_own_needs_kraft() -> None:
    run = a_run(script="elect 2")
    playing.must_be_playable(run, release_of("3.9.1"))
    with pytest.raises(LabError, match="elect preferred"):
        playing.must_be_playable(run, release_of("2.8.2"))


@pytest.mark.parametrize("code", ["S30", "S34", "S35", "S14", "S83", "S98"])
def test_scenarios_of_the_library_can_be_played(code: str) -> None:
    run = Run(file.find(code), "K39")
    playing.must_be_playable(run, release_of("3.9.1"))
    assert any(line.is_expect for line in playing.lines_of(run))


def test_nothing_is_expected_of_a_release_that_the_scenario_says_nothing_of() -> None:
    lines = playing.lines_of(Run(file.find("S14"), "Z011"))
    assert lines
    assert not any(line.is_expect for line in lines)


def test_every_deed_is_a_verb_of_the_playground() -> None:
    assert set(playing.DEEDS) <= set(moves.VERBS)


FACTS = {
    "P": {"leader": 1, "le": 0, "pe": 2, "isr": [1], "elr": [3], "lastKnown": [2]},
    "brokers": {
        "1": {"leo": 4, "hw": 3, "epochs": [[0, 0]], "log": "a@0 b@0"},
        "2": {"leo": 3, "hw": 3, "epochs": None, "log": "a b", "start": 1},
        "3": None,
    },
}
ANSWERS = {"a": ("NONE", 0), "b": ("waiting", -1), "d": ("NOT_ENOUGH_REPLICAS", -1)}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("P{1 0 2 [1]}", True),
        ("P{1 0 2 [1] elr [3] last [2]}", True),
        ("P{1 0 2 [1] elr []}", False),
        ("P{1 0 3 [1]}", False),
        ("P{2 0 2 [1]}", False),
        ("P{1 0 2 [1,3]}", False),
        ("b1 LEO 4 HW 3", True),
        ("b1 LEO 4", True),
        ("b1 HW 2", False),
        ("b2 START 1", True),
        ("b3 LEO 0", False),
        ("log 1 a@0 b@0", True),
        ("log 1 a@0", False),
        ("epochs 1 0:0", True),
        ("epochs 1 0:0 1:3", False),
        ("ack a", True),
        ("ack a b", False),
        ("waiting b", True),
        ("refused d NOT_ENOUGH_REPLICAS", True),
        ("refused a NOT_ENOUGH_REPLICAS", False),
    ],
)
def test_expectations_are_held_against_facts(text: str, kept: bool) -> None:
    brokers = a_run().scenario.brokers
    assert (
        playing.evaluate_expectation(expectations.parse(text, brokers), FACTS, ANSWERS)[0] is kept
    )


def test_a_record_is_told_as_scripts_write_it() -> None:
    assert format_record(FACTS["P"]) == "P{1 0 2 [1] elr [3] last [2]}"


def steps_of(*moves_: str) -> list[dict[str, object]]:
    """A recording that is as the model, made by hand: one record on two brokers."""
    empty = {"leo": 0, "hw": 0, "epochs": [], "log": ""}
    state = {"leader": 1, "le": 0, "pe": 0, "isr": [1, 2]}
    led = {**empty, "epochs": [[0, 0]]}
    first = {"move": "initial", "facts": {"P": state, "brokers": {"1": led, "2": empty}}}
    wrote = {"leo": 1, "hw": 0, "epochs": [[0, 0]], "log": "a@0"}
    second = {"move": moves_[0], "facts": {"P": state, "brokers": {"1": wrote, "2": empty}}}
    return [first, second]


def made_of(run: Run, steps: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "scenario": "A run",
        "kafka": "4.1.1",
        "profile": run.profile,
        "brokers": len(run.scenario.brokers),
        "assignment": list(run.scenario.partitions[0]),
        "steps": steps,
    }


def test_the_table_counts_equal_facts_and_names_the_others() -> None:
    run = a_run(brokers=2, partitions=[[1, 2]], script="produce a to 1 acks=all")
    steps = steps_of("produce a to 1 acks=all")
    told = table.compared(made_of(run, steps), run)
    assert table.differing(told) == []
    total = sum(len(moment.rows) for moment in told)
    assert list(table.lines(told, "4.1.1"))[-1] == f"{total} of {total} facts are equal."
    assert "      b1 log: 'a@0' on both" in table.lines(told, "4.1.1", every=True)
    steps[1]["facts"]["brokers"]["1"]["leo"] = 2
    told = table.compared(made_of(run, steps), run)
    assert table.differing(told) == [[1, "produce a to 1 acks=all", "b1 LEO", 2, 1]]
    assert "      b1 LEO: 2 on Kafka 4.1.1, 1 in the model" in table.lines(told, "4.1.1")


@pytest.mark.parametrize(
    ("moves_played", "lag"),
    [("advance 31s", 30_000), ("advance 29s; advance 29s", LAG_MS), ("settle", LAG_MS)],
)
def test_brokers_get_the_lag_time_that_a_script_lets_pass(moves_played: str, lag: int) -> None:
    scenario = file.find("S86")
    run = Run(scenario, "K41", 0, tuple(moves_played.split("; ")))
    assert lag_ms(run) == lag


def test_moves_may_name_brokers_as_the_run_does() -> None:
    brokers = [{"id": 1, "name": "A"}, {"id": 2, "name": "B"}]
    run = a_run(brokers=brokers, partitions=[[1, 2]])
    made = made_of(run, steps_of("produce a to A acks=all"))
    assert table.differing(table.compared(made, run)) == []
    made["names"] = ["A", "B"]  # and without the run at hand, as a file that is read later
    assert not compare(reading.read(json.dumps(made), "later")).different


def test_a_move_that_the_model_refuses_is_a_difference() -> None:
    run = a_run(brokers=2, partitions=[[1, 2]])
    told = table.compared(made_of(run, steps_of("restart 1")), run)
    assert "move" in {row[2] for row in table.differing(told)}


def test_a_recording_has_a_line_for_each_step() -> None:
    text = recording.text_of({"kafka": "4.1.1", "steps": steps_of("settle"), "history": []})
    assert json.loads(text)["steps"][1]["move"] == "settle"
    assert len(text.splitlines()) == 8
