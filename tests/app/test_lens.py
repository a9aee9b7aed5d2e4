"""The code lens over HTTP: stacks behind a parameter, the search, and words that come later."""

from __future__ import annotations

import re
from html import unescape

import pytest
from flask.testing import FlaskClient

from app.lens.pages import EXAMPLES
from engine.lens.search import hit
from engine.lens.source import source
from engine.lens.stacks import GAPS, REASONS
from engine.scenarios.file import find
from engine.sim.run import Run
from tests.conftest import sample


def digest_of(code: str, profile: str) -> str:
    scenario = find(code)
    return str(Run(scenario, profile).digest)


@pytest.fixture
def run(client: FlaskClient) -> str:
    return digest_of("S20", "Z0102")


def test_the_default_bytes_stay_as_they_are(client: FlaskClient, run: str) -> None:
    plain = client.get(f"/r/{run}/steps.json?from=3&count=2")
    seen = client.get(f"/r/{run}/steps.json?from=3&count=2&lens=0.10.2.2")
    again = client.get(f"/r/{run}/steps.json?from=3&count=2")
    assert plain.data == again.data and b'"lens"' not in plain.data
    assert plain.headers["ETag"] != seen.headers["ETag"]
    for with_lens, without in zip(seen.json["steps"], plain.json["steps"], strict=True):
        assert {key: value for key, value in with_lens.items() if key != "lens"} == without
        assert set(with_lens["lens"]) == {"releases"}


def test_two_releases_beside_each_other(client: FlaskClient, run: str) -> None:
    answer = client.get(f"/r/{run}/steps.json?count=64&only=lens&lens=0.10.2.2,2.5.1").json
    stacks = 0
    for step in answer["steps"]:
        assert set(step) == {"n", "lens"}
        old, new = step["lens"]["releases"]
        assert (old["release"], new["release"]) == ("0.10.2.2", "2.5.1")
        for at, (one, other) in enumerate(zip(old["stacks"], new["stacks"], strict=True)):
            rows = step["lens"]["beside"][at]
            assert {i for i, _, _ in rows} - {None} == set(range(len(one["frames"])))
            assert {j for _, j, _ in rows} - {None} == set(range(len(other["frames"])))
            for frame in (*one["frames"], *other["frames"]):
                assert frame["gap"] in ("", *GAPS) and frame["file"].endswith((".scala", ".java"))
            stacks += 1
    assert stacks > 20


@pytest.mark.parametrize("asked", ["9.9.9", "1,2,3", "K39", "2.5.1,2.5"])
def test_a_release_that_is_not_known_is_refused(client: FlaskClient, run: str, asked: str) -> None:
    answer = client.get(f"/r/{run}/steps.json?lens={asked}")
    assert answer.status_code == 400


def test_the_releases_and_the_own_one(client: FlaskClient) -> None:
    answer = client.get("/api/lens.json?profile=K39").json
    assert answer["own"] == "3.9.1"
    assert [one["name"] for one in answer["releases"]] == list(source().releases)
    assert answer["releases"][-1]["modes"] == ["kraft"]
    assert client.get("/api/lens.json?profile=K99").status_code == 400


def test_words_of_the_panel_come_by_themselves(client: FlaskClient) -> None:
    own = client.get("/i18n/en.json?page=lens").json
    assert own and all(key.startswith("lens.") for key in own)
    assert not set(own) & set(client.get("/i18n/en.json?page=animator").json)
    for key in (*(f"lens.gap.{one}" for one in GAPS), *(f"lens.reason.{one}" for one in REASONS)):
        assert key in own, key


def test_the_search_answers_where_a_method_acts(client: FlaskClient) -> None:
    text = client.get("/code?q=truncateToEpochEndOffsets&lang=en").text
    assert "AbstractFetcherThread.truncateToEpochEndOffsets" in text
    (first, *_) = re.findall(r'<article class="hit".*?</article>', text, flags=re.S)
    links = [unescape(one) for one in re.findall(r'class="see" href="([^"]+)"', first)]
    acts = hit("AbstractFetcherThread.truncateToEpochEndOffsets").acts
    assert len(links) == len({act.code for act in acts}) > 1
    page = client.get(links[0])
    assert page.status_code == 200 and "tab=code" in links[0]
    assert "ReplicaFetcherThread-<fetcher>-<leader>" in unescape(text)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    "question", sample(["", "<b>no such", "partitionMapLock", "KIP-279", "x" * 300], 2)
)
def test_the_search_page_has_all_its_words(client: FlaskClient, lang: str, question: str) -> None:
    answer = client.get("/code", query_string={"q": question, "lang": lang})
    assert answer.status_code == 200
    assert "<b>no such" not in answer.text
    assert not re.search(r">\s*lens\.[\w.]+\s*<", answer.text)


