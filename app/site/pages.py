"""Pages that only a static site has: the frame of a rendered page, and what needs a server."""

from __future__ import annotations

from typing import Final

from flask import Blueprint, render_template

from engine.export.library_outcomes import is_statistical
from engine.model.profiles import GENERATIONS, PROFILES
from engine.scenarios import file

blueprint = Blueprint("site", __name__)

STANDING: Final = ("/at", "/e", "/batch", "/needs-server", "/404")
RUNS_MOST: Final = 5_000
"""Runs of a batch in a tab, for each profile."""


@blueprint.get("/at")
def shell() -> str:
    """Render the page in whose place the tab's worker puts another one."""
    return render_template("site/shell.html", text="folder.rendering")


@blueprint.get("/e")
def frame() -> str:
    """Render the frame of a run, which its script fills."""
    return render_template("site/frame.html")


@blueprint.get("/404")
def missing() -> str:
    """Render the page of a host for an address that it does not have."""
    return render_template("site/shell.html", text="folder.missing")


@blueprint.get("/batch")
def batch() -> str:
    """Render the form of a batch that the tab plays: scenarios in which chance decides."""
    return render_template(
        "site/batch.html",
        scenarios=[scenario for scenario in file.library().values() if is_statistical(scenario)],
        profiles=[PROFILES[name] for name in GENERATIONS],
        most=RUNS_MOST,
    )


@blueprint.get("/needs-server")
def needs_server() -> str:
    """Render what a folder of static files cannot do, and how to do it."""
    return render_template("site/server.html")
