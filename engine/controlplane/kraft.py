"""The KRaft controller: a metadata log and the rules that append to it (control-plane 1 - 6)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.controlplane import alter_partition, election, liveness
from engine.controlplane.elr import cleared, effective_min_isr, shutdown_was_clean
from engine.controlplane.membership import (
    R_CHANGE,
    R_CLEAR_ELR,
    R_CONFIG,
    R_PARTITION,
    R_REGISTER,
)
from engine.model.control_messages import (
    AlterPartitionRequest,
    AlterPartitionResponse,
    Heartbeat,
    HeartbeatResponse,
    MetadataFetch,
    MetadataRecords,
    RegisterRequest,
    RegisterResponse,
)
from engine.model.controller import Controller, Registration
from engine.model.effects import Effects
from engine.model.errors import (
    DUPLICATE_BROKER_REGISTRATION,
    NONE,
    STALE_BROKER_EPOCH,
)
from engine.model.messages import CONTROLLER, Message
from engine.model.quorum import R_NO_OP
from engine.model.records import PartitionChange
from engine.model.state import MAX_FETCH_WAIT_MS, NEVER
from engine.model.timers import (
    COMMIT,
    FENCE_CHECK,
    IDLE_RECORD,
    METADATA_WAIT,
    PREFERRED_CHECK,
    UNCLEAN_CHECK,
)

# -- the metadata log -----------------------------------------------------------------------------


def append(k: Controller, records: list[tuple[Any, ...]], out: Effects) -> None:
    """10(b).  Append records, visible once a majority has them, `commit_ms` later.

    10.1: where the voters are played, they decide when that is.
    """
    if not records:
        return
    k.log.extend(records)
    if k.voter:
        return
    if k.configs.commit_ms == 0:
        commit(k, len(k.log), out)
    else:
        out.timer(CONTROLLER, k.configs.commit_ms, COMMIT, (k.epoch, len(k.log)))


def on_commit(k: Controller, appended: tuple[int, int], out: Effects) -> bool:
    """10(b).  Commit what was appended, unless its controller is gone."""
    epoch, offset = appended
    return k.alive and epoch == k.epoch and commit(k, offset, out)


def commit(k: Controller, offset: int, out: Effects) -> bool:
    """Wake the brokers that wait for records, then send the answers that waited for them."""
    if offset <= k.committed:
        return False
    k.committed = offset
    for reader, (start, corr) in list(k.readers.items()):
        if start < offset:
            del k.readers[reader]
            out.send(MetadataRecords(CONTROLLER, reader, corr, start, k.log[start:offset]))
    waiting, k.answers = k.answers, []
    for needed, answer in waiting:
        if needed <= offset:
            out.send(answer)
        else:
            k.answers.append((needed, answer))
    return True


def answer_when_committed(k: Controller, answer: Message, out: Effects) -> None:
    """10(e).  Hold an answer about records until they are committed."""
    if k.committed == len(k.log):
        out.send(answer)
    else:
        k.answers.append((len(k.log), answer))


def on_metadata_fetch(k: Controller, m: MetadataFetch, out: Effects) -> None:
    """5.4.  Answer with the committed records new to the broker, at once or later."""
    if m.offset < k.committed:
        records = k.log[m.offset : k.committed]
        out.send(MetadataRecords(CONTROLLER, m.src, m.corr, m.offset, records))
    else:
        k.readers[m.src] = (m.offset, m.corr)


def expire_fetch(k: Controller, broker: int, out: Effects) -> None:
    """5.4.  Let the waiting fetch of a broker end after `MAX_FETCH_WAIT_MS` (`KafkaRaftClient`).

    Of a broker that runs the next fetch follows at once, so this is played only where none does:
    the process is paused, and gets everything in one answer when it goes on.
    """
    if broker in k.readers:
        _, corr = k.readers[broker]
        out.timer(CONTROLLER, MAX_FETCH_WAIT_MS, METADATA_WAIT, (broker, corr))


def on_metadata_wait(k: Controller, waits: tuple[int, int], out: Effects) -> bool:
    """5.4.  Answer a fetch without records that has waited long enough."""
    broker, expected = waits
    offset, corr = k.readers.get(broker, (0, 0))
    if corr != expected or not k.alive:
        return False
    del k.readers[broker]
    out.send(MetadataRecords(CONTROLLER, broker, corr, offset, ()))
    return True


# -- changing partitions --------------------------------------------------------------------------


def change(
    k: Controller,
    tp: int,
    out: Effects,
    target: election.Target | None = None,
    *,
    kind: int | None = None,
    acceptable: election.Acceptable | None = None,
) -> tuple[PartitionChange, list[tuple[Any, ...]]]:
    """CP-ELECT-KR.  Make one partition change: the outcome and the record to append, if any."""
    record = k.records[tp]
    if kind is None:
        kind = election.UNCLEAN if k.unclean_for(tp) else election.ONLINE
    result = election.change_partition(
        record,
        k.profile,
        target or election.Target(),
        acceptable=acceptable or k.acceptable(tp),
        min_isr=effective_min_isr(k.min_isr_for(tp), len(record.replicas)),
        elr=k.configs.elr,
        last_known_leader=k.configs.elr,
        election=kind,
    )
    if not result.changed:
        return result, []
    after = result.record
    k.records[tp] = after
    if after.leader != record.leader:
        if result.unclean:
            k.unclean_elections += 1
        out.cue("CP-ELECT-KR", CONTROLLER, f"leader {tp}", record.leader, after.leader, tp=tp)
    if after.isr != record.isr:
        out.cue("CP-ISR", CONTROLLER, f"isr {tp}", record.isr, after.isr, tp=tp)
    if after.elr != record.elr:
        out.cue("CP-ELR", CONTROLLER, f"elr {tp}", record.elr, after.elr, tp=tp)
    if record.reassigning and not after.reassigning:
        out.cue(
            "CP-REASSIGN.done", CONTROLLER, f"replicas {tp}", record.replicas, after.replicas, tp=tp
        )
    return result, [(R_PARTITION, tp, after)]


def registration_change(k: Controller, broker: int) -> tuple[Any, ...]:
    """Return the record with the changes of a registration."""
    registration = k.brokers[broker]
    return (
        R_CHANGE,
        broker,
        registration.epoch,
        registration.fenced,
        registration.shutting_down,
    )


# -- registration, heartbeats, fencing ------------------------------------------------------------


def on_register(k: Controller, m: RegisterRequest, out: Effects) -> None:
    """CP-KR-REG.  Register a broker with a new epoch, unless another incarnation's session lives.

    A process that registers again keeps its epoch: from 3.9 on that only amends what is known of
    it.  A session that ends now ends first (`KafkaEventQueue` takes what is due before the rest).
    """
    on_fence_check(k, out)
    registered = k.brokers.get(m.src)
    if (
        registered is not None
        and registered.incarnation != m.incarnation
        and liveness.has_valid_session(
            registered, out.now, k.configs.session_timeout_ms, k.profile.fenced_has_no_session
        )
    ):
        error = DUPLICATE_BROKER_REGISTRATION
        out.send(RegisterResponse(CONTROLLER, m.src, m.corr, error, -1))
        return
    records: list[tuple[Any, ...]] = []
    amended: Registration | None = None
    if registered is not None:
        if registered.incarnation == m.incarnation and k.profile.same_incarnation_keeps_epoch:
            amended = registered
        else:
            records += _clean_up_incarnation(k, m, registered, out)
    epoch = amended.epoch if amended else len(k.log) + len(records)
    rack = m.rack or (registered.rack if registered else "")
    registration = Registration(epoch, m.incarnation, rack, out.now)
    if amended:
        registration.fenced, registration.shutting_down = amended.fenced, amended.shutting_down
    _note_directories(k, m, registration)
    k.brokers[m.src] = registration
    k.readers.pop(m.src, None)
    state = (registration.fenced, registration.shutting_down)
    records.append((R_REGISTER, m.src, epoch, *state))
    append(k, records, out)
    answer = RegisterResponse(CONTROLLER, m.src, m.corr, NONE, epoch)
    answer_when_committed(k, answer, out)
    arm_fence_check(k, out)


def _note_directories(k: Controller, m: RegisterRequest, registration: Registration) -> None:
    """CP-KR-REG, KIP-858.  Note the failed directories of a broker.

    The replicas on them are offline; an empty directory in place of a failed one has no replicas.
    """
    registration.lost_dirs = m.lost_dirs
    for broker, tp in [pair for pair in k.offline if pair[0] == m.src]:
        if k.directories.get((broker, tp)) not in m.lost_dirs:
            k.offline.discard((broker, tp))
    for (broker, tp), directory in k.directories.items():
        if broker == m.src and directory in m.lost_dirs:
            k.offline.add((broker, tp))


def _clean_up_incarnation(
    k: Controller, m: RegisterRequest, registration: Registration, out: Effects
) -> list[tuple[Any, ...]]:
    """CP-CLEAN-SHUTDOWN 6.6.  Clean up after the former incarnation, above all the ELR.

    Before 4.0 a registration leaves the ISRs as they are, also of a broker that is not fenced yet
    (`ClusterControlManager.registerBroker` at 3.9.1).
    """
    records: list[tuple[Any, ...]] = []
    if not registration.fenced and k.profile.elr_available:
        records += fence(k, m.src, out)
    if k.configs.elr and not shutdown_was_clean(registration.epoch, m.previous_epoch):
        records += lose_uncleanly(k, m.src, out)
    return records


def lose_uncleanly(k: Controller, broker: int, out: Effects) -> list[tuple[Any, ...]]:
    """6.6.  Take a broker out of ISR and ELR: it may have lost its unflushed tail."""
    records: list[tuple[Any, ...]] = []
    for tp, record in k.records.items():
        if broker in record.isr or broker in record.elr:
            records += change(
                k,
                tp,
                out,
                election.Target(
                    isr=tuple(b for b in record.isr if b != broker), unclean_shutdown=(broker,)
                ),
                acceptable=_all_but(broker, k.acceptable(tp)),
            )[1]
    return records


def _all_but(broker: int, acceptable: election.Acceptable) -> election.Acceptable:
    return lambda b: b != broker and acceptable(b)


def on_heartbeat(k: Controller, m: Heartbeat, out: Effects) -> None:
    """CP-KR-HB.  Refresh the session and walk the broker's state machine.

    A heartbeat response without news for a healthy broker is not sent.
    """
    registration = k.brokers.get(m.src)
    if registration is None or registration.epoch != m.broker_epoch:
        answer = HeartbeatResponse(
            CONTROLLER, m.src, m.corr, STALE_BROKER_EPOCH, False, True, False
        )
        out.send(answer)
        return
    caught_up = m.metadata_offset > registration.registered_at
    before = liveness.state_of(registration)
    after = liveness.next_state(
        k.brokers,
        registration,
        want_fence=m.want_fence,
        want_shutdown=m.want_shutdown,
        caught_up=caught_up,
        leads=(m.want_shutdown or registration.shutting_down) and _leads(k, m.src),
    )
    news = registration.fenced or m.want_fence or m.want_shutdown or bool(m.offline_dirs)
    if after == liveness.SHUTDOWN_NOW or after < before:
        if before != liveness.FENCED:
            append(k, fence(k, m.src, out), out)
    elif after == liveness.UNFENCED and before == liveness.FENCED:
        unfence(k, m.src, out)
    elif after == liveness.CONTROLLED_SHUTDOWN and before == liveness.UNFENCED:
        begin_controlled_shutdown(k, m.src, out)
    shut_down = after == liveness.SHUTDOWN_NOW
    is_fenced = shut_down or after == liveness.FENCED
    liveness.touch(registration, is_fenced, m.metadata_offset, out.now)
    if news:
        answer = HeartbeatResponse(CONTROLLER, m.src, m.corr, NONE, caught_up, is_fenced, shut_down)
        answer_when_committed(k, answer, out)
    arm_fence_check(k, out)


def _leads(k: Controller, broker: int) -> bool:
    return any(record.leader == broker for record in k.records.values())


def begin_controlled_shutdown(k: Controller, broker: int, out: Effects) -> None:
    """CP-KR-SHUTDOWN 1 - 3.  Take the broker out of every ISR, with elections where it led.

    It may go once it leads nothing and every active broker has applied this batch.
    """
    registration = k.brokers[broker]
    if not liveness.enter_controlled_shutdown(registration):
        return
    records = [registration_change(k, broker)]
    records += _leave_isrs(k, broker, out)
    liveness.note_shutdown(registration, len(k.log) + len(records))
    out.cue("CP-KR-SHUTDOWN", CONTROLLER, "broker", None, "controlled shutdown", about=broker)
    append(k, records, out)


def _leave_isrs(k: Controller, broker: int, out: Effects) -> list[tuple[Any, ...]]:
    records: list[tuple[Any, ...]] = []
    for tp, record in k.records.items():
        if broker in record.isr:
            isr = tuple(b for b in record.isr if b != broker)
            records += change(k, tp, out, election.Target(isr=isr))[1]
    return records


def fence(k: Controller, broker: int, out: Effects) -> list[tuple[Any, ...]]:
    """CP-KR-FENCE.  Take a broker out of every ISR and elect where it led; its epoch stays."""
    liveness.fence(k.brokers[broker])
    out.cue("CP-KR-FENCE", CONTROLLER, "broker", "unfenced", "fenced", about=broker)
    records = _leave_isrs(k, broker, out)
    records.append(registration_change(k, broker))
    return records


def unfence(k: Controller, broker: int, out: Effects) -> None:
    """CP-KR-UNFENCE.  Unfence a broker; only partitions without a leader change."""
    registration = k.brokers[broker]
    registration.fenced = False
    out.cue("CP-KR-UNFENCE", CONTROLLER, "broker", "fenced", "unfenced", about=broker)
    records = [registration_change(k, broker)]
    for tp, record in k.records.items():
        if record.leader < 0:
            records += change(k, tp, out)[1]
    append(k, records, out)


def resume(k: Controller, out: Effects) -> None:
    """10(f).  Start the sessions of all unfenced brokers for a new active controller.

    In 4.0.0 also those of the fenced ones (KAFKA-19130).  Until 3.9 no session expires before a
    heartbeat or a registration arrives: they alone set the timer
    (`QuorumController.rescheduleMaybeFenceStaleBrokers` at 3.9.1).
    """
    for registration in k.brokers.values():
        counts = k.profile.fenced_counts_as_heard or not registration.fenced
        registration.last_contact = out.now if counts else NEVER
    k.readers.clear()
    k.answers.clear()
    if k.profile.fence_check_periodic:
        arm_fence_check(k, out)


def arm_fence_check(k: Controller, out: Effects) -> None:
    """CP-KR-FENCE.  Set the timer past the next session (4.x: up to an eighth later).

    A session that is over already ends before anything else is handled: until 3.9, where this is
    the first sign of a broker since a fail-over.
    """
    due = liveness.next_check(k.brokers, k.configs.session_timeout_ms)
    if due < 0 or k.check_at >= out.now:
        return
    due += 1
    period = k.configs.fence_check_ms
    if period:
        due = -(-due // period) * period
    k.check_at = max(due, out.now)
    if due <= out.now:
        on_fence_check(k, out)
    else:
        out.timer(CONTROLLER, due - out.now, FENCE_CHECK)


def on_fence_check(k: Controller, out: Effects) -> bool:
    """CP-KR-FENCE.  Fence the one broker that is silent longest, then check again.

    10(d): without an active controller no broker is fenced; a timer of a former one is void.
    """
    if k.check_at == NEVER or k.check_at > out.now or not k.alive:
        return False
    k.check_at = NEVER
    timeout = k.configs.session_timeout_ms
    silent = liveness.stale(k.brokers, out.now, timeout)
    if silent >= 0:
        append(k, fence(k, silent, out), out)
    if liveness.stale(k.brokers, out.now, timeout) >= 0:
        k.check_at = out.now
        out.timer(CONTROLLER, 0, FENCE_CHECK)
    else:
        arm_fence_check(k, out)
    return silent >= 0


# -- AlterPartition -------------------------------------------------------------------------------


def on_alter_partition(k: Controller, m: AlterPartitionRequest, out: Effects) -> None:
    """CP-ALTER.  Validate each item, change what may be changed, answer after the commit."""
    registration = k.brokers.get(m.src)
    current = None if registration is None else registration.epoch
    error = alter_partition.check_sender(current, m.broker_epoch)
    if error:
        out.send(AlterPartitionResponse(CONTROLLER, m.src, m.corr, error, ()))
        return
    answers = []
    records: list[tuple[Any, ...]] = []
    for item in m.items:
        record = k.records.get(item.tp)
        if record is None:
            error = alter_partition.missing(k, item, m.version)
        else:
            error = alter_partition.check_kr(
                record,
                item,
                m.src,
                k.brokers,
                version=m.version,
                isr_eligibility=k.profile.isr_eligibility,
                isr_broker_epoch=k.profile.isr_broker_epoch,
            )
        if error:
            answers.append(alter_partition.refused(item.tp, error))
            out.cue("CP-ALTER", CONTROLLER, f"alter {item.tp}", m.src, error, tp=item.tp)
            continue
        isr = tuple(b for b, _ in item.isr)
        result, new = change(k, item.tp, out, election.Target(isr=isr, recovering=item.recovering))
        records += new
        error = alter_partition.answer_kr(result, m.src, m.version)
        answers.append(alter_partition.answered(item.tp, error, result.record))
    append(k, records, out)
    answer_when_committed(k, AlterPartitionResponse(CONTROLLER, m.src, m.corr, NONE, answers), out)


# -- admin ----------------------------------------------------------------------------------------


def elect(k: Controller, tp: int, kind: int, out: Effects) -> PartitionChange:
    """Run ElectLeaders (KIP-460): PREFERRED or UNCLEAN."""
    result, records = change(k, tp, out, kind=kind)
    append(k, records, out)
    return result


def move_leadership(k: Controller, tp: int, broker: int, out: Effects) -> PartitionChange:
    """Move the leadership as a preferred election would if `broker` stood first in AR."""
    result, records = change(k, tp, out, kind=election.ONLINE, acceptable=lambda b: b == broker)
    append(k, records, out)
    return result


def set_configs(k: Controller, configs: Any, min_isr_changed: bool, out: Effects) -> None:
    """Write config records.  A changed min.insync.replicas clears every ELR (CP-ELR, ClearElr).

    A topic's setting that gets the value it has is no change: `ConfigurationControlManager` writes
    no record, and `createClearElrRecordsAsNeeded` looks at these records (4.4.0).
    """
    k.configs = configs
    records: list[tuple[Any, ...]] = [(R_CONFIG, configs)]
    if min_isr_changed and configs.elr:
        records.append(clear_elr(k, k.records, out))
    append(k, records, out)


def clear_elr(k: Controller, tps: Iterable[int], out: Effects) -> tuple[Any, ...]:
    """CP-ELR 6.4, ClearElr.  Clear these ELRs and return the one record that says so.

    There is no record of a partition: both epochs stay, and a leader's high watermark with them
    until its next event.
    """
    partitions = tuple(tps)
    for tp in partitions:
        before = k.records[tp]
        after = k.records[tp] = cleared(before)
        if after.elr != before.elr:
            out.cue("CP-ELR", CONTROLLER, f"elr {tp}", before.elr, after.elr, tp=tp)
    return R_CLEAR_ELR, partitions


def on_preferred_check(k: Controller, out: Effects) -> bool:
    """CP-PREFERRED.  Try every partition not led by AR[0]."""
    out.timer(CONTROLLER, k.configs.imbalance_check_ms, PREFERRED_CHECK)
    if not k.alive:
        return False
    records: list[tuple[Any, ...]] = []
    for tp in election.preferred_candidates_kr(k.records.items()):
        records += change(k, tp, out, kind=election.PREFERRED)[1]
    append(k, records, out)
    return bool(records)


def on_idle_record(k: Controller, out: Effects) -> bool:
    """10.1.  Append a NoOp record, in every interval (`QuorumController.writeNoOpRecord`, KIP-835).

    Brokers learn with it that the records before it are committed.
    """
    out.timer(CONTROLLER, k.configs.max_idle_ms, IDLE_RECORD)
    append(k, [(R_NO_OP,)], out)
    return True


def on_unclean_check(k: Controller, out: Effects) -> bool:
    """CP-UNCLEAN-TRIGGERS, from 3.9.  Try leaderless partitions again."""
    out.timer(CONTROLLER, k.configs.unclean_interval_ms, UNCLEAN_CHECK)
    if not k.alive:
        return False
    records: list[tuple[Any, ...]] = []
    for tp, record in k.records.items():
        if record.leader < 0:
            records += change(k, tp, out)[1]
    append(k, records, out)
    return bool(records)
