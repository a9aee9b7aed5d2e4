"""What /api is said to take and give, against what it does: bounded guesses by schemathesis."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
import schemathesis
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import HealthCheck, Phase, given, seed
from hypothesis import settings as bounds
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from app import create_app
from app.core import config
from app.server.openapi import TOKEN, routes
from app.server.services import KEY
from tests.app.conftest import TOKEN as MINE
from tests.app.conftest import browser, post
from tests.batch_runner import plain_jobs, play_chunk

pytestmark = pytest.mark.quick

GUESSES = 5
CHECKED = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """An application that does not count how often it is asked, with studies counted here."""
    found = config.load({}, instance=tmp_path_factory.mktemp("instance"))
    many = {"saves_burst": 10**5, "moves_burst": 10**5, "opens_burst": 10**5}
    app = create_app(replace(found, cpu_burst_ms=10**9, batches_per_address=10**6, **many))
    services = app.extensions[KEY]
    services.jobs.close()
    services.jobs = plain_jobs(services, play_chunk, 0.0)
    yield app
    services.close()


@pytest.fixture(scope="module")
def operations(patient: Flask) -> list[Any]:
    schema = schemathesis.openapi.from_wsgi("/api/openapi.json", patient)
    return [found.ok() for found in schema.get_all_operations()]


def test_every_route_is_declared(patient: Flask) -> None:
    rules = {str(rule) for rule in patient.url_map.iter_rules() if str(rule).startswith("/api/")}
    told = browser(patient).get("/api/openapi.json").json["paths"]
    assert {rule.replace("<", "{").replace(">", "}") for rule in rules} == {
        *told,
        "/api/openapi.json",
    }


def test_a_person_can_read_it_in_either_language(client: FlaskClient, app: Flask) -> None:
    for lang, word in (("en", "Starts a study"), ("zh-Hans", "开始一项研究")):
        text = client.get(f"/api?lang={lang}").text
        assert word in text
        assert all(text.count(path) for path, *_ in routes(app))
        assert not re.search(r">\s*api\.", text), "a key that has no words"


def ask(app: Flask, case: Any) -> None:
    client = browser(app)
    cookie = client.get_cookie("highwater")
    assert cookie is not None
    case.call_and_validate(
        app=app,
        checks=CHECKED,
        headers={TOKEN: MINE, "Accept-Encoding": "identity"},
        cookies={"highwater": cookie.value},
    )


def test_every_route_keeps_what_is_told_of_it(patient: Flask, operations: list[Any]) -> None:
    """Bodies and queries as they are declared; each route some, the same ones every time."""
    assert len(operations) == len(routes(patient))
    for operation in operations:

        @seed(0)
        @bounds(
            max_examples=GUESSES,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy())
        def guess(case: Any) -> None:
            ask(patient, case)

        guess()


KNOWN_RUN = ("/api/runs", "/api/shorten", "/api/futures")
"""Routes whose example names a run that the server would have to know."""


def test_examples_are_answered_as_documented(patient: Flask, operations: list[Any]) -> None:
    document = browser(patient).get("/api/openapi.json").json
    bodies = {
        one.path: document["paths"][one.path]["post"]["requestBody"]["content"]["application/json"]
        for one in operations
        if one.method.upper() == "POST" and one.body and "{" not in one.path
    }
    assert all(body["example"] for body in bodies.values())
    for operation in operations:
        if operation.method.upper() == "POST" and operation.path in bodies:
            example = bodies[operation.path]["example"]
            ask(patient, operation.Case(body=example, media_type="application/json"))
            done = post(browser(patient), operation.path, example)
            assert (done.status_code < 300) == (operation.path not in KNOWN_RUN), done.text


def test_generators_of_clients_can_read_it(client: FlaskClient) -> None:
    """They know neither `"items": false` nor an enum without a type."""
    document = client.get("/api/openapi.json").json
    parts = [document]
    while parts:
        part = parts.pop()
        children = part.values() if isinstance(part, dict) else part
        parts += [one for one in children if isinstance(one, (dict, list))]
        if isinstance(part, dict):
            assert part.get("items") is not False and ("enum" not in part or "type" in part), part
    for path, operations in document["paths"].items():
        for operation in operations.values():
            assert operation["responses"]["429"] == {"$ref": "#/components/responses/SlowDown"}
            assert ("404" in operation["responses"]) == ("{" in path)
    assert "Retry-After" in document["components"]["responses"]["SlowDown"]["headers"]


def test_an_answer_that_is_not_as_told_is_noticed(patient: Flask, operations: list[Any]) -> None:
    operation = next(one for one in operations if one.path == "/api/lens.json")
    response = operation.Case().call(app=patient, headers={"Accept-Encoding": "identity"})
    broken = response.json()
    del broken["releases"]
    with pytest.raises(Exception, match="releases"):
        response.content = json.dumps(broken).encode()
        operation.validate_response(response)
