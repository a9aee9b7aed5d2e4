"""A run as a file of another form."""

from __future__ import annotations

from engine.export.exports import FORMATS, file_name
from engine.replay.replay import Replay
from engine.sim.run import Run


def export(run: Run, form: str) -> tuple[str, str]:
    """Return (text, name) of one file; `form` is one of `FORMATS`."""
    replay = Replay(run)
    return FORMATS[form].make(replay), file_name(replay, form)
