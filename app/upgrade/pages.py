"""Upgrade advice: what another release mends, breaks or changes, and whether a release is hit."""

from __future__ import annotations

from collections.abc import Set
from typing import TypedDict

from flask import Blueprint, redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from app.server import visitor
from app.server.services import services
from engine.catalogue import bugs as known_bugs
from engine.catalogue.bugs import Bug, features
from engine.model.errors import InputError
from engine.model.languages import words_of
from engine.scenarios.scenario import Scenario
from engine.scenarios.translated import in_language
from engine.sim.run import Run
from engine.upgrade import upgrade as advice
from engine.upgrade.upgrade import Change

blueprint = Blueprint("upgrade", __name__)

JIRA = "https://issues.apache.org/jira/browse/"
LONGEST = known_bugs.MOST_CHARACTERS


class BugCard(TypedDict):
    """A bug; `run`: title and address of the scenario that shows it, else `not_played` why not."""

    jira: str
    href: str
    statement: str
    uses: list[str]
    severity: str
    where: str
    since: str
    fixed: tuple[str, ...]
    run: dict[str, str] | None
    not_played: str


class ChangeCard(TypedDict):
    meaning: str
    source: str
    is_on: bool
    run: dict[str, str] | None


class UpgradeAnswer(TypedDict, total=False):
    """Answer of the page: `hit` for one release, the other lists for two, nothing for none.

    `hidden` counts the bugs that the cluster cannot meet.
    """

    before: str
    after: str
    modes: tuple[str, ...]
    hit: list[BugCard]
    mended: list[BugCard]
    broken: list[BugCard]
    stay: list[BugCard]
    changed: list[ChangeCard]
    hidden: int


@blueprint.get("/upgrade")
def page() -> str | Response:
    """Render an upgrade between two releases.

    ``?from=`` and ``?to=`` are releases, also as a pasted log line; ``?mode=`` is zk or kraft.
    Without ``?to=`` the known bugs of ``?from=`` are listed.  ``?uses=`` (repeated) are features of
    the cluster; with ``?only=1`` bugs that need others are left out.  With an error or log line as
    ``?line=`` the box reads it.
    """
    fields = {name: request.args.get(name, "")[:LONGEST] for name in ("from", "to", "mode", "line")}
    if fields["line"].strip():
        release = f"\nKafka version: {fields['from']}" if fields["from"] else ""
        return redirect(url_for("cluster.page", ask=fields["line"] + release))
    used = None
    if "only" in request.args:
        used = features().keys() & set(request.args.getlist("uses"))
    answer: UpgradeAnswer = {}
    problem = ""
    try:
        answer = _answer(fields["from"].strip(), fields["to"].strip(), fields["mode"].strip(), used)
    except InputError as bad:
        problem = bad.sentence
    return render_template(
        "upgrade/page.html",
        asked=fields,
        used=used,
        features=list(features()),
        problem=problem,
        **answer,
    )


def _answer(old: str, new: str, mode: str, used: Set[str] | None) -> UpgradeAnswer:
    if not old:
        return {}
    before = known_bugs.release_in(old)
    modes = known_bugs.modes_of(before)
    if not new:
        bugs = known_bugs.bugs_of(before, mode)
        hit = _met(bugs, used, before, before)
        return {"before": before, "modes": modes, "hit": hit, "hidden": len(bugs) - len(hit)}
    after = known_bugs.release_in(new)
    advised = advice.upgrade(before, after, mode)
    both = advised.before, advised.after
    sections = advised.mended, advised.broken, advised.stay
    mended, broken, stay = (_met(bugs, used, *both) for bugs in sections)
    shown = len(mended) + len(broken) + len(stay)
    return {
        "before": before,
        "after": after,
        "modes": modes,
        "changed": [_change(change, *both) for change in advised.changed],
        "mended": mended,
        "broken": broken,
        "stay": stay,
        "hidden": sum(map(len, sections)) - shown,
    }


def _met(bugs: tuple[Bug, ...], used: Set[str] | None, before: str, after: str) -> list[BugCard]:
    return [_bug(bug, before, after) for bug in bugs if used is None or bug.entry.is_met_by(used)]


def _bug(bug: Bug, before: str, after: str) -> BugCard:
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
        "run": _compared(bug.shown_by, before, after, bug.moves),
        "not_played": "" if bug.shown_by else not_played,
    }


def _change(change: Change, before: str, after: str) -> ChangeCard:
    tables = words_of("tables", visitor.lang())
    flag = change.flag
    return {
        "meaning": tables.get(f"flag.{flag.name}", flag.meaning),
        "source": flag.source,
        "is_on": change.is_on,
        "run": _compared(change.shown_by, before, after),
    }


def _compared(
    scenario: Scenario | None, before: str, after: str, moves: tuple[str, ...] = ()
) -> dict[str, str] | None:
    """Return the address that plays the scenario under both releases, side by side."""
    if scenario is None:
        return None
    title = in_language(scenario, visitor.lang()).title
    if before == after and not moves:
        return {"title": title, "href": f"/s/{scenario.slug}?profile={before}"}
    digest = services().replays.register(Run(scenario, before, moves=moves or None))
    if before == after:
        return {"title": title, "href": f"/r/{digest}"}
    href = url_for("comparing.page", digest=digest) + f"?with={after}"
    return {"title": title, "href": href}
