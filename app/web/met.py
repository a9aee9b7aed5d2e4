"""Page of search coverage: the share of a small cluster's situations that a study has met."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, redirect, render_template, request
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as AnyResponse

from app.batch import records
from app.batch.study_pages import jobs, title_of
from app.context import visitor
from app.context.moments import address
from app.context.services import services
from app.core.refusals import RequestError
from app.core.request_fields import typed
from app.explore import search_request, searches
from app.explore.pages import FIRST, budgets_in, move_told, standing
from app.explore.search_request import MetAsk
from app.explore.searches import Search
from app.storage.models import BatchRow
from engine.explore.budgets import NAMES
from engine.explore.met import not_searched, usual
from engine.model.profiles import get_profile
from engine.sim.run import Run

blueprint = Blueprint("met", __name__)


def is_asked_of(batch: BatchRow) -> bool:
    """Check whether the runs begin where a scenario begins, and were played to the last."""
    plain = batch.kind != records.FUTURES and not records.is_of_cycles(batch)
    return plain and batch.state == "done"


def _runs(batch: BatchRow, profile: str, cell: int) -> int:
    """Return the number of seeds played; fewer than asked where shares were known before."""
    for row in records.cells(jobs().database, batch):
        if (row.profile, row.cell) == (profile, cell):
            runs: int = row.n
            return runs
    raise RequestError("not_found")


def _ask(batch: BatchRow, profile: str, cell: int, fields: MultiDict[str, str]) -> MetAsk:
    scenario = records.cell_scenario(batch, cell).scenario
    budgets = budgets_in(fields, usual(scenario)._asdict())
    runs = _runs(batch, profile, cell)
    return MetAsk(scenario, profile, batch.first_seed, runs, budgets)


def _asked(number: str, fields: MultiDict[str, str]) -> tuple[BatchRow, MetAsk, dict[str, str]]:
    """Return the study, the question, and the parameters of the question's address."""
    batch = jobs().batch(number)
    if not is_asked_of(batch):
        raise RequestError("not_found")
    profile = fields.get("profile") or batch.profiles[0]
    if profile not in batch.profiles:
        raise RequestError("invalid", what="profile")
    cell = typed(fields, "cell", 0, len(batch.cells) - 1, 0)
    ask = _ask(batch, profile, cell, fields)
    told = {"profile": profile, "cell": str(cell)}
    told |= {name: str(n) for name, n in ask.budgets._asdict().items()}
    return batch, ask, told


@blueprint.get("/batch/<number>/met")
def page(number: str) -> str:
    """Render the question, and its answer where it was asked."""
    return _question(number, *_asked(number, request.args))


def _question(
    number: str, batch: BatchRow, ask: MetAsk, told: dict[str, str], refusal: str = ""
) -> str:
    left = [(name, getattr(ask.budgets, name)) for name in NAMES]
    return render_template(
        "met.html",
        number=number,
        title=title_of(batch),
        ask=ask,
        question=told,
        profiles=batch.profiles,
        cells=list(enumerate(cell["label"] for cell in batch.cells)),
        cell=int(told["cell"]),
        first=[one for one in left if one[0] in FIRST],
        others=[one for one in left if one[0] not in FIRST],
        most=search_request.MOST_OF_ONE,
        limits={
            "states": search_request.STATES,
            "s": round(search_request.CPU_S),
            "runs_s": round(search_request.RUNS_S),
        },
        beyond=not_searched(ask.scenario),
        **({"search": None, "refusal": refusal} if refusal else _standing(ask)),
    )


@blueprint.post("/batch/<number>/met")
def begin(number: str) -> AnyResponse:
    """Start the search; where others have to end first, the page keeps what was chosen."""
    visitor.require_token()
    batch, ask, told = _asked(number, request.form)
    try:
        services().searches.ask(ask, visitor.asker()[1])
    except RequestError as error:
        if error.code != "slow_down":
            raise
        kept = _question(number, batch, ask, told, error.sentence(visitor.lang()))
        return Response(kept, error.status, error.headers(), mimetype="text/html")
    return redirect(address(f"/batch/{number}/met", **told, **visitor.tongue()), 303)


@blueprint.post("/batch/<number>/met/cancel")
def cancel(number: str) -> AnyResponse:
    """End the search; the runs that were looked at so far are its answer."""
    visitor.require_token()
    _, ask, told = _asked(number, request.form)
    services().searches.cancel(ask.number, visitor.asker()[1])
    return redirect(address(f"/batch/{number}/met", **told, **visitor.tongue()), 303)


@blueprint.get("/batch/<number>/met/answer")
def answer(number: str) -> str:
    """Render the part of the page that changes meanwhile."""
    _, ask, told = _asked(number, request.args)
    return render_template(
        "met_answer.html",
        number=number,
        ask=ask,
        question=told,
        **_standing(ask),
    )


def _standing(ask: MetAsk) -> dict[str, Any]:
    """Return the state of the search, with the ways to what no run met."""
    search = services().searches.find(ask.number)
    told = standing(search)
    if search is not None and search.state == searches.DONE:
        told["cancelled"] = search.answer["cancelled"]
        told["unmet"] = [_way(ask, one) for one in told["card"]["unmet"]]
        told["broken"] = [{**one, **_way(ask, one)} for one in told["card"]["broken"]]
    return told


def _way(ask: MetAsk, found: dict[str, Any]) -> dict[str, Any]:
    """Return a way as moves in words, and the link to the stage at its end."""
    run = Run.from_text(found["run"])
    return {
        "moves": [move_told(one, ask.scenario) for one in found["moves"]],
        "open": address(f"/r/{services().replays.register(run)}"),
    }


def told_of(batch: BatchRow) -> list[dict[str, Any]]:
    """Return, for the study's own page, the last known answer of each profile and cell."""
    if not is_asked_of(batch):
        return []
    found = []
    for row in records.cells(jobs().database, batch):
        scenario = records.cell_scenario(batch, row.cell).scenario
        ask = MetAsk(scenario, row.profile, batch.first_seed, row.n, usual(scenario))
        told = [one for one in services().searches.of_study(ask) if _is_told(one)]
        if told:
            card = told[-1].answer["card"]
            question = {"profile": row.profile, "cell": str(row.cell)}
            question |= {name: str(n) for name, n in card["budgets"].items()}
            found.append(
                {
                    "kafka": get_profile(row.profile).stands_for,
                    "label": row.label,
                    "card": card,
                    "url": address(f"/batch/{batch.id}/met", **question, **visitor.tongue()),
                }
            )
    return found


def _is_told(search: Search) -> bool:
    return search.state == searches.DONE and search.answer["card"]["runs"] > 0
