"""Pages and JSON of batches: the form, progress and result, replay of a failing run."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final, TypedDict

from flask import Blueprint, Response, redirect, render_template, request, url_for
from flask.sansio.blueprints import BlueprintSetupState
from werkzeug.wrappers import Response as AnyResponse

from app.advisor.result import promised
from app.batch import estimate as batch_estimate
from app.batch import records, statistics
from app.batch.bounds import CELLS_MOST, PROFILES_MOST, RUNS_MOST
from app.batch.pairs import SHOWN_MOST as PAIRS_SHOWN
from app.batch.poster import markdown_table, notebook_cell, poster, varied
from app.batch.result import FAILURES_SHOWN, result
from app.batch.spec import asked_spec
from app.batch.study_pages import (
    TITLE_MOST,
    jobs,
    other_studies,
    other_than,
    own_studies,
    scenario_title,
    title_of,
)
from app.batch.wire import BatchResult
from app.bootstrap import OF_STUDIES
from app.core import installing
from app.core.refusals import RequestError
from app.core.request_fields import RequestFields, one_of, typed
from app.questions.names import digest_asked
from app.server import api_schema, visitor
from app.server.services import apart, services
from app.storage.batch_fields import ACTIVE, ENDED, BatchState
from app.storage.models import BatchRow
from app.web import display_names, naming
from app.web.api import body, json_answer
from app.web.moments import address
from app.web.pages import words
from engine.model.profiles import PROFILES
from engine.scenarios import file
from engine.scenarios.delays import varies
from engine.scenarios.random_twin import random_twin
from engine.scenarios.scenario import Scenario
from engine.scenarios.translated import in_language
from engine.sim.run import Run

blueprint = Blueprint("batches", __name__)

RUNS_USUAL: Final = 100
VARY_CHARS: Final = 200
"""Of a line of varied values that the address of the form brings along."""

FILTERS: dict[str, Callable[[Any], str]] = {
    "whole": lambda number: statistics.whole(number),
    "share": lambda share: statistics.shown_share(share),
    "figure": lambda value: statistics.shown_figure(value),
    "difference": lambda share: statistics.shown_difference(share),
}

EXAMPLES = (
    "min.insync.replicas=1,2",
    "network.delay_ms=0,10,100",
    "network.loss=0,0.01,0.1",
    "brokers=3,5",
)


@blueprint.record
def _filters(state: BlueprintSetupState) -> None:
    state.app.jinja_env.filters.update(FILTERS)


def scenario_asked(fields: RequestFields) -> Scenario:
    """Return a scenario by name, that of a study, or that of a run with its moves as the script."""
    if fields.has("run"):
        return scenario_of_run(services().replays.run(digest_asked(fields)))
    if fields.has("again"):
        return records.scenario_of(jobs().batch(fields.text("again")))
    return naming.scenario_named(fields.text("scenario"))


def scenario_of_run(run: Run) -> Scenario:
    """Return a scenario for a batch of this run: every seed plays the moves made by hand."""
    if run.moves is None:
        scenario: Scenario = run.scenario
        return scenario
    played = run.scenario.to_dict()
    played.update(script="\n".join(run.moves), expect={}, profiles=[run.profile])
    return Scenario.from_dict(played)


@blueprint.get("/batch")
def form() -> str:
    """Render the form of a batch, and the batches run before."""
    library = list(file.library().values())
    fixed, chosen, before = _chosen()
    scale = [scenario for scenario in library if "scale" in scenario.tags]
    saved = [(row.digest, row.title) for row in services().store.scenarios(50, visitor.owner())]
    first = chosen or next(iter(scale or library), None)
    facts = {scenario.slug: _facts(scenario) for scenario in library}
    if chosen is not None:
        facts[chosen.slug or chosen.digest] = _facts(chosen)
    start: dict[str, object] = {"runs": RUNS_USUAL, "first_seed": 0, "vary": [], "profiles": []}
    if first:
        start |= facts[first.slug or first.digest]
    start |= before
    boot = {
        "scenarios": facts,
        "fixed": fixed,
        "examples": EXAMPLES,
        "limits": {"runs": RUNS_MOST, "profiles": PROFILES_MOST, "cells": CELLS_MOST},
        "lang": visitor.lang(),
    }
    return render_template(
        "batch/form.html",
        boot=boot,
        chosen=first,
        fixed=fixed,
        facts=start,
        scale=scale,
        plain=[scenario for scenario in library if "scale" not in scenario.tags],
        saved=saved,
        profiles=list(PROFILES.values()),
        named=set(PROFILES),
        examples=EXAMPLES,
        own=own_studies(),
        others=other_studies(),
        installing=(waits := installing.refusal()),
        playable=installing.refusal(OF_STUDIES) is None,
        spark="Spark" if waits else str(jobs().runner),
    )


class FormValues(TypedDict, total=False):
    """Fields of the form as they were in a study; `vary` as lines."""

    profiles: list[str]
    runs: int
    first_seed: int
    vary: list[str]


class ScenarioFacts(TypedDict):
    """Scenario as the form shows it; `random`: seeds can make a difference."""

    name: str
    title: str
    teaches: str
    profiles: list[str]
    random: bool


def _chosen() -> tuple[dict[str, str], Scenario | None, FormValues]:
    """Return (form fields in place of a name, the scenario, the first values of the form).

    The address decides: ``?run=`` takes the moves of a run, ``?again=`` a study to change,
    ``?scenario=`` a scenario by name; without any of them the scenario is None.
    """
    run, again = request.args.get("run", ""), request.args.get("again", "")
    if run:
        return {"run": run}, scenario_of_run(naming.run_named(run)), {}
    if again:
        batch = jobs().batch(again)
        scenario = records.scenario_of(batch)
        fixed = {} if naming.in_library(scenario) else {"again": batch.id}
        return fixed, scenario, _asked_before(batch)
    if request.args.get("scenario"):
        return {}, naming.scenario_named(request.args["scenario"]), {}
    return {}, None, {}


def _asked_before(batch: BatchRow) -> FormValues:
    """Return the fields of the form as they were when a study was asked for."""
    vary = [f"{key}={','.join(values)}" for key, values in varied(batch).items()]
    more = request.args.get("vary", "")[:VARY_CHARS]
    return {
        "profiles": batch.profiles,
        "runs": batch.runs,
        "first_seed": batch.first_seed,
        "vary": [*vary, more] if more else vary,
    }


def _facts(scenario: Scenario) -> ScenarioFacts:
    translated = in_language(scenario, visitor.lang())
    return {
        "name": scenario.slug or scenario.digest,
        "title": translated.title,
        "teaches": translated.teaches,
        "profiles": list(scenario.profiles)[:PROFILES_MOST],
        "random": is_random(scenario),
    }


def is_random(scenario: Scenario) -> bool:
    """Return True if seeds can make any difference."""
    network = scenario.network
    return bool(
        scenario.faults
        or scenario.workload.producers
        or network.loss
        or varies(network.delay_ms)
        or varies(network.control_delay_ms)
    )


@blueprint.get("/batch/twin")
def twin() -> AnyResponse:
    """Open the form for the random twin of a scenario (``?scenario=``) or of a run (``?run=``)."""
    _, scenario, _ = _chosen()
    if scenario is None:
        raise RequestError("not_found")
    made = random_twin(scenario)
    digest = services().replays.register(Run(made, made.profiles[0]))
    return redirect(url_for("batches.form", run=digest))


@blueprint.post("/api/batches")
@api_schema.declare(
    api_schema.BatchStarted,
    201,
    takes=api_schema.BatchSent,
    example={"scenario": "S74", "runs": 20},
)
def submit() -> Response:
    """Submit a study and return its number and address.

    The body is {scenario | run | again, runs, profiles: [...], vary: ["key=v1,v2"], first_seed}.
    """
    visitor.require_token()
    visitor.limit_saves()
    given = body()
    number = jobs().submit(asked_spec(given, scenario_asked(given)), *visitor.owner_and_account())
    url = address(f"/batch/{number}", **visitor.lang_query())
    return json_answer({"ok": True, "id": number, "url": url, **visitor.new_key()}, 201)


@blueprint.post("/batch")
def submit_form() -> AnyResponse:
    """Submit a study from the form itself, for a page without scripts."""
    visitor.require_token()
    visitor.limit_saves()
    sent = request.form
    given = RequestFields(
        {
            "scenario": sent.get("scenario") or None,
            "run": sent.get("run") or None,
            "again": sent.get("again") or None,
            "runs": typed(sent, "runs"),
            "first_seed": typed(sent, "first_seed", default=0),
            "profiles": sent.getlist("profiles") or None,
            "within": typed(sent, "within", default=0),
            "vary": [line for line in sent.get("vary", "").splitlines() if line.strip()],
        }
    )
    number = jobs().submit(asked_spec(given, scenario_asked(given)), *visitor.owner_and_account())
    return redirect(address(f"/batch/{number}", **visitor.lang_query()), 303)


@blueprint.post("/api/batches/estimate")
@api_schema.declare(
    api_schema.Estimated, takes=api_schema.BatchSent, example={"scenario": "S74", "runs": 20}
)
def estimate() -> Response:
    """Play a few runs to estimate the time of all of them, and to find what would go wrong."""
    visitor.require_token()
    visitor.limit_saves()
    given = body()
    spec = asked_spec(given, scenario_asked(given))
    installing.require()
    estimated = apart(
        batch_estimate.estimate,
        spec,
        os.cpu_count() or 1 if installing.refusal() else jobs().runner.cores(),
    )
    notes = [note.sentence(visitor.lang()) for note in estimated["notes"]]
    return json_answer({"ok": True, **estimated, "notes": notes})


@blueprint.get("/batch/<number>")
def page(number: str) -> str:
    """Render the progress of the batch, then its result, both also without a script."""
    shown: dict[str, Any] = {**_result(number)}
    batch = jobs().batch(number)
    scenario = records.scenario_of(batch)
    shown["scenario"] = {**shown["scenario"], "title": scenario_title(batch)}
    shown.update(title=title_of(batch), named=batch.title)
    shown["causes"] = [
        {**cause, "called": display_names.rule(cause["rule"], words)} for cause in shown["causes"]
    ]
    if shown["said"]:
        shown["message"] = words(shown["said"]["key"], **shown["said"]["args"])
    active = shown["state"] in ACTIVE
    summary = poster(jobs().database, batch, shown["cells"])
    source = _source(batch)
    return render_template(
        "batch/result.html",
        batch=shown,
        poster=summary,
        source=source,
        copies={
            "sentence": " ".join(
                [
                    *(words(sentence["key"], **sentence["args"]) for sentence in summary["said"]),
                    source,
                ]
            ),
            "table": markdown_table(summary["rows"], words, source),
            "cell": notebook_cell(batch, scenario, naming.in_library(scenario)),
        },
        active=active,
        State=BatchState,
        promised=promised(batch) if shown["cycles"] else None,
        title_most=TITLE_MOST,
        pairs_most=PAIRS_SHOWN,
        orders=list(records.ORDERS),
        others=other_than(number),
        cells=enumerate(cell["label"] for cell in batch.cells),
        mine=batch.owner == visitor.owner(),
        filter={
            **asdict(failures_wanted()),
            "size": FAILURES_SHOWN,
        },
        boot={
            "batch": shown,
            "active": active,
            "ended": ENDED,
            "lang": visitor.lang(),
        },
    )


def _source(batch: BatchRow) -> str:
    """Return what repeats a study: it stands below all that is quoted of it."""
    return words(
        "batch.source",
        title=scenario_title(batch),
        digest=records.scenario_of(batch).digest,
        releases=", ".join(display_names.kafka(profile) for profile in batch.profiles),
        runs=statistics.whole(batch.runs),
        first=batch.first_seed,
        last=batch.first_seed + batch.runs - 1,
        engine=batch.engine_version,
        url=f"{request.host_url.rstrip('/')}/batch/{batch.id}",
    )


@blueprint.get("/api/batches/<number>")
@api_schema.declare(api_schema.BatchTold, asks=api_schema.FailuresAsked)
def get_batch(number: str) -> Response:
    return json_answer({"ok": True, **_result(number)})


def failures_wanted() -> records.FailureFilter:
    """Return which failing runs the address asks for."""
    return records.FailureFilter(
        request.args.get("profile", "")[:120],
        request.args.get("invariant", "")[:40],
        typed(request.args, "cell", high=CELLS_MOST, default=records.EVERY_CELL),
        one_of(request.args.get("order", "seed"), "order", records.ORDERS),
    )


def _result(number: str) -> BatchResult:
    return result(jobs(), number, failures_wanted(), typed(request.args, "from", default=0))


@blueprint.post("/api/batches/<number>/cancel")
@api_schema.declare(api_schema.Changed)
def cancel(number: str) -> Response:
    visitor.require_token()
    return json_answer({"ok": True, "batch": jobs().cancel(number, visitor.owner())})


@blueprint.post("/api/batches/<number>/resume")
@api_schema.declare(api_schema.Changed)
def resume(number: str) -> Response:
    """Compute the chunks that are missing."""
    visitor.require_token()
    visitor.limit_saves()
    jobs().resume(number, *visitor.owner_and_account())
    return json_answer({"ok": True, "batch": jobs().snapshot(number)})


@blueprint.post("/batch/<number>/<any(cancel, resume):what>")
def act(number: str, what: str) -> AnyResponse:
    """Resume or cancel a batch from the buttons of the page, where no script runs."""
    visitor.require_token()
    if what == "resume":
        visitor.limit_saves()
        jobs().resume(number, *visitor.owner_and_account())
    else:
        jobs().cancel(number, visitor.owner())
    return redirect(address(f"/batch/{number}", **visitor.lang_query()), 303)


@blueprint.post("/api/batches/<number>/more")
@api_schema.declare(api_schema.Changed, takes=api_schema.MoreSent, example={"runs": 100})
def more(number: str) -> Response:
    """Add more seeds for every profile and cell; the body is {runs}."""
    visitor.require_token()
    visitor.limit_saves()
    jobs().add_runs(number, body().whole("runs", 1, RUNS_MOST), *visitor.owner_and_account())
    return json_answer({"ok": True, "batch": jobs().snapshot(number)})


@blueprint.post("/batch/<number>/more")
def more_form(number: str) -> AnyResponse:
    visitor.require_token()
    visitor.limit_saves()
    jobs().add_runs(number, typed(request.form, "runs", 1, RUNS_MOST), *visitor.owner_and_account())
    return redirect(address(f"/batch/{number}", **visitor.lang_query()), 303)


@blueprint.delete("/api/batches/<number>")
@api_schema.declare(api_schema.Done)
def delete(number: str) -> Response:
    visitor.require_token()
    jobs().delete(number, visitor.owner())
    return json_answer({"ok": True})


@blueprint.post("/batch/<number>/delete")
def delete_form(number: str) -> AnyResponse:
    visitor.require_token()
    jobs().delete(number, visitor.owner())
    return redirect(address("/batch", **visitor.lang_query()), 303)
