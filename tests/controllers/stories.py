"""A leader of two voters that removes itself, on real controllers: the moves of S105."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from typing import Final

from tests.controllers.cluster import NODES, ControllerMark, TwoControllers

Story = Callable[[TwoControllers], Iterator[ControllerMark]]

STANDSTILL_S: Final = 60.0
RESTARTED_S: Final = 20.0
FROZEN_S: Final = 4.0
"""Twice the fetch timeout of a voter."""


def removed_leader_crashes(cluster: TwoControllers) -> Iterator[ControllerMark]:
    """S105: the leader crashes before the other voter has fetched its removal."""
    cluster.freeze(2)
    cluster.remove(1, 1)
    cluster.kill(1)
    yield cluster.mark(5, "1 has appended its removal, which 2 has not fetched, and crashed.")
    cluster.kill(2, signal.SIGCONT)
    cluster.start(1)
    time.sleep(STANDSTILL_S)
    yield cluster.mark(8, "Both have been up and connected for a minute.")
    for node in NODES:
        cluster.kill(node, signal.SIGTERM)
        cluster.start(node)
    time.sleep(RESTARTED_S)
    yield cluster.mark(11, "Both were restarted.")
    cluster.kill(1)
    cluster.empty(1)
    cluster.start(1)
    cluster.until(lambda: cluster.leader() == 2, "2 leads")
    cluster.until(lambda: cluster.end(1) == cluster.end(2), "1 has the log of 2")
    yield cluster.mark(-1, "1 starts with an empty metadata log and its old directory id.")
    cluster.remove(2, 1)
    cluster.until(lambda: cluster.leader() == 2, "2 leads")
    yield cluster.mark(-1, "1 is removed, now by 2.")


def other_voter_wakes(cluster: TwoControllers) -> Iterator[ControllerMark]:
    """The same without a crash: the other voter was frozen longer than its fetch timeout."""
    cluster.freeze(2)
    cluster.remove(1, 1)
    time.sleep(FROZEN_S)
    yield cluster.mark(5, "1 has appended its removal, and 2 is frozen.")
    cluster.kill(2, signal.SIGCONT)
    time.sleep(STANDSTILL_S)
    yield cluster.mark(7, "Both have been up and connected for a minute.")
    if cluster.leader() > 0:
        return
    for node in NODES:
        cluster.kill(node)
    cluster.copy(2, 1)
    for node in NODES:
        cluster.start(node)
    cluster.until(lambda: cluster.leader() > 0, "there is a leader")
    yield cluster.mark(-1, "Both start with the metadata log of 2, and their old directory ids.")


STORIES: Final[dict[str, Story]] = {"S105": removed_leader_crashes, "wake": other_voter_wakes}
