"""ZooKeeper and its controller as one node: sessions, znodes, control requests.

`k.brokers` holds the live sessions, `k.records` the state znodes; a record's partition epoch is its
znode version.  Reads and conditional writes of one event are atomic, as a ZooKeeper transaction is.
"""

from __future__ import annotations

from typing import Any

from engine.controlplane import alter_partition, election, sender, zk_reassign, zk_topics
from engine.controlplane.znodes import (
    elect,
    is_live,
    replicas_died,
    send_leader_and_isr,
    send_stop_replica,
    send_update_metadata,
    take_offline,
    tell_changes,
    write,
)
from engine.model.control_messages import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    Heartbeat,
    HeartbeatResponse,
    RegisterRequest,
    RegisterResponse,
    ShutdownRequest,
    ShutdownResponse,
)
from engine.model.controller import Controller, Registration
from engine.model.effects import Effects
from engine.model.errors import (
    DUPLICATE_BROKER_REGISTRATION,
    NONE,
    STALE_BROKER_EPOCH,
)
from engine.model.messages import CONTROLLER, NO_BROKER
from engine.model.state import NEVER
from engine.model.timers import FENCE_CHECK, PREFERRED_CHECK
from engine.model.zk_messages import IsrChange, SessionClosed

# -- the broker set -------------------------------------------------------------------------------


def on_register(k: Controller, m: RegisterRequest, out: Effects) -> None:
    """CP-ZK-REG, CP-ZK-BROKERS.  Take the id's znode if it is free; `bounced` replaces it at once.

    Before 2.2 there is no broker epoch: a broker that left and came back before the controller
    looked (`bounced`) is no new broker (ABA).  It stays in every ISR with whatever its log now
    holds, and is sent no role: without LeaderAndIsr it neither leads, follows nor truncates.
    """
    registered = k.brokers.get(m.src)
    noticed = registered is None or k.profile.broker_generation
    if registered is not None and not m.bounced:
        error = DUPLICATE_BROKER_REGISTRATION
        out.send(RegisterResponse(CONTROLLER, m.src, m.corr, error, -1))
        return
    if registered is not None and k.profile.broker_generation:
        on_broker_failure(k, m.src, out)
    epoch = k.next_broker_epoch
    k.next_broker_epoch += 1
    registration = Registration(epoch, m.incarnation, m.rack, out.now)
    registration.fenced = False
    if registered is not None and not noticed:
        registration.unsent = registered.unsent  # the sender thread has not noticed either
    k.brokers[m.src] = registration
    out.send(RegisterResponse(CONTROLLER, m.src, m.corr, NONE, epoch))
    if noticed:
        on_broker_startup(k, m.src, out)
    else:
        out.cue("CP-ZK-BROKERS.unnoticed", CONTROLLER, "broker", None, epoch, about=m.src)
        sender.repeat(k, m.src, out)
    arm_session_check(k, out)


def on_broker_startup(k: Controller, broker: int, out: Effects) -> None:
    """CP-ZK-BROKERS, start-up.  Send metadata and replica states, then run elections."""
    send_update_metadata(k, list(k.records), out)
    send_roles(k, broker, out)
    elected = [tp for tp in k.records if k.records[tp].leader < 0]
    elected = [tp for tp in elected if elect(k, tp, election.OFFLINE, out)]
    if elected:
        tell_changes(k, elected, out)
    zk_reassign.resume_for(k, broker, out)
    zk_topics.resume_for(k, broker, out)


def send_roles(k: Controller, broker: int, out: Effects) -> None:
    """CP-ZK-BROKERS 3, CP-ZK-CTRL 8.  Send a broker the state of each replica that it hosts."""
    states = [(tp, r, False) for tp, r in k.records.items() if broker in r.replicas]
    if states:
        send_leader_and_isr(k, broker, states, out)


def resume(k: Controller, running: set[int], out: Effects) -> None:
    """CP-ZK-CTRL.  Resume the sessions of live processes; those of the others do not come back.

    Each live broker is sent its roles.
    """
    for broker in [b for b in k.brokers if b not in running]:
        del k.brokers[broker]
    for registration in k.brokers.values():
        registration.last_contact = out.now
        registration.unsent = []
    for broker in k.brokers:
        send_roles(k, broker, out)
    arm_session_check(k, out)


