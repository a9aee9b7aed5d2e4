"""A failing run of a batch: replayed, shortened, and asked where it could no longer be saved."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, redirect, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.batch import records
from app.batch.bounds import FUTURES_EACH, FUTURES_MOST
from app.batch.runners.summary import Failure
from app.batch.spec import make_futures
from app.batch.study_pages import jobs
from app.core.refusals import RequestError
from app.core.request_fields import RequestFields, typed
from app.questions.names import digest_asked
from app.server import api_schema, visitor
from app.server.services import apart, services
from app.web import naming
from app.web.api import body, json_answer
from app.web.moments import address
from engine.sim.run import Run
from engine.study.batch import broken_in
from engine.study.shrink import Shortened, shorten

blueprint = Blueprint("failing", __name__)

PLACE = "/batch/<number>/failure/<profile>/<int:cell>/<int:seed>/<invariant>"
LEAD_STEPS = 10
"""A replay begins so long before the violation: its cause is usually among them."""


def _find_failure(
    number: str, profile: str, cell: int, seed: int, invariant: str
) -> tuple[Run, Failure]:
    batch = jobs().batch(number)
    failure = records.failure(jobs().database, batch, profile, cell, seed, invariant)
    if failure is None:
        raise RequestError("not_found")
    return records.run_in(batch, profile, cell, seed), failure


def _at(run: Run, step: int, before: int = 1, tab: str | None = None) -> str:
    """Return the address of a run, `before` steps before this one; a key then takes one step."""
    digest = services().replays.register(run)
    return url_for("pages.run", digest=digest, step=max(0, step - before), size="event", tab=tab)


def _shorten(run: Run, invariant: str) -> Shortened:
    """Shorten a run; this plays some hundred runs."""
    return apart(shorten, run, invariant)


def _start_futures(run: Run, invariant: str, each: int) -> str:
    """Start a batch of futures and return its number.

    A replay of the whole run finds the steps from which the futures begin.
    """
    spec = apart(make_futures, run, invariant, each)
    return jobs().submit(spec, *visitor.owner_and_account())


@blueprint.get(PLACE)
def replay(number: str, **named: Any) -> AnyResponse:
    """Open a failing run ten steps before the step that broke the invariant, with the checks."""
    run, failure = _find_failure(number, **named)
    return redirect(_at(run, failure.step, LEAD_STEPS, tab="checks"))


@blueprint.get(PLACE + "/quiz")
def quiz(number: str, **named: Any) -> AnyResponse:
    """Open the questions about a failing run, the best first."""
    run, _ = _find_failure(number, **named)
    return redirect(url_for("learning.question", run=services().replays.register(run), quiz=1))


@blueprint.get(PLACE + "/compare")
def compare(number: str, **named: Any) -> AnyResponse:
    """Compare the same seed under another profile in lock-step.

    The profile is that of ``?with=``, or the next one of the study.
    """
    run, failure = _find_failure(number, **named)
    others = [name for name in jobs().batch(number).profiles if name != failure.profile]
    query: dict[str, Any] = {"with": naming.profile_asked("with") or next(iter(others), None)}
    digest = services().replays.register(run)
    return redirect(url_for("comparing.page", digest=digest, **query))


@blueprint.get(PLACE + "/scenario")
def scenario(number: str, **named: Any) -> AnyResponse:
    """Open the editor with the run that failed."""
    run, _ = _find_failure(number, **named)
    return redirect(url_for("editing.edit", run=services().replays.register(run)))


@blueprint.get("/batch/<number>/row/<profile>/<int:cell>/<int:seed>")
def row(number: str, profile: str, cell: int, seed: int) -> AnyResponse:
    """Open the run of any row of a batch, failing or not."""
    batch = jobs().batch(number)
    last = batch.first_seed + batch.runs
    exists = profile in batch.profiles and cell < len(batch.cells)
    if not exists or not batch.first_seed <= seed < last:
        raise RequestError("not_found")
    return redirect(_at(records.run_in(batch, profile, cell, seed), _step() + 1))


def _step() -> int:
    return typed(request.args, "step", default=0)


@blueprint.get("/batch/<number>/run")
def run_of_futures(number: str) -> AnyResponse:
    """Open the run whose futures a batch played."""
    batch = jobs().batch(number)
    if batch.kind != records.FUTURES:
        raise RequestError("not_found")
    digest = services().replays.register(Run.from_text(batch.about["run"]))
    return redirect(url_for("pages.run", digest=digest, step=_step(), futures=number))


@blueprint.post(PLACE + "/shorten")
def shorten_failure(number: str, **named: Any) -> AnyResponse:
    """Open a shorter run that breaks the same invariant, one step before it does."""
    visitor.require_token()
    visitor.limit_saves()
    shorter = _shorten(*_named(number, **named))
    return redirect(_at(shorter.run, shorter.after), 303)


@blueprint.post(PLACE + "/futures")
def futures_of_failure(number: str, **named: Any) -> AnyResponse:
    """Start a batch that plays futures of a failing run from many of its steps."""
    visitor.require_token()
    visitor.limit_saves()
    run, invariant = _named(number, **named)
    each = typed(request.form, "runs", 1, FUTURES_MOST, default=FUTURES_EACH)
    started = _start_futures(run, invariant, each)
    return redirect(address(f"/batch/{started}", **visitor.lang_query()), 303)


def _named(number: str, **named: Any) -> tuple[Run, str]:
    run, failure = _find_failure(number, **named)
    if failure.step < 0:
        raise RequestError("not_found")
    return run, broken_in(failure.invariant)


@blueprint.post("/api/futures")
@api_schema.declare(
    api_schema.BatchStarted,
    201,
    takes=api_schema.FuturesSent,
    example={**api_schema.FAILED, "runs": 10},
)
def futures() -> Response:
    """Start a batch of futures of a failing run, from many of its steps.

    The body is {run, invariant, runs}.
    """
    visitor.require_token()
    visitor.limit_saves()
    given = body()
    run, invariant = _run_asked(given)
    each = given.whole("runs", 1, FUTURES_MOST, default=FUTURES_EACH)
    number = _start_futures(run, invariant, each)
    url = url_for("batches.page", number=number)
    return json_answer({"ok": True, "id": number, "url": url, **visitor.new_key()}, 201)


def _run_asked(given: RequestFields) -> tuple[Run, str]:
    run = services().replays.run(digest_asked(given))
    return run, given.text("invariant", most=20)
