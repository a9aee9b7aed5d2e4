"""Fields of a cluster that distinguish two states, and those that do not.

Every field of each class is part of a key, or stands here with the reason why not.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Final

from engine.checks.checker import Checker
from engine.checks.ledger import Ledger
from engine.clients.clients import Producer, SentRecord
from engine.clients.consumers import Consumer
from engine.clients.group_member import GroupMember
from engine.clients.idempotent import IdempotentProducer
from engine.clients.reconciling_member import ReconcilingMember
from engine.model.broker import Machine, Process
from engine.model.controller import Controller, Registration
from engine.model.copying import fields
from engine.model.groups import Group, GroupEntry
from engine.model.log import Batch, Log
from engine.model.quorum import Observer, Quorum, Voter, VoterProgress
from engine.model.records import PartitionRecord
from engine.model.remote_log import RemoteSegment
from engine.model.state import (
    DelayedFetch,
    DelayedProduce,
    Disk,
    FetcherThread,
    PartitionFetchState,
    Peer,
    RemoteReplica,
    Replica,
)
from engine.sim.network import Link, Network

TIME: Final = "a time: what must pass is a choice of its own"
COUNT: Final = "a count that nothing asks for"
IMPLIED: Final = "what need not be visited: it follows from the rest"
FIXED: Final = "the same in every state of a search"
ELSEWHERE: Final = "said elsewhere in the key"

LEFT_OUT: Final[dict[type, dict[str, str]]] = {
    Machine: {
        **dict.fromkeys(("auto_fetch", "configs", "dirs", "disk_rate", "futures", "id"), FIXED),
        "read_rate": FIXED,
        **dict.fromkeys(("name", "profile", "rack", "racks", "topic_configs", "topics"), FIXED),
        "store": ELSEWHERE,
        **dict.fromkeys(("corr", "incarnation"), COUNT),
    },
    Process: {
        **dict.fromkeys(("configs", "copying", "dir_quota", "id", "num_fetchers"), FIXED),
        **dict.fromkeys(("preferred_dirs", "profile", "quotas", "sessions"), FIXED),
        **dict.fromkeys(("heartbeat_due", "disk_free_us", "purgatory_wake"), TIME),
        **dict.fromkeys(("isr_changed_at", "isr_told_at", "dir_due", "register_attempt"), TIME),
        **dict.fromkeys(("incarnation", "shutdown_attempt"), COUNT),
        **dict.fromkeys(("last_fetches", "opened"), IMPLIED),
        "machine": ELSEWHERE,
        **dict.fromkeys(("log_start_armed", "retention_armed"), FIXED),
    },
    Replica: {
        **dict.fromkeys(("broker", "configs", "profile", "tp"), FIXED),
        **dict.fromkeys(("disk", "log", "opened"), ELSEWHERE),
    },
    Disk: {"dir": FIXED},
    Log: {
        "bases": ELSEWHERE,
        **dict.fromkeys(("clamps_hw", "cleans_on_noop", "segment_records"), FIXED),
        "cuts": COUNT,
    },
    RemoteReplica: {"last_fetch": IMPLIED},
    FetcherThread: {"waking": TIME, "session": FIXED, "sent": IMPLIED},
    PartitionFetchState: {"delay_until": TIME, "lag": "only quotas ask for it"},
    Peer: {},
    DelayedFetch: {"deadline": TIME, "tps": ELSEWHERE, "last": IMPLIED},
    DelayedProduce: {"deadline": TIME},
    Controller: {
        **dict.fromkeys(("configs", "profile", "topics", "next_partition"), FIXED),
        "check_at": TIME,
        **dict.fromkeys(("next_broker_epoch", "unclean_elections"), COUNT),
    },
    Registration: {
        "last_contact": TIME,
        "rack": FIXED,
        "incarnation": COUNT,
    },
    Network: {
        **dict.fromkeys(("by_hand", "chance", "control_delay", "data_delay", "kernel"), FIXED),
        **dict.fromkeys(("md_delay", "settings"), FIXED),
        "last_due": TIME,
        "lost": COUNT,
        "plain": ELSEWHERE,
        "running": ELSEWHERE,
        "unanswered": "empty after every event",
    },
    Link: {},
    Producer: {
        **dict.fromkeys(("acks", "backoff_ms", "brokers", "chance", "delivery_ms", "id"), FIXED),
        **dict.fromkeys(("interval", "pace", "partition", "partitions", "retries"), FIXED),
        **dict.fromkeys(("stop_at", "ticking", "timeout"), FIXED),
        **dict.fromkeys(("acked", "corr", "made", "sent"), COUNT),
    },
    SentRecord: {"created": TIME},
    Consumer: {
        **dict.fromkeys(("backoff_ms", "brokers", "id", "max_age_ms", "rack", "reset"), FIXED),
        **dict.fromkeys(("sessions", "validates", "wait_ms"), FIXED),
        "preferred_until": TIME,
        **dict.fromkeys(("corr", "read"), COUNT),
    },
    Group: {},
    GroupEntry: {},
    Ledger: {
        **dict.fromkeys(("isr_expands", "isr_shrinks", "sent", "truncated"), COUNT),
        **dict.fromkeys(("committed_lost", "elections_clean"), COUNT),
        **dict.fromkeys(("elections_last_known", "elections_unclean"), COUNT),
        **dict.fromkeys(("leaderless", "uncontrolled", "unwritable"), TIME),
    },
    Quorum: {"images": "what the logs say", **dict.fromkeys(("dynamic", "static"), FIXED)},
    Voter: {
        **dict.fromkeys(("check_ms", "id", "name"), FIXED),
        **dict.fromkeys(("attempt", "check_at", "deadline", "election_ends", "retries"), TIME),
        "corr": COUNT,
        "since": "said of the messages",
    },
    VoterProgress: {},
    Observer: dict.fromkeys(("asked", "attempt"), TIME),
    Checker: {
        **dict.fromkeys(("cluster", "lags", "step"), FIXED),
        **dict.fromkeys(("ledger", "records"), ELSEWHERE),
        "broken": "told: which are broken, not when",
        "counts": COUNT,
    },
}
"""Fields of each class that are no part of a key, with the reason."""
LEFT_OUT[IdempotentProducer] = LEFT_OUT[Producer]
LEFT_OUT[GroupMember] = {
    **LEFT_OUT[Consumer],
    **dict.fromkeys(("auto_ms", "beats_every_ms", "commits_first", "group", "max_poll_ms"), FIXED),
    **dict.fromkeys(("cooperative", "instance", "reads_on", "topic"), FIXED),
    **dict.fromkeys(("delivering", "facts", "goes_on"), "empty after every event"),
    "asked_at": TIME,
}
LEFT_OUT[ReconcilingMember] = LEFT_OUT[GroupMember]

SPOKEN_FOR: Final[dict[type, tuple[str, ...]]] = {
    Machine: ("clean_epoch", "disks"),
    Process: (
        *("alter_corr", "assign_corr", "metadata_corr", "registered_corr", "dir_report"),
        *("broker_epoch", "fetchers", "image", "metadata_offset"),
        *("parked", "peers", "replicas", "alter_queue", "groups"),
    ),
    Replica: ("remote", "waiting"),
    Disk: ("log",),
    Log: ("batches", "epochs", "producers"),
    RemoteReplica: ("broker_epoch", "caught_up_ms", "fetched_ms"),
    FetcherThread: ("outstanding", "partitions"),
    PartitionFetchState: ("stale",),
    Peer: ("broker_epoch",),
    DelayedFetch: ("request",),
    DelayedProduce: ("request",),
    Controller: ("answers", "brokers", "committed", "deletions", "log", "readers", "records"),
    Registration: ("epoch", "metadata_offset", "registered_at", "shutdown_at", "unsent"),
    Network: ("hands", "held", "links", "open"),
    Link: (),
    Producer: ("next_broker", "outstanding", "queue", "unsent"),
    SentRecord: (),
    Consumer: ("next_broker", "outstanding"),
    Group: ("members",),
    GroupEntry: ("joining",),
    Ledger: ("acked", "committed", "seen"),
    Quorum: ("chance", "observers", "voters"),
    Voter: ("controller", "fetching", "log", "parked", "progress"),
    VoterProgress: (),
    Observer: (),
    Checker: ("seen",),
}
"""Fields that a function below turns into something comparable."""
SPOKEN_FOR[IdempotentProducer] = SPOKEN_FOR[Producer]
SPOKEN_FOR[GroupMember] = ("beat_corr", "group_corr", "next_broker", "outstanding")
SPOKEN_FOR[ReconcilingMember] = SPOKEN_FOR[GroupMember]


def frozen(value: Any) -> Any:
    """Return a value whose parts may be lists, sets and dictionaries of plain things."""
    kind = type(value)
    if kind is int or kind is str or kind is bool or value is None or kind is float:
        return value
    if kind is tuple or kind is list:
        if not value:
            return ()
        for part in value:
            kind = type(part)
            if kind is not int and kind is not str and kind is not bool and part is not None:
                return tuple([frozen(part) for part in value])
        return tuple(value)
    if isinstance(value, dict):
        if not value:
            return ()
        return tuple([(key, frozen(part)) for key, part in sorted(value.items())])
    if isinstance(value, (set, frozenset)):
        return tuple(sorted(value))
    if kind is Batch:
        return batch_key(value)
    if kind is PartitionRecord:
        return value.key()
    if kind is RemoteSegment:
        return value.base, value.end, frozen(value.batches), value.checkpoint
    return kind.__name__, tuple([(name, frozen(getattr(value, name))) for name in fields(kind)])


def _plain(kind: type) -> Callable[[Any], tuple[Any, ...]]:
    """Return the fields that stand for themselves."""
    names = sorted(set(fields(kind)) - set(LEFT_OUT[kind]) - set(SPOKEN_FOR[kind]))
    if not names:
        return lambda state: ()
    if len(names) == 1:
        get = attrgetter(names[0])
        return lambda state: (frozen(get(state)),)
    many = attrgetter(*names)
    return lambda state: frozen(many(state))


PLAIN: Final = {kind: _plain(kind) for kind in LEFT_OUT}


def batch_key(batch: Batch) -> tuple[Any, ...]:
    return batch.base, batch.epoch, batch.values, batch.producer, batch.sequence
