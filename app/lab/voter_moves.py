"""Moves on the voters of a real quorum.

The clock of such a run counts, so a move waits for nothing that the script lets time pass for.
"""

from __future__ import annotations

import shutil
import signal
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from app.lab.disk import METADATA
from app.lab.links import node_of
from engine.moves.moves import Args, Move

if TYPE_CHECKING:
    from app.lab.quorum import QuorumCluster
    from app.lab.stage import LabStage

OfVoter = Callable[["LabStage", "QuorumCluster", int], None]


def voter_deed(cluster: QuorumCluster, move: Move) -> Callable[[LabStage, Args], None] | None:
    """Return how a move on a voter is played; None for any other move."""
    node = move.args.get("broker")
    voter = cluster.voter_of(node) if isinstance(node, int) else None
    deed = _OF_VOTERS.get(move.verb.name)
    if voter is None or deed is None:
        return None
    return lambda stage, args: deed(stage, cluster, voter)


def _kill(stage: LabStage, cluster: QuorumCluster, voter: int) -> None:
    """Kill it; a power failure takes no more, as every append is flushed."""
    cluster.kill(voter)
    cluster.paused.discard(node_of(voter))


def _shutdown(stage: LabStage, cluster: QuorumCluster, voter: int) -> None:
    cluster.kill(voter, signal.SIGTERM)


def _restart(stage: LabStage, cluster: QuorumCluster, voter: int) -> None:
    cluster.start(voter)
    cluster.await_state(voter)
    stage.acted = stage.paced = time.monotonic()
    cluster.await_log(voter)


def _pause(stage: LabStage, cluster: QuorumCluster, voter: int) -> None:
    cluster.paused.add(node_of(voter))
    cluster.kill(voter, signal.SIGSTOP)


def _resume(stage: LabStage, cluster: QuorumCluster, voter: int) -> None:
    cluster.paused.discard(node_of(voter))
    cluster.kill(voter, signal.SIGCONT)


def _wipe(stage: LabStage, cluster: QuorumCluster, voter: int) -> None:
    """Leave an empty log and no vote, as on a disk that was formatted just now."""
    shutil.rmtree(cluster.log_directory(voter) / METADATA, ignore_errors=True)


_OF_VOTERS: Final[dict[str, OfVoter]] = {
    "kill": _kill,
    "power": _kill,
    "shutdown": _shutdown,
    "restart": _restart,
    "pause": _pause,
    "resume": _resume,
    "wipe": _wipe,
}