def test_the_library_leads_to_methods(client: FlaskClient) -> None:
    assert "of Kafka with this name: 1" in client.get("/scenarios?q=partitionMapLock").text
    assert "of Kafka with this name" not in client.get("/scenarios?q=truncation").text
    assert (
        'id="methods" href="/code?q=nothingLikeIt"' in client.get("/scenarios?q=nothingLikeIt").text
    )


def test_the_glossary_leads_to_methods(client: FlaskClient) -> None:
    text = client.get("/glossary?lang=en").text
    assert '<a href="/code?q=Partition.makeLeader">' in text
    assert '<a class="pill" href="/code?q=KIP-101">' in text


def test_examples_of_the_page_are_found(client: FlaskClient) -> None:
    for one in EXAMPLES:
        assert 'class="hit"' in client.get(f"/code?q={one}").text, one


def test_a_breakpoint_on_a_method_knows_the_rules_that_run_it(client: FlaskClient) -> None:
    asked = "/api/lens/method.json?name={}&profile={}"
    cut = client.get(asked.format("doTruncate", "2.5.1")).json
    assert cut["methods"] == ["AbstractFetcherThread.doTruncate"]
    assert "T-2" in cut["cues"] and "L-4" not in cut["cues"]
    assert client.get(asked.format("doTruncate", "Z0102")).json["cues"] == []
    whole = client.get(asked.format("Partition.truncateTo", "K39")).json
    assert "T-4" in whole["cues"]
    assert client.get(asked.format("x" * 500, "K39")).json["cues"] == []
    assert client.get(asked.format("doTruncate", "K99")).status_code == 400


def test_the_library_is_searched_by_what_acts(client: FlaskClient) -> None:
    found = client.get("/api/lens/runs.json?q=truncateToEpochEndOffsets").json["scenarios"]
    assert "fast-failover" in found and "happy-path" not in found
    assert client.get("/api/lens/runs.json?q=nothingLikeIt").json["scenarios"] == []
    assert client.get("/api/lens/runs.json").json["scenarios"] == []


def test_threads_over_time_are_asked_for_by_window(client: FlaskClient, run: str) -> None:
    asked = "/r/{}/threads.json?from={}&count={}&lens={}"
    answer = client.get(asked.format(run, 1, 64, "0.10.2.2"))
    assert answer.headers["Cache-Control"].endswith("immutable") and answer.json["rows"]
    steps = {
        step
        for row in answer.json["rows"]
        for block in row["blocks"]
        for step in block["steps"]
        if block["chain"] < len(answer.json["chains"])
    }
    assert min(steps) >= 1 and max(steps) <= 64
    assert client.get(asked.format(run, 1, 10**6, "0.10.2.2")).json["rows"] == answer.json["rows"]
    assert client.get(asked.format(run, 10**6, 40, "0.10.2.2")).json["rows"] == []
    for wrong in (asked.format(run, 1, 40, "9.9.9"), asked.format(run, "x", 40, "2.5.1")):
        assert client.get(wrong).status_code == 400
    assert client.get(asked.format("0" * 64, 1, 40, "2.5.1")).status_code == 404


def test_a_step_is_told_through_all_releases(client: FlaskClient, run: str) -> None:
    answer = client.get(f"/r/{run}/through.json?step=48")
    assert answer.headers["Cache-Control"].endswith("immutable")
    assert answer.json["step"] == 48 and len(answer.json["forms"]) > 1
    again = {"If-None-Match": answer.headers["ETag"]}
    assert client.get(f"/r/{run}/through.json?step=48", headers=again).status_code == 304
    assert client.get(f"/r/{run}/through.json?step=x").status_code == 400
    assert client.get(f"/r/{run}/through.json?step={10**9}").json["step"] < 10**9
    assert client.get(f"/r/{'0' * 64}/through.json?step=1").status_code == 404
