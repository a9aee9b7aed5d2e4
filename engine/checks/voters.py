"""Observations of a KRaft quorum (10.1): what was committed, and the logs' ends."""

from __future__ import annotations

from collections.abc import Iterator

from engine.model.copying import shallow
from engine.model.declared import declared, fresh
from engine.model.quorum import LEADER, MetadataLog, Record, Voter

Entry = tuple[int, Record]


@declared
class QuorumMemory:
    """`leaders` has the first leader of each epoch.

    `committed` are (epoch, record) below the highest mark of any leader, and `commits` how many
    were when the leader of an epoch had raised its mark the last time; `members` are the voters
    that its log named then, if it names them.
    """

    leaders: dict[int, int] = fresh(dict)
    committed: list[Entry] = fresh(list)
    commits: dict[int, int] = fresh(dict)
    members: dict[int, int] = fresh(dict)
    seen: dict[int, tuple[int, int, int]] = fresh(dict)  # voter -> (end, last epoch, mark)

    def copy(self) -> QuorumMemory:
        twin = shallow(self)
        twin.leaders = self.leaders.copy()
        twin.committed = self.committed.copy()
        twin.commits = self.commits.copy()
        twin.members = self.members.copy()
        twin.seen = self.seen.copy()
        return twin

    def look(self, voter: Voter) -> bool:
        """Return whether a voter's log changed, and note what its mark has passed if it leads."""
        now = (voter.log.end, voter.log.last_epoch, voter.hw)
        if self.seen.get(voter.id) == now:
            return False
        self.seen[voter.id] = now
        start, mark = len(self.committed), min(voter.hw, voter.log.end)
        if mark > start and voter.state == LEADER:
            self.committed += entries(voter.log, start, mark)
            self.commits[voter.epoch] = mark
            if voter.log.voter_sets:
                self.members = voter.log.voter_sets[-1][1].copy()
        return True


def entries(log: MetadataLog, start: int, end: int) -> Iterator[Entry]:
    """Return (epoch, record) from `start` to `end`."""
    for offset in range(start, end):
        yield log.epoch_at(offset), log.records[offset]
