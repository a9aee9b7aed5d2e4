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
from tests.app.conftest import SCENARIO, browser, post
from tests.app.conftest import TOKEN as MINE
from tests.app.test_batch_jobs import play_chunk
from tests.batch_runner import plain_jobs

pytestmark = pytest.mark.quick

GUESSES = 8
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


GOOD = {
    "/api/scenarios": {"yaml": SCENARIO},
    "/api/scenarios/check": {"yaml": SCENARIO + "script: [nonsense"},
    "/api/scenarios/play": {"yaml": SCENARIO},
    "/api/scenarios/try": {"yaml": SCENARIO, "profile": "K39"},
    "/api/play": {"scenario": "R20", "release": "0.10.2.2", "first": 130, "count": 9},
    "/api/batches": {"scenario": "S74", "runs": 20},
    "/api/batches/estimate": {"scenario": "S74", "runs": 20},
    "/api/cluster": {
        "text": "Topic: a Partition: 0 Leader: 1 Replicas: 1,2 Isr: 1\n",
        "profile": "K39",
    },
}


@pytest.mark.parametrize("path", GOOD)
def test_valid_requests_are_answered_as_documented(
    patient: Flask, operations: list[Any], path: str
) -> None:
    operation = next(one for one in operations if one.path == path)
    case = operation.Case(body=GOOD[path], media_type="application/json")
    ask(patient, case)
    assert post(browser(patient), path, GOOD[path]).status_code < 300


def test_an_answer_that_is_not_as_told_is_noticed(patient: Flask, operations: list[Any]) -> None:
    operation = next(one for one in operations if one.path == "/api/lens.json")
    response = operation.Case().call(app=patient, headers={"Accept-Encoding": "identity"})
    broken = response.json()
    del broken["releases"]
    with pytest.raises(Exception, match="releases"):
        response.content = json.dumps(broken).encode()
        operation.validate_response(response)
