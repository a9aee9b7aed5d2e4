"""Clusters with many partitions, of which most have no news at a fetch.

The pinned runs have 20 to 25 partitions.  They were drawn with moves that let followers fall
behind, leave the ISR and truncate, that elect leaders and reassign replicas; by the rules of six
releases, with lossy links, slow disks, limits of bytes and several fetchers.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from engine.dataplane import fetch_request, fetcher, reading, serving
from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.last_fetch import LastFetch, SentFetch
from engine.model.messages import FetchChanges, FetchData, FetchRequest, FetchResponse
from engine.model.state import FetcherThread
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all
from engine.sim.simulation import Simulation
from engine.study.digest import digest
from engine.study.wander import advance
from tests.conftest import THOROUGH
from tests.test_golden import compare
from tests.test_random_runs import course

RUNS: Final = Path(__file__).parent / "data" / "many-partitions.jsonl"
PINNED: Final = Path(__file__).parent / "golden" / "many-partitions.txt"
SHORT: Final = (3, 6, 9)
"""Numbers of pinned runs that the gate plays; the others with HIGHWATER_THOROUGH=1."""
NEVER: Final = 1_000_000


def runs() -> list[Run]:
    return [Run.from_text(text) for text in RUNS.read_text("utf-8").splitlines()]


def after(*lines: str, profile: str = "K39", configs: dict[str, Any] | None = None) -> Simulation:
    """Three brokers, one of which leads 24 partitions, after these moves; two are written to."""
    data = {
        "title": "x",
        "brokers": 3,
        "fetching": "auto",
        "partitions": [[1, 2, 3]] * 24,
        "configs": configs or {},
        "workload": {"producers": [{"rate_per_s": 20, "partition": at} for at in (0, 3)]},
    }
    sim = Run(Scenario.from_dict(data), profile, 0, ()).simulation()
    for line in lines:
        advance(sim, line)
    return sim


@pytest.mark.night
def test_runs_with_many_partitions_go_as_they_did(rewrite: bool) -> None:
    """A line for each run: number, Kafka, events, digests of its course and its end, what broke."""
    lines = []
    for number, run in enumerate(runs(), 1):
        if number not in SHORT and not (THOROUGH or rewrite):
            lines.append(f"{' '.join(pinned()[number - 1])}\n")  # of a longer run
            continue
        end = play_all(run)
        broken = " ".join(name for name, *_ in end.broken)
        what = f"{number} {run.profile} {end.events} {course(run)} {digest(end)} {broken}"
        lines.append(f"{what.rstrip()}\n")
    again = 'highwater run "$(sed -n NUMBERp tests/data/many-partitions.jsonl)"'
    compare(PINNED, "".join(lines), rewrite, again)


def pinned() -> list[list[str]]:
    return [line.split() for line in PINNED.read_text("utf-8").splitlines()]


@pytest.mark.night
def test_runs_go_the_same_where_nothing_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch_request, "MANY", NEVER)
    for number in SHORT:
        assert digest(play_all(runs()[number - 1])) == pinned()[number - 1][4], f"run {number}"


@pytest.mark.night
def test_runs_go_the_same_where_every_fetch_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch_request, "MANY", 1)
    for run, (number, _, _, way, *_) in zip(runs(), pinned(), strict=True):
        if int(number) in SHORT or THOROUGH:
            assert course(run) == way, f"run {number}"


def test_a_partition_whose_next_batch_is_too_large_backs_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """F-7, before KIP-74; the others are fetched meanwhile."""
    ends = []
    for many in (1, NEVER):
        monkeypatch.setattr(fetch_request, "MANY", many)
        sim = after("run 1s", profile="0.8.0", configs={"replica.fetch.max.bytes": 500})
        for line in ("produce a b c d p=7 acks=1", "run 5s"):
            advance(sim, line)
        assert [sim.brokers[node].replicas[7].log.leo for node in (1, 2, 3)] == [4, 0, 0]
        ends.append((sim.events, digest(sim)))
    assert ends[0] == ends[1]


# -- what is not visited --------------------------------------------------------------------------


def same(one: FetchData, other: FetchData) -> bool:
    fields = ("tp", "error", "hw", "log_start", "diverging")
    return all(getattr(one, name) == getattr(other, name) for name in fields) and (
        list(one.batches) == list(other.batches)
    )


def checking(recall: Callable[..., Any], counts: dict[str, int]) -> Callable[..., Any]:
    """Return `recall` with a comparison of what is remembered and what would be read."""

    def recalled(broker: Process, m: FetchRequest, now: int) -> LastFetch | None:
        last: LastFetch | None = recall(broker, m, now)
        if last is not None:
            out = Effects(cues=True)
            assert (
                [fp.tp for fp in m.partitions]
                == list(last.parts)
                == sorted(last.turns, key=last.turns.__getitem__)
            )
            for fp in m.partitions:
                if fp.tp in last.unsettled:
                    counts["visited"] += 1
                    continue
                counts["settled"] += 1
                replica = broker.replicas[fp.tp]
                remote = replica.remote[m.replica]
                assert same(reading.read_partition(broker, m, fp, out), last.answers[fp.tp])
                assert m.replica in replica.isr
                assert (remote.leo, remote.log_start) == (replica.log.leo, fp.log_start)
                assert remote.last_caught_up_ms == remote.last_fetch_ms == now
            assert not out.cues
        return last

    return recalled


def test_settled_partitions_are_as_leader_and_follower_remember_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same request is built in the long way, the same answer is read."""
    counts = {"visited": 0, "settled": 0, "repeated": 0}
    repeat, note = fetcher.repeat_fetch, fetcher.note_answer

    def repeated(
        broker: Process, thread: FetcherThread, sent: SentFetch, now: int
    ) -> FetchRequest | None:
        request = repeat(broker, thread, sent, now)
        if request is not None:
            counts["repeated"] += 1
            parts = [fetch_request._part(broker, state) for state in thread.partitions.values()]
            assert [slots(part) for part in parts] == [slots(part) for part in request.partitions]
        return request

    def noted(broker: Process, thread: FetcherThread, sent: SentFetch, m: FetchResponse) -> None:
        if m.news is not None:
            visited = {data.tp for data in m.news}
            for data in m.partitions:
                if data.tp not in visited:
                    state, log = thread.partitions[data.tp], broker.replicas[data.tp].log
                    assert state.asked == state.offset == log.leo
                    assert not data.batches and log.hw == min(data.hw, log.leo)
        note(broker, thread, sent, m)

    monkeypatch.setattr(fetch_request, "MANY", 1)
    monkeypatch.setattr(serving, "recall_last_fetch", checking(serving.recall_last_fetch, counts))
    monkeypatch.setattr(fetcher, "repeat_fetch", repeated)
    monkeypatch.setattr(fetcher, "note_answer", noted)
    for number in SHORT:
        play_all(runs()[number - 1])
    assert counts["repeated"] > 1_000 and counts["settled"] > counts["visited"] > 1_000


