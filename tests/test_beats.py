"""The story of a run: few beats, short captions, and the loss is always one of them."""

from __future__ import annotations

import pytest

from engine.moves.moves import split
from engine.replay.replay import Replay
from engine.scenarios.file import find, library
from engine.scenarios.translated import in_language
from engine.sim.run import Run
from engine.story.beats import MOST_BEATS, SHORTEST_PRELUDE, words_in
from tests.conftest import sample
from tests.test_words import MOST_WORDS

CODES = [scenario.code for scenario in library().values() if scenario.code]
SLACK = 6  # words by which a caption in Chinese may be longer


@pytest.mark.parametrize("code", sample(CODES, 12))
def test_a_story_is_short_and_tells_the_loss(code: str) -> None:
    scenario = find(code)
    replay = Replay(Run(scenario, scenario.profiles[0]))
    for told in (None, in_language(scenario, "zh-Hans")):
        facts = replay.facts(told)
        steps = [step for step, _ in facts["beats"]]
        assert steps == sorted(set(steps)) and len(steps) <= MOST_BEATS
        lost_at = facts["verdict"]["lost_at"]
        if lost_at is not None:
            first = max((at for at, _, _ in facts["chapters"] if at <= lost_at), default=0)
            assert any(first <= step for step in steps), "the move of the loss has a beat"
        for _, text in facts["beats"]:
            assert words_in(text) <= MOST_WORDS + (told is not None) * SLACK, text


def test_a_round_that_brings_nothing_is_no_end() -> None:
    """The last step of most runs is an empty fetch; only a caption makes it a beat."""
    moves = "produce a acks=all; settle; kill 1; detect 1; settle"
    replay = Replay(Run(find("S60"), "K39", moves=split(moves)))
    (last,) = replay.steps(replay.total, 1)
    assert last["say"][0]["key"] in ("fetch.nothing", "fetch.empty")
    assert replay.total not in [step for step, _ in replay.facts()["beats"]]


def test_the_prelude_is_folded_into_the_first_caption() -> None:
    facts = Replay(Run(find("R20"), "Z0102")).facts()
    (step, text), *_ = facts["beats"]
    first_write = next(at for at, move, _ in facts["chapters"] if move.startswith("produce"))
    assert SHORTEST_PRELUDE < step == first_write - 1
    assert text.startswith("Maintenance has moved the leadership to broker 1;")


def test_moves_of_ones_own_get_their_beats_from_what_happened() -> None:
    moves = "produce a acks=all; settle; kill 1; detect 1; settle; restart 1; settle"
    replay = Replay(Run(find("S60"), "K39", moves=split(moves)))
    kinds = dict(replay.facts()["marks"])
    steps = [step for step, _ in replay.facts()["beats"]]
    assert {kinds.get(step) for step in steps} >= {"ack", "fault", "leader", "heal"}
