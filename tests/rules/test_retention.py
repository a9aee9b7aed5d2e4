"""L-7 - L-9 and L-13: the log start moves; a log is loaded again."""

from __future__ import annotations

import pytest

from engine.dataplane import recovery, retention
from engine.model import errors, timers
from engine.model.log import Batch, Log
from engine.model.state import Disk
from engine.replay.view_cache import ViewCache
from engine.scenarios.file import find
from engine.scenarios.scenario import Scenario
from engine.sim.kernel import TIMER
from engine.sim.run import Run, play_all
from engine.sim.simulation import Simulation


def log_of(records: int, segment: int, hw: int) -> Log:
    log = Log()
    log.segment_records = segment
    for offset in range(records):
        log.append(Batch(offset, 0, ("r",)))
    log.hw = hw
    return log


RETENTION = [
    # records, segment, hw, retained records, retained ms -> log start, segments
    (15, 5, 15, 15, -1, 0, 3),
    (15, 5, 15, 10, -1, 5, 2),
    (15, 5, 15, 4, -1, 10, 1),
    (15, 5, 15, 0, -1, 15, 1),
    (15, 5, 4, 0, -1, 0, 3),
    (15, 5, 9, 0, -1, 5, 2),
    (15, 5, 15, -1, 999, 15, 1),
    (15, 5, 14, -1, 999, 10, 1),
    (15, 5, 15, -1, 1000, 0, 3),
    (15, 5, 15, -1, 0, 15, 1),
    (0, 5, 0, 0, 0, 0, 1),
]


@pytest.mark.parametrize(
    ("records", "segment", "hw", "size", "age", "start", "segments"), RETENTION
)
def test_retention(
    records: int, segment: int, hw: int, size: int, age: int, start: int, segments: int
) -> None:
    log = log_of(records, segment, hw)
    before = len(log.segments)
    gone = retention.delete_old_segments(log, 1_000, size, age)
    assert (log.log_start, len(log.segments)) == (start, segments)
    assert gone == before - segments or (start == records and gone == before)
    assert all(batch.end > log.log_start for batch in log.batches)


def test_an_old_segment_stays_behind_a_younger_one() -> None:
    """L-8: the log loses its oldest segments and never one from its middle."""
    log = Log()
    log.segment_records = 1
    for offset, time in enumerate((0, 900, 0)):
        log.append(Batch(offset, 0, ("r",), time))
    log.hw = 3
    assert retention.delete_old_segments(log, 1_000, retention_ms=500) == 1
    assert (log.log_start, log.segments) == (1, [1, 2])


def test_a_segment_without_a_batch_is_as_old_as_can_be() -> None:
    """L-8, L-14: a cut inside a batch takes it whole and may leave none."""
    log = Log()
    log.segment_records = 2
    log.append(Batch(0, 0, ("r", "r")))
    log.append(Batch(2, 0, ("r", "r")))
    log.truncate_to(3)
    log.hw = 3
    assert (log.segments, len(log.batches)) == ([0, 2], 1)
    assert retention.delete_old_segments(log, 1_000, retention_ms=999) == 2
    assert log.log_start == 3


@pytest.mark.parametrize(("age", "gone"), [(999, 1), (1_000, 0)])
def test_a_log_without_a_batch_is_as_old_as_the_clock(age: int, gone: int) -> None:
    """L-8, L-14: its only batch has been cut, and its end lies inside that."""
    log = Log()
    log.append(Batch(0, 0, ("r", "r")))
    log.truncate_to(1)
    log.hw = 1
    assert retention.delete_old_segments(log, 1_000, retention_ms=age) == gone


@pytest.mark.parametrize(
    ("start", "segments"), [(4, [0, 5, 10]), (5, [5, 10]), (7, [5, 10]), (10, [10]), (15, [10])]
)
def test_segments_below_the_log_start_go_under_every_policy(
    start: int, segments: list[int]
) -> None:
    """L-8: also a segment that ends just there, and not the active one."""
    log = log_of(15, 5, 15)
    assert retention.raise_log_start(log, start) == (errors.NONE, True)
    assert retention.delete_old_segments(log, 0) == 3 - len(segments)
    assert (log.log_start, log.segments) == (start, segments)


def test_a_client_deletes_up_to_an_offset_or_to_the_high_watermark() -> None:
    """L-9: -1 says up to the high watermark, what lies below that says nothing."""
    sim = after("produce c", "settle", "settle")
    leader = sim.brokers[1].replicas[0]
    assert retention.delete_records(sim.brokers[2].replicas[0], 1) == errors.NOT_LEADER_OR_FOLLOWER
    assert retention.delete_records(leader, -2) == errors.OFFSET_OUT_OF_RANGE
    assert (retention.delete_records(leader, 1), leader.log.log_start) == (errors.NONE, 1)
    assert (retention.delete_records(leader, -1), leader.log.log_start) == (errors.NONE, 3)


