"""The report on a pasted cluster agrees with the matrix, in which every cell is played."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from flask.testing import FlaskClient

from app.cluster.findings import SEVERITIES, report_of
from app.cluster.scenario import scenario_of
from app.reading import paste
from app.reading.facts import Facts
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run
from engine.study.what_if import OFFLINE, REFUSED, RISK, STOPPED, what_if
from tests.app.conftest import post
from tests.conftest import ROOT


def cluster_of(chance: random.Random) -> str:
    """Describe a cluster of five brokers with topics in every state."""
    rows = ["Topic: all PartitionCount: 1 ReplicationFactor: 5 Configs: min.insync.replicas=1",
            "Topic: all Partition: 0 Leader: 1 Replicas: 1,2,3,4,5 Isr: 1,2,3,4,5"]  # fmt: skip
    for topic in ("pay", "toll", "fares"):
        factor = chance.choice([1, 2, 3])
        least = chance.choice([1, 2, 3])
        unclean = chance.choice(["true", "false"])
        rows.append(
            f"Topic: {topic} PartitionCount: 2 ReplicationFactor: {factor} Configs: "
            f"min.insync.replicas={least},unclean.leader.election.enable={unclean}"
        )
        for number in range(2):
            replicas = chance.sample(range(1, 6), factor)
            isr = replicas[: chance.randrange(1, factor + 1)]
            listed, in_sync = (",".join(map(str, ids)) for ids in (replicas, isr))
            rows.append(
                f"Topic: {topic} Partition: {number} Leader: {isr[0]} Replicas: {listed} "
                f"Isr: {in_sync}"
            )
    return "\n".join(rows)


def read(text: str) -> tuple[dict[str, Any], Facts]:
    facts = paste.read(text)
    data, _ = scenario_of(facts, "x")
    assert data is not None and facts.problems == []
    return data, facts


@pytest.mark.parametrize("profile", ["K41", "K39", "Z28"])
@pytest.mark.parametrize("seed", range(8))
def test_a_restart_stops_what_the_matrix_says(seed: int, profile: str) -> None:
    data, facts = read(f"# kafka {profile}\n" + cluster_of(random.Random(seed)))
    report = report_of(data, facts)
    tps, columns = what_if(Run(Scenario.from_dict(data), profile, moves=()))
    names = [state["name"] for state in data["initial"]["partitions"]]
    now = {column.brokers: column for column in columns}[()]
    stops = {one["broker"]: set(one["stops"]) for one in report["restarts"]}
    for column in columns:
        if len(column.brokers) != 1:
            continue
        for tp, cell, before in zip(tps, column.cells, now.cells, strict=True):
            if before.kind in STOPPED:
                continue
            stopped = names[tp] in stops[column.brokers[0]]
            assert stopped == (cell.kind in STOPPED), (names[tp], column.brokers, cell)
    refused = {one["args"]["name"] for one in report["findings"] if "refuses" in one["key"]}
    assert refused == {
        names[tp] for tp, one in zip(tps, now.cells, strict=True) if one.kind == REFUSED
    }


def test_the_worst_comes_first_and_each_finding_has_its_sentence() -> None:
    text = (
        "Topic: audit PartitionCount: 1 ReplicationFactor: 1 Configs: min.insync.replicas=1\n"
        "Topic: audit Partition: 0 Leader: none Replicas: 2 Isr: 2\n"
        "Topic: pay PartitionCount: 1 ReplicationFactor: 3 Configs: min.insync.replicas=2\n"
        "Topic: pay Partition: 0 Leader: 1 Replicas: 1,2,3 Isr: 1,3\n"
    )
    report = report_of(*read(text))
    keys = [one["key"] for one in report["findings"]]
    assert keys[0] == "offline_only" and keys[1:] == ["at_minimum", "one_replica"]
    order = [SEVERITIES.index(one["severity"]) for one in report["findings"]]
    assert order == sorted(order)
    assert [one["broker"] for one in report["restarts"] if not one["stops"]] == []
    for lang in ("en", "zh-Hans"):
        words = json.loads((ROOT / f"static/i18n/cluster.{lang}.json").read_text("utf-8"))
        for one in report["findings"]:
            assert words[f"report.{one['key']}"].format(**one["args"])


def test_the_page_gets_the_report(client: FlaskClient) -> None:
    answer = post(client, "/api/cluster?lang=en", {"text": cluster_of(random.Random(3))}).json
    assert answer["report"]["restarts"] and answer["report"]["findings"]
    assert {OFFLINE, RISK} <= set(STOPPED)
