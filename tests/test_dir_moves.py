"""A log moves to another directory of its broker: D-1 - D-6."""

from __future__ import annotations

import pytest

from engine.dataplane import futures, retention, watermark
from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.errors import InputError
from engine.model.log import Batch
from engine.model.messages import NO_EPOCH
from engine.model.quotas import ReplicationQuota
from engine.model.state import FETCHING, TRUNCATING, DirectoryMove
from engine.model.timers import DIR_MOVE
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all
from engine.sim.simulation import Simulation

TWO = Scenario.from_dict(
    {
        "title": "Where does it lie?",
        "brokers": [{"id": 1, "dirs": 2}, {"id": 2, "dirs": 2}, {"id": 3, "dirs": 2}],
        "configs": {"fetch_max_records": 2},
    }
)
PROFILES = ["K39", "Z33", "Z011"]


def after(lines: str, profile: str, fetching: str = "manual", **changes: int) -> Simulation:
    scenario = TWO.vary("fetching", fetching)
    for key, value in changes.items():
        scenario = scenario.vary(key.replace("__", "."), value)
    return play_all(Run(scenario, profile, 0, tuple(one.strip() for one in lines.split(";"))))


def log(sim: Simulation, broker: int) -> str:
    disk = sim.brokers[broker].machine.disks[0]
    return f"d{disk.dir} " + " ".join(v for batch in disk.log.batches for v in batch.values)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("broker", [1, 2])
def test_a_log_moves_by_hand(broker: int, profile: str) -> None:
    start = f"produce a b c; settle; move_dir {broker} d2"
    sim = after(f"{start}; copy {broker}; copy {broker}", profile)
    move = sim.brokers[broker].machine.futures[0]
    assert (move.disk.log.leo, move.disk.log.hw, log(sim, broker)) == (2, 2, "d1 a b c")
    sim = after(f"{start}; settle; produce d; settle", profile)
    assert log(sim, broker) == "d2 a b c d" and not sim.brokers[broker].machine.futures
    assert sim.brokers[broker].machine.disks[0].log.hw == 4 and not sim.broken
    assert len(sim.ledger.acked[0]) == 4


def test_the_mark_of_a_log_that_moves_is_checkpointed_as_well() -> None:
    """D-4, H-7: in the directory that it moves to."""
    sim = after("produce a b c; settle; settle; move_dir 2 d2; copy 2; copy 2", "K39")
    move = sim.brokers[2].machine.futures[0]
    assert move.disk.hw_checkpoint < move.disk.log.hw == 2
    watermark.checkpoint(sim.brokers[2].running, sim.out)
    assert move.disk.hw_checkpoint == 2


@pytest.mark.parametrize("profile", PROFILES)
def test_a_log_moves_by_the_clock_while_it_is_written(profile: str) -> None:
    sim = after(
        "produce a b c; advance 1s; move_dir 1 d2; move_dir 2 d2; produce d e f; advance 1s; "
        "produce g; advance 1s",
        profile,
        "auto",
    )
    assert log(sim, 1) == log(sim, 2) == "d2 a b c d e f g" and not sim.broken
    assert {sim.brokers[b].machine.disks[0].log.hw for b in (1, 2, 3)} == {7}


def test_kraft_is_asked_first_and_knows_where_the_log_is() -> None:
    held = "produce a; settle; move_dir 2 d2; cut 2 K; copy 2; copy 2"
    sim = after(held, "K39")
    assert sim.brokers[2].machine.futures[0].asked and log(sim, 2) == "d1 a"
    assert sim.cluster.controller.directories[2, 0] == 1
    sim = after(f"{held}; heal; advance 2s; settle", "K39")
    assert log(sim, 2) == "d2 a" and sim.cluster.controller.directories[2, 0] == 2
    record = sim.cluster.controller.records[0]
    assert (record.leader_epoch, record.partition_epoch) == (0, 1)
    sim = after(f"{held}; move_dir 2 d1; heal; advance 2s; settle", "K39")
    assert log(sim, 2) == "d1 a" and sim.cluster.controller.directories[2, 0] == 1


