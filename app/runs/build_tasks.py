"""Long tasks whose input is text alone, so that another process can do all of it."""

from __future__ import annotations

from typing import Any, Final

import resvg_py

from app.core.gate import CpuBudget
from app.core.refusals import RequestError
from engine.export.comparing import compare, playable
from engine.export.exports import FORMATS, file_name
from engine.export.thumbnail import draw, telling_step
from engine.model.profiles import GENERATIONS, PROFILES
from engine.replay.replay import Replay
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run
from engine.story.verdict import FIELDS

STEPS_MOST: Final = 6_000
"""Of a run that is compared, or stands on the ladder with those of all other profiles."""


def replay(run: Run, cpu_s: float) -> Replay:
    """Return the run, ready to be stepped through.

    Raises RequestError "too_large" after `cpu_s` seconds of a processor.
    """
    return Replay(run, check=CpuBudget(cpu_s).check)


def png(svg: str) -> bytes:
    """Return the picture as pixels; drawing holds the interpreter's lock all the while."""
    pixels: bytes = resvg_py.svg_to_bytes(svg_string=svg)
    return pixels


def export(run: Run, form: str) -> tuple[str, str]:
    """Return (text, name) of one file."""
    found = Replay(run)
    return FORMATS[form].make(found), file_name(found, form)


def compared(one: Run, other: Run) -> dict[str, Any]:
    """Return {a: facts, b: facts, pairs, parts}; see `engine.export.comparing.compare`."""
    a = Replay(one)
    b = a if one == other else Replay(other)
    return pair(a, b)


def pair(a: Replay, b: Replay) -> dict[str, Any]:
    """Return the same for two replays.  Raises RequestError "too_large"."""
    if max(a.total, b.total) > STEPS_MOST:
        raise RequestError("too_large", "compare.long", most=STEPS_MOST)
    return {"a": a.facts(), "b": b.facts(), **compare(a, b)}


def rungs(scenario: Scenario) -> tuple[dict[str, Any], ...]:
    """Return the ladder: how the scenario ends under every generation, with its key step as SVG."""
    return tuple(rung(scenario, profile) for profile in GENERATIONS)


def rung(scenario: Scenario, profile: str) -> dict[str, Any]:
    """Return one row: how the run ends under a profile, or why it cannot begin (no digest)."""
    told = {
        "profile": profile,
        "stands_for": PROFILES[profile].stands_for,
        "meant": profile in scenario.profiles,
    }
    why = scenario.cannot_begin(profile)
    if why:
        return {**told, "digest": "", "why": why}
    run, why = playable(Run(scenario, profile), STEPS_MOST)
    found = Replay(run, STEPS_MOST)
    step = telling_step(found)
    (view,) = found.steps(step, 1)
    verdict = found.verdict()
    return {
        **told,
        "digest": run.digest,
        "why": why,
        "step": step,
        "total": found.total,
        "verdict": {name: verdict[name] for name in FIELDS},
        "broken": list(dict.fromkeys(one["invariant"] for one in verdict["broken"])),
        "telling": draw(view["view"]),
        "final": draw(found.final_view()),
    }
