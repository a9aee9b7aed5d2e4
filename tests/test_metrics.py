"""Each metric by a run small enough that its answer is known without a computer."""

from __future__ import annotations

from typing import Any

import pytest

from app.core.words import Catalogue
from engine.checks.prefix import differing
from engine.model.log import Batch, Log
from engine.replay.replay import Replay
from engine.scenarios.file import find
from engine.scenarios.random_twin import random_twin
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run
from engine.study.batch import LOST, UNPROMISED, row_of, run_chunk
from engine.study.metrics import METRICS


def row(*script: str, **more: Any) -> dict[str, Any]:
    """The row of a run of three brokers, by hand unless told otherwise."""
    told = {"title": "By hand", "profiles": ["K39"], "brokers": 3, "script": "\n".join(script)}
    found = row_of(Run(Scenario.from_dict({**told, **more}), "K39", 0), 0, 0)
    assert found["verdict"] == "holds", found["why"]
    return found


def replication(found: dict[str, Any]) -> list[int | None]:
    return [found[f"replication_{at}"] for at in ("p50_ms", "p99_ms", "max_ms", "behind")]


def mark(found: dict[str, Any]) -> list[int | None]:
    return [found[f"hw_{at}_ms"] for at in ("p50", "p99", "max")]


def test_replication_waits_for_the_slowest_and_the_mark_for_its_next_fetch() -> None:
    found = row(
        "produce a to 1", "fetch 2", "run 3s", "fetch 3",  # on all three after 3 s
        "fetch 2", "run 2s", "fetch 3",  # and known to be there after 5 s
    )  # fmt: skip
    assert replication(found) == [3000, 3000, 3000, 1]
    assert mark(found) == [5000, 5000, 5000]


def test_a_follower_that_stands_still_for_three_seconds() -> None:
    """By the clock, every way 5 ms: what was appended meanwhile is fetched when it goes on."""
    quick = {"delay_ms": [5, 5], "control_delay_ms": [5, 5]}
    found = row(
        "produce a to 1", "run 2s", "pause 3", "run 10ms", "produce b to 1", "run 3s",
        "resume 3", "run 2s", fetching="auto", network=quick,
    )  # fmt: skip
    quickest, _, longest, _ = replication(found)
    assert quickest == 5, "the leader answers a fetch that waits for data at once"
    # b took 5 ms to the leader; its answer waits at broker 3's door until that goes on.
    assert longest == 3000 - 5
    assert mark(found) == [10, longest + 5, longest + 5]


def test_records_weigh_by_their_number() -> None:
    """Two of three records wait a second, the third not at all: the median is theirs."""
    found = row("produce a to 1", "produce b to 1", "run 1s", "fetch 2", "fetch 3",
                "produce c to 1", "fetch 2", "fetch 3")  # fmt: skip
    assert replication(found) == [1000, 1000, 1000, 2]


def test_an_isr_that_shrinks_no_longer_waits() -> None:
    """Broker 3 never fetches: after 30 s of lag, at the next check, it is out (S-7)."""
    found = row("produce a to 1", "fetch 2", "run 60s")
    assert replication(found) == [*mark(found), 1]
    assert replication(found)[0] == 45_000


def test_nothing_is_said_of_what_never_came() -> None:
    found = row("produce a to 1", "run 3s")
    assert replication(found) == [None, None, None, 1]
    assert mark(found) == [None, None, None]
    empty = row("run 1s")
    assert [empty[name] for name in ("replication_behind", "refetched_bytes")] == [0, 0]


def test_a_follower_long_enough_with_other_records_holds_none_of_them() -> None:
    """S14: broker 1 comes back with c where the leader has x; x is copied only after the cut."""
    found = row_of(Run(find("S14"), "Z0102", 0), 0, 0)
    assert found["diverged"] == 1, "offset 2 is c on broker 1 and x on broker 2"
    assert found["committed_lost"] == 2
    assert found["acked_lost"] == 2