@pytest.mark.parametrize("profile", PROFILES)
def test_a_crash_interrupts_a_move_and_does_not_end_it(profile: str) -> None:
    start = "produce a b c; settle; move_dir 2 d2; copy 2; copy 2; power 2; detect 2"
    sim = after(start, profile)
    assert sim.brokers[2].machine.futures[0].disk.log.leo == 0, "nothing of it was flushed"
    sim = after(f"{start}; restart 2; settle; settle", profile)
    assert log(sim, 2) == "d2 a b c" and not sim.broken


@pytest.mark.parametrize("profile", ["K39", "Z33"])
def test_a_failed_directory_ends_the_move(profile: str) -> None:
    start = "produce a b c; settle; move_dir 2 d2; copy 2; copy 2"
    sim = after(f"{start}; disk_fail 2 d2; settle", profile)
    assert log(sim, 2) == "d1 a b c" and not sim.brokers[2].machine.futures
    assert sim.cluster.controller.records[0].isr == (1, 2, 3)
    sim = after(f"{start}; disk_fail 2 d1; settle", profile)
    assert not sim.brokers[2].machine.futures and sim.cluster.controller.records[0].isr == (1, 3)
    sim = after(f"{start}; cut 2 K; kill 2; restart 2; disk_fail 2 d2; heal; settle", profile)
    assert not sim.brokers[2].machine.futures, "it had not been told its role yet"
    with pytest.raises(InputError, match="KAFKA_STORAGE_ERROR"):
        after("disk_fail 2 d2; move_dir 2 d2", profile)


@pytest.mark.parametrize("profile", ["Z0102", "K35"])
def test_releases_with_one_directory_refuse(profile: str) -> None:
    with pytest.raises(InputError, match="cannot move a log"):
        after("move_dir 2 d2", profile)


def test_a_directory_chosen_beforehand_is_remembered() -> None:
    """D-1: REPLICA_NOT_AVAILABLE, and yet the choice counts."""
    sim = after("create_topic o 1; move_dir 2 d1 p=o-0; reassign 2 p=o-0; settle", "Z33")
    assert sim.brokers[2].machine.disks[1].dir == 1
    sim = after("create_topic o 1; reassign 2 p=o-0; settle", "Z33")
    assert sim.brokers[2].machine.disks[1].dir == 2


def test_the_quota_of_moves_knows_no_exemption() -> None:
    """D-3: everything that is copied counts, in sync or not."""
    limit = "replica.alter.log.dirs.io.max.bytes.per.second"
    values = " ".join(f"r{n}" for n in range(12))
    lines = f"set {limit}=1; produce {values}; advance 1s; move_dir 1 d2; advance {{}}s"
    assert after(lines.format(5), "K39", "auto").brokers[1].machine.futures[0].disk.log.leo < 12
    assert log(after(lines.format(40), "K39", "auto"), 1).startswith("d2 r0")
    fast = lines.replace(f"set {limit}=1; ", "").format(5)
    assert log(after(fast, "K39", "auto"), 1).startswith("d2 r0")


def test_the_low_watermark_waits_for_the_future_log() -> None:
    """D-4, L-9."""
    lines = "produce a b c; settle; move_dir 1 d2; copy 1; copy 1; delete records 3"
    sim = after(f"{lines}; fetch 2 x2; fetch 3 x2", "K39")
    broker = sim.brokers[1].running
    assert broker.machine.disks[0].log.log_start == 3
    assert retention.low_watermark(broker, broker.replicas[0]) == 0
    sim = after(f"{lines}; settle", "K39")
    assert log(sim, 1).startswith("d2") and sim.brokers[1].machine.disks[0].log.log_start == 3