def test_log_start_stays_below_the_high_watermark() -> None:
    log = log_of(10, 5, 6)
    assert retention.raise_log_start(log, 7) == (errors.OFFSET_OUT_OF_RANGE, False)
    assert retention.raise_log_start(log, 6) == (errors.NONE, True)
    assert retention.raise_log_start(log, 5) == (errors.NONE, False)


@pytest.mark.parametrize(
    ("damaged_from", "end", "segments"),
    [
        (-1, 15, [0, 5, 10]),  # nothing is
        (0, 0, [0]),
        (1, 1, [0]),
        (6, 6, [0, 5]),
        (7, 7, [0, 5]),
        (14, 14, [0, 5, 10]),
        (15, 15, [0, 5, 10]),
    ],
)
def test_recovery_cuts_at_the_first_bad_batch(
    damaged_from: int, end: int, segments: list[int]
) -> None:
    log = log_of(15, 5, 15)
    log.epochs.clear()  # the epoch file was not written in time
    disk = Disk(log)
    recovery.reopen(disk, False, 0, 1, damaged_from=damaged_from)
    assert (log.leo, log.segments, log.hw) == (end, segments, 0)
    assert [batch.base for batch in log.batches] == list(range(end))
    assert log.epochs.entries() == ([[0, 0]] if end else [])


@pytest.mark.parametrize("damaged_from", [-1, 3, 4])
def test_damage_behind_the_end_of_a_log_changes_nothing(damaged_from: int) -> None:
    """L-13.3, L-14: also where the log ends inside of what was a batch."""
    log = Log()
    log.append(Batch(0, 0, ("r", "r")))
    log.append(Batch(2, 0, ("r", "r")))
    log.truncate_to(3)
    recovery.reopen(Disk(log), False, 0, -1, damaged_from=damaged_from)
    assert (log.leo, len(log.batches)) == (3, 1)


def test_the_low_watermark_is_that_of_the_living() -> None:
    """L-9: DeleteRecords waits for no follower that is dead, fenced or unknown."""
    sim = play_all(Run(Scenario.from_dict({"title": "x", "brokers": 3}), "K39", 0, ("settle",)))
    broker = sim.brokers[1].running
    replica = broker.replicas[0]
    replica.log.log_start, replica.remote[2].log_start, replica.remote[3].log_start = 5, 4, 3
    assert retention.low_watermark(broker, replica) == 3
    broker.peers[3].fenced = True
    assert retention.low_watermark(broker, replica) == 4
    broker.peers[2].alive = False
    assert retention.low_watermark(broker, replica) == 5
    del broker.peers[2]
    assert retention.low_watermark(broker, replica) == 5


def test_a_segment_of_which_nothing_is_left_stays_where_the_log_ends() -> None:
    spoiled, dark = Disk(log_of(15, 5, 15)), Disk(log_of(15, 5, 15))
    recovery.reopen(spoiled, False, 0, 1, damaged_from=10)
    dark.log.flushed = 10
    recovery.lose_unflushed(dark)
    for disk in (spoiled, dark):
        assert (disk.log.leo, disk.log.segments) == (10, [0, 5, 10])


@pytest.mark.parametrize(
    ("flushed", "spared", "segments"),
    [(0, 0, [0]), (3, 0, [0]), (7, 0, [0, 5]), (7, 2, [0, 5]), (7, 4, [0, 5, 10])],
)
def test_power_takes_the_segments_past_the_last_flush(
    flushed: int, spared: int, segments: list[int]
) -> None:
    """L-11."""
    disk = Disk(log_of(15, 5, 15))
    disk.log.flushed = flushed
    gone = recovery.lose_unflushed(disk, spared)
    assert (disk.log.leo, len(gone)) == (flushed + spared, 15 - flushed - spared)
    assert disk.log.segments == segments


def test_cached_reads_of_a_log_are_dropped_once_power_took_its_tail() -> None:
    """L-11: no view shows records that are gone, also before the broker is back."""
    disk, known = Disk(log_of(15, 5, 15)), ViewCache()
    assert known.stretches(disk.log, 1, 0) == [[0, 15, 0]]
    disk.log.flushed = 10
    recovery.lose_unflushed(disk)
    assert known.stretches(disk.log, 1, 0) == [[0, 10, 0]]


def test_cached_reads_of_a_log_are_dropped_once_it_was_loaded() -> None:
    """L-13: recovery may have cut it."""
    disk, known = Disk(log_of(15, 5, 15)), ViewCache()
    assert known.stretches(disk.log, 1, 0) == [[0, 15, 0]]
    recovery.reopen(disk, False, 0, 1, damaged_from=7)
    assert known.stretches(disk.log, 1, 0) == [[0, 7, 0]]


