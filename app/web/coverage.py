"""Page of the measured coverage of the 95 % intervals."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import orjson
from flask import Blueprint, current_app, render_template

blueprint = Blueprint("coverage", __name__)

BAR: Final = 0.93
"""The least share of intervals that hold; `python3 -m tests.coverage` measures it."""
STORED: Final = "coverage.json"


@blueprint.get("/coverage")
def page() -> str:
    """Render the table of the last measurement, the worst row first."""
    stored = Path(str(current_app.static_folder)) / STORED
    measured = orjson.loads(stored.read_bytes())
    rows = sorted(measured["cases"], key=lambda case: float(case["coverage"]))
    return render_template("batch/coverage.html", rows=rows, bar=BAR, of=measured["repetitions"])