def test_an_epoch_without_records_is_lost_at_the_swap() -> None:
    """D-6, KAFKA-15608: a fetch that names it finds nothing until something is appended."""
    start = "produce a; settle; elect 2; hold md 3; elect 1; move_dir 1 d2; copy 1; copy 1"
    sim = after(start, "K39")
    assert sim.brokers[1].machine.disks[0].log.epochs.entries() == [[0, 0]]
    lost = [
        sim.brokers[2].machine.disks[0].log.epochs.latest(),
        sim.brokers[1].replicas[0].leader_epoch,
    ]
    assert lost == [1, 2]
    sim = after(f"{start}; fetch 2; fetch 2", "K39")
    assert sim.brokers[2].machine.disks[0].log.epochs.latest() == 1, "out of range, again and again"
    sim = after(f"{start}; fetch 2; produce b to 1 acks=1; fetch 2; fetch 2", "K39")
    assert sim.brokers[2].machine.disks[0].log.epochs.entries() == [[0, 0], [2, 1]]


def future(sim: Simulation) -> tuple[int, int, int]:
    found = sim.brokers[2].machine.futures[0].disk.log
    return found.log_start, found.leo, found.hw


def test_the_future_log_follows_the_start_of_the_current_one() -> None:
    """D-2: below it nothing is kept; where the copy ends before it, the copy begins again there."""
    lines = "produce a b c d e; settle; move_dir 2 d2; copy 2; copy 2"
    assert future(after(lines, "K39")) == (0, 2, 2)
    assert future(after(f"{lines}; delete records 1; fetch 2 x2; copy 2", "K39")) == (1, 4, 4)
    sim = after(f"{lines}; delete records 3; fetch 2 x2; copy 2", "K39")
    assert log(sim, 2) == "d2 d e", "copied in the same round"
    assert sim.brokers[2].machine.disks[0].log.log_start == 3 and not sim.broken
    assert log(after(f"{lines}; delete records 3; settle; settle", "K39"), 2) == "d2 d e"


@pytest.mark.parametrize(("latest", "kept"), [(0, 1), (-1, 2)])
def test_the_copy_is_cut_where_its_latest_epoch_ends_in_the_current_log(
    latest: int, kept: int
) -> None:
    """D-4: epoch 0 is one; a copy without any is cut to the offset it was sent back to."""
    sim = after("produce a b c; settle; move_dir 2 d2; copy 2; copy 2", "K39")
    broker = sim.brokers[2].running
    move = broker.machine.futures[0]
    assert (move.disk.log.leo, move.disk.log.epochs.latest()) == (2, 0)
    if latest < 0:
        move.disk.log.epochs.clear()
    broker.replicas[0].log.epochs.assign(1, 1)
    move.fetch.state, move.fetch.offset = TRUNCATING, 2
    futures.work(broker, sim.out)
    assert move.disk.log.batches[0].values == ("a",)
    assert sum(len(batch.values) for batch in move.disk.log.batches if batch.base < 2) == kept


@pytest.mark.parametrize(("cut", "offset"), [(1, 1), (2, 2), (4, 2)])
def test_a_cut_of_the_current_log_sends_the_copy_back(cut: int, offset: int) -> None:
    """D-4: to where was cut, and never ahead of where it was."""
    sim = after("produce a b c d e; settle; move_dir 2 d2; copy 2; copy 2", "K39")
    fetch = sim.brokers[2].machine.futures[0].fetch
    fetch.last_epoch = 0
    futures.on_truncated(sim.brokers[2].running, 0, cut, sim.out)
    assert (fetch.state, fetch.offset, fetch.last_epoch) == (TRUNCATING, offset, -1)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_copy_that_a_process_finds_is_loaded_like_any_log(profile: str) -> None:
    """L-13, D-1: its high watermark is the checkpointed one, and a crash has none of it."""
    copied = "produce a b c; settle; move_dir 2 d2; copy 2; copy 2"
    copy = after(copied, profile).brokers[2].machine.futures[0].disk
    assert (copy.log.leo, copy.log.hw, copy.hw_checkpoint) == (2, 2, 0)
    copy = after(f"{copied}; kill 2; restart 2", profile).brokers[2].machine.futures[0].disk
    assert (copy.log.leo, copy.log.hw) == (2, 0)
    copy = after(f"{copied}; shutdown 2; restart 2", profile).brokers[2].machine.futures[0].disk
    assert (copy.log.leo, copy.log.hw) == (2, 2)


