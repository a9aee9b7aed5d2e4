"""Page of what was found here: each finding with its story and proof, and what was played."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

from flask import Blueprint, render_template, url_for

from app.core.memoize import once
from app.learn.cards import pictures_version
from app.server import visitor
from engine.catalogue.bugs import entries
from engine.hunt.findings import FINDINGS
from engine.scenarios.script import comments_of
from engine.scenarios.translated import in_language

blueprint = Blueprint("hunt", __name__)


@once
def played() -> dict[str, Any]:
    """Return the results of `highwater hunt`: runs by storm and release, and hidden bugs."""
    data: dict[str, Any] = json.loads(
        resources.files("engine.hunt").joinpath("played.json").read_text("utf-8")
    )
    return data


@blueprint.get("/found")
def found() -> str:
    language = visitor.lang()
    rows = []
    for finding in FINDINGS:
        scenario = in_language(finding.scenario, language)
        rows.append((finding, scenario, comments_of(scenario.script)))
    return render_template(
        "hunt/found.html",
        rows=rows,
        codes=[each.code for each in FINDINGS],
        statements={bug.jira: bug.said_in(language)[0] for bug in entries()},
        pictures=url_for("shelf.sheet", version=pictures_version()),
        **played(),
    )
