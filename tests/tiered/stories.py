"""Found by storms of the model, played on real brokers: the moves of S99 and S100."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from typing import Final

from app.lab.links import CONTROLLER
from tests.tiered.cluster import TOPIC, TieredCluster, TieredMark

Story = Callable[[TieredCluster], Iterator[TieredMark]]


def rebuilt_without_epochs(cluster: TieredCluster) -> Iterator[TieredMark]:
    """S100: remote storage fails while a follower rebuilds its log, and another leader follows."""
    cluster.create()
    cluster.produce(1, "m0", "m1", "m2", "m3", "m4")
    cluster.until(lambda: len(cluster.remote()) == 4, "four segments are in remote storage")
    cluster.until(lambda: every(cluster, [3, 4]), "local retention is over")
    yield cluster.mark(3, "Five records are acknowledged.")
    cluster.kill(1, signal.SIGTERM)
    cluster.until(lambda: cluster.leader() == 2, "2 leads")
    cluster.produce(2, "n0", "n1", "n2", "n3", "n4")
    cluster.until(lambda: len(cluster.remote()) == 9, "nine segments are in remote storage")
    cluster.until(lambda: every(cluster, [8, 9], 2, 3), "local retention is over")
    yield cluster.mark(7, "1 is shut down, 2 leads, and five more are acknowledged.")
    (cluster.store / "down").touch()
    cluster.start(1)
    cluster.await_up(1)
    cluster.until(lambda: cluster.local(1) == [8] and not cluster.epochs(1), "1 empties its log")
    yield cluster.mark(10, "Remote storage is down. 1 is back and has emptied its log.")
    cluster.kill(2, signal.SIGTERM)
    cluster.until(lambda: cluster.leader() == 3 and 1 in cluster.isr(), "3 leads, 1 is in sync")
    yield cluster.mark(12, "2 is shut down, and 3 leads. 1 is in sync without the epochs.")
    (cluster.store / "down").unlink()
    cluster.start(2)
    cluster.await_up(2)
    cluster.until(lambda: len(cluster.isr()) == 3, "all are in sync")
    cluster.elect(TOPIC, 1)
    cluster.until(lambda: len(cluster.remote()) == 4, "1 deletes remote segments")
    cluster.rest()
    yield cluster.mark(20, "Remote storage works again. 1 leads, after a clean election.")


def deposed_leader_deletes(cluster: TieredCluster) -> Iterator[TieredMark]:
    """S99: a frozen leader goes on before it hears of its successor, and applies retention."""
    cluster.in_segment = 2
    cluster.create(retained=6)
    cluster.produce(1, "m0", "m1", "m2", "m3", "m4")
    cluster.until(lambda: len(cluster.remote()) == 2, "two segments are in remote storage")
    cluster.until(lambda: every(cluster, [2, 4]), "local retention is over")
    yield cluster.mark(3, "Five records are acknowledged; the log may have six.")
    cluster.kill(1, signal.SIGSTOP)
    cluster.send(1, "n0", "n1", "n2", "n3")
    cluster.end_session(1)
    cluster.until(lambda: cluster.leader() == 2, "2 leads")
    cluster.hand.cut(1, CONTROLLER)
    cluster.rest()
    yield cluster.mark(7, "1 is frozen with four records in its sockets, and 2 leads.")
    cluster.kill(1, signal.SIGCONT)
    cluster.until(lambda: len(cluster.remote()) < 2, "1 deletes remote segments")
    cluster.rest()
    yield cluster.mark(10, "1 goes on, and has not heard of 2.")
    cluster.hand.heal(1, CONTROLLER)
    cluster.until(lambda: len(cluster.isr()) == 3, "1 follows")
    cluster.rest()
    yield cluster.mark(12, "1 follows 2.")


def every(cluster: TieredCluster, starts: list[int], *brokers: int) -> bool:
    return all(cluster.local(broker) == starts for broker in brokers or cluster.brokers)


STORIES: Final[dict[str, Story]] = {"S99": deposed_leader_deletes, "S100": rebuilt_without_epochs}
