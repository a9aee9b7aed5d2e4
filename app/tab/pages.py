"""Pages of a tab: the server's own pages and API, rendered in the Web Worker.

What needs a server (saved runs, classes, batches) has no address here.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Final, cast

from flask import Flask, g, request, session
from werkzeug.test import Client

from app.admission.cpu_quota import Accounts
from app.admission.queue import Gate
from app.core.config import ROOT
from app.learn import reading
from app.server import addresses, visitor
from app.server.services import KEY, Services
from app.server.shared_pages import PAGES
from app.tab.door import Door
from app.tab.searches import TabSearches
from app.web import pages
from app.web.shortening import shorten_run

if TYPE_CHECKING:
    from app.batch.jobs import Jobs
    from app.explore.searches import Searches
    from app.storage.database import Database
    from app.storage.saved import Store
    from app.workers.pool import Workers


def build(door: Door, frozen: bool = False) -> Flask:
    """Return the application of a tab, around the runs that its door knows.

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
    app.secret_key = door.settings.secret_key
    app.extensions[KEY] = Services(
        settings=door.settings,
        database=cast("Database", None),
        store=cast("Store", door.store),
        replays=door.replays,
        socketio=cast("Any", None),
        accounts=Accounts(door.settings),
        plays=Gate(1, 1, 0.0),
        jobs=cast("Jobs", None),
        searches=cast("Searches", TabSearches()),
        workers=cast("Workers", door.workers),
        words=door.words,
        guides=reading.own(""),
    )
    pages.prepare(app)
    if frozen:
        addresses.install(app)
    else:
        app.context_processor(lambda: {"modules_of": lambda _entry: []})
    app.before_request(_trust)
    for page in PAGES:
        app.register_blueprint(page.blueprint)
    app.post("/api/shorten")(shorten_run)
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
