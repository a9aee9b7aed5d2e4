"""Tiered storage: copies, two retentions, a follower past the remote part, remote reads (R-)."""

from __future__ import annotations

from contextlib import suppress

import pytest

from app.lab.playing import must_be_playable
from app.lab.releases import release_of
from app.lab.trouble import LabError
from engine.dataplane.remote_lineage import highest_remote_offset, is_within, with_records
from engine.model.epochs import EpochCache
from engine.model.errors import InputError
from engine.model.log import Batch, Log
from engine.model.remote_log import Entries, RemoteLog, RemoteSegment
from engine.scenarios.file import find, load_text
from engine.sim.kernel import Chance
from engine.sim.run import Run, play_all
from engine.sim.simulation import Simulation
from engine.study.digest import digest
from engine.view.view import view
from engine.why.suggesting import possible
from tests.rules.playing import go_on

TIERED = """
title: tiered
brokers: 3
configs:
  remote.storage.enable: true
  segment.records: 2
  local.retention.bytes: 2000
  remote.log.manager.task.interval.ms: 500
  log.retention.check.interval.ms: 1000
"""
AUTO = "fetching: auto\nnetwork: {delay_ms: 1, control_delay_ms: 1}\n"


def play(*lines: str, more: str = "", profile: str = "K39") -> Simulation:
    sim = Simulation(load_text(TIERED + more), profile, 0)
    go_on(sim, *lines)
    return sim


def write(first: int, last: int) -> list[str]:
    return [line for n in range(first, last + 1) for line in (f"produce m{n} acks=all", "settle")]


def log_of(sim: Simulation, broker: int) -> Log:
    return sim.brokers[broker].machine.disks[0].log


def remote(sim: Simulation) -> list[tuple[int, int]]:
    assert sim.cluster.store is not None
    return [(one.base, one.end) for one in sim.cluster.store.log_of(0).all_segments()]


def marks(sim: Simulation, broker: int) -> tuple[int, int, int]:
    """(log start, local start, end)."""
    log = log_of(sim, broker)
    return log.log_start, max(log.log_start, log.local_start), log.leo


def broken(sim: Simulation) -> set[str]:
    return {name for name, _, _ in sim.broken}


# -- remote segments and leader epochs ------------------------------------------------------------


def segment(base: int, last: int, epochs: Entries, number: int = 1) -> RemoteSegment:
    made = RemoteSegment(number, 1, base, last + 1, (), epochs)
    made.epochs = epochs
    return made


LINEAGE: Entries = ((0, 0), (1, 10), (2, 20), (3, 30), (4, 40), (5, 50), (7, 70))


@pytest.mark.parametrize(
    ("base", "last", "epochs", "within"),
    [
        (15, 35, ((1, 15), (2, 20), (3, 30)), True),
        (15, 19, ((1, 15),), True),
        (0, 5, ((0, 0),), True),
        (70, 75, ((7, 70),), True),
        (15, 29, ((1, 15), (2, 20)), True),
        (55, 85, ((5, 55), (6, 60), (7, 70)), False),  # no epoch 6 here
        (15, 45, ((1, 15), (2, 20), (4, 40)), False),  # epoch 3 is missing there
        (15, 95, ((1, 15), (2, 20), (3, 30)), False),  # past the end of epoch 3
        (75, 95, ((7, 75),), False),  # past the log end
        (5, 14, ((1, 5),), False),  # epoch 1 begins later here
    ],
)
def test_a_segment_is_within_a_lineage(base: int, last: int, epochs: Entries, within: bool) -> None:
    """Facts of RemoteLogManagerTest.testRemoteSegmentWithinLeaderEpochs, and neighbours."""
    assert is_within(segment(base, last, epochs), 90, LINEAGE) is within


