"""Effects of each move on the parts of the state it changes.

The search keeps the answers in tables; a refinement (`engine/refinement`) asks for them one by one,
of the states a run comes through.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.ladder.rungs import Rung
from engine.ladder.state import NOBODY, AbstractController, AbstractReplica, members


def of_controller(controller: AbstractController) -> Iterator[tuple[str, int, AbstractController]]:
    """Yield controller-elects and controller-shrinks: (move, its replica, the record after)."""
    leader, isr = controller.leader, controller.isr
    for replica in members(isr):
        if replica != leader:
            yield "controller-elects", replica, controller.announces(replica, isr)
            left = controller.announces(leader, isr & ~(1 << replica))
            yield "controller-shrinks", replica, left
    if leader != NOBODY:
        left_isr = isr if isr == 1 << leader else isr & ~(1 << leader)
        yield "controller-shrinks", leader, controller.announces(NOBODY, left_isr)


def hears_it_leads(replica: AbstractReplica, epoch: int, isr: int) -> AbstractReplica:
    """Return the replica after becomes-leader: the log and the high watermark stay."""
    return replica._replace(epoch=epoch, leader=replica.me, isr=isr)


def hears_it_follows(
    rung: Rung, leader: AbstractReplica, follower: AbstractReplica, epoch: int, isr: int
) -> Iterator[AbstractReplica]:
    """Return the replica after every way of becomes-follower."""
    for log, hw in rung.truncate(leader, follower, epoch):
        yield AbstractReplica(follower.me, log, hw, epoch, leader.me, isr)


def fetches(
    rung: Rung, leader: AbstractReplica, follower: AbstractReplica
) -> AbstractReplica | None:
    """Return the follower with the leader's next record; None if it gets none."""
    end = follower.end
    if end >= leader.end or not rung.fetch(leader, follower):
        return None
    return follower._replace(log=(*follower.log, leader.log[end]), hw=min(leader.hw, end + 1))


def writes(replica: AbstractReplica, record: int) -> AbstractReplica:
    """Append a record to a replica that presumes leadership."""
    return replica._replace(log=(*replica.log, (record, replica.epoch)))


def advances(replica: AbstractReplica) -> AbstractReplica:
    return replica._replace(hw=replica.hw + 1)
