"""Soak: random runs without end, each looked at from all sides; what is found is made short.

A chunk is a function of its number, so two processes, or two days, find the same.  Nothing here
knows a clock: the caller decides how many chunks are enough.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

from engine.catalogue.promises import is_clean, promised
from engine.model.declared import begins, declared, fresh
from engine.model.errors import InputError
from engine.model.profiles import get_profile
from engine.replay.checkpoints import Checkpoint
from engine.replay.cursor import Cursor
from engine.replay.replay import Replay
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, run_to_end
from engine.sim.simulation import Simulation
from engine.study import wander
from engine.study.ddmin import ddmin
from engine.study.digest import digest

MOST_MOVES: Final = 24
SHRINK_TRIES: Final = 250
CHECKPOINTS: Final = 3
STEPS_SHOWN: Final = 8
BUDGET: Final = 40_000
"""Events of one run.  Longer ones find nothing that several short ones do not."""

Find = tuple[str, str]
"""(kind, why): an invariant's name, or crash, refused, told, text, copy, checkpoint, shown."""


def soak_chunk(chunk: dict[str, Any]) -> dict[str, Any]:
    """Play `count` random runs from number `first` on.

    chunk: {"seed", "first", "count", "profiles": [names], "library": [Scenario.to_dict()]}
    result: {"runs": {profile: n}, "steps": n, "pairs": {profile: [[rule, rule], ...]},
             "finds": [{"number", "kind", "why", "run": text, "moves": how many it had}]}
    """
    library = [Scenario.from_dict(data) for data in chunk["library"]]
    runs: dict[str, int] = {}
    pairs: dict[str, set[tuple[str, str]]] = {}
    finds, steps = [], 0
    for number in range(chunk["first"], chunk["first"] + chunk["count"]):
        drawn = draw(chunk["seed"], number, chunk["profiles"], library)
        row = get_profile(drawn.run.profile).base
        runs[row] = runs.get(row, 0) + 1
        pairs.setdefault(row, set()).update(drawn.pairs)
        steps += drawn.steps
        problem = drawn.find or examine(drawn.run)
        if problem is not None:
            kind, why = problem
            short = shrunk(drawn.run, kind)
            finds.append(
                {
                    "number": number,
                    "kind": kind,
                    "why": why,
                    "run": short.text(),
                    "moves": len(drawn.run.lines()),
                }
            )
    rows = {row: sorted(map(list, codes)) for row, codes in sorted(pairs.items())}
    return {"runs": runs, "steps": steps, "pairs": rows, "finds": finds}


# -- drawing --------------------------------------------------------------------------------------


@declared
class Drawn:
    """A run as it was drawn: its moves, the pairs of rules it played, and what it ran into."""

    run: Run
    pairs: set[tuple[str, str]] = fresh(set)
    steps: int = begins(0)
    find: Find | None = begins(None)


def draw(seed: int, number: int, profiles: Sequence[str], library: Sequence[Scenario]) -> Drawn:
    """Run `number`: its moves are drawn one by one from what can be done where it stands."""
    start, chance = wander.draw_run(seed, number, profiles, library)
    drawn = Drawn(start)
    accepts = is_clean if chance.hits(0.6) else _anything
    lines = list(start.lines())
    try:
        sim = start.simulation(cues=True)
        sim.budget = BUDGET
        listen(sim, drawn.pairs)
        lines = _play_prefix(sim, start.lines())
        for _ in range(3 + chance.below(MOST_MOVES)):
            if sim.events > BUDGET:
                break
            lines.append(wander.draw_move(sim, chance, accepts))
            wander.advance(sim, lines[-1])
        drawn.steps = sim.events
    except InputError as error:
        if error.code != "too_large":
            at = lines[-1] if lines else "at the beginning"
            drawn.find = ("refused", f"{at}: {error.sentence}")
    except Exception as error:
        drawn.find = ("crash", _why(error))
    drawn.run = Run(start.scenario, start.profile, start.seed, tuple(lines))
    return drawn


def _play_prefix(sim: Simulation, script: tuple[str, ...]) -> list[str]:
    """Play a script as far as this profile, for which it may not be meant, can."""
    for number, line in enumerate(script):
        try:
            wander.advance(sim, line)
        except InputError:
            return list(script[:number])
    return list(script)


def _anything(line: str) -> bool:
    return True


def listen(sim: Simulation, pairs: set[tuple[str, str]]) -> None:
    """Collect which rule followed which, from cue to cue."""
    last = ["start"]

    def note(kind: int, node: int, what: Any) -> None:
        for cue in sim.out.cues or ():
            pairs.add((last[0], cue.rule))
            last[0] = cue.rule

    sim.listener = note


def _why(error: Exception) -> str:
    frames = error.__traceback__
    while frames is not None and frames.tb_next is not None:
        frames = frames.tb_next
    where = "" if frames is None else f" in {frames.tb_frame.f_code.co_qualname}"
    return f"{type(error).__name__}: {str(error)[:200]}{where}"