def test_epochs_without_records_are_left_out() -> None:
    """RemoteLogManager.buildFilteredLeaderEpochMap, the example of its comment."""
    cache = EpochCache()
    cache.epochs, cache.starts = [0, 1, 2, 3, 4, 5, 6, 7], [0, 10, 20, 30, 40, 60, 60, 70]
    assert with_records(cache) == (
        (0, 0), (1, 10), (2, 20), (3, 30), (4, 40), (6, 60), (7, 70),
    )  # fmt: skip


def test_a_segment_takes_the_place_of_those_that_it_covers() -> None:
    """RemoteLogLeaderEpochState, the two cases of its comment."""
    store = RemoteLog()
    store.finish(segment(0, 100, ((0, 0),), 1))
    store.finish(segment(0, 200, ((0, 0),), 2))
    found = store.segment_at(0, 95)
    assert found is not None and found.number == 2
    overlapping = RemoteLog()
    overlapping.finish(segment(10, 90, ((0, 10),), 1))
    overlapping.finish(segment(5, 100, ((0, 5),), 2))
    found = overlapping.segment_at(0, 95)
    assert found is not None and found.number == 2
    assert overlapping.segment_at(0, 4) is None and overlapping.segment_at(0, 101) is None
    assert [one.number for one in overlapping.listed(0)] == [2, 1]


def test_a_lineage_begins_where_its_first_epoch_does() -> None:
    """A segment may begin before it: the cache was cut by a log start that was lost since."""
    log, batches = RemoteLog(), tuple(Batch(at, 1, (f"m{at}",)) for at in (4, 5))
    log.finish(RemoteSegment(1, 1, 4, 6, batches, ((1, 5),)))
    cache = EpochCache(True)
    cache.assign(1, 5)
    assert log.lineage(cache, 2, 6) == [batches[1]]


def test_copies_past_the_end_of_an_epoch_are_not_of_this_log() -> None:
    store, log = RemoteLog(), Log()
    store.finish(segment(0, 5, ((0, 0),)))
    for offset, epoch in ((0, 0), (1, 0), (2, 1)):
        log.append(Batch(offset, epoch, (str(offset),)))
    assert highest_remote_offset(store, log) == 1
    assert highest_remote_offset(RemoteLog(), log) == -1


# -- copying and local retention -------------------------------------------------------------------


def test_only_closed_segments_below_the_high_watermark_are_copied() -> None:
    sim = play(*write(0, 4), "hold 2->1 Fetch", "produce x acks=1", "produce y acks=1")
    go_on(sim, "advance 500ms")
    assert log_of(sim, 1).hw == 5 and log_of(sim, 1).segments == [0, 2, 4, 6]
    assert remote(sim) == [(0, 2), (2, 4)]


def test_the_tasks_of_one_broker_run_while_time_stands() -> None:
    sim = play(*write(0, 6))
    go_on(sim, "tick 1 retention", "tick 1 remote")
    assert remote(sim) and marks(sim, 1)[1] == 0
    now = sim.now
    go_on(sim, "tick 1 retention")
    assert marks(sim, 1)[1] > 0 == marks(sim, 2)[1] and sim.now == now


def test_segments_that_are_not_copied_stay_on_the_disk() -> None:
    sim = play(*write(0, 6), "store down", "advance 2s")
    assert remote(sim) == [] and marks(sim, 1) == (0, 0, 7)
    go_on(sim, "store up", "advance 1s")
    assert marks(sim, 1) == marks(sim, 2) == (0, 4, 7)
    assert [batch.base for batch in log_of(sim, 1).batches] == list(range(7))
    assert not sim.broken


def test_a_slow_store_takes_one_segment_after_the_other() -> None:
    sim = play("store slow 2s", *write(0, 6), "advance 2s")
    assert remote(sim) == []
    go_on(sim, "advance 2s")
    assert remote(sim) == [(0, 2)]
    go_on(sim, "kill 1", "restart 1", "settle", "store slow 0", "advance 1s")
    assert len(remote(sim)) == 3 and not sim.broken, "the copy under way died with its process"


