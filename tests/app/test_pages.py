"""Pages, headers, words, steps without a socket, and the pages of what went wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.core.words import Catalogue
from tests.app.conftest import Socket, browser
from tests.conftest import ROOT


def test_health_answers(client: FlaskClient) -> None:
    assert client.get("/health").json["ok"] is True


def test_the_library_lists_every_scenario(client: FlaskClient) -> None:
    from engine.scenarios import file

    page = client.get("/scenarios")
    assert page.status_code == 200
    for scenario in file.library().values():
        assert f'href="/s/{scenario.slug}"' in page.text


def test_a_scenario_and_a_run_have_pages(
    client: FlaskClient, socket: Socket, scenario: str
) -> None:
    run = socket.open(scenario=scenario)["run"]
    for address in (f"/s/{scenario}", f"/s/{scenario}?profile=K39+elr", f"/r/{run}?step=2"):
        page = client.get(address)
        assert page.status_code == 200, address
        assert page.mimetype == "text/html"


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/nothing/here", 404),
        ("/s/no-such-scenario", 404),
        ("/s/..%2f..%2fetc%2fpasswd", 404),
        ("/r/0123456789abcdef", 404),
        ("/r/not-a-digest", 404),
        ("/r/0123456789abcdef/steps.json", 404),
        ("/i18n/xx.json", 404),
        ("/api/runs", 405),
    ],
)
def test_unknown_pages_get_one_sentence(client: FlaskClient, address: str, status: int) -> None:
    page = client.get(address)
    assert page.status_code == status
    assert "Traceback" not in page.text
    asked_as_json = client.get(address, headers={"Accept": "application/json"}).json
    assert asked_as_json["ok"] is False
    assert asked_as_json["sentence"].endswith(".")


@pytest.mark.parametrize("address", ["/r/{}", "/r/{}.json", "/r/{}/steps.json", "/e/{}"])
def test_only_a_digest_can_be_gone(client: FlaskClient, address: str) -> None:
    codes = {"0123456789abcdef": "gone", "0123456789ABCDEF": "not_found", "x": "not_found"}
    for digest, code in codes.items():
        answer = client.get(address.format(digest), headers={"Accept": "application/json"})
        assert (answer.status_code, answer.json["code"]) == (404, code)


def test_bad_queries_are_refused(client: FlaskClient, scenario: str) -> None:
    for query in ("seed=x", "seed=99999999999999999999", "profile=K99"):
        page = client.get(f"/s/{scenario}?{query}")
        assert page.status_code == 400, query
    assert client.get("/r/0123456789abcdef/steps.json?from=x").status_code == 400


def test_a_step_that_cannot_be_read_opens_the_page_which_names_it(client: FlaskClient) -> None:
    for query in ("step=-1", "step=x", "size=huge&p=99"):
        assert client.get(f"/s/S01?{query}").status_code == 200


def test_a_run_may_travel_in_the_fragment(client: FlaskClient, socket: Socket) -> None:
    page = client.get("/r?step=3#run=2.1.a").text
    assert '"bare": true' in page.replace('"bare":true', '"bare": true')
    run = socket.open(scenario="S01")["run"]
    assert '"kept":true' in client.get(f"/r/{run}").text.replace(": ", ":")


def test_a_shared_link_does_not_change_the_language_for_good(
    client: FlaskClient,
) -> None:
    for site in ("cross-site", "none"):
        sent = client.get("/?lang=zh", headers={"Sec-Fetch-Site": site})
        assert 'lang="zh-Hans"' in sent.text
        assert '<html lang="en"' in client.get("/").text
    client.get("/?lang=zh", headers={"Sec-Fetch-Site": "same-origin"})
    assert 'lang="zh-Hans"' in client.get("/").text


def test_an_error_inside_the_server_is_told_without_its_insides(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    from app.storage.saved import Store

    def fail(*_: object) -> None:
        raise ZeroDivisionError("secret")

    monkeypatch.setattr(Store, "scenarios", fail)
    page = app.test_client().get("/scenarios")
    assert page.status_code == 500
    assert "secret" not in page.text
    assert "nothing that was saved is lost" in page.text


def test_pages_carry_a_policy_that_names_their_own_scripts_only(client: FlaskClient) -> None:
    pages = [client.get("/") for _ in range(2)]
    found = [
        re.search(r"script-src 'self' 'nonce-([\w-]+)'", page.headers["Content-Security-Policy"])
        for page in pages
    ]
    nonces = [match[1] for match in found if match]
    assert len(set(nonces)) == 2, "a nonce is used once"
    assert f'nonce="{nonces[0]}"' in pages[0].text
    for page in pages:
        assert page.headers["X-Content-Type-Options"] == "nosniff"
        assert "frame-ancestors 'self'" in page.headers["Content-Security-Policy"]


def test_language_comes_from_the_query_then_the_cookie_then_the_browser(app: Flask) -> None:
    client = browser(app)
    assert 'lang="en"' in client.get("/").text
    chinese = {"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.5"}
    assert 'lang="zh-Hans"' in client.get("/", headers=chinese).text
    assert 'lang="zh-Hans"' in client.get("/?lang=zh").text
    assert 'lang="zh-Hans"' in client.get("/").text
    assert '<html lang="en"' in client.get("/?lang=en").text
    assert '<html lang="en"' in client.get("/", headers=chinese).text


def test_words_are_served_with_an_etag(client: FlaskClient) -> None:
    answer = client.get("/i18n/zh.json")
    assert answer.json["error.forbidden"].startswith("此页面")
    again = client.get("/i18n/zh.json", headers={"If-None-Match": answer.headers["ETag"]})
    assert again.status_code == 304


def test_words_change_without_a_restart(tmp_path: Path) -> None:
    catalogue = Catalogue(tmp_path, ())
    assert catalogue.text("en", "greeting", {}) == "greeting"
    (tmp_path / "en.json").write_text('{"greeting": "Hello {name}, {other}"}')
    assert catalogue.text("zh-Hans", "greeting", {"name": "Ada"}) == "Hello Ada, {other}"


def test_steps_are_served_without_a_socket_and_kept(
    client: FlaskClient, socket: Socket, scenario: str
) -> None:
    opened = socket.open(scenario=scenario)
    address = f"/r/{opened['run']}/steps.json?from=1&count=2"
    answer = client.get(address)
    assert [step["n"] for step in answer.json["steps"]] == [1, 2]
    assert answer.json["total"] == opened["facts"]["total"]
    assert "immutable" in answer.headers["Cache-Control"]
    assert "Vary" not in answer.headers
    again = client.get(address, headers={"If-None-Match": answer.headers["ETag"]})
    assert again.status_code == 304
    assert client.get(f"/r/{opened['run']}/steps.json?from=9999").json["steps"] == []


def test_the_registry_lists_what_menus_need(client: FlaskClient) -> None:
    registry = client.get("/api/registry").json
    assert {"Z0102", "K39"} <= {profile["name"] for profile in registry["profiles"]}
    assert registry["profiles"][0]["flags"]
    assert {"I7", "I5"} <= {invariant["name"] for invariant in registry["invariants"]}
    assert all(verb["grammar"] and verb["help"] for verb in registry["verbs"])
    assert "NOT_LEADER_OR_FOLLOWER" in registry["errors"]


def test_a_browser_that_asks_for_an_icon_by_habit_gets_one(client: FlaskClient) -> None:
    with client.get("/favicon.ico", follow_redirects=True) as icon:
        assert icon.status_code == 200
        assert icon.mimetype == "image/svg+xml"


def test_vendored_files_are_cached_and_our_own_are_revalidated(client: FlaskClient) -> None:
    vendored = next((ROOT / "static" / "vendor").glob("*.mjs")).name
    with client.get(f"/static/vendor/{vendored}") as kept:
        assert "immutable" in kept.headers["Cache-Control"]
    with client.get("/static/css/page.css") as own:
        assert own.headers["Cache-Control"] == "no-cache"
        assert own.headers["ETag"]


def test_cards_are_told_per_profile(client: FlaskClient) -> None:
    answer = client.get("/api/cards/K39%2Belr-strict_min_isr")
    mark = answer.json["H-2"]
    assert mark["title"] == "The leader's computation"
    assert not any("committed ISR" in text for text, _ in mark["lines"])
    again = client.get(
        "/api/cards/K39%2Belr-strict_min_isr", headers={"If-None-Match": answer.headers["ETag"]}
    )
    assert again.status_code == 304
    assert client.get("/api/cards/K99").status_code == 400


@pytest.mark.parametrize("seed", ["0" * 5_000, "1e3", "-1", "٣", str(2**53), "9" * 40])
def test_a_number_in_an_address_is_read_or_refused(client: FlaskClient, seed: str) -> None:
    answer = client.get("/s/S20", query_string={"seed": seed})
    assert answer.status_code == 400
    assert "seed" in answer.get_data(as_text=True)


def test_a_host_that_is_no_name_is_told_so(
    client: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    answer = client.get("/", headers={"Host": "a" * 64 + ".example"})
    assert answer.status_code == 400
    assert answer.mimetype == "text/plain" and answer.text.count("\n") == 1
    assert not caplog.records
