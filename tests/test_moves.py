"""The language of moves: every verb is parsed, refused in one sentence, and played."""

from __future__ import annotations

import pytest

from engine.model.errors import InputError
from engine.moves import moves
from engine.moves.moves import ALIASES, VERBS, Move
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all
from engine.sim.simulation import Simulation
from engine.why.suggesting import possible
from tests.move_cases import NEVER_REFUSED, PARSED, PLAYED, REFUSED, UNREADABLE

SCENARIO = Scenario.from_dict({"title": "What can be done?", "brokers": ["A", "B", "C"]})
GROUPS = {"deliver", "time", "clients", "faults", "admin"}


def parsed(line: str) -> Move:
    return moves.parse(line, SCENARIO.brokers)


def after(lines: str, profile: str = "K39", fetching: str = "manual") -> Simulation:
    """The cluster after these moves, separated by ;"""
    scenario = SCENARIO.vary("fetching", fetching)
    run = Run(scenario, profile, 0, tuple(line.strip() for line in lines.split(";") if line))
    return play_all(run)


# -- parsing --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("line", "args"), PARSED, ids=[line for line, _ in PARSED])
def test_parsing(line: str, args: dict[str, object]) -> None:
    move = parsed(f"  {line}   # as people write it ")
    assert move.args == args
    assert move.limit == -1
    again = parsed(move.text)
    assert (again.text, again.args, again.verb) == (move.text, args, move.verb)
    cut = parsed(f"{line} !12")
    assert (cut.args, cut.limit) == (args, 12)
    assert parsed(cut.text).limit == 12


def test_every_verb_is_parsed_above() -> None:
    missing = set(VERBS) - {parsed(line).verb.name for line, _ in PARSED}
    assert not missing, f"PARSED of tests/move_cases.py lacks a line of each of {missing}"
    assert set(ALIASES.values()) <= set(VERBS) and not set(ALIASES) & set(VERBS)


@pytest.mark.parametrize("verb", VERBS.values(), ids=list(VERBS))
def test_every_verb_explains_itself(verb: moves.Verb) -> None:
    first = verb.grammar.split()[0]
    assert first in (verb.name, "+40") and "  " not in verb.grammar
    assert verb.group in GROUPS
    assert verb.help[0].isupper() and verb.help.rstrip(".?") != verb.help
    example = verb.grammar.split(" | ")[0].split("[")[0].strip()
    example = example.replace("B", "2").replace(" m1 m2", " m1").split("|")[0]
    assert parsed(example).verb is verb, "the beginning of the grammar is an example"


# -- what cannot be read --------------------------------------------------------------------------


@pytest.mark.parametrize(("line", "why"), UNREADABLE, ids=range(len(UNREADABLE)))
def test_unreadable_moves_get_one_line(line: str, why: str) -> None:
    with pytest.raises(InputError) as caught:
        parsed(line)
    assert caught.value.code == "invalid"
    assert why in caught.value.sentence
    assert "\n" not in caught.value.sentence and len(caught.value.sentence) < 300


# -- what cannot be done --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "line", "why"), REFUSED, ids=[f"{b or 'at once'}: {m}" for b, m, _ in REFUSED]
)
def test_impossible_moves_are_refused_before_anything_happened(
    before: str, line: str, why: str
) -> None:
    sim = after(before)
    events, now = sim.events, sim.now
    with pytest.raises(InputError) as caught:
        list(moves.play(sim, parsed(line)))
    assert caught.value.code == "impossible"
    assert why in caught.value.sentence and caught.value.sentence.endswith((".", "?"))
    assert (sim.events, sim.now) == (events, now)


def test_every_verb_is_refused_above_or_never() -> None:
    refused = {parsed(line).verb.name for _, line, _ in REFUSED}
    missing = set(VERBS) - refused - NEVER_REFUSED
    assert not missing, f"REFUSED of tests/move_cases.py lacks a refusal of each of {missing}"
    both = refused & NEVER_REFUSED
    assert not both, f"NEVER_REFUSED of tests/move_cases.py has verbs that are refused: {both}"


# -- what is done ---------------------------------------------------------------------------------


def test_a_broker_is_forgotten_and_may_come_back() -> None:
    gone = "reassign B C; settle; shutdown A; unregister A"
    sim = after(gone)
    assert 1 not in sim.cluster.controller.brokers
    assert all(1 not in sim.brokers[b].running.peers for b in (2, 3))
    assert 1 in after(f"{gone}; restart A").cluster.controller.brokers


@pytest.mark.parametrize("profile", ["K39", "Z28"])
@pytest.mark.parametrize(
    ("lines", "so"), [(lines, so) for _, lines, so in PLAYED], ids=[lines for _, lines, _ in PLAYED]
)
def test_effects_of_a_move(lines: str, so: object, profile: str) -> None:
    assert callable(so)
    assert so(after(lines, profile)), (lines, profile)


def test_every_verb_is_played_above() -> None:
    # unregister is KRaft's alone; two directories are in test_directories.py and test_dir_moves.py,
    # fetchers that fail in rules/test_fetchers.py, members of groups in rules/test_groups.py,
    # voters in rules/test_quorum.py, rules/test_voter_changes.py and rules/test_voter_faults.py,
    # remote storage in rules/test_tiering.py
    elsewhere = {"unregister", "move_dir", "copy", "fetch_error", "timeout", "repeat", "add"}
    elsewhere |= {"remove", "join", "process", "commit", "leave", "die", "store"}
    missing = set(VERBS) - {verb for verb, _, _ in PLAYED} - elsewhere
    assert not missing, f"PLAYED of tests/move_cases.py lacks what each of {missing} does"


def test_a_move_names_the_things_that_it_acts_on() -> None:
    """The menu of a thing shows its moves: 2 is also a rate, an offset and a replica to come."""
    scenario = Scenario.from_dict({"title": "x", "brokers": 4, "partitions": [[1, 2, 3]]})
    sim = play_all(Run(scenario, "K39", 0, ("produce a b", "hold 2->1", "fetch 2")))
    about = {one["text"]: one["about"] for one in possible(sim)}
    for text, things in {
        "slow_disk 1 2": ["b1"],
        "delete records 0": ["log:1", "log:2", "log:3", "log:4"],
        "reassign 2 3 4": ["b2", "b3", "b4", "K"],
        "elect 2": ["b2", "K"],
        "kill K": ["K"],
        "cut 3 K": ["b3", "K", "link:3:K"],
        "lose 1 2 10%": ["b1", "b2", "link:2:1"],
        "hold md 2": ["b2", "link:2:K"],
        "flush 2": ["b2", "log:2"],
        "produce x2 to 1": ["b1", "P1", "log:1"],
        "produce x2 acks=1": ["P1"],
        "read": ["C1"],
        "settle": [],
    }.items():
        assert about[text] == things, text
    way = next(text for text in about if text.startswith("drop "))
    assert way == "drop 2->1" and about[way] == ["b2", "b1", "link:2:1"]
