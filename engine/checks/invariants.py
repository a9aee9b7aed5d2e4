"""The invariants (control-plane 11, data-plane 14): what must hold, checked after every event.

What was seen of a replica last is compared with what is there: only what changed is looked at.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from engine.checks import appends, clients, prefix
from engine.checks.catalogue import INVARIANTS
from engine.checks.lags import Lags
from engine.checks.ledger import Acked, Ledger
from engine.checks.quotas import held_in_sync
from engine.checks.replica_memory import ReplicaMemory, in_order
from engine.checks.sessions import out_of_step
from engine.checks.settled import unsettled
from engine.model.broker import Process
from engine.model.cluster import Cluster
from engine.model.compiling import mypyc_attr
from engine.model.copying import Twins, shallow
from engine.model.effects import Effects
from engine.model.log import Batch, Log
from engine.model.messages import FetchData
from engine.model.phrases import phrase
from engine.model.quotas import Quotas
from engine.model.records import PartitionRecord
from engine.model.state import LEADER, Replica

__all__ = ["INVARIANTS", "Checker"]


@mypyc_attr(allow_interpreted_subclasses=True, serializable=True)
class Checker:
    """Looks after every event; `broken` holds (invariant, event number, why), first time only."""

    __slots__ = (
        "broken",
        "cluster",
        "counts",
        "decisions",
        "lags",
        "ledger",
        "reached",
        "records",
        "seen",
        "step",
        "told",
    )

    def __init__(self, cluster: Cluster, ledger: Ledger) -> None:
        self.cluster = cluster
        self.ledger = ledger
        self.lags: Lags | None = None  # where a run is measured
        self.broken: list[tuple[str, int, str]] = []
        self.told: set[str] = set()
        self.counts: dict[str, int] = {}
        self.decisions: dict[int, int] = {}  # of quotas, per broker, that were looked at
        self.seen: defaultdict[int, dict[int, ReplicaMemory]] = defaultdict(dict)
        self.records: dict[int, PartitionRecord] = {}
        self.reached = [0] * len(cluster.names)  # the highest mark of any leader, past ones too
        self.step = 0

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
        twin.lags, twin.step = self.lags, self.step
        twin.broken, twin.told = self.broken.copy(), self.told.copy()
        twin.counts, twin.decisions = self.counts.copy(), self.decisions.copy()
        twin.records, twin.reached = self.records.copy(), self.reached.copy()
        twin.seen = defaultdict(dict)
        for node, here in self.seen.items():
            twin.seen[node] = {tp: seen.copy() for tp, seen in here.items()}
        return twin

    def grow(self, partitions: int) -> None:
        """Add `partitions` new partitions."""
        self.reached += [0] * partitions
        self.ledger.grow(partitions)

    def name(self, node: int) -> str:
        """Return the name of a broker for messages."""
        return phrase("broker {0}", self.cluster.brokers[node].name)

    def report(self, invariant: str, why: str, *values: object) -> None:
        """Record the first violation of an invariant and count the later ones."""
        self.counts[invariant] = self.counts.get(invariant, 0) + 1
        if not INVARIANTS[invariant].statistic and invariant not in self.told:
            self.told.add(invariant)
            self.broken.append((invariant, self.step, phrase(why, *values)))

    # -- after an event --------------------------------------------------------------------------

    def after(self, node: int, step: int, touched: Sequence[int] | None = None) -> None:
        """Check the partitions that `node` touched in event number `step`, or any (None)."""
        self.step = step
        if node >= 0:
            process = self.cluster.brokers[node].process
            if process is None:
                return
            if process.quotas is not None:
                self._check_quotas(process, process.quotas)
            sessions = process.sessions
            if sessions and (why := out_of_step(self.cluster, node, sessions)):
                self.report("INV-29", why)
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
            self.ledger.voters.look(self.cluster.quorum, self.report)

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
        was_leading = seen.role == LEADER and seen.epoch == replica.leader_epoch
        leads = replica.role == LEADER
        if replica.leader_epoch != seen.epoch:
            appends.check_cache(self, node, log)
            if replica.leader_epoch < seen.epoch:
                self.report(
                    "I2", "{0} went from epoch {1} to an older one", self.name(node), seen.epoch
                )
        if log.leo > seen.leo:
            appends.check(self, self.cluster, node, tp, replica, seen.leo)
            if lags is not None:
                lags.on_append(tp, replica, seen.leo)
        elif log.leo < seen.leo:
            appends.check_cache(self, node, log)
            if lags is not None:
                lags.on_cut(node, tp, seen.leo)
            seen.agreed = min(seen.agreed, log.leo)
            self.ledger.truncated += seen.leo - log.leo
            if leads and was_leading:
                self.report(
                    "INV-10",
                    "{0}, a leader, cut its log from {1} to {2}",
                    self.name(node),
                    seen.leo,
                    log.leo,
                )
        if log.clamps_hw and not log.log_start <= log.hw <= log.leo:
            self.report("INV-1", "{0} has HW {1} outside its log", self.name(node), log.hw)
        if leads and not was_leading:
            self._on_new_leader(node, tp, replica)
            if lags is not None:
                lags.on_leader(tp, replica)
            self.reached[tp] = max(self.reached[tp], log.hw)
        if leads and log.hw > (seen.hw if was_leading else log.log_start):
            if log.hw > seen.hw:
                self._on_hw_raised(node, tp, replica)
                self.reached[tp] = max(self.reached[tp], log.hw)
            self._on_commit(tp, replica, seen.hw if was_leading else log.log_start)
            if lags is not None:
                lags.on_hw(tp, replica)
        elif leads and was_leading and log.hw < seen.hw:
            self.report(
                "INV-18",
                "{0}, a leader, moved HW from {1} to {2}",
                self.name(node),
                seen.hw,
                log.hw,
            )
        elif not leads and log.hw > self.reached[tp] and log.hw > log.log_start:
            self.report(
                "INV-20",
                "{0}, a follower, has HW {1}; no leader got past {2}",
                self.name(node),
                log.hw,
                self.reached[tp],
            )
        seen.leo, seen.hw = log.leo, log.hw
        seen.role, seen.epoch = replica.role, replica.leader_epoch
        self._compare(node, tp, seen)

    def _check_quotas(self, broker: Process, quotas: Quotas) -> None:
        """INV-28.  Check that no quota has held back an in-sync follower in this event."""
        known = self.decisions.get(broker.id, 0)
        if known == quotas.decisions:
            return
        self.decisions[broker.id] = quotas.decisions
        for follower in held_in_sync(broker, quotas, known):
            self.report(
                "INV-28", "{0} holds {1} back, in sync", self.name(broker.id), self.name(follower)
            )

    # -- logs ------------------------------------------------------------------------------------

    def _compare(self, node: int, tp: int, seen: ReplicaMemory) -> None:
        """I5 (INV-14).  Check that in-sync replicas agree below both high watermarks.

        What was compared once need not be compared again: `agreed` is how far.
        """
        log = seen.replica.log
        upto = min(log.hw, log.leo)
        if upto <= seen.agreed:
            return
        record = self.cluster.controller.records.get(tp)
        if record is None or node not in record.isr:
            return
        if not prefix.is_just(log, self.ledger.committed[tp], seen.agreed, upto):
            for other in record.isr:
                if other != node:
                    self._compare_pair(node, other, tp, log, seen.agreed, upto)
        seen.agreed = upto

    def _compare_pair(
        self, node: int, other: int, tp: int, log: Log, start: int, upto: int
    ) -> None:
        replica = self.cluster.brokers[other].replicas.get(tp)
        if replica is None:
            return
        theirs = replica.log
        start = max(start, self.ledger.released.get(tp, 0))
        at = log.agrees_with(theirs, start, min(upto, theirs.hw))
        if at >= 0:
            mine, his = log.batches[log.index_of(at)], theirs.batches[theirs.index_of(at)]
            end = min(upto, theirs.hw)
            self.ledger.diverged.update((tp, o) for o in prefix.differing(log, theirs, at, end))
            self.report(
                "I5",
                "offset {0} is {1} on {2} and {3} on {4}, below both high watermarks",
                at,
                repr(mine),
                self.name(node),
                repr(his),
                self.name(other),
            )

    # -- leaders ---------------------------------------------------------------------------------

    def _on_new_leader(self, node: int, tp: int, replica: Replica) -> None:
        """I1, I6, I7, I8, I10.  Check that the new leader is alone and has what it must have."""
        ledger, epoch = self.ledger, replica.leader_epoch
        first = ledger.leaders.setdefault((tp, epoch), node)
        if first != node:
            self.report(
                "I1", "{0} and {1} both lead epoch {2}", self.name(first), self.name(node), epoch
            )
        ledger.epoch_starts[tp].append((epoch, replica.epoch_start))
        record = self.cluster.controller.records.get(tp)
        if record is None or record.leader_epoch != epoch:
            return  # a zombie: it will not be asked
        self._check_complete(node, tp, replica)

    def _check_complete(self, node: int, tp: int, replica: Replica) -> None:
        log, ledger = replica.log, self.ledger
        committed = ledger.committed[tp]
        missing = prefix.missing_from(log, committed.values())
        if missing:
            least = min(missing, key=lambda b: b.base)
            self.report(
                "I6",
                "{0} leads epoch {1} without the committed {2}",
                self.name(node),
                replica.leader_epoch,
                repr(least),
            )
            self.report(
                "I10",
                "offset {0} was committed, and {1} leads without it",
                least.base,
                self.name(node),
            )
            ledger.committed_lost += sum(len(batch.values) for batch in missing)
            for batch in missing:
                del committed[batch.base]  # reported once; what follows builds on the new history
        for acked in prefix.not_in_place(log, ledger.acked[tp]):
            self.check_acked(node, replica, acked)

    def check_acked(self, node: int, replica: Replica, acked: Acked) -> None:
        """I7, I8.  Check that an acknowledged record is in the leader's log at its offset."""
        log = replica.log
        kept_from = max(log.log_start, self.ledger.released.get(acked.tp, 0))
        if acked.base < kept_from or prefix.has_values(log, acked.base, acked.values):
            return
        names = self.ledger.lose(acked)
        if names:
            told = ", ".join(names)
            kind = "all" if acked.acks == -1 else "1"
            self.report(
                "I7" if acked.acks == -1 else "I8",
                "{0} at offset {1}, acknowledged with acks={2}, is gone: {3} leads epoch {4} "
                "without it",
                told,
                acked.base,
                kind,
                self.name(node),
                replica.leader_epoch,
            )

    def _on_hw_raised(self, node: int, tp: int, replica: Replica) -> None:
        """I14, I15.  Check whether this leader may raise its high watermark now.

        An unclean election may depose a leader that is its whole ISR and does not know it: nothing
        keeps that one from committing on its own, in any Kafka.  I15 speaks of clean elections.
        """
        hw = replica.log.hw
        for epoch, start in self.ledger.epoch_starts[tp]:
            unclean = self.ledger.unclean_epochs
            if any(of == tp and replica.leader_epoch < e <= epoch for of, e in unclean):
                continue
            if epoch > replica.leader_epoch and hw > start:
                self.report(
                    "I15",
                    "{0}, leader of the past epoch {1}, committed up to {2}; epoch {3} began at "
                    "{4}",
                    self.name(node),
                    replica.leader_epoch,
                    hw,
                    epoch,
                    start,
                )
        if len(replica.isr) < replica.min_isr():
            self.report(
                "I14",
                "{0} committed up to {1} with {2} in sync, of {3} wanted",
                self.name(node),
                hw,
                len(replica.isr),
                replica.min_isr(),
            )

    def _on_commit(self, tp: int, replica: Replica, before: int) -> None:
        """I10, I12.  Commit what the current leader's high watermark has passed."""
        log, ledger = replica.log, self.ledger
        record = self.cluster.controller.records.get(tp)
        if record is not None and record.leader_epoch != replica.leader_epoch:
            return
        batches = log.read(before, log.hw) or []
        conflict, twice = ledger.commit(tp, batches, log.hw)
        if twice is not None:
            first = ledger.sequences[tp][ledger.key(twice)]
            self.report(
                "I12", "{0} was sent once and is committed at {1} already", repr(twice), first
            )
        if conflict is not None:
            self.report("I10", "{0} was committed and now another record is, there", repr(conflict))
            for broker in record.isr if record is not None else ():
                seen = self.seen[broker].get(tp)
                if seen is not None:
                    seen.agreed = 0
                    self._compare(broker, tp, seen)

    def goes_back(self, tp: int) -> None:
        """Forget what was seen of a partition whose change was never committed."""
        self.records[tp] = self.cluster.controller.records[tp]

    # -- the controller's record -----------------------------------------------------------------

    def _on_record(self, tp: int, record: PartitionRecord) -> None:
        """I2, I3, I4, I5.  Check a record, and a replica that joined the ISR."""
        before = self.records.get(tp)
        self.records[tp] = record
        if before is not None:
            self.ledger.change(tp, before, record)
        if before is not None and (
            record.leader_epoch < before.leader_epoch
            or record.partition_epoch < before.partition_epoch
        ):
            self.report("I2", "{0} was followed by {1}", repr(before), repr(record))
        if (
            any(b not in record.replicas for b in record.isr)
            or (record.leader >= 0 and record.leader not in record.isr)
            or any(b in record.isr for b in record.elr)
        ):
            self.report("I3", "{0} with replicas {1}", repr(record), list(record.replicas))
        self._check_maximal(tp, record)
        joined = () if before is None else tuple(b for b in record.isr if b not in before.isr)
        leader = self.cluster.current_leader(tp) if joined else None
        why = prefix.unlike_prefix(self.cluster, leader, joined) if leader is not None else ""
        if why:
            self.report("INV-13", why)
        if self.lags is not None and before is not None and record.isr != before.isr:
            self.lags.on_isr(tp)
        for broker in record.isr:
            if before is None or broker not in before.isr:
                seen = self.seen[broker].get(tp)
                if seen is not None:
                    seen.agreed = 0
                    self._compare(broker, tp, seen)

    def _check_maximal(self, tp: int, record: PartitionRecord) -> None:
        leader = self.cluster.current_leader(tp)
        if (
            leader is None
            or not leader.profile.alter_partition
            or len(record.isr) < leader.min_isr()
        ):
            return
        missing = [b for b in record.isr if b not in leader.maximal_isr]
        if missing:
            self.report(
                "I4",
                "the controller counts {0} in the ISR, {1} does not",
                missing,
                self.name(leader.broker),
            )

    # -- followers, and the end ------------------------------------------------------------------

    def on_settled(self, step: int) -> None:
        """I13.  Check that the in-sync replicas are alike long after all faults and traffic.

        Their contents are compared by I5; this is about getting there at all.
        """
        self.step = step
        for why in unsettled(self.cluster):
            self.report("I13", why)

    # -- clients ---------------------------------------------------------------------------------

    def on_acked(self, acked: Acked) -> None:
        """Note an acknowledgement; after a change of leader the new one must have the record."""
        self.ledger.acked[acked.tp].append(acked)
        leader = self.cluster.current_leader(acked.tp)
        if leader is not None:
            self.check_acked(leader.broker, leader, acked)

    def on_retried(self, acked: Acked, since: int) -> None:
        """I12.  Count records that are there twice; a producer without numbers has no promise."""
        leader = self.cluster.current_leader(acked.tp)
        if leader is not None and clients.written_twice(leader.log, acked, since):
            self.counts["I12"] = self.counts.get("I12", 0) + 1

    def on_read(self, client: int, src: int, data: FetchData, batches: list[Batch]) -> None:
        """I9, INV-23, INV-27.  Check the batches that broker `src` served to a consumer."""
        ledger, tp = self.ledger, data.tp
        self._tell("I9", clients.contradicted(ledger, tp, batches))
        self._tell("INV-23", clients.uncommitted(data.hw, batches))
        self._tell("INV-27", clients.unnoticed(self.cluster, ledger, client, src, tp, batches))

    def on_latest(self, tp: int, latest: int) -> None:
        """INV-25.  Check a latest offset that a client was sent."""
        self._tell("INV-25", clients.gone_back(self.ledger, tp, latest))

    def on_moved(self, client: int) -> None:
        """INV-27.  Note that the application knows of the consumer's new position."""
        self.ledger.read_last.pop(client, None)

    def _tell(self, invariant: str, why: str) -> None:
        if why:
            self.report(invariant, why)
