"""S-2, S-3, C-5: what a broker says of one partition that it is asked for."""

from __future__ import annotations

import pytest

from engine.dataplane import serving
from engine.dataplane.reading import divergence, error_before_read, read_partition
from engine.model.effects import Effects
from engine.model.errors import (
    FENCED_LEADER_EPOCH,
    NONE,
    NOT_LEADER_OR_FOLLOWER,
    OFFSET_OUT_OF_RANGE,
    UNKNOWN_LEADER_EPOCH,
)
from engine.model.log import Batch, Log
from engine.model.messages import (
    LATEST,
    NO_EPOCH,
    FetchPartition,
    FetchRequest,
    ListOffsetsRequest,
    ListOffsetsResponse,
)
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all
from engine.sim.simulation import Simulation


def log() -> Log:
    """Epoch 1 from offset 0 on, epoch 3 from offset 2 on; it ends at 4 and starts at 1."""
    found = Log()
    for offset, epoch in enumerate((1, 1, 3, 3)):
        found.append(Batch(offset, epoch, ("r",)))
    found.hw = 4
    found.raise_log_start(1)
    return found


@pytest.mark.parametrize(
    ("offset", "last_epoch", "error", "diverging"),
    [
        (4, 3, NONE, None),
        (5, 3, NONE, (3, 4)),
        (2, 1, NONE, None),
        (3, 1, NONE, (1, 2)),
        (2, 2, NONE, (1, 2)),
        (4, 4, OFFSET_OUT_OF_RANGE, None),  # newer than all that it knows: where could it end?
        (0, 1, OFFSET_OUT_OF_RANGE, None),  # below the log start
        (1, 1, NONE, None),
    ],
)
def test_the_diverging_epoch_is_returned_if_it_is_known(
    offset: int, last_epoch: int, error: int, diverging: tuple[int, int] | None
) -> None:
    """S-3, T-4: the epoch found and its end; OFFSET_OUT_OF_RANGE where there is none."""
    asked = FetchPartition(0, offset, last_epoch, NO_EPOCH, 0)
    assert divergence(log(), asked) == (error, diverging)


def test_a_leader_that_knows_no_epoch_cannot_say_where_one_ended() -> None:
    """S-3, T-4."""
    asked = FetchPartition(0, 0, 0, NO_EPOCH, 0)
    assert divergence(Log(), asked) == (OFFSET_OUT_OF_RANGE, None)


def led_by_2() -> Simulation:
    """Broker 2 leads in epoch 1 and has a record that no other replica has."""
    brokers = [{"id": n} for n in (0, 1, 2)]
    scenario = Scenario.from_dict({"title": "x", "brokers": brokers, "partitions": [[1, 2, 0]]})
    lines = ("produce a", "settle", "settle", "elect 2", "settle", "settle", "produce b acks=1")
    sim = play_all(Run(scenario, "K39", 0, lines))
    assert [sim.brokers[b].replicas[0].leader_epoch for b in (1, 2)] == [1, 1]
    return sim


@pytest.mark.parametrize(
    ("broker", "epoch", "error"),
    [
        (2, NO_EPOCH, NONE),
        (2, 0, FENCED_LEADER_EPOCH),
        (2, 1, NONE),
        (2, 2, UNKNOWN_LEADER_EPOCH),
        (1, NO_EPOCH, NOT_LEADER_OR_FOLLOWER),
        (1, 0, FENCED_LEADER_EPOCH),
        (1, 1, NOT_LEADER_OR_FOLLOWER),
        (1, 2, UNKNOWN_LEADER_EPOCH),
    ],
)
@pytest.mark.parametrize(("replica", "rack"), [(0, None), (0, "a"), (-1, None), (-1, "a")])
def test_epochs_are_compared_before_roles(
    broker: int, epoch: int, error: int, replica: int, rack: str | None
) -> None:
    """S-2.4, S-2.5; C-8: only a consumer that stands somewhere may read from a follower."""
    asked = FetchPartition(0, 0, NO_EPOCH, epoch, 0)
    m = FetchRequest(0 if replica >= 0 else -31, broker, 1, (asked,), replica, -1, 0, 1, 9, rack)
    if error == NOT_LEADER_OR_FOLLOWER and replica < 0 and rack is not None:
        error = NONE
    assert error_before_read(led_by_2().brokers[broker].running, m, asked) == error


@pytest.mark.parametrize(("who", "latest"), [(0, 2), (1, 2), (-31, 1)])
def test_the_latest_offset_is_the_end_to_a_broker_and_the_mark_to_a_client(
    who: int, latest: int
) -> None:
    """C-5, F-9: broker 0 is a broker."""
    out = Effects()
    asked = ListOffsetsRequest(who, 2, 1, 0, LATEST, NO_EPOCH)
    serving.on_list_offsets_request(led_by_2().brokers[2].running, asked, out)
    (answer,) = [one for one in out.sends if isinstance(one, ListOffsetsResponse)]
    assert (answer.error, answer.offset) == (NONE, latest)


def test_fetches_from_deleted_offsets_get_no_high_watermark() -> None:
    """S-3: also where its last epoch is the leader's."""
    leader, out = led_by_2().brokers[2].running, Effects()
    leader.replicas[0].log.raise_log_start(1)
    asked = FetchPartition(0, 0, 1, 1, 0)
    m = FetchRequest(1, 2, 1, (asked,), 1, -1, 0, 1, 9)
    told = read_partition(leader, m, asked, out)
    assert (told.error, told.hw, told.batches) == (OFFSET_OUT_OF_RANGE, -1, ())
