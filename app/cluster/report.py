"""Report of a cluster for a terminal: a scenario from what Kafka's tools print of a cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from app.cluster.findings import report_of
from app.cluster.scenario import scenario_of
from app.core.words import Catalogue
from app.reading import paste
from app.reading.facts import Facts, Notice
from app.reading.names import topic_of
from engine.model.errors import InputError
from engine.model.json_types import Json
from engine.model.languages import USUAL
from engine.model.profiles import get_profile
from engine.scenarios.scenario import Scenario
from engine.scenarios.writing import yaml_of


def read_cluster(text: str, profile: str, out: Path | None, as_json: bool) -> int:
    """Print what was read, what is assumed and what could not be read.

    The exit code: 0 where all was read.  Raises InputError for a profile that does not exist.
    """
    words = Catalogue()
    facts = paste.read(text)
    if profile:
        facts.profile = get_profile(profile).name
    data, notes = scenario_of(facts, words.text(USUAL, "cluster.title.scenario", {}))
    scenario = None if data is None else Scenario.from_dict(data)

    def sentence(notice: Notice) -> str:
        worded = words.text(USUAL, notice.key, notice.args)
        return f"line {notice.line}: {worded}" if notice.line else worded

    problems = [sentence(problem) for problem in facts.problems]
    if as_json:
        answer = {
            "scenario": None if scenario is None else scenario.to_dict(),
            "notes": [sentence(note) for note in notes],
            "problems": problems,
        }
        click.echo(json.dumps(answer, ensure_ascii=False, indent=1))
    else:
        click.echo("\n".join(_lines(facts, data, notes, problems, sentence)))
    if out is not None:
        if scenario is None:
            raise InputError("unknown", "There is no partition to write.")
        out.write_text(yaml_of(scenario), "utf-8")
        click.echo(f"The run is in {out}; highwater run {out} plays it.", err=True)
    return 1 if problems or data is None else 0


def _lines(
    facts: Facts,
    data: Json | None,
    notes: list[Notice],
    problems: list[str],
    sentence: Any,
) -> Iterator[str]:
    if data is not None:
        for finding in report_of(data, facts)["findings"]:
            if finding["severity"] != "note":
                yield sentence(Notice(f"report.{finding['key']}", finding["args"]))
        states = zip(data["initial"]["partitions"], data["partitions"], strict=True)
        for state, replicas in states:
            leader = "none" if state["leader"] < 0 else state["leader"]
            elr = f", ELR {state['elr']}" if state["elr"] else ""
            least = facts.min_isr(topic_of(state["name"]))
            yield (
                f"{state['name']}: leader {leader}, replicas {replicas}, ISR {state['isr']}{elr}, "
                f"min.insync.replicas {least}"
            )
        yield f"Offline: {data['initial']['offline'] or 'none'}"
        yield f"Played: {data['profiles'][0]}"
        for topic, settings in facts.settings.items():
            values = ", ".join(f"{name}={value}" for name, value in settings.items())
            if values:
                yield f"Settings of {topic or 'the cluster'}: {values}"
    for note in notes:
        yield f"Note: {sentence(note)}"
        yield from (f"      or add: {choice.put}" for choice in note.choices)
    yield from (f"Not read: {problem}" for problem in problems)
