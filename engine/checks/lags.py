"""Lags of followers and of the high watermark behind the leader, as a batch measures them.

A record is *copied* once every member of the ISR holds it, *committed* once the leader's high
watermark is past it.  Both are counted as they happen, without a pass over the run.  No rule can
reach this, and a run without it plays the same.
"""

from __future__ import annotations

from collections import deque

from engine.checks.prefix import holds
from engine.model.cluster import Cluster
from engine.model.copying import Twins, shallow
from engine.model.declared import begins, declared, fresh, unset
from engine.model.effects import Effects
from engine.model.log import Batch, Log
from engine.model.state import LEADER, Replica

Append = tuple[int, int, int, Batch]
"""(first offset, offset after the last, when in ms, the last batch) of one append at a leader."""


@declared
class LagLine:
    """Waiting records of one partition, oldest first."""

    leader: Replica
    epoch: int = unset()
    uncopied: deque[Append] = fresh(deque)
    uncommitted: deque[Append] = fresh(deque)

    def __post_init__(self) -> None:
        self.epoch = self.leader.leader_epoch

    def twin(self, twins: Twins) -> LagLine:
        twin = shallow(self)
        twin.leader = twins.of(self.leader)
        twin.uncopied = self.uncopied.copy()
        twin.uncommitted = self.uncommitted.copy()
        return twin


@declared
class Lags:
    """Lags of a whole run.

    `copied` and `committed` are ms, one a record; `behind` and `refetched` are records.
    """

    cluster: Cluster
    clock: Effects
    copied: list[int] = fresh(list)
    committed: list[int] = fresh(list)
    behind: int = begins(0)  # the most records that some member of an ISR lacked
    refetched: int = begins(0)  # records that a follower fetched and had held before
    held: dict[tuple[int, int], int] = fresh(dict)  # (broker, tp) -> end of a log that was cut
    lines: dict[int, LagLine] = fresh(dict)

    def __post_init__(self) -> None:
        for tp in self.cluster.controller.records:
            leader = self.cluster.current_leader(tp)
            if leader is not None:
                self.lines[tp] = LagLine(leader)

    def twin(self, twins: Twins, cluster: Cluster, clock: Effects) -> Lags:
        twin = shallow(self)
        twin.cluster = cluster
        twin.clock = clock
        twin.copied = self.copied.copy()
        twin.committed = self.committed.copy()
        twin.held = self.held.copy()
        twin.lines = {tp: line.twin(twins) for tp, line in self.lines.items()}
        return twin

    # -- reports of the checker -------------------------------------------------------------------

    def on_leader(self, tp: int, replica: Replica) -> None:
        """Note a new leader: records it lacks will never be copied, the rest goes on waiting."""
        line = self.lines.get(tp)
        if line is None:
            self.lines[tp] = LagLine(replica)
        elif replica.leader_epoch >= line.epoch:  # else a zombie
            line.leader, line.epoch = replica, replica.leader_epoch
            log = replica.log
            line.uncopied = deque(entry for entry in line.uncopied if holds(log, entry[3]))
            line.uncommitted = deque(entry for entry in line.uncommitted if holds(log, entry[3]))

    def on_append(self, tp: int, replica: Replica, before: int) -> None:
        """Note that a log has grown from offset `before` on."""
        line = self.lines.get(tp)
        if line is None:
            return
        log = replica.log
        if replica.role == LEADER:
            if replica is line.leader and replica.leader_epoch == line.epoch:
                appended = (before, log.leo, self.clock.now, log.batches[-1])
                line.uncommitted.append(appended)
                line.uncopied.append(appended)
                record = self.cluster.controller.records.get(tp)
                if record is not None and len(record.isr) == 1:
                    self.on_isr(tp)
                else:
                    self.behind = max(self.behind, log.leo - line.uncopied[0][0])
            return
        if self.held:
            self._fetched(replica.broker, tp, max(before, log.log_start), log.leo)
        if line.uncopied:
            self.on_isr(tp)

    def on_cut(self, node: int, tp: int, end: int) -> None:
        """Note that a replica's log now ends before `end`: truncated, lost or deleted."""
        self.held[node, tp] = max(end, self.held.get((node, tp), 0))

    def on_hw(self, tp: int, replica: Replica) -> None:
        """Note that a leader's high watermark has moved."""
        line = self.lines.get(tp)
        if line is None or replica is not line.leader:
            return
        hw, now, waiting = replica.log.hw, self.clock.now, line.uncommitted
        while waiting and waiting[0][1] <= hw:
            base, end, since, _ = waiting.popleft()
            self.committed += [now - since] * (end - base)

    def on_isr(self, tp: int) -> None:
        """Take out what every member of the ISR holds by now."""
        line, record = self.lines.get(tp), self.cluster.controller.records.get(tp)
        if line is None or record is None or not record.isr or not line.uncopied:
            return
        waiting, leader, brokers = line.uncopied, line.leader.broker, self.cluster.brokers
        first, least, logs = waiting[0][1], line.leader.log.leo, []
        for member in record.isr:
            if member != leader:
                disk = brokers[member].machine.disks.get(tp)
                if disk is None or disk.log.leo < first:
                    return
                log = disk.log
                logs.append(log)
                least = min(least, log.leo)
        ready = []
        while waiting and waiting[0][1] <= least:
            ready.append(waiting.popleft())
        while ready and not _all_hold(logs, ready[-1][3]):
            waiting.appendleft(ready.pop())
        now = self.clock.now
        for base, end, since, _ in ready:
            self.copied += [now - since] * (end - base)

    # --------------------------------------------------------------------------------------------

    def _fetched(self, node: int, tp: int, start: int, end: int) -> None:
        held = self.held.get((node, tp), 0)
        self.refetched += max(0, min(end, held) - start)


def _all_hold(logs: list[Log], batch: Batch) -> bool:
    """Check whether all logs hold a batch; a log not truncated yet may be long enough without it.

    Equal epochs at an offset mean equal logs up to it, so the newest batch speaks for the others;
    most of the time it is the last one of the log.
    """
    for log in logs:
        if not (log.batches and log.batches[-1] is batch) and not holds(log, batch):
            return False
    return True
