"""Judgement of a property on a run, and the moment that decides; typed, bounded, without eval.

A formula with time words speaks of the whole run from its beginning, one without of its end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from engine.model.errors import InputError
from engine.model.phrases import join, phrase
from engine.properties import expected, facts
from engine.properties.formula import (
    BROKER,
    BROKERS,
    EPOCHS,
    NUMBER,
    PARTITION,
    RECORD,
    RECORDS,
    Call,
    Compare,
    Formula,
    Joined,
    LeadsTo,
    Members,
    Name,
    Not,
    Place,
    Quantified,
    Shorthand,
    Term,
    Timed,
    Until,
    Vector,
)
from engine.properties.grammar import parse
from engine.properties.moment import NOBODY, Moment
from engine.properties.recording import MomentRecording
from engine.sim.run import Run

MOST_LOOKS: Final = 2_000_000
"""Facts that are read for one property; what asks for more is refused."""

ORDER: Final[dict[str, Callable[[int, int], bool]]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}
Bound = dict[str, tuple[str, Any]]
"""name -> (sort, value) of the quantifiers around a formula."""
Read = Callable[[Moment], Any]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict on a property: if it holds, and the step at which that is decided."""

    holds: bool
    step: int


def judge(text: str, recording: MomentRecording) -> Verdict:
    """Judge the property on a run.

    Raises InputError, which says the error, its place and what was expected.
    """
    formula = parse(text)
    judged = _Judged(recording)
    at = 0 if _is_timed(formula) else len(recording.turns) - 1
    holds = judged.vector(formula, {})[at]
    index = judged.decided(formula, {}, at)
    return Verdict(holds, recording.turns[index].last)


def judged(text: str, run: Run) -> Verdict:
    """Play a run and judge the property on it.  Raises InputError, as `judge` does."""
    return judge(text, MomentRecording(run))


def _is_timed(one: Formula) -> bool:
    if isinstance(one, Timed | Until | LeadsTo):
        return True
    if isinstance(one, Not | Quantified):
        return _is_timed(one.one)
    return isinstance(one, Joined) and (_is_timed(one.left) or _is_timed(one.right))


