"""Assembly of the application; `app.create_app` is the entry point."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from flask import Flask, g, request
from flask_socketio import SocketIO
from werkzeug.middleware.proxy_fix import ProxyFix

from app.admission.bodies import Bodies
from app.admission.connections import Gateway
from app.admission.cpu_quota import Accounts, Charge
from app.admission.deadlines import Deadlines
from app.admission.queue import Gate
from app.batch.jobs import Jobs
from app.core import config, features
from app.core.config import ROOT, SPARE_THREADS, Settings
from app.core.uploads import sweep
from app.explore.searches import Searches
from app.learn import reading
from app.live import channel, classroom, socket_handlers
from app.runs.replays import Replays
from app.server import addresses, compression, metrics, security, visitor, warm
from app.server.services import KEY, Services, services
from app.server.template_cache import TemplateCache
from app.storage.database import Database
from app.storage.row_limit import MIB
from app.storage.saved import Store
from app.web import pages
from app.workers.pool import Workers

PLAYS_AT_ONCE = 2
"""Questions that play many runs here: to compare, to shorten, to estimate, to try a scenario."""
PLAYS_WAITING = 6
PLAYS_PATIENCE_S = 5.0


SITE: Final = (*features.pages(), *features.served())


def build(settings: Settings | None = None) -> Flask:
    """Return the application, its database migrated and its sockets attached."""
    settings = settings or config.load()
    warm.warm()
    app = Flask(
        "highwater",
        root_path=str(ROOT),
        static_folder=str(ROOT / "static"),
        template_folder=str(ROOT / "templates"),
    )
    app.jinja_env.bytecode_cache = TemplateCache(settings.instance / "templates")
    app.session_interface = security.Cookies()
    app.config.update(
        SECRET_KEY=settings.secret_key,
        SESSION_COOKIE_NAME="highwater",
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_REFRESH_EACH_REQUEST=False,
        PERMANENT_SESSION_LIFETIME=timedelta(days=365),
    )
    database = Database(settings.database_url)
    database.migrate()
    store = Store(database, settings.saved_mib * MIB)
    sweep(settings.instance)
    limits = settings.builders, settings.build_mib, settings.build_cpu_s
    workers = Workers(*limits, settings.instance)
    socketio = channel.make_socketio(settings.transports)
    app.extensions[KEY] = Services(
        settings=settings,
        database=database,
        store=store,
        replays=Replays(settings, store, workers),
        socketio=socketio,
        accounts=Accounts(settings),
        plays=Gate(PLAYS_AT_ONCE, PLAYS_WAITING, PLAYS_PATIENCE_S),
        searches=Searches(),
        workers=workers,
        jobs=Jobs(database, settings, lambda message, to: socketio.emit("batch", message, to=to)),
        deadlines=Deadlines(),
        guides=reading.own(settings.guides),
    )
    classroom.open_rooms(app, settings.secret_key, socketio)
    socket_handlers.register(socketio, settings)
    pages.prepare(app)
    charge_requests(app)
    metrics.install(app, app.extensions[KEY])
    security.guard(app)
    addresses.install(app)
    compression.install(app)
    for page in SITE:
        app.register_blueprint(page.blueprint)
    _layer(app, settings, socketio)
    return app


def _layer(app: Flask, settings: Settings, socketio: SocketIO) -> None:
    """Add the layers before the application: the sender, the body, live connections."""
    forget = channel.attach(socketio, app)
    app_services: Services = app.extensions[KEY]
    app_services.gateway = gateway = Gateway(
        app.wsgi_app,
        app_services.deadlines,
        settings.sockets_per_address,
        settings.threads - SPARE_THREADS,
        forget,
    )
    layers: Any = Bodies(
        gateway,
        app_services.deadlines,
        app_services.accounts,
        {page.FILES_PATH for page in SITE if hasattr(page, "FILES_PATH")},
    )
    if settings.proxies:
        hops = settings.proxies
        layers = ProxyFix(layers, x_for=hops, x_proto=hops, x_host=hops)
    app.wsgi_app = layers  # type: ignore[method-assign]


UNCHARGED: Final = ("/static/", "/health", "/metrics")


def charge_requests(app: Flask) -> None:
    """Refuse requests of overdrawn addresses, and charge all others while their work runs."""

    @app.before_request
    def admit() -> None:
        if request.path.startswith(UNCHARGED):
            return
        g.charge = Charge(services().accounts, request.remote_addr or "", visitor.browser_token())

    @app.teardown_request
    def close(_error: BaseException | None) -> None:
        charge = g.pop("charge", None)
        if charge is not None:
            charge.close()
