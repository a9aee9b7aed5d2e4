"""Tests of the filters of /upgrade: features that a cluster uses, and pasted error lines."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from app.command.cli import main
from engine.catalogue.bug_matching import fitting, names_in
from engine.catalogue.bugs import entries, features


def bugs_on(page: str) -> set[str]:
    return set(re.findall(r'<li class="\w+" id="((?:KAFKA-|MINOR )\w+)"', page))


def test_features_name_bugs_of_the_ledger() -> None:
    known = {entry.jira for entry in entries()}
    assert {bug for bugs in features().values() for bug in bugs} <= known


def test_bugs_that_need_an_unused_feature_are_left_out(client: FlaskClient) -> None:
    every = bugs_on(client.get("/upgrade?from=3.7.0").text)
    none = bugs_on(client.get("/upgrade?from=3.7.0&only=1").text)
    disks = bugs_on(client.get("/upgrade?from=3.7.0&only=1&uses=disks&uses=unheard").text)
    assert "KAFKA-16234" in every and "KAFKA-16234" not in none and "KAFKA-16234" in disks
    assert none < disks < every
    page = client.get("/upgrade?from=3.7.0&only=1").text
    assert f"{len(every) - len(none)} bugs are hidden" in page


@pytest.mark.parametrize(
    ("line", "jira"),
    [
        ("org.apache.kafka.common.errors.OffsetOutOfRangeException: offset 5", "KAFKA-8306"),
        ("Error sending AlterIsr request; AlterIsrManager retries", "KAFKA-12686"),
        ("OutOfOrderSequenceException at ProducerStateManager.append", "KAFKA-6003"),
        ("see KAFKA-10706 for this", "KAFKA-10706"),
        ("unclean.leader.election.enable has no effect", "KAFKA-12670"),
        ("ReplicaAlterLogDirsThread: failed to promote the future log", "KAFKA-16297"),
    ],
)
def test_a_line_finds_the_bugs_that_share_its_names(line: str, jira: str) -> None:
    assert jira in {entry.jira for entry in fitting(line)}


@pytest.mark.parametrize("line", ["", "INFO everything is fine", "[2024-01-01] WARN kafka " * 99])
def test_a_line_without_a_name_finds_nothing(line: str) -> None:
    assert fitting(line) == ()


def test_errors_are_one_name_however_they_are_written() -> None:
    assert names_in("NOT_LEADER_OR_FOLLOWER") == names_in("NotLeaderOrFollowerException")


def test_a_line_of_the_old_address_opens_the_box(client: FlaskClient) -> None:
    line = "OutOfOrderSequenceException at ProducerStateManager"
    sent = client.get(f"/upgrade?from=0.11.0.1&line={line}")
    there = client.get(sent.headers["Location"]).text
    assert sent.status_code == 302 and line in there and "Kafka version: 0.11.0.1" in there
    assert "<script>alert" not in client.get("/cluster?ask=<script>alert(1)</script>").text


def test_the_command_filters_alike() -> None:
    run = CliRunner().invoke(main, ["upgrade", "3.7.0", "--uses", "disks"])
    assert run.exit_code == 0 and "KAFKA-16234" in run.output
    assert "KAFKA-16234" not in CliRunner().invoke(main, ["upgrade", "3.7.0", "--uses", ""]).output
    fits = CliRunner().invoke(main, ["upgrade", "--line", "see KAFKA-10706"])
    assert "KAFKA-10706" in fits.output
    assert CliRunner().invoke(main, ["upgrade", "3.7.0", "--uses", "magic"]).exit_code == 2
    assert CliRunner().invoke(main, ["upgrade"]).exit_code == 2
