"""The sentences of a run: complete in both languages, filled, short, and one of them first."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator
from functools import cache
from math import inf
from pathlib import Path
from typing import NamedTuple

import pytest

from engine.model import messages
from engine.model.errors import InputError
from engine.model.languages import LANGUAGES, USUAL, words_of
from engine.moves.move_errors import REFUSALS
from engine.moves.moves import split
from engine.replay.cursor import Cursor
from engine.replay.replay import Replay
from engine.scenarios.file import find, library
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run
from engine.story import arrival_sentences, cue_sentences, story
from engine.story.entities import Happening, Sentence, leaders
from engine.story.rules import RULES
from engine.study.wander import advance
from tests.conftest import THOROUGH, sample

ENGINE = Path(story.__file__).parents[1]
TELLING = ("export", "replay", "story", "view", "why")
"""The rooms of the engine that word sentences of the story."""
PLACE = re.compile(r"\{(\w+)\}")
MOST_WORDS = 20
LONGEST_LOOK = 1_200  # steps of a run with a workload; the scripted ones are read to the end

OPERATIONS = split(
    """
    produce a; hold md 2; release md 2; hold alter 1; release alter 1; deliver 2->1; drop 1->2;
    ask 2; drop 1->2; drop 3->1; hold 3->1; hold 1->P1 ProduceResponse
    fetch 3; duplicate 3->1; release 3->1; release 1->P1 ProduceResponse
    slow 1 2 200; slow 1 2 0; lose 1 3 10%; lose 1 3 0%; slow_disk 3 10; slow_disk 1 5; produce s;
    fetch 3; advance 400; slow_disk 3 0
    set leader.replication.throttled.replicas=0:1; set leader.replication.throttled.replicas=;
    slow_disk 1 0
    cut 1>2; heal; fetch 2; fetch 3; read; seek earliest
    produce n idempotence=on; produce o retries=on; set min.insync.replicas=2
    tick 1; checkpoint; checkpoint; flush 1; pause 3; resume 3; shutdown 1; settle; restart 1;
    settle
    elect preferred; settle; power 3; wipe 3; restart 3; settle
    kill K; restart K; pause K; resume K; pause K; advance 20s; resume K
    fetching auto; produce b acks=1; advance 40s; future 7; fetching manual
    bounce 2; settle; delete records 1
    reassign 2 3; settle; reassign 1 2 3; reassign cancel; settle
    create_topic striped partitions=2 factor=2 placer=striped;
    create_topic shifted partitions=2 factor=2 placer=zk;
    create_topic modulo partitions=2 factor=2 placer=textbook
    create_topic one 1,3; add_partitions one 3; produce c p=one-0; settle; reassign 2 p=one-0;
    delete_topic one; settle
    create_topic two 1,3; kill 3; delete_topic two; detect 3; restart 3; settle
    reassign 2 3 p=t-0; settle; decommission 1
    disk_fail 2 d1; detect 2; wipe 2 d1; restart 2; settle; restart 1; settle
    """
)
"""Moves that no scenario of the library needs, so that their sentences are read too."""

DISKS = split(
    """
    produce a b c; settle; move_dir 1 d2; move_dir 1 d1; move_dir 1 d2; copy 1
    set replica.alter.log.dirs.io.max.bytes.per.second=1; copy 1; copy 1; copy 1;
    set replica.alter.log.dirs.io.max.bytes.per.second=1000
    elect 2; hold md 3; elect 1; settle; release md 3; settle
    create_topic o 2; move_dir 1 d1 p=o-0; reassign 1 p=o-0; settle
    cut 1 K; create_topic u 1,2; heal; advance 2s; cut 1 K; disk_fail 1 d1; advance 40s; heal
    wipe 1 d1; detect 1; restart 1; settle; disk_fail 1 d1; disk_fail 1 d2
    """
)
"""The same for a broker with two log directories."""

RUNS = (
    [
        pytest.param(scenario, profile, None, id=f"{scenario.code}-{profile}")
        for scenario in sample([*library().values()], 2)
        for profile in (scenario.profiles if THOROUGH else scenario.profiles[:1])
    ]
    + [
        pytest.param(find("S01"), profile, OPERATIONS, id=f"operations-{profile}")
        for profile in ("Z0102", "Z20", "Z28", "K35", "K39", "K41")
    ]
    + [
        pytest.param(find("S50"), profile, DISKS, id=f"disks-{profile}")
        for profile in ("Z011", "Z33", "K37", "K41")
    ]
)


def places(text: str) -> set[str]:
    return set(PLACE.findall(text))


@cache
def trees() -> dict[str, ast.Module]:
    return {
        f"{room}/{path.name}": ast.parse(path.read_text("utf-8"))
        for room in TELLING
        for path in (ENGINE / room).glob("*.py")
    }


def literals() -> set[str]:
    """Every string that stands alone in the sources of the story."""
    return {
        leaf.value
        for tree in trees().values()
        for leaf in ast.walk(tree)
        if isinstance(leaf, ast.Constant) and isinstance(leaf.value, str)
    }


def branches(value: ast.expr) -> list[str]:
    """The keys an argument may be, where the source says it outright."""
    if isinstance(value, ast.IfExp):
        return branches(value.body) + branches(value.orelse)
    known = isinstance(value, ast.Constant) and isinstance(value.value, str)
    return [value.value] if known else []  # type: ignore[attr-defined]


# -- the catalogue --------------------------------------------------------------------------------


def test_no_key_is_unused() -> None:
    refusals = {f"cannot.{key}" for key in REFUSALS}
    assert set(words_of("story", USUAL)) - literals() - refusals == set()


def test_every_key_a_sentence_is_made_with_exists_and_gets_its_places() -> None:
    catalogue = words_of("story", USUAL)
    found = 0
    for name, tree in trees().items():
        for call in ast.walk(tree):
            if not isinstance(call, ast.Call) or getattr(call.func, "id", "") != "say":
                continue
            given = {keyword.arg for keyword in call.keywords}
            for key in branches(call.args[0]):
                found += 1
                assert key in catalogue, f"{name}:{call.lineno} {key}"
                if None not in given:  # None: **args
                    assert places(catalogue[key]) == given, f"{name}:{call.lineno} {key}"
    assert found > 100


def test_rules_name_sentences_that_exist() -> None:
    catalogue = words_of("story", USUAL)
    for rule in RULES.values():
        if rule.say:
            assert rule.id not in cue_sentences.TELLERS, f"{rule.id} is told twice"
            wanted = places(catalogue[rule.say])
            assert wanted <= {"b", "a", "o"} if rule.places is None else wanted == set(rule.places)
        if rule.why:
            assert not places(catalogue[rule.why]), rule.id
    assert set(cue_sentences.TELLERS) <= set(RULES)
    assert all(not key or key in catalogue for key in cue_sentences.REASONS.values())
    assert all(places(catalogue[key]) <= {"a"} for key in arrival_sentences.QUIET_TIMERS.values())
    named = {*story.ROUTINE, *story.COVERS, *(k for s in story.COVERS.values() for k in s)}
    assert named <= set(catalogue)


def test_every_kind_of_message_is_told() -> None:
    assert set(arrival_sentences.ARRIVALS) == set(messages.NAMES)


def test_style_of_the_english_words() -> None:
    for key, text in words_of("story", USUAL).items():
        if key.startswith("entity."):
            continue
        assert text.endswith("."), key
        assert not re.search(r"\b(simply|just)\b", text), key
        assert len(text.split()) <= MOST_WORDS, key


def test_style_of_the_chinese_words() -> None:
    for key, text in words_of("story", "zh-Hans").items():
        if key.startswith("entity."):
            continue
        assert text.endswith("。"), key
        assert not re.search(r"[\u4e00-\u9fff][,;:.()?!]|[,;:()?!][\u4e00-\u9fff]", text), key
        assert not re.search(r"[\u4e00-\u9fff] | [\u4e00-\u9fff]", text), (
            f"{key}: docs/reference/terms.zh-Hans.md"
        )
        assert not re.search(r"[\u4e00-\u9fff][A-Za-z{]|[A-Za-z}][\u4e00-\u9fff]", text), key


# -- what is told of a run ------------------------------------------------------------------------


def possible(scenario: Scenario, profile: str, moves: tuple[str, ...]) -> tuple[str, ...]:
    """Of these moves, one after the other, those that can be made under this profile."""
    sim, made = Run(scenario, profile, 0, ()).simulation(), []
    for move in moves:
        with contextlib.suppress(InputError):
            advance(sim, move)
            made.append(move)
    return tuple(made)


class Told(NamedTuple):
    n: int
    move: str
    say: list[Sentence]
    why: list[Sentence]


def told(run: Run, most: float = inf) -> Iterator[Told]:
    """What each step says, told as `Replay` tells it, which makes views besides."""
    cursor, lines, n = Cursor(run), run.lines(), 0
    led = leaders(cursor.sim)
    while n < most and (events := cursor.advance()) is not None:
        for event in events:
            n += 1
            say, why = story.tell(Happening(*event, cursor.sim, led))
            yield Told(n, lines[cursor.move], say, why)
        led = leaders(cursor.sim)


def test_sentences_here_are_those_of_a_replay() -> None:
    run = Run(find("R20"), "Z0102")
    replay = Replay(run)
    steps = list(replay.each(1, replay.total + 1))
    assert [(one.n, one.move, one.say, one.why) for one in told(run)] == [
        (step["n"], step["move"], step["say"], step["why"]) for step in steps
    ]


MINUS_ONE = ("M54",)
"""KAFKA-3978: a high watermark of -1 is the bug."""


@pytest.mark.parametrize(("scenario", "profile", "moves"), sample(RUNS, 4))
def test_every_sentence_of_a_run(
    scenario: Scenario, profile: str, moves: tuple[str, ...] | None
) -> None:
    names = {broker.id: broker.label for broker in scenario.brokers}
    most = LONGEST_LOOK if "scale" in scenario.tags else inf
    made = None if moves is None else possible(scenario, profile, moves)
    for step in told(Run(scenario, profile, 0, made), most):
        where = f"step {step.n} ({step.move})"
        assert 1 <= len(step.say) <= story.MOST_SENTENCES, where
        assert len(step.why) <= 1, where
        for language in LANGUAGES:
            texts = [story.render(one, names, language) for one in [*step.say, *step.why]]
            assert len(set(texts)) == len(texts), f"{where} repeats itself: {texts}"
            for text in texts:
                if scenario.code not in MINUS_ONE:
                    assert not re.search(r"[{}]|None|(?<!\w)-1\b", text), f"{where}: {text}"
                if language == "en":
                    assert len(text.split()) <= MOST_WORDS, f"{where}: {text}"


def test_the_first_sentence_is_the_one_that_matters() -> None:
    """KIP-101's loss, told step by step."""
    scenario = find("R20")
    names = {broker.id: broker.label for broker in scenario.brokers}
    texts = [
        [story.render(one, names) for one in step.say] for step in told(Run(scenario, "Z0102"))
    ]
    assert ["Producer 1 sends m0 to broker 1 with acks=all."] in texts
    assert [
        "Broker 1 moves its high watermark from 1 to 2, as broker 3 asks from offset 2.",
        "Broker 1 acknowledges m1.",
    ] in texts
    first = [one[0] for one in texts]
    assert "Broker 3 truncates m1, back to its own high watermark 1." in first
    assert "The controller elects broker 3 leader of epoch 4, because broker 2 is gone." in first


def test_a_removal_from_the_isr_says_how_late_the_follower_is() -> None:
    texts = [story.render(step.say[0]) for step in told(Run(find("S07"), "K39"))]
    wanted = "Broker 1 asks to remove broker 3 from the ISR: not caught up for 44000 ms."
    assert wanted in texts