@pytest.mark.parametrize("broker", [1, 2, 3])
def test_a_new_leader_epoch_has_every_copy_compare_again(broker: int) -> None:
    """D-2: of the new leader, of the old one, and of a follower."""
    copied = f"produce a b c; settle; move_dir {broker} d2; copy {broker}; copy {broker}"
    fetch = after(copied, "K39").brokers[broker].machine.futures[0].fetch
    assert fetch.leader_epoch == 0 and fetch.state != TRUNCATING
    fetch = after(f"{copied}; elect 2", "K39").brokers[broker].machine.futures[0].fetch
    assert (fetch.leader_epoch, fetch.state) == (1, TRUNCATING)


@pytest.mark.parametrize("broker", [1, 2])
def test_a_copy_goes_on_while_the_controller_is_asked(broker: int) -> None:
    """D-2, D-5: what the log gains in the meantime, by a client or by a fetch, is copied too."""
    start = f"produce a acks=1; advance 1s; cut {broker} K; move_dir {broker} d2; advance 1s"
    sim = after(f"{start}; produce b acks=1; advance 1s", "K39", "auto")
    move = sim.brokers[broker].machine.futures[0]
    assert move.asked and not move.accepted
    assert sim.brokers[broker].machine.disks[0].log.leo == move.disk.log.leo == 2


def test_the_move_that_was_begun_goes_on_before_another_begins() -> None:
    """D-2: one partition at a time, though another that waits has the smaller number."""
    brokers = [{"id": 1}, {"id": 2, "dirs": 2}]
    scenario = Scenario.from_dict(
        {"title": "x", "brokers": brokers, "partitions": [[1, 2], [1, 2]],
         "configs": {"fetch_max_records": 2}}
    )  # fmt: skip
    lines = ("produce a b c d e p=1", "produce f", "settle", "move_dir 2 d1 p=1", "copy 2",
             "copy 2", "move_dir 2 d2 p=0", "copy 2")  # fmt: skip
    sim = play_all(Run(scenario, "Z33", 0, lines))
    futures_of = sim.brokers[2].machine.futures
    assert (futures_of[1].disk.log.leo, futures_of[0].disk.log.leo) == (4, 0)


def test_a_move_waits_until_the_broker_knows_its_role() -> None:
    """D-2: after a start of the process there is nothing to copy from yet."""
    start = "produce a b c; settle; move_dir 2 d2; copy 2; copy 2; cut 2 K; kill 2; restart 2"
    broker = after(start, "K39").brokers[2].running
    assert 0 in broker.machine.futures and 0 not in broker.replicas
    assert futures.next_partition(broker) == -1


def test_a_move_begins_with_the_question_where_the_logs_part() -> None:
    """D-2: from the copy's high watermark, which is that of an empty log, and without an epoch;
    then it knows how far it is behind."""
    lines = "produce a b c d e; settle; move_dir 2 d2"
    fetch = after(lines, "K39").brokers[2].machine.futures[0].fetch
    assert (fetch.state, fetch.offset, fetch.last_epoch) == (TRUNCATING, 0, NO_EPOCH)
    assert fetch.lag is None
    fetch = after(f"{lines}; copy 2; copy 2", "K39").brokers[2].machine.futures[0].fetch
    assert (fetch.state, fetch.offset, fetch.lag) == (FETCHING, 2, 3)


