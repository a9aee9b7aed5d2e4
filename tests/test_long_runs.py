"""Long and wide runs: what a step tells and takes does not grow with the run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.export.exports import steps_json
from engine.model.log import Batch, Log
from engine.replay import replay
from engine.replay.cursor import Cursor
from engine.replay.replay import Replay
from engine.replay.view_cache import (
    LEAST_SHOWN,
    MESSAGES_SHOWN,
    RECORDS_SHOWN,
    WAITING_SHOWN,
    ViewCache,
)
from engine.scenarios.file import find, load_text
from engine.sim.run import Run
from engine.view import text
from engine.view.view import view

BUSY = """\
title: Many records
brokers: 3
configs: {min.insync.replicas: 1, unclean.leader.election.enable: "true"}
fetching: auto
profiles: [Z0102]
workload: {producers: [{rate_per_s: 100, acks: 1, batch: 5}]}
script: |
  run 2s
  cut 1 2
  cut 1 3
  run 10s
  kill 1
  run 10s
  heal
  restart 1
  run 5s
"""


@pytest.fixture(scope="module")
def busy() -> Run:
    return Run(load_text(BUSY, "scenario"), "Z0102")


@pytest.mark.parametrize("name", ["S60", "R20", "S74"])
def test_cached_results_equal_fresh_ones(name: str) -> None:
    scenario = find(name)
    _look(Run(scenario, scenario.profiles[0]), 300)


@pytest.mark.night
def test_cached_results_hold_after_every_truncation(busy: Run) -> None:
    assert _look(busy, 20_000) > 100, "logs that differ were among them"


def _look(run: Run, steps: int) -> int:
    """Compares every view with one made from nothing; how often logs differed."""
    cursor, recall, differed, cells = Cursor(run), ViewCache(), 0, text.CellCache()
    while cursor.advance() is not None and cursor.sim.events < steps:
        seen = view(cursor.sim, None, recall)
        assert seen == view(cursor.sim), f"event {cursor.sim.events} of {run.text()}"
        if cursor.sim.events % 16 == 0 or seen["partitions"][0]["differ"]:
            assert text.state_lines(cursor.sim, cells) == text.state_lines(cursor.sim)
        differed += any(part["differ"] for part in seen["partitions"])
    return differed


def test_whatever_changes_a_log_but_at_its_end_is_counted() -> None:
    log = Log()
    for number in range(4):
        log.append(Batch(number, 0, (f"m{number}",)))
    assert log.cuts == 0
    changes: list[Any] = [
        lambda: log.truncate_to(3),
        lambda: log.raise_log_start(1),
        log.drop_below_log_start,
        lambda: log.truncate_fully(5),
    ]
    for count, change in enumerate(changes, 1):
        change()
        assert log.cuts == count


def test_a_long_log_is_told_by_its_end(busy: Run) -> None:
    looked = Replay(busy)
    for step in looked.each(looked.total - 600, looked.total):
        for replica in step["view"]["partitions"][0]["replicas"].values():
            assert len(replica["records"]) <= RECORDS_SHOWN
            assert len(replica["cut"]) <= RECORDS_SHOWN
        assert all(len(str(cue["new"])) <= 2_001 for cue in step["cues"])
    cut = [one for one in looked._cuts if len(one[3]) > RECORDS_SHOWN]
    assert cut, "a long stretch was cut"


def test_a_view_lists_a_bounded_number_of_waiting_requests_and_messages() -> None:
    names = [f"m{number}" for number in range(400)]
    lines = tuple(f"produce {' '.join(names[at : at + 50])}" for at in range(0, 400, 50))
    looked = Replay(Run(find("S20"), "K39", 0, (*lines, "settle")))
    sizes = set()
    for step in looked.each(780, looked.total):
        shown = step["view"]
        waiting = shown["partitions"][0]["replicas"]["2"]
        assert len(waiting["waiting"]) <= WAITING_SHOWN + 2, "and a fetch of each follower"
        sizes.add((waiting.get("waitingMore", 0), shown.get("messagesMore", 0)))
        assert len(shown["messages"]) <= MESSAGES_SHOWN
        assert len(json.dumps(shown)) < 60_000
    more_waiting, more_messages = map(max, zip(*sizes, strict=True))
    assert more_waiting == 400 - WAITING_SHOWN and more_messages > 100


def test_many_replicas_show_less_each() -> None:
    rows = ", ".join(
        "[" + ",".join(str(1 + (i + j) % 20) for j in range(20)) + "]" for i in range(30)
    )
    text = BUSY.replace("brokers: 3", f"brokers: 20\npartitions: [{rows}]").replace(
        "batch: 5", "batch: 50"
    )
    looked = Replay(Run(load_text(text, "scenario"), "Z0102", 0, ("run 4s",)))
    parts = looked.final_view()["partitions"]
    shown = [len(one["records"]) for part in parts for one in part["replicas"].values()]
    assert len(shown) == 600 and max(shown) == LEAST_SHOWN


def test_steps_are_kept_and_told_by_their_bytes(busy: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "CACHED_BYTES", 1_000_000)
    monkeypatch.setattr(replay, "ANSWER_BYTES", 60_000)
    looked = Replay(busy)
    before = looked.weight
    step = looked.total - 100
    told = looked.steps(step, 32)
    assert 1 <= len(told) < 32 and len(json.dumps(told)) < 120_000
    assert looked.around(step - 8, step, 32)[0]["n"] == step
    for one in looked.each(0, 400):
        assert one["n"] >= 0
    assert len(looked._cache) < 200 and before < looked.weight < before + 2_000_000


def test_an_exported_run_ends_where_it_is_long_enough(
    busy: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.export.exports.MOST_BYTES", 200_000)
    data = json.loads(steps_json(Replay(busy)))
    assert [step["n"] for step in data["steps"]] == list(range(len(data["steps"])))
    assert 10 < len(data["steps"]) < data["total"]
