"""Shapes of the data for the browser, declared once: cues, steps, views and guards.

`docs/reference/wire.schema.json` and `static/js/core/wire.d.ts` are generated from these.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from engine.model.phrases import Entity
from engine.view.shown_partitions import PartitionsMore

Node = int | str
"""A broker by its number; K the controller, K1 a voter of it, P1 a producer, C1 a consumer."""

Plain = bool | int | str | None

Role = Literal["leader", "follower", "offline", "none"]
FetchState = Literal["idle", "failed", "fetching", "truncating", "delayed"]
CutDirection = Literal["none", "a>b", "b>a", "both"]
IsrChange = Literal["expand", "shrink"]
CopyState = Literal["asking", "truncating", "fetching"]


class Sentence(TypedDict):
    """A key of the catalogue, and what stands in its places."""

    key: str
    args: dict[str, Entity]


class CueJson(TypedDict):
    """One thing that a rule changed, in partition `p`; null: of the node, or of several."""

    rule: str
    node: Node
    field: str
    old: Plain
    new: Plain
    p: int | None


class BrokenPromise(TypedDict):
    """An invariant that broke at this step, and what of it is seen."""

    inv: str
    why: str


class Cure(TypedDict):
    """Change that would make a guard true: as text, and as a move where one is enough."""

    say: Sentence
    move: str | None


class Guard(TypedDict):
    rule: str
    ok: bool
    say: Sentence
    cure: Cure | None


class Why(TypedDict):
    """The answer to "why not?"."""

    subject: str
    about: Sentence
    holds: bool
    guards: list[Guard]
    then: Sentence


class Record(TypedDict):
    """`o` offset, `e` epoch; acknowledged with acks=all, read by a consumer.

    `old`: a truncated record that was below a replica's high watermark.
    """

    o: int
    e: int
    id: str
    acked: bool
    read: bool
    old: NotRequired[bool]


class BeliefView(TypedDict):
    """Leader, leader epoch and partition epoch as a broker believes; -1: nothing."""

    leader: int
    le: int
    pe: int


class PartitionRecordView(TypedDict):
    """Controller's record of a partition."""

    leader: int
    le: int
    pe: int
    isr: list[int]
    elr: list[int]
    lastKnown: list[int]
    recovering: bool
    adding: list[int]
    removing: list[int]


class Fetching(TypedDict):
    state: FetchState
    offset: int
    waiting: bool
    delayUntil: NotRequired[int]
    lastEpoch: NotRequired[int]
    lag: NotRequired[int]


class Remote(TypedDict):
    """Leader's view of a follower; times are virtual milliseconds, -1: never."""

    leo: int
    start: int
    caughtUp: int
    inSync: bool
    eligible: bool


class Pending(TypedDict):
    """An ISR that was asked for and is not granted yet."""

    kind: IsrChange
    who: list[int]


Waiting = TypedDict(
    "Waiting",
    {
        "id": str,
        "kind": Literal["produce", "fetch"],
        "needs": NotRequired[int],
        "from": Node,
        "due": int,
    },
)
"""A request that its leader holds back."""


class SessionView(TypedDict):
    id: int
    next: int


class Future(TypedDict):
    """The copy of a log that moves to another directory."""

    dir: str
    leo: int
    hw: int
    epochs: list[list[int]]
    state: CopyState


class Throttled(TypedDict):
    """Bytes a second, and which followers wait for them."""

    rate: int
    limit: int
    held: list[int]


class ReplicaView(TypedDict):
    """`epochs`: (epoch, first offset); `runs`: (epoch, first offset, end) of stretches.

    `local`: the local log start, where what lies between it and `start` is in remote storage;
    `waitingMore`: waiting produces that `waiting` leaves out.
    """

    role: Role
    start: int
    leo: int
    hw: int
    hwCheckpoint: int
    flushed: int
    recovery: NotRequired[int]
    epochs: list[list[int]]
    epochStart: int | None
    belief: BeliefView
    runs: list[list[int]]
    records: list[Record]
    cut: list[Record]
    fetch: Fetching
    remote: dict[str, Remote]
    isr: list[int]
    maximal: list[int]
    pending: Pending | None
    blocks: list[int]
    waiting: list[Waiting]
    waitingMore: NotRequired[int]
    local: NotRequired[int]
    dir: NotRequired[str]
    future: NotRequired[Future]
    session: NotRequired[SessionView]
    throttled: NotRequired[Throttled]


class PartitionView(TypedDict):
    """`ar` the assigned replicas; logs are the `same` up to that offset and `differ` at these."""

    p: int
    name: str
    ar: list[int]
    minIsr: int
    record: PartitionRecordView
    same: int
    differ: list[int] | None
    replicas: dict[str, ReplicaView]
    gone: NotRequired[str]


class Directory(TypedDict):
    name: str
    failed: bool


class DiskView(TypedDict):
    """Records a second, and for how many milliseconds it is busy."""

    rate: float
    busy: int


class FetchSession(TypedDict):
    id: int
    of: Node | None
    next: int
    partitions: list[int]


class BrokerView(TypedDict):
    id: int
    name: str
    rack: str
    alive: str
    fenced: bool
    brokerEpoch: int
    clean: bool
    session: int | None
    dirs: NotRequired[list[Directory]]
    disk: NotRequired[DiskView]
    fetchSessions: NotRequired[list[FetchSession]]
    fetchers: NotRequired[int]


class LinkView(TypedDict):
    a: Node
    b: Node
    cut: CutDirection
    delay: int
    loss: float
    held: bool


