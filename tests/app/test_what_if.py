"""What if a broker dies now: each cell is what a run of its own ends in."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape

import pytest
from flask.testing import FlaskClient

from engine.moves.moves import split
from engine.replay.replay import Replay
from engine.scenarios.file import find
from engine.sim.run import Run
from engine.study.what_if import MOVES, OFFLINE, REFUSED, RISK, WRITES, Column, what_if
from tests.app.conftest import post


def columns(moves: str, profile: str = "K39") -> dict[tuple[int, ...], Column]:
    _, found = what_if(Run(find("S60"), profile, moves=split(moves)))
    return {column.brokers: column for column in found}


def kinds(found: dict[tuple[int, ...], Column]) -> dict[tuple[int, ...], str]:
    return {brokers: column.cells[0].kind for brokers, column in found.items()}


def test_a_follower_may_die_and_a_leader_is_replaced() -> None:
    assert kinds(columns("produce a acks=all; settle")) == {
        (): WRITES,
        (1,): MOVES,
        (2,): WRITES,
        (3,): WRITES,
    }


ALONE = "produce a to 1 acks=all; settle; kill 2; detect 2; kill 3; detect 3"
"""Broker 1 is the only member of the ISR."""


@pytest.mark.parametrize(
    ("moves", "profile", "kind"),
    [
        (ALONE, "K39", OFFLINE),
        (f"set min.insync.replicas=2; {ALONE}", "K41", OFFLINE),
        (f"set unclean.leader.election.enable=true; {ALONE}; restart 2 !3", "K39", RISK),
    ],
)
def test_the_last_replica_in_sync_dies(moves: str, profile: str, kind: str) -> None:
    assert columns(moves, profile)[(1,)].cells[0].kind == kind


def test_too_few_in_sync_refuse_writes_and_pairs_show_what_two_deaths_do() -> None:
    found = columns("set min.insync.replicas=2; produce a acks=all; settle")
    assert kinds(found)[(1,)] == MOVES
    assert {kinds(found)[pair] for pair in ((1, 2), (1, 3), (2, 3))} == {REFUSED}


def test_a_pasted_cluster_is_answered_as_it_stands(client: FlaskClient) -> None:
    """No follower catches up before the answer is given."""
    text = (
        "Topic: orders Partition: 0 Leader: 1 Replicas: 1,2,3 Isr: 1,2\n"
        "Topic: orders Partition: 1 Leader: 2 Replicas: 2,3,1 Isr: 2\n"
        "Topic: orders PartitionCount: 2 ReplicationFactor: 3 Configs: min.insync.replicas=2\n"
    )
    answer = post(client, "/api/cluster", {"text": text}).json
    page = client.get(answer["what_if"]).text
    rows = re.findall(r'<th scope="row">([\w-]+)</th>\s*((?:<td.*?</td>\s*)+)', page, re.S)
    cells = {name: re.findall(r'<td class="(\w+)"', row) for name, row in rows}
    assert cells["orders-0"] == [WRITES, REFUSED, REFUSED], "broker 3 is taken to be down"
    assert cells["orders-1"] == [REFUSED, OFFLINE, REFUSED], (
        "the death of broker 2 is worse: it is first"
    )
    text = page.replace("\n", " ")
    assert "offline until broker 2 returns" in text and "2 leads · acks=all refused" in text


def test_each_cell_is_the_end_of_its_run() -> None:
    run = Run(find("S46"), "K39")
    tps, found = what_if(run)
    for column in found[:4]:
        end = Replay(replace(run, moves=(*run.lines(), *column.moves))).end
        for tp, cell in zip(tps, column.cells, strict=True):
            if cell.kind in (WRITES, MOVES, REFUSED):
                assert end.cluster.controller.records[tp].leader == cell.leader


def test_the_page_links_the_run_behind_each_cell(client: FlaskClient) -> None:
    digest = re.search(r'"run": "([0-9a-f]{16})"', client.get("/s/S46").text)
    assert digest
    for lang in ("en", "zh"):
        page = client.get(f"/r/{digest[1]}/whatif?step=0&lang={lang}").text
        links = [unescape(one) for one in re.findall(r'<td class="\w+"><a href="([^"]+)"', page)]
        assert links and "whatif." not in page
        assert client.get(links[0]).status_code == 200
    assert client.get(f"/r/{digest[1]}/whatif?step=99999").status_code == 409
    assert client.get("/r/0123456789abcdef/whatif").status_code == 404
