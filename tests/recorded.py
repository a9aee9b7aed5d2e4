"""Runs of the library that several tests read."""

from __future__ import annotations

from functools import cache

from engine.explore.question import cut_at
from engine.properties.recording import MomentRecording
from engine.scenarios.file import find
from engine.sim.run import Run


@cache
def recorded(code: str, profile: str) -> MomentRecording:
    return MomentRecording(Run(find(code), profile))


def cut_after(code: str, profile: str, moves: int) -> Run:
    """Return the run, ended after a number of its moves."""
    scenario = find(code)
    lines = Run(scenario, profile).lines()
    return cut_at(Run(scenario, profile, 0, lines[:moves]))
