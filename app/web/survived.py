"""Page of the last `highwater storm`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import orjson
from flask import Blueprint, current_app, render_template

blueprint = Blueprint("survived", __name__)

STORED: Final = "storm.json"
"""Among the static files; `highwater storm --out` writes it."""


@blueprint.get("/storm")
def page() -> str:
    """Render faults by kind, what visitors did meanwhile, and each promise."""
    found = orjson.loads((Path(str(current_app.static_folder)) / STORED).read_bytes())
    return render_template("storm.html", told=found, total=sum(found["faults"].values()))
