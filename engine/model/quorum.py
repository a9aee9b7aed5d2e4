"""State of a KRaft quorum: voters with a metadata log each, and the brokers as observers.

KIP-595, KIP-631.  Nodes: voter number n (from 0) is FIRST_VOTER - n, above the clients.
"""

from __future__ import annotations

from typing import Any, Final, Protocol

from engine.model.compiling import mypyc_attr
from engine.model.controller import Controller
from engine.model.copying import shallow
from engine.model.declared import begins, declared, fresh
from engine.model.messages import FIRST_VOTER
from engine.model.quorum_messages import QuorumFetchRequest
from engine.model.state import NEVER

UNATTACHED: Final = 0
VOTED: Final = 1
CANDIDATE: Final = 2
FOLLOWER: Final = 3
LEADER: Final = 4
RESIGNED: Final = 5
PROSPECTIVE: Final = 6
STATE_NAMES: Final = (
    "unattached",
    "voted",
    "candidate",
    "follower",
    "leader",
    "resigned",
    "prospective",
)
"""States of `QuorumState`; from 3.9 on VOTED is a part of UnattachedState."""

NO_VOTER: Final = 0
"""No voter: node 0 is a broker's."""

R_LEADER_CHANGE: Final = "LeaderChange"
"""Control record (KIP-595) with which a leader begins its epoch: (kind, leader)."""
R_VOTERS: Final = "Voters"
"""Control record (KIP-853) with the voters from its offset on: (kind, ((node, directory), ...))."""
R_NO_OP: Final = "NoOp"
"""Record (KIP-835) that lets observers learn how far the log is committed: (kind,)."""

Record = tuple[Any, ...]

NO_METADATA: Final = (0, 0)
"""End offset and epoch of an empty log, as a wiped voter has it."""


class Draw(Protocol):
    """Stream of chance for election timeouts and for the voter that an observer asks."""

    def below(self, limit: int) -> int:
        """Return an integer in [0, limit)."""

    def copy(self) -> Draw:
        """Return a stream that goes on as this one would."""


@declared
class MetadataLog:
    """Log of __cluster_metadata-0: records by offset, and (epoch, first offset) of each epoch.

    Every append is flushed before it counts, so a crash takes nothing.  `voter_sets` are the offset
    and the voters (node -> directory) of each `R_VOTERS` in it.
    """

    records: list[Record] = fresh(list)
    epochs: list[tuple[int, int]] = fresh(list)
    voter_sets: list[tuple[int, dict[int, int]]] = fresh(list)

    def copy(self) -> MetadataLog:
        twin = shallow(self)
        twin.records, twin.epochs = self.records.copy(), self.epochs.copy()
        twin.voter_sets = [(offset, members.copy()) for offset, members in self.voter_sets]
        return twin

    @property
    def end(self) -> int:
        return len(self.records)

    @property
    def last_epoch(self) -> int:
        return self.epochs[-1][0] if self.epochs else 0

    def append(self, epoch: int, records: list[Record]) -> None:
        if records and epoch > self.last_epoch:
            self.epochs.append((epoch, self.end))
        for offset, record in enumerate(records, self.end):
            if record[0] == R_VOTERS:
                self.voter_sets.append((offset, dict(record[1])))
        self.records += records

    def epoch_at(self, offset: int) -> int:
        """Return the epoch of the record at an offset of the log."""
        return max(epoch for epoch, start in self.epochs if start <= offset)

    def end_for(self, epoch: int) -> tuple[int, int]:
        """Return (epoch, end offset) of the largest epoch that is no newer than this one.

        Of an epoch before the first one: that epoch, and where the log begins.
        """
        answer = (epoch, self.epochs[0][1]) if self.epochs else (0, 0)
        for index, (started, _) in enumerate(self.epochs):
            if started <= epoch:
                following = self.epochs[index + 1 :]
                answer = started, following[0][1] if following else self.end
        return answer

    def truncate(self, offset: int) -> None:
        del self.records[offset:]
        self.epochs = [entry for entry in self.epochs if entry[1] < offset]
        self.voter_sets = [entry for entry in self.voter_sets if entry[0] < offset]


@declared
class VoterProgress:
    """Leader's view of another voter: its end offset (-1: unknown), and the disk that has it.

    `caught_up`: it has once fetched from the leader's end.
    """

    end: int = begins(-1)
    acknowledged: bool = begins(False)
    directory: int = begins(0)
    caught_up: bool = begins(False)


@declared
class MetadataReplica:
    """Copy of the metadata log, and the high watermark (-1: unknown) that its node knows."""

    log: MetadataLog = fresh(MetadataLog)
    hw: int = begins(-1)


