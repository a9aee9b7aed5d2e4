"""`import highwater`: runs, comparisons and studies in a program."""

from __future__ import annotations

import asyncio
import base64
import doctest
import json
import pickle
import zlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

import nbclient
import nbformat
import pyarrow as pa
import pytest
from mcp import Client

import highwater as hw
from app.command import assistant
from engine.model.errors import InputError
from engine.scenarios import file
from engine.sim import run as runs
from engine.study.batch import run_chunk
from tests.conftest import sample

T = TypeVar("T")
PUBLIC = [getattr(hw, name) for name in hw.__all__]
DOCUMENTED = [
    *doctest.DocTestFinder(recurse=False).find(hw),
    *(
        test
        for one in PUBLIC
        for test in doctest.DocTestFinder().find(one, one.__name__, False, globs=vars(hw))
    ),
]


def test_every_public_method_has_an_example() -> None:
    told = {test.name for test in DOCUMENTED if test.examples}
    wanted = {one for one in PUBLIC if isinstance(one, FunctionType)}
    for one in (hw.Run, hw.Study, hw.Comparison, hw.ClusterState, hw.Incident, hw.SearchResult):
        assert one.__name__ in told, one
        wanted |= {
            method
            for name, method in vars(one).items()
            if isinstance(method, FunctionType) and not name.startswith("_")
        }
    lacking = {one.__qualname__ for one in wanted} - told
    assert lacking == {"Run.show", "Study.canonical"}, "the stage needs a notebook"


@pytest.mark.parametrize(
    "test", sample([one for one in DOCUMENTED if one.examples], 3), ids=lambda t: t.name
)
def test_examples_say_what_happens(test: doctest.DocTest) -> None:
    told: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    assert runner.run(test, out=told.append).failed == 0, "".join(told)


def test_a_run_is_its_digest_also_after_it_was_looked_at() -> None:
    run, again = hw.run("R20", "Z0102"), hw.run("R20", "Z0102")
    assert run.lost == ["m1"]
    assert run == again and len({run, again}) == 1 and run != hw.run("R20", "K41")
    copied = pickle.loads(pickle.dumps(run))
    assert copied == run and copied.lost == run.lost
    assert pickle.loads(pickle.dumps(run.compare("K41"))).other == run.under("K41")


def test_wrong_arguments_are_input_errors() -> None:
    for wrong in (
        {"scenario": 3},
        {"scenario": "R20", "seed": "x"},
        {"scenario": "R20", "seed": True},
    ):
        with pytest.raises(hw.InputError, match="whole number"):
            hw.run(**wrong)  # type: ignore[arg-type]


def test_a_run_says_what_became_of_it() -> None:
    run = hw.run("S30", "K39")
    assert not run.holds and run.lost == ["b", "c"]
    broken = run.broken[0]
    assert broken.invariant in run[broken.step].broken
    assert "becomes leader" in str(run[broken.step])
    assert run[-1].number == len(run) - 1
    assert [step.number for step in run[3:6]] == [3, 4, 5]
    assert len(list(run)) == len(run)
    with pytest.raises(IndexError):
        run[len(run)]


def test_the_same_script_under_another_kafka() -> None:
    run = hw.run("S30", "K39")
    assert run.under("K41").lost == []
    compared = run.compare("K41")
    assert compared.parts and "Only Kafka 3.9.1 loses b, c, at step" in str(compared)
    assert str(run.compare("K39")) == "Kafka 3.9.1 and Kafka 3.9.1 do the same."


def test_moves_are_a_text_or_a_sequence() -> None:
    text = hw.run("S60", moves="produce a to 1 acks=all; settle")
    assert text.moves == ("produce a to 1 acks=all", "settle")
    assert text.digest == hw.run("S60", moves=["produce a to 1 acks=all", "settle"]).digest
    assert hw.run("S60").then("produce a to 1 acks=all; settle").digest == text.digest


def test_a_run_is_compared_with_another_run() -> None:
    old, new = hw.run("R20", "Z0102"), hw.run("R20", "Z011")
    assert str(old.compare(new)) == str(old.compare("Z011"))


def test_why_not_names_a_move_that_helps() -> None:
    run = hw.run("S30", "K39")
    told = run.why(5, "hw")
    assert not told.happens
    moves = [move for holds, _, move in told.guards if not holds]
    assert moves and all(move in str(told) for move in moves)
    with pytest.raises(InputError, match="is no subject"):
        run.why(5, "nonsense")