class _Judged:
    """One recording, asked.  A vector says for each moment whether a formula holds from there."""

    def __init__(self, recording: MomentRecording) -> None:
        self._moments = [turn.now for turn in recording.turns]
        self._brokers = recording.run.scenario.brokers
        self._left = MOST_LOOKS
        self._cache: dict[tuple[int, tuple[tuple[str, Any], ...]], list[bool]] = {}

    # -- formulas ----------------------------------------------------------------------------------

    def vector(self, one: Formula, bound: Bound) -> list[bool]:
        key = (id(one), tuple((name, value) for name, (_, value) in bound.items()))
        if key not in self._cache:
            self._cache[key] = self._vector(one, bound)
        return self._cache[key]

    def _vector(self, one: Formula, bound: Bound) -> list[bool]:
        if isinstance(one, Not):
            return [not value for value in self.vector(one.one, bound)]
        if isinstance(one, Joined):
            left, right = self.vector(one.left, bound), self.vector(one.right, bound)
            if one.op == "and":
                return [a and b for a, b in zip(left, right, strict=True)]
            return [(a != (one.op == "implies")) or b for a, b in zip(left, right, strict=True)]
        if isinstance(one, Timed):
            return _over_time(one.op, self.vector(one.one, bound))
        if isinstance(one, Until):
            return _until(self.vector(one.left, bound), self.vector(one.right, bound))
        if isinstance(one, LeadsTo):
            return _all_later(self._answered(one, bound))
        if isinstance(one, Quantified):
            found = [self.vector(one.one, inner) for inner in self._instances(one, bound)]
            join = all if one.every else any
            return [join(v[i] for v in found) for i in range(len(self._moments))]
        return self._look(self._atom(one, bound))

    def _answered(self, one: LeadsTo, bound: Bound) -> list[bool]:
        """Return for each moment if the right side follows in time when the left side holds."""
        left, right = self.vector(one.left, bound), self.vector(one.right, bound)
        found, due = [True] * len(left), None
        for i in range(len(left) - 1, -1, -1):
            if right[i]:
                due = self._moments[i].now
            late = due is None or (one.within >= 0 and due - self._moments[i].now > one.within)
            found[i] = not (left[i] and late)
        return found

    def _instances(self, one: Quantified, bound: Bound) -> list[Bound]:
        if one.over == BROKER:
            values: Sequence[Any] = [spec.id for spec in self._brokers]
        elif one.over == PARTITION:
            values = sorted({tp for moment in self._moments for tp in moment.parts})
        else:
            end = self._moments[-1]
            logs = {v for p in end.parts.values() for r in p.replicas.values() for v in r.values()}
            values = sorted(logs.union(end.known.acked, end.known.committed, end.known.failed))
        return [{**bound, one.name: (one.over, value)} for value in values]

    def decided(self, one: Formula, bound: Bound, at: int) -> int:
        """Return the index of the moment that decides if `one` holds from `at` on."""
        holds, last = self.vector(one, bound)[at], len(self._moments) - 1
        if isinstance(one, Not):
            return self.decided(one.one, bound, at)
        if isinstance(one, Joined | Quantified):
            return self._decided_parts(one, bound, at)
        if isinstance(one, Timed):
            wanted = one.op != "always"  # the value that ends the waiting
            values = self.vector(one.one, bound)
            hit = next((i for i in range(at, last + 1) if values[i] == wanted), None)
            return last if hit is None else self.decided(one.one, bound, hit)
        if isinstance(one, Until):
            left, right = self.vector(one.left, bound), self.vector(one.right, bound)
            ended = (i for i in range(at, last + 1) if (right[i] if holds else not left[i]))
            return next(ended, last)
        if isinstance(one, LeadsTo) and not holds:
            answered = self._answered(one, bound)
            return next(i for i in range(at, last + 1) if not answered[i])
        return last if isinstance(one, LeadsTo) else at

    def _decided_parts(self, one: Joined | Quantified, bound: Bound, at: int) -> int:
        holds = self.vector(one, bound)[at]
        if isinstance(one, Quantified):
            parts: list[tuple[Formula, Bound]]
            parts = [(one.one, inner) for inner in self._instances(one, bound)]
            alone = holds != one.every  # one instance settles it
        else:
            parts = [(one.left, bound), (one.right, bound)]
            alone = holds != (one.op == "and")
        places = []
        for number, (part, inner) in enumerate(parts):
            turned = isinstance(one, Joined) and one.op == "implies" and number == 0
            if (self.vector(part, inner)[at] != turned) == holds or not alone:
                places.append(self.decided(part, inner, at))
        return (min if alone else max)(places, default=at)

    def _look(self, read: Read) -> list[bool]:
        self._left -= len(self._moments)
        if self._left < 0:
            raise InputError("too_large", "This property asks too much of a run of this length.")
        return [bool(read(moment)) for moment in self._moments]

    # -- what stands at one moment -----------------------------------------------------------------

    def _atom(self, one: Formula, bound: Bound) -> Read:
        if isinstance(one, Shorthand):
            return expected.reader(one.text, self._brokers, _where(one.at))
        if isinstance(one, Call):
            sort, read = self._call(one, bound)
            if sort != facts.TRUTH:
                raise _bad(one.at, "{0} is a {1}; compare it with something", one.name, sort)
            return read
        assert isinstance(one, Compare)
        return self._compare(one, bound)

    def _compare(self, one: Compare, bound: Bound) -> Read:
        right_sort = self._sort(one.right, bound)
        if one.op == "in":
            if right_sort not in (BROKERS, RECORDS, None):
                raise _bad(one.at, "what stands after “in” is a set, like isr or log(A)")
            whole = right_sort or self._element_sort(one.left, bound)
            single = RECORD if whole == RECORDS else BROKER
            left, right = self._term(one.left, single, bound), self._term(one.right, whole, bound)
            return lambda moment: _within(left(moment), right(moment))
        sort = self._sort(one.left, bound) or right_sort
        if sort is None:
            raise _bad(one.at, "neither side says what is compared")
        left, right = self._term(one.left, sort, bound), self._term(one.right, sort, bound)
        if one.op == "=":
            return lambda moment: left(moment) == right(moment)
        if one.op == "!=":
            return lambda moment: left(moment) != right(moment)
        if sort != NUMBER:
            raise _bad(one.at, "“{0}” compares numbers, and this is a {1}", one.op, sort)
        compare = ORDER[one.op]

        def ordered(moment: Moment) -> bool:
            a, b = left(moment), right(moment)
            return a is not None and b is not None and compare(a, b)

        return ordered

    def _element_sort(self, term: Term, bound: Bound) -> str:
        return RECORDS if self._sort(term, bound) == RECORD else BROKERS

    def _sort(self, term: Term, bound: Bound) -> str | None:
        """Return the sort of a term, None if only its place decides."""
        if isinstance(term, Vector):
            return EPOCHS
        if isinstance(term, Call) and (term.args or term.name in facts.FACTS):
            return facts.fact(term.name, _where(term.at), _place(term.at)).gives
        if isinstance(term, Call) and term.name in bound:
            return bound[term.name][0]
        return None

    def _term(self, term: Term, sort: str, bound: Bound) -> Read:
        if isinstance(term, Vector):
            return _constant(self._fits(EPOCHS, sort, term.at, term.entries))
        if isinstance(term, Members):
            single = RECORD if sort == RECORDS else BROKER
            self._fits(RECORDS if sort == RECORDS else BROKERS, sort, term.at, None)
            items = [self._term(one, single, bound) for one in term.items]
            return lambda moment: frozenset(item(moment) for item in items)
        if isinstance(term, Name):
            return self._named(term.text, sort, term.at)
        if term.args or term.name in facts.FACTS:
            found, read = self._call(term, bound)
            self._fits(found, sort, term.at, None)
            return read
        if term.name in bound:
            found, value = bound[term.name]
            return _constant(self._fits(found, sort, term.at, value))
        return self._named(term.name, sort, term.at)

    def _fits(self, found: str, sort: str, at: Place, value: Any) -> Any:
        if found != sort:
            raise _bad(at, "a {0} is expected here, and this is a {1}", sort, found)
        return value

    def _named(self, text: str, sort: str, at: Place) -> Read:
        if sort in (NUMBER, PARTITION):
            if not text.isdecimal() or len(text) > 12:
                raise _bad(at, "a {0} is expected here, not {1}", NUMBER, text[:40])
            return _constant(int(text))
        if sort == RECORD:
            return _constant(text)
        if sort == facts.INVARIANT:
            return _constant(facts.invariant(text, _where(at), _place(at)))
        if sort != BROKER:
            raise _bad(at, "a {0} is expected here, not {1}", sort, text[:40])
        if text == "none":
            return _constant(NOBODY)
        for spec in self._brokers:
            if text in (spec.label, str(spec.id), f"b{spec.id}"):
                return _constant(spec.id)
        known = ", ".join(spec.label for spec in self._brokers)
        raise _bad(at, "there is no broker {0}; there are {1}", text[:40], known)

    def _call(self, one: Call, bound: Bound) -> tuple[str, Read]:
        fact = facts.fact(one.name, _where(one.at), _place(one.at))
        if not len(fact.takes) <= len(one.args) <= len(fact.takes) + 1:
            wants = join(fact.takes, " and ") if fact.takes else "nothing, or a partition"
            raise _bad(one.at, "{0} is asked of {1}", one.name, wants)
        given = [
            self._term(term, sort, bound)
            for term, sort in zip(one.args, (*fact.takes, PARTITION), strict=False)
        ]
        where = given.pop() if len(given) > len(fact.takes) else _constant(0)
        read = fact.read
        return fact.gives, lambda moment: read(moment, where(moment), *(v(moment) for v in given))


def _within(one: Any, many: Any) -> bool:
    return many is not None and one in many


def _constant(value: Any) -> Read:
    return lambda moment: value


def _over_time(op: str, values: list[bool]) -> list[bool]:
    if op == "eventually":
        return [not value for value in _all_later([not value for value in values])]
    return _all_later(values if op == "always" else [not value for value in values])


def _all_later(values: list[bool]) -> list[bool]:
    """Return for each moment if it is true there and at all later moments."""
    found, held = [True] * len(values), True
    for i in range(len(values) - 1, -1, -1):
        found[i] = held = held and values[i]
    return found


def _until(left: list[bool], right: list[bool]) -> list[bool]:
    found, held = [False] * len(left), False
    for i in range(len(left) - 1, -1, -1):
        found[i] = held = right[i] or (left[i] and held)
    return found


def _place(at: Place) -> str:
    return phrase("Line {0}, column {1}: ", *at)


def _where(at: Place) -> str:
    return f"line {at[0]}, column {at[1]}"


def _bad(at: Place, sentence: str, *values: object) -> InputError:
    return InputError("invalid", "{0}{1}.", _place(at), phrase(sentence, *values), where=_where(at))