@pytest.mark.parametrize(("profile", "segments"), [("K36", [2]), ("K37", [3])])
def test_retention_rolls_an_active_segment_since_3_7(profile: str, segments: list[int]) -> None:
    old = "  local.retention.ms: 100\n"
    sim = play(*write(0, 2), "advance 2s", more=old, profile=profile)
    assert log_of(sim, 1).segments[-1:] == segments


def test_a_restart_finds_the_local_start_in_the_first_segment() -> None:
    sim = play(*write(0, 6), "advance 1s", "kill 2", "restart 2", "settle")
    assert marks(sim, 2) == (0, 4, 7) and not sim.broken


# -- retention of the whole log --------------------------------------------------------------------


def test_the_whole_log_is_bounded_by_its_leader() -> None:
    sim = play(*write(0, 8), "advance 1s", more="  retention.bytes: 6000\n")
    assert remote(sim) == [(2, 4), (4, 6), (6, 8)]
    go_on(sim, "settle")
    assert {marks(sim, broker)[0] for broker in (1, 2, 3)} == {2}
    assert not sim.broken


def test_while_deletions_fail_the_log_start_moves_on_with_every_run() -> None:
    sim = play(*write(0, 8), "advance 500ms", more="  retention.bytes: 6000\n")
    assert marks(sim, 1)[0] == 2
    go_on(sim, "store down", *write(9, 10), "advance 500ms")
    assert marks(sim, 1)[0] == 4
    go_on(sim, "advance 500ms")
    assert marks(sim, 1)[0] == 6, "the segment whose deletion failed counts once more"


BEHIND = (*(f"produce m{n} acks=1" for n in range(6)), *2 * ("fetch 2", "fetch 3"), "tick 1 remote")
"""Broker 2 has what broker 1 copied, and does not know yet that it is committed."""
TO_2 = ("hold 3->2 Fetch", "hold 1->2 Fetch", "elect 2")
LET_GO = ("release 3->2 Fetch", "release 1->2 Fetch", "settle")


def test_a_leader_that_knows_a_lower_high_watermark_deletes_nothing_yet() -> None:
    sim = play(*BEHIND, *TO_2, *write(6, 7), more="  retention.bytes: 6000\n")
    assert log_of(sim, 2).hw == 0
    go_on(sim, "tick 2 remote")
    assert remote(sim) == [(0, 2), (2, 4)] and marks(sim, 2)[0] == 0
    go_on(sim, *LET_GO, "tick 2 remote")
    assert remote(sim) == [(2, 4), (4, 6)] and marks(sim, 2)[0] == 2
    assert not sim.broken


def test_a_new_leader_looks_for_its_log_start_until_its_high_watermark_passes_it() -> None:
    sim = play(*BEHIND, more="  retention.bytes: 4000\n")
    assert remote(sim) == [(2, 4)]
    go_on(sim, *TO_2, "tick 2 remote")
    assert marks(sim, 2)[0] == 0
    go_on(sim, *LET_GO, "tick 2 remote")
    assert marks(sim, 2)[0] == 2


# -- a follower past the remote part ---------------------------------------------------------------

AWAY = (*write(0, 1), "kill 3", "detect 3", *write(2, 6), "advance 1s")


def test_a_follower_begins_after_the_remote_part() -> None:
    sim = play(*AWAY, "restart 3", "settle")
    assert marks(sim, 3) == (0, 4, 7) and log_of(sim, 3).epochs.entries() == [[0, 0]]
    assert not sim.broken and sim.cluster.controller.records[0].isr == (1, 2, 3)


def test_it_learns_producers_of_records_that_it_never_gets() -> None:
    known = tuple(line + " idempotence=on" if "produce" in line else line for line in AWAY)
    sim = play(*known, "restart 3", "fetch 3")
    mine, theirs = (log_of(sim, broker).producers.entries for broker in (3, 1))
    assert mine and list(mine) == list(theirs)


