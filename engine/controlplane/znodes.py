"""The state znodes, and the requests that carry them to brokers (control-plane 3.3, 5.1, 7.6)."""

from __future__ import annotations

from engine.controlplane import election, sender
from engine.model.control_messages import LeaderAndIsr, StopReplica, UpdateMetadata
from engine.model.controller import Controller
from engine.model.effects import Effects
from engine.model.messages import CONTROLLER, NO_BROKER
from engine.model.records import PartitionRecord

# -- requests to the brokers ----------------------------------------------------------------------


def live_epochs(k: Controller) -> dict[int, int]:
    """Return broker id -> broker epoch (the session znode's czxid) of every live broker."""
    return {b: r.epoch for b, r in k.brokers.items()}


def send_leader_and_isr(
    k: Controller, broker: int, states: list[tuple[int, PartitionRecord, bool]], out: Effects
) -> None:
    epoch = k.brokers[broker].epoch
    live = live_epochs(k)
    sender.send(k, LeaderAndIsr(CONTROLLER, broker, 0, k.epoch, epoch, states, live), out)


def send_stop_replica(
    k: Controller, broker: int, states: list[tuple[int, int, bool]], out: Effects
) -> None:
    epoch = k.brokers[broker].epoch
    sender.send(k, StopReplica(CONTROLLER, broker, 0, k.epoch, epoch, states), out)


def send_update_metadata(k: Controller, tps: list[int], out: Effects, before: int = 0) -> None:
    """Send live brokers and changed partitions to every live broker.

    `before`: by how much the leader epochs in the controller's memory lag (KAFKA-9212).
    """
    live = live_epochs(k)
    states = [(tp, _of_memory(k.records[tp], before)) for tp in tps]
    for broker, registration in k.brokers.items():
        epoch = registration.epoch
        sender.send(k, UpdateMetadata(CONTROLLER, broker, 0, k.epoch, epoch, states, live), out)


def _of_memory(record: PartitionRecord, before: int) -> PartitionRecord:
    if not before:
        return record
    former = record.copy()
    former.leader_epoch -= before
    return former


def tell_changes(
    k: Controller, tps: list[int], out: Effects, but: int = NO_BROKER, before: int = 0
) -> None:
    """5.1.  Send LeaderAndIsr, then UpdateMetadata; order holds per broker, not across.

    `but`: a broker that gets no LeaderAndIsr.  `before`: see `send_update_metadata`.
    """
    for broker in k.brokers:
        if broker == but:
            continue
        states = [(tp, k.records[tp], False) for tp in tps if broker in k.records[tp].replicas]
        if states:
            send_leader_and_isr(k, broker, states, out)
    send_update_metadata(k, tps, out, before)


# -- changing znodes ------------------------------------------------------------------------------


def write(k: Controller, tp: int, after: PartitionRecord, unclean: bool, out: Effects) -> None:
    before = k.records[tp]
    k.records[tp] = after
    if after.leader != before.leader:
        if unclean:
            k.unclean_elections += 1
        out.cue("CP-ELECT-ZK", CONTROLLER, f"leader {tp}", before.leader, after.leader, tp=tp)
    if after.isr != before.isr:
        out.cue("CP-ISR", CONTROLLER, f"isr {tp}", before.isr, after.isr, tp=tp)


def is_live(k: Controller, broker: int) -> bool:
    registration = k.brokers.get(broker)
    return registration is not None and not registration.shutting_down


def may_lead(k: Controller, tp: int, broker: int) -> bool:
    """3.3, live(r).  Check for a live broker whose log directory with this partition is online."""
    return is_live(k, broker) and (broker, tp) not in k.offline


def elect(
    k: Controller,
    tp: int,
    strategy: int,
    out: Effects,
    *,
    unclean: bool | None = None,
    only: int | None = None,
) -> bool:
    """CP-ELECT-ZK.  Run one election by one strategy; True if the znode changed.

    `only` restricts the choice to one broker: an operator's controlled move.
    """
    allowed = k.unclean_for(tp) if unclean is None else unclean
    if strategy == election.CONTROLLED_SHUTDOWN:
        result = election.elect_zk(
            k.records[tp],
            strategy,
            lambda b: b in k.brokers and (b, tp) not in k.offline,
            shutting_down=[b for b, r in k.brokers.items() if r.shutting_down],
            leader_recovery_state=k.profile.leader_recovery_state,
        )
    else:
        result = election.elect_zk(
            k.records[tp],
            strategy,
            lambda b: may_lead(k, tp, b) and (only is None or b == only),
            target=None if only is None else (only,),
            unclean=allowed,
            leader_recovery_state=k.profile.leader_recovery_state,
        )
    if result.changed:
        write(k, tp, result.record, result.unclean, out)
    return result.changed


def replicas_died(k: Controller, broker: int, tps: list[int], out: Effects) -> None:
    """CP-ZK-BROKERS, failure 2 - 4.  Elect where it led, then take its replicas out of ISRs.

    The other replicas of each partition are sent its state even where nothing has changed
    (`ReplicaStateMachine`, OfflineReplica, from 0.8.1 to 3.9): a broker that was bounced unnoticed
    gets its role back by the death of another one.  Partitions that have no leader are tried again
    (`triggerOnlinePartitionStateChange`).
    """
    led = [tp for tp in tps if k.records[tp].leader == broker]
    if not k.profile.unclean_noticed_at_once:  # after that nothing can have changed unnoticed
        led += [tp for tp, record in k.records.items() if record.leader < 0 and tp not in led]
    changed = [tp for tp in led if elect(k, tp, election.OFFLINE, out)]
    take_offline(k, broker, tps, out)
    tell_changes(k, sorted({*changed, *tps}), out)


def take_offline(k: Controller, broker: int, tps: list[int], out: Effects) -> list[int]:
    """7.6 OfflineReplica.  Take replicas out of each ISR; return the changed partitions."""
    changed = []
    for tp in tps:
        keeps_last = k.profile.keeps_last_isr_member or not k.unclean_for(tp)
        result = election.offline_replica_zk(k.records[tp], broker, keeps_last=keeps_last)
        if result.changed:
            write(k, tp, result.record, False, out)
            changed.append(tp)
    return changed