@pytest.mark.parametrize(
    ("start", "records", "epochs"), [(9, 10, [[0, 9]]), (10, 10, [[0, 10]]), (11, 0, [])]
)
def test_a_log_that_ends_where_it_starts_is_no_shorter_than_it_says(
    start: int, records: int, epochs: list[list[int]]
) -> None:
    """L-13: only one that ends before its start begins again and knows no epoch any more."""
    disk = Disk(log_of(10, 5, 10))
    disk.log_start_checkpoint = start
    disk.log.epochs.epochs[:], disk.log.epochs.starts[:] = [0], [9]
    recovery.reopen(disk, True, 0, -1)
    assert (disk.log.log_start, len(disk.log.batches)) == (start, records)
    assert disk.log.epochs.entries() == epochs


def test_recovery_notes_only_epochs_that_the_file_does_not_know() -> None:
    """L-13.7, E-4: epoch 0 begins at 7 since the log start was there; epoch 1 was not noted yet."""
    log = log_of(10, 5, 10)
    log.append(Batch(10, 1, ("r",)))
    log.epochs.epochs[:], log.epochs.starts[:] = [0], [7]
    recovery.recover_log(log, -1)
    assert log.epochs.entries() == [[0, 7], [1, 10]]


def test_a_clean_start_looks_at_nothing() -> None:
    log = log_of(15, 5, 15)
    disk = Disk(log)
    disk.hw_checkpoint, disk.log_start_checkpoint = 12, 4
    recovery.reopen(disk, True, 0, 1, damaged_from=7)
    assert (log.leo, log.log_start, log.hw, log.flushed) == (15, 4, 12, 15)


def test_a_log_that_ends_before_its_start_begins_again() -> None:
    log = log_of(15, 5, 15)
    disk = Disk(log)
    disk.log_start_checkpoint = 10
    recovery.reopen(disk, False, 0, 1, damaged_from=3)
    assert (log.log_start, log.leo, log.batches) == (10, 10, [])


# -- in a run -------------------------------------------------------------------------------------

OLD = (
    "set segment.records=1",
    "set log.retention.check.interval.ms=10000",
    "produce a b",
    "settle",
)


def log_starts(sim: Simulation) -> list[int]:
    return [sim.brokers[b].machine.disks[0].log.log_start for b in (1, 2, 3)]


def starts(*lines: str, profile: str = "K39") -> list[int]:
    return log_starts(play_all(Run(find("S01"), profile, 0, (*OLD, *lines))))


@pytest.mark.parametrize("profile", ["K39", "Z33"])
def test_by_default_nothing_is_looked_for(profile: str) -> None:
    assert starts("advance 1h", profile=profile) == [0, 0, 0]


@pytest.mark.parametrize("profile", ["K39", "Z33"])
def test_switched_on_off_and_on_again(profile: str) -> None:
    on, off = "set retention.ms=5000", "set retention.ms=-1"
    assert starts("set retention.ms=0", "advance 11s", profile=profile) == [2, 2, 2]
    assert starts(on, "advance 11s", profile=profile) == [2, 2, 2]
    assert starts(on, off, "advance 1m", profile=profile) == [0, 0, 0]
    assert starts(on, off, "advance 1m", on, "advance 11s", profile=profile) == [2, 2, 2]


DAY_MS = 86_400_000
CALM = {
    "segment.records": 1,
    "broker.heartbeat.interval.ms": 1_800_000,
    "broker.session.timeout.ms": 3_600_000,
    "zookeeper.session.timeout.ms": 3_600_000,
    "replica.lag.time.max.ms": 3_600_000,
    "replica.high.watermark.checkpoint.interval.ms": DAY_MS,
}
"""Little happens, so that days pass quickly."""


def days(count: int) -> tuple[str, ...]:
    return ("advance 1d",) * count


def after(*lines: str, profile: str = "K39", **own: int) -> Simulation:
    """Two records of the first instant, and then these moves; `own`: configurations."""
    configs = {**CALM, **{name.replace("__", "."): value for name, value in own.items()}}
    scenario = Scenario.from_dict({"title": "x", "brokers": 3, "configs": configs})
    return play_all(Run(scenario, profile, 0, ("produce a b", "settle", *lines)))


def checks_to_come(sim: Simulation) -> int:
    pending = [event[4] for event in sim.kernel.pending if event[1] == TIMER]
    return sum(payload[0] == timers.RETENTION for payload in pending)


