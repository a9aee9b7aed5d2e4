"""T-1, T-2: how far a follower cuts its log by the answer, and whether that was all."""

from __future__ import annotations

import pytest

from engine.dataplane import truncation
from engine.model.log import Batch, Log

HW = 2
"""Of the follower.  It is what counts where the leader says nothing."""


def log() -> Log:
    """Epoch 1 from offset 0 on, epoch 3 from offset 3 on; it ends at 5."""
    found = Log()
    for offset, epoch in enumerate((1, 1, 1, 3, 3)):
        found.append(Batch(offset, epoch, ("r",)))
    return found


@pytest.mark.parametrize(("end", "target"), [(-1, HW), (0, 0), (4, 4), (9, 5)])
def test_an_offset_alone_decides_at_once(end: int, target: int) -> None:
    assert truncation.target_by_offset(log(), end, HW) == (target, True)


@pytest.mark.parametrize(
    ("epoch", "end", "target", "done"),
    [
        (-1, -1, HW, True),  # the leader knows no such epoch
        (-1, 4, 4, True),  # it is too old to name its epoch
        (-1, 9, 5, True),
        (3, 4, 4, True),  # the follower's own last epoch: the earlier end of both
        (3, 9, 5, True),
        (1, 2, 2, True),
        (1, 9, 3, True),
        (2, 4, 3, False),  # an epoch unknown here: back to the end of an older one, and ask again
        (0, 0, 0, True),  # older than all that the follower has: nothing is left
        (5, 4, 4, True),  # newer than all that it has
        (5, 9, 5, True),
    ],
)
def test_an_epoch_and_its_end_decide_or_lead_to_the_next_question(
    epoch: int, end: int, target: int, done: bool
) -> None:
    assert truncation.target_by_pair(log(), epoch, end, HW) == (target, done)
