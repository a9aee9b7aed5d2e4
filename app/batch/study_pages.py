"""Studies as things people keep: named by their owner, found again, and set side by side."""

from __future__ import annotations

import re
from typing import Final

from flask import Blueprint, Response, redirect, render_template, request, url_for
from werkzeug.wrappers import Response as AnyResponse

from app.advisor.result import KIND
from app.batch import records
from app.batch.bounds import CURSOR, STUDIES_MOST
from app.batch.jobs import Jobs
from app.batch.result import sentences
from app.batch.study_comparison import compared
from app.batch.wire import ListedStudy, StudyFinding
from app.core.refusals import RequestError
from app.core.request_fields import typed
from app.server import api_schema, visitor
from app.server.services import services
from app.storage.batch_fields import BatchState
from app.storage.models import BatchRow
from app.web.api import body, json_answer
from app.web.moments import address
from engine.scenarios.translated import in_language
from engine.study.batch import LOST

blueprint = Blueprint("studies", __name__)

TITLE_MOST: Final = 120
OWN_MOST: Final = 100
OTHERS_MOST: Final = 20
OFFERED_MOST: Final = 40
NUMBER = re.compile(r"(?:^|/batch/)([0-9a-f]{12})(?![0-9a-f])")
"""The number of a study, by itself or in a pasted address."""


def jobs() -> Jobs:
    return services().jobs


def scenario_title(batch: BatchRow) -> str:
    """Return the title of its scenario in the visitor's language; for the advisor, its question."""
    lang = visitor.lang()
    if batch.kind == KIND:
        return services().words.text(lang, "advice.question", {})
    return in_language(records.scenario_of(batch), lang).title


def title_of(batch: BatchRow) -> str:
    """Return what its owner calls it, or else the title of its scenario."""
    return batch.title or scenario_title(batch)


class OwnStudy(ListedStudy):
    said: StudyFinding | None
    """The first finding."""


class StudySide(OwnStudy):
    """Study beside another; `each`: runs of a profile and cell, `first` to `last`: their seeds."""

    scenario: str
    each: int
    first: int
    last: int
    cells: int
    engine: int


def own_studies() -> list[OwnStudy]:
    """Return the studies that this browser started, newest first, each with its first sentence."""
    rows = records.newest(jobs().database, OWN_MOST, of=visitor.owner())
    return [{**listed(row), "said": first_sentence(row)} for row in rows]


def other_studies() -> list[ListedStudy]:
    """Return the newest studies of all other visitors, if the operator shows a gallery.

    Without one, only a study's link leads to it: its title may name a company's cluster.
    """
    if not services().settings.gallery:
        return []
    rows = records.newest(jobs().database, OTHERS_MOST, but=visitor.owner())
    return [listed(row) for row in rows]


def other_than(number: str) -> list[ListedStudy]:
    """Return the studies to compare with, this browser's own ones first."""
    own = records.newest(jobs().database, OFFERED_MOST, of=visitor.owner())
    offered = [*map(listed, own), *other_studies()]
    return [one for one in offered if one["id"] != number]


def listed(row: BatchRow) -> ListedStudy:
    return {
        "id": row.id,
        "title": title_of(row),
        "kind": row.kind,
        "state": row.state,
        "profiles": row.profiles,
        "runs": row.runs * len(row.profiles) * len(row.cells),
        "submitted": row.submitted,
    }


def first_sentence(row: BatchRow) -> StudyFinding | None:
    """Return the first finding, a broken promise if there is one; None before any run."""
    said = sentences(jobs().snapshot_of(row)["cells"])
    return next((one for one in said if one["bad"]), said[0] if said else None)


def checked_title(given: str) -> str:
    """Return the title as one line of printable characters; "" removes a title.

    Raises RequestError.
    """
    title = "".join(letter for letter in " ".join(given.split()) if letter.isprintable())
    if len(title) > TITLE_MOST:
        raise RequestError("invalid", "study.title", most=TITLE_MOST, asked=len(title))
    return title