@pytest.mark.parametrize("profile", ["K39", "Z33"])
@pytest.mark.parametrize(("age", "own"), [(7, {}), (8, {"retention__ms": 8 * DAY_MS})])
def test_an_age_of_a_week_or_more_is_looked_at_when_it_comes(
    age: int, own: dict[str, int], profile: str
) -> None:
    """By the first check after that instant; none is set before the clock comes near it."""
    early = after(*days(age - 1), "advance 23h", profile=profile, **own)
    assert (log_starts(early), checks_to_come(early)) == ([0, 0, 0], 0)
    assert log_starts(after(*days(age), "advance 299s", profile=profile, **own)) == [0, 0, 0]
    late = after(*days(age), "advance 300s", profile=profile, **own)
    assert (log_starts(late), checks_to_come(late)) == ([2, 2, 2], 3)


def test_checks_are_in_time_however_seldom_the_isr_is_looked_at() -> None:
    """Every minute, though brokers look at their ISRs only twice an hour."""
    own = {"log__retention__check__interval__ms": 60_000}
    assert log_starts(after(*days(7), "advance 59s", **own)) == [0, 0, 0]
    assert log_starts(after(*days(7), "advance 60s", **own)) == [2, 2, 2]


def test_only_a_negative_age_is_none() -> None:
    kept = after(*days(30), retention__ms=-1)
    assert (log_starts(kept), checks_to_come(kept)) == ([0, 0, 0], 0)


@pytest.mark.parametrize(
    ("age", "before", "found"),
    [
        (-1, 0, False),
        (0, 7 * DAY_MS, True),
        (7 * DAY_MS - 1, 7 * DAY_MS, True),
        (7 * DAY_MS, 7 * DAY_MS, False),
        (7 * DAY_MS, 0, False),  # it is asked again before anything is older
        (7 * DAY_MS, -1, True),
        (8 * DAY_MS, 0, False),
        (8 * DAY_MS, -1, True),
    ],
)
def test_when_a_check_may_find_something(age: int, before: int, found: bool) -> None:
    """L-8: `before` that age, seen from when the ISR is looked at next."""
    configs = after(retention__ms=age).configs
    assert retention.may_find(configs, age - configs.isr_check_ms - before) is found


def test_a_greater_age_ends_the_checks_until_it_comes() -> None:
    lines = (*days(7), f"set retention.ms={10 * DAY_MS}", "produce c", "settle", *days(2))
    quiet = after(*lines)
    assert (log_starts(quiet), checks_to_come(quiet)) == ([0, 0, 0], 0)
    assert log_starts(after(*lines, *days(1), "advance 300s")) == [2, 2, 2]


def test_a_broker_restarted_after_a_week_checks() -> None:
    back = after("kill 3", *days(8), "restart 3", "settle", "advance 2h")
    assert (log_starts(back), checks_to_come(back)) == ([2, 2, 2], 3)


def test_a_restarted_broker_goes_on_checking() -> None:
    assert starts("kill 3", "set retention.ms=5000", "advance 11s", "restart 3")[:2] == [2, 2]
    back = starts("kill 3", "set retention.ms=5000", "restart 3", "settle", "advance 11s")
    assert back == [2, 2, 2]


def test_no_size_at_all_keeps_nothing() -> None:
    assert starts("set retention.bytes=0", "advance 11s") == [2, 2, 2]
    assert starts("set retention.bytes=1001", "advance 11s") == [0, 0, 0]
    assert starts("set retention.bytes=1000", "advance 11s") == [1, 1, 1]


def test_a_follower_that_ends_below_the_leaders_start_begins_again() -> None:
    lines = ("kill 3", "produce c d", "fetch 2", "fetch 2", "detect 3")
    grown = (*lines, "set retention.bytes=1000", "fetch 2", "fetch 2", "advance 11s")
    assert starts(*grown, "restart 3", "settle") == [3, 3, 3]


def test_a_clean_shutdown_flushes_every_disk_that_works() -> None:
    """L-12: a failed directory does not keep the broker from flushing the others."""
    brokers = [{"id": 1, "dirs": 2}, {"id": 2}]
    scenario = {"title": "x", "brokers": brokers, "partitions": [[1, 2], [1, 2]]}
    moves = ("produce a p=0", "produce b p=1", "settle")
    broker = play_all(Run(Scenario.from_dict(scenario), "K39", 0, moves)).brokers[1].running
    first, second = (broker.machine.disks[tp] for tp in (0, 1))
    assert (first.dir, second.dir) == (1, 2)
    for disk in (first, second):
        disk.log.flushed = 0
    broker.machine.broken.add(1)
    recovery.flush_everything(broker)
    assert (first.log.flushed, second.log.flushed) == (0, 1)
    assert (second.recovery_checkpoint, broker.machine.clean_epoch) == (1, broker.broker_epoch)


def test_the_flushed_offset_is_never_past_the_end_of_the_log() -> None:
    """L-13: recovery that cuts a damaged tail lowers the flushed offset to the new end."""
    log = log_of(15, 5, 15)
    log.flushed = 15
    recovery.reopen(Disk(log), False, 0, -1, damaged_from=8)
    assert (log.leo, log.flushed) == (8, 8)