def test_the_first_of_several_begun_moves_goes_on() -> None:
    """D-2: each waits for the controller, and then both logs grow."""
    brokers = [{"id": 1}, {"id": 2, "dirs": 2}]
    scenario = {"title": "x", "brokers": brokers, "partitions": [[1, 2], [1, 2]]}
    lines = ("produce a", "produce b p=1", "settle", "cut 2 K", "move_dir 2 d1 p=1", "copy 2",
             "copy 2", "move_dir 2 d2 p=0", "copy 2", "copy 2")  # fmt: skip
    broker = play_all(Run(Scenario.from_dict(scenario), "K39", 0, lines)).brokers[2].running
    assert [move.asked for move in broker.machine.futures.values()] == [True, True]
    assert futures.next_partition(broker) == -1, "nothing to do until somebody answers"
    for replica in broker.replicas.values():
        replica.log.append(Batch(1, 0, ("c",)))
    assert list(broker.machine.futures) == [1, 0] and futures.next_partition(broker) == 1


def moving(profile: str = "K39") -> tuple[Process, DirectoryMove]:
    """Broker 2 has copied two of three records; a hand drives it."""
    sim = after("produce a b c; settle; move_dir 2 d2; copy 2; copy 2", profile)
    broker = sim.brokers[2].running
    return broker, broker.machine.futures[0]


@pytest.mark.parametrize(
    ("state", "records", "work"),
    [(TRUNCATING, 3, True), (TRUNCATING, 2, True), (FETCHING, 2, True), (FETCHING, 3, False)],
)
def test_a_move_has_work_until_both_logs_end_alike(state: int, records: int, work: bool) -> None:
    """D-2: and where they parted is known; then it waits for the controller, if it is asked."""
    broker, move = moving()
    move.disk.log.append_follower(broker.replicas[0].log.read(2, 3, records - 2) or ())
    assert move.disk.log.leo == records
    move.fetch.state, move.asked = state, True
    assert (futures.next_partition(broker) == 0) is work


@pytest.mark.parametrize(
    ("auto", "there", "rounds"), [(True, True, 1), (False, True, 0), (True, False, 0)]
)
def test_the_thread_goes_round_while_there_is_work_and_no_hand_drives_it(
    auto: bool, there: bool, rounds: int
) -> None:
    """D-2: a timer of a move that was given up is nothing that happens."""
    broker, move = moving("Z33")
    if not there:
        broker.machine.futures.clear()
    broker.machine.auto_fetch, broker.copying = auto, True
    assert futures.on_timer(broker, Effects()) is bool(rounds)
    assert move.disk.log.leo == 2 + rounds and not broker.copying


def test_a_move_that_its_quota_holds_back_looks_again_a_second_later() -> None:
    """D-3: until then nothing else wakes it."""
    broker, move = moving()
    broker.machine.auto_fetch = True
    broker.configs.dir_move_rate = 1
    broker.dir_quota = ReplicationQuota(1)
    broker.dir_quota.record(1_000, 0)
    out = Effects()
    assert futures.on_timer(broker, out)
    futures.wake(broker, out)
    assert out.timers == [(2, 1_000, DIR_MOVE, None)] and move.disk.log.leo == 2


def test_a_copy_that_has_just_reached_the_log_start_keeps_its_epoch() -> None:
    """D-2: it goes on, as it ends where the current log begins; nothing is lost (D-6)."""
    broker, move = moving()
    log = broker.replicas[0].log
    move.disk.log.append_follower(log.read(2, 3, 1) or ())
    move.fetch.offset = 3
    log.hw = 3
    log.raise_log_start(3)
    log.drop_below_log_start()
    assert futures.work(broker, Effects())
    copy = move.disk.log
    assert (copy.log_start, copy.leo, copy.batches) == (3, 3, log.batches)
    assert copy.epochs.entries() == log.epochs.entries() != []
