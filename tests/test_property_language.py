"""The property language: what holds, where it is decided, and what is refused with which words."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.model.errors import InputError
from engine.properties import evaluate
from engine.properties.evaluate import judge
from engine.properties.facts import FACTS
from engine.properties.grammar import MOST_CHARACTERS
from engine.scenarios.file import find, library
from tests.recorded import recorded

HOLDS = [
    ("S22", "HW(B) = HW(leader)", True),
    ("S22", "HW(B) < HW(leader)", False),
    ("S22", "m3 in log(A)", False),
    ("S22", "m4 not in log(A) and not m3 in log(A)", True),
    ("S22", "isr = {A, B, C} and leader = B and epoch = 2", True),
    ("S22", "replicas = {C, B, A} and alive = isr and START(A) = 0", True),
    ("S22", "eventually (acked(m4) and m4 not in log(leader))", True),
    ("S22", "epochs(B) = [0:0, 2:3]", True),
    ("S22", "always every broker b: HW(b) <= LEO(b)", True),
    ("S22", "every broker b: LEO(b) = 5", True),
    ("S22", "some record m: (acked(m) and m not in log(leader))", True),
    ("S22", "never some record m: lost(m)", True),
    ("S22", "every record m: (committed(m) leads to m in log(A))", True),
    ("S22", "m0 in log(A) leads to committed(m0) within 1s", True),
    ("S22", "m3 in log(A) leads to committed(m3)", False),
    ("S22", "leader = A until leader = C", True),
    ("S22", "leader = A until leader = B", False),
    ("S22", "always (leader = C implies A not in isr)", True),
    ("S22", "P{B 2 6 [B,A,C]}", True),
    ("S22", "eventually A LEO 5 HW 3", True),
    ("S22", "eventually (ack m3 m4 or waiting m3)", True),
    ("R20", "eventually broken(I7)", True),
    ("R20", "losses = 1 and lost(m1) and not read(m1)", True),
    ("S05", "eventually some record m: failed(m)", True),
    ("S10", "eventually size(isr) = 2", None),
]


@pytest.mark.parametrize(("code", "text", "holds"), HOLDS)
def test_verdicts_of_properties(code: str, text: str, holds: bool | None) -> None:
    recording = recorded(code, find(code).profiles[0])
    if holds is None:
        with pytest.raises(InputError, match="there is no fact size"):
            judge(text, recording)
    else:
        assert judge(text, recording).holds is holds


DECIDED = [
    ("eventually leader = C", lambda now: now.parts[0].record.leader == 3),
    ("never leader = C", lambda now: now.parts[0].record.leader == 3),
    ("always leader = A", lambda now: now.parts[0].record.leader != 1),
    ("eventually (leader = B and LEO(B) = 5)", lambda now: _led_by_b(now)),
]


def _led_by_b(now: evaluate.Moment) -> bool:
    part = now.parts[0]
    return part.record.leader == 2 and part.replicas[2].leo == 5


@pytest.mark.parametrize(("text", "first"), DECIDED)
def test_it_is_decided_at_the_first_moment_that_settles_it(
    text: str, first: Callable[[evaluate.Moment], bool]
) -> None:
    recording = recorded("S22", "K39")
    moments = (turn.now.step for turn in recording.turns if first(turn.now))
    assert judge(text, recording).step == next(moments)


@pytest.mark.night
def test_every_expectation_of_the_library_is_a_property() -> None:
    """What a script expects at a place holds, as a property, at some moment of its run."""
    looked_at = 0
    for scenario in library().values():
        for profile in list(scenario.profiles)[:1]:
            lines = [line for line in scenario.lines(profile) if line.is_expect]
            lines = [line for line in lines if not line.text.startswith(("delet", "C"))]
            if not lines or scenario.expectation(profile) is None:
                continue
            recording = recorded(scenario.code, profile)
            for line in lines if recording.whole else ():
                looked_at += 1
                told = f"{scenario.code} {profile} line {line.number}: {line.text}"
                assert judge(f"eventually ({line.text})", recording).holds, told
    assert looked_at > 300


BAD = [
    ("", "Line 1, column 1: a property expected, not the end."),
    ("HW(B", "Line 1, column 5: ) or , expected, not the end."),
    ("HW(B) < ", "Line 1, column 9: "),
    ("HW(Z) = 3", "Line 1, column 4: There is no broker “Z”; there are A, B, C."),
    ("HW(isr) = 3", "Line 1, column 4: a broker is expected here, and this is a set of brokers."),
    ("LEO(A) = 1 and\n  LOE(B) = 2", "Line 2, column 3: there is no fact LOE; did you mean LEO?"),
    ("isr < {A}", "Line 1, column 5: “<” compares numbers, and this is a set of brokers."),
    ("m3 in HW(A)", "Line 1, column 1: what stands after “in” is a set, like isr or log(A)."),
    ("HW(A, B) = 1", "Line 1, column 7: a number is expected here, not B."),
    ("broken(I99)", "Line 1, column 8: there is no promise I99; they are I1 to I15."),
    ("leader", "Line 1, column 1: leader is a broker; compare it with something."),
    ("a = b", "Line 1, column 3: neither side says what is compared."),
    ("always HW(A) ? 3", "Line 1, column 14: "),
    ("A in log(A) leads to", "Line 1, column 21: "),
    ("b1 LEO 5 HW", "Line 1, column"),
    ("P{Q 0 0 [A]}", "Line 1, column 1: There is no broker “Q”; there are A, B, C."),
    ("__import__('os')", "Line 1, column 12: "),
    ("some broker b: some broker c: HW(d) = 1", "Line 1, column 34: There is no broker “d”"),
]


@pytest.mark.parametrize(("text", "sentence"), BAD)
def test_malformed_properties_are_refused_with_their_place(text: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        judge(text, recorded("S22", "K39"))
    assert caught.value.sentence.startswith(sentence)
    assert caught.value.sentence.endswith((".", "?")) and caught.value.where


@pytest.mark.parametrize(
    "text", ["(" * 60 + "acked(m)" + ")" * 60, "acked(m) and " * 400, "not " * 99]
)
def test_too_large_properties_are_refused(text: str) -> None:
    with pytest.raises(InputError) as caught:
        judge(text, recorded("S22", "K39"))
    assert caught.value.code == "too_large" or len(text) <= MOST_CHARACTERS


def test_too_costly_properties_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluate, "MOST_LOOKS", 1_000)
    with pytest.raises(InputError, match="asks too much"):
        judge("every record a: every record b: (acked(a) or acked(b))", recorded("S22", "K39"))


@given(st.text(alphabet="abmHWLEO(){}[]<>=!:,.0123 \n'andortil", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        judge(text, recorded("S01", "K39"))
    except InputError as error:
        assert error.sentence


# -- time, against its definition -----------------------------------------------------------------


@pytest.mark.parametrize("values", list(product((False, True), repeat=4)))
def test_time_words_mean_what_they_say(values: tuple[bool, ...]) -> None:
    one, later = list(values), range(len(values))
    assert evaluate._over_time("always", one) == [all(one[i:]) for i in later]
    assert evaluate._over_time("eventually", one) == [any(one[i:]) for i in later]
    assert evaluate._over_time("never", one) == [not any(one[i:]) for i in later]
    for other in product((False, True), repeat=4):
        wanted = [any(other[j] and all(one[i:j]) for j in range(i, len(values))) for i in later]
        assert evaluate._until(one, list(other)) == wanted


def test_every_fact_can_be_asked() -> None:
    """With arguments of its sorts; so a fact without a reader would be found."""
    given = {"broker": "A", "record": "m0", "promise": "I7"}
    for name, fact in FACTS.items():
        args = ", ".join(given[sort] for sort in fact.takes)
        call = f"{name}({args})" if args else name
        text = call if fact.gives == "truth" else f"{call} = {call}"
        assert judge(text, recorded("S22", "K39")).holds in (True, False), text
        assert fact.gives == "truth" or judge(text, recorded("S22", "K39")).holds, text
