"""Studies as things people keep: titles, lists, and two studies side by side."""

from __future__ import annotations

import csv
import dataclasses
import re
from collections.abc import Callable
from typing import Any

from flask import Flask
from flask.testing import FlaskClient

from app.batch import records
from app.batch.jobs import Jobs
from app.batch.study_comparison import compared
from app.batch.study_pages import TITLE_MOST
from app.server.services import Services
from tests.app.conftest import TOKEN, post
from tests.app.test_batch_pages import browser_of_another, start
from tests.batch_runner import play_chunk


def bare(page: str) -> str:
    """A page as people read it: no markup, no scripts, one space between words."""
    text = re.sub(r"(?s)<(script|style).*?</\1>|<[^>]*>", " ", page)
    return " ".join(text.replace("\u202f", " ").split())


def test_a_study_has_the_title_its_owner_gave_it(
    app: Flask, client: FlaskClient, jobs: Jobs
) -> None:
    number = start(client, jobs, runs=20)
    named = client.post(
        f"/batch/{number}/title", data={"csrf": TOKEN, "title": "  <b>Prod</b>\n 20\x00\u202e26 "}
    )
    assert named.status_code == 303
    page = client.get(f"/batch/{number}").text
    assert "<h1>&lt;b&gt;Prod&lt;/b&gt; 2026</h1>" in page
    assert 'value="&lt;b&gt;Prod&lt;/b&gt; 2026"' in page
    other = browser_of_another(app)
    assert f"/batch/{number}/title" not in other.get(f"/batch/{number}").text
    address = f"/api/batches/{number}/title"
    foreign = other.post(address, json={"title": "x"}, headers={"X-CSRF-Token": "somebody else"})
    assert foreign.status_code == 403
    for title, status in (("x" * (TITLE_MOST + 1), 400), (7, 400), ("y" * TITLE_MOST, 200)):
        assert post(client, address, {"title": title}).status_code == status
    assert post(client, address, {"title": ""}).json["title"] == ""
    assert "y" * TITLE_MOST not in client.get(f"/batch/{number}").text


def test_your_studies_are_found_again(
    app: Flask, services: Services, client: FlaskClient, jobs: Jobs
) -> None:
    number = start(client, jobs, runs=50, profiles=["Z0102"])
    post(client, f"/api/batches/{number}/title", {"title": "My own one"})
    mine, others = lists(client)
    assert "My own one" in mine
    assert re.search(
        r"\d of 50 runs lost a record that Kafka had promised to keep under Kafka 0.10.2", mine
    )
    assert "Kafka 0.10.2 50 done" in mine
    assert others == ""
    other = browser_of_another(app)
    assert "Nothing was run yet." in lists(other)[0] and lists(other)[1] == ""
    services.settings = dataclasses.replace(services.settings, gallery=1)
    assert "My own one" in lists(other)[1]


def lists(client: FlaskClient) -> tuple[str, str]:
    page = client.get("/batch").text
    _, _, below = page.partition('<section aria-labelledby="recent">')
    mine, _, others = below.partition('<section aria-labelledby="others">')
    return bare(mine), bare(others)


def test_a_study_of_one_run_does_not_pretend_to_know(client: FlaskClient, jobs: Jobs) -> None:
    number = start(client, jobs, runs=1, profiles=["K39"], first_seed=1)
    found = client.get(f"/api/batches/{number}").json
    assert found["cells"][0]["violating"]["hits"] == 0
    assert "0 of 1 runs lost" in (page := bare(client.get(f"/batch/{number}").text))
    assert "these are too few runs to say how rare a loss is" in page
    assert "below 100 %" not in page


# -- two studies side by side ----------------------------------------------------------------------


def test_two_studies_of_one_scenario_with_other_settings(client: FlaskClient, jobs: Jobs) -> None:
    """A plays min.insync.replicas 1 and 2, B 2 and 3: they meet at 2, with the same runs."""
    a = start(client, jobs, profiles=["Z0102", "K39"], vary=["min.insync.replicas=1,2"])
    b = start(client, jobs, profiles=["K39", "Z011"], vary=["min.insync.replicas=2,3"], runs=300)
    found = compared(jobs, jobs.batch(a), jobs.batch(b))
    assert [(one["profile"], one["a"], one["b"], one["same"]) for one in found["cells"]] == [
        ("K39", "min.insync.replicas=2", "min.insync.replicas=2", True)
    ]
    row = found["cells"][0]["rows"][0]
    assert (row["a"]["n"], row["b"]["n"]) == (194, 294), "six seeds of the fake fail by themselves"
    assert row["difference"] is None
    assert {one["key"] for one in found["remarks"]} == {
        "study.remark.same",
        "study.remark.left",
    }
    assert found["lines"] == []
    page = bare(client.get(f"/batch/{a}/with/{b}").text)
    assert "Both scenarios are played under the same conditions." in page
    assert "Seeds 0 to 199 are the same runs in both studies" in page
    assert "the same runs" in page
    assert "study." not in page