def test_it_finds_the_epoch_before_the_local_start() -> None:
    lines = (*write(0, 1), "kill 3", "detect 3", *write(2, 2), "elect 2", *write(3, 7))
    sim = play(*lines, "advance 1s", "restart 3", "settle")
    assert log_of(sim, 3).epochs.entries() == [[0, 0], [1, 3]]
    assert not sim.broken


def test_a_leader_that_dies_meanwhile_ends_the_rebuild() -> None:
    sim = play(*AWAY, "restart 3", "hold 1->3 ListOffsets", "fetch 3", "kill 1", "detect 1")
    go_on(sim, "settle")
    assert marks(sim, 3)[1:] == (4, 7) and not sim.broken


def test_a_store_that_fails_after_the_truncation_leaves_nothing() -> None:
    sim = play(*AWAY, "store down", "restart 3", "fetch 3")
    assert marks(sim, 3) == (0, 4, 4) and log_of(sim, 3).epochs.entries() == []
    go_on(sim, "store up", "advance 1s", "settle")
    assert log_of(sim, 3).epochs.entries() == [[0, 0]] and not sim.broken


def test_a_fetcher_thread_waits_for_a_slow_store() -> None:
    sim = play(*AWAY, "store slow 2s", "restart 3", "fetch 3")
    assert marks(sim, 3) == (0, 4, 4) and log_of(sim, 3).epochs.entries() == []
    go_on(sim, "advance 1s", "settle")
    assert marks(sim, 3) == (0, 4, 4)
    go_on(sim, "advance 1s", "settle")
    assert marks(sim, 3) == (0, 4, 7) and log_of(sim, 3).epochs.entries() == [[0, 0]]
    assert not sim.broken


def test_a_restart_in_between_loses_the_epochs_for_good() -> None:
    """Its role begins at the high watermark, which the leader still has: nothing moves it away."""
    sim = play(*AWAY, "store down", "restart 3", "fetch 3", "kill 3", "store up", "restart 3")
    go_on(sim, "settle")
    assert log_of(sim, 3).epochs.entries() == [[0, 4]] and broken(sim) == {"INV-40"}
    go_on(sim, "kill 2", "detect 2", "kill 1", "detect 1")
    assert sim.cluster.controller.records[0].leader == 3
    assert "I7" in broken(sim), "a clean election, and no consumer can read what is remote"
    go_on(sim, "read")
    assert sim.consumer(1).position != 2


REJOINED = (*AWAY, "restart 3", "settle", "kill 2", "detect 2", "kill 1", "detect 1", "read")


@pytest.mark.parametrize(("profile", "position"), [("K36", 0), ("3.7.0", 2), ("K41", 2)])
def test_in_3_6_it_does_not_know_where_its_disk_starts(profile: str, position: int) -> None:
    """KAFKA-15695: as a leader it looks nowhere else for what its log no longer has."""
    sim = play(*REJOINED, profile=profile)
    assert sim.cluster.controller.records[0].leader == 3 and not sim.broken
    assert sim.consumer(1).position == position
    go_on(sim, "kill 3", "restart 3", "settle", "read", "advance 1s", "read")
    assert sim.consumer(1).position > position, "a restart sees it in the first segment"


# -- consumers, and unclean elections --------------------------------------------------------------


def test_a_consumer_reads_remote_records_and_waits_while_the_store_fails() -> None:
    sim = play(*write(0, 6), "advance 1s", "store down", "read")
    assert sim.consumer(1).position in (None, 0)
    go_on(sim, "store up", *(line for _ in range(4) for line in ("advance 200ms", "read")))
    assert sim.consumer(1).position == 7 and not sim.broken


UNCLEAN = "  unclean.leader.election.enable: true\npartitions: [[1, 2]]\n"


