"""Long tasks whose input is text alone, so that another process can do all of it."""

from __future__ import annotations

from app.admission.cpu_quota import CpuBudget
from engine.replay.replay import Replay
from engine.sim.run import Run


def replay(run: Run, cpu_s: float) -> Replay:
    """Return the run, ready to be stepped through.

    Raises RequestError "too_large" after `cpu_s` seconds of a processor.
    """
    return Replay(run, check=CpuBudget(cpu_s).check)


def png(svg: str) -> bytes:
    """Return the picture as pixels; drawing holds the interpreter's lock all the while."""
    import resvg_py  # a native library, which a page without a server does not have

    pixels: bytes = resvg_py.svg_to_bytes(svg_string=svg)
    return pixels
