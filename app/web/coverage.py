"""Page of the measured coverage of the 95 % intervals."""

from __future__ import annotations

from pathlib import Path

import orjson
from flask import Blueprint, current_app, render_template

from app.batch import coverage

blueprint = Blueprint("coverage", __name__)


@blueprint.get("/coverage")
def page() -> str:
    """Render the table as it was measured last, the worst row first."""
    stored = Path(str(current_app.static_folder)) / coverage.STORED
    found = orjson.loads(stored.read_bytes())
    rows = sorted(found["cases"], key=lambda one: float(one["coverage"]))
    return render_template(
        "batch/coverage.html", rows=rows, bar=coverage.BAR, of=found["repetitions"]
    )
