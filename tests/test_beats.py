"""The story of a run: few beats, short captions, and the loss is always one of them."""

from __future__ import annotations

import pytest

from engine.moves.moves import split
from engine.replay.replay import Replay
from engine.scenarios.file import find, library
from engine.scenarios.translated import in_language
from engine.sim.run import Run
from engine.story.beats import MOST_BEATS, MOST_WORDS, SHORTEST_PRELUDE, brief, words_in
from tests.conftest import sample

CODES = [scenario.code for scenario in library().values() if scenario.code]
LONGEST = 30  # words of a single sentence, which is never cut


@pytest.mark.parametrize("code", sample(CODES, 4))
def test_a_story_is_short_and_ends_with_the_run(code: str) -> None:
    scenario = find(code)
    replay = Replay(Run(scenario, scenario.profiles[0]))
    for told in (None, in_language(scenario, "zh-Hans")):
        facts = replay.facts(told)
        steps = [step for step, _ in facts["beats"]]
        assert steps == sorted(set(steps)) and len(steps) <= MOST_BEATS
        if replay.total:
            assert steps[-1] == replay.total
        lost_at = facts["verdict"]["lost_at"]
        assert lost_at is None or lost_at in steps, "the loss is always a beat"
        for _, text in facts["beats"]:
            assert words_in(text) <= LONGEST, text


def test_the_prelude_is_folded_into_the_first_caption() -> None:
    facts = Replay(Run(find("R20"), "Z0102")).facts()
    (step, text), *_ = facts["beats"]
    first_write = next(at for at, move, _ in facts["chapters"] if move.startswith("produce"))
    assert SHORTEST_PRELUDE < step == first_write - 1
    assert text == "Maintenance moves the leadership to broker 1, away from its preferred place."


def test_moves_of_ones_own_get_their_beats_from_what_happened() -> None:
    moves = "produce a acks=all; settle; kill 1; detect 1; settle; restart 1; settle"
    replay = Replay(Run(find("S60"), "K39", moves=split(moves)))
    kinds = dict(replay.facts()["marks"])
    steps = [step for step, _ in replay.facts()["beats"]]
    assert {kinds.get(step) for step in steps} >= {"ack", "fault", "leader", "heal"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("One. Two.", "One. Two."),
        ("word " * 19 + "end. Another sentence.", "word " * 19 + "end."),
        ("一句。" + "很长" * 30 + "。", "一句。"),
        ("", ""),
    ],
)
def test_a_caption_keeps_whole_sentences(text: str, said: str) -> None:
    assert brief(text) == said
    assert MOST_WORDS == 20
