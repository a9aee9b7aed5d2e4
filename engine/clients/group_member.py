"""A consumer in a group: it joins, reads what it owns, and commits how far it got (G-).

Kafka's ConsumerCoordinator, in outline, with the eager or the cooperative protocol.  The
application polls, processes what it got, and commits; in which order is its own choice, and it
joins again when it polls.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from engine.checks.facts import ASSIGNED, COMMITTED, POLLED, PROCESSED, MemberState
from engine.clients.consumers import NO_RESET, Consumer
from engine.model.copying import Twins, set_state, state_of
from engine.model.effects import Effects
from engine.model.errors import (
    COORDINATOR_NOT_AVAILABLE,
    FENCED_INSTANCE_ID,
    ILLEGAL_GENERATION,
    NONE,
    NOT_COORDINATOR,
    REBALANCE_IN_PROGRESS,
    STALE_MEMBER_EPOCH,
    UNKNOWN_MEMBER_ID,
)
from engine.model.group_messages import (
    GROUP_REQUESTS,
    FindCoordinator,
    GroupHeartbeat,
    GroupRequest,
    GroupResponse,
    JoinGroup,
    LeaveGroup,
    OffsetCommit,
    OffsetFetch,
    Offsets,
)
from engine.model.groups import NO_OFFSET, commit_record
from engine.model.log import Batch
from engine.model.messages import (
    FIND_COORDINATOR_R,
    FIRST_CONSUMER,
    GROUP_HEARTBEAT_R,
    JOIN_GROUP_R,
    LEAVE_GROUP_R,
    NO_BROKER,
    NO_EPOCH,
    OFFSET_COMMIT_R,
    Broken,
    FetchResponse,
)
from engine.model.timers import GROUP_BEAT, GROUP_RETRY

NO_TASK: Final = 0
JOIN: Final = 1
OFFSETS: Final = 2
COMMIT: Final = 3
LEAVE: Final = 4
TASK_NAMES: Final = ("", "join", "offsets", "commit", "leave")
REQUESTS: Final[dict[int, type[GroupRequest]]] = {
    JOIN: JoinGroup,
    OFFSETS: OffsetFetch,
    COMMIT: OffsetCommit,
    LEAVE: LeaveGroup,
}

_NO_MEMBER: Final = {
    UNKNOWN_MEMBER_ID: "CommitFailedException",
    STALE_MEMBER_EPOCH: "CommitFailedException",
    ILLEGAL_GENERATION: "CommitFailedException",
    REBALANCE_IN_PROGRESS: "RebalanceInProgressException",
}
"""Errors after which it joins again, and what an application gets whose commit is refused so."""

Place = tuple[int, int, int, int | None]
"""(position, its epoch, epoch in which it was validated, lookup before the next fetch)"""


class GroupMember(Consumer):
    """G-1 to G-8.  `group` is its group's partition of __consumer_offsets, `topic` what it reads.

    `task` is its exchange with the coordinator, one request at a time, heartbeats apart.
    `polled` was returned by the last poll and is not processed; `facts` are for the observer.
    """

    __slots__ = (
        "alive",
        "arrived",
        "asked_at",
        "assigned",
        "auto_due",
        "auto_ms",
        "automatic",
        "beat_corr",
        "beats_every_ms",
        "closes",
        "commits_first",
        "cooperative",
        "coordinator",
        "delivering",
        "facts",
        "generation",
        "goes_on",
        "group",
        "group_corr",
        "instance",
        "max_poll_ms",
        "member",
        "offered",
        "outside_since",
        "places",
        "polled",
        "reads_on",
        "rejoins",
        "starts",
        "task",
        "topic",
        "turns",
    )

    def __init__(
        self,
        id: int,
        brokers: tuple[int, ...],
        leaders: dict[int, int],
        group: int,
        topic: tuple[int, ...],
    ) -> None:
        Consumer.__init__(self, id, brokers, leaders)
        self.group = group
        self.topic = topic
        self.instance = ""  # group.instance.id of a static member
        self.cooperative = False  # G-8: it keeps what it owns while it joins
        self.reads_on = True  # G-8: and reads it, too (2.5)
        self.commits_first = False  # by the clock: before it processes
        self.beats_every_ms = 3_000
        self.max_poll_ms = 300_000
        self.auto_ms = 0  # enable.auto.commit: how often a poll commits; 0: the application does
        self.facts: list[tuple[object, ...]] = []
        self.delivering = self.goes_on = False  # while a response is taken
        self.starts = 0
        self._forget()

    def _forget(self) -> None:
        """Begin as a new process does: without membership, positions and requests."""
        self.alive = False
        self.member = ""
        self.generation = -1
        self.coordinator = NO_BROKER
        self.assigned: tuple[int, ...] = ()
        self.places: dict[int, Place] = {}
        self.polled: list[tuple[int, Batch]] = []
        self.offered: Offsets = ()  # by the commit under way
        self.auto_due = 0
        self.automatic = False  # the commit under way
        self.asked_at = 0
        self.task = NO_TASK
        self.group_corr = self.beat_corr = self.outstanding = 0
        self.arrived: tuple[tuple[int, ...], int] | None = None  # an assignment, and its base
        self.closes = False  # it ends once it has left
        self.rejoins = False  # as soon as its application polls
        self.turns: list[int] = []  # partitions that this poll has still to read, by hand
        self.outside_since = -1  # ms: the application has records and has not polled since
        self.wanted = False
        if self.sessions is not None:
            self.sessions = {}

    def __getstate__(self) -> dict[str, Any]:
        return state_of(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        set_state(self, state)

    def twin(self, twins: Twins) -> GroupMember:
        twin = Consumer.twin(self, twins)
        assert isinstance(twin, GroupMember)
        twin.places = self.places.copy()
        twin.polled = self.polled.copy()
        twin.facts = self.facts.copy()
        twin.turns = self.turns.copy()
        return twin

    # -- what the application does -----------------------------------------------------------------

    def start(self, out: Effects) -> None:
        """G-2.  Join the group, as a process that has just begun."""
        self.alive = True
        self.starts += 1
        self.failed = ""
        out.timer(self.id, self.beats_every_ms, GROUP_BEAT, self.starts)
        self._join(out)

    def leave(self, out: Effects) -> None:
        """G-2.  Leave the group and end, as `close` does; with auto commit it commits first."""
        self.closes = True
        if not self._commits_itself(out):
            self._leave(out)

    def _leave(self, out: Effects) -> None:
        if self.instance:
            out.cue("G-7.stays", self.id, "member", self.member, self.instance)
            self._left()
            return
        self.task = LEAVE
        self.group_corr = 0
        self._work(out)

    def die(self, out: Effects) -> None:
        """G-3.  Crash, without a LeaveGroup request."""
        out.cue("G-3.dies", self.id, "member", self.member, None)
        self._forget()

    def process(self, out: Effects) -> None:
        """G-6.  Process what the last poll returned."""
        values = [value for _, batch in self.polled for value in batch.values]
        out.cue("G-6", self.id, "processed", None, tuple(values), tp=self.tp)
        self.facts += [(PROCESSED, tp, batch) for tp, batch in self.polled]
        self.polled = []

    def commit(self, out: Effects) -> None:
        """G-4.  Commit the positions, those after what the last poll returned."""
        self.failed = ""
        self.automatic = False
        self._offer(out)

    def _offer(self, out: Effects) -> None:
        if self.task == COMMIT:  # one at a time
            return
        if self.task == JOIN:  # refused by the client itself (`generationIfStable`)
            if not self.automatic:
                error = REBALANCE_IN_PROGRESS if self.reads_on else ILLEGAL_GENERATION
                self.failed = _NO_MEMBER[error]
            self._end_commit(out)
            return
        self.offered = tuple(
            (tp, place[0], place[1] if self.validates else NO_EPOCH)
            for tp, place in sorted(self.known_places().items())
        )
        self.asked_at = out.now
        self.task = COMMIT
        self._work(out)

    def _commits_itself(self, out: Effects) -> bool:
        """G-4.  Commit the positions before it leaves or joins again; False if there are none.

        `ConsumerCoordinator.onJoinPrepare`, `close`.
        """
        if not self.auto_ms or self.generation < 0 or not self.known_places():
            return False
        self._commit_automatically(out)
        return True

    def _commit_automatically(self, out: Effects) -> None:
        if self.task == COMMIT:
            return
        self.automatic = True
        self.auto_due = out.now + self.auto_ms
        if self.task != JOIN:
            out.cue("G-4.auto", self.id, "positions", None, self.position, tp=self.tp)
        self._offer(out)

    def read_now(self, out: Effects) -> None:
        """Poll, as a hand-made move asks: each of its partitions, after a rebalance that waits."""
        self.outside_since = -1
        self.turns = [tp for tp in self.assigned if tp != self.tp]
        Consumer.read_now(self, out)

    # -- the coordinator ---------------------------------------------------------------------------

    def _join(self, out: Effects) -> None:
        if not self.member:
            self.member = f"C{FIRST_CONSUMER - self.id + 1}-{self.starts}"
        if not self.cooperative or self.generation < 0:
            self.assigned, self.places = (), {}
        if not self.places or not self.reads_on:
            self.outstanding = 0
        self.rejoins = False
        self.task = JOIN
        self._work(out)

    def _work(self, out: Effects) -> None:
        """G-1.  Send the next request to the coordinator, or find the coordinator."""
        if self.group_corr or not self.task:
            return
        if self.coordinator < 0:
            self._find(out)
            return
        self.group_corr = self.next_corr()
        out.send(self._request(self.task, self.group_corr))

    def _request(self, task: int, corr: int) -> GroupRequest:
        if task == COMMIT:
            offsets = self.offered
        else:
            partitions = self.topic if task == JOIN else self._unplaced()
            offsets = tuple((tp, NO_OFFSET, NO_EPOCH) for tp in partitions)
        kind = REQUESTS[task]
        m = kind(
            self.id,
            self.coordinator,
            corr,
            self.group,
            self.member,
            self.generation,
            offsets,
            self.instance,
        )
        if isinstance(m, JoinGroup) and self.cooperative:
            m.owned = self.assigned
        return m

    def _unplaced(self) -> tuple[int, ...]:
        """Return what it owns without a position."""
        return tuple(tp for tp in self.assigned if tp not in self.places)

    def _find(self, out: Effects) -> None:
        broker = self.brokers[self.next_broker % len(self.brokers)]
        self.next_broker += 1
        self.group_corr = self.next_corr()
        out.send(FindCoordinator(self.id, broker, self.group_corr, self.group))

    def on_timer(self, kind: int, data: object, out: Effects) -> bool:
        """G-3.  Heartbeats, retries, or the next poll."""
        if kind not in (GROUP_BEAT, GROUP_RETRY):
            return self.on_tick(out)
        if not self.alive or data != self.starts:
            return False
        if kind == GROUP_RETRY:
            self._work(out)
            return self.task != NO_TASK
        out.timer(self.id, self.beats_every_ms, GROUP_BEAT, self.starts)
        return self._beat(out)

    def _beat(self, out: Effects) -> bool:
        """G-3.  Send a heartbeat; leave the group if the application no longer polls."""
        if self.generation < 0 or self.beat_corr or self.group_corr or self.task:
            return False
        if 0 <= self.outside_since <= out.now - self.max_poll_ms:
            out.cue("G-3.slow", self.id, "member", self.member, None)
            self._leave(out)
        elif self.coordinator < 0:
            self._find(out)
        else:
            self.beat_corr = self.next_corr()
            m = GroupHeartbeat(
                self.id,
                self.coordinator,
                self.beat_corr,
                self.group,
                self.member,
                self.generation,
                instance=self.instance,
            )
            out.send(m)
        return True

    def on_group(self, m: GroupResponse, out: Effects) -> None:
        """G-1 to G-4.  Handle a response of the coordinator, or of a broker asked to find it."""
        if m.kind == GROUP_HEARTBEAT_R:
            if m.corr == self.beat_corr:
                self.beat_corr = 0
                self._refused(m, out)
            return
        if m.corr != self.group_corr:
            return
        self.group_corr = 0
        if m.kind == LEAVE_GROUP_R and m.error in (NONE, UNKNOWN_MEMBER_ID):
            self._left()
        elif m.error:
            self._refused(m, out)
        elif m.kind == FIND_COORDINATOR_R:
            self.coordinator = m.node
            self._work(out)
        elif m.kind == JOIN_GROUP_R:
            self.generation = m.generation
            self.arrived = m.assigned, m.base
            self.task = NO_TASK
            if self.outside_since < 0:
                self._take_assignment(out)
            else:  # with the next poll; until then it owns what it owned
                self.facts.append((ASSIGNED, self.state(), m.base))
        elif m.kind == OFFSET_COMMIT_R:
            self._committed(m, out)
        else:
            self._begin(m.offsets, out)

    def _take_assignment(self, out: Effects) -> None:
        """G-8.  Revoke what this member has lost, and join again (`onJoinComplete`)."""
        assert self.arrived is not None
        assigned, base = self.arrived
        revoked = tuple(tp for tp in self.assigned if tp not in assigned)
        self.arrived, self.assigned = None, assigned
        self.auto_due = out.now + self.auto_ms
        self.facts.append((ASSIGNED, self.state(), base))
        if revoked:
            out.cue("G-8", self.id, "owned", revoked, assigned)
            self._give_up(revoked)
            self.rejoins = True
            self._rejoin(False, out)
        elif self._unplaced():
            self.task = OFFSETS
            self._work(out)
        elif self.places and not self.outstanding:
            self._go_on(out)

    def _give_up(self, revoked: tuple[int, ...]) -> None:
        self.places = {tp: place for tp, place in self.places.items() if tp not in revoked}
        if self.tp in revoked:
            self.outstanding = 0
            self.turn_to(next(iter(self.places), self.tp))

    def _left(self) -> None:
        alive = not self.closes
        self._forget()
        self.alive = self.rejoins = alive  # a slow application comes back when it polls

    def _refused(self, m: GroupResponse, out: Effects) -> None:
        """G-3, G-4.  Handle an error: find the coordinator again, or join again."""
        error = m.error
        if error == FENCED_INSTANCE_ID:
            out.cue("G-7.fenced", self.id, "member", self.member, self.instance)
            self._forget()
            self.failed = "FencedInstanceIdException"
        elif error in _NO_MEMBER:
            if m.kind == OFFSET_COMMIT_R:
                self.failed = "" if self.automatic else _NO_MEMBER[error]
                self.task = NO_TASK
            if error != REBALANCE_IN_PROGRESS:
                self.generation = -1
            if error == UNKNOWN_MEMBER_ID:
                self.member = ""
                self.starts += 1
                out.timer(self.id, self.beats_every_ms, GROUP_BEAT, self.starts)
            self.rejoins = True
            if self.closes:
                self._leave(out)
            elif self.outside_since < 0:
                self._rejoin(m.kind == OFFSET_COMMIT_R, out)
        elif error:
            if error in (NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE):
                self.coordinator = NO_BROKER
            self._retry(out)

    def _rejoin(self, was_refused: bool, out: Effects) -> None:
        """G-2.  Join again; with auto commit the positions are committed first, and only once."""
        if was_refused or self.task == JOIN or not self._commits_itself(out):
            self._join(out)

    def _retry(self, out: Effects) -> None:
        if self.task == COMMIT and self.automatic and not (self.rejoins or self.closes):
            self.task, self.auto_due = NO_TASK, out.now + self.backoff_ms  # with the next poll
        elif self.task:  # without one the next heartbeat looks for the coordinator again
            out.timer(self.id, self.backoff_ms, GROUP_RETRY, self.starts)

    def on_broken(self, m: Broken, out: Effects) -> None:
        """G-1.  Handle a network error: perhaps another broker is the coordinator."""
        if m.request_kind not in GROUP_REQUESTS:
            Consumer.on_broken(self, m, out)
        elif m.corr == self.beat_corr:
            self.beat_corr, self.coordinator = 0, NO_BROKER
        elif m.corr == self.group_corr:
            self.group_corr, self.coordinator = 0, NO_BROKER
            self._retry(out)

    # -- offsets -----------------------------------------------------------------------------------

    def _begin(self, offsets: Offsets, out: Effects) -> None:
        """G-5.  Begin at the committed offsets; where there is none, as auto.offset.reset says."""
        if self.task != OFFSETS:
            self._work(out)
            return
        self.task = NO_TASK
        for tp, offset, epoch in offsets:
            lookup = None
            if offset < 0:
                lookup = self.reset
                if self.reset == NO_RESET:
                    self.tp = tp
                    self._fail("G-5.none", "NoOffsetForPartitionException", self.position, out)
                    return
            out.cue("G-5.begins", self.id, "position", None, offset, tp=tp)
            self.places[tp] = max(0, offset), epoch, NO_EPOCH, lookup
        if self.tp not in self.assigned or not self.outstanding:
            self.tp = -1
            self.turn_to(self.assigned[0])
        self.moved = True
        self._go_on(out)

    def _committed(self, m: GroupResponse, out: Effects) -> None:
        if self.task != COMMIT:  # it has to join again meanwhile
            self._work(out)
            return
        self.task = NO_TASK
        self._note_commit(m.base)
        if self.automatic and self.rejoins and self.outside_since < 0 and not self.closes:
            self._join(out)
        else:
            self._end_commit(out)

    def _note_commit(self, base: int) -> None:
        records = tuple(commit_record(*one) for one in self.offered)
        self.facts.append((COMMITTED, self.state(), base, records, self.asked_at))

    def _end_commit(self, out: Effects) -> None:
        """Go on after a commit: leave if that was the last, or read, by the clock."""
        if self.closes:
            self._leave(out)
        elif self.running and not self.automatic:
            if self.commits_first:
                self.process(out)
            self.outside_since = -1
            self._go_on(out)

    # -- reading -----------------------------------------------------------------------------------

    def partitions(self) -> tuple[int, ...]:
        return self.assigned or (self.tp,)

    def turn_to(self, tp: int) -> None:
        """Keep the position in one partition, and go on in another."""
        if tp == self.tp:
            return
        if self.tp in self.places:
            self.places[self.tp] = self._place()
        if tp in self.places:
            self.tp = tp
            self.position, self.position_epoch, self.validated, self.lookup = self.places[tp]
            self.preferred = NO_BROKER
            self.outstanding = 0

    def _place(self) -> Place:
        return self.position, self.position_epoch, self.validated, self.lookup

    def known_places(self) -> dict[int, Place]:
        """Return where it stands in each partition whose first offset it knows."""
        places = dict(self.places)
        if self.tp in places:
            places[self.tp] = self._place()
        return {tp: place for tp, place in places.items() if place[3] is None}

    def is_ready(self) -> bool:
        """Check whether it may fetch: it is a member and knows where to begin."""
        busy = (LEAVE,) if self.reads_on else (JOIN, OFFSETS, LEAVE)
        return self.alive and bool(self.places) and self.task not in busy

    def can_commit(self) -> bool:
        """Check whether the application may commit: not while a rebalance is under way."""
        return self.is_ready() and self.task not in (COMMIT, JOIN)

    def poll(self, out: Effects) -> None:
        if self.arrived is not None:
            self._take_assignment(out)
        if self.rejoins and self.alive:
            self._rejoin(False, out)
            if not self.cooperative:
                return
        if self.alive and not self.task and self.generation >= 0 and self._unplaced():
            self.task = OFFSETS  # `refreshCommittedOffsetsIfNeeded`: a commit came in between
            self._work(out)
        if self.is_ready():
            if self.auto_due <= out.now:
                self._commits_itself(out)
            Consumer.poll(self, out)
        elif self.alive and not self.task and self.generation < 0:
            self._join(out)

    def on_tick(self, out: Effects) -> bool:
        """Join first, by the clock; one that has died stays dead."""
        if not self.alive:
            if self.starts:
                return False
            self.start(out)
            return True
        return Consumer.on_tick(self, out)

    def _go_on(self, out: Effects) -> None:
        if self.delivering:
            self.goes_on = True
            return
        if not (self.running or self.wanted):
            return
        if self.running and len(self.assigned) > 1 and self.tp in self.assigned:
            at = self.assigned.index(self.tp) + 1
            self.turn_to(self.assigned[at % len(self.assigned)])
        self.poll(out)

    def on_fetch(self, m: FetchResponse, out: Effects) -> list[Batch]:
        """C-2, G-6.  Take what the application gets; by the clock it processes and commits."""
        self.delivering, self.goes_on = True, False
        batches = Consumer.on_fetch(self, m, out)
        self.delivering = False
        if batches:
            self.polled += [(self.tp, batch) for batch in batches]
            self.facts.append((POLLED, self.tp, batches[0].base))
            self.outside_since = out.now
            if self.running and self.auto_ms:
                self.process(out)
                self.outside_since = -1
            elif self.running:
                if not self.commits_first:
                    self.process(out)
                self.commit(out)
                return batches
        if self.goes_on and (self.running or self.wanted):
            self._go_on(out)
        elif self.turns and not (self.running or self.rejoins):
            self.turn_to(self.turns.pop())
            self.wanted = True
            self.poll(out)
        return batches

    def state(self) -> MemberState:
        polled = frozenset(value for _, batch in self.polled for value in batch.values)
        return MemberState(self.member, self.instance, self.generation, self.assigned, polled)


def states(clients: Iterable[object], group: int) -> list[MemberState]:
    """Return what an observer sees of the members of a group that run."""
    members = (one for one in clients if isinstance(one, GroupMember))
    return [one.state() for one in members if one.group == group and one.alive]