@blueprint.get("/api/batches")
@api_schema.declare(api_schema.StudiesListed, asks=api_schema.StudiesAsked)
def list_studies() -> Response:
    """Return the studies of a browser or a key, newest first; without one those of the gallery."""
    limit = typed(request.args, "limit", 1, STUDIES_MOST, default=OTHERS_MOST)
    after = _place(request.args.get("after", ""))
    owner = visitor.known_owner()
    rows = []
    if owner or services().settings.gallery:
        rows = records.newest(jobs().database, limit + 1, of=owner, after=after)
    following = f"{rows[limit - 1].submitted}-{rows[limit - 1].id}" if len(rows) > limit else None
    shown = [{**listed(row), "url": url_for("batches.page", number=row.id)} for row in rows[:limit]]
    return json_answer({"ok": True, "studies": shown, "next": following})


def _place(cursor: str) -> tuple[int, str] | None:
    if not cursor:
        return None
    if not re.match(CURSOR, cursor):
        raise RequestError("invalid", what="after")
    submitted, _, number = cursor.partition("-")
    return int(submitted), number


@blueprint.post("/api/batches/<number>/title")
@api_schema.declare(
    api_schema.Titled, takes=api_schema.TitleSent, example={"title": "Two releases"}
)
def rename(number: str) -> Response:
    """Rename a study; the body is {title}, and "" goes back to the scenario's title."""
    visitor.require_token()
    visitor.limit_saves()
    given = body().raw("title")
    if not isinstance(given, str):
        raise RequestError("invalid", what="title")
    title = checked_title(given)
    jobs().rename(number, title, visitor.owner())
    return json_answer({"ok": True, "title": title})


@blueprint.post("/batch/<number>/title")
def rename_form(number: str) -> AnyResponse:
    visitor.require_token()
    visitor.limit_saves()
    jobs().rename(number, checked_title(request.form.get("title", "")), visitor.owner())
    return redirect(address(f"/batch/{number}", **visitor.lang_query()), 303)


# -- two of them -----------------------------------------------------------------------------------


@blueprint.get("/batch/<number>/with")
def choose_other(number: str) -> AnyResponse:
    """Open the comparison with a study: ``?address=`` as pasted, else ``?other=`` as chosen."""
    given = request.args.get("address", "").strip() or request.args.get("other", "")
    match = NUMBER.search(given)
    if match is None:
        raise RequestError("invalid", "study.address", given=given[:80] or "?")
    other = jobs().batch(match[1]).id
    return redirect(url_for("studies.side_by_side", number=jobs().batch(number).id, other=other))


def both(number: str, other: str) -> tuple[BatchRow, BatchRow]:
    """Return two studies to compare side by side.

    Raises RequestError.
    """
    if number == other:
        raise RequestError("invalid", "study.itself")
    return jobs().batch(number), jobs().batch(other)


@blueprint.get("/batch/<number>/with/<other>")
def side_by_side(number: str, other: str) -> str:
    """Render both sentences, the differences, the shares and their difference, and measures."""
    a, b = both(number, other)
    comparison = compared(jobs(), a, b)
    lang = visitor.lang()
    return render_template(
        "batch/studies.html",
        a=_facts(a),
        b=_facts(b),
        found=comparison,
        State=BatchState,
        varied=any(cell["a"] or cell["b"] for cell in comparison["cells"]),
        boot={"a": a.id, "b": b.id, "cells": comparison["cells"], "lost": LOST, "lang": lang},
    )


def _facts(batch: BatchRow) -> StudySide:
    scenario = in_language(records.scenario_of(batch), visitor.lang())
    return {
        **listed(batch),
        "scenario": scenario.title,
        "each": batch.runs,
        "first": batch.first_seed,
        "last": batch.first_seed + batch.runs - 1,
        "cells": len(batch.cells),
        "engine": batch.engine_version,
        "said": first_sentence(batch),
    }