def slots(part: Any) -> Sequence[int]:
    return [getattr(part, name) for name in part.__slots__]


def test_a_fetch_reads_partitions_with_news(monkeypatch: pytest.MonkeyPatch) -> None:
    """Partitions that are not written to are read as the clocks start, and then no more."""
    read: list[int] = []

    def note(broker: Process, m: FetchRequest, fp: Any, out: Effects, *more: Any) -> FetchData:
        read.append(fp.tp)
        return reading.read_partition(broker, m, fp, out, *more)

    monkeypatch.setattr(serving, "read_partition", note)
    sim = after("run 1s")
    assert set(read) == set(range(24))
    read.clear()
    advance(sim, "run 10s")
    assert len(read) > 400 and set(read) == {0, 3}


def remembers(sim: Simulation) -> tuple[bool, bool]:
    """Return whether any follower, and any leader, remembers a fetch."""
    every = [broker.running for broker in sim.cluster.brokers.values()]
    threads = [thread for process in every for thread in process.fetchers.values()]
    return any(thread.sent for thread in threads), any(one.last_fetches for one in every)


@pytest.mark.parametrize(
    ("profile", "configs"),
    [
        ("0.8.1", {}),
        ("Z24", {}),
        ("K39", {"leader.replication.throttled.replicas": "*"}),
        ("K39", {"follower.replication.throttled.replicas": "*"}),
        ("K39", {"replica.fetch.min.bytes": 2_500}),
        ("K39", {"fetch_sessions": 1}),
    ],
)
def test_rules_under_which_every_partition_is_visited(
    profile: str, configs: dict[str, Any]
) -> None:
    assert remembers(after("run 3s")) == (True, True)
    assert remembers(after("run 3s", profile=profile, configs=configs)) == (False, False)


