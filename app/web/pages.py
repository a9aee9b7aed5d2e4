"""Routes of the pages, helpers of their templates, and error responses."""

from __future__ import annotations

import json
import logging
import re
from typing import Any, TypedDict
from urllib.parse import urlencode

from flask import Blueprint, Flask, Response, g, redirect, render_template, request, url_for
from flask.globals import request_ctx
from flask.sansio.blueprints import BlueprintSetupState
from werkzeug.exceptions import HTTPException, MethodNotAllowed
from werkzeug.wrappers import Response as AnyResponse

from app.batch.bounds import FUTURES_EACH
from app.core.config import ROOT
from app.core.memoize import once
from app.core.refusals import RequestError, from_bad_input, from_engine_error
from app.core.request_fields import typed
from app.core.verdict_text import verdict_text
from app.core.words import choose
from app.learn.path import place_on_path
from app.questions.names import default_run
from app.recordings.page import badge
from app.server import addresses, bundler, security, visitor
from app.server.edition import edition
from app.server.services import services
from app.web import display_names, naming, scriptless
from app.web.api import json_answer
from app.web.moments import address
from engine import ENGINE_VERSION
from engine.learn.takeaways import SAYS, takeaways
from engine.model.errors import InputError
from engine.model.languages import NAMES, short
from engine.scenarios import file
from engine.scenarios.scenario import Scenario
from engine.scenarios.translated import in_language
from engine.sim.run import Run
from engine.study.futures import longest

log = logging.getLogger(__name__)
blueprint = Blueprint("pages", __name__)


@blueprint.get("/s/<name>")
def scenario(name: str) -> str:
    """Render a scenario by code, slug or digest, opened on its default run."""
    scenario = naming.scenario_named(name)
    profile = naming.profile_asked()
    run = default_run(scenario, profile, typed(request.args, "seed", default=0))
    return animator(scenario, run)


@blueprint.get("/r")
def carried_run() -> str:
    """Render a run that is in the fragment of the address, which no browser sends to a server."""
    found = next(iter(file.library().values()))
    return animator(found, default_run(found), bare=True)


@blueprint.get("/r/<digest>")
def run(digest: str) -> str:
    """Render a saved or live run, opened at ``?step=``."""
    run = naming.run_named(digest)
    return animator(run.scenario, run)


def animator(
    scenario: Scenario,
    run: Run,
    bare: bool = False,
    room: str = "",
    step: int = 0,
    level: LevelJson | None = None,
) -> str:
    """Render the page of a run, opened at a step; with a level, as its stage."""
    services().replays.register(run)
    if scriptless.is_scriptless() and not bare:
        return scriptless.page(run, typed(request.args, "step", default=step))
    shown = told(scenario)
    named = request.path.startswith("/s/")  # by its scenario, and so without being saved
    boot = {
        "run": run.digest,
        "scenario": {"slug": scenario.slug, "digest": scenario.digest, "title": shown.title},
        "profile": run.profile,
        "seed": run.seed,
        "engine": ENGINE_VERSION,
        "lang": visitor.lang(),
        "transports": services().settings.transports.split(","),
        "bare": bare,
        "room": room,
        "step": step,
        "named": named,
        "library": named and scenario.slug in file.library(),
        "kept": named or services().replays.is_kept(run.digest),
        "seen": None if bare else badge(scenario),
        "level": level,
        "futures": {"each": FUTURES_EACH, "longest": longest()},
    }
    boot["after"] = _end_card(scenario) if boot["library"] else None
    boot["path"] = place_on_path(scenario.code, run.profile) if boot["library"] else None
    title = level["title"] if level else "" if bare else shown.title
    return render_template("animator.html", boot=boot, title=title)


class LevelJson(TypedDict):
    """A level, as the page of its run shows it; `first` is how many moves came before the player's.

    `par` is 0 where the record cannot be lost.
    """

    slug: str
    title: str
    place: str
    goal: str
    hint: str
    par: int
    first: int
    text: str
    next: str


class EndCard(TypedDict):
    """End of a library run: a question of an interview with facts of its answer, the next run.

    `proves`: the run is the one that the question names.
    """

    proves: bool
    ask: str
    says: list[str]
    topic: str
    next: dict[str, str]


def _end_card(scenario: Scenario) -> EndCard:
    """Return what the card at the end of a library run shows besides the verdict."""
    lang = visitor.lang()
    takeaway = takeaways(scenario.code)
    return {
        "proves": takeaway.proves,
        "ask": takeaway.item.ask[lang],
        "says": [fact[lang] for fact in takeaway.item.facts[:SAYS]],
        "topic": takeaway.topic,
        "next": {"title": told(takeaway.next).title, "url": f"/s/{takeaway.next.slug}"},
    }


@blueprint.get("/favicon.ico")
def favicon() -> AnyResponse:
    return redirect(url_for("static", filename="brand.svg"), 301)


def words(key: str, **args: Any) -> str:
    """Return a translated text; templates call it ``t()``.

    The files of words are checked for changes once per page, not once per word.
    """
    if "words" not in g:
        g.words = services().words.words(visitor.lang())
    shown = display_names.args(args, words) if args else args
    return choose(g.words, key, shown)


def here(**changes: Any) -> str:
    """Return the current address with some parameters changed."""
    return "?" + urlencode({**request.args.to_dict(), **changes})


def told(scenario: Scenario) -> Scenario:
    """Return a scenario with its texts in the visitor's language."""
    return in_language(scenario, visitor.lang())


