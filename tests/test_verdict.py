"""One verdict a run: what was promised, what became of it, and no headline that denies it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.export import library_outcomes
from engine.moves.moves import split
from engine.replay.replay import Replay
from engine.scenarios.file import find, library
from engine.sim.run import Run
from engine.story.verdict import GONE, KEPT, KINDS, LOST, UNAVAILABLE, UNTESTED
from tests.conftest import ROOT, sample

FILE = ROOT / "engine/export" / library_outcomes.FILE
PAIRS = [
    (scenario.code, profile)
    for scenario in library().values()
    if scenario.code and not library_outcomes.is_statistical(scenario)
    for profile in scenario.profiles
]


def verdict_of(moves: str, profile: str = "K39", code: str = "S60") -> dict[str, Any]:
    return Replay(Run(find(code), profile, moves=split(moves))).verdict()


@pytest.mark.parametrize(
    ("moves", "kind", "records"),
    [
        ("", UNTESTED, []),
        ("produce a acks=all; settle", UNTESTED, []),
        ("kill 1; detect 1; settle; produce a to 2 acks=all; settle", UNTESTED, []),
        ("produce a acks=all; settle; kill 1; detect 1; settle", KEPT, []),
        ("produce a to 1 acks=1; kill 1; detect 1; settle", GONE, ["a"]),
        ("produce a acks=all; settle; kill 1; kill 2; kill 3; detect 1", UNAVAILABLE, ["a"]),
        (
            "produce a to 1 acks=all; settle; kill 2; detect 2; kill 3; detect 3; "
            "produce b to 1 acks=all; settle; kill 1; detect 1; restart 2; elect unclean; settle",
            GONE,
            ["b"],
        ),
        (
            "produce a to 1 acks=all; settle; power 1; power 2; power 3; detect 1; detect 2; "
            "detect 3; restart 1; restart 2; restart 3; settle",
            GONE,
            ["a"],
        ),
    ],
)
def test_the_verdict_is_what_was_promised_and_what_became_of_it(
    moves: str, kind: str, records: list[str]
) -> None:
    found = verdict_of(moves, code="S60")
    assert (found["kind"], found["records"]) == (kind, records)


def test_a_record_is_lost_though_promised() -> None:
    found = Replay(Run(find("R20"), "Z0102")).verdict()
    assert (found["kind"], found["records"], found["key"]) == (LOST, ["m1"], "outcome.lost")


def test_the_verdict_names_the_worst_fault() -> None:
    found = verdict_of("produce a acks=all; settle; cut 3 K; kill 1; detect 1; settle")
    assert (found["kind"], found["kept"], found["fault"]) == (KEPT, 1, "crash.leader")
    found = verdict_of("produce a acks=all; settle; kill 3; detect 3; settle")
    assert found["fault"] == "crash"


@pytest.mark.parametrize(
    ("moves", "kind", "records", "kept"),
    [
        ("settle", KEPT, 0, 1),
        ("kill 1; kill 2; detect 1; detect 2", UNAVAILABLE, 1, 0),
        ("delete records 2; settle; kill 1; kill 2; detect 1; detect 2", UNTESTED, 0, 0),
    ],
)
def test_records_deleted_on_purpose_are_neither_kept_nor_missing(
    moves: str, kind: str, records: int, kept: int
) -> None:
    """The first record of a batch of two is deleted."""
    start = "run 150ms; settle; delete records 1; settle; kill 3; detect 3; "
    found = verdict_of(start + moves, "1.1.1", "M24")
    assert (found["kind"], len(found["records"]), found["kept"]) == (kind, records, kept)


def test_a_loss_is_known_from_the_step_at_which_it_happens() -> None:
    replay = Replay(Run(find("S03"), "K39"))
    at = replay.verdict()["lost_at"]
    before, there, last = (replay.steps(n, 1)[0] for n in (at - 1, at, replay.total))
    assert before["verdict"] == {}
    assert there["verdict"]["kind"] == last["verdict"]["kind"] == GONE


@pytest.fixture(scope="module")
def rewritten(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--rewrite"):
        return
    found: dict[str, dict[str, Any]] = {}
    for code, profile in PAIRS:
        found.setdefault(code, {})[profile] = library_outcomes.outcome(find(code), profile)
    rows = (
        f'"{code}": {{\n'
        + ",\n".join(f'  "{name}": {json.dumps(one)}' for name, one in row.items())
        + "\n}"
        for code, row in found.items()
    )
    FILE.write_text("{\n" + ",\n".join(rows) + "\n}\n", "utf-8")
    library_outcomes.outcomes.cache_clear()


@pytest.mark.parametrize(("code", "profile"), sample(PAIRS, 12))
def test_no_headline_contradicts_its_counters(rewritten: None, code: str, profile: str) -> None:
    """Acknowledged records less those in the leader's log, counted without the observer."""
    replay = Replay(Run(find(code), profile))
    verdict = replay.verdict()
    assert verdict["kind"] in KINDS
    missing = set()
    for tp, record in replay.end.cluster.controller.records.items():
        leader = replay.end.brokers.get(record.leader)
        process = leader.process if leader else None
        replica = process.replicas.get(tp) if process else None
        for acked in replay.end.ledger.acked[tp]:
            if replica is None:
                missing.update(acked.values)
            elif acked.base >= replica.log.log_start:
                held = {name for batch in replica.log.batches for name in batch.values}
                missing.update(set(acked.values) - held)
    if verdict["kind"] in (KEPT, UNTESTED):
        assert not missing, f"{code} under {profile}: {missing}"
    if verdict["kind"] in (LOST, GONE):
        assert verdict["records"]
    kept = library_outcomes.outcomes()[code][profile]
    assert kept == library_outcomes.outcome(find(code), profile)
