"""Page of real brokers: scenarios that were played on them, beside the model.

Both pictures are drawn from recorded facts alone, by the same function, so that what looks
different is different, and nothing is shown of real brokers that was not read from them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypedDict, cast

from flask import Blueprint, render_template, request, url_for
from markupsafe import Markup

from app.core.memoize import last, once
from app.core.refusals import RequestError
from app.core.request_fields import whole_number
from app.questions.names import library_names
from app.server import visitor
from app.server.services import services
from app.web import naming
from app.web.moments import address
from engine.export import tanks
from engine.model.json_types import Json
from engine.model.languages import USUAL
from engine.model.profiles import get_profile
from engine.recordings.by_chance import totals
from engine.recordings.comparing import Difference, RecordedMoment, compare, moments
from engine.recordings.facts import Row
from engine.recordings.reading import INITIAL, Facts, Recording, own, records_of, release_order
from engine.scenarios.scenario import Scenario
from engine.scenarios.translated import in_language
from engine.sim.run import Run
from engine.view.wire import View

blueprint = Blueprint("recordings", __name__)

WIDTH: Final = 560
HEIGHT: Final = 330
SIDES: Final = ("both", "real", "model")
KEPT: Final = 8
OF_RECORD: Final = {
    "leader": "leader",
    "leaderEpoch": "le",
    "partitionEpoch": "pe",
    "isr": "isr",
    "elr": "elr",
    "lastKnownElr": "lastKnown",
    "recovering": "recovering",
}
"""Facts of a partition's record, and their names in JSON."""
OF_REPLICA: Final = ("LEO", "HW", "start", "epochs", "log")
OF_VOTER: Final = ("state", "epoch", "leader", "vote", "end", "HW", "epochs")
OF_GROUP: Final = ("state", "coordinator", "members", "offsets")
OF_MEMBER: Final = ("alive", "member", "generation", "owns", "at", "polled", "failed")
_OTHER_LEADER: Final = re.compile(r"p(\d+) leader")
_REPLICA: Final = re.compile(r"b(\d+)(?::\d+)?")
NOT_SAID: Final = "–"


class RecordingBadge(TypedDict):
    """Sums over the recordings of a scenario, and the profile that plays each release."""

    releases: list[str]
    profiles: dict[str, str]
    equal: int
    explained: int
    different: int
    href: str


class FactCell(TypedDict):
    """A fact on both sides; `first`: it is the first that differs."""

    key: str
    real: str
    model: str
    differs: bool
    first: bool


class FactCells(TypedDict):
    """Facts of a replica, a voter, a group or one of its clients."""

    name: str
    down: bool
    cells: list[FactCell]


class FactTable(TypedDict):
    """Facts of one kind: of a partition its record, and rows; `head`, `note` are keys of words."""

    note: str
    number: int
    record: list[FactCell]
    head: str
    rows: list[FactCells]


class MomentTables(TypedDict):
    """Facts of a moment; `refused`: why the model does not play the move, or ""."""

    tables: list[FactTable]
    refused: str


class FactDifference(TypedDict):
    """A fact that is not the same, and why, in the language `lang`.

    It is of a broker, of the `whose` it is (a voter, a group, a client), or of the record.
    """

    broker: str | None
    whose: str | None
    key: str
    real: str
    model: str
    why: str
    lang: str


@dataclass(frozen=True)
class RecordingResult:
    """Results of a scenario on one release: facts equal, explained by the recording, neither.

    And the acknowledged records that the brokers lost.
    """

    recording: Recording
    equal: int
    explained: int
    different: int

    @property
    def kafka(self) -> str:
        return self.recording.kafka


@once
def results_by_scenario() -> dict[str, tuple[RecordingResult, ...]]:
    """Return code -> results of its recordings, the oldest release first.

    A recording counts as long as the script still is what was recorded.
    """
    by_scenario: dict[str, list[RecordingResult]] = {}
    names = library_names()
    for recording in sorted(own(), key=lambda each: release_order(each.kafka)):
        scenario = names.get(recording.scenario)
        if scenario is not None and moves_of(scenario, recording.profile) == recording.moves:
            comparison = compare(recording)
            counts = comparison.equal, len(comparison.explained), len(comparison.different)
            by_scenario.setdefault(scenario.code, []).append(RecordingResult(recording, *counts))
    return {code: tuple(all_of_it) for code, all_of_it in by_scenario.items()}


