"""The cluster as a small JSON object: what the browser draws and the terminal prints."""

from __future__ import annotations

from itertools import islice
from typing import Any, Final

from engine.clients.clients import Producer
from engine.clients.consumers import RESETS, Consumer
from engine.dataplane import directories
from engine.dataplane.fetcher import thread_of
from engine.dataplane.purgatory import parked_on
from engine.dataplane.remote_lineage import is_within, with_records
from engine.dataplane.watermark import blocked_by, caught_up, eligible
from engine.model.broker import Broker, Process
from engine.model.cluster import Cluster
from engine.model.configs import UNLIMITED
from engine.model.errors import NONE, name_in, name_of
from engine.model.log import Batch, Log
from engine.model.messages import (
    CONTROLLER,
    FETCH_R,
    FIRST_CONSUMER,
    FIRST_PRODUCER,
    FIRST_VOTER,
    GROUP_HEARTBEAT,
    GROUP_HEARTBEAT_R,
    HEARTBEAT,
    HEARTBEAT_R,
    METADATA_FETCH,
    NAMES,
    REPLIES,
)
from engine.model.quorum import NO_VOTER, STATE_NAMES, Quorum, Voter
from engine.model.quotas import TOPIC, Quotas
from engine.model.records import PartitionRecord
from engine.model.remote_log import RemoteSegment, RemoteStore
from engine.model.sessions import Session
from engine.model.state import (
    COMMITTED,
    EXPAND,
    FETCHING,
    LEADER,
    ROLE_NAMES,
    TRUNCATING,
    UP,
    DirectoryMove,
    Replica,
)
from engine.replay.view_cache import MESSAGES_SHOWN, WAITING_SHOWN, ViewCache, last_of, window
from engine.sim.simulation import Simulation
from engine.view.fields import carried, fields_of
from engine.view.groups import groups_view
from engine.view.records import record_views
from engine.view.shown_partitions import shown_partitions
from engine.view.wire import (
    BrokerView,
    ClientView,
    CopyState,
    CutDirection,
    Fetching,
    FetchSession,
    FetchState,
    Future,
    IsrChange,
    LedgerView,
    LinkView,
    Message,
    MetadataEntry,
    ObserverView,
    PartitionView,
    QuorumView,
    RemoteSegmentView,
    ReplicaView,
    StoreView,
    View,
    VoterView,
    Waiting,
)


def node_name(node: int) -> int | str:
    """Return a node's name: brokers are numbers; the rest has names: K, K1 its voter, P1, C1."""
    if node >= 0:
        return node
    if node == CONTROLLER:
        return "K"
    if node > FIRST_PRODUCER:
        return voter_name(node)
    if node <= FIRST_CONSUMER:
        return f"C{FIRST_CONSUMER - node + 1}"
    return f"P{FIRST_PRODUCER - node + 1}"


def view(
    sim: Simulation,
    cut: dict[tuple[int, int], tuple[Batch, ...]] | None = None,
    recall: ViewCache | None = None,
) -> View:
    """Return the whole cluster now.  `cut`: what the last event truncated, (broker, tp) -> batches.

    `recall` is what the last view of this very simulation found, where there was one.
    """
    k = sim.cluster.controller
    recall = recall or ViewCache()
    there, rest = shown_partitions(sim)
    shown = window(sum(len(record.replicas) for _, record, _ in there))
    drawn = _under_way(sim)
    made: View = {
        "t": sim.now,
        "fetching": "auto" if sim.auto else "manual",
        "mode": sim.profile.mode,
        "profile": sim.profile.name,
        "controller": {
            "alive": k.alive,
            "epoch": k.epoch,
            "waiting": len(k.answers),
        },
        "partitions": [
            _partition(sim, tp, record, state, cut or {}, recall, shown)
            for tp, record, state in there
        ],
        "brokers": [_broker(sim, broker) for broker in sim.brokers.values()],
        "links": _links(sim),
        "messages": [_message(sim, m) for m in drawn[:MESSAGES_SHOWN]],
        "clients": [_client(client) for client in sim.clients.values()],
        "ledger": _ledger(sim, recall),
    }
    if rest is not None:
        made["partitionsMore"] = rest
    if len(drawn) > MESSAGES_SHOWN:
        made["messagesMore"] = len(drawn) - MESSAGES_SHOWN
    if sim.cluster.quorum is not None:
        made["quorum"] = quorum_view(sim, sim.cluster.quorum)
    if sim.scenario.groups:
        made["groups"] = groups_view(sim)
    if sim.cluster.store is not None:
        made["store"] = store_view(sim.cluster, sim.cluster.store)
    return made


