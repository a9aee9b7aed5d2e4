"""A consumer with group.protocol=consumer: one heartbeat joins, acknowledges and leaves (G-9).

Kafka's ConsumerMembershipManager and ConsumerHeartbeatRequestManager, in outline.  The application
has a ConsumerRebalanceListener, so it gives partitions up when it polls.
"""

from __future__ import annotations

from engine.checks.facts import ASSIGNED, MemberState
from engine.clients.group_member import (
    COMMIT,
    JOIN,
    LEAVE,
    NO_TASK,
    OFFSETS,
    GroupMember,
)
from engine.model.effects import Effects
from engine.model.errors import FENCED_MEMBER_EPOCH, NONE, STALE_MEMBER_EPOCH, UNKNOWN_MEMBER_ID
from engine.model.group_messages import (
    ConsumerGroupHeartbeat,
    GroupRequest,
    GroupResponse,
    Offsets,
)
from engine.model.groups import JOIN_GROUP_MEMBER_EPOCH, LEAVE_GROUP_MEMBER_EPOCH, NO_OFFSET
from engine.model.messages import (
    CONSUMER_HEARTBEAT_R,
    FIND_COORDINATOR_R,
    NO_EPOCH,
    OFFSET_COMMIT_R,
    OFFSET_FETCH_R,
)
from engine.model.timers import GROUP_RETRY

EPOCH_OF: dict[int, int] = {JOIN: JOIN_GROUP_MEMBER_EPOCH, LEAVE: LEAVE_GROUP_MEMBER_EPOCH}
NO_MEMBER = (FENCED_MEMBER_EPOCH, UNKNOWN_MEMBER_ID)