@pytest.mark.parametrize(("profile", "lost"), [("Z0102", 1), ("K39", 0)])
def test_committed_records_that_are_lost(profile: str, lost: int) -> None:
    """R20: m1 was committed, and broker 3 leads without it."""
    found = row_of(Run(find("R20"), profile, 0), 0, 0)
    assert (found["committed_lost"], found["diverged"]) == (lost, 0)


@pytest.mark.night
def test_a_study_names_a_loss_as_the_verdict_of_its_run_does() -> None:
    """R20's random twin under 0.10.2 loses both promised records and others."""
    scenario = random_twin(find("R20"))
    work = {"scenario": scenario.to_dict(), "profile": "Z0102", "cell": 0, "first_seed": 5}
    kinds = set()
    for row in run_chunk({**work, "count": 20}):
        verdict = Replay(Run(scenario, "Z0102", row["seed"])).verdict()["kind"]
        names = {name for name, *_ in row["broken"]}
        assert (verdict == "lost") == (LOST in names), row["seed"]
        assert verdict != "gone" or names == {UNPROMISED}, row["seed"]
        kinds |= {verdict} if names else set()
    assert kinds == {"lost", "gone", "broken"}


@pytest.mark.parametrize(("code", "last_known", "unclean"), [("S13", 1, 0), ("S14", 0, 1)])
def test_the_last_known_leader_is_no_unclean_election(
    code: str, last_known: int, unclean: int
) -> None:
    found = row_of(Run(find(code), "K41", 0), 0, 0)
    assert (found["elections_last_known"], found["elections_unclean"]) == (last_known, unclean)


def test_bytes_that_are_fetched_again() -> None:
    """An empty disk in place of broker 3's: two records of 250 bytes come a second time."""
    fetched = ("produce a to 1", "produce b to 1", "fetch 2", "fetch 3", "run 1s")
    lost = ("kill 3", "wipe 3", "restart 3", "run 2s", "fetch 3", "produce c to 1", "settle")
    size = {"record_bytes": 250}
    assert row(*fetched, *lost, configs=size)["refetched_bytes"] == 500
    assert row(*fetched, "produce c to 1", "settle", configs=size)["refetched_bytes"] == 0


def test_steps_are_those_of_the_animator() -> None:
    found = row("produce a to 1", "fetch 2", "fetch 3")
    assert found["steps"] == found["events"] > 3


def test_differing_offsets_are_those_of_whole_batches_within_the_bounds() -> None:
    mine, theirs = Log(), Log()
    for log, values in ((mine, ("a", "b+c", "d")), (theirs, ("a", "x+y", "d"))):
        for one in values:
            records = tuple(one.split("+"))
            log.append(Batch(log.leo, 0, records))
    assert differing(mine, theirs, 0, 4) == [1, 2]
    assert differing(mine, theirs, 2, 4) == [2]
    assert differing(mine, mine, 0, 4) == []


def test_every_metric_says_what_it_is() -> None:
    assert all(metric.meaning for metric in METRICS.values())
    words = Catalogue().words("en")
    for metric in METRICS.values():
        assert words[f"metric.{metric.name}"] == metric.title
        assert f"unit.{metric.unit}" in words


@pytest.mark.parametrize(
    ("code", "profile", "acked", "promised"),
    [
        ("R20", "Z0102", 1, 1),  # every election is clean
        ("S29", "K39", 2, 2),  # one broker of three lost power
        ("S14", "K39", 2, 0),  # an unclean election
        ("S13", "K39", 0, 0),
        ("S03", "K39", 0, 0),  # acks=1
    ],
)
def test_promised_records_are_those_of_the_verdict(
    code: str, profile: str, acked: int, promised: int
) -> None:
    run = Run(find(code), profile)
    found = row_of(run, 0, 0)
    assert (found["acked_lost"], found["promised_lost"]) == (acked, promised)
    assert (promised > 0) == (Replay(run).verdict()["kind"] == "lost")
