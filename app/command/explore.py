"""``highwater explore``: searches in a terminal, with progress, bounds and Ctrl+C."""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, Final

from engine.ladder import questions, telling
from engine.ladder.invariants import EXPECTED_TO_BREAK, NAMES
from engine.ladder.rungs import FENCES
from engine.ladder.search import UNBOUNDED, Bounds, Progress
from engine.model.errors import BadInput

BOUND_MET: Final = 3
DIFFERENT: Final = 1
BUDGET_S: Final = 60.0
MOST_BYTES: Final = 16 << 20
"""Of a file of counts."""
EVERY_S: Final = 0.5
"""How often progress is told to a terminal; to a file, every 20 times so long."""


class Watch:
    """Ends a search when its seconds are over or Ctrl+C was pressed, and tells how far it is."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds
        self.interrupted = False
        self._began = time.process_time()
        self._live = sys.stderr.isatty()
        self._told = time.monotonic()
        self._width = 0

    def again(self) -> None:
        """Counts the seconds from now."""
        self._began = time.process_time()

    @property
    def cpu_s(self) -> float:
        return time.process_time() - self._began

    def __call__(self, progress: Progress) -> bool:
        now = time.monotonic()
        if now - self._told >= EVERY_S * (1 if self._live else 20):
            self._told = now
            self._tell(
                f"level {progress.depth}: {progress.distinct:,} states, "
                f"{progress.generated:,} generated, {self.cpu_s:,.0f} s"
            )
        return self.interrupted or (self.seconds is not None and self.cpu_s > self.seconds)

    def _tell(self, line: str) -> None:
        if self._live:
            print(f"\r{line:<{self._width}}", end="", file=sys.stderr, flush=True)
            self._width = len(line)
        else:
            print(line, file=sys.stderr, flush=True)

    def wipe(self) -> None:
        """Makes room on the terminal for the answer."""
        if self._width:
            print("\r" + " " * self._width + "\r", end="", file=sys.stderr, flush=True)
            self._width = 0


@contextmanager
def watching(seconds: float | None) -> Iterator[Watch]:
    """Ctrl+C once: a partial answer.  Twice: the end."""
    watch = Watch(seconds)

    def interrupt(number: int, frame: FrameType | None) -> None:
        if watch.interrupted:
            raise KeyboardInterrupt
        watch.interrupted = True

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield watch
    finally:
        signal.signal(signal.SIGINT, before)
        watch.wipe()


def explore(asked: dict[str, Any], as_json: bool) -> int:
    """Answers on the output; the exit code.  Raises BadInput for what cannot be asked."""
    if asked["counts_path"] is not None:
        return _counts(asked, as_json)
    if asked["fences"]:
        return _fences(asked, as_json)
    if asked["ladder"] is not None:
        return _ladder(asked, as_json)
    raise BadInput("invalid", "Say what to search: --ladder RUNG, --counts PATH or --fences.")


def _bounds(asked: Mapping[str, Any], watch: Watch) -> Bounds:
    return Bounds(states=asked["max_states"] or UNBOUNDED, stop=watch)


def _constants(asked: Mapping[str, Any]) -> dict[str, int]:
    names = ("replicas", "log", "records", "epochs", "offsets", "versions")
    return {name: asked[name] for name in names if asked[name] is not None}


def _one_line(data: Any) -> None:
    print(json.dumps(data, ensure_ascii=False))


# -- one rung -------------------------------------------------------------------------------------


def _ladder(asked: dict[str, Any], as_json: bool) -> int:
    ladder, constants = asked["ladder"], _constants(asked)
    with watching(asked["max_seconds"]) as watch:
        model = questions.model(ladder, constants)
        outcome = questions.search(model, asked["symmetry"], _bounds(asked, watch))
        cpu_s = round(watch.cpu_s, 3)
    answer = questions.answer(ladder, constants, asked["symmetry"], outcome, cpu_s)
    if as_json:
        _one_line(answer)
        return 0 if outcome.complete else BOUND_MET
    size = ", ".join(f"{name} {value}" for name, value in answer["constants"].items())
    print(f"{ladder}: {size}{', up to renaming' if asked['symmetry'] else ''}")
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
            print(f"BROKEN: {name}, after {len(found.moves)} moves. {telling.MEANINGS[name]}")
            print("\n".join(telling.way(model, found)))
    return 0 if outcome.complete else BOUND_MET


# -- a file of counts -----------------------------------------------------------------------------


def _counts(asked: dict[str, Any], as_json: bool) -> int:
    rows = questions.rows_of(_read(asked["counts_path"]))
    budget = BUDGET_S if asked["budget_s"] is None else asked["budget_s"]
    found = []
    with watching(budget) as watch:
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
            raise BadInput("too_large", f"A file of counts has at most {MOST_BYTES:,} bytes.", path)
        return json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise BadInput("unknown", f"It cannot be read: {error.strerror}.", path) from None
    except (ValueError, RecursionError) as error:
        raise BadInput("invalid", f"It is no JSON: {error}.", path) from None


# -- one fence after the other --------------------------------------------------------------------


def _fences(asked: dict[str, Any], as_json: bool) -> int:
    given = _constants(asked)
    sizes = (given,) if given else questions.SIZES
    watched = tuple(name for name in NAMES if name != EXPECTED_TO_BREAK)
    found = []
    with watching(asked["max_seconds"]) as watch:
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
        print("\n".join(telling.way(row["model"], row["way"])))
        return
    looked = "; ".join(
        f"{one['distinct']:,}{' (all)' if one['complete'] else ' (not all)'} states at "
        + ",".join(str(value) for value in one["constants"].values())
        for one in row["looked"]
    )
    print(f"{row['rung']}: nothing goes wrong in {looked}")


def _fence_as_data(row: Mapping[str, Any]) -> dict[str, Any]:
    data = {name: row[name] for name in ("rung", "broken", "states", "looked")}
    if row["broken"]:
        moves = [{"move": move.name, "who": list(move.who)} for move in row["way"].moves]
        data.update(constants=row["constants"], moves=moves)
    return data