def test_a_run_can_be_played_on() -> None:
    run = hw.run("S60")
    longer = run.then("produce m1", "settle")
    assert len(longer) > len(run) and longer.moves[-2:] == ("produce m1", "settle")
    with pytest.raises(InputError):
        run.then("produce")


def test_a_link_carries_what_a_server_cannot_know() -> None:
    known = urlsplit(hw.run("S30", "K39", seed=4).link(step=7))
    assert known.path.startswith("/s/")
    assert parse_qs(known.query) == {"profile": ["K39"], "seed": ["4"], "step": ["7"]}
    own = hw.run("S60").then("produce m1")
    version, length, data = urlsplit(own.link()).fragment.removeprefix("run=").split(".")
    assert version == "2" and len(data) == int(length)
    text = zlib.decompress(base64.urlsafe_b64decode(data + "=" * (-len(data) % 4))).decode()
    assert runs.Run.from_text(text).digest == own.digest == hw.run(text).digest


def test_a_file_is_a_scenario(tmp_path: Path) -> None:
    place = tmp_path / "mine.yaml"
    place.write_text(hw.run("S20").export("yaml"), "utf-8")
    assert hw.run(place).title == hw.run("S20").title
    with pytest.raises(InputError):
        hw.run("no such scenario")
    with pytest.raises(ValueError, match="none of"):
        hw.run("S20").export("pdf")


def test_a_study_is_the_rows_of_a_batch() -> None:
    study = hw.study("S74", runs=12, kafka=["Z0102", "K39"])
    chunk = {"scenario": file.find("S74").to_dict(), "cell": 0, "first_seed": 0, "count": 12}
    wanted = [row for name in ("Z0102", "K39") for row in run_chunk({**chunk, "profile": name})]
    assert list(study.rows()) == wanted
    table = study.table()
    assert [row["kafka"] for row in table if row["invariant"] == "any"] == ["Z0102", "K39"]
    for row in table:
        assert 0 <= row["low"] <= row["share"] <= row["high"] <= 1
    assert "<td>Z0102</td>" in study._repr_html_()
    longer = study.more(5)
    assert list(longer.rows())[:24] == wanted and len(longer) == 34
    assert list(longer.rows())[24]["seed"] == 12
    assert pa.table(longer).num_rows == 34 and longer.df()["acked_lost"].dtype == "Int64"
    assert longer.arrow().schema.metadata[b"runs"] == b"17"
    assert {run._run.seed for run in longer.failures()} <= set(range(17))
    for run in longer.failures("I7"):
        assert run.lost
    with pytest.raises(ValueError, match="at least one"):
        hw.study("S74", runs=0)
    with pytest.raises(ValueError, match="Spark"):
        hw.study("S74", runs=10**6)


# -- the notebook ---------------------------------------------------------------------------------

CELLS = (
    "import highwater as hw\nstage = hw.run('S30', kafka='K39').show()\nstage",
    "before = stage.picture\nstage.step = 3\nassert stage.picture != before\nprint(stage.said)",
    "stage.step = 10**6\nprint(stage.step == stage.last)",
    "hw.study('S74', runs=20, kafka='Z0102')",
)


@pytest.mark.night
def test_a_notebook_draws_a_run_and_steps_it() -> None:
    """In a real kernel: the widget's state is what a page would draw."""
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in CELLS])
    kernel = nbclient.NotebookClient(book, timeout=120, kernel_name="python3")
    kernel.execute()
    shown, stepped, bounded, table = (cell["outputs"] for cell in book["cells"])
    assert "application/vnd.jupyter.widget-view+json" in shown[0]["data"]
    states = [
        state
        for state in kernel.widget_state.values()
        if str(state.get("picture", "")).startswith("<svg")
    ]
    assert len(states) == 1 and states[0]["step"] == states[0]["last"]
    assert stepped[0]["text"].strip() and bounded[0]["text"] == "True\n"
    assert table[0]["data"]["text/html"].startswith("<table>")


def test_a_run_is_a_picture_where_no_kernel_answers() -> None:
    told = hw.run("S30", "K39")._repr_html_()
    assert "<svg" in told and "becomes leader" in told


# -- the assistant --------------------------------------------------------------------------------


def on_the_line(question: Callable[[Client], Awaitable[T]]) -> T:
    """Ask over the protocol itself, as an assistant does."""

    async def ask() -> T:
        async with Client(assistant.server()) as client:
            return await question(client)

    return asyncio.run(ask())


def asked(tool: str, **given: Any) -> Any:
    """Return the content that a tool answers an assistant with."""
    answer = on_the_line(lambda client: client.call_tool(tool, given))
    assert not answer.is_error, answer.content
    told = answer.structured_content
    assert told is not None
    return told.get("result", told)


