"""The controller's record of one partition (control-plane specification, 0.4)."""

from __future__ import annotations

from typing import Final

from engine.model.declared import declared

NO_LEADER: Final = -1
DURING_DELETE: Final = -2
"""The leader, and the leader epoch, of a topic that is being deleted (ZooKeeper)."""

Ids = tuple[int, ...]
"""Broker ids; the order of a replica list is meaning, that of an ISR is kept as it was given."""


@declared
class PartitionRecord:
    """Controller's record of a partition; never changed in place, always replaced by a copy.

    `replicas` is AR while a reassignment runs: the target followed by the replicas to remove.
    `elr` and `last_known_elr` (KIP-966) are sorted.  `recovering` is KIP-704's LeaderRecoveryState.
    """

    replicas: Ids
    isr: Ids
    leader: int
    leader_epoch: int = 0
    partition_epoch: int = 0
    adding: Ids = ()
    removing: Ids = ()
    elr: Ids = ()
    last_known_elr: Ids = ()
    recovering: bool = False

    def copy(self) -> PartitionRecord:
        return PartitionRecord(
            self.replicas,
            self.isr,
            self.leader,
            self.leader_epoch,
            self.partition_epoch,
            self.adding,
            self.removing,
            self.elr,
            self.last_known_elr,
            self.recovering,
        )

    def key(self) -> tuple[object, ...]:
        """Return everything that distinguishes two records, hashable."""
        return (
            self.replicas,
            self.isr,
            self.leader,
            self.leader_epoch,
            self.partition_epoch,
            self.adding,
            self.removing,
            self.elr,
            self.last_known_elr,
            self.recovering,
        )

    @property
    def preferred(self) -> int:
        """The preferred leader: AR[0]."""
        return self.replicas[0]

    @property
    def reassigning(self) -> bool:
        return bool(self.adding or self.removing)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PartitionRecord) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())

    def __repr__(self) -> str:
        isr = ",".join(map(str, self.isr))
        text = f"leader={self.leader} le={self.leader_epoch} pe={self.partition_epoch} isr=[{isr}]"
        if self.elr:
            text += f" elr={list(self.elr)}"
        if self.reassigning:
            text += f" adding={list(self.adding)} removing={list(self.removing)}"
        return f"P{{{text}{' recovering' if self.recovering else ''}}}"


@declared
class PartitionChange:
    """Outcome of one wanted change: the record after it (the same object if nothing changed).

    `unclean`: the new leader was in neither ISR nor ELR.
    """

    record: PartitionRecord
    changed: bool
    unclean: bool = False