@declared
class Voter(MetadataReplica):
    """A node of the quorum.  `epoch`, `voted_for` and `leader` are its quorum-state file.

    `controller` is its active controller, or the one that becomes active once the record of its
    epoch is committed; None where it does not lead.  `parked` are fetches of voters and brokers
    that wait for records: node -> request.
    """

    id: int
    name: str
    alive: bool = begins(True)
    paused: bool = begins(False)  # nothing is handled: events wait in `World.deferred`
    epoch: int = begins(0)
    voted_for: int = begins(NO_VOTER)
    leader: int = begins(NO_VOTER)
    directory: int = begins(0)  # id of its disk, which voters that can change are known by
    state: int = begins(UNATTACHED)
    epoch_start: int = begins(-1)
    deadline: int = begins(NEVER)  # of the election timeout, the fetch timeout or a back-off
    election_ends: int = begins(NEVER)  # a candidate's election timeout, during its back-off, too
    check_at: int = begins(NEVER)  # when the pending timer fires
    waits: bool = begins(False)  # for the end of a back-off between two elections
    retries: int = begins(1)  # elections in a row
    granted: tuple[int, ...] = begins(())
    rejected: tuple[int, ...] = begins(())
    check_ms: int = begins(0)  # within which a majority fetches from a leader; 0: without end
    fetched: tuple[int, ...] = begins(())  # voters that did since that time began
    successors: tuple[int, ...] = begins(())  # that a resigned leader proposes
    progress: dict[int, VoterProgress] = fresh(dict)
    parked: dict[int, QuorumFetchRequest] = fresh(dict)
    corr: int = begins(0)
    # corr of the last request before this state; responses to it are ignored
    since: int = begins(0)
    fetching: int = begins(0)  # corr of the fetch that has no answer
    attempt: int = begins(0)  # fetches in a row that failed
    stop_at: int = begins(NEVER)  # when a graceful shutdown ends at the latest
    removal_ends: int = begins(NEVER)  # a leader that is removed resigns only before
    halted: bool = begins(False)  # a mark for the simulation: the process ends itself
    has_fetched: bool = begins(False)  # from the leader that it follows (`hasFetchedFromLeader`)
    controller: Controller | None = begins(None)

    def copy(self) -> Voter:
        twin = shallow(self)
        twin.log = self.log.copy()
        twin.progress = {voter: shallow(progress) for voter, progress in self.progress.items()}
        twin.parked = self.parked.copy()
        twin.controller = self.controller and self.controller.copy()
        return twin

    def next_corr(self) -> int:
        self.corr += 1
        return self.corr


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class ControllerImage:
    """State of the controller after a batch of the log; never changed, so copies share it."""

    __slots__ = ("_state",)

    def __init__(self, k: Controller) -> None:
        self._state = state = k.copy()
        state.log, state.readers, state.answers = [], {}, []

    def controller(self) -> Controller:
        """Return a controller in this state, without a log and waiting requests."""
        return self._state.copy()


@declared
class Observer(MetadataReplica):
    """Broker's replica of the log, and its knowledge of the quorum: epoch and leader (or NO_VOTER).

    `attempt` counts the fetches in a row that failed; `asked` is the voter asked last.
    """

    leader: int = begins(NO_VOTER)
    epoch: int = begins(0)
    attempt: int = begins(0)
    asked: int = begins(NO_VOTER)

    def copy(self) -> Observer:
        twin = shallow(self)
        twin.log = self.log.copy()
        return twin


def majority(members: dict[int, int]) -> int:
    return len(members) // 2 + 1


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Quorum:
    """Voters by node, observers by broker, and the controller's state by the end of a batch.

    `images`: (end offset, epoch) -> state of the controller after that batch.  What a new leader
    replays from its log is the image at the log's end, by Log Matching.  `dynamic` (KIP-853): the
    voters are those that a log says; else all nodes are, whatever disk they have.
    """

    __slots__ = ("chance", "dynamic", "images", "observers", "static", "voters")

    def __init__(self, names: tuple[str, ...], chance: Draw, dynamic: bool = False) -> None:
        self.chance = chance
        self.dynamic = dynamic
        self.static = {FIRST_VOTER - n: 0 for n in range(len(names))}
        self.voters = {
            FIRST_VOTER - n: Voter(FIRST_VOTER - n, name) for n, name in enumerate(names)
        }
        self.observers: dict[int, Observer] = {}
        self.images: dict[tuple[int, int], ControllerImage] = {}

    def copy(self) -> Quorum:
        twin = shallow(self)
        twin.chance = self.chance.copy()
        twin.static = self.static.copy()
        twin.voters = {node: voter.copy() for node, voter in self.voters.items()}
        twin.observers = {broker: observer.copy() for broker, observer in self.observers.items()}
        twin.images = self.images.copy()
        return twin

    def controller_of(self, original: Quorum, k: Controller) -> Controller:
        """Return what stands for `k`, of the cluster that this quorum was copied from."""
        for node, voter in original.voters.items():
            if voter.controller is k:
                twin = self.voters[node].controller
                assert twin is not None
                return twin
        return k.copy()

    def members(self, log: MetadataLog) -> dict[int, int]:
        """Return the voters by this log, committed or not: node -> directory."""
        if not self.dynamic:
            return self.static
        return log.voter_sets[-1][1] if log.voter_sets else {}

    def is_voter(self, voter: Voter) -> bool:
        """Check whether a node is a voter by its own log."""
        return self.members(voter.log).get(voter.id) == voter.directory

    def peers(self, voter: Voter) -> list[int]:
        """Return the other voters by a voter's own log."""
        return [node for node in self.members(voter.log) if node != voter.id]

    def others(self, voter: Voter) -> list[int]:
        """Return all other nodes, be they voters or not (`controller.quorum.bootstrap.servers`)."""
        return [node for node in self.voters if node != voter.id]

    def leading(self) -> Voter | None:
        """Return the live leader of the newest epoch; a deposed one may not know of it."""
        leaders = [one for one in self.voters.values() if one.alive and one.state == LEADER]
        return max(leaders, key=lambda one: one.epoch, default=None)
