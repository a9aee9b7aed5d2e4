"""JSON over HTTP: saving, sharing, the registry, the words, and steps without a socket."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from flask import Blueprint, Response, current_app, request, url_for

from app.core.json_response import from_json, to_json
from app.core.refusals import RequestError
from app.core.request_fields import RequestFields, require_known, typed
from app.questions import registry, runs
from app.questions.names import SCENARIO_BYTES, default_run, digest_asked, parse_run
from app.server import api_schema, visitor
from app.server.edition import FOR_EVER, lasting
from app.server.services import apart, services
from app.web.naming import run_named
from app.web.questioning import question_context
from engine import ENGINE_VERSION
from engine.lens.lens_json import parse_releases as releases_asked
from engine.lens.lens_json import stacks_by_release
from engine.model.json_types import Json
from engine.model.languages import language_of
from engine.scenarios import file
from engine.scenarios.scenario import Scenario
from engine.view.wire import StepJson

blueprint = Blueprint("api", __name__)

ALWAYS: Final = ("lang", "v")
"""Fields of the query of any route: the language, and the edition of `app.server.edition`."""


def json_answer(data: Any, status: int = 200) -> Response:
    return Response(to_json(data), status, mimetype="application/json")


def csv_answer(rows: Iterable[Sequence[object]], name: str) -> Response:
    """Return a file to download, the head first."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    answer = Response(text.getvalue(), mimetype="text/csv")
    answer.headers["Content-Disposition"] = f"attachment; filename={name}"
    return answer


def unless_known(etag: str, answer: Callable[[], Response]) -> Response:
    """Return the response under its tag; 304, without building it, if the browser has it."""
    unchanged = request.if_none_match.contains(etag)
    response = Response(status=304) if unchanged else answer()
    response.set_etag(etag)
    return response


def body() -> RequestFields:
    """Parse the body as one JSON object, with no other fields than those that are declared.

    Raises `RequestError` "invalid" for anything else.
    """
    try:
        fields = RequestFields(from_json(request.get_data()))
    except ValueError:
        raise RequestError("invalid", key="invalid.json") from None
    declared = _declared()
    if declared is not None and declared.takes is not None:
        require_known(fields, declared.takes.__annotations__)
    return fields


@blueprint.before_app_request
def refuse_unknown_query() -> None:
    """Raise `RequestError` "invalid" for a field of a query that the route does not declare."""
    declared = _declared()
    if declared is not None:
        allowed = declared.asks.__annotations__ if declared.asks else ()
        require_known((name for name in request.args if name not in ALWAYS), allowed)


def _declared() -> api_schema.RouteSchema | None:
    view = current_app.view_functions.get(request.endpoint or "")
    return getattr(view, api_schema.VIEWS, None)


@blueprint.post("/api/runs")
@api_schema.declare(
    api_schema.Saved, 200, 201, takes=api_schema.RunSent, example={"run": "0123456789abcdef"}
)
def save_run() -> Response:
    """Save a run sent as text, or one this server knows by digest; twice is the same as once."""
    visitor.require_token()
    visitor.limit_saves()
    fields = body()
    replays = services().replays
    if fields.has("text"):
        run = apart(parse_run, fields.raw("text"))
    else:
        run = replays.run(digest_asked(fields))
    digest = replays.register(run)
    with replays.using(digest) as replay:
        outcome = replay.outcome
    if services().store.run(digest) is None:
        visitor.pay_for(len(run.text()) + len(run.scenario.canonical()))
    new = services().store.save_run(run, outcome)
    url = url_for("pages.run", digest=digest)
    return json_answer({"ok": True, "digest": digest, "url": url}, 201 if new else 200)


def _scenario_sent() -> Scenario:
    """Parse YAML, or JSON, which is YAML: {yaml: text}, {scenario: object}, or the bare text."""
    if request.mimetype == "application/json":
        fields = body()
        if fields.has("scenario"):
            return apart(Scenario.from_dict, fields.raw("scenario"))
        text = fields.text("yaml", most=SCENARIO_BYTES)
    else:
        text = request.get_data().decode("utf-8", "replace")
        if not text.strip():
            raise RequestError("invalid", what="yaml")
    if len(text.encode("utf-8", "replace")) > SCENARIO_BYTES:
        raise RequestError("too_large", limit=SCENARIO_BYTES)
    return apart(file.load_text, text, "scenario")


