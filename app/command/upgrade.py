"""``highwater upgrade``: what another release mends, breaks or changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypedDict, final

import click

from app.command.options import AS_JSON, comma_separated, plain, tell
from engine.catalogue import bugs as known_bugs
from engine.catalogue.bug_matching import fitting
from engine.catalogue.bugs import MODES, Bug, features
from engine.model.errors import InputError
from engine.model.flags import release_of
from engine.upgrade import upgrade as advice
from engine.upgrade.upgrade import Change


@click.command()
@click.argument("before", required=False, default="")
@click.argument("after", required=False, default="")
@click.option("--mode", type=click.Choice(MODES[:2]), help="Kind of controller.", default=None)
@click.option(
    "--uses",
    help="Features that the cluster uses, separated by commas; others hide their bugs: "
    + ", ".join(features()),
)
@click.option("--line", help="List the bugs that match an error or log line.")
@AS_JSON
@plain
def upgrade(
    before: str, after: str, mode: str | None, uses: str | None, line: str | None, as_json: bool
) -> None:
    """List the bugs that an upgrade from BEFORE to AFTER fixes and adds, and its changes.

    Without AFTER it lists the known replication bugs of BEFORE, the most severe first.  BEFORE and
    AFTER are releases, log lines, or the output of --version.
    """
    if line is None and not before:
        raise click.UsageError("Name a release, such as 2.4.1, or an error with --line.")
    used = None if uses is None else _features(uses)
    old = known_bugs.release_in(before) if before else ""
    if line is not None:
        fits = [entry for entry in fitting(line, old) if not old or entry.affects(release_of(old))]
        sections: dict[str, Iterable[Bug | Change]] = {"fits": list(map(known_bugs.bug_of, fits))}
    elif not after:
        sections = {"bugs": known_bugs.bugs_of(old, mode or "")}
    else:
        answer = advice.upgrade(old, known_bugs.release_in(after), mode or "")
        sections = {
            "mended": answer.mended,
            "new bugs": answer.broken,
            "still there": answer.stay,
            "changed on purpose": answer.changed,
        }
    if used is not None:
        sections = {
            name: [
                entry for entry in rows if isinstance(entry, Change) or entry.entry.is_met_by(used)
            ]
            for name, rows in sections.items()
        }
    if as_json:
        tell({name: list(map(_row, rows)) for name, rows in sections.items()})
        return
    for name, rows in sections.items():
        click.echo(f"{name}: {len(list(rows))}")
        for row in rows:
            click.echo("\n".join(_lines(_row(row))))


def _features(text: str) -> frozenset[str]:
    """Return the features that a list names.  Raises InputError "unknown"."""
    named = frozenset(comma_separated(text))
    wrong = sorted(named - features().keys())
    if wrong:
        names = ", ".join(features())
        raise InputError(
            "unknown", f"--uses: there is no feature {wrong[0][:40]}; known are {names}."
        )
    return named


@final
class ChangeRow(TypedDict):
    """A change on purpose; `run`: the code of the scenario that shows it, or ""."""

    is_on: bool
    meaning: str
    source: str
    run: str


@final
class BugRow(TypedDict):
    """A bug; `run`: the code of the scenario that shows it, or "", and then why not."""

    severity: str
    jira: str
    statement: str
    since: str
    fixed: list[str]
    run: str
    not_played: str


def _row(row: Bug | Change) -> BugRow | ChangeRow:
    run = row.shown_by.code if row.shown_by else ""
    if isinstance(row, Change):
        return {
            "is_on": row.is_on,
            "meaning": row.flag.meaning,
            "source": row.flag.source,
            "run": run,
        }
    entry = row.entry
    return {
        "severity": entry.severity,
        "jira": entry.jira,
        "statement": entry.statement,
        "since": entry.introduced,
        "fixed": list(entry.fixed),
        "run": run,
        "not_played": "" if run else entry.not_played,
    }


def _lines(row: BugRow | ChangeRow) -> Iterator[str]:
    run = f"  (highwater run {row['run']})" if row["run"] else ""
    if "jira" in row:
        yield f"  {row['severity']}  {row['jira']}{run}"
        yield f"      {row['statement']}"
    else:
        yield f"  {'now' if row['is_on'] else 'no longer'}: {row['meaning']} ({row['source']}){run}"
