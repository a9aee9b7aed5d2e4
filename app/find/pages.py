"""Search over HTTP: JSON for programs, and a fragment of a page for the search boxes."""

from __future__ import annotations

import re

from flask import Blueprint, Response, render_template, request

from app.core.request_fields import one_of, typed
from app.find.answers import Results, results, slugs
from app.find.entries import KINDS
from app.find.index import MAX_HITS
from app.server import api_schema, visitor
from app.server.edition import lasting
from app.web.api import json_answer
from engine.lens.search import scenarios

blueprint = Blueprint("lookup", __name__)

DEFAULT_HITS = 12
SHELF_HITS = 3
"""Hits outside the library that are shown above its cards."""
OUTSIDE_LIBRARY = tuple(kind for kind in KINDS if kind != "scenario")


OF_KAFKA = re.compile(r"[a-z][A-Z]|^[A-Z][a-z]+[A-Z]|^(?:KIP|KAFKA)-\d+$", re.ASCII)
"""A query that is written like a method or a class of Kafka, a KIP or a JIRA number."""


def matching(query: str) -> list[str]:
    """Return slugs of the scenarios that match, best first.

    After them those in which the method, class, KIP or JIRA number acts.
    """
    named = slugs(query) if query else []
    acting = sorted(scenarios(query)) if OF_KAFKA.search(query) else []
    return list(dict.fromkeys([*named, *acting]))


def others(query: str, language: str) -> Results:
    """Return hits outside the library, for the page that shows scenarios as cards."""
    return results(query, language, OUTSIDE_LIBRARY, SHELF_HITS)


def _search_results() -> Results:
    limit = typed(request.args, "limit", 1, MAX_HITS, DEFAULT_HITS)
    kinds = tuple(one_of(kind, "kind", KINDS) for kind in request.args.getlist("kind"))
    query = request.args.get("q", "")
    return results(query, visitor.lang(), kinds, limit)


@blueprint.get("/api/search")
@api_schema.declare(api_schema.FoundJson, asks=api_schema.Sought)
def search() -> Response:
    """Return the entries that match ``?q=``, best first; ``?kind=`` and ``?limit=`` narrow them."""
    response = json_answer({"ok": True, **_search_results()})
    response.add_etag()
    lasting(response).make_conditional(request)
    return response


@blueprint.get("/hits")
def hits() -> Response:
    """Render the same as a fragment of HTML; with ``?shelf=1`` of scenarios the slugs only."""
    shelf = "shelf" in request.args
    answer = others(request.args.get("q", ""), visitor.lang()) if shelf else _search_results()
    fitting = matching(answer["query"]) if shelf else []
    page = render_template("find/hits.html", found=answer, shelf=shelf, slugs=fitting)
    response = Response(page)
    response.add_etag()
    response.headers["Vary"] = "Cookie"
    response.cache_control.no_cache = True
    response.make_conditional(request)
    return response