def start_up(k: Controller, out: Effects) -> None:
    """CP-ZK-CTRL 8, 9.  Elect leaders for partitions whose leader is dead.

    From 2.3 on replicas on dead brokers leave first.  Until 2.2 a dead follower stays in the ISR
    until its leader removes it (`ReplicaStateMachine.startup` at 2.2.2 and 2.3.0, KAFKA-3143).
    """
    k.preferred_orders = ()
    if k.profile.dead_target_ends_move:
        zk_reassign.drop_moves_to_dead(k)
    if k.profile.new_controller_takes_offline:
        left: dict[int, None] = {}
        for tp, record in list(k.records.items()):
            for dead in [b for b in record.replicas if b not in k.brokers]:
                left.update(dict.fromkeys(take_offline(k, dead, [tp], out)))
        if left:
            tell_changes(k, list(left), out)
    changed = [
        tp
        for tp, record in list(k.records.items())
        if record.leader not in k.brokers and elect(k, tp, election.OFFLINE, out)
    ]
    tell_changes(k, changed, out)
    for broker in k.brokers:
        zk_topics.resume_for(k, broker, out)


def on_broker_failure(k: Controller, broker: int, out: Effects) -> None:
    """CP-ZK-BROKERS, failure.  Elect where it led, then take its replicas out of ISRs."""
    k.brokers.pop(broker, None)
    out.cue("CP-ZK-BROKERS", CONTROLLER, "broker", "live", "dead", about=broker)
    k.offline = {pair for pair in k.offline if pair[0] != broker}
    hosted = [tp for tp, record in k.records.items() if broker in record.replicas]
    replicas_died(k, broker, hosted, out)


def on_ping(k: Controller, m: Heartbeat, out: Effects) -> None:
    """Keep the session alive, or return to the broker that it has expired (8.3)."""
    registration = k.brokers.get(m.src)
    if registration is not None and registration.epoch == m.broker_epoch:
        registration.last_contact = out.now
    else:
        answer = HeartbeatResponse(
            CONTROLLER, m.src, m.corr, STALE_BROKER_EPOCH, False, True, False
        )
        out.send(answer)


def on_session_closed(k: Controller, m: SessionClosed, out: Effects) -> None:
    """CP-ZK-SHUTDOWN 8.  Remove the znode of a closed session at once."""
    registration = k.brokers.get(m.src)
    if registration is not None and registration.epoch == m.broker_epoch:
        on_broker_failure(k, m.src, out)


def arm_session_check(k: Controller, out: Effects) -> None:
    """Set the timer to the instant at which the next session can expire."""
    if not k.brokers or k.check_at > out.now:
        return
    last = min(r.last_contact for r in k.brokers.values())
    k.check_at = max(last + k.configs.session_timeout_ms, out.now + 1)
    out.timer(CONTROLLER, k.check_at - out.now, FENCE_CHECK)


def on_session_check(k: Controller, out: Effects) -> bool:
    """zookeeper.session.timeout.ms.  Remove the znodes of expired sessions; the controller acts.

    Sessions that expire together are seen as dead together: none of these brokers is elected.
    """
    if k.check_at > out.now or not k.alive:
        return False
    k.check_at = NEVER
    expired = [
        b for b, r in k.brokers.items() if out.now - r.last_contact >= k.configs.session_timeout_ms
    ]
    for broker in expired:
        del k.brokers[broker]
    for broker in expired:
        on_broker_failure(k, broker, out)
    arm_session_check(k, out)
    return bool(expired)


# -- the ISR --------------------------------------------------------------------------------------


def on_alter_partition(k: Controller, m: AlterPartitionRequest, out: Effects) -> None:
    """CP-ALTER (2.7 - 3.9).  Change an ISR; `direct`: the leader's own write (CP-ISR-ZKPROP)."""
    registration = k.brokers.get(m.src)
    current = None if registration is None else registration.epoch
    error = NONE if m.direct else alter_partition.check_sender(current, m.broker_epoch)
    if error:
        out.send(AlterPartitionResponse(CONTROLLER, m.src, m.corr, error, ()))
        return
    answers = []
    written = []
    for item in m.items:
        record = k.records.get(item.tp)
        if record is None:  # its topic is being deleted, or gone
            error = alter_partition.missing(k, item, m.version)
            answers.append(alter_partition.refused(item.tp, error))
            continue
        if m.direct:
            error, changes = alter_partition.check_direct_write(record, item, m.src, k.profile)
        else:
            error, changes = alter_partition.check_zk(
                record,
                item,
                lambda b: is_live(k, b),
                k.profile,
                version=m.version,
            )
        if error:
            rule = "CP-ALTER.direct" if m.direct else "CP-ALTER"
            out.cue(rule, CONTROLLER, f"alter {item.tp}", m.src, error, tp=item.tp)
        elif changes:
            after = alter_partition.apply_zk(record, item)
            write(k, item.tp, after, False, out)
            written.append(item.tp)
        answers.append(alter_partition.answered(item.tp, error, k.records[item.tp]))
    out.send(AlterPartitionResponse(CONTROLLER, m.src, m.corr, NONE, answers))
    if written and not m.direct:
        send_update_metadata(k, written, out)
    for tp in written:
        # Before 2.7 the controller reads the notification or the znode's watch fires; here at once.
        zk_reassign.complete(k, tp, out)


