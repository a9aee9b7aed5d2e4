"""A question to the ladder, and its answer as data: a rung at a size, searched to the end."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NotRequired, TypedDict

from engine.ladder import async_isr, state
from engine.ladder.async_isr import AsyncIsr
from engine.ladder.partition import AbstractPartition
from engine.ladder.rungs import RUNGS
from engine.ladder.search import LadderBounds, LadderOutcome, LadderSearch, Violation
from engine.ladder.tables import TooLargeError
from engine.model.errors import InputError

SCHEMA: Final = 1
ASYNC_ISR: Final = "async_isr"
LADDERS: Final = (*RUNGS, ASYNC_ISR)

AnyModel = AbstractPartition | AsyncIsr


def constants_of(ladder: str) -> tuple[str, ...]:
    """Return the names of the constants of a rung."""
    return tuple(async_isr.LIMITS if ladder == ASYNC_ISR else state.LIMITS)


def model(ladder: str, constants: Mapping[str, int]) -> AnyModel:
    """Raise InputError for an unknown rung, and for constants that are missing, foreign or big."""
    if ladder not in LADDERS:
        sentence = "There is no rung {0}; there are: {1}."
        raise InputError("unknown", sentence, ladder, ", ".join(LADDERS))
    names = constants_of(ladder)
    if set(constants) != set(names):
        expected = ", ".join(names)
        given = ", ".join(constants) or "none"
        sentence = "{0} has the constants {1}; given: {2}."
        raise InputError("invalid", sentence, ladder, expected, given)
    if ladder == ASYNC_ISR:
        return AsyncIsr(async_isr.AsyncIsrConstants(**constants))
    return AbstractPartition(RUNGS[ladder], state.Constants(**constants))


def search(
    of: AnyModel, symmetry: bool = False, bounds: LadderBounds | None = None
) -> LadderOutcome:
    """Search a model.  Raises InputError if its states are too large for a number."""
    try:
        return LadderSearch(of, bounds, symmetry).run()
    except TooLargeError as error:
        raise InputError("too_large", "{0} Take smaller constants.", error) from None


class LadderStep(TypedDict):
    """A move of a model, and the replicas that make it."""

    move: str
    who: list[int]


class LadderVerdict(TypedDict):
    """Verdict on an invariant; `holds` None where it is not known, `states` of the shortest way."""

    holds: bool | None
    states: int | None
    moves: NotRequired[list[LadderStep]]


class LadderAnswer(TypedDict):
    """The answer as data."""

    schema: int
    ladder: str
    constants: dict[str, int]
    symmetry: bool
    complete: bool
    generated: int
    distinct: int
    depth: int
    invariants: dict[str, LadderVerdict]
    moves_fired: dict[str, int]
    cpu_s: float | None


class CountedRow(TypedDict):
    """A row of a file of counts; an invariant has the states of its shortest way, or null."""

    ladder: str
    constants: dict[str, int]
    symmetry: bool
    generated: int
    distinct: int
    depth: int
    invariants: dict[str, int | None]


class Compared(TypedDict):
    """A row of counts beside the search: what differs, as [counted, found]."""

    verdict: str
    ladder: str
    constants: dict[str, int]
    symmetry: bool
    generated: int
    distinct: int
    depth: int
    differs: dict[str, list[int | None]]
    cpu_s: NotRequired[float]


class Looked(TypedDict):
    """A size without a disaster."""

    constants: dict[str, int]
    distinct: int
    complete: bool


class Disaster(TypedDict):
    """The shortest disaster of a rung; `states` None where no size shows one."""

    rung: str
    broken: list[str]
    states: int | None
    looked: list[Looked]
    constants: NotRequired[dict[str, int]]
    way: NotRequired[Violation]
    model: NotRequired[AnyModel]


def answer(
    ladder: str,
    constants: Mapping[str, int],
    symmetry: bool,
    outcome: LadderOutcome,
    cpu_s: float | None = None,
) -> LadderAnswer:
    """Return the answer as data.  `holds` is None where the search ended before all was seen."""
    progress = outcome.progress
    return {
        "schema": SCHEMA,
        "ladder": ladder,
        "constants": {name: constants[name] for name in constants_of(ladder)},
        "symmetry": symmetry,
        "complete": outcome.complete,
        "generated": progress.generated,
        "distinct": progress.distinct,
        "depth": progress.depth,
        "invariants": {name: _verdict(outcome, name) for name in outcome.invariants},
        "moves_fired": {move: times for move, times in outcome.moves_fired.items() if times},
        "cpu_s": cpu_s,
    }


def _verdict(outcome: LadderOutcome, invariant: str) -> LadderVerdict:
    violation = outcome.broken.get(invariant)
    if violation is None:
        return {"holds": True if outcome.complete else None, "states": None}
    return {
        "holds": False,
        "states": len(violation.states),
        "moves": [{"move": move.name, "who": list(move.who)} for move in violation.moves],
    }


# -- a file of counts -----------------------------------------------------------------------------

MOST_ROWS: Final = 10_000


def rows_of(data: object) -> list[CountedRow]:
    """Return the rows of a file of counts.  Raises InputError naming the first unusable row."""
    rows = data.get("rows") if isinstance(data, dict) else None
    if not isinstance(rows, list) or len(rows) > MOST_ROWS:
        sentence = 'A file of counts has a list "rows" of at most {0}.'
        raise InputError("invalid", sentence, f"{MOST_ROWS:,}")
    for number, row in enumerate(rows, 1):
        if not _is_row(row):
            raise InputError(
                "invalid",
                "Row {0} needs ladder, constants, symmetry, generated, distinct, depth "
                "and invariants (name: states or null).",
                number,
            )
        model(row["ladder"], row["constants"])
    return rows


def _is_row(row: object) -> bool:
    def is_count(value: object) -> bool:
        return type(value) is int

    if not isinstance(row, dict):
        return False
    constants, invariants = row.get("constants"), row.get("invariants")
    return (
        isinstance(row.get("ladder"), str)
        and isinstance(row.get("symmetry"), bool)
        and all(is_count(row.get(name)) for name in ("generated", "distinct", "depth"))
        and isinstance(constants, dict)
        and all(isinstance(name, str) and is_count(value) for name, value in constants.items())
        and isinstance(invariants, dict)
        and all(value is None or is_count(value) for value in invariants.values())
    )


def compare(row: CountedRow, bounds: LadderBounds) -> Compared:
    """Search what a row counts: equal, different (and in what), or not within the budget."""
    outcome = search(model(row["ladder"], row["constants"]), row["symmetry"], bounds)
    progress = outcome.progress
    differs = {}
    if outcome.complete:
        for name in ("generated", "distinct", "depth"):
            if getattr(progress, name) != row[name]:
                differs[name] = [row[name], getattr(progress, name)]
    for name, expected in row["invariants"].items():
        length = len(outcome.broken[name].states) if name in outcome.broken else None
        decided = outcome.complete or length is not None
        if decided and (name not in outcome.invariants or length != expected):
            differs[name] = [expected, length]
    verdict = "different" if differs else "equal" if outcome.complete else "not within the budget"
    return {
        "verdict": verdict,
        "ladder": row["ladder"],
        "constants": dict(row["constants"]),
        "symmetry": row["symmetry"],
        "generated": progress.generated,
        "distinct": progress.distinct,
        "depth": progress.depth,
        "differs": differs,
    }


# -- one fence after the other --------------------------------------------------------------------

SIZES: Final = (
    {"replicas": 2, "log": 2, "records": 2, "epochs": 2},
    {"replicas": 3, "log": 1, "records": 1, "epochs": 2},
    {"replicas": 3, "log": 2, "records": 2, "epochs": 2},
)
"""Sizes in which fences are checked, one after the other until one shows what goes wrong."""


def without_fence(
    rung: str, sizes: tuple[dict[str, int], ...], watched: tuple[str, ...], bounds: LadderBounds
) -> Disaster:
    """Return the shortest disaster of a rung in the first size that has one, or what shows none.

    `watched` are the invariants that count as a disaster.
    """
    looked: list[Looked] = []
    for constants in sizes:
        of = model(rung, constants)
        outcome = search(of, False, LadderBounds(bounds.states, bounds.stop, watched))
        ways = {name: way for name, way in outcome.broken.items() if name in watched}
        if ways:
            least = min(len(way.states) for way in ways.values())
            broken = [name for name, way in ways.items() if len(way.states) == least]
            return {
                "rung": rung,
                "broken": broken,
                "states": least,
                "constants": constants,
                "way": ways[broken[0]],
                "model": of,
                "looked": looked,
            }
        looked.append(
            {
                "constants": constants,
                "distinct": outcome.progress.distinct,
                "complete": outcome.complete,
            }
        )
        if not outcome.complete:
            break
    return {"rung": rung, "broken": [], "states": None, "looked": looked}
