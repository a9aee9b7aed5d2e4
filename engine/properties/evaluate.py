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
from engine.scenarios.parts import find_broker
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
    evaluator = _Evaluator(recording)
    at = 0 if _is_timed(formula) else len(recording.turns) - 1
    holds = evaluator.vector(formula, {})[at]
    index = evaluator.decided(formula, {}, at)
    return Verdict(holds, recording.turns[index].last)


def judged(text: str, run: Run) -> Verdict:
    """Play a run and judge the property on it.  Raises InputError, as `judge` does."""
    return judge(text, MomentRecording(run))


def _is_timed(formula: Formula) -> bool:
    if isinstance(formula, Timed | Until | LeadsTo):
        return True
    if isinstance(formula, Not | Quantified):
        return _is_timed(formula.one)
    return isinstance(formula, Joined) and (_is_timed(formula.left) or _is_timed(formula.right))


class _Evaluator:
    """Evaluates formulas on a recording: a vector says for each moment if one holds from there."""

    def __init__(self, recording: MomentRecording) -> None:
        self._moments = [turn.now for turn in recording.turns]
        self._brokers = recording.run.scenario.brokers
        self._left = MOST_LOOKS
        self._cache: dict[tuple[int, tuple[tuple[str, Any], ...]], list[bool]] = {}

    # -- formulas ----------------------------------------------------------------------------------

    def vector(self, formula: Formula, bound: Bound) -> list[bool]:
        key = (id(formula), tuple((name, value) for name, (_, value) in bound.items()))
        if key not in self._cache:
            self._cache[key] = self._vector(formula, bound)
        return self._cache[key]

    def _vector(self, formula: Formula, bound: Bound) -> list[bool]:
        if isinstance(formula, Not):
            return [not value for value in self.vector(formula.one, bound)]
        if isinstance(formula, Joined):
            left, right = self.vector(formula.left, bound), self.vector(formula.right, bound)
            if formula.op == "and":
                return [a and b for a, b in zip(left, right, strict=True)]
            return [(a != (formula.op == "implies")) or b for a, b in zip(left, right, strict=True)]
        if isinstance(formula, Timed):
            return _over_time(formula.op, self.vector(formula.one, bound))
        if isinstance(formula, Until):
            return _until(self.vector(formula.left, bound), self.vector(formula.right, bound))
        if isinstance(formula, LeadsTo):
            return _all_later(self._answered(formula, bound))
        if isinstance(formula, Quantified):
            values = [self.vector(formula.one, inner) for inner in self._instances(formula, bound)]
            join = all if formula.every else any
            return [join(v[i] for v in values) for i in range(len(self._moments))]
        return self._look(self._atom(formula, bound))

    def _answered(self, formula: LeadsTo, bound: Bound) -> list[bool]:
        """Return for each moment if the right side follows in time when the left side holds."""
        left, right = self.vector(formula.left, bound), self.vector(formula.right, bound)
        answered, due = [True] * len(left), None
        for i in range(len(left) - 1, -1, -1):
            if right[i]:
                due = self._moments[i].now
            late = due is None or (
                formula.within >= 0 and due - self._moments[i].now > formula.within
            )
            answered[i] = not (left[i] and late)
        return answered

    def _instances(self, formula: Quantified, bound: Bound) -> list[Bound]:
        if formula.over == BROKER:
            values: Sequence[Any] = [spec.id for spec in self._brokers]
        elif formula.over == PARTITION:
            values = sorted({tp for moment in self._moments for tp in moment.parts})
        else:
            end = self._moments[-1]
            logs = {v for p in end.parts.values() for r in p.replicas.values() for v in r.values()}
            values = sorted(logs.union(end.known.acked, end.known.committed, end.known.failed))
        return [{**bound, formula.name: (formula.over, value)} for value in values]

    def decided(self, formula: Formula, bound: Bound, at: int) -> int:
        """Return the index of the moment that decides if `formula` holds from `at` on."""
        holds, last = self.vector(formula, bound)[at], len(self._moments) - 1
        if isinstance(formula, Not):
            return self.decided(formula.one, bound, at)
        if isinstance(formula, Joined | Quantified):
            return self._decided_parts(formula, bound, at)
        if isinstance(formula, Timed):
            awaited = formula.op != "always"  # the value that ends the waiting
            values = self.vector(formula.one, bound)
            hit = next((i for i in range(at, last + 1) if values[i] == awaited), None)
            return last if hit is None else self.decided(formula.one, bound, hit)
        if isinstance(formula, Until):
            left, right = self.vector(formula.left, bound), self.vector(formula.right, bound)
            ended = (i for i in range(at, last + 1) if (right[i] if holds else not left[i]))
            return next(ended, last)
        if isinstance(formula, LeadsTo) and not holds:
            answered = self._answered(formula, bound)
            return next(i for i in range(at, last + 1) if not answered[i])
        return last if isinstance(formula, LeadsTo) else at

    def _decided_parts(self, formula: Joined | Quantified, bound: Bound, at: int) -> int:
        holds = self.vector(formula, bound)[at]
        if isinstance(formula, Quantified):
            parts: list[tuple[Formula, Bound]]
            parts = [(formula.one, inner) for inner in self._instances(formula, bound)]
            alone = holds != formula.every  # one instance settles it
        else:
            parts = [(formula.left, bound), (formula.right, bound)]
            alone = holds != (formula.op == "and")
        places = []
        for number, (part, inner) in enumerate(parts):
            turned = isinstance(formula, Joined) and formula.op == "implies" and number == 0
            if (self.vector(part, inner)[at] != turned) == holds or not alone:
                places.append(self.decided(part, inner, at))
        return (min if alone else max)(places, default=at)

    def _look(self, read: Read) -> list[bool]:
        self._left -= len(self._moments)
        if self._left < 0:
            raise InputError("too_large", "This property asks too much of a run of this length.")
        return [bool(read(moment)) for moment in self._moments]

    # -- what stands at one moment -----------------------------------------------------------------

    def _atom(self, formula: Formula, bound: Bound) -> Read:
        if isinstance(formula, Shorthand):
            return expected.reader(formula.text, self._brokers, _where(formula.at))
        if isinstance(formula, Call):
            sort, read = self._call(formula, bound)
            if sort != facts.TRUTH:
                raise _bad(
                    formula.at, "{0} is a {1}; compare it with something", formula.name, sort
                )
            return read
        assert isinstance(formula, Compare)
        return self._compare(formula, bound)

    def _compare(self, formula: Compare, bound: Bound) -> Read:
        right_sort = self._sort(formula.right, bound)
        if formula.op == "in":
            if right_sort not in (BROKERS, RECORDS, None):
                raise _bad(formula.at, "what stands after “in” is a set, like isr or log(A)")
            whole = right_sort or self._element_sort(formula.left, bound)
            single = RECORD if whole == RECORDS else BROKER
            left, right = (
                self._term(formula.left, single, bound),
                self._term(formula.right, whole, bound),
            )
            return lambda moment: _within(left(moment), right(moment))
        sort = self._sort(formula.left, bound) or right_sort
        if sort is None:
            raise _bad(formula.at, "neither side says what is compared")
        left, right = self._term(formula.left, sort, bound), self._term(formula.right, sort, bound)
        if formula.op == "=":
            return lambda moment: left(moment) == right(moment)
        if formula.op == "!=":
            return lambda moment: left(moment) != right(moment)
        if sort != NUMBER:
            raise _bad(formula.at, "“{0}” compares numbers, and this is a {1}", formula.op, sort)
        compare = ORDER[formula.op]

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
            items = [self._term(item, single, bound) for item in term.items]
            return lambda moment: frozenset(item(moment) for item in items)
        if isinstance(term, Name):
            return self._named(term.text, sort, term.at)
        if term.args or term.name in facts.FACTS:
            actual, read = self._call(term, bound)
            self._fits(actual, sort, term.at, None)
            return read
        if term.name in bound:
            actual, value = bound[term.name]
            return _constant(self._fits(actual, sort, term.at, value))
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
        try:
            return _constant(find_broker(text, self._brokers))
        except InputError as bad:
            sentence, where = bad.sentence, _where(at)
            raise InputError(bad.code, "{0}{1}", _place(at), sentence, where=where) from None

    def _call(self, call: Call, bound: Bound) -> tuple[str, Read]:
        fact = facts.fact(call.name, _where(call.at), _place(call.at))
        if not len(fact.takes) <= len(call.args) <= len(fact.takes) + 1:
            wants = join(fact.takes, " and ") if fact.takes else "nothing, or a partition"
            raise _bad(call.at, "{0} is asked of {1}", call.name, wants)
        given = [
            self._term(term, sort, bound)
            for term, sort in zip(call.args, (*fact.takes, PARTITION), strict=False)
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
    later, held = [True] * len(values), True
    for i in range(len(values) - 1, -1, -1):
        later[i] = held = held and values[i]
    return later


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
