"""Benchmark of the code lens for visitors who do not use it: views of steps, and batches.

Two processes take turns: one in which `engine.lens` cannot even be imported, and one that has just
described the stacks of every step.  Both must make the same bytes.
"""

from __future__ import annotations

import gc
import multiprocessing
import sys
import time
from hashlib import sha256
from multiprocessing.connection import Connection
from typing import Final

from engine.view.wire import StepJson

SCENARIO: Final = "S20"
BATCH: Final = "S66"
PROFILE: Final = "K39"
RELEASE: Final = "3.9.1"
RUNS: Final = 250
BUILDS: Final = 8
ROUNDS: Final = 9
"""An odd number: of rounds that other work disturbed, the best ones are compared."""

BUDGETS: Final = {"views": 1.1, "batch": 1.1}

Task = tuple[str, int]


def cost() -> tuple[float, dict[str, float]]:
    """Return the worse of two ratios of CPU time with the lens over that without.

    Of building all steps of a run (`views`) and of playing seeds (`batch`).  `told_ms` is a step's
    stacks themselves.

    Raises RuntimeError where the two do not make the same bytes.
    """
    without, with_it = LensProcess(blocked=True), LensProcess(blocked=False)
    took: dict[tuple[str, bool], list[float]] = {}
    told = []
    try:
        for round_ in range(ROUNDS):
            told.append(with_it.ask("told", round_)[0])
            for work in ("views", "batch"):
                found = [(one, one.ask(work, round_)) for one in _turns(round_, without, with_it)]
                if len({digest for _, (_, digest) in found}) > 1:
                    raise RuntimeError(f"The lens changes what {work} are: round {round_}.")
                for one, (seconds, _) in found:
                    took.setdefault((work, one is with_it), []).append(seconds)
    finally:
        without.end()
        with_it.end()
    best = {key: min(all_) for key, all_ in took.items()}
    figures = {work: best[work, True] / best[work, False] for work in ("views", "batch")}
    ratio = max(figures.values())
    figures["step_ms"] = best["views", False] * 1_000
    figures["told_ms"] = min(told) * 1_000
    figures["runs_per_s"] = RUNS / best["batch", False]
    return ratio, figures


def _turns(round_: int, *both: LensProcess) -> tuple[LensProcess, ...]:
    """Return the processes in an order that changes from round to round."""
    return both if round_ % 2 else both[::-1]


class LensProcess:
    """Process that runs tasks, and reports CPU seconds and a digest of the result."""

    def __init__(self, *, blocked: bool) -> None:
        self.pipe, theirs = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        self._process = context.Process(target=_answer, args=(theirs, blocked))
        self._process.start()
        theirs.close()

    def ask(self, work: str, round_: int) -> tuple[float, str]:
        self.pipe.send((work, round_))
        seconds, digest = self.pipe.recv()
        return seconds, digest

    def end(self) -> None:
        self.pipe.close()
        self._process.join(60)


def _answer(asked: Connection, blocked: bool) -> None:
    if blocked:
        sys.modules["engine.lens"] = None  # type: ignore[assignment]
    works = {"views": _views, "batch": _batch, "told": _time_stacks}
    while True:
        try:
            work, round_ = asked.recv()
        except EOFError:
            return
        gc.collect()  # else what the work before left is paid by this one
        asked.send(works[work](round_))


def _steps() -> list[StepJson]:
    from engine.replay.replay import Replay
    from engine.scenarios import file
    from engine.sim.run import Run

    replay = Replay(Run(file.find(SCENARIO), PROFILE))
    return list(replay.each(0, replay.total + 1))


def _views(_round: int) -> tuple[float, str]:
    """Return the seconds a step for building all steps of a run without a cache."""
    from app.core.json_response import to_json

    began = time.process_time()
    for _ in range(BUILDS):
        steps = _steps()
    seconds = (time.process_time() - began) / (BUILDS * len(steps))
    return seconds, sha256(b"".join(to_json(step) for step in steps)).hexdigest()


def _batch(round_: int) -> tuple[float, str]:
    """Return the seconds for playing a number of seeds, as a worker of a batch does."""
    from engine.scenarios import file
    from engine.study.batch import run_chunk

    asked = {
        "scenario": file.find(BATCH).to_dict(),
        "profile": PROFILE,
        "cell": 0,
        "first_seed": round_ * RUNS,
        "count": RUNS,
    }
    began = time.process_time()
    rows = list(run_chunk(asked))
    return time.process_time() - began, sha256(repr(rows).encode()).hexdigest()


def _time_stacks(_round: int) -> tuple[float, str]:
    """Return the seconds a step for describing its stacks."""
    from engine.lens.lens_json import stacks_by_release

    steps = _steps()
    began = time.process_time()
    for step in steps:
        stacks_by_release(step, (RELEASE,), step["view"]["mode"])
    return (time.process_time() - began) / len(steps), ""
