"""Studies as things people keep: named by their owner, and found again in a list."""

from __future__ import annotations

from typing import Any, Final

from flask import Blueprint, Response, redirect, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app import batch_records as records
from app import security
from app.api import body, json_answer
from app.batch_result import sentences
from app.jobs import Jobs
from app.models import BatchRow
from app.refusals import Refusal
from app.services import services
from app.words import SENTENCES
from engine.scenarios.translated import in_language

blueprint = Blueprint("studies", __name__)

TITLE_MOST: Final = 120
OWN_MOST: Final = 100
OTHERS_MOST: Final = 20

SENTENCES.update(
    {
        "study.title": (
            "A title has at most {most} characters; this one has {asked}.",
            "标题最多 {most} 个字符；此标题有 {asked} 个。",
        ),
    }
)


def jobs() -> Jobs:
    found: Jobs = services().jobs
    return found


def title_of(batch: BatchRow) -> str:
    """What its owner calls it, or else the title of its scenario, in the visitor's language."""
    told = in_language(records.scenario_of(batch), security.lang()).title
    return batch.title or told


def own_studies() -> list[dict[str, Any]]:
    """Those that this browser started, newest first, each with its first sentence."""
    rows = records.newest(jobs().database, OWN_MOST, of=security.owner())
    return [{**listed(row), "said": first_sentence(row)} for row in rows]


def other_studies() -> list[dict[str, Any]]:
    """The newest of everybody else."""
    rows = records.newest(jobs().database, OTHERS_MOST, but=security.owner())
    return [listed(row) for row in rows]


def listed(row: BatchRow) -> dict[str, Any]:
    """A row of a list of studies."""
    return {
        "id": row.id,
        "title": title_of(row),
        "kind": row.kind,
        "state": row.state,
        "profiles": row.profiles,
        "runs": row.runs * len(row.profiles) * len(row.cells),
        "submitted": row.submitted,
    }


def first_sentence(row: BatchRow) -> dict[str, Any] | None:
    """What its page says first: something that broke, if anything did; None before any run."""
    said = sentences(jobs().snapshot(row.id)["cells"])
    return next((one for one in said if one["bad"]), said[0] if said else None)


def checked_title(given: str) -> str:
    """One line without surrounding space; "" takes a title away.  Raises Refusal."""
    title = " ".join(given.split())
    if len(title) > TITLE_MOST:
        raise Refusal("invalid", "study.title", most=TITLE_MOST, asked=len(title))
    return title


@blueprint.post("/api/batches/<number>/title")
def rename(number: str) -> Response:
    """{title}: what its owner calls it; "" goes back to the scenario's."""
    security.require_token()
    security.require_patience()
    given = body().raw("title")
    if not isinstance(given, str):
        raise Refusal("invalid", what="title")
    title = checked_title(given)
    jobs().rename(number, title, security.owner())
    return json_answer({"ok": True, "title": title})


@blueprint.post("/batch/<number>/title")
def rename_form(number: str) -> AnyResponse:
    """The same from the page."""
    security.require_token()
    security.require_patience()
    jobs().rename(number, checked_title(request.form.get("title", "")), security.owner())
    return redirect(url_for("batches.page", number=number), 303)
