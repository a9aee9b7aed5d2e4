"""Pages of a tab: the server's own pages and API, rendered in the Web Worker.

What needs a server (classes, batches) has no address here.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Final, cast

from flask import Flask, g, request, session
from werkzeug.test import Client

from app.admission.cpu_quota import Accounts
from app.admission.queue import Gate
from app.core import features
from app.core.config import ROOT
from app.core.refusals import RequestError
from app.explore.answering import TAB_LIMITS, SearchTask
from app.explore.search import DONE, REFUSED, RUNS, Search
from app.explore.search_request import Ask
from app.learn import reading
from app.server import addresses, visitor
from app.server.services import KEY, Services
from app.site.tab_session import TabSession
from app.web import pages
from engine.model.errors import InputError

SLICE_S: Final = 0.6
KEPT: Final = 16


class TabSearches:
    """Searches of one page, without processes or threads; the interface of `Searches`."""

    limits = TAB_LIMITS
    pictures = False

    def __init__(self) -> None:
        self._known: dict[str, tuple[Search, SearchTask | None]] = {}

    def ask(self, ask: Ask, address: str) -> Search:
        """Return the search of this question, begun if there is none."""
        ask.check()
        earlier = self._known.get(ask.number)
        if earlier is not None and earlier[0].stands:
            return earlier[0]
        search, task = Search(ask, address, RUNS), None
        try:
            task = SearchTask(ask, TAB_LIMITS)
        except InputError as error:
            search.refusal = RequestError(error.code, text=error.sentence, where=error.where)
            search.state = REFUSED
        self._known[ask.number] = search, task
        while len(self._known) > KEPT:
            del self._known[next(iter(self._known))]
        return search

    def find(self, number: str) -> Search | None:
        """Return the search of a question, a slice further."""
        search, task = self._known.get(number, (None, None))
        if search is None or task is None or search.over:
            return search
        try:
            task.advance(SLICE_S)
        except MemoryError:
            search.refusal, search.state = RequestError("too_large", "search.memory"), REFUSED
            return search
        search.progress = task.progress
        _take(search, task)
        return search

    def place(self, search: Search) -> int:
        """Return 0: no search waits for another one."""
        del search
        return 0

    def cancel(self, number: str, address: str) -> None:
        """End a search; what it has seen so far becomes its answer."""
        del address
        search, task = self._known.get(number, (None, None))
        if search is not None and task is not None and not search.over:
            task.cancel()
            _take(search, task)


def _take(search: Search, task: SearchTask) -> None:
    """Take over the answer of a task that is over."""
    if task.over and task.answer is not None:
        search.answer = task.answer
        search.cancelled = task.answer["cancelled"]
        search.state = DONE


if TYPE_CHECKING:
    from app.batch.jobs import Jobs
    from app.explore.searches import Searches
    from app.storage.database import Database
    from app.storage.saved import Store
    from app.workers.pool import Workers


def build(tab_session: TabSession, frozen: bool = False) -> Flask:
    """Return the application of a tab, around the runs that its session knows.

    `frozen`: for pages that are written to files, with the addresses of packed scripts.
    """
    app = Flask(
        "highwater",
        root_path=str(ROOT),
        static_folder=str(ROOT / "static"),
        template_folder=str(ROOT / "templates"),
    )
    # In a worker scripts keep their plain names: the page knows the packs of its own folder.
    app.debug = not frozen
    app.secret_key = tab_session.settings.secret_key
    app.extensions[KEY] = Services(
        settings=tab_session.settings,
        database=cast("Database", None),
        store=cast("Store", tab_session.store),
        replays=tab_session.replays,
        socketio=cast("Any", None),
        accounts=Accounts(tab_session.settings),
        plays=Gate(1, 1, 0.0),
        jobs=cast("Jobs", None),
        searches=cast("Searches", TabSearches()),
        workers=cast("Workers", tab_session.workers),
        words=tab_session.words,
        guides=reading.own(""),
    )
    pages.prepare(app)
    if frozen:
        addresses.install(app)
    else:
        app.context_processor(lambda: {"modules_of": lambda _entry: []})
    app.before_request(_trust)
    for page in features.pages():
        app.register_blueprint(page.blueprint)
    return app


def _trust() -> None:
    """Let requests pass as those of our own page: nothing else can reach a tab's worker."""
    session["csrf"] = g.csrf = secrets.token_urlsafe(8)
    request.environ["HTTP_X_CSRF_TOKEN"] = visitor.csrf_token()


HEADERS: Final = ("Content-Type", "Content-Disposition", "Location")
"""Headers of an answer that a page reads."""


def fetch(
    app: Flask, method: str, path: str, body: bytes = b"", kind: str = ""
) -> tuple[int, list[tuple[str, str]], bytes]:
    """Return (status, headers, body) of a request for an address of this application."""
    sent = {"Content-Type": kind} if kind else {}
    answer = Client(app).open(path, method=method, data=bytes(body), headers=sent)
    headers = [(name, answer.headers[name]) for name in HEADERS if name in answer.headers]
    return answer.status_code, headers, answer.get_data()
