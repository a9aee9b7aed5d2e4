"""P-7: what a log remembers of idempotent producers."""

from __future__ import annotations

import pytest

from engine.dataplane.produce import append_once
from engine.dataplane.recovery import lose_unflushed, open_replica
from engine.model import errors
from engine.model.broker import Machine, Process
from engine.model.configs import build
from engine.model.effects import Effects
from engine.model.log import Batch, Log
from engine.model.messages import ProduceRequest
from engine.model.producers import Producers
from engine.model.profiles import get_profile
from engine.model.state import Disk
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all


def batch(base: int, sequence: int, count: int = 1, time: int = 0) -> Batch:
    return Batch(base, 0, ("r",) * count, time, 7, 0, sequence)


def written(*batches: Batch) -> Log:
    log = Log()
    for one in batches:
        log.append(one)
    return log


CHECKS = [
    # epoch, sequence, count -> error, first offset of the original
    (0, 3, 1, errors.NONE, None),
    (0, 0, 1, errors.NONE, 0),
    (0, 1, 2, errors.NONE, 1),
    (0, 1, 1, errors.OUT_OF_ORDER_SEQUENCE_NUMBER, None),
    (0, 2, 1, errors.OUT_OF_ORDER_SEQUENCE_NUMBER, None),
    (0, 4, 1, errors.OUT_OF_ORDER_SEQUENCE_NUMBER, None),
    (1, 0, 1, errors.NONE, None),
    (1, 3, 1, errors.OUT_OF_ORDER_SEQUENCE_NUMBER, None),
    (-1, 3, 1, errors.INVALID_PRODUCER_EPOCH, None),
]


@pytest.mark.parametrize(("epoch", "sequence", "count", "error", "original"), CHECKS)
def test_checks(epoch: int, sequence: int, count: int, error: int, original: int | None) -> None:
    producers = written(batch(0, 0), batch(1, 1, 2)).producers
    found, duplicate = producers.check(7, epoch, sequence, count)
    assert found == error
    assert (None if duplicate is None else duplicate[2]) == original


@pytest.mark.parametrize("producer", [0, 7])
def test_a_duplicate_is_answered_with_the_offsets_of_the_original(producer: int) -> None:
    """P-7: written once, acknowledged each time; what is out of order is told no offsets."""
    scenario = Scenario.from_dict({"title": "x", "brokers": 2})
    broker = play_all(Run(scenario, "K39", 0, ("settle",))).brokers[1].running

    out = Effects(cues=True)

    def send(sequence: int, count: int) -> tuple[int, int, int, bool]:
        values = ("r",) * count
        sent = ProduceRequest(-11, 1, 0, 0, values, 1, 0, producer, 0, sequence)
        return append_once(broker, broker.replicas[0], sent, out)

    assert send(0, 2) == (errors.NONE, 0, 2, False)
    assert send(2, 3) == (errors.NONE, 2, 5, False)
    assert send(2, 3) == (errors.NONE, 2, 5, True)
    assert send(0, 2) == (errors.NONE, 0, 2, True)
    assert send(9, 1) == (errors.OUT_OF_ORDER_SEQUENCE_NUMBER, -1, -1, False)
    assert broker.replicas[0].log.leo == 5
    assert [cue.new for cue in out.cues or () if cue.rule == "P-7"] == [2, 0]


def test_unknown_producers_may_begin_anywhere() -> None:
    assert Producers().check(9, 3, 42, 1) == (errors.NONE, None)


def test_five_batches_are_remembered() -> None:
    producers = written(*(batch(n, n) for n in range(6))).producers
    assert producers.check(7, 0, 1, 1)[1] is not None
    assert producers.check(7, 0, 0, 1) == (errors.OUT_OF_ORDER_SEQUENCE_NUMBER, None)


def test_sequences_wrap_to_zero() -> None:
    last = (1 << 31) - 1
    producers = written(batch(0, last - 1, 2)).producers
    assert producers.check(7, 0, 0, 1) == (errors.NONE, None)
    wrapped = written(batch(0, last, 3)).producers
    assert wrapped.entries[7].batches == [(last, 1, 0, 2)]


def test_power_loss_forgets_what_the_shorter_log_no_longer_has() -> None:
    """L-13.7.  A batch that went with the power is none that was written already."""
    broker = Process(Machine(1, "1", "", get_profile("K39"), build(get_profile("K39")), False))
    disk = broker.machine.disks[0] = Disk(written(batch(0, 0), batch(1, 1), batch(2, 2)))
    disk.log.flush(1)
    lose_unflushed(disk)
    replica = open_replica(broker, 0, disk, Effects())
    assert replica.log.leo == 1
    assert replica.log.producers.check(7, 0, 1, 1) == (errors.NONE, None), "to be written again"
    assert replica.log.producers.check(7, 0, 0, 1)[1] is not None, "still known as written"


def test_truncation_and_expiry_forget() -> None:
    log = written(batch(0, 0, time=10), batch(1, 1, time=20))
    copy = log.producers.copy()
    log.truncate_to(1)
    assert log.producers.check(7, 0, 1, 1) == (errors.NONE, None)
    assert log.producers.check(7, 0, 0, 1)[1] is not None
    assert copy.check(7, 0, 1, 1)[1] is not None, "a copy has its own memory"
    copy.expire(119, 100)
    assert 7 in copy.entries
    copy.expire(120, 100)
    assert not copy.entries
    log.truncate_fully(5)
    assert not log.producers.entries
