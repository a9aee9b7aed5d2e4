"""Answers as text: what a hand has shown on the stage, read strictly."""

from __future__ import annotations

from typing import Final

from engine.learn.probes import Probe
from engine.learn.question_context import NOBODY, Answer, as_parts, in_order
from engine.model.errors import InputError
from engine.properties.moment import PartitionMoment

MOST_OFFSET: Final = 10**9
MOST_NAMES: Final = 40


def answer_of(probe: Probe, text: str) -> Answer:
    """Read an answer: an offset (4), a broker (2 or `nobody`), brokers (1,2) or records (m1,m2).

    An empty list means no broker or no record. Raises InputError where the question takes no such
    answer.
    """
    words = [word.strip() for word in text.split(",") if word.strip() and word.strip() != "none"]
    if len(words) > MOST_NAMES:
        raise InputError("too_large", f"An answer names at most {MOST_NAMES} things.")
    if probe.form == "records":
        order = [name for choice in probe.choices for name in as_parts(choice.answer)]
        return tuple(sorted(dict.fromkeys(words), key=lambda word: _place(order, word)))
    if probe.form == "broker" and text == "nobody":
        return NOBODY
    if probe.form not in ("offset", "broker", "brokers") or not all(map(_is_number, words)):
        raise InputError(
            "invalid", "This question takes no such answer; choose one of those below."
        )
    numbers = [int(word) for word in words]
    if probe.form == "brokers":
        return in_order(numbers)
    if len(numbers) != 1:
        raise InputError("invalid", "One number answers this question.")
    return numbers[0]


def is_there(probe: Probe, before: PartitionMoment, answer: Answer) -> bool:
    """Return True if an answer by hand names only things that are on the stage.

    These are its brokers, its records, and offsets that its logs reach.
    """
    if probe.form == "offset":
        ends = [replica.leo for replica in before.replicas.values()]
        return isinstance(answer, int) and answer <= max(ends) + 1
    names = answer if isinstance(answer, tuple) else (answer,)
    if probe.form == "records":
        there = {name for replica in before.replicas.values() for name in replica.values()}
        return set(names) <= there
    return set(names) <= {*before.replicas, NOBODY}


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdigit() and int(word[:11]) <= MOST_OFFSET


def _place(order: list[str], name: str) -> int:
    return order.index(name) if name in order else len(order)
