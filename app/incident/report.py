"""Report of an incident for a terminal: a timeline and a run from the files of a broken cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

import click

from app.incident import reconstruction, render, timeline
from app.incident.reconstruction import Rebuilt
from app.incident.timeline import Timeline
from app.reading import sources
from app.reading.names import TopicIdentity, partition_named
from engine.model.errors import InputError
from engine.scenarios.writing import yaml_of

MOST_LISTED = 40


def investigate(
    files: tuple[str, ...], partition: str, profile: str, out: Path | None, as_json: bool
) -> int:
    """Print what happened; return exit code 0 where the model follows to the end, else 1.

    Raises InputError where the files name no partition, or several.
    """
    found = sources.readable_files(files)
    told = timeline.gather(found, _chosen(found, partition))
    told.notes[:0] = islice(sources.passed_over(files, found), MOST_LISTED)
    if not told.states:
        return _without_states(told, as_json)
    rebuilt = reconstruction.rebuild(told, profile)
    if as_json:
        click.echo(json.dumps(_as_data(told, rebuilt), ensure_ascii=False, indent=1))
    else:
        click.echo("\n".join([*render.lines(told), *_run_lines(rebuilt)]))
    if out is not None:
        if rebuilt.run.moves is not None:
            raise InputError(
                "too_large", "The run is longer than a scenario may be; --json has it."
            )
        out.write_text(yaml_of(rebuilt.run.scenario), "utf-8")
        click.echo(f"The run is in {out}; highwater run {out} plays it.", err=True)
    return 1 if rebuilt.finding else 0


def _without_states(told: Timeline, as_json: bool) -> int:
    """Print what single lines contain of a partition, and what is missing for a run."""
    missing = render.missing(told)
    if as_json:
        click.echo(json.dumps(_of_timeline(told) | {"finding": missing, "run": None}))
    else:
        click.echo("\n".join([*render.lines(told), "", f"Finding: {missing}"]))
    return 1


def _chosen(found: list[sources.IncidentFile], partition: str) -> TopicIdentity:
    if partition:
        wanted = partition_named(partition)
        if wanted is None:
            raise InputError(
                "invalid", f"A partition is named like orders-0, not {partition[:80]}."
            )
        return wanted
    counted = timeline.partitions(found)
    if len(counted) > 1:
        listed = ", ".join(f"{one} ({n})" for one, n in counted.most_common(MOST_LISTED))
        raise InputError(
            "unknown",
            f"Choose one with --partition; how often each changed as far as the files tell: "
            f"{listed}.",
        )
    return next(iter(counted))


def _run_lines(rebuilt: Rebuilt) -> Iterator[str]:
    yield ""
    yield (
        f"The run, under {rebuilt.run.profile}: {rebuilt.followed} of {rebuilt.states} states of "
        "the record are reached by the model."
    )
    yield from (f"  {move}" for move in rebuilt.run.lines())
    yield from (f"Note: {note}" for note in rebuilt.notes)
    yield "Finding: " + (rebuilt.finding or "none; the model follows to the end.")


def _as_data(told: Timeline, rebuilt: Rebuilt) -> Mapping[str, object]:
    return _of_timeline(told) | {
        "notes": [*told.notes, *rebuilt.notes],
        "profile": rebuilt.run.profile,
        "followed": rebuilt.followed,
        "finding": rebuilt.finding,
        "run": json.loads(rebuilt.run.text()),
    }


def _of_timeline(told: Timeline) -> dict[str, object]:
    return {
        "partition": str(told.partition),
        "kafka": told.version,
        "replicas": told.replicas,
        "states": [
            {"time_ms": state.time_ms, "where": state.where, "record": render.record(state.record)}
            for state in told.states
        ],
        "timeline": [
            {"time_ms": time_ms, "node": who, "what": what}
            for time_ms, who, what in render.rows(told)
        ],
        "clocks": {
            node: {"least_ms": skew.least, "most_ms": skew.most}
            for node, skew in sorted(told.clocks.skews.items())
        },
        "notes": told.notes,
        "followed": 0,
    }
