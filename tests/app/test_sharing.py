"""A run inside a foreign page: readable without scripts, without cookies, from anywhere."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from app.command.cli import main
from engine.export.exports import FORMATS
from tests.app.conftest import Socket


@pytest.fixture
def run(socket: Socket) -> str:
    return str(socket.open(scenario="R20", profile="Z0102")["run"])


def test_the_first_view_needs_no_script_and_sets_no_cookie(client: FlaskClient, run: str) -> None:
    client = client.application.test_client()  # one that was never here
    page = client.get(f"/e/{run}?step=116&lang=zh", headers={"Sec-Fetch-Site": "same-origin"})
    assert page.status_code == 200
    assert "Set-Cookie" not in page.headers
    assert 'lang="zh-Hans"' in page.text
    assert "Broker 1" in page.text and "第 116 步" in page.text
    table = page.text[page.text.index("<tbody>") : page.text.index("</tbody>")]
    assert table.count("<tr>") == 3 and 'class="chip e2">m1' in table


def test_only_embedded_pages_may_be_framed(client: FlaskClient, run: str) -> None:
    for address, may in ((f"/e/{run}", "*"), (f"/r/{run}", "'self'"), ("/", "'self'")):
        policy = client.get(address).headers["Content-Security-Policy"]
        assert f"frame-ancestors {may}" in policy.split("; "), address
    missing = client.get("/e/0123456789abcdef")
    assert missing.status_code == 404 and "Set-Cookie" not in missing.headers


def test_unknown_options_of_the_address_are_named(client: FlaskClient, run: str) -> None:
    page = client.get(f"/e/{run}?step=x&controls=fly&panel=none&theme=dark&lang=xx")
    assert page.status_code == 200
    assert "step=x" in page.text and "controls=fly" in page.text and "lang=xx" in page.text
    assert 'data-theme="dark"' in page.text and 'id="say"' not in page.text


def test_a_step_after_the_end_is_the_end(client: FlaskClient, run: str) -> None:
    assert "Step 188 of 188" in client.get(f"/e/{run}?step=99999").text


# -- files to take along --------------------------------------------------------------------------


def test_every_file_is_handed_over_under_its_name_for_ever(client: FlaskClient, run: str) -> None:
    for form in FORMATS:
        answer = client.get(f"/r/{run}/export/{form}")
        assert answer.status_code == 200, form
        assert "attachment; filename=" in answer.headers["Content-Disposition"]
        assert "immutable" in answer.headers["Cache-Control"]
        again = {"If-None-Match": answer.headers["ETag"]}
        assert client.get(f"/r/{run}/export/{form}", headers=again).status_code == 304
    shown = client.get(f"/r/{run}/export/mermaid?show")
    assert shown.text.startswith("sequenceDiagram") and shown.mimetype == "text/plain"
    assert client.get(f"/r/{run}/export/pdf").status_code == 404
    assert client.get("/r/0123456789abcdef/export/yaml").status_code == 404


def test_the_command_line_writes_the_same_files(client: FlaskClient, run: str) -> None:
    for form in ("mermaid", "shiviz", "golden", "yaml", "json", "pytest", "steps"):
        told = CliRunner().invoke(main, ["run", "R20", "--profile", "Z0102", "--export", form])
        assert told.exit_code == 0
        assert told.output == client.get(f"/r/{run}/export/{form}").text
    told = CliRunner().invoke(main, ["run", "R20", "--export", "pdf"])
    assert told.exit_code == 2 and "cannot be exported as pdf" in told.output
