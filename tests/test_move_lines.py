"""Moves as text: any line is a move or is refused; a move is cut after a number of events."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.model.errors import InputError
from engine.moves.moves import ALIASES, VERBS
from engine.sim.run import run_to_end
from tests.test_moves import after, parsed

WORDS = [*VERBS, *ALIASES, "A", "B", "K", "1->2", "to", "acks=all", "x2", "!3", "+5", "md", "10%"]


@settings(derandomize=True, deadline=None, max_examples=400)
@given(st.lists(st.one_of(st.sampled_from(WORDS), st.text(max_size=8)), max_size=6))
def test_any_text_is_a_move_or_is_refused(words: list[str]) -> None:
    try:
        move = parsed(" ".join(words))
    except InputError as error:
        assert error.code == "invalid" and error.sentence
        return
    assert parsed(move.text).args == move.args
    assert parsed(move.text).text == move.text


# -- cutting moves short --------------------------------------------------------------------------


def test_a_move_is_cut_after_a_number_of_events() -> None:
    whole = after("produce a; settle")
    first = after("produce a").events
    for count in range(whole.events - first + 1):
        assert after(f"produce a; settle !{count}").events == first + count
    assert after(f"produce a; settle !{10**6}").events == whole.events


def test_a_step_gives_up_when_only_idle_timers_are_left() -> None:
    for profile in ("K39", "Z28"):
        sim = after("kill A; kill B; kill C; detect A; detect B; detect C", profile)
        before = sim.now
        run_to_end(sim, ("+1", "+3"))
        assert sim.now <= before + 400_000
