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
from app.reading.files import IncidentFile
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
    readable = sources.readable_files(files)
    gathered = timeline.gather(readable, _chosen(readable, partition))
    gathered.notes[:0] = islice(sources.passed_over(files, readable), MOST_LISTED)
    if not gathered.states:
        return _without_states(gathered, as_json)
    rebuilt = reconstruction.rebuild(gathered, profile)
    if as_json:
        click.echo(json.dumps(_as_data(gathered, rebuilt), ensure_ascii=False, indent=1))
    else:
        click.echo("\n".join([*render.lines(gathered), *_run_lines(rebuilt)]))
    if out is not None:
        if rebuilt.run.moves is not None:
            raise InputError(
                "too_large", "The run is longer than a scenario may be; --json has it."
            )
        out.write_text(yaml_of(rebuilt.run.scenario), "utf-8")
        click.echo(f"The run is in {out}; highwater run {out} plays it.", err=True)
    return 1 if rebuilt.finding else 0


def _without_states(gathered: Timeline, as_json: bool) -> int:
    """Print what single lines contain of a partition, and what is missing for a run."""
    missing = render.missing(gathered)
    if as_json:
        click.echo(json.dumps(_of_timeline(gathered) | {"finding": missing, "run": None}))
    else:
        click.echo("\n".join([*render.lines(gathered), "", f"Finding: {missing}"]))
    return 1


def _chosen(readable: list[IncidentFile], partition: str) -> TopicIdentity:
    if partition:
        named = partition_named(partition)
        if named is None:
            raise InputError(
                "invalid", f"A partition is named like orders-0, not {partition[:80]}."
            )
        return named
    counted = timeline.partitions(readable)
    if len(counted) > 1:
        listed = ", ".join(f"{name} ({n})" for name, n in counted.most_common(MOST_LISTED))
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


def _as_data(gathered: Timeline, rebuilt: Rebuilt) -> Mapping[str, object]:
    return _of_timeline(gathered) | {
        "notes": [*gathered.notes, *rebuilt.notes],
        "profile": rebuilt.run.profile,
        "followed": rebuilt.followed,
        "finding": rebuilt.finding,
        "run": json.loads(rebuilt.run.text()),
    }


def _of_timeline(gathered: Timeline) -> dict[str, object]:
    return {
        "partition": str(gathered.partition),
        "kafka": gathered.version,
        "replicas": gathered.replicas,
        "states": [
            {"time_ms": state.time_ms, "where": state.where, "record": render.record(state.record)}
            for state in gathered.states
        ],
        "timeline": [
            {"time_ms": time_ms, "node": who, "what": what}
            for time_ms, who, what in render.rows(gathered)
        ],
        "clocks": {
            node: {"least_ms": skew.least, "most_ms": skew.most}
            for node, skew in sorted(gathered.clocks.skews.items())
        },
        "notes": gathered.notes,
        "followed": 0,
    }
