"""Search results as a page, the HTTP API and the command show them, in one language."""

from __future__ import annotations

from typing import Final, TypedDict

from app.find.entries import KINDS
from app.find.index import MAX_QUERY_LENGTH, SearchAnswer, SearchHit, search
from app.find.meaning import meant_by
from app.find.synonyms import phrase
from engine.model.languages import USUAL

SNIPPET: Final = 180
"""Characters of a snippet."""
MUCH_MORE: Final = 2
"""Words of the query by which another sentence beats the first, which sums the entry up."""
STEM: Final = 5
"""Characters that two forms of a word share."""


class Result(TypedDict):
    """One hit of a search.

    `text` is its sentence that matches best, `key` a phrase or name that says more of the query (""
    if none does), `matched` the words of the query.
    """

    kind: str
    name: str
    code: str
    title: str
    url: str
    text: str
    key: str
    matched: list[str]


class Results(TypedDict):
    """All hits of a query; `read` names the words that replaced unknown ones.

    `near` are queries to try, where nothing was found.
    """

    query: str
    total: int
    hits: list[Result]
    read: dict[str, str]
    near: list[str]


def results(query: str, language: str, kinds: tuple[str, ...] = (), limit: int = 12) -> Results:
    """Return the best hits of a query, of these kinds or of all.

    What a version, an error or a log line means comes before what its words find.
    """
    meant = [SearchHit(entry, 1.0, ()) for entry in meant_by(query)]
    names = {(hit.entry.kind, hit.entry.name) for hit in meant}
    query = " ".join(query[:MAX_QUERY_LENGTH].split())
    answer = search(query) if query else SearchAnswer((), {}, ())
    others = [hit for hit in answer.hits if (hit.entry.kind, hit.entry.name) not in names]
    hits = [hit for hit in (*meant, *others) if not kinds or hit.entry.kind in kinds]
    return {
        "query": query,
        "total": len(hits),
        "hits": [_result(hit, language) for hit in hits[:limit]],
        "read": answer.read,
        "near": [] if hits else list(answer.near),
    }


def _result(hit: SearchHit, language: str) -> Result:
    entry = hit.entry
    title = entry.title.get(language) or entry.title[USUAL]
    text, key = _passages(hit, language)
    return {
        "kind": entry.kind,
        "name": entry.name,
        "code": entry.code,
        "title": title,
        "url": entry.url,
        "text": text if len(text) <= SNIPPET else text[: SNIPPET - 1].rsplit(" ", 1)[0] + "…",
        "key": "" if key == title else key,
        "matched": list(hit.matched),
    }


def _passages(hit: SearchHit, language: str) -> tuple[str, str]:
    """Return the sentence and the key of the entry with the most words of the query.

    The first of equals is taken.  The key is "" where the sentence has as many.
    """
    stems = {part[:STEM] for word in hit.matched for part in phrase(word)}

    def count(text: str) -> int:
        return len(stems & {part[:STEM] for part in phrase(text)})

    said = hit.entry.said(language)
    text = max(said[1:], key=count, default="")
    if said and count(text) < count(said[0]) + MUCH_MORE:
        text = said[0]
    key = max(hit.entry.keys, key=count, default="")
    return text, key if count(key) > count(text) else ""


def slugs(query: str) -> list[str]:
    """Return slugs of the scenarios that match, the best first."""
    return [hit.entry.name for hit in search(query).hits if hit.entry.kind == "scenario"]


def known_kinds(asked: list[str]) -> tuple[str, ...]:
    """Return those of the kinds asked for that exist."""
    return tuple(kind for kind in KINDS if kind in asked)