@blueprint.record
def _filters(state: BlueprintSetupState) -> None:
    state.app.jinja_env.filters["kafka"] = display_names.kafka


def _helpers() -> dict[str, object]:
    return {
        "t": words,
        "here": here,
        "told": told,
        "kafka": display_names.kafka,
        "kafkas": display_names.in_kafkas,
        "promise": lambda name: display_names.promise(name, words),
        "outcome": lambda verdict: verdict_text(lambda key, args: words(key, **args), verdict),
        "outcome_sign": display_names.OUTCOME_SIGNS.get,
        "rule": lambda name: display_names.rule(name, words),
        "lang": visitor.lang(),
        "tongue": address("", **visitor.lang_query()),
        "languages": NAMES,
        "short": short,
        "csp_nonce": security.nonce(),
        "csrf_token": "" if security.embedded() else visitor.csrf_token(),
        "import_map": import_map(),
        "modules_of": modules_of,
        "script": addresses.script,
        "words_for": words_for,
        "engine_version": ENGINE_VERSION,
        "edition": edition(),
    }


@once
def _vendored() -> tuple[tuple[str, str], ...]:
    """Return pairs (imported name, file below static/vendor) from the list in that folder."""
    path = ROOT / "static" / "vendor" / "VENDOR.json"
    entries = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return tuple((entry["import"], entry["file"]) for entry in entries if entry.get("import"))


def import_map() -> dict[str, dict[str, str]]:
    """Return the import map, with which browsers resolve bare module names without a build step."""
    return {
        "imports": {
            **{name: url_for("static", filename=f"vendor/{file}") for name, file in _vendored()},
            **addresses.fetched(),
        }
    }


def words_for(page: str) -> str:
    """Return the address of the file with the words that a page's scripts use."""
    return url_for("api.words", lang=visitor.lang(), page=page, v=edition() or None)


def modules_of(entry: str) -> list[str]:
    """Return the addresses of all modules that a page's module imports, for `modulepreload`.

    Without it a browser makes one round trip for each level of imports.
    """
    own = [bundler.pack_at(entry)]
    if addresses.plain():
        *imported, _ = bundler.needed(entry)
        own = [url_for("static", filename=f"js/{module.path}") for module in imported]
    return [*own, *(url_for("static", filename=f"vendor/{name}") for name in _libraries(entry))]


_PACKED = re.compile(r"""(?:\bfrom|\bimport)["']([^"']+)["']""")
"""An import in a minified library."""


@once
def _libraries(entry: str) -> tuple[str, ...]:
    """Return files below static/vendor that a page's modules import, or that those import."""
    files = dict(_vendored())
    names = bundler.libraries(bundler.needed(entry))
    for name in names:
        text = (ROOT / "static" / "vendor" / files[name]).read_text("utf-8")
        other = (imported for imported in _PACKED.findall(text) if imported in files)
        names += dict.fromkeys(imported for imported in other if imported not in names)
    return tuple(files[name] for name in names)


def prepare(app: Flask) -> None:
    """Register the helpers of templates, and the handlers of errors."""
    app.context_processor(_helpers)

    app.register_error_handler(RequestError, _refused)
    app.register_error_handler(InputError, lambda error: _refused(from_bad_input(error)))
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(Exception, _failed)


def _refused(refusal: RequestError) -> Response:
    answer = _refusal_response(refusal)
    answer.headers.extend(refusal.headers())
    return answer


def _refusal_response(refusal: RequestError) -> Response:
    """Return an error as JSON to programs and our own scripts, as a page to browsers."""
    lang = visitor.lang()
    if _wants_json():
        return json_answer(refusal.answer(lang), refusal.status)
    if request_ctx.url_adapter is None:
        # The host of the request is no name: no address of ours can be made, and so no page.
        return Response(refusal.sentence(lang) + "\n", refusal.status, mimetype="text/plain")
    try:
        page = render_template(
            "error.html",
            code=refusal.code,
            status=refusal.status,
            sentence=refusal.sentence(lang),
            where=refusal.args_.get("where", ""),
            asked=refusal.args_.get("scenario", ""),
            near=naming.scenarios_like(refusal.args_.get("scenario", "")),
        )
        return Response(page, refusal.status, mimetype="text/html")
    except Exception:
        # An error page that fails must not hide the error it was about.
        log.exception("The error page failed")
        return Response(refusal.sentence(lang) + "\n", refusal.status, mimetype="text/plain")


def _wants_json() -> bool:
    path = request.path
    if path.startswith(("/api/", "/i18n/")) or path.endswith(".json") or path == "/health":
        return True
    best = request.accept_mimetypes.best_match(["text/html", "application/json"], "text/html")
    return best == "application/json"


def _http_error(error: HTTPException) -> AnyResponse:
    if isinstance(error, MethodNotAllowed):
        answer = _refused(RequestError("method", method=request.method))
        answer.headers["Allow"] = ", ".join(error.valid_methods or ())
        return answer
    status = error.code or 500
    if status == 404:
        return _refused(RequestError("not_found"))
    if 300 <= status < 400:
        return error.get_response()
    answer = _refused(RequestError("invalid", text=error.description or error.name))
    answer.status_code = status
    return answer


def _failed(error: Exception) -> Response:
    if isinstance(error, ModuleNotFoundError):
        from app.core import installing  # of which a tab has no need

        if refusal := installing.refusal():
            return _refused(refusal)
    log.exception("A request failed")
    return _refused(from_engine_error(None, error))
