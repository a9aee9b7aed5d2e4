"""``/metrics`` for Prometheus, and ``/health``: the state of the server, for its operator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from flask import Blueprint, Flask, Response, current_app, g
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from app.core import clock, disk_errors
from app.core.refusals import RequestError
from app.server.operator import has_token, is_local
from app.server.services import Services, services
from app.storage.row_limit import MIB
from app.web.api import json_answer
from engine import ENGINE_VERSION

blueprint = Blueprint("metrics", __name__)
KEY: Final = "highwater.metrics"
LEAST_FREE: Final = 64 * MIB
BUCKETS: Final = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)


class Figures:
    """Metrics that are counted as they happen; the rest is read from the services on demand."""

    def __init__(self, app_services: Services) -> None:
        self._services = app_services
        self.registry = CollectorRegistry()
        self.answers = Counter(
            "highwater_answers", "Requests answered.", ["status"], registry=self.registry
        )
        self.seconds = Histogram(
            "highwater_answer_seconds",
            "From a request to its answer.",
            buckets=BUCKETS,
            registry=self.registry,
        )
        self.registry.register(self)
        ProcessCollector(registry=self.registry)

    def collect(self) -> Iterator[Any]:
        app_services = self._services
        totals = app_services.accounts.totals()
        runs, weight = app_services.replays.weight()
        building, waiting = app_services.replays.building()
        working, line = app_services.workers.counts()
        gauges = {
            "requests_under_way": ("Requests being answered.", totals["requests"]),
            "body_bytes_under_way": ("Bytes of their bodies.", totals["body_bytes"]),
            "live_connections": (
                "Live connections that are open.",
                app_services.gateway.count() if app_services.gateway else 0,
            ),
            "live_runs": ("Runs ready to be stepped through.", runs),
            "live_run_bytes": ("Memory that these take, about.", weight),
            "builds": ("Runs being played from their start.", building),
            "builds_waiting": ("Runs that wait for it.", waiting + line),
            "worker_builds": ("Work under way in other processes.", working),
            "worker_bytes": ("Memory that these take.", app_services.workers.memory_bytes()),
            "batches": ("Batches that wait or run.", app_services.jobs.count()),
            "saved_bytes": ("Bytes of saved runs and scenarios.", app_services.store.kept_bytes()),
            "database_up": ("1 while the database answers.", not app_services.database.trouble),
        }
        for name, (meaning, value) in gauges.items():
            yield GaugeMetricFamily(f"highwater_{name}", meaning, value=float(value))
        yield CounterMetricFamily(
            "highwater_cpu_seconds", "Charged to addresses.", value=totals["cpu_ms"] / 1_000
        )
        refused = CounterMetricFamily(
            "highwater_refused", "Refused by a bound, by the reason.", labels=["reason"]
        )
        for reason, count in sorted(app_services.accounts.refused.items()):
            refused.add_metric([reason], count)
        yield refused


def install(app: Flask, app_services: Services) -> None:
    """Count every answer of an application."""
    figures = app.extensions[KEY] = Figures(app_services)

    @app.before_request
    def begin() -> None:
        g.asked_at = clock.monotonic()

    @app.after_request
    def count(response: Response) -> Response:
        figures.answers.labels(str(response.status_code)).inc()
        figures.seconds.observe(clock.monotonic() - g.get("asked_at", clock.monotonic()))
        return response


def _may_read() -> bool:
    """Check for the token; without one, for a program of this machine, through no proxy."""
    return has_token() if services().settings.metrics_token else is_local()


@blueprint.get("/metrics")
def metrics() -> Response:
    """Return metrics in Prometheus's format; 404 for clients that `_may_read` rejects."""
    if not _may_read():
        raise RequestError("not_found")
    figures: Figures = current_app.extensions[KEY]
    response = Response(generate_latest(figures.registry), content_type=CONTENT_TYPE_LATEST)
    response.headers["Cache-Control"] = "no-store"
    return response


@blueprint.get("/health")
def health() -> Response:
    """Return {ok, engine, parts: {database, instance, spark}, refused}: "ok", or a sentence.

    503 or 507 where something cannot be kept now.  The pages of the library play all the same.
    """
    parts: dict[str, str] = {}
    status = 200
    for name, look in (("database", _database), ("instance", _instance)):
        try:
            look()
            parts[name] = "ok"
        except RequestError as refusal:
            parts[name] = refusal.sentence()
            status = max(status, refusal.status)
    parts["spark"] = services().jobs.trouble or "ok"
    ok = status == 200
    refused = dict(services().accounts.refused)
    report: dict[str, object] = {
        "ok": ok,
        "engine": ENGINE_VERSION,
        "parts": parts,
        "refused": refused,
    }
    if not ok:
        report["sentence"] = next(said for said in parts.values() if said != "ok")
    return json_answer(report, status)


def _database() -> None:
    services().store.scenario("0" * 16)
    services().database.try_again()


def _instance() -> None:
    disk_errors.look_at(services().settings.instance, LEAST_FREE)
