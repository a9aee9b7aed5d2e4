"""``highwater explore``: searches in a terminal, with progress, bounds and Ctrl+C."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from app.command.search_options import SearchOptions
from app.command.watching import BOUND_MET, BatchWatch, watching
from app.core.gc_settings import no_collector
from engine.ladder import questions, render
from engine.ladder.invariants import EXPECTED_TO_BREAK, NAMES
from engine.ladder.rungs import FENCES
from engine.ladder.search import UNBOUNDED, LadderBounds
from engine.model.errors import InputError

DIFFERENT: Final = 1
BUDGET_S: Final = 60.0
MOST_BYTES: Final = 16 << 20
"""Of a file of counts."""


def explore(asked: SearchOptions, as_json: bool) -> int:
    """Print the answer; return the exit code.  Raises InputError for what cannot be asked."""
    if asked.spark and asked.scenario is None:
        raise InputError("invalid", "--spark searches from a step of a run: say which SCENARIO.")
    if asked.counts_path is not None:
        return _counts(asked.counts_path, asked, as_json)
    if asked.fences:
        return _fences(asked, as_json)
    if asked.ladder is not None:
        return _ladder(asked.ladder, asked, as_json)
    if asked.scenario is not None:
        from app.command.explore_run import explore_run
        from app.compiled import background

        if told := background.begin():
            print(told, file=sys.stderr)
        return explore_run(asked.scenario, asked, as_json)
    raise InputError(
        "invalid", "Say what to search: SCENARIO, --ladder RUNG, --counts PATH or --fences."
    )


def _bounds(asked: SearchOptions, watch: BatchWatch) -> LadderBounds:
    return LadderBounds(states=asked.max_states or UNBOUNDED, stop=watch)


def _constants(asked: SearchOptions) -> dict[str, int]:
    given = {
        "replicas": asked.replicas,
        "log": asked.log,
        "records": asked.records,
        "epochs": asked.epochs,
        "offsets": asked.offsets,
        "versions": asked.versions,
    }
    return {name: value for name, value in given.items() if value is not None}


def _one_line(data: Any) -> None:
    print(json.dumps(data, ensure_ascii=False))


# -- one rung -------------------------------------------------------------------------------------


def _ladder(ladder: str, asked: SearchOptions, as_json: bool) -> int:
    constants = _constants(asked)
    with watching(asked.max_seconds) as watch, no_collector():
        model = questions.model(ladder, constants)
        outcome = questions.search(model, asked.symmetry, _bounds(asked, watch))
        cpu_s = round(watch.cpu_s, 3)
    answer = questions.answer(ladder, constants, asked.symmetry, outcome, cpu_s)
    if as_json:
        _one_line(answer)
        return 0 if outcome.complete else BOUND_MET
    size = ", ".join(f"{name} {value}" for name, value in answer["constants"].items())
    print(f"{ladder}: {size}{', up to renaming' if asked.symmetry else ''}")
    whole = "all of them" if outcome.complete else "not all: a bound ended the search"
    print(
        f"{answer['distinct']:,} states ({whole}), {answer['generated']:,} generated, "
        f"depth {answer['depth']}, {cpu_s:,.2f} CPU-s"
    )
    for name in outcome.invariants:
        found = outcome.broken.get(name)
        if found is None:
            print(f"{'holds' if outcome.complete else 'not broken so far'}: {name}")
        else:
            print(f"BROKEN: {name}, after {len(found.moves)} moves. {render.MEANINGS[name]}")
            print("\n".join(render.way(model, found)))
    return 0 if outcome.complete else BOUND_MET


# -- a file of counts -----------------------------------------------------------------------------


def _counts(path: str, asked: SearchOptions, as_json: bool) -> int:
    rows = questions.rows_of(_read(path))
    budget = BUDGET_S if asked.budget_s is None else asked.budget_s
    found = []
    with watching(budget) as watch, no_collector():
        for row in rows:
            watch.again()
            compared = questions.compare(row, _bounds(asked, watch))
            compared["cpu_s"] = round(watch.cpu_s, 3)
            found.append(compared)
            if not as_json:
                watch.wipe()
                print(_row(compared), flush=True)
            if watch.interrupted:
                break
    told = {
        verdict: sum(row["verdict"] == verdict for row in found)
        for verdict in ("equal", "different", "not within the budget")
    }
    if as_json:
        _one_line({"schema": questions.SCHEMA, "verdicts": told, "rows": found})
    else:
        print(", ".join(f"{count} {verdict}" for verdict, count in told.items()))
    if told["different"]:
        return DIFFERENT
    return BOUND_MET if told["not within the budget"] or len(found) < len(rows) else 0


def _row(row: Mapping[str, Any]) -> str:
    size = ",".join(str(value) for value in row["constants"].values())
    line = (
        f"{row['verdict']:<21} {row['ladder']} {size}{' symmetry' if row['symmetry'] else ''}: "
        f"{row['generated']:,} generated, {row['distinct']:,} distinct, depth {row['depth']}"
    )
    differs = "; ".join(
        f"{name}: {expected} expected, {got} found"
        for name, (expected, got) in row["differs"].items()
    )
    return f"{line}; {differs}" if differs else line


def _read(path: str) -> object:
    file = Path(path)
    try:
        if file.stat().st_size > MOST_BYTES:
            raise InputError(
                "too_large", f"A file of counts has at most {MOST_BYTES:,} bytes.", where=path
            )
        return json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise InputError("unknown", f"It cannot be read: {error.strerror}.", where=path) from None
    except (ValueError, RecursionError) as error:
        raise InputError("invalid", f"It is no JSON: {error}.", where=path) from None


# -- one fence after the other --------------------------------------------------------------------


def _fences(asked: SearchOptions, as_json: bool) -> int:
    given = _constants(asked)
    sizes = (given,) if given else questions.SIZES
    watched = tuple(name for name in NAMES if name != EXPECTED_TO_BREAK)
    found = []
    with watching(asked.max_seconds) as watch, no_collector():
        for rung in ("kip320", *(f"kip320-{fence}" for fence in FENCES)):
            row = questions.without_fence(rung, sizes, watched, _bounds(asked, watch))
            found.append(row)
            if not as_json:
                watch.wipe()
                _tell_fence(row)
    complete = all(looked["complete"] for row in found for looked in row["looked"])
    if as_json:
        _one_line({"schema": questions.SCHEMA, "rungs": [_fence_as_data(row) for row in found]})
    return 0 if complete else BOUND_MET


def _tell_fence(row: Mapping[str, Any]) -> None:
    if row["broken"]:
        size = ",".join(str(value) for value in row["constants"].values())
        broken = ", ".join(row["broken"])
        print(f"{row['rung']}: {broken} broken with {row['states']} states at {size}")
        print("\n".join(render.way(row["model"], row["way"])))
        return
    looked = "; ".join(
        f"{one['distinct']:,}{' (all)' if one['complete'] else ' (not all)'} states at "
        + ",".join(str(value) for value in one["constants"].values())
        for one in row["looked"]
    )
    print(f"{row['rung']}: nothing goes wrong in {looked}")


def _fence_as_data(row: Mapping[str, Any]) -> Mapping[str, object]:
    data = {name: row[name] for name in ("rung", "broken", "states", "looked")}
    if row["broken"]:
        moves = [{"move": move.name, "who": list(move.who)} for move in row["way"].moves]
        data.update(constants=row["constants"], moves=moves)
    return data