def test_seeds_of_two_scenarios_are_paired_by_what_they_broke(
    client: FlaskClient, jobs: Jobs, make_jobs: Callable[..., Jobs]
) -> None:
    """The fake draws by the scenario's title, so these two break at different seeds."""
    mine, theirs = (
        {"title": title, "profiles": ["K39"], "configs": {"min.insync.replicas": least}}
        for title, least in (("One", 1), ("Two", 2))
    )
    a, b = (
        start(client, jobs, scenario=saved(client, scenario), runs=150, first_seed=first)
        for scenario, first in ((mine, 0), (theirs, 50))
    )
    found = compared(jobs, jobs.batch(a), jobs.batch(b))
    assert found["lines"] == [{"where": "configs.min.insync.replicas", "a": "1", "b": "2"}]
    broke = [
        {row["seed"]: {one[0] for one in row["broken"]} for row in play_chunk(
            {"scenario": scenario, "profile": "K39", "cell": 0, "first_seed": 50, "count": 100})
         if row["verdict"] != "error"}
        for scenario in (mine, theirs)
    ]  # fmt: skip
    common = broke[0].keys() & broke[1].keys()
    for row in found["cells"][0]["rows"][1:]:
        name, table = row["invariant"], row["paired"]
        split = [(name in broke[0][seed], name in broke[1][seed]) for seed in common]
        wanted = [split.count(one) for one in ((False, False), (True, False), (False, True))]
        assert [table["neither"], table["only_a"], table["only_b"]] == wanted, name
        assert sum(table[k] for k in ("neither", "only_a", "only_b", "both")) == len(common)
        assert row["difference"]["low"] < row["difference"]["share"] < row["difference"]["high"]
    page = bare(client.get(f"/batch/{a}/with/{b}?lang=zh").text)
    assert "场景不同" in page
    assert "50 到 149" in page
    lines = client.get(f"/batch/{a}/with/{b}/shares.csv").text.splitlines()
    head, *rows = csv.reader(lines)
    assert len(rows) == len(found["cells"][0]["rows"])
    assert dict(zip(head, rows[0], strict=True))["invariant"] == "any"
    assert float(dict(zip(head, rows[0], strict=True))["p"]) <= 1
    measures = client.get(f"/batch/{a}/with/{b}/measures.csv").text.splitlines()
    assert measures[1].startswith("acked_lost,records,K39,,")


def saved(client: FlaskClient, scenario: dict[str, Any]) -> str:
    return str(post(client, "/api/scenarios", {"scenario": scenario}).json["digest"])


def test_seeds_at_inflated_rates_are_not_paired(client: FlaskClient, jobs: Jobs) -> None:
    often = {"kind": "bounce", "mtbf_ms": 20_000, "importance": 3}
    a, b = (
        start(client, jobs, runs=60, scenario=saved(client, {
            "title": "Rare", "profiles": ["K39"], "faults": [often],
            "configs": {"min.insync.replicas": least}}))
        for least in (1, 2)
    )  # fmt: skip
    found = compared(jobs, jobs.batch(a), jobs.batch(b))
    rows = [row for cell in found["cells"] for row in cell["rows"]]
    assert rows and all(row["paired"] is None for row in rows)
    assert "study.remark.weighted" in {one["key"] for one in found["remarks"]}
    for lang, said in (("en", "not compared in pairs"), ("zh", "不逐对比较")):
        assert said in client.get(f"/batch/{a}/with/{b}?lang={lang}").text


def test_incomparable_studies_get_a_reason(client: FlaskClient, jobs: Jobs) -> None:
    a = start(client, jobs, profiles=["K39"], runs=5)
    profile = start(client, jobs, profiles=["Z011"], runs=5)
    cells = start(client, jobs, profiles=["K39"], runs=5, vary=["brokers=5"])
    for other, said in (
        (profile, "no release in common"),
        (cells, "no combination of varied values in common"),
    ):
        page = client.get(f"/batch/{a}/with/{other}").text
        assert said in page
        assert 'id="counts"' not in page
    records.update(jobs.database, profile, kind="advice")
    assert "their shares mean different things" in client.get(f"/batch/{a}/with/{profile}").text


def test_the_other_study_is_chosen_or_pasted(client: FlaskClient, jobs: Jobs) -> None:
    a, b = (start(client, jobs, profiles=["K39"], runs=runs) for runs in (5, 6))
    page = client.get(f"/batch/{a}").text
    assert f'<option value="{b}">' in page
    assert f'<option value="{a}">' not in page
    for asked in (f"other={b}", f"address=https://some.where/batch/{b}%3Flang=zh", f"address={b}"):
        answer = client.get(f"/batch/{a}/with?{asked}")
        assert (answer.status_code, answer.location) == (302, f"/batch/{a}/with/{b}"), asked
    for asked, status in (("", 400), ("address=nonsense", 400), ("other=0123456789ab", 404)):
        assert client.get(f"/batch/{a}/with?{asked}").status_code == status, asked
    assert client.get(f"/batch/{a}/with/{a}").status_code == 400
    assert client.get(f"/batch/{a}/with/nothing").status_code == 404
