"""Mapping of each event of a run to moves of a rung of the ladder, for one partition."""

from __future__ import annotations

from engine.ladder import rules, steps
from engine.ladder.rungs import TRUNC_HW
from engine.ladder.search import LadderMove
from engine.ladder.state import (
    NOBODY,
    AbstractController,
    AbstractReplica,
    Announcement,
    Record,
    members,
)
from engine.refinement import observe
from engine.refinement.model_tracker import (
    CUTS_TO_END,
    EXPIRES,
    FENCES,
    JOINS,
    JOINS_BEHIND,
    LEARNS,
    RESTARTS,
    Matched,
    ModelTracker,
    UnmatchedError,
)
from engine.refinement.observe import ReplicaObservation, SeenRecord


class Mapping(ModelTracker):
    """The ladder beside a run; `step` after every event of it."""

    # -- a step -----------------------------------------------------------------------------------

    def step(self) -> list[Matched]:
        """Return the moves of the last event, in order; none if the ladder sees nothing of it.

        Raises UnmatchedError where it is no move of the rung.
        """
        self._steps += 1
        self._found = []
        record = observe.record(self._sim, self._tp)
        if record is None or record.replicas != set(self.brokers):
            raise UnmatchedError(
                "Other brokers hold the partition; the ladder's never change.", True
            )
        if record != self._record:
            self._of_controller(self._record, record)
            self._record = record
        seen = [observe.replica(self._sim, self._tp, broker) for broker in self.brokers]
        for place, (before, now) in enumerate(zip(self._seen, seen, strict=True)):
            if now.knows != before.knows and not _goes_on(before, now):
                self._since[place] = self._steps
                self._led[place].clear()
        self._seen = seen
        for place in sorted(range(len(seen)), key=lambda index: not seen[index].leads):
            self._of_replica(place, seen[place])
        return self._found

    # -- the controller ---------------------------------------------------------------------------

    def _of_controller(self, before: SeenRecord, now: SeenRecord) -> None:
        if now.epoch < before.epoch:
            raise UnmatchedError("The controller's leader epoch went back.")
        if not now.isr <= set(self.brokers):
            raise UnmatchedError("Somebody is in sync who holds no replica.")
        if now.epoch == before.epoch:
            if now.leader != before.leader:
                raise UnmatchedError("The leader changed and its epoch did not.")
            self._isr_changes(self._bits(now.isr))
            return
        if now.leader in self._place and now.leader not in before.isr:
            unclean = (self._tp, now.epoch) in self._sim.ledger.unclean_epochs
            how = "by an unclean election" if unclean else "for being eligible (ELR)"
            who = self._name(self._place[now.leader])
            allowed = unclean or now.leader in before.elr
            sentence = f"{who} leads from outside the in-sync set"
            raise UnmatchedError(f"{sentence}, {how}." if allowed else f"{sentence}.", allowed)
        self._announces(self._place_of(now.leader), self._bits(now.isr))
        for epoch in range(before.epoch + 1, now.epoch + 1):
            self._epochs[epoch] = self.controller.epoch

    def _announces(self, leader: int, isr: int) -> None:
        """Add the announcements of one change of the record: the fewest, found breadth first."""
        ways: list[tuple[AbstractController, tuple[tuple[LadderMove, AbstractController], ...]]] = [
            (self.controller, ())
        ]
        for _ in range(len(self.brokers) + 1):
            following = []
            for record, way in ways:
                for name, who, new in steps.of_controller(record):
                    if isr & ~new.isr:
                        continue  # a member that left does not come back
                    path = (*way, (LadderMove(name, (who,)), new))
                    if (new.leader, new.isr) == (leader, isr):
                        self._announced(path)
                        return
                    following.append((new, path))
            ways = following
        raise UnmatchedError(self._no_announcement(leader, isr))

    def _announced(self, way: tuple[tuple[LadderMove, AbstractController], ...]) -> None:
        for move, record in way:
            self.controller = record
            self._found.append(Matched(move, False, self.cluster))

    def _no_announcement(self, leader: int, isr: int) -> str:
        if isr & ~self.controller.isr:
            joined = next(members(isr & ~self.controller.isr))
            return f"{self._name(joined)} joined the in-sync set in a new leader epoch."
        if leader == self.controller.leader and isr == self.controller.isr:
            return "A new leader epoch began with the same leader and the same in-sync set."
        return "The controller's record became one that no election and no shrink leads to."

    def _isr_changes(self, isr: int) -> None:
        """Add ISR changes within a leader epoch: by the leader, or KRaft's controller."""
        for other in members(isr ^ self.controller.isr):
            joins = isr >> other & 1
            leader = self._true_leader()
            if leader is not None:
                name, late = self._joins(leader, other) if joins else self._leaves(leader, other)
            elif not joins and self._is_fenced(other):
                name, late = FENCES, False
            else:
                raise UnmatchedError("The in-sync set changed, and no leader of this epoch did it.")
            if name == FENCES:
                epoch = self.controller.epoch
                self._fenced[epoch] = self._fenced.get(epoch, 0) | 1 << other
            remaining = self.controller.isr ^ 1 << other
            self.controller = self.controller._replace(isr=remaining)
            if leader is None:
                self._found.append(Matched(LadderMove(name, (other,)), late, self.cluster))
            else:
                self._becomes(
                    LadderMove(name, (leader.me, other)), late, leader._replace(isr=remaining)
                )

    def _joins(self, leader: AbstractReplica, other: int) -> tuple[str, bool]:
        late = self._late(leader, other, self.rung.expand)
        if late is not None:
            return "leader-expands-isr", late
        late = self._late(leader, other, _reaches_epoch_start)
        if late is not None:
            return JOINS, late
        if not self._sim.profile.alter_partition:
            for _, then in reversed(self._past[leader.me]):
                if then.presumes and then.epoch in self._led[leader.me]:
                    request = self._late(then, other, self.rung.expand)
                    if request is not None:
                        return JOINS_BEHIND, True
        raise UnmatchedError(f"{self._name(other)} may not join the in-sync set under this rung.")

    def _leaves(self, leader: AbstractReplica, other: int) -> tuple[str, bool]:
        if other == leader.me:
            raise UnmatchedError(f"{self._name(other)} leads and left its own in-sync set.")
        late = self._late(leader, other, self.rung.shrink)
        if late is not None:
            return "leader-shrinks-isr", late
        return FENCES if self._is_fenced(other) else EXPIRES, False

    def _is_fenced(self, place: int) -> bool:
        """Check whether a KRaft controller has fenced the replica."""
        known = self._sim.cluster.controller.brokers.get(self.brokers[place])
        return self._sim.profile.kraft and (known is None or known.fenced or known.shutting_down)

    def _true_leader(self) -> AbstractReplica | None:
        """Return the leader by the controller's record, if that replica knows that it leads."""
        if self.controller.leader == NOBODY:
            return None
        leader = self.replicas[self.controller.leader]
        return leader if leader.presumes and leader.epoch == self.controller.epoch else None

    # -- a replica --------------------------------------------------------------------------------

    def _of_replica(self, place: int, seen: ReplicaObservation) -> None:
        if seen.log_start:
            raise UnmatchedError(f"{self._name(place)} deleted its oldest records.", beyond=True)
        if not (seen.leads or seen.follows):
            self._rests(place, seen)
            return
        restarted = seen.incarnation != self._restarted[place]
        before, count = self.replicas[place], len(self._found)
        past = len(self._past[place])
        try:
            self._acts(place, seen)
        except UnmatchedError:
            if not restarted or seen.hw >= before.hw:
                raise
            del self._found[count:], self._past[place][past:]
            self.replicas[place] = before
            self._becomes(LadderMove(RESTARTS, (place,)), False, before._replace(hw=seen.hw))
            self._acts(place, seen)
        if self._epochs.get(seen.epoch) == self.replicas[place].epoch:
            self._restarted[place] = seen.incarnation

    def _rests(self, place: int, seen: ReplicaObservation) -> None:
        """Check that a replica without a running process has not changed."""
        if not self._is_told(place, self._log_records(place, seen)):
            raise UnmatchedError(f"The disk of {self._name(place)} lost records.", beyond=True)

    def _is_told(self, place: int, log: tuple[Record, ...]) -> bool:
        return log in (self.replicas[place].log, self._cut.get(place))

    def _acts(self, place: int, seen: ReplicaObservation) -> None:
        epoch = self._epochs.get(seen.epoch)
        if epoch is None:
            raise UnmatchedError(f"{self._name(place)} heard of an epoch that nobody announced.")
        if epoch < self.replicas[place].epoch:
            self._rests(place, seen)
            return
        if epoch > self.replicas[place].epoch and not self._hears(place, seen, epoch):
            if self.replicas[place].leader == self._place_of(seen.leader):
                self._follows(place, seen)  # as before: of its leader's next epoch it knows not yet
            else:
                self._waits(place, seen, epoch)
            return
        if seen.leads:
            self._leads(place, seen)
        else:
            self._follows(place, seen)

    def _log_records(self, place: int, seen: ReplicaObservation) -> tuple[Record, ...]:
        """Return the records of its log; those unknown to all replicas are the leader's writes."""
        log: list[Record] = []
        for batch in seen.batches:
            if id(batch) not in self._records:
                if not seen.leads:
                    raise UnmatchedError(f"{self._name(place)} has a record that no leader wrote.")
                self._know(batch, self.replicas[place].epoch)
            log += self._records[id(batch)][1]
        return tuple(log)

    def _hears(self, place: int, seen: ReplicaObservation, epoch: int) -> bool:
        """Add becomes-leader or becomes-follower; False while the follower is not there yet.

        A follower that knows its leader and still has to find out where to truncate counts as one
        that does not: in the ladder both are one move.
        """
        named, isr = self._announced_in(epoch)
        leader = self._place_of(seen.leader)
        if named != leader:
            raise UnmatchedError(
                f"{self._name(place)} takes somebody else for the leader of its epoch."
            )
        before = self.replicas[place]
        if seen.leads:
            move = LadderMove("becomes-leader", (place, epoch))
            self._becomes(move, False, steps.hears_it_leads(before, epoch, isr))
            self._led[place].add(epoch)
            return True
        log = self._log_records(place, seen)
        match: tuple[AbstractReplica, bool] | None = None
        for peer, late in self._ever(place, leader):
            for new in steps.hears_it_follows(self.rung, peer, before, epoch, isr):
                if _leads_to(before, new, peer, log) and (match is None or new.hw == seen.hw):
                    match = new, late
            if match is not None and match[0].hw == seen.hw:
                break
        if match is None:
            return False
        self._cut.pop(place, None)
        new, late = match
        self._becomes(LadderMove("becomes-follower", (place, leader, epoch)), late, new)
        return True

    def _announced_in(self, epoch: int) -> Announcement:
        """Return an epoch's announcement, without replicas fenced in it since."""
        leader, isr = self.controller.changes[epoch]
        return leader, isr & ~self._fenced.get(epoch, 0)

    def _waits(self, place: int, seen: ReplicaObservation, epoch: int) -> None:
        """Add the announcement, and a truncation not yet complete, no further than the rung's."""
        log, before = self._log_records(place, seen), self.replicas[place]
        if self._is_told(place, log):
            return
        _, isr = self._announced_in(epoch)
        ends = [
            new.end
            for peer, _ in self._ever(place, self._place_of(seen.leader))
            for new in steps.hears_it_follows(self.rung, peer, before, epoch, isr)
        ]
        if log != before.log[: len(log)] or not ends or len(log) < min(ends):
            raise UnmatchedError(f"{self._name(place)} cut more of its log than the rung does.")
        self._cut[place] = log

    def _leads(self, place: int, seen: ReplicaObservation) -> None:
        log = self._log_records(place, seen)
        before = self.replicas[place]
        if log[: before.end] != before.log:
            raise UnmatchedError(f"{self._name(place)} leads and lost records.")
        if log != before.log and not before.presumes:
            raise UnmatchedError(f"{self._name(place)} wrote and does not lead.")
        for record, _ in log[before.end :]:
            new = steps.writes(self.replicas[place], record)
            self.controller = self.controller._replace(next_record=record + 1)
            self._becomes(LadderMove("writes", (place,)), False, new)
        while self.replicas[place].hw < seen.hw:
            self._advances(place)
        if self.replicas[place].hw > seen.hw:
            raise UnmatchedError(
                f"The high watermark of {self._name(place)}, who leads, went back."
            )

    def _advances(self, place: int) -> None:
        leader = self.replicas[place]
        late = False
        for member in members(leader.isr):
            request = self._late(leader, member, self.rung.advance)
            if request is None:
                raise UnmatchedError(
                    f"The high watermark of {self._name(place)} passed a record that "
                    f"{self._name(member)} of its in-sync set may not have under this rung."
                )
            late = late or request
        self._becomes(LadderMove("advances-hw", (place,)), late, steps.advances(leader))

    def _follows(self, place: int, seen: ReplicaObservation) -> None:
        log = self._log_records(place, seen)
        leader = self._place_of(seen.leader)
        if len(log) < self.replicas[place].end:
            self._cuts_to_end(place, leader, log)
        before = self.replicas[place]
        if log[: before.end] != before.log:
            # A broker whose restart passed unnoticed gets its role again in the same epoch.
            again = self.rung.truncate is TRUNC_HW.truncate and log == before.log[: before.hw]
            raise UnmatchedError(
                f"{self._name(place)} cut its log, and no leader's epoch made it.", beyond=again
            )
        if before.leader != leader and (log != before.log or seen.hw != before.hw):
            raise UnmatchedError(f"{self._name(place)} fetches from somebody it does not follow.")
        while self.replicas[place].end < len(log):
            self._fetches(place, leader, log, seen.hw)
        if self.replicas[place].hw != seen.hw:
            self._learns(place, leader, seen.hw)

    def _fetches(self, place: int, leader: int, log: tuple[Record, ...], hw: int) -> None:
        before = self.replicas[place]
        end = before.end + 1
        match: tuple[AbstractReplica, bool] | None = None
        for peer, late in self._ever(place, leader):
            new = steps.fetches(self.rung, peer, before)
            if new is None or new.log != log[:end]:
                continue
            if match is None:
                match = new, late
            if new.hw == min(hw, end):
                match = new, late
                break
        if match is None:
            raise UnmatchedError(
                f"{self._name(place)} took a record that {self._name(leader)} could not give it "
                "under this rung."
            )
        new, late = match
        self._becomes(LadderMove("fetches", (place, leader)), late, new)

    def _cuts_to_end(self, place: int, leader: int, log: tuple[Record, ...]) -> None:
        """Truncate an out-of-range follower to its leader's end."""
        before = self.replicas[place]
        for peer, late in self._ever(place, leader):
            if peer.presumes and peer.end == len(log) and before.log[: peer.end] == log:
                new = before._replace(log=log, hw=min(before.hw, len(log)))
                self._becomes(LadderMove(CUTS_TO_END, (place, leader)), late, new)
                return

    def _learns(self, place: int, leader: int, hw: int) -> None:
        """Raise the high watermark by the answer to a fetch without a record."""
        before = self.replicas[place]
        for peer, late in self._ever(place, leader):
            if self.rung.fetch(peer, before) and min(peer.hw, before.end) == hw:
                move = LadderMove(LEARNS, (place, leader))
                self._becomes(move, late, before._replace(hw=hw))
                return
        raise UnmatchedError(
            f"{self._name(place)} has the high watermark {hw}, which {self._name(leader)} could "
            "not tell it under this rung."
        )


def _reaches_epoch_start(leader: AbstractReplica, follower: AbstractReplica) -> bool:
    """Check the broker's own guard (KAFKA-7128).

    The follower's end, not the leader's high watermark, must have come to where the leader's epoch
    begins.
    """
    epochs = [epoch for _, epoch in leader.log]
    start = epochs.index(leader.epoch) if leader.epoch in epochs else leader.end
    return rules.same_epoch(leader, follower) and follower.end >= max(start, leader.hw)


def _goes_on(before: ReplicaObservation, now: ReplicaObservation) -> bool:
    """Check whether a replica in the leader's next epoch keeps what it knows and does."""
    return before.role == now.role and (before.leader, before.incarnation) == (
        now.leader,
        now.incarnation,
    )


def _leads_to(
    before: AbstractReplica, new: AbstractReplica, peer: AbstractReplica, log: tuple[Record, ...]
) -> bool:
    """Check whether this is how the log came about.

    What is kept is its beginning, and the rest is what the leader has there; a log that only grew
    was not cut.
    """
    if log[: before.end] == before.log and new.end < before.end:
        return False
    return log[: new.end] == new.log and log[new.end :] == peer.log[new.end : len(log)]
