"""Upgrade advice: what another release mends, breaks or changes, and whether a release is hit."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from flask import Blueprint, render_template, request, url_for

from app.server import visitor
from app.server.services import services
from engine.model.errors import InputError
from engine.model.flags import release_of
from engine.model.languages import words_of
from engine.scenarios.scenario import Scenario
from engine.scenarios.translated import in_language
from engine.sim.run import Run
from engine.upgrade import upgrade as advice
from engine.upgrade.ledger import features
from engine.upgrade.matching import fitting
from engine.upgrade.upgrade import Bug, Change

blueprint = Blueprint("upgrade", __name__)

JIRA = "https://issues.apache.org/jira/browse/"
LONGEST = advice.MOST_CHARACTERS


@blueprint.get("/upgrade")
def page() -> str:
    """Render an upgrade between two releases.

    ``?from=`` and ``?to=`` are releases, also as a pasted log line; ``?mode=`` is zk or kraft.
    Without ``?to=`` the known bugs of ``?from=`` are listed.  ``?uses=`` (repeated) are features of
    the cluster; with ``?only=1`` bugs that need others are left out.  ``?line=`` is an error or log
    line, for which the entries that fit are listed.
    """
    asked = {name: request.args.get(name, "")[:LONGEST] for name in ("from", "to", "mode", "line")}
    used = None
    if "only" in request.args:
        used = features().keys() & set(request.args.getlist("uses"))
    found: dict[str, Any] = {}
    problem = ""
    try:
        found = _answer(asked["from"].strip(), asked["to"].strip(), asked["mode"].strip(), used)
    except InputError as bad:
        problem = bad.sentence
    return render_template(
        "upgrade/page.html",
        asked=asked,
        used=used,
        features=list(features()),
        fits=_fitting(asked["line"], found.get("before", "")),
        problem=problem,
        **found,
    )


def _fitting(line: str, release: str) -> list[dict[str, Any]]:
    """Return the entries that fit a line, and whether the release has them; [] without a line."""
    shown = []
    for entry in fitting(line):
        hit = entry.affects(release_of(release)) if release else None
        newest = release or entry.last_affected
        shown.append(_bug(advice.bug_of(entry), newest, newest) | {"hit": hit})
    return shown


def _answer(old: str, new: str, mode: str, used: Set[str] | None) -> dict[str, Any]:
    if not old:
        return {}
    before = advice.release_in(old)
    modes = advice.modes_of(before)
    if not new:
        bugs = {"hit": advice.bugs_of(before, mode)}
        return {"before": before, "modes": modes} | _met(bugs, used, before, before)
    after = advice.release_in(new)
    found = advice.upgrade(before, after, mode)
    both = found.before, found.after
    bugs = {"mended": found.mended, "broken": found.broken, "stay": found.stay}
    changed = [_change(one, *both) for one in found.changed]
    return {"before": before, "after": after, "modes": modes, "changed": changed} | _met(
        bugs, used, *both
    )


def _met(
    sections: dict[str, tuple[Bug, ...]], used: Set[str] | None, before: str, after: str
) -> dict[str, Any]:
    """Return the bugs of each section that a cluster can meet, and the number of the `hidden`."""
    met = {
        name: [
            _bug(bug, before, after) for bug in bugs if used is None or bug.entry.is_met_by(used)
        ]
        for name, bugs in sections.items()
    }
    hidden = sum(map(len, sections.values())) - sum(map(len, met.values()))
    return {**met, "hidden": hidden}


def _bug(bug: Bug, before: str, after: str) -> dict[str, Any]:
    entry = bug.entry
    statement, not_played = entry.said_in(visitor.lang())
    return {
        "jira": entry.jira,
        "href": JIRA + entry.jira,
        "statement": statement,
        "uses": sorted(entry.uses),
        "severity": entry.severity,
        "where": entry.where,
        "since": entry.introduced,
        "fixed": entry.fixed,
        "run": _compared(bug.shown_by, before, after),
        "not_played": "" if bug.shown_by else not_played,
    }


def _change(change: Change, before: str, after: str) -> dict[str, Any]:
    tables = words_of("tables", visitor.lang())
    flag = change.flag
    return {
        "meaning": tables.get(f"flag.{flag.name}", flag.meaning),
        "source": flag.source,
        "is_on": change.is_on,
        "run": _compared(change.shown_by, before, after),
    }


def _compared(scenario: Scenario | None, before: str, after: str) -> dict[str, str] | None:
    """Return the address that plays the scenario under both releases, side by side."""
    if scenario is None:
        return None
    title = in_language(scenario, visitor.lang()).title
    if before == after:
        return {"title": title, "href": f"/s/{scenario.slug}?profile={before}"}
    digest = services().replays.register(Run(scenario, before))
    href = url_for("comparing.page", digest=digest) + f"?with={after}"
    return {"title": title, "href": href}
