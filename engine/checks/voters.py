"""INV-31 to INV-34: the promises of Raft, held by the voters of a KRaft quorum (10.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from engine.model.copying import shallow
from engine.model.declared import declared, fresh
from engine.model.quorum import LEADER, MetadataLog, Quorum, Record, Voter

Entry = tuple[int, Record]
Report = Callable[..., None]


@declared
class QuorumMemory:
    """Observations of a quorum: the leader of each epoch, what was committed, the logs' ends.

    `committed` are (epoch, record) below the highest mark of any leader.
    """

    leaders: dict[int, int] = fresh(dict)
    committed: list[Entry] = fresh(list)
    seen: dict[int, tuple[int, int, int]] = fresh(dict)  # voter -> (end, last epoch, mark)

    def copy(self) -> QuorumMemory:
        twin = shallow(self)
        twin.leaders = self.leaders.copy()
        twin.committed = self.committed.copy()
        twin.seen = self.seen.copy()
        return twin

    def look(self, quorum: Quorum | None, report: Report) -> None:
        """Report what an event of the controller side has broken, if there is a quorum."""
        if quorum is not None:
            _check(quorum, self, report)


def _check(quorum: Quorum, memory: QuorumMemory, report: Report) -> None:
    """Check a quorum; only what changed is looked at."""
    changed = False
    for v in quorum.voters.values():
        if v.state == LEADER and v.alive and memory.leaders.get(v.epoch) != v.id:
            _on_leader(quorum, memory, v, report)
        now = (v.log.end, v.log.last_epoch, v.hw)
        if memory.seen.get(v.id) != now:
            memory.seen[v.id] = now
            changed = True
            _on_log(quorum, memory, v, report)
    if changed:
        _check_majority(quorum, memory, report)


def _on_leader(quorum: Quorum, memory: QuorumMemory, v: Voter, report: Report) -> None:
    first = memory.leaders.setdefault(v.epoch, v.id)
    if first != v.id:
        other = quorum.voters[first].name
        report("INV-31", "{0} and {1} both lead epoch {2} of the quorum", other, v.name, v.epoch)
    if not _holds(v.log, memory.committed):
        report("INV-33", "{0} leads epoch {1} without all committed metadata", v.name, v.epoch)


def _on_log(quorum: Quorum, memory: QuorumMemory, v: Voter, report: Report) -> None:
    known, mark = len(memory.committed), min(v.hw, v.log.end)
    if mark > known and v.state == LEADER:
        memory.committed += entries(v.log, known, mark)
    if mark > 0 and not _holds(v.log, memory.committed[:mark]):
        report("INV-34", "{0} has another record than the one committed below {1}", v.name, mark)
    for other in quorum.others(v):
        at = _differs(v.log, quorum.voters[other].log)
        if at >= 0:
            name = quorum.voters[other].name
            report(
                "INV-32",
                "{0} and {1} differ at {2}, below an entry that they share",
                v.name,
                name,
                at,
            )


def _check_majority(quorum: Quorum, memory: QuorumMemory, report: Report) -> None:
    """INV-34.  Check that a majority still stores all that was committed."""
    holders = [v for v in quorum.voters.values() if _holds(v.log, memory.committed)]
    if len(holders) < quorum.majority:
        end = len(memory.committed)
        report(
            "INV-34", "only {0} voters store the metadata committed up to {1}", len(holders), end
        )


def entries(log: MetadataLog, start: int, end: int) -> Iterator[Entry]:
    """Return (epoch, record) from `start` to `end`."""
    for offset in range(start, end):
        yield log.epoch_at(offset), log.records[offset]


def _holds(log: MetadataLog, committed: list[Entry]) -> bool:
    end = len(committed)
    if log.end < end:
        return False
    if log.records[:end] != [record for _, record in committed]:
        return False
    return end == 0 or log.epoch_at(end - 1) == committed[-1][0]


def _differs(one: MetadataLog, other: MetadataLog) -> int:
    """Return an offset where two logs differ below an entry of the same offset and epoch, or -1."""
    end = min(one.end, other.end)
    while end and one.epoch_at(end - 1) != other.epoch_at(end - 1):
        end -= 1
    if one.records[:end] == other.records[:end]:
        return -1
    return next(at for at in range(end) if one.records[at] != other.records[at])
