"""Links to a moment of a run, for pages about runs."""

from __future__ import annotations

from functools import lru_cache
from typing import Final
from urllib.parse import urlencode

from app.server import visitor
from app.server.services import services
from app.web import naming
from engine.properties.recording import MomentRecording
from engine.sim.run import Run

RECORDINGS: Final = 16
MOST_LANES: Final = 4
"""Replicas for which a frame has room side by side."""


@lru_cache(maxsize=RECORDINGS)
def _recorded(run: Run) -> MomentRecording:
    return MomentRecording(run)


def recorded(run: Run) -> MomentRecording:
    """Return the moments of a run; of one not used lately, after waiting at the gate for plays."""
    with services().plays.turn():
        return _recorded(run)


def code_of(run: Run) -> str | None:
    """Return the code of the library's own run, None for any other."""
    plain = run.moves is None and run.seed == 0 and naming.in_library(run.scenario)
    return run.scenario.code if plain else None


def address(path: str, **args: str) -> str:
    return f"{path}?{urlencode(args)}" if args else path


def animator(run: Run, step: int) -> str:
    """Return the address of this run at this step in the animator."""
    code = code_of(run)
    if code is None:
        return address(f"/r/{services().replays.register(run)}", step=str(step))
    return address(f"/s/{code}", profile=run.profile, step=str(step))


def frame(run: Run, step: int, to: int = -1, guess: str = "", lang: str = "") -> str:
    """Return the same for a frame: the stage with the ends of its logs, a caption, a few buttons.

    With `to` it plays on to that step by itself; `guess` is drawn beside the truth.
    """
    digest = services().replays.register(run)
    more = {"to": str(to)} if to > step else {}
    more |= {"guess": guess} if guess else {}
    lang = lang or visitor.lang()
    more["layers"] = "ends"  # lessons and questions speak of them
    return address(f"/e/{digest}", step=str(step), controls="play", lang=lang, **more)
