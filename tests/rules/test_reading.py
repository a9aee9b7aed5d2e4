"""S-2, S-3: what a leader says of one partition that it is asked for."""

from __future__ import annotations

import pytest

from engine.dataplane.reading import divergence
from engine.model.errors import NONE, OFFSET_OUT_OF_RANGE
from engine.model.log import Batch, Log
from engine.model.messages import NO_EPOCH, FetchPartition


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
def test_where_the_logs_part_is_told_if_it_can_be_known(
    offset: int, last_epoch: int, error: int, diverging: tuple[int, int] | None
) -> None:
    """S-3, T-4: the epoch found and its end; OFFSET_OUT_OF_RANGE where there is none."""
    asked = FetchPartition(0, offset, last_epoch, NO_EPOCH, 0)
    assert divergence(log(), asked) == (error, diverging)


def test_a_leader_that_knows_no_epoch_cannot_say_where_one_ended() -> None:
    """S-3, T-4."""
    asked = FetchPartition(0, 0, 0, NO_EPOCH, 0)
    assert divergence(Log(), asked) == (OFFSET_OUT_OF_RANGE, None)