# -- partitions and replicas -----------------------------------------------------------------------


def _partition(
    sim: Simulation,
    tp: int,
    record: PartitionRecord,
    deleted: str,
    cut: dict[tuple[int, int], tuple[Batch, ...]],
    recall: ViewCache,
    most: int,
) -> PartitionView:
    logs = {
        b: sim.brokers[b].machine.disks[tp].log
        for b in record.replicas
        if tp in sim.brokers[b].machine.disks
    }
    shown: PartitionView = {
        "p": tp,
        "name": sim.cluster.names[tp],
        "ar": list(record.replicas),
        "minIsr": sim.cluster.controller.min_isr_for(tp),
        "record": {
            "leader": record.leader,
            "le": record.leader_epoch,
            "pe": record.partition_epoch,
            "isr": list(record.isr),
            "elr": list(record.elr),
            "lastKnown": list(record.last_known_elr),
            "recovering": record.recovering,
            "adding": list(record.adding),
            "removing": list(record.removing),
        },
        "same": recall.same_prefix(list(logs.values())),
        "differ": recall.differing(list(logs.values())),
        "replicas": {
            str(b): _replica(sim, sim.brokers[b], tp, cut.get((b, tp), ()), recall, most)
            for b in record.replicas
        },
    }
    if deleted:
        shown["gone"] = deleted
    return shown


def _replica(
    sim: Simulation, broker: Broker, tp: int, cut: tuple[Batch, ...], recall: ViewCache, most: int
) -> ReplicaView:
    acked = recall.acked(sim, tp)
    process, disk = broker.process, broker.machine.disks.get(tp)
    replica = None if process is None else process.replicas.get(tp)
    log = disk.log if disk is not None else Log()
    shown: ReplicaView = {
        "role": "none" if replica is None else ROLE_NAMES[replica.role],
        "start": log.log_start,
        "leo": log.leo,
        "hw": log.hw if replica is not None else min(disk.hw_checkpoint if disk else 0, log.leo),
        "hwCheckpoint": disk.hw_checkpoint if disk else 0,
        "flushed": log.flushed,
        "epochs": log.epochs.entries(),
        "epochStart": None,
        "belief": {"leader": -1, "le": -1, "pe": -1},
        "runs": recall.stretches(log, broker.id, tp),
        "records": record_views(sim, tp, last_of(log.batches, most), acked)[-most:],
        "cut": record_views(sim, tp, cut[:most], acked)[:most],
        "fetch": {"state": "idle", "offset": log.leo, "waiting": False},
        "remote": {},
        "isr": [],
        "maximal": [],
        "pending": None,
        "blocks": [],
        "waiting": [],
    }
    if log.local_start > log.log_start:
        shown["local"] = log.local_start
    if broker.machine.dirs > 1 and disk is not None:
        shown["dir"] = directories.name(disk.dir)
    if tp in broker.machine.futures:
        shown["future"] = _future(broker.machine.futures[tp])
    if process is None or replica is None:
        lost = process is None or (disk is not None and disk.dir in broker.machine.broken)
        shown["role"] = "offline" if lost else "none"
        return shown
    shown["belief"] = {
        "leader": replica.leader,
        "le": replica.leader_epoch,
        "pe": replica.partition_epoch,
    }
    if replica.role == LEADER:
        _add_leader(sim, process, replica, shown)
    else:
        shown["fetch"] = _fetch_state(sim, process, replica)
        thread = thread_of(process, tp)
        if thread is not None and thread.session is not None:
            shown["session"] = {"id": thread.session.session_id, "next": thread.session.epoch}
    if process.quotas is not None:
        _add_quota(sim.now, process.quotas, replica, shown)
    return shown