def test_a_leader_below_the_remote_end_does_not_read_what_is_not_of_its_log() -> None:
    lines = (*write(0, 1), "kill 2", "detect 2", *write(2, 6), "advance 1s")
    sim = play(*lines, "kill 1", "detect 1", "restart 2", "settle", more=UNCLEAN)
    assert sim.cluster.controller.records[0].leader == 2 and "I7" in broken(sim)
    go_on(sim, *(f"produce n{n} acks=1" for n in range(4)), "settle", "advance 1s")
    shown = {one["first"]: one["read"] for one in view(sim)["store"]["segments"]}
    assert (shown[0] and shown[2] is not shown[4]) or not shown[4]
    assert "INV-39" not in broken(sim)
    go_on(sim, *(line for _ in range(4) for line in ("read", "advance 100ms")))
    assert sim.consumer(1).position == 6


# -- where it cannot be, and runs as a whole -------------------------------------------------------


def test_releases_groups_and_directories_refuse_it() -> None:
    assert "3.6" in find("S93").cannot_begin("3.5.2")
    assert find("S93").cannot_begin("3.6.0") == find("S93").cannot_begin("3.9.1-zk") == ""
    for more, why in (
        ("groups: [{name: a, members: [C1], offsets: [1]}]\n", "without groups"),
        ("brokers: [{id: 1, dirs: 2}]\n", "one log directory"),
    ):
        with pytest.raises(InputError, match=why):
            load_text(TIERED.replace("brokers: 3\n", "") + more)
    with pytest.raises(LabError, match="remote storage"):
        must_be_playable(Run(find("S93"), "K39"), release_of("3.9.1"))
    with pytest.raises(InputError, match="whole run"):
        play("set remote.storage.enable=false")


def test_the_store_fails_once_and_the_menu_knows() -> None:
    sim = play()
    offered = {one["text"]: one["enabled"] for one in possible(sim)}
    assert (offered["store down"], offered["store up"]) == (True, False)
    go_on(sim, "store down")
    assert view(sim)["store"] == {"up": False, "slow": 0, "segments": []}
    go_on(sim, "store slow 1s")
    with pytest.raises(InputError, match="that time already"):
        go_on(sim, "store slow 1s")
    with pytest.raises(InputError, match="failed already"):
        go_on(sim, "store down")


def test_a_copy_goes_on_as_the_run_does() -> None:
    sim = play(*write(0, 4), "advance 500ms")
    twin, branch = sim.copy(), sim.branch()
    for one in (sim, twin, branch):
        go_on(one, *write(5, 8), "advance 2s")
    assert digest(sim) == digest(twin) == digest(branch)
    assert view(sim) == view(twin) and remote(sim) == remote(twin) == [
        (0, 2),
        (2, 4),
        (4, 6),
        (6, 8),
    ]


MOVES = (
    *("produce", "produce", "produce", "produce", "advance 700ms", "advance 1500ms", "kill "),
    *("restart ", "restart ", "cut 1 2", "cut 2 3", "heal", "pause ", "resume ", "read", "elect "),
)


@pytest.mark.parametrize("seed", range(12))
def test_in_random_runs_no_promise_breaks(seed: int) -> None:
    chance = Chance(seed, "tier moves")
    more = "  retention.bytes: 9000\n" if seed % 2 else ""
    sim = play(more=more + AUTO, profile=("K39", "K36", "K41", "Z33")[seed % 4])
    for number in range(60):
        verb = MOVES[chance.below(len(MOVES))]
        line = f"{verb}{chance.below(3) + 1}" if verb[-1] == " " else verb
        if verb == "produce":
            line = f"produce m{number}.{seed} acks=all"
        with suppress(InputError):
            go_on(sim, line)
    assert not sim.broken


def test_the_library_tells_what_happens() -> None:
    assert play_all(Run(find("S94"), "K39")).consumer(2).position == 8
    assert remote(play_all(Run(find("S95"), "K41"))) == []