Message = TypedDict(
    "Message",
    {
        "id": int,
        "kind": str,
        "from": Node,
        "to": Node,
        "reply": bool,
        "sent": int,
        "due": int | None,
        "held": bool,
        "deliverable": bool,
        "fields": dict[str, Any],
        "records": NotRequired[list[int]],
        "carries": NotRequired[list[list[Any]]],
        "error": NotRequired[str],
        "behind": NotRequired[int],
        "way": NotRequired[str],
        "unawaited": NotRequired[bool],
    },
)

Beat = TypedDict("Beat", {"id": int, "from": Node, "to": Node, "sent": int, "due": int})
"""A heartbeat under way."""


class SentView(TypedDict):
    m: str
    to: int
    acks: int


class ClientView(TypedDict):
    """A producer or a consumer, by `kind`."""

    id: Node
    kind: Literal["producer", "consumer"]
    believes: int
    waiting: list[SentView]
    sent: NotRequired[int]
    acked: NotRequired[int]
    queued: NotRequired[int]
    position: NotRequired[int]
    epoch: NotRequired[int | None]
    reset: NotRequired[str]
    rack: NotRequired[str]
    preferred: NotRequired[int | None]
    failed: NotRequired[str]
    read: NotRequired[int]


class ControllerView(TypedDict):
    alive: bool
    epoch: int
    waiting: int
    sessionMs: NotRequired[int]


class MetadataEntry(TypedDict):
    """Record of the metadata log: `o` its offset, `e` its epoch, and its kind."""

    o: int
    e: int
    kind: str


class VoterView(TypedDict):
    """A voter of a KRaft quorum; `active`: it is the active controller; `hw` -1: unknown."""

    id: str
    name: str
    alive: bool
    paused: bool
    state: str
    active: bool
    epoch: int
    votedFor: str | None
    leader: str | None
    end: int
    hw: int
    entries: list[MetadataEntry]


class ObserverView(TypedDict):
    """A broker: the leader of the quorum that it knows, and how far it has applied metadata."""

    b: int
    leader: str | None
    epoch: int
    offset: int


class QuorumView(TypedDict):
    voters: list[VoterView]
    observers: list[ObserverView]


class MemberView(TypedDict):
    """A member of a group: what it owns, where it stands there, and what it has not processed.

    `task`: what it is about with the coordinator, "" for nothing.  `instance`: group.instance.id.
    """

    id: str
    member: str
    instance: NotRequired[str]
    alive: bool
    generation: int
    owns: list[int]
    positions: list[int]
    polled: int
    task: str


class CommittedOffset(TypedDict):
    """Committed offset of partition `p`; `written`: a newer one that is not committed yet.

    `twice` and `skipped` count records that the group has processed more than once, or passed over.
    """

    p: int
    offset: int | None
    written: NotRequired[int]
    twice: int
    skipped: int


GroupState = Literal["none", "empty", "preparing", "completing", "reconciling", "stable"]


class GroupView(TypedDict):
    """A consumer group as its coordinator knows it; `p` its partition of __consumer_offsets.

    `epochs`: group.protocol=consumer, so `generation` is the group epoch.
    """

    name: str
    epochs: NotRequired[bool]
    p: int
    coordinator: int
    generation: int
    state: GroupState
    members: list[MemberView]
    offsets: list[CommittedOffset]


class RemoteSegmentView(TypedDict):
    """A copied segment of partition `p`: offsets `first` to `last`; `read`: its leader reads it."""

    p: int
    first: int
    last: int
    epochs: list[list[int]]
    read: bool


class StoreView(TypedDict):
    """Remote storage: whether it answers, in how many ms, and its segments by partition."""

    up: bool
    slow: int
    segments: list[RemoteSegmentView]


class LedgerView(TypedDict):
    """Outcome of all messages; `lost1` of those that were written with acks=1."""

    sent: int
    acked: int
    committed: int
    lost: list[str]
    lost1: list[str]
    seen: int


class View(TypedDict):
    """The whole cluster after a step; times are virtual milliseconds.  Long lists end early.

    Fields that only the stage draws (`beats`, `graves`, a replica's `recovery`, the controller's
    `sessionMs`) are added by `engine.view.stage_overlays`; a digest is taken without them.
    """

    t: int
    fetching: Literal["auto", "manual"]
    mode: str
    profile: str
    controller: ControllerView
    quorum: NotRequired[QuorumView]
    groups: NotRequired[list[GroupView]]
    store: NotRequired[StoreView]
    partitions: list[PartitionView]
    partitionsMore: NotRequired[PartitionsMore]
    brokers: list[BrokerView]
    links: list[LinkView]
    messages: list[Message]
    messagesMore: NotRequired[int]
    beats: NotRequired[list[Beat]]
    clients: list[ClientView]
    graves: NotRequired[list[tuple[int, int, str, list[int]]]]
    ledger: LedgerView


class Fetcher(TypedDict):
    """One of several fetcher threads of a broker: its leader, and its number."""

    node: int
    leader: int
    number: int


class ActingFetcher(TypedDict):
    """Part of a step in which one of several fetcher threads acts."""

    fetcher: NotRequired[Fetcher]


class RunVerdict(TypedDict, total=False):
    """Outcome of promises: `engine.story.verdict`; empty while nothing is decided."""

    kind: str
    key: str
    records: list[str]
    kept: int
    fault: str


class StepJson(TypedDict):
    """Step `n` of a run: what happened, and the state after it."""

    n: int
    t: int
    at: Node | None
    move: str
    line: int
    moment: int
    arrived: int | None
    say: list[Sentence]
    why: list[Sentence]
    cues: list[CueJson]
    broken: list[BrokenPromise]
    verdict: RunVerdict
    fetcher: NotRequired[Fetcher]
    view: View