def _future(move: DirectoryMove) -> Future:
    """D-1.  Return the end of the log in the other directory."""
    log = move.disk.log
    state: CopyState = "truncating" if move.fetch.state == TRUNCATING else "fetching"
    return {
        "dir": directories.name(move.disk.dir),
        "leo": log.leo,
        "hw": log.hw,
        "epochs": log.epochs.entries(),
        "state": "asking" if move.asked and not move.accepted else state,
    }


def _add_quota(now: int, quotas: Quotas, replica: Replica, shown: ReplicaView) -> None:
    """Add the measured rate of a throttled replica, the limit, and the waiting followers.

    Measuring clears old samples, so a copy is measured.
    """
    leads = replica.role == LEADER
    quota = quotas.leader if leads else quotas.follower
    if quota.limit < UNLIMITED and quota.is_throttled(TOPIC, replica.tp):
        held = [follower for tp, follower in quotas.held if tp == replica.tp]
        shown["throttled"] = {
            "rate": round(quota.copy().per_second(now)),
            "limit": quota.limit,
            "held": sorted(follower for follower in held if (follower != replica.broker) == leads),
        }


def _fetch_state(sim: Simulation, broker: Process, replica: Replica) -> Fetching:
    if replica.tp in broker.failed:
        return {"state": "failed", "offset": replica.log.leo, "waiting": False}
    thread = thread_of(broker, replica.tp)
    if thread is None:
        return {"state": "idle", "offset": replica.log.leo, "waiting": False}
    state = thread.partitions[replica.tp]
    name: FetchState = "fetching" if state.state == FETCHING else "truncating"
    shown: Fetching = {
        "state": "delayed" if state.delay_until > sim.now else name,
        "offset": state.offset,
        "waiting": thread.outstanding != 0,
    }
    if state.delay_until > sim.now:
        shown["delayUntil"] = state.delay_until
    if state.last_epoch >= 0:
        shown["lastEpoch"] = state.last_epoch
    if state.lag is not None:
        shown["lag"] = state.lag
    return shown


def _add_leader(sim: Simulation, broker: Process, replica: Replica, shown: ReplicaView) -> None:
    lag = replica.configs.lag_time_max_ms
    shown["epochStart"] = replica.epoch_start
    shown["isr"] = list(replica.isr)
    shown["maximal"] = list(replica.maximal_isr)
    shown["blocks"] = blocked_by(broker, replica, sim.now)
    shown["remote"] = {
        str(follower): {
            "leo": remote.leo,
            "start": remote.log_start,
            "caughtUp": max(remote.last_caught_up_ms, -1),
            "inSync": caught_up(remote, replica.log.leo, sim.now, lag),
            "eligible": eligible(broker, follower, remote),
        }
        for follower, remote in replica.remote.items()
    }
    if replica.pending != COMMITTED:
        who = sorted(set(replica.pending_isr).symmetric_difference(replica.isr))
        kind: IsrChange = "expand" if replica.pending == EXPAND else "shrink"
        shown["pending"] = {"kind": kind, "who": who}
    produces: list[Waiting] = [
        {
            "id": ", ".join(waiting.request.values),
            "kind": "produce",
            "needs": waiting.required,
            "from": node_name(waiting.request.src),
            "due": waiting.deadline,
        }
        for waiting in replica.waiting[:WAITING_SHOWN]
    ]
    fetches: list[Waiting] = [
        {
            "id": f"fetch {node_name(parked.request.src)}",
            "kind": "fetch",
            "from": node_name(parked.request.src),
            "due": parked.deadline,
        }
        for parked in parked_on(broker, replica.tp)
    ]
    shown["waiting"] = produces + fetches
    if len(replica.waiting) > WAITING_SHOWN:
        shown["waitingMore"] = len(replica.waiting) - WAITING_SHOWN


# -- brokers, links, messages ----------------------------------------------------------------------


