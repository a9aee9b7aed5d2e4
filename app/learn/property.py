"""A property of the reader's own, judged in a run of the library."""

from __future__ import annotations

from typing import Final, NotRequired, TypedDict

from flask import Blueprint, render_template, request

from app.questions.names import default_run
from app.server import visitor
from app.server.services import apart
from app.web import naming
from app.web.moments import animator
from engine.model.errors import InputError
from engine.model.profiles import GENERATIONS
from engine.properties.evaluate import judged
from engine.properties.facts import FACTS
from engine.scenarios.file import library
from engine.scenarios.translated import in_language

blueprint = Blueprint("property", __name__)

USUAL: Final = ("S22", "K39", "eventually (acked(m4) and m4 not in log(leader))")
"""What stands in the form at first: a run, and a property that is not obvious."""


class OwnProperty(TypedDict):
    """The reader's property on a run; once it is judged, its verdict or the problem with it."""

    s: str
    profile: str
    property: str
    asked: bool
    problem: NotRequired[str]
    holds: NotRequired[bool]
    open: NotRequired[str]
    n: NotRequired[int]


@blueprint.get("/property")
def form() -> str:
    """Render the form, and below it the verdict of what was asked."""
    return render_template(
        "learn/property.html",
        own=_own(),
        facts=[(name, fact.takes) for name, fact in FACTS.items()],
        scenarios=[
            (scenario.code, in_language(scenario, visitor.lang()).title)
            for scenario in library().values()
            if scenario.code
        ],
        profiles=list(GENERATIONS.values()),
    )


def _own() -> OwnProperty:
    """Return the question of the form, and its verdict or why it cannot be read."""
    code, profile, text = (
        request.args.get(name, usual)
        for name, usual in zip(("s", "profile", "property"), USUAL, strict=True)
    )
    own: OwnProperty = {"s": code, "profile": profile, "property": text, "asked": False}
    if "property" not in request.args:
        return own
    own["asked"] = True
    try:
        run = default_run(naming.scenario_named(code), naming.profile_asked())
        verdict = apart(judged, text, run)
    except InputError as bad:
        return {**own, "problem": bad.sentence}
    return {**own, "holds": verdict.holds, "open": animator(run, verdict.step), "n": verdict.step}