def moves_of(scenario: Scenario, profile: str) -> tuple[str, ...]:
    """Return the moves that a script plays under a profile."""
    return tuple(line.text for line in scenario.lines(profile) if not line.is_expect)


def seen_of(scenario: Scenario) -> tuple[RecordingResult, ...]:
    """Return the results of this very scenario."""
    return results_by_scenario().get(scenario.code, ()) if naming.in_library(scenario) else ()


def badge(scenario: Scenario) -> RecordingBadge | None:
    """Return the badge of a scenario's page; None if it was never played on brokers."""
    all_of_it = seen_of(scenario)
    if not all_of_it:
        return None
    return {
        "releases": [result.kafka for result in all_of_it],
        "profiles": {result.kafka: result.recording.profile for result in all_of_it},
        "equal": sum(result.equal for result in all_of_it),
        "explained": sum(result.explained for result in all_of_it),
        "different": sum(result.different for result in all_of_it),
        "href": url_for("recordings.recorded_moment", name=scenario.code, kafka=all_of_it[0].kafka),
    }


@last(KEPT)
def _moments(code: str, kafka: str) -> tuple[RecordedMoment, ...]:
    return tuple(moments(seen_on(code, kafka).recording))


def seen_on(code: str, kafka: str) -> RecordingResult:
    """Return the results of a scenario on one release.

    Raises RequestError where there are none.
    """
    for result in results_by_scenario().get(code, ()):
        if result.kafka == kafka:
            return result
    raise RequestError("not_found")


# -- a picture of facts ----------------------------------------------------------------------------


def standing(recording: Recording, names: Mapping[int, str], now: Facts, before: Facts) -> View:
    """Return facts as those parts of a view that `tanks.draw` draws; a recording has no others.

    Where a broker is down its high watermark is unknown: the water stands where it stood `before`.
    """
    brokers = sorted(recording.assignment)
    leader, isr = now.get("leader", -1), now.get("isr", [])
    parts: Json = {
        "brokers": [
            {
                "id": broker,
                "name": names.get(broker, str(broker)),
                "alive": "down" if _is_down(now, broker) else "up",
                "fenced": False,
            }
            for broker in brokers
        ],
        "partitions": [
            {
                "p": 0,
                "same": 0,
                "differ": None,
                "record": {"leader": leader, "le": now.get("leaderEpoch", 0), "isr": isr},
                "replicas": {
                    str(broker): _replica(broker, leader, now, before) for broker in brokers
                },
            }
        ],
        "ledger": {"lost": []},
    }
    return cast(View, parts)


def _is_down(facts: Facts, broker: int) -> bool:
    """Check whether a broker is down: a recording has the high watermark of all that run."""
    return f"b{broker} LEO" in facts and f"b{broker} HW" not in facts


def _replica(broker: int, leader: int, now: Facts, before: Facts) -> Json:
    who = f"b{broker}"
    hw = now.get(f"{who} HW", before.get(f"{who} HW")) or 0
    records = _records(now, who)
    held = {record["o"]: record["id"] for record in records}
    return {
        "leo": now.get(f"{who} LEO", 0),
        "hw": hw,
        "start": now.get(f"{who} start", 0),
        "role": "leader" if broker == leader else "follower",
        "belief": {"leader": leader, "le": now.get("leaderEpoch", 0)},
        "fetch": {},
        "blocks": [],
        "runs": [],
        "records": records,
        "cut": [
            record
            for record in _records(before, who)
            if held.get(record["o"]) != record["id"] and record["o"] >= now.get(f"{who} start", 0)
        ],
    }


def _records(facts: Facts, who: str) -> list[Json]:
    first = int(facts.get(f"{who} start", 0))
    return [
        {"id": name, "o": offset, "e": epoch or 0, "acked": False}
        for offset, (name, epoch) in enumerate(records_of(facts, who), first)
    ]


def sides(recorded: tuple[RecordedMoment, ...], at: int) -> tuple[Facts, Facts, Facts, Facts]:
    """Return (real now, model now, real before, model before), each with recorded facts only.

    What was known of a broker's mark is carried along while it is down.
    """
    states: list[Facts] = [{}, {}, {}, {}]
    for moment in recorded[: at + 1]:
        states[2], states[3] = states[2] | states[0], states[3] | states[1]
        states[0] = {fact: real for fact, real, _ in moment.rows}
        states[1] = {fact: own for fact, _, own in moment.rows}
    return states[0], states[1], states[2], states[3]


# -- the page --------------------------------------------------------------------------------------


