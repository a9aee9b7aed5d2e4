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


def explore(options: SearchOptions, as_json: bool) -> int:
    """Print the answer; return the exit code.  Raises InputError for what cannot be asked."""
    if options.spark and options.scenario is None:
        raise InputError("invalid", "--spark searches from a step of a run: say which SCENARIO.")
    if options.counts_path is not None:
        return _counts(options.counts_path, options, as_json)
    if options.fences:
        return _fences(options, as_json)
    if options.ladder is not None:
        return _ladder(options.ladder, options, as_json)
    if options.scenario is not None:
        from app.command.explore_run import explore_run
        from app.compiled import background

        if message := background.begin():
            print(message, file=sys.stderr)
        return explore_run(options.scenario, options, as_json)
    raise InputError(
        "invalid", "Say what to search: SCENARIO, --ladder RUNG, --counts PATH or --fences."
    )


def _bounds(options: SearchOptions, watch: BatchWatch) -> LadderBounds:
    return LadderBounds(states=options.max_states or UNBOUNDED, stop=watch)


def _constants(options: SearchOptions) -> dict[str, int]:
    given = {
        "replicas": options.replicas,
        "log": options.log,
        "records": options.records,
        "epochs": options.epochs,
        "offsets": options.offsets,
        "versions": options.versions,
    }
    return {name: value for name, value in given.items() if value is not None}


def _one_line(data: Any) -> None:
    print(json.dumps(data, ensure_ascii=False))


# -- one rung -------------------------------------------------------------------------------------


def _ladder(ladder: str, options: SearchOptions, as_json: bool) -> int:
    constants = _constants(options)
    with watching(options.max_seconds) as watch, no_collector():
        model = questions.model(ladder, constants)
        outcome = questions.search(model, options.symmetry, _bounds(options, watch))
        cpu_s = round(watch.cpu_s, 3)
    answer = questions.answer(ladder, constants, options.symmetry, outcome, cpu_s)
    if as_json:
        _one_line(answer)
        return 0 if outcome.complete else BOUND_MET
    size = ", ".join(f"{name} {value}" for name, value in answer["constants"].items())
    print(f"{ladder}: {size}{', up to renaming' if options.symmetry else ''}")
    whole = "all of them" if outcome.complete else "not all: a bound ended the search"
    print(
        f"{answer['distinct']:,} states ({whole}), {answer['generated']:,} generated, "
        f"depth {answer['depth']}, {cpu_s:,.2f} CPU-s"
    )
    for name in outcome.invariants:
        violation = outcome.broken.get(name)
        if violation is None:
            print(f"{'holds' if outcome.complete else 'not broken so far'}: {name}")
        else:
            print(f"BROKEN: {name}, after {len(violation.moves)} moves. {render.MEANINGS[name]}")
            print("\n".join(render.way(model, violation)))
    return 0 if outcome.complete else BOUND_MET


# -- a file of counts -----------------------------------------------------------------------------


def _counts(path: str, options: SearchOptions, as_json: bool) -> int:
    rows = questions.rows_of(_read(path))
    budget = BUDGET_S if options.budget_s is None else options.budget_s
    compared_rows = []
    with watching(budget) as watch, no_collector():
        for row in rows:
            watch.again()
            compared = questions.compare(row, _bounds(options, watch))
            compared["cpu_s"] = round(watch.cpu_s, 3)
            compared_rows.append(compared)
            if not as_json:
                watch.wipe()
                print(_row(compared), flush=True)
            if watch.interrupted:
                break
    verdicts = {
        verdict: sum(row["verdict"] == verdict for row in compared_rows)
        for verdict in ("equal", "different", "not within the budget")
    }
    if as_json:
        _one_line({"schema": questions.SCHEMA, "verdicts": verdicts, "rows": compared_rows})
    else:
        print(", ".join(f"{count} {verdict}" for verdict, count in verdicts.items()))
    if verdicts["different"]:
        return DIFFERENT
    return BOUND_MET if verdicts["not within the budget"] or len(compared_rows) < len(rows) else 0


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


def _fences(options: SearchOptions, as_json: bool) -> int:
    given = _constants(options)
    sizes = (given,) if given else questions.SIZES
    watched = tuple(name for name in NAMES if name != EXPECTED_TO_BREAK)
    rows = []
    with watching(options.max_seconds) as watch, no_collector():
        for rung in ("kip320", *(f"kip320-{fence}" for fence in FENCES)):
            row = questions.without_fence(rung, sizes, watched, _bounds(options, watch))
            rows.append(row)
            if not as_json:
                watch.wipe()
                _tell_fence(row)
    complete = all(looked["complete"] for row in rows for looked in row["looked"])
    if as_json:
        _one_line({"schema": questions.SCHEMA, "rungs": [_fence_as_data(row) for row in rows]})
    return 0 if complete else BOUND_MET


def _tell_fence(row: Mapping[str, Any]) -> None:
    if row["broken"]:
        size = ",".join(str(value) for value in row["constants"].values())
        broken = ", ".join(row["broken"])
        print(f"{row['rung']}: {broken} broken with {row['states']} states at {size}")
        print("\n".join(render.way(row["model"], row["way"])))
        return
    looked = "; ".join(
        f"{search['distinct']:,}{' (all)' if search['complete'] else ' (not all)'} states at "
        + ",".join(str(value) for value in search["constants"].values())
        for search in row["looked"]
    )
    print(f"{row['rung']}: nothing goes wrong in {looked}")


def _fence_as_data(row: Mapping[str, Any]) -> Mapping[str, object]:
    data = {name: row[name] for name in ("rung", "broken", "states", "looked")}
    if row["broken"]:
        moves = [{"move": move.name, "who": list(move.who)} for move in row["way"].moves]
        data.update(constants=row["constants"], moves=moves)
    return data