@blueprint.post("/api/scenarios")
@api_schema.declare(
    api_schema.Saved, 200, 201, takes=api_schema.ScenarioSent, example=api_schema.YAML
)
def save_scenario() -> Response:
    """Save a scenario under its digest; return the address where it can be played."""
    visitor.require_token()
    visitor.limit_saves()
    scenario = _scenario_sent()
    if len(scenario.canonical().encode()) > SCENARIO_BYTES:
        raise RequestError("too_large", limit=SCENARIO_BYTES)
    default_run(scenario)
    if services().store.scenario(scenario.digest) is None:
        visitor.pay_for(len(scenario.canonical()))
    new = services().store.save_scenario(scenario, visitor.owner())
    url = url_for("pages.scenario", name=scenario.digest)
    return json_answer({"ok": True, "digest": scenario.digest, "url": url}, 201 if new else 200)


@blueprint.get("/api/registry")
@api_schema.declare(Json)
def get_registry() -> Response:
    """Return profiles, flags, invariants, verbs and rules, for menus and panels of pages."""
    response = json_answer(registry.registry())
    response.add_etag()
    lasting(response).make_conditional(request)
    return response


@blueprint.get("/api/cards/<profile>")
@api_schema.declare(Json)
def cards(profile: str) -> Response:
    """Return every rule in pseudo-code, with Kafka's classes, as one profile has it."""
    response = json_answer(registry.cards_under(profile))
    response.add_etag()
    lasting(response).make_conditional(request)
    return response


@blueprint.get("/i18n/<lang>.json")
def words(lang: str) -> Response:
    """Return the whole catalogue of a language, or with ``?page=`` that of one page's scripts."""
    language = language_of(lang)
    if language is None:
        raise RequestError("not_found", key="not_found.language", lang=lang[:40])
    page = request.args.get("page")
    if page is not None and not services().words.has(language, page):
        raise RequestError("invalid", what="page")
    body, etag = services().words.packed(language, page)
    response = Response(body, mimetype="application/json")
    response.set_etag(etag)
    lasting(response).make_conditional(request)
    return response


@blueprint.get("/r/<digest>/steps.json")
def steps(digest: str) -> Response:
    """Return steps of a run for clients without a socket.  They never change, so they are kept.

    ``?lens=2.5.1`` or ``?lens=2.5.1,3.9.1`` adds what Kafka's source does at each step, and
    ``&only=lens`` leaves out everything else.
    """
    first = typed(request.args, "from", default=0)
    count = min(runs.STEPS_MOST, typed(request.args, "count", default=32))
    run_named(digest)
    lens = request.args.get("lens", "")
    releases, bare = releases_asked(lens) if lens else (), request.args.get("only") == "lens"
    etag = f"{digest}-{first}-{count}-{ENGINE_VERSION}"
    if releases:
        etag += f"-{'-'.join(releases)}{'-only' if bare else ''}"

    def answer() -> Response:
        fields = RequestFields({"run": digest, "first": first, "count": count})
        page = runs.steps(question_context(), fields)
        if releases:
            seen = [_under_the_lens(step, releases, bare) for step in page["steps"]]
            return json_answer({"ok": True, **page, "steps": seen})
        return json_answer({"ok": True, **page})

    response = unless_known(etag, answer)
    response.headers["Cache-Control"] = FOR_EVER
    return response


def _under_the_lens(step: StepJson, releases: tuple[str, ...], bare: bool) -> Mapping[str, object]:
    """Return a copy of the step with its stacks; `bare`: without its view and sentences."""
    seen = stacks_by_release(step, releases, step["view"]["mode"])
    return {"n": step["n"], "lens": seen} if bare else {**step, "lens": seen}


@blueprint.get("/r/<digest>/facts.json")
def facts(digest: str) -> Response:
    """Return the facts of a run once it has been played: a socket would keep its steps waiting."""
    run_named(digest)
    fields = RequestFields({"run": digest, "have": 0, "ahead": 0})
    return json_answer({"ok": True, **runs.open_run(question_context(), fields)})


@blueprint.get("/r/<digest>.json")
def run_text(digest: str) -> Response:
    """Return the run itself, as `highwater run` takes it."""
    response = Response(run_named(digest).text(), mimetype="application/json")
    response.headers["Cache-Control"] = FOR_EVER
    return response