class ReconcilingMember(GroupMember):
    """G-9.  `generation` is the member epoch, `arrived` the assignment that it has to take.

    `acknowledges`: the next heartbeat is due at once.  `gives_up`: it commits before it does.
    `offered_in` is the epoch of the commit under way, `late_commit` that of a fenced member.
    """

    __slots__ = ("acknowledges", "gives_up", "late_commit", "offered_in")

    def _forget(self) -> None:
        GroupMember._forget(self)
        self.acknowledges = self.gives_up = False
        self.offered_in = -1
        self.late_commit = 0

    # -- requests ----------------------------------------------------------------------------------

    def _request(self, task: int, corr: int) -> GroupRequest:
        if task == COMMIT:
            self.offered_in = self.generation
        if task in (COMMIT, OFFSETS):
            return GroupMember._request(self, task, corr)
        return self._heartbeat(corr, EPOCH_OF[task])

    def _heartbeat(self, corr: int, epoch: int) -> GroupRequest:
        return ConsumerGroupHeartbeat(
            self.id,
            self.coordinator,
            corr,
            self.group,
            self.member,
            epoch,
            tuple((tp, NO_OFFSET, NO_EPOCH) for tp in self.topic),
            owned=self.assigned,
        )

    def _beat(self, out: Effects) -> bool:
        """G-9.  Send a heartbeat; leave the group if the application no longer polls."""
        if self.generation < 0 or self.beat_corr or self.task in (JOIN, LEAVE):
            return False
        if 0 <= self.outside_since <= out.now - self.max_poll_ms:
            out.cue("G-3.slow", self.id, "member", self.member, None)
            self._leave(out)
        elif self.coordinator >= 0:
            self.beat_corr = self.next_corr()
            self.acknowledges = False
            out.send(self._heartbeat(self.beat_corr, self.generation))
        elif self.group_corr:
            return False
        else:
            self._find(out)
        return True

    # -- responses ---------------------------------------------------------------------------------

    def on_group(self, m: GroupResponse, out: Effects) -> None:
        """G-9.  Handle a response; a heartbeat's has the member epoch and the assignment."""
        if m.kind == OFFSET_COMMIT_R and m.corr == self.late_commit:
            self.late_commit = 0
            if not m.error:
                self._note_commit(m.base)
            self._end_commit(out)
            return
        if m.kind != CONSUMER_HEARTBEAT_R:
            GroupMember.on_group(self, m, out)
            if m.kind == FIND_COORDINATOR_R:
                self._beat(out)
            return
        if m.corr == self.beat_corr:
            self.beat_corr = 0
            if self.task in (JOIN, LEAVE):
                return
        elif m.corr == self.group_corr:
            self.group_corr = 0
            if self.task == LEAVE and m.error in (NONE, *NO_MEMBER):
                self._lose_all()
                self._left()
                return
        else:
            return
        if m.error:
            self._refused(m, out)
        else:
            self._learn(m, out)

    def _learn(self, m: GroupResponse, out: Effects) -> None:
        """G-9.  Take the epoch at once, and the assignment at once or with the next poll."""
        if self.task == JOIN:
            self.task = NO_TASK
        self.generation = m.generation
        self.facts.append((ASSIGNED, self.state(), m.base))
        if m.assigned != self.assigned:
            self.arrived = m.assigned, m.base
            if self.outside_since < 0:
                self._take_assignment(out)
        elif self.arrived is not None:
            self.arrived = None
        if self.acknowledges:
            self._beat(out)

    def _take_assignment(self, out: Effects) -> None:
        """G-9.  Give up what has to move, fetch offsets of what is new, and acknowledge both."""
        assert self.arrived is not None
        assigned, base = self.arrived
        revoked = tuple(tp for tp in self.assigned if tp not in assigned)
        if self.gives_up and self.task == COMMIT:
            return
        if revoked and not self.gives_up:
            self.gives_up, self.outstanding = True, 0
            if self._commits_itself(out):
                return
        self.gives_up = False
        self.arrived, self.assigned = None, assigned
        self.auto_due = out.now + self.auto_ms
        self.facts.append((ASSIGNED, self.state(), base))
        if revoked:
            out.cue("G-9.revokes", self.id, "owned", revoked, assigned)
            self._give_up(revoked)
        self.acknowledges = True
        self._beat(out)
        self._place_all(out)
        if self.places and not self.outstanding:
            self._go_on(out)

    def _place_all(self, out: Effects) -> None:
        if not self.task and self._unplaced():
            self.task = OFFSETS
            self._work(out)

    def _lose_all(self) -> None:
        self.generation, self.assigned, self.places, self.arrived = -1, (), {}, None
        self.outstanding = 0
        self.gives_up = self.acknowledges = False
        self.facts.append((ASSIGNED, self.state(), -1))

    def _refused(self, m: GroupResponse, out: Effects) -> None:
        """G-9.  Abandon all and join again when fenced; a refused commit fences no member."""
        if m.kind == CONSUMER_HEARTBEAT_R and m.error in NO_MEMBER:
            out.cue("G-9.fenced", self.id, "member", self.member, m.error)
            was_joining = self.task == JOIN
            if self.task == COMMIT and self.group_corr:
                self.late_commit = self.group_corr
            self._lose_all()
            self.task, self.group_corr, self.rejoins = NO_TASK, 0, True
            if self.closes:
                self._left()
            elif was_joining:
                self.task = JOIN
                self._retry(out)
            elif self.outside_since < 0:
                self._join(out)
        elif m.kind == OFFSET_COMMIT_R and m.error in (STALE_MEMBER_EPOCH, UNKNOWN_MEMBER_ID):
            self.failed = "" if self.automatic else "CommitFailedException"
            self.task = NO_TASK
            self._end_commit(out)
        elif m.kind == OFFSET_FETCH_R and m.error in (STALE_MEMBER_EPOCH, UNKNOWN_MEMBER_ID):
            self._retry(out)
        else:
            GroupMember._refused(self, m, out)

    def _retry(self, out: Effects) -> None:
        if self.gives_up and self.task == COMMIT:
            out.timer(self.id, self.backoff_ms, GROUP_RETRY, self.starts)
        else:
            GroupMember._retry(self, out)

    def is_ready(self) -> bool:
        """Check whether it may fetch; not while it commits what it has to give up."""
        return not self.gives_up and GroupMember.is_ready(self)

    # -- offsets -----------------------------------------------------------------------------------

    def _begin(self, offsets: Offsets, out: Effects) -> None:
        """G-5.  Begin where it still owns the partition."""
        committed = tuple(offset for offset in offsets if offset[0] in self.assigned)
        if self.task != OFFSETS or committed:
            GroupMember._begin(self, committed, out)
        else:
            self.task = NO_TASK
        self._place_all(out)

    def _end_commit(self, out: Effects) -> None:
        if self.gives_up and self.arrived is not None and not self.closes:
            self._take_assignment(out)
        else:
            self._place_all(out)
        GroupMember._end_commit(self, out)

    def _note_commit(self, base: int) -> None:
        GroupMember._note_commit(self, base)
        kind, state, *rest = self.facts.pop()
        assert isinstance(state, MemberState)
        self.facts.append((kind, state._replace(generation=self.offered_in), *rest))

    def state(self) -> MemberState:
        return GroupMember.state(self)._replace(reconciles=True)
