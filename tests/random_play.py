"""The line that plays a random run again."""

from __future__ import annotations

from app.command.playing import command_of
from engine.sim.run import Run
from engine.study.wander import WORLDS


def again(world: str, profile: str, lines: list[str]) -> str:
    """The moves of a random run, and the command that repeats it."""
    run = Run(WORLDS[world], profile, 0, tuple(lines))
    return f"{'; '.join(lines)}: {command_of(run)}"
