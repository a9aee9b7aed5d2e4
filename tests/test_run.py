"""A run is a value: its text, its digest, its bounds, and what is refused."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from engine.model.errors import InputError
from engine.model.profiles import PROFILES
from engine.scenarios.file import find, library
from engine.scenarios.scenario import Scenario
from engine.sim import run as runs
from engine.sim.run import Run, play_all

SMALL = Scenario.from_dict({"title": "Does it stay the same?", "brokers": 2})
PINNED = "50a9ad82d9d05f5e"


@pytest.mark.parametrize("profile", [*PROFILES, "K39+elr", "K39-strict_min_isr+truncation=HW"])
def test_a_run_survives_its_text(profile: str) -> None:
    for run in (
        Run(SMALL, profile),
        Run(SMALL, profile, 2**53 - 1, ("produce a to 1", "settle !3", "advance 1.5s")),
        Run(find("S20"), profile, 7),
    ):
        again = Run.from_text(run.text())
        assert again == run
        assert (again.text(), again.digest) == (run.text(), run.digest)


@pytest.mark.parametrize("scenario", library().values(), ids=lambda one: one.code)
def test_every_run_of_the_library_survives(scenario: Scenario) -> None:
    for profile in scenario.profiles:
        run = Run(scenario, profile)
        assert Run.from_text(run.text()) == run
        assert len(run.text()) < 16_000, "a run is small"


def test_the_digest_is_for_ever() -> None:
    """Pinned: links are promises.  If this changes, every saved link is broken."""
    run = Run(SMALL, "K39", 5, ("produce a to 1 acks=all", "settle"))
    assert run.digest == PINNED
    others = [
        Run(SMALL, "K41", 5, run.moves),
        Run(SMALL, "K39", 6, run.moves),
        Run(SMALL, "K39", 5, ("produce a to 1 acks=all",)),
        Run(SMALL.vary("duration_ms", 1000), "K39", 5, run.moves),
    ]
    assert len({run.digest, *(other.digest for other in others)}) == 5


def test_the_script_written_out_is_the_script() -> None:
    run = Run(find("S20"), "Z0102")
    assert run.moves is None and run.lines() == run.script()
    assert Run(run.scenario, "Z0102", 0, run.script()) == run
    longer = run.then("settle")
    assert longer.moves == (*run.script(), "settle")
    assert longer != run


def test_a_profile_has_one_name() -> None:
    assert Run(SMALL, "K39+strict_min_isr").profile == "K39", "it is true there already"
    assert Run(SMALL, "K39-elr+elr") == Run(SMALL, "K39+elr")


# -- what is refused ------------------------------------------------------------------------------


def refused(code: str, make: Any) -> str:
    with pytest.raises(InputError) as caught:
        make()
    assert caught.value.code == code, caught.value.sentence
    sentence = str(caught.value.sentence)
    assert sentence[0].isupper() and sentence.rstrip("”")[-1] in ".?", sentence
    assert "\n" not in sentence and len(sentence) < 600
    return sentence


@pytest.mark.parametrize("seed", [-1, 2**53, 10**30])
def test_seeds_have_bounds(seed: int) -> None:
    refused("invalid", lambda: Run(SMALL, "K39", seed))


def test_runs_have_bounds() -> None:
    too_many = ("settle",) * (runs.MAX_MOVES + 1)
    refused("too_large", lambda: Run(SMALL, "K39", 0, too_many))
    assert len(Run(SMALL, "K39", 0, too_many[1:]).lines()) == runs.MAX_MOVES
    refused("too_large", lambda: Run.from_text(" " * (runs.MAX_TEXT + 1)))


GOOD = {"format": 1, "moves": None, "profile": "K39", "scenario": SMALL.to_dict(), "seed": 0}

HOSTILE: list[Any] = [
    None,
    [],
    {},
    {**GOOD, "format": 2},
    {**GOOD, "format": "1"},
    {**GOOD, "seed": "0"},
    {**GOOD, "seed": True},
    {**GOOD, "seed": 1.5},
    {**GOOD, "seed": -1},
    {**GOOD, "seed": 2**53},
    {**GOOD, "profile": None},
    {**GOOD, "profile": ["K39"]},
    {**GOOD, "profile": "K39" + "+nothing" * 9_000},
    {**GOOD, "scenario": {"title": "half a character: \ud800"}},
    {**GOOD, "scenario": {"title": "x", "\ud800": 1}},
    {**GOOD, "moves": ["settle # \ud800"]},
    {**GOOD, "moves": ["settle # " + "x" * 500]},
    {**GOOD, "profile": "nobody"},
    {**GOOD, "scenario": None},
    {**GOOD, "scenario": "S20"},
    {**GOOD, "scenario": {"title": "x", "unknown": 1}},
    {**GOOD, "scenario": {"title": "x", "brokers": 10**9}},
    {**GOOD, "scenario": {"title": "x", "brokers": [{"id": {}}]}},
    {**GOOD, "scenario": {"title": "x", "script": "produce"}, "moves": None},
    {**GOOD, "moves": "settle"},
    {**GOOD, "moves": [1]},
    {**GOOD, "moves": [["settle"]]},
    {**GOOD, "moves": [None]},
    {**GOOD, "moves": [""]},
    {**GOOD, "moves": ["settle", "explode"]},
    {**GOOD, "moves": ["settle"] * 5_001},
    {**GOOD, "moves": ["produce a " + "b " * 300]},
    {**GOOD, "moves": ["kill 77"]},
    {**GOOD, "moves": ["settle\nkill 1"]},
]


@pytest.mark.parametrize("data", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_are_refused_in_one_sentence(data: Any) -> None:
    with pytest.raises(InputError) as caught:
        Run.from_text(json.dumps(data))
    sentence = caught.value.sentence
    assert "\n" not in sentence and len(sentence) < 1_500 and sentence.encode()


@pytest.mark.parametrize(
    "text",
    ["", "{", "NaN", '{"format": 1e999}', "[" * 100_000, '"' + "\\ud800" * 10 + '"', "\x00"],
    ids=["empty", "open", "nan", "infinite", "deep", "surrogates", "nul"],
)
def test_malformed_json_is_refused(text: str) -> None:
    refused("invalid", lambda: Run.from_text(text))


def test_parsed_runs_can_be_written() -> None:
    for title in ("Ünïcode, 中文, 🙂?", "\u202e", "\x7f", "a\u2028b"):
        data = {**GOOD, "scenario": {**SMALL.to_dict(), "title": title}}
        run = Run.from_text(json.dumps(data))
        assert run.digest
        assert Run.from_text(run.text()) == run


def test_a_move_that_cannot_be_played_names_itself() -> None:
    run = Run(SMALL, "K39", 0, ("settle", "kill 1", "kill 1"))
    why = refused("impossible", lambda: play_all(run))
    assert why == "Move 3 (“kill 1”): Broker 1 is down already."
    assert Run.from_text(run.text()) == run, "it is a run all the same"


def test_a_run_that_runs_away_is_stopped() -> None:
    run = Run(SMALL, "K39", 0, ("advance 2s", "advance 2s"))
    sim = run.simulation()
    sim.budget = 3
    refused("too_large", lambda: list(runs.play(sim, run.lines())))


def test_a_fetch_that_is_out_of_range_again_and_again_does_not_stop_the_clock() -> None:
    """F-9, KAFKA-15608: the lookup finds nothing wrong; the next fetch fails as the last one."""
    moves = (
        "produce m0 to A", "produce m1 to A", "fetch B", "ask B", "elect B", "elect A",
        "produce y z acks=1", "delete records 2", "fetching auto", "advance 5s",
    )  # fmt: skip
    sim = Run(find("M03"), "Z011+truncation=FETCH", 0, moves).simulation(cues=True)
    asked: list[int] = []
    sim.listener = lambda kind, node, what: asked.extend(
        sim.now for cue in sim.out.cues or () if cue[0] == "F-9" and cue[2] == "out of range"
    )
    for _ in runs.play(sim, moves):
        pass
    assert sim.now == 5_000
    again = asked[1:]
    assert len(again) > 3 and {b - a for a, b in itertools.pairwise(again)} == {1_000}
