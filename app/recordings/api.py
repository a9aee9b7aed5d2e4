"""Recordings of real brokers for the stage.

The moments of a recording as JSON, each compared with the run that the stage itself plays.

The page of a recording (`app.recordings.page`) lets the model follow what happened there.  On the
stage the script is played as it is written, so more may differ: every difference says why.
"""

from __future__ import annotations

from typing import TypedDict

from flask import Blueprint, Response

from app.core.memoize import last
from app.questions.names import library_names
from app.recordings.page import (
    KEPT,
    OF_RECORD,
    FactDifference,
    difference,
    seen_on,
    steps_at_rest,
    why_told,
)
from app.server import visitor
from app.server.services import services
from app.web import naming
from app.web.api import json_answer
from engine.model.errors import InputError
from engine.recordings.comparing import RecordedMoment, explanation, moments
from engine.recordings.facts import Row, facts_now, metadata_end, pairs
from engine.recordings.reading import INITIAL, Facts, Recording, records_of
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play

blueprint = Blueprint("recordings_api", __name__)


class ReplicaFacts(TypedDict):
    """Facts of a replica; `hw` is null where it is down and so cannot be known."""

    leo: int
    hw: int | None
    start: int
    epochs: list[list[int]]
    records: list[list[int | str | None]]


class MomentFacts(TypedDict):
    """Facts after a move, and those of `of` facts that differ from the run on the stage."""

    move: str
    record: dict[str, object]
    replicas: dict[str, ReplicaFacts]
    of: int
    differ: list[FactDifference]


@blueprint.get("/s/<name>/real/<kafka>/moments.json")
def recording_json(name: str, kafka: str) -> Response:
    """Return {moments: [{step, move, record, replicas, of, differ}], lost}.

    Each move at its number, at 0 the beginning; at `step` the run on the stage has played it.
    """
    scenario = naming.scenario_named(name)
    recording = seen_on(scenario.code, kafka[:20]).recording
    names = {broker.id: broker.label for broker in scenario.brokers}
    steps = steps_at_rest(Run(scenario, recording.profile), range(len(recording.moves) + 1))
    listed = [
        {"step": steps[moment.number], **_moment(moment, rows, recording, names)}
        for moment, rows in _played(scenario.code, recording.kafka)
    ]
    return json_answer({"ok": True, "moments": listed, "lost": recording.lost})


@last(KEPT)
def _played(code: str, kafka: str) -> tuple[tuple[RecordedMoment, tuple[Row, ...]], ...]:
    """Return each moment of a recording, and its facts beside those of the script as written."""
    scenario, recording = library_names()[code], seen_on(code, kafka).recording
    own = _as_written(scenario, recording)
    return tuple(
        (moment, tuple(pairs(moment.step.facts, facts)))
        for moment, facts in zip(moments(recording), own, strict=True)
    )


def _as_written(scenario: Scenario, recording: Recording) -> list[Facts]:
    """Return the facts of the run that the stage shows, after each move."""
    sim = Run(scenario, recording.profile).simulation()
    began = metadata_end(sim)
    facts = [facts_now(sim, began)]
    for move in recording.moves:
        try:
            for _ in play(sim, (move,)):
                pass
        except InputError:
            pass  # the stage leaves out what is refused, too
        facts.append(facts_now(sim, began))
    return facts


def _moment(
    moment: RecordedMoment, rows: tuple[Row, ...], recording: Recording, names: dict[int, str]
) -> MomentFacts:
    facts = moment.step.facts
    other = [row for row in rows if row[1] != row[2]]
    marks = all(fact.endswith(" HW") for fact, _, _ in other)
    differ = [_difference(moment, row, recording, names, marks) for row in other]
    brokers = [broker for broker in recording.assignment if f"b{broker} LEO" in facts]
    return {
        "move": "" if moment.step.move == INITIAL else moment.step.move,
        "record": {key: facts[fact] for fact, key in OF_RECORD.items() if fact in facts},
        "replicas": {str(broker): _replica(facts, f"b{broker}") for broker in brokers},
        "of": len(rows),
        "differ": differ,
    }


def _replica(facts: Facts, who: str) -> ReplicaFacts:
    start = int(facts.get(f"{who} start", 0))
    return {
        "leo": facts[f"{who} LEO"],
        "hw": facts.get(f"{who} HW"),
        "start": start,
        "epochs": facts.get(f"{who} epochs", []),
        "records": [[at, *record] for at, record in enumerate(records_of(facts, who), start)],
    }


def _difference(
    moment: RecordedMoment, row: Row, recording: Recording, names: dict[int, str], marks: bool
) -> FactDifference:
    return difference(row, names, *_why(moment, row, recording, marks))


def _why(moment: RecordedMoment, row: Row, recording: Recording, marks: bool) -> tuple[str, str]:
    """Return (why a fact is not as on the stage, the language of that).

    `marks`: only high watermarks differ.
    """
    fact, real, model = row
    why = explanation(recording.explained, moment.number, fact, real, model)
    why = why or next((other.why for other in moment.differences if other.fact == fact), "")
    if why:
        return why_told(recording, why)
    lang, words = visitor.lang(), services().words
    if recording.voters:
        return words.text(lang, "beside.why.chance", {}), lang
    if marks:
        return words.text(lang, "beside.why.mark", {}), lang
    return words.text(lang, "beside.why.order", {"plays": _order(recording, moment)}), lang


def _order(recording: Recording, moment: RecordedMoment) -> str:
    """Return what happened otherwise than written, up to a moment."""
    lang, words = visitor.lang(), services().words
    for step in recording.steps[1 : moment.number + 1]:
        if step.plays != (step.move,):
            plays = "; ".join(step.plays) or words.text(lang, "beside.why.nothing", {})
            return f"{step.move} → {plays}"
    return words.text(lang, "beside.why.late", {})