# -- clocks, copies -------------------------------------------------------------------------------


def clocks(sim: Simulation) -> list[tuple[int, ...]]:
    """Return what a leader knows of its followers."""
    return [
        (tp, follower, remote.leo, remote.last_caught_up_ms, remote.last_fetch_ms)
        for tp, replica in sim.brokers[1].replicas.items()
        for follower, remote in replica.remote.items()
    ]


def halfway() -> Simulation:
    sim = after("run 3s", "kill 3", "run 2s", "restart 3", "run 7100ms")
    assert remembers(sim) == (True, True)
    return sim


@pytest.mark.parametrize(
    "copied",
    [Simulation.copy, Simulation.branch, lambda sim: pickle.loads(pickle.dumps(sim))],
    ids=["copy", "branch", "pickle"],
)
def test_copies_of_a_large_cluster_go_on_as_it_does(
    copied: Callable[[Simulation], Simulation],
) -> None:
    sim = halfway()
    before = clocks(sim)
    twin = copied(sim)
    assert clocks(twin) == clocks(sim) == before
    for one in (twin, sim):
        for line in ("run 2s", "kill 2", "run 20s", "restart 2", "run 9s"):
            advance(one, line)
    assert digest(twin) == digest(sim)
    assert clocks(twin) == clocks(sim)


def test_brokers_that_branches_share_remember_no_fetch() -> None:
    sim = halfway()
    sim.seal()
    assert remembers(sim) == (False, False)


def test_idle_followers_are_caught_up_as_of_their_last_fetch() -> None:
    sim = halfway()
    times = {(tp, follower): caught_up for tp, follower, _, caught_up, _ in clocks(sim)}
    latest = {follower: times[9, follower] for follower in (2, 3)}
    assert all(sim.now - 500 <= time <= sim.now for time in latest.values())
    assert {times[tp, 2] for tp in range(4, 24)} == {latest[2]}


def test_a_partition_that_is_fetched_from_elsewhere_has_its_own_times() -> None:
    """Until it is visited: the fetch of the others counts for them at once."""
    sim = halfway()
    leader = sim.brokers[1].running
    (follower, number), last = next(iter(leader.last_fetches.items()))
    before, later = clocks(sim), sim.now + 77
    changes = FetchChanges(number, [last.parts[9]], [])
    parts = list(last.parts.values())
    m = FetchRequest(follower, 1, 1, parts, follower, -1, 500, 1, 9, changes=changes)
    assert not {9, 10} & last.unsettled
    assert serving.recall_last_fetch(leader, m, later) is last
    assert 9 in {part.tp for part in last.to_visit()}
    changed = {(one[0], one[4]) for one in set(clocks(sim)) - set(before)}
    assert (10, later) in changed and 9 not in {tp for tp, _ in changed}


def test_a_clock_that_jumps_takes_the_times_of_settled_partitions_along() -> None:
    sim = halfway()
    before = {one[:2]: one[3:] for one in clocks(sim)}
    advance(sim, "jump 1 60s")
    after = {one[:2]: one[3:] for one in clocks(sim)}
    assert after == {key: (a - 60_000, b - 60_000) for key, (a, b) in before.items()}