def _broker(sim: Simulation, broker: Broker) -> BrokerView:
    registration = sim.cluster.controller.brokers.get(broker.id)
    left = None
    if registration is not None and not registration.fenced:
        left = registration.last_contact + sim.configs.session_timeout_ms - sim.now
    process, machine, alive = broker.process, broker.machine, broker.status
    if process is not None and process.status == UP and process.shutting_down:
        alive = "shutting"
    shown: BrokerView = {
        "id": broker.id,
        "name": broker.name,
        "rack": machine.rack,
        "alive": alive,
        "fenced": registration is None or registration.fenced,
        "brokerEpoch": -1 if process is None else process.broker_epoch,
        "clean": machine.clean_epoch >= 0,
        "session": left,
    }
    if machine.dirs > 1:
        shown["dirs"] = [
            {"name": directories.name(number), "failed": number in machine.broken}
            for number in range(1, machine.dirs + 1)
        ]
    if machine.disk_rate:
        written = 0 if process is None else -(-process.disk_free_us // 1_000)
        shown["disk"] = {"rate": machine.disk_rate, "busy": max(0, written - sim.now)}
    fetchers = machine.configs.fetchers if process is None else process.num_fetchers
    if fetchers > 1:
        shown["fetchers"] = fetchers
    if process is not None and process.sessions is not None:
        shown["fetchSessions"] = [
            _session(session) for session in process.sessions.sessions.values()
        ]
    return shown


def _session(session: Session) -> FetchSession:
    return {
        "id": session.id,
        "of": None if session.owner is None else node_name(session.owner),
        "next": session.epoch,
        "partitions": [partition for _, partition in session.partitions],
    }


def _links(sim: Simulation) -> list[LinkView]:
    links: dict[tuple[int, int], LinkView] = {}
    for (src, dst), link in sim.network.links.items():
        a, b = max(src, dst), min(src, dst)
        shown = links.setdefault(
            (a, b),
            {
                "a": node_name(a),
                "b": node_name(b),
                "cut": "none",
                "delay": 0,
                "loss": 0.0,
                "held": False,
            },
        )
        shown["delay"] = max(shown["delay"], link.delay)
        shown["loss"] = max(shown["loss"], link.loss)
        if link.cut:
            way: CutDirection = "a>b" if src == a else "b>a"
            shown["cut"] = way if shown["cut"] == "none" else "both"
    for broker in sorted(sim.network.held_metadata | sim.network.held_alter):
        key = (broker, CONTROLLER)
        shown = links.setdefault(
            key,
            {
                "a": broker,
                "b": "K",
                "cut": "none",
                "delay": 0,
                "loss": 0.0,
                "held": False,
            },
        )
        shown["held"] = True
    return [links[key] for key in sorted(links)]


def _under_way(sim: Simulation) -> list[Any]:
    quiet = (HEARTBEAT, HEARTBEAT_R, METADATA_FETCH, GROUP_HEARTBEAT, GROUP_HEARTBEAT_R)
    return [m for m in sim.network.under_way() if m.kind not in quiet]


def _message(sim: Simulation, m: Any) -> Message:
    by_hand = m in sim.network.hands
    held = by_hand or m in sim.network.held
    shown: Message = {
        "id": m.id,
        "kind": NAMES[m.kind],
        "from": node_name(m.src),
        "to": node_name(m.dst),
        "reply": m.kind in REPLIES,
        "sent": m.sent,
        "due": None if held else m.due,
        "held": held,
        "deliverable": by_hand or not held,
        "fields": fields_of(m),
    }
    error = getattr(m, "error", NONE)
    if m.kind == FETCH_R and not error:
        data = m.partitions[0] if m.partitions else None
        if data is not None:
            shown["records"] = [batch.epoch for batch in data.batches]
            shown["carries"] = carried(data.batches)
            if data.error:
                shown["error"] = name_of(data.error)
    elif error:
        shown["error"] = name_of(error)
    for place in (shown, shown["fields"]):
        if "error" in place:
            place["error"] = name_in(sim.profile.release, place["error"])
    return shown


# -- clients and ledger ----------------------------------------------------------------------------


def _client(client: Any) -> ClientView:
    if isinstance(client, Producer):
        return {
            "id": node_name(client.id),
            "kind": "producer",
            "sent": client.sent,
            "acked": client.acked,
            "believes": client.leaders.get(0, -1),
            "waiting": [
                {"m": ", ".join(sent.values), "to": sent.to, "acks": sent.acks}
                for sent in islice(client.outstanding.values(), 8)
            ],
            "queued": len(client.queue),
        }
    assert isinstance(client, Consumer)
    return {
        "id": node_name(client.id),
        "kind": "consumer",
        "believes": client.leaders.get(client.tp, -1),
        "position": client.position,
        "epoch": client.position_epoch if client.position_epoch >= 0 else None,
        "reset": next(name for name, offset in RESETS.items() if offset == client.reset),
        "rack": client.rack or "",
        "preferred": client.preferred if client.preferred >= 0 else None,
        "failed": client.failed,
        "read": client.read,
        "waiting": [],
    }


def _ledger(sim: Simulation, recall: ViewCache) -> LedgerView:
    ledger = sim.ledger
    return {
        "sent": ledger.sent,
        "acked": recall.acked_in_all(sim),
        "committed": sum(ledger.hw_reached),
        "lost": sorted(ledger.lost)[:50],
        "lost1": sorted(ledger.lost_single)[:50],
        "seen": sum(len(values) for values in ledger.seen),
    }


def store_view(cluster: Cluster, store: RemoteStore) -> StoreView:
    """Return the segments of all partitions, as their current leaders see them."""
    shown = [
        _segment(cluster, tp, segment)
        for tp, remote in sorted(store.logs.items())
        for segment in remote.all_segments()
    ]
    return {"up": store.up, "slow": store.slow_ms, "segments": shown}


def _segment(cluster: Cluster, tp: int, segment: RemoteSegment) -> RemoteSegmentView:
    leader = cluster.current_leader(tp)
    log = None if leader is None else leader.log
    return {
        "p": tp,
        "first": segment.base,
        "last": segment.end - 1,
        "epochs": [list(entry) for entry in segment.epochs],
        "read": log is None or is_within(segment, log.leo, with_records(log.epochs)),
    }


ENTRIES_SHOWN: Final = 24
"""The last entries of a voter's log."""


def voter_name(node: int) -> str:
    """Return the name of a voter in a view: K1 is the first."""
    return f"K{FIRST_VOTER - node + 1}"


def _known(node: int) -> str | None:
    return None if node == NO_VOTER else voter_name(node)


def quorum_view(sim: Simulation, quorum: Quorum) -> QuorumView:
    """Return the voters in order, and what each broker knows and has applied."""
    return {
        "voters": [_voter(quorum, v) for v in quorum.voters.values()],
        "observers": [_observer(sim, quorum, broker) for broker in sim.brokers],
    }


def _voter(quorum: Quorum, v: Voter) -> VoterView:
    first = max(0, v.log.end - ENTRIES_SHOWN)
    entries: list[MetadataEntry] = [
        {"o": offset, "e": v.log.epoch_at(offset), "kind": str(v.log.records[offset][0])}
        for offset in range(first, v.log.end)
    ]
    return {
        "id": voter_name(v.id),
        "name": v.name,
        "alive": v.alive,
        "paused": v.paused,
        "state": STATE_NAMES[v.state] if v.state == LEADER or quorum.is_voter(v) else "observer",
        "active": v.controller is not None and v.controller.alive,
        "epoch": v.epoch,
        "votedFor": _known(v.voted_for),
        "leader": _known(v.leader),
        "end": v.log.end,
        "hw": v.hw,
        "entries": entries,
    }


def _observer(sim: Simulation, quorum: Quorum, broker: int) -> ObserverView:
    observer, process = quorum.observers[broker], sim.brokers[broker].process
    return {
        "b": broker,
        "leader": None if process is None else _known(observer.leader),
        "epoch": observer.epoch,
        "offset": 0 if process is None else process.metadata_offset,
    }
