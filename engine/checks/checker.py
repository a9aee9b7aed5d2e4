"""The observer of a run: tells the invariants what happened in each event.

What was seen of a replica last is compared with what is there: only what changed is looked at.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from engine.checks import prefix
from engine.checks.catalogue import INTERESTED
from engine.checks.facts import (
    ASSIGNED,
    POLLED,
    PROCESSED,
    Assignment,
    GroupCommit,
    MemberState,
)
from engine.checks.invariant import Observation
from engine.checks.lags import Lags
from engine.checks.ledger import Acked
from engine.checks.replica_memory import ReplicaMemory, in_order
from engine.model.cluster import Cluster
from engine.model.copying import Twins, shallow
from engine.model.declared import begins, declared, fresh
from engine.model.effects import Effects
from engine.model.log import Batch
from engine.model.messages import FetchData
from engine.model.quorum import LEADER as LEADS
from engine.model.quorum import Quorum
from engine.model.records import PartitionRecord
from engine.model.remote_log import RemoteStore
from engine.model.state import LEADER, Replica


@declared
class Checker(Observation):
    """Looks after every event, and calls the invariants that are interested in what changed.

    `log_starts` is per partition with a remote log the largest log start of any leader.
    """

    lags: Lags | None = begins(None)  # where a run is measured
    seen: defaultdict[int, dict[int, ReplicaMemory]] = fresh(lambda: defaultdict(dict))
    log_starts: dict[int, int] = fresh(dict)

    def twin(self, twins: Twins, cluster: Cluster, clock: Effects) -> Checker:
        """Return a copy for a copied cluster and its clock, with a ledger of its own."""
        twin = self.branch(cluster)
        twin.lags = self.lags and self.lags.twin(twins, cluster, clock)
        for here in twin.seen.values():
            for seen in here.values():
                seen.replica = twins.of(seen.replica)
        return twin

    def branch(self, cluster: Cluster) -> Checker:
        """Return a copy for a cluster whose replicas are still shared with this one's."""
        twin = shallow(self)
        twin.cluster = cluster
        twin.ledger = self.ledger.copy()
        twin.memories = defaultdict(dict)
        for name, memory in self.memories.items():
            twin.memories[name] = memory.copy()
        twin.broken, twin.told = self.broken.copy(), self.told.copy()
        twin.counts, twin.log_starts = self.counts.copy(), self.log_starts.copy()
        twin.records, twin.reached = self.records.copy(), self.reached.copy()
        twin.seen = defaultdict(dict)
        for node, here in self.seen.items():
            twin.seen[node] = {tp: seen.copy() for tp, seen in here.items()}
        return twin

    def grow(self, partitions: int) -> None:
        self.reached += [0] * partitions
        self.ledger.grow(partitions)

    # -- after an event --------------------------------------------------------------------------

    def after(self, node: int, step: int, touched: Sequence[int] | None = None) -> None:
        """Check the partitions that `node` touched in event number `step`, or any (None)."""
        self.step = step
        if node >= 0:
            process = self.cluster.brokers[node].process
            if process is None:
                return
            for invariant in INTERESTED["on_broker"]:
                invariant.on_broker(self, process)
            if touched is None or len(touched) > 1:
                touched = in_order(process, touched)
            for tp in touched:
                replica = process.replicas.get(tp)
                if replica is not None:
                    self._look(node, tp, replica)
        else:
            for tp, record in self.cluster.controller.records.items():
                if self.records.get(tp) is not record:
                    self._on_record(tp, record)
            if self.cluster.quorum is not None:
                self._look_at_quorum(self.cluster.quorum)

    def _look(self, node: int, tp: int, replica: Replica) -> None:
        seen, log = self.seen[node].get(tp), replica.log
        if (
            seen is None
            or seen.replica is not replica
            or seen.leo != log.leo
            or seen.hw != log.hw
            or seen.role != replica.role
            or seen.epoch != replica.leader_epoch
        ):
            self._on_replica(node, tp, replica, seen)

    def _on_replica(self, node: int, tp: int, replica: Replica, seen: ReplicaMemory | None) -> None:
        log, lags = replica.log, self.lags
        if seen is None or seen.replica is not replica:
            if lags is not None and seen is not None and seen.leo > log.leo:
                lags.on_cut(node, tp, seen.leo)
            seen = self.seen[node][tp] = ReplicaMemory(replica)
        if replica.leader_epoch != seen.epoch:
            for invariant in INTERESTED["on_epoch"]:
                invariant.on_epoch(self, seen)
        if log.leo > seen.leo:
            at = log.index_of(seen.leo)
            if at < len(log.batches):
                for invariant in INTERESTED["on_append"]:
                    invariant.on_append(self, replica, at)
            if lags is not None:
                lags.on_append(tp, replica, seen.leo)
        elif log.leo < seen.leo:
            self._on_truncated(seen)
        for invariant in INTERESTED["on_replica"]:
            invariant.on_replica(self, seen)
        if replica.role == LEADER:
            self._on_leading(tp, replica, seen)
        seen.leo, seen.hw = log.leo, log.hw
        seen.role, seen.epoch = replica.role, replica.leader_epoch
        self._compare(node, tp, seen)

    def _on_truncated(self, seen: ReplicaMemory) -> None:
        replica = seen.replica
        if self.lags is not None:
            self.lags.on_cut(replica.broker, replica.tp, seen.leo)
        seen.agreed = min(seen.agreed, replica.log.leo)
        self.ledger.truncated += seen.leo - replica.log.leo
        for invariant in INTERESTED["on_truncated"]:
            invariant.on_truncated(self, seen)

    def _compare(self, node: int, tp: int, seen: ReplicaMemory) -> None:
        """Compare an in-sync replica with the others, as far as it was not compared before."""
        replica = seen.replica
        log, start = replica.log, seen.agreed
        end = min(log.hw, log.leo)
        if end <= start:
            return
        record = self.cluster.controller.records.get(tp)
        if record is None or node not in record.isr:
            return
        if not prefix.is_just(log, self.ledger.committed[tp], start, end):
            for member in record.isr:
                other = self.cluster.brokers[member].replicas.get(tp) if member != node else None
                if other is not None:
                    for invariant in INTERESTED["on_pair"]:
                        invariant.on_pair(self, replica, other, start, end)
        seen.agreed = end

    def _compare_again(self, tp: int, members: Iterable[int]) -> None:
        """Compare these replicas from their first record on."""
        for broker in members:
            seen = self.seen[broker].get(tp)
            if seen is not None:
                seen.agreed = 0
                self._compare(broker, tp, seen)

    # -- leaders ---------------------------------------------------------------------------------

    def _on_leading(self, tp: int, replica: Replica, seen: ReplicaMemory) -> None:
        log, lags, before = replica.log, self.lags, seen.hw
        if not seen.keeps_leading():
            self._on_new_leader(tp, replica)
            if lags is not None:
                lags.on_leader(tp, replica)
            self.reached[tp] = max(self.reached[tp], log.hw)
            before = log.log_start
        if log.hw > before:
            if log.hw > seen.hw:
                for invariant in INTERESTED["on_hw_raised"]:
                    invariant.on_hw_raised(self, replica)
                self.reached[tp] = max(self.reached[tp], log.hw)
            self._on_commit(tp, replica, before)
            if lags is not None:
                lags.on_hw(tp, replica)

    def _on_new_leader(self, tp: int, replica: Replica) -> None:
        log, ledger = replica.log, self.ledger
        for invariant in INTERESTED["on_leader"]:
            invariant.on_leader(self, replica)
        record = self.cluster.controller.records.get(tp)
        if record is None or record.leader_epoch != replica.leader_epoch:
            return  # a zombie: it will not be asked
        committed = ledger.committed[tp]
        missing = prefix.missing_from(log, committed.values())
        if missing:
            for invariant in INTERESTED["on_missing"]:
                invariant.on_missing(self, replica, missing)
            ledger.committed_lost += sum(len(batch.values) for batch in missing)
            for batch in missing:
                del committed[batch.base]  # reported once; what follows builds on the new history
        for acked in prefix.not_in_place(log, ledger.acked[tp]):
            self.check_acked(replica, acked)

    def check_acked(self, replica: Replica, acked: Acked) -> None:
        """Check that an acknowledged record is in the leader's log at its offset."""
        log = replica.log
        kept_from = self.ledger.kept_from(acked.tp, log.log_start)
        if acked.base < kept_from or prefix.has_values(log, acked.base, acked.values):
            return
        records = self.ledger.lose(acked)
        if records:
            for invariant in INTERESTED["on_lost"]:
                invariant.on_lost(self, replica, acked, records)

    def _on_commit(self, tp: int, replica: Replica, before: int) -> None:
        """Commit what the current leader's high watermark has passed."""
        log, ledger = replica.log, self.ledger
        record = self.cluster.controller.records.get(tp)
        if record is not None and record.leader_epoch != replica.leader_epoch:
            return
        conflict, twice = ledger.commit(tp, log.read(before, log.hw) or [], log.hw)
        if twice is not None:
            first = ledger.sequences[tp][ledger.key(twice)]
            for invariant in INTERESTED["on_committed_twice"]:
                invariant.on_committed_twice(self, twice, first)
        if conflict is not None:
            for invariant in INTERESTED["on_replaced"]:
                invariant.on_replaced(self, conflict)
            self._compare_again(tp, record.isr if record is not None else ())

    # -- the controller, its quorum, and remote storage -------------------------------------------

    def goes_back(self, tp: int) -> None:
        """Forget what was seen of a partition whose change was never committed."""
        self.records[tp] = self.cluster.controller.records[tp]

    def _on_record(self, tp: int, record: PartitionRecord) -> None:
        before = self.records.get(tp)
        self.records[tp] = record
        if before is not None:
            self.ledger.change(tp, before, record)
        for invariant in INTERESTED["on_record"]:
            invariant.on_record(self, tp, record, before)
        if before is None:
            self._compare_again(tp, record.isr)
            return
        joined = tuple(member for member in record.isr if member not in before.isr)
        leader = self.cluster.current_leader(tp) if joined else None
        if leader is not None:
            for invariant in INTERESTED["on_joined"]:
                invariant.on_joined(self, leader, joined)
        if self.lags is not None and record.isr != before.isr:
            self.lags.on_isr(tp)
        self._compare_again(tp, joined)

    def _look_at_quorum(self, quorum: Quorum) -> None:
        changed, memory = False, self.ledger.voters
        for voter in quorum.voters.values():
            leads = voter.state == LEADS and voter.alive
            if leads and memory.leaders.get(voter.epoch) != voter.id:
                first = quorum.voters[memory.leaders.setdefault(voter.epoch, voter.id)]
                for invariant in INTERESTED["on_voter_leads"]:
                    invariant.on_voter_leads(self, voter, first)
            if memory.look(voter):
                changed = True
                for invariant in INTERESTED["on_voter_log"]:
                    invariant.on_voter_log(self, quorum, voter)
        if changed:
            for invariant in INTERESTED["on_quorum"]:
                invariant.on_quorum(self, quorum)

    def look_at_remote(self, store: RemoteStore) -> None:
        """Check every tiered partition whose leader is known to the controller."""
        for tp, remote in store.logs.items():
            for invariant in INTERESTED["on_remote"]:
                invariant.on_remote(self, tp, remote)
            leader = self.cluster.current_leader(tp)
            if leader is not None:
                released = leader.log.released
                if released > self.ledger.released.get(tp, 0):
                    self.ledger.release(tp, released)
                start = max(self.log_starts.get(tp, 0), leader.log.log_start, released)
                self.log_starts[tp] = start
                for invariant in INTERESTED["on_tier"]:
                    invariant.on_tier(self, remote, leader, start)

    def on_settled(self, step: int) -> None:
        """Check the cluster long after all faults and traffic."""
        self.step = step
        for one in INTERESTED["on_settled"]:
            one.on_settled(self)

    # -- clients ---------------------------------------------------------------------------------

    def on_acked(self, acked: Acked) -> None:
        """Note an acknowledgement; after a change of leader the new one must have the record."""
        self.ledger.acked[acked.tp].append(acked)
        leader = self.cluster.current_leader(acked.tp)
        if leader is not None:
            self.check_acked(leader, acked)

    def on_retried(self, acked: Acked, since: int) -> None:
        """Check what a producer sent more than once, `since` when (ms)."""
        leader = self.cluster.current_leader(acked.tp)
        if leader is not None:
            for invariant in INTERESTED["on_retried"]:
                invariant.on_retried(self, leader, acked, since)

    def on_read(self, client: int, src: int, data: FetchData, batches: list[Batch]) -> None:
        """Check the batches that broker `src` served to a consumer."""
        for one in INTERESTED["on_read"]:
            one.on_read(self, client, src, data, batches)

    def on_latest(self, tp: int, latest: int) -> None:
        """Check a latest offset that a client was sent."""
        for one in INTERESTED["on_latest"]:
            one.on_latest(self, tp, latest)

    def on_moved(self, client: int) -> None:
        """Note that the application knows of the consumer's new position."""
        for one in INTERESTED["on_moved"]:
            one.on_moved(self, client)

    def on_member(
        self,
        group: int,
        facts: Iterable[tuple[Any, ...]],
        members: Collection[MemberState],
        now: int,
    ) -> None:
        """Check a member's actions in an event; `members` are the running members of its group."""
        for kind, *what in facts:
            if kind == PROCESSED:
                for value in what[1].values:
                    times = self.ledger.process(group, value)
                    for invariant in INTERESTED["on_processed"]:
                        invariant.on_processed(self, value, times)
            elif kind == POLLED:
                for invariant in INTERESTED["on_polled"]:
                    invariant.on_polled(self, group, what[0], what[1], members)
            elif kind == ASSIGNED:
                assigned = Assignment(group, what[0], what[1], members)
                for invariant in INTERESTED["on_assigned"]:
                    invariant.on_assigned(self, assigned)
            else:
                member, base, records, since = what
                commit = GroupCommit(group, member, base, records)
                for invariant in INTERESTED["on_group_commit"]:
                    invariant.on_group_commit(self, commit)
                self.on_acked(Acked(group, base, records, -1, now - since))