@blueprint.get("/s/<name>/real/<kafka>")
def recorded_moment(name: str, kafka: str) -> str:
    """Render a moment of a recording: ``?at=`` which, ``?show=`` real, model or both."""
    scenario = naming.scenario_named(name)
    result = seen_on(scenario.code, kafka[:20])
    recorded = _moments(scenario.code, result.kafka)
    place = whole_number(request.args.get("at", "0"))
    at = min(place if place is not None else 0, len(recorded) - 1)
    show = request.args.get("show", "")
    show = show if show in SIDES else SIDES[0]
    names = {broker.id: broker.label for broker in scenario.brokers}
    return render_template(
        "recordings/seen.html",
        scenario=in_language(scenario, visitor.lang()),
        one=result,
        releases=[other.kafka for other in seen_of(scenario)],
        profile=get_profile(result.recording.profile),
        at=at,
        last=len(recorded) - 1,
        show=show,
        moment=recorded[at],
        comment=_comment(scenario, result.recording.profile, at),
        pictures=_pictures(result.recording, names, recorded, at, show),
        size=(WIDTH, HEIGHT),
        rows=_facts(recorded[at], names, 1 + len(result.recording.others)),
        first=_first(recorded[at].differences, names, result.recording),
        turns=[moment.number for moment in recorded if moment.differences],
        moves=[moment.step.move for moment in recorded],
        lost=result.recording.lost if at == len(recorded) - 1 else [],
        stage=_stage(scenario, result.recording.profile, at),
        initial=INITIAL,
    )


def _comment(scenario: Scenario, profile: str, at: int) -> str:
    """Return the script's comment on the move before this moment."""
    spoken = in_language(scenario, visitor.lang()).lines(profile)
    return [line for line in spoken if not line.is_expect][at - 1].comment if at else ""


def _pictures(
    recording: Recording,
    names: Mapping[int, str],
    recorded: tuple[RecordedMoment, ...],
    at: int,
    show: str,
) -> list[dict[str, str]]:
    say = partial(services().words.text, visitor.lang())
    real, model, real_before, model_before = sides(recorded, at)
    both = (("real", real, real_before), ("model", model, model_before))
    return [
        {
            "side": side,
            "inside": Markup(
                tanks.draw(
                    standing(recording, names, now, before),
                    WIDTH,
                    HEIGHT,
                    say=say,
                    prefix=side,
                )
            ),
        }
        for side, now, before in both
        if show in (side, "both")
    ]


def _facts(moment: RecordedMoment, names: Mapping[int, str], topic: int) -> MomentTables:
    """Return the recorded facts of a moment beside those of the model.

    `topic`: how many partitions the topic has.
    """
    values = {fact: (real, own) for fact, real, own in moment.rows}
    first = moment.differences[0].fact if moment.differences else ""

    def cell(fact: str, key: str) -> FactCell:
        real, model = values.get(fact, (None, None))
        return {
            "key": key,
            "real": format_fact(key, real, names) if fact in values else NOT_SAID,
            "model": format_fact(key, model, names) if fact in values else NOT_SAID,
            "differs": real != model,
            "first": fact == first,
        }

    def rows(whose: Mapping[str, str], keys: tuple[str, ...]) -> list[FactCells]:
        return [
            {
                "name": name,
                "down": f"{who} LEO" in values and f"{who} HW" not in values,
                "cells": [cell(f"{who} {key}", key) for key in keys],
            }
            for who, name in whose.items()
        ]

    def copies(partition: str, place: str, note: str, number: int = 0) -> FactTable:
        present = {f"b{id}{place}": name for id, name in names.items()}
        record = [(f"{partition}{fact}", fact) for fact in OF_RECORD]
        return {
            "note": note,
            "number": number,
            "record": [cell(fact, key) for fact, key in record if fact in values],
            "head": "plain.broker",
            "rows": rows({b: n for b, n in present.items() if f"{b} LEO" in values}, OF_REPLICA),
        }

    def others(head: str, mark: str, keys: tuple[str, ...], note: str = "") -> FactTable:
        """Return the facts of all that have the fact `mark`, which nothing else has."""
        whose = sorted(fact.split()[0] for fact in values if fact.endswith(f" {mark}"))
        facts = rows({who: who for who in whose}, keys)
        return {"note": note, "number": 0, "record": [], "head": head, "rows": facts}

    numbers = [int(match[1]) for fact in values if (match := _OTHER_LEADER.fullmatch(fact))]
    tables = [
        copies("", "", ""),
        others("seen.voter", "epoch", OF_VOTER, "seen.voters"),
        others("seen.group", "coordinator", OF_GROUP),
        others("seen.client", "alive", OF_MEMBER),
        *(
            copies(f"p{n} ", f":{n}", "seen.partition" if n < topic else "seen.offsets", n)
            for n in numbers
        ),
    ]
    return {
        "tables": [table for table in tables if table["rows"]],
        "refused": next((str(own) for fact, _, own in moment.rows if fact == "move"), ""),
    }


