"""Pages and JSON of batches, as a browser without scripts and as a program see them."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import click.testing
import pytest
from flask import Flask
from flask.testing import FlaskClient

from app.batch import records
from app.batch.jobs import Jobs
from app.batch.pages import scenario_of_run
from app.batch.runners.rows import chunks_on_disk, read_chunks
from app.batch.wire import BatchResult
from app.command import cli
from app.core import config
from app.core.config import Settings
from app.server.services import KEY, Services
from app.storage.batch_fields import ENDED, BatchState
from engine.scenarios import file
from engine.scenarios.file import find
from engine.scenarios.random_twin import random_twin
from engine.sim.run import Run, play_all
from engine.study.batch import run_chunk
from tests.app.conftest import TOKEN, browser, post
from tests.app.test_batch_jobs import ended
from tests.batch_runner import play_chunk
from tests.conftest import ROOT
from tests.wire import held

NAME = "S61"


def test_every_state_has_words() -> None:
    words = json.loads((ROOT / "static/i18n/batch.en.json").read_text("utf-8"))
    prefix = "batch.state."
    assert [key.removeprefix(prefix) for key in words if key.startswith(prefix)] == list(BatchState)
    assert {f"batch.ended.{state}" for state in ENDED if state != BatchState.DONE} <= words.keys()


def start(client: FlaskClient, jobs: Jobs, **asked: Any) -> str:
    answer = post(client, "/api/batches", {"scenario": NAME, "runs": 200, **asked})
    assert answer.status_code == 201, answer.json
    number = str(answer.json["id"])
    assert answer.json["url"] == f"/batch/{number}"
    ended(jobs, number)
    return number


def test_the_form_offers_the_library_and_every_profile(client: FlaskClient, jobs: Jobs) -> None:
    page = client.get("/batch").text
    for scenario in file.library().values():
        assert f'value="{scenario.slug}"' in page
    assert 'value="Z0102" checked' in page
    assert "one plain process" in page
    assert "Nothing was run yet." in page
    chosen = client.get("/batch?scenario=S63").text
    assert re.search(r'value="lossy-link" selected', chosen)
    assert client.get("/batch?scenario=nothing").status_code == 404


def test_a_finished_batch_reads_without_scripts(client: FlaskClient, jobs: Jobs) -> None:
    number = start(client, jobs, profiles=["Z0102", "K39"])
    page = client.get(f"/batch/{number}").text
    scenario = file.find(NAME)
    assert scenario.title in page
    assert "runs lost a record that Kafka had promised to keep under Kafka 0.10.2" in page
    assert "Acknowledged records lost (acks=all)" in page
    assert page.count("/failure/") > 5
    assert "p = " in page or "p &lt;" in page
    assert "batch." not in re.sub(r"(?s)<script.*?</script>|href=\S+|src=\S+", "", page)
    listed = client.get("/batch").text
    assert f'href="/batch/{number}"' in listed


def test_a_poster_has_a_row_a_release_and_repeats_itself(client: FlaskClient, jobs: Jobs) -> None:
    """Each row opens a run of its own; what is copied says seeds, releases and engine."""
    number = start(client, jobs, profiles=["Z0102", "K39"], runs=20)
    page = client.get(f"/batch/{number}").text
    cells = client.get(f"/api/batches/{number}").json["cells"]
    rows = re.findall(r"(?s)<tr class=.(lost|gone|broken|held).*?</tr>", page)
    assert len(rows) == len(cells) == 2
    found = re.search(r'(?s)id="rows".*?</table>', page)
    for url in re.findall(r'href="([^"]+)"', found[0]):
        assert client.get(url).status_code == 302, url
    sentence, table, cell = (
        unescape(text) for text in re.findall(r"(?s)<textarea readonly[^>]*>(.*?)</textarea>", page)
    )
    digest = file.find(NAME).digest
    for text in (sentence, table):
        for part in (digest, "Kafka 0.10.2", "seeds 0 to 19", f"/batch/{number}"):
            assert part in text, (part, text)
    assert table.count("\n| Kafka") == 2
    names: dict[str, Any] = {}
    played, call = cell.rsplit("\n", 1)
    exec(played, names)
    made = eval(call, names)
    assert len(made) == 40
    kept = csv.DictReader(io.StringIO(client.get(f"/batch/{number}/shares.csv").text))
    assert {(row["scenario"], row["runs"], row["first_seed"]) for row in kept} == {
        (digest, "20", "0")
    }


def test_the_same_value_for_all_releases_is_one_press_away(client: FlaskClient, jobs: Jobs) -> None:
    number = start(client, jobs, scenario="S20", profiles=["Z0102", "K39"], runs=9)
    link = re.search(
        r'href="(/batch\?again=[^"]+)"[^>]*>Set it to false', client.get(f"/batch/{number}").text
    )
    assert link
    form = client.get(unescape(link[1])).text
    assert ">unclean.leader.election.enable=false</textarea>" in form


def test_a_large_difference_has_its_reason_and_runs_that_show_it(
    client: FlaskClient, jobs: Jobs
) -> None:
    page = client.get(f"/batch/{start(client, jobs, profiles=['Z0102', 'K39'])}").text
    found = re.search(r'(?s)id="reason">(.*?)</p>', page)
    assert found and "old session" in found[1]
    links = re.findall(r'href="([^"]+)"', found[1])
    assert len(links) == 2 and all(client.get(link).status_code == 200 for link in links)


@pytest.mark.parametrize(
    ("code", "of", "low", "high"),
    [
        ("Z0102", "bounce", 45_000, 60_000),  # no election, no LeaderAndIsr
        ("Z24", "bounce", 0, 2_000),
        ("K39", "bounce", 8_000, 40_000),  # the old session has to end
        ("K39", "kill", 4_000, 25_000),
    ],
)
def test_the_reason_is_what_the_engine_does(code: str, of: str, low: int, high: int) -> None:
    told = file.find(NAME).to_dict()
    told["faults"] = [one for one in told["faults"] if one["kind"] == of]
    chunk = {"scenario": told, "profile": code, "cell": 0, "first_seed": 0, "count": 2}
    mean = sum(row["unavailable_ms"] for row in run_chunk(chunk)) / 2
    assert low <= mean <= high, mean


def test_every_dot_is_a_run_and_tells_what_became_of_it(client: FlaskClient, jobs: Jobs) -> None:
    number = start(client, jobs, profiles=["Z0102", "K39"])
    page = client.get(f"/batch/{number}").text
    sides = client.get(f"/api/batches/{number}").json["dots"]
    assert page.count("<circle") == sum(len(side["dots"]) for side in sides) >= 40
    for side in sides:
        asked = {"scenario": file.find(NAME).to_dict(), "profile": side["profile"], "cell": 0}
        asked |= {"first_seed": 0, "count": 200}
        broken = {row["seed"]: {one[0] for one in row["broken"]} for row in play_chunk(asked)}
        for one in side["dots"]:
            names = broken[one["seed"]]
            kinds = {"lost": {"I7"}, "gone": {"gone"}, "broken": names}
            kind = next((kind for kind, some in kinds.items() if names & some), "held")
            assert one["kind"] in (kind, "error"), (side["profile"], one)
    assert {"lost", "held"} <= {one["kind"] for one in sides[0]["dots"]}
    for one in sides[0]["dots"][:4]:
        assert client.get(one["url"]).status_code == 302


def test_a_finished_batch_reads_in_chinese(client: FlaskClient, jobs: Jobs) -> None:
    number = start(client, jobs)
    page = client.get(f"/batch/{number}?lang=zh").text
    assert "丢失了 Kafka 承诺保留的消息" in page
    assert "batch." not in re.sub(r"(?s)<script.*?</script>|href=\S+|src=\S+", "", page)
    assert "批量运行" in client.get("/batch?lang=zh").text


def test_failures_are_filtered_and_replayed(
    client: FlaskClient, jobs: Jobs, services: Services
) -> None:
    number = start(client, jobs, vary=["min.insync.replicas=1,2"], first_seed=40)
    found = client.get(f"/api/batches/{number}?profile=K39&invariant=I7").json["failures"]
    assert {(row["profile"], row["invariant"]) for row in found["rows"]} == {("K39", "I7")}
    row = next(row for row in found["rows"] if row["label"] == "min.insync.replicas=2")
    answer = client.get(row["url"])
    assert answer.status_code == 302
    pattern = r"/r/([0-9a-f]{16})\?step=(\d+)&size=event&tab=checks"
    digest, step = re.fullmatch(pattern, answer.location).groups()
    assert int(step) == max(0, row["step"] - 10)
    run = services.replays.run(digest)
    assert (run.profile, run.seed) == ("K39", row["seed"])
    assert run.scenario.configs["min.insync.replicas"] == 2
    place = row["url"].rpartition("/")[0]
    for nobody in (f"{place}/I99", row["url"].replace(f"/{row['seed']}/", f"/{10**30}/"),
                   row["url"].replace("/K39/1/", "/K39/99/")):  # fmt: skip
        assert client.get(nobody).status_code == 404, nobody
    assert client.get(row["url"] + "/scenario").location == f"/edit?run={digest}"
    beside = client.get(row["url"] + "/compare").location
    assert beside == f"/r/{digest}/compare?with=" + ("Z0102" if row["profile"] == "K39" else "K39")
    chosen = client.get(row["url"] + "/compare?with=Z27%2Belr").location
    assert chosen == f"/r/{digest}/compare?with=Z27%2Belr"


def test_a_link_to_a_failing_run_stays_when_runs_are_added(client: FlaskClient, jobs: Jobs) -> None:
    number = start(client, jobs, runs=40, first_seed=500)
    before = client.get(f"/api/batches/{number}").json["failures"]
    last = before["rows"][-1]
    opened = client.get(last["url"]).location
    assert post(client, f"/api/batches/{number}/more", {"runs": 60}).json["ok"]
    ended(jobs, number)
    after = client.get(f"/api/batches/{number}").json["failures"]
    place = len(before["rows"]) - 1
    assert after["total"] > before["total"] and after["rows"][place] != last
    assert client.get(last["url"]).location == opened


def test_the_shortest_and_the_costliest_of_all_runs_are_kept(
    client: FlaskClient, jobs: Jobs
) -> None:
    number = start(client, jobs, profiles=["Z0102"], runs=800)
    ask = f"/api/batches/{number}?invariant=I7&order="
    by = {one: client.get(ask + one).json["failures"]["rows"] for one in ("seed", "step", "lost")}
    rows = [
        row
        for row in read_chunks(jobs.directory(number), chunks_on_disk(jobs.directory(number)))
        if row["verdict"] != "error" and any(one["invariant"] == "I7" for one in row["broken"])
    ]
    assert len(rows) >= len(by["seed"]) > 20
    first = {row["seed"] for row in rows[:20]}
    assert first <= {row["seed"] for row in by["seed"]}
    worst = sorted(-row["acked_lost"] for row in rows)[:20]
    assert [-row["lost"] for row in by["lost"][:20]] == worst
    steps = sorted(one["step"] for row in rows for one in row["broken"] if one["invariant"] == "I7")
    assert [row["step"] for row in by["step"][:20]] == steps[:20]
    lengths = {row["seed"]: row["steps"] for row in rows}
    assert all(row["steps"] == lengths[row["seed"]] for row in by["lost"])


def test_seeds_are_compared_under_two_profiles_and_in_two_cells(
    client: FlaskClient, jobs: Jobs
) -> None:
    number = start(client, jobs, vary=["min.insync.replicas=1,2"], profiles=["Z0102", "K39"])
    shown = client.get(f"/api/batches/{number}").json
    held({name: told for name, told in shown.items() if name != "ok"}, BatchResult)
    pairs = {(one["a"], one["b"], one["common"], one["invariant"]): one for one in shown["paired"]}
    cells = ("min.insync.replicas=1", "min.insync.replicas=2")
    assert set(pairs) == {
        *(("Z0102", "K39", cell, name) for cell in cells for name in ("any", "I7")),
        *((*cells, profile, name) for profile in ("Z0102", "K39") for name in ("any", "I7")),
    }
    lost = {(one["profile"], one["label"]): one["broken"]["I7"]["hits"] for one in shown["cells"]}
    pair = pairs[*cells, "Z0102", "I7"]
    assert pair["n"] == 200
    assert pair["only_a"] + pair["both"] == lost["Z0102", cells[0]]
    assert pair["only_b"] + pair["both"] == lost["Z0102", cells[1]]
    page = client.get(f"/batch/{number}").text
    one = pairs["Z0102", "K39", cells[0], "I7"]
    assert f"{cells[0]}: in {one['only_a']} of {one['n']} seeds only Kafka 0.10.2 lost" in page


def test_tables_as_csv(client: FlaskClient, jobs: Jobs) -> None:
    number = start(client, jobs, profiles=["Z0102", "K39"])

    def table(name: str) -> list[dict[str, str]]:
        answer = client.get(f"/batch/{number}/{name}")
        assert answer.mimetype == "text/csv"
        return list(csv.DictReader(io.StringIO(answer.text)))

    shown = client.get(f"/api/batches/{number}?profile=K39&order=step").json
    failing = table("failures.csv?profile=K39&order=step")
    assert len(failing) == shown["failures"]["total"] > 0
    for row, one in zip(failing, shown["failures"]["rows"], strict=False):
        assert row["url"] == "http://localhost" + one["url"]
        lost = "" if one["invariant"] == "error" else str(one["lost"])
        assert (row["seed"], row["lost"]) == (str(one["seed"]), lost)
    pairs = table("paired.csv")
    assert [row["only_a"] for row in pairs] == [str(one["only_a"]) for one in shown["paired"]]
    measures = table("measures.csv")
    assert {row["measure"] for row in measures} == {one["name"] for one in shown["metrics"]}
    assert {row["profile"] for row in measures} == {"Z0102", "K39"}


def test_a_study_is_changed_and_run_again(
    client: FlaskClient, jobs: Jobs, services: Services
) -> None:
    asked = {
        "profiles": ["Z0102", "Z27+strict_min_isr"],
        "vary": ["brokers=3,5"],
        "first_seed": 7,
        "runs": 20,
    }
    number = start(client, jobs, **asked)
    assert f'href="/batch?again={number}"' in client.get(f"/batch/{number}").text
    form = client.get(f"/batch?again={number}").text
    assert re.search(r'value="crash-storm" selected|selected>S61 ', form)
    for there in (
        'value="Z27+strict_min_isr" checked',
        'value="20" required',
        'value="7"',
        ">brokers=3,5<",
    ):
        assert there in form, there
    # A study of a run made by hand: its scenario has no name to be requested by.
    digest = services.replays.register(Run(file.find("S20"), "Z0102", 3).then("kill 1"))
    made = str(post(client, "/api/batches", {"run": digest, "runs": 2}).json["id"])
    ended(jobs, made)
    form = client.get(f"/batch?again={made}").text
    assert f'name="again" value="{made}"' in form
    answer = post(client, "/api/batches", {"again": made, "runs": 3})
    assert answer.status_code == 201, answer.json
    ended(jobs, answer.json["id"])
    assert jobs.batch(answer.json["id"]).scenario_text == jobs.batch(made).scenario_text
    assert client.get("/batch?again=nothing").status_code == 404


def test_failures_of_one_cell(client: FlaskClient, jobs: Jobs) -> None:
    number = start(client, jobs, vary=["min.insync.replicas=1,2", "brokers=3,5"])
    every = client.get(f"/api/batches/{number}?cell=").json["failures"]
    some = client.get(f"/api/batches/{number}?cell=2&profile=K39").json["failures"]
    assert 0 < some["total"] < every["total"]
    assert {(row["cell"], row["profile"]) for row in some["rows"]} == {(2, "K39")}
    page = client.get(f"/batch/{number}?cell=2").text
    assert '<option value="2" selected>min.insync.replicas=2, brokers=3</option>' in page
    assert "cell=2&amp;from=50" in page
    assert page.count("/compare?with=") == 3 * page.count(">Make a scenario</a>") > 0
    for cell in ("-1", "x", "65"):
        assert client.get(f"/batch/{number}?cell={cell}").status_code == 400, cell


def test_the_form_works_without_scripts(client: FlaskClient, jobs: Jobs) -> None:
    sent = {
        "csrf": TOKEN, "scenario": NAME, "runs": "20", "first_seed": "3",
        "profiles": ["K39", "Z0102"], "vary": "brokers=3,5\r\n",
    }  # fmt: skip
    answer = client.post("/batch", data=sent)
    assert answer.status_code == 303
    number = answer.location.rsplit("/", 1)[1]
    ended(jobs, number)
    assert jobs.snapshot(number)["done_runs"] == 80
    refused = client.post("/batch", data={**sent, "runs": "1000000000"})
    assert refused.status_code == 400
    assert "runs per profile and cell" in refused.text
    assert client.post("/batch", data={**sent, "runs": "x"}).status_code == 400
    assert client.post("/batch", data={**sent, "csrf": "other"}).status_code == 403


@pytest.mark.parametrize(
    ("asked", "status", "said"),
    [
        ({"runs": 10**9}, 400, "A batch has 1 to"),
        ({"runs": 1.5}, 400, "runs is missing"),
        ({"profiles": ["K93"]}, 400, "K93"),
        ({"vary": ["nonsense=1"]}, 400, "nonsense cannot be varied"),
        ({"scenario": "nothing"}, 404, "There is no scenario nothing."),
        ({"run": "0" * 16}, 404, "The server does not know the run"),
    ],
)
def test_bad_input_is_one_sentence(
    client: FlaskClient, jobs: Jobs, asked: dict[str, Any], status: int, said: str
) -> None:
    for path in ("/api/batches", "/api/batches/estimate"):
        answer = post(client, path, {"scenario": NAME, "runs": 10, **asked})
        assert answer.json["ok"] is False
        assert said in answer.json["sentence"]
        assert answer.status_code == status
    assert not jobs._jobs


def test_costly_requests_need_the_token(client: FlaskClient, jobs: Jobs) -> None:
    for path in ("/api/batches", "/api/batches/estimate", "/api/batches/x/cancel",
                 "/api/batches/x/resume", "/batch/x/cancel", "/batch/x/resume"):  # fmt: skip
        assert client.post(path, json={}).status_code == 403, path
    assert post(client, "/api/batches", [1]).status_code == 400
    assert client.get("/batch/nothing").status_code == 404


def test_cancel_and_resume_by_page_and_by_program(
    app: Flask, client: FlaskClient, make_jobs: Callable[..., Jobs]
) -> None:
    jobs = make_jobs(0.05)
    number = str(post(client, "/api/batches", {"scenario": NAME, "runs": 300}).json["id"])
    active = client.get(f"/batch/{number}").text
    assert '<progress id="bar"' in active
    assert f"/batch/{number}/cancel" in active
    assert f"/batch/{number}/cancel" not in browser_of_another(app).get(f"/batch/{number}").text
    assert post(client, f"/api/batches/{number}/cancel", {}).json["ok"]
    ended(jobs, number)
    over = client.get(f"/batch/{number}").text
    assert "Cancelled. These results are from" in over or "no run" in over.lower()
    again = client.post(f"/batch/{number}/resume", data={"csrf": TOKEN})
    assert again.status_code == 303
    jobs.cancel(number, str(jobs.batch(number).owner))
    ended(jobs, number)


def test_a_page_in_the_queue_says_its_place(
    client: FlaskClient, make_jobs: Callable[..., Jobs], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.batch.jobs.ACTIVE_PER_OWNER", 4)
    jobs = make_jobs(0.2)
    numbers = [
        str(post(client, "/api/batches", {"scenario": NAME, "runs": 300}).json["id"])
        for _ in range(4)
    ]
    assert "the next to start" in client.get(f"/batch/{numbers[2]}").text
    assert "Studies before this one: 1" in client.get(f"/batch/{numbers[3]}").text
    assert "before this one" not in client.get(f"/batch/{numbers[0]}").text
    assert jobs.snapshot(numbers[3])["before"] == 1


def browser_of_another(app: Flask) -> FlaskClient:
    other = browser(app)
    with other.session_transaction() as session:
        session["csrf"] = "somebody else"
    return other


def test_spark_that_does_not_start_is_one_sentence_everywhere(
    make_app: Callable[[Settings], Flask], tmp_path: Path
) -> None:
    instance = tmp_path / "instance"
    app = make_app(config.load({}, instance=instance, spark_master="spark://127.0.0.1:9"))
    client = browser(app)
    jobs: Jobs = app.extensions[KEY].jobs
    said = "Spark could not start at spark://127.0.0.1:9: nobody answers there"
    number = start(client, jobs)
    assert jobs.snapshot(number)["state"] == "failed"
    page = client.get(f"/batch/{number}").text
    assert said in page
    assert "Run the rest" in page
    command = click.testing.CliRunner().invoke(
        cli.main,
        ["batch", NAME, "--runs", "2", "--master", "spark://127.0.0.1:9"],
        env={"HIGHWATER_INSTANCE": str(instance)},
    )
    assert command.exit_code == 1
    assert said in command.output
    assert len(records.newest(jobs.database)) == 2, "nothing that was asked is forgotten"


def test_a_run_becomes_a_batch_of_its_moves() -> None:
    run = Run(file.find("S20"), "Z0102", 3)
    assert scenario_of_run(run) == run.scenario
    branch = run.then("kill 1")
    made = scenario_of_run(branch)
    assert made.profiles == ("Z0102",)
    assert Run(made, "Z0102").lines() == branch.lines()


def test_a_run_without_chance_offers_its_random_twin(client: FlaskClient) -> None:
    page = client.get("/batch?scenario=S01").text
    link = re.search(r'id="twin" href="([^"]+)"', page)
    assert link and 'id="same" >' in page
    answer = client.get(unescape(link[1]))
    assert answer.status_code == 302
    twin = client.get(answer.location).text
    assert 'id="same" hidden' in twin, "its seeds differ"
    assert client.get("/batch/twin").status_code == 404


@pytest.mark.night
def test_the_random_twin_keeps_the_cluster_and_loses_what_the_script_loses() -> None:
    scenario = find("R20")
    twin = random_twin(scenario)
    assert (twin.brokers, twin.partitions, twin.configs) == (
        scenario.brokers,
        scenario.partitions,
        scenario.configs,
    )
    ends = [play_all(Run(twin, "Z0102", seed)).ledger.lost for seed in range(60)]
    assert any(ends) and not all(ends)