def test_an_assistant_finds_plays_looks_and_hands_back_a_link() -> None:
    found = asked("find_scenarios", words="ELR")
    assert found and all(set(one) == {"code", "slug", "title", "teaches"} for one in found)
    assert asked("find", words="KAFKA-6361")["hits"][0]["link"].startswith("http://localhost:8000/")
    played = asked("play", scenario="S30", kafka="K39")
    assert played["lost"] == ["b", "c"] and played["link"].startswith("http")
    step = played["broken"][0]["step"]
    seen = asked("look", scenario="S30", kafka="K39", step=step, count=1)
    assert "becomes leader" in seen["steps"][0]
    assert seen["partitions"][0]["leader"] == 1
    assert "fetch 2" in asked("why_not", scenario="S30", kafka="K39", step=5, subject="hw")
    compared = asked("compare", scenario="S30", kafka="K39", other="K41")
    assert compared["other"]["lost"] == [] and "Only Kafka 3.9.1 loses b, c" in compared["summary"]
    studied = asked("study", scenario="crash-storm", count=40, kafka=["0.10.2.2"])
    assert studied["counts"][0]["runs"] == 40 and "lost a record" in studied["summary"]
    assert len(studied["losses"]) == 3 and studied["losses"][0].startswith("http")
    assert "K39" in asked("kafka_versions") and "kill B | kill K | kill V" in asked("moves")


PASTED = """
Topic: orders PartitionCount: 1 ReplicationFactor: 3 Configs: min.insync.replicas=2
    Topic: orders Partition: 0 Leader: 1 Replicas: 1,2,3 Isr: 1,2
"""
LOGGED = (
    "[2026-01-05 10:00:00,000] INFO [Partition orders-0 broker=1] Shrinking ISR from 1,2,3 to 1."
    " Leader: (highWatermark: 5, endOffset: 9). (kafka.cluster.Partition)"
)


def test_an_assistant_is_given_a_broken_cluster() -> None:
    """The run in the answer is one for the other tools."""
    read = asked("cluster", text=PASTED)
    assert "Bring back broker 3 first." in read["findings"][0]
    moves = ["kill 2", "detect 2", "produce m1 acks=all", "settle"]
    refused = asked("why_not", scenario=read["run"], moves=moves, step=-1, subject="ack m1")
    assert "NOT_ENOUGH_REPLICAS" in refused
    other = asked("compare", scenario=read["run"], kafka="", other="4.1", moves=moves)["other"]
    assert other["kafka"] == "K41" and other["moves"] == moves
    assert asked("explore", scenario=read["run"], states=50)["states"] >= 50
    lost = asked("explore", scenario="S20", kafka="Z0102", step=30, crashes=2, never="I7")
    assert lost["complete"] is False and asked("play", scenario=lost["runs"]["I7"])["lost"]
    told = asked("incident", text=LOGGED)
    assert told["partition"] == "orders-0" and "in sync: 1" in told["verdict"][0]
    assert asked("play", scenario=told["run"])["steps"] > 1


def test_tools_say_what_they_do_and_answer() -> None:
    tools = on_the_line(lambda client: client.list_tools()).tools
    assert len(tools) == len(assistant.TOOLS)
    for tool in tools:
        assert tool.output_schema and tool.description and tool.annotations
        assert tool.annotations.read_only_hint and tool.annotations.idempotent_hint


@pytest.mark.parametrize(
    ("address", "part"), [("rules", "\nF-5: "), ("scenario/R20", "code: R20\n")]
)
def test_an_assistant_reads_rules_and_scenarios(address: str, part: str) -> None:
    read = on_the_line(lambda client: client.read_resource(f"highwater://{address}"))
    assert part in getattr(read.contents[0], "text", "")


@pytest.mark.parametrize(
    ("tool", "given", "part"),
    [
        ("play", {"scenario": "no such thing"}, "no such thing"),
        ("look", {"scenario": "R20", "step": 999}, "steps 0 to"),
        ("study", {"scenario": "S74", "count": 9_000}, "1 to 2000 runs"),
        ("explore", {"scenario": "S60", "states": 10**6}, "1 to 5000 states"),
        ("cluster", {"text": "x" * 1_000_001}, "1000000 characters"),
        ("incident", {"text": "nothing"}, "."),
    ],
)
def test_wrong_calls_of_an_assistant_get_one_sentence(
    tool: str, given: dict[str, object], part: str
) -> None:
    answer = on_the_line(lambda client: client.call_tool(tool, given))
    assert answer.is_error and part in json.dumps([str(one) for one in answer.content])