def format_fact(key: str, value: Any, names: Mapping[int, str]) -> str:
    """Return a fact as people write it: brokers by name, epochs as epoch:start."""
    if value is None or value == "" or value == []:
        return NOT_SAID
    if isinstance(value, bool):
        return "✓" if value else NOT_SAID
    if key == "state":
        return services().words.text(visitor.lang(), f"seen.state.{value}", {})
    if key in ("members", "offsets", "at"):
        pairs = [(who, what if isinstance(what, list) else [what]) for who, what in value]
        return ", ".join(f"{who}: {' '.join(map(str, what)) or NOT_SAID}" for who, what in pairs)
    if key in ("owns", "polled"):
        return " ".join(map(str, value))
    if key in ("leader", "coordinator"):
        return names.get(value, NOT_SAID)
    if key in ("isr", "elr", "lastKnownElr"):
        return ", ".join(names.get(broker, str(broker)) for broker in value)
    if key == "epochs":
        return " ".join(f"{epoch}:{start}" for epoch, start in value)
    return str(value)


def _first(
    differences: tuple[Difference, ...], names: Mapping[int, str], recording: Recording
) -> FactDifference | None:
    """Return the first fact that is not the same, and why."""
    if not differences:
        return None
    earliest = differences[0]
    return difference(
        (earliest.fact, earliest.real, earliest.model), names, *why_told(recording, earliest.why)
    )


def difference(row: Row, names: Mapping[int, str], why: str, lang: str) -> FactDifference:
    """Return a fact that is not the same, as people write it."""
    fact, real, model = row
    who, _, what = fact.partition(" ")
    key = what or who
    replica = _REPLICA.fullmatch(who) if what else None
    return {
        "broker": names.get(int(replica[1])) if replica else None,
        "whose": who if what and not replica else None,
        "key": key,
        "real": format_fact(key, real, names),
        "model": format_fact(key, model, names),
        "why": why,
        "lang": lang,
    }


def why_told(recording: Recording, why: str) -> tuple[str, str]:
    """Return (a recording's explanation, its language): the visitor's where there is one."""
    own = recording.told.get((visitor.lang(), why))
    return (own, visitor.lang()) if own else (why, USUAL)


def _stage(scenario: Scenario, profile: str, at: int) -> str:
    """Return the address of the model after `at` moves, with all that no recorder sees."""
    (step,) = steps_at_rest(Run(scenario, profile), [at])
    return address(f"/s/{scenario.code}", profile=profile, step=str(step))


def steps_at_rest(run: Run, moves: Iterable[int]) -> list[int]:
    """Return the step at which a run rests after each of these numbers of moves."""
    digest = services().replays.register(run)
    with services().replays.using(digest) as replay:
        starts = [(line, max(0, step - 1)) for step, line in replay.begun()]
        return [
            next((step for line, step in starts if line >= played), replay.total)
            for played in moves
        ]


@blueprint.get("/real")
def table() -> str:
    """Render the table of scenarios and the releases that they were played on."""
    scenarios = {code: library_names()[code] for code in results_by_scenario()}
    releases = sorted(
        {result.kafka for all_of_it in results_by_scenario().values() for result in all_of_it}
    )
    every = [result for all_of_it in results_by_scenario().values() for result in all_of_it]
    return render_template(
        "recordings/real.html",
        releases=sorted(releases, key=release_order),
        rows=[
            {
                "scenario": in_language(scenarios[code], visitor.lang()),
                "cells": {result.kafka: result for result in all_of_it},
            }
            for code, all_of_it in sorted(results_by_scenario().items())
        ],
        equal=sum(result.equal for result in every),
        explained=sum(result.explained for result in every),
        different=sum(result.different for result in every),
        count=len(every),
        chance=totals(),
        chance_scripts=sum(total.scripts for total in totals()),
        chance_equal=sum(total.equal for total in totals()),
    )