def on_isr_change(k: Controller, m: IsrChange, out: Effects) -> None:
    """CP-ISR-ZKPROP 3.  Read the partitions of a notification znode and send them to all brokers.

    There is no election, and no broker changes its role.
    """
    partitions = [tp for tp in m.tps if tp in k.records]
    send_update_metadata(k, partitions, out)
    for tp in partitions:
        zk_reassign.complete(k, tp, out)


# -- controlled shutdown and admin ----------------------------------------------------------------


def on_shutdown_request(k: Controller, m: ShutdownRequest, out: Effects) -> None:
    """CP-ZK-SHUTDOWN 2 - 7.  Move the leaderships of a broker that shuts down.

    From 1.1 to 2.0 that broker itself gets no LeaderAndIsr and goes on as a leader until its
    process ends (`PartitionStateMachine.electLeaderForPartitions` at 2.0.1, KAFKA-7482).
    """
    registration = k.brokers.get(m.src)
    if registration is None or (
        k.profile.broker_generation and m.broker_epoch < registration.epoch
    ):
        out.send(ShutdownResponse(CONTROLLER, m.src, m.corr, STALE_BROKER_EPOCH, 0))
        return
    registration.shutting_down = True
    hosted = [
        tp
        for tp, record in k.records.items()
        if m.src in record.replicas and len(record.replicas) > 1
    ]
    led = [tp for tp in hosted if k.records[tp].leader == m.src]
    changed = [tp for tp in led if elect(k, tp, election.CONTROLLED_SHUTDOWN, out)]
    followed = [tp for tp in hosted if tp not in led]
    stops = [(tp, k.records[tp].leader_epoch, False) for tp in followed]
    take_offline(k, m.src, followed, out)
    if changed or followed:
        but = m.src if k.profile.leaving_leader_not_told else NO_BROKER
        tell_changes(k, [*changed, *followed], out, but=but)
    if stops:
        send_stop_replica(k, m.src, stops, out)
    remaining = sum(1 for tp in hosted if k.records[tp].leader == m.src)
    out.send(ShutdownResponse(CONTROLLER, m.src, m.corr, NONE, remaining))


def admin_elect(
    k: Controller,
    tp: int,
    strategy: int,
    out: Effects,
    unclean: bool | None = None,
    only: int | None = None,
) -> bool:
    """Run an operator's election; send the brokers any change.

    0.8.1 keeps each order for a preferred election noted and refuses the next one
    (`KafkaController.onPreferredReplicaElection`, KAFKA-1365).
    """
    if strategy == election.PREFERRED_REPLICA and k.profile.preferred_order_stays:
        if tp in k.preferred_orders:
            return False
        k.preferred_orders = (*k.preferred_orders, tp)
    changed = elect(k, tp, strategy, out, unclean=unclean, only=only)
    if changed:
        tell_changes(k, [tp], out)
    return changed


def set_configs(
    k: Controller, configs: Any, unclean_enabled: bool, out: Effects, of_cluster: bool = False
) -> None:
    """CP-UNCLEAN-TRIGGERS.  Set configurations; unclean election switched on elects at once.

    From 2.1 on, that is: before, `TopicConfigHandler.processConfigChanges` does not tell the
    controller, which reads the setting with its next election (KAFKA-6835).  The same goes for the
    default of all topics until 2.2.0, whose controller is notified too early
    (`DynamicBrokerConfig.updateCurrentConfig` at 2.2.0, KAFKA-7976).
    """
    k.configs = configs
    too_early = of_cluster and k.profile.default_noticed_late
    if unclean_enabled and k.profile.unclean_noticed_at_once and not too_early:
        elect_offline(k, out)


def elect_offline(k: Controller, out: Effects) -> None:
    """CP-UNCLEAN-TRIGGERS.  Try to elect leaders for the partitions without one."""
    for tp in list(k.records):
        if k.records[tp].leader < 0:
            admin_elect(k, tp, election.OFFLINE, out)


def on_preferred_check(k: Controller, out: Effects) -> bool:
    """CP-PREFERRED.  Elect for brokers with more lost leaderships than the percentage."""
    out.timer(CONTROLLER, k.configs.imbalance_check_ms, PREFERRED_CHECK)
    if not k.alive:
        return False
    tries = election.preferred_candidates_zk(
        k.records.items(), lambda b: is_live(k, b), k.configs.imbalance_percentage
    )
    changed = [tp for tp in tries if elect(k, tp, election.PREFERRED_REPLICA, out)]
    if changed:
        tell_changes(k, changed, out)
    return bool(changed)
