"""Pages that only a static site has: the frame of a rendered page, and what needs a server."""

from __future__ import annotations

from typing import Final

from flask import Blueprint, render_template

blueprint = Blueprint("standing", __name__)

STANDING: Final = ("/at", "/e", "/needs-server", "/404")


@blueprint.get("/at")
def shell() -> str:
    """Render the page in whose place the tab's worker puts another one."""
    return render_template("site_shell.html", text="folder.rendering")


@blueprint.get("/e")
def frame() -> str:
    """Render the frame of a run, which its script fills."""
    return render_template("site_frame.html")


@blueprint.get("/404")
def missing() -> str:
    """Render the page of a host for an address that it does not have."""
    return render_template("site_shell.html", text="folder.missing")


@blueprint.get("/needs-server")
def needs_server() -> str:
    """Render what a folder of static files cannot do, and how to do it."""
    return render_template("site_server.html")