# -- examining ------------------------------------------------------------------------------------


def played(run: Run, cues: bool = False) -> Simulation:
    """Return the run, played to its end or to the end of its budget."""
    sim = run.simulation(cues)
    sim.rush = not cues
    sim.budget = BUDGET
    run_to_end(sim, run.lines())
    return sim


def _end(sim: Simulation) -> str:
    """Return the digest of a run that is over; its open unavailability ends there."""
    sim.ledger.close(sim.now)
    return digest(sim)


def examine(run: Run) -> Find | None:
    """Return what is wrong with the run, if anything; one that cannot be played is not wrong."""
    try:
        sim = played(run)
        for name, step, why in sim.broken:
            if name in promised(run, sim):
                return name, f"step {step}: {why}"
        end = _end(sim)
        for kind, differs in CHECKS.items():
            why = differs(run, end)
            if why:
                return kind, why
    except InputError:
        return None
    except Exception as error:
        return "crash", _why(error)
    return None


def _listener_fault(run: Run, end: str) -> str:
    """Check that listeners change nothing; "" if they do not."""
    found = _end(played(run, cues=True))
    return "" if found == end else f"told it ends as {found}, untold as {end}"


def _text(run: Run, end: str) -> str:
    """Check that a run survives its text form; "" if it does."""
    again = Run.from_text(run.text())
    if again != run:
        return "its text is another run"
    ended = _end(played(again))
    return "" if ended == end else f"from its text it ends as {ended}, else as {end}"


def _copy(run: Run, end: str) -> str:
    """Check that a copy goes on as its original, wherever it was taken."""
    lines = run.lines()
    places = {len(lines) // 4, len(lines) // 2, 3 * len(lines) // 4}
    sim = run.simulation()
    sim.rush = True
    sim.budget = BUDGET
    twins: list[tuple[int, Simulation]] = []
    for number in range(len(lines)):
        if number in places:
            twins.append((number, sim.copy()))
        run_to_end(sim, lines[: number + 1], number)
    for number, twin in twins:
        run_to_end(twin, lines, number)
        if _end(twin) != end:
            return f"a copy taken before move {number + 1} ends as {_end(twin)}, not as {end}"
    return "" if _end(sim) == end else "being copied changed the run"


def _checkpoint(run: Run, end: str) -> str:
    """Check that a run resumed from a checkpoint ends as if played from the start; "" if so."""
    cursor = Cursor(run)
    checkpoints: list[Checkpoint] = []
    while cursor.advance() is not None and len(checkpoints) < CHECKPOINTS:
        if not checkpoints or cursor.sim.events >= 2 * checkpoints[-1].events:
            checkpoint = cursor.checkpoint()
            checkpoints += [checkpoint] if checkpoint is not None else []
    for place in checkpoints:
        later = Cursor(run, start=place)
        later.sim.budget = BUDGET
        while later.advance() is not None:
            pass
        if _end(later.sim) != end:
            return f"taken up after step {place.events} it ends as {_end(later.sim)}, not as {end}"
    return ""


def _display_fault(run: Run, end: str) -> str:
    """Check that every step can be shown, and the last one is the end; "" if so."""
    replay = Replay(run)
    for first in (0, replay.total // 2, replay.total - STEPS_SHOWN):
        json.dumps(replay.steps(first, STEPS_SHOWN))
    json.dumps(replay.possible(replay.total // 2))
    return "" if _end(replay.end) == end else f"shown it ends as {_end(replay.end)}, not as {end}"


CHECKS: Final[dict[str, Callable[[Run, str], str]]] = {
    "told": _listener_fault,
    "text": _text,
    "copy": _copy,
    "checkpoint": _checkpoint,
    "shown": _display_fault,
}


# -- making it short ------------------------------------------------------------------------------


def shrunk(run: Run, kind: str) -> Run:
    """Return the run with as few moves and flips as still show the same kind of find."""
    left = [SHRINK_TRIES]

    def still(candidate: Run) -> bool:
        left[0] -= 1
        problem = examine(candidate)
        return problem is not None and problem[0] == kind

    def keeps(lines: list[str]) -> bool:
        nonlocal run
        candidate = Run(run.scenario, run.profile, run.seed, tuple(lines))
        if not still(candidate):
            return False
        run = candidate
        return True

    if kind == "refused" or not still(run):
        return run
    ddmin(lambda: list(run.lines()), keeps, lambda: left[0] <= 0)
    for flag in _flips(run.profile):
        candidate = Run(run.scenario, run.profile.replace(flag, "", 1), run.seed, run.lines())
        if still(candidate):
            run = candidate
    return run


def _flips(profile: str) -> list[str]:
    """Return the flips in a profile's name, each with its sign."""
    row = get_profile(profile).base
    rest = profile[len(row) :].replace("+", " +").replace("-", " -")
    return rest.split()
