"""Initial state, other than "all well, all empty": records, epochs, marks, offline brokers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from engine.model import configs as configuration
from engine.model.configs import Value
from engine.scenarios.parts import MOST_BROKERS, BrokerSpec, broker_id
from engine.scenarios.places import Path, Reader

MOST_OFFSET: Final = 2**53 - 1
MOST_EPOCH: Final = 2**31 - 1
MOST_KEPT: Final = 500
"""Records of one log; what is older is not there: the log starts later."""
MOST_EPOCHS: Final = 64

_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,249}-[0-9]{1,6}")


@dataclass(frozen=True, slots=True)
class LogState:
    """One replica on disk.

    [epoch, first offset] of each epoch, the first being the log start; the exclusive end; the
    checkpointed high watermark; the offset up to which it is flushed.
    """

    epochs: tuple[tuple[int, int], ...]
    end: int
    hw: int
    recovery: int

    @property
    def start(self) -> int:
        return self.epochs[0][1]


@dataclass(frozen=True, slots=True)
class PartitionState:
    """Controller's record of a partition, and the logs of its replicas."""

    name: str
    leader: int
    leader_epoch: int
    partition_epoch: int
    isr: tuple[int, ...]
    elr: tuple[int, ...]
    last_known_elr: tuple[int, ...]
    min_isr: int  # 0: as the cluster has it
    logs: tuple[tuple[int, LogState], ...]
    configs: tuple[tuple[str, Value], ...] = ()
    """Settings of its topic."""


@dataclass(frozen=True, slots=True)
class Initial:
    """Start of a run: the brokers that are down, and every partition."""

    offline: tuple[int, ...]
    partitions: tuple[PartitionState, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain data that `read_initial` reads back."""
        return {
            "offline": list(self.offline),
            "partitions": [_partition_dict(partition) for partition in self.partitions],
        }


def _partition_dict(partition: PartitionState) -> dict[str, Any]:
    own = {"configs": dict(partition.configs)} if partition.configs else {}
    return {
        "name": partition.name,
        "leader": partition.leader,
        "leader_epoch": partition.leader_epoch,
        "partition_epoch": partition.partition_epoch,
        "isr": list(partition.isr),
        "elr": list(partition.elr),
        "last_known_elr": list(partition.last_known_elr),
        "min_isr": partition.min_isr,
        "logs": [
            {
                "broker": broker,
                "epochs": [list(pair) for pair in log.epochs],
                "end": log.end,
                "hw": log.hw,
                "recovery": log.recovery,
            }
            for broker, log in partition.logs
        ],
        **own,
    }


def read_initial(
    read: Reader,
    value: object,
    brokers: tuple[BrokerSpec, ...],
    partitions: tuple[tuple[int, ...], ...],
) -> Initial | None:
    """Read the initial state; None if it is left out.  Raises InputError."""
    if value is None:
        return None
    path: Path = ("initial",)
    fields = read.mapping(value, path, ("offline", "partitions"))
    offline = _brokers(read, fields.get("offline", []), (*path, "offline"), brokers)
    where = (*path, "partitions")
    listed = read.listing(fields.get("partitions", []), where, len(partitions), len(partitions))
    states = tuple(
        _partition(read, item, (*where, index), brokers, partitions[index], index)
        for index, item in enumerate(listed)
    )
    names = [entry.name for entry in states]
    for index, state in enumerate(states):
        if state.name in names[:index]:
            raise read.bad((*where, index), "Two partitions are called {0}.", state.name)
        if state.leader in offline:
            raise read.bad(
                (*where, index, "leader"),
                "Broker {0} leads {1} and is offline.",
                state.leader,
                state.name,
            )
    return Initial(offline, states)


def _brokers(
    read: Reader, value: object, path: Path, brokers: tuple[BrokerSpec, ...]
) -> tuple[int, ...]:
    listed = read.listing(value, path, MOST_BROKERS)
    ids = [broker_id(read, name, (*path, index), brokers) for index, name in enumerate(listed)]
    return tuple(dict.fromkeys(ids))


KNOWN: Final = (
    "name",
    "leader",
    "leader_epoch",
    "partition_epoch",
    "isr",
    "elr",
    "last_known_elr",
    "min_isr",
    "logs",
    "configs",
)


def _partition(
    read: Reader,
    value: object,
    path: Path,
    brokers: tuple[BrokerSpec, ...],
    replicas: tuple[int, ...],
    index: int,
) -> PartitionState:
    fields = read.mapping(value, path, KNOWN)
    name = read.text(fields.get("name", f"t-{index}"), (*path, "name"), 256)
    if not _NAME.fullmatch(name):
        raise read.bad((*path, "name"), "A partition is called after its topic, like orders-0.")

    def members(key: str) -> tuple[int, ...]:
        ids = _brokers(read, fields.get(key, []), (*path, key), brokers)
        for broker in ids:
            if broker not in replicas:
                raise read.bad((*path, key), "Broker {0} is no replica of {1}.", broker, name)
        return ids

    leader = -1
    if fields.get("leader", replicas[0]) != -1:
        leader = broker_id(read, fields.get("leader", replicas[0]), (*path, "leader"), brokers)
    isr = members("isr") if "isr" in fields else replicas
    if leader >= 0 and leader not in isr:
        raise read.bad(
            (*path, "leader"), "Broker {0} leads {1} but is not in its ISR.", leader, name
        )
    epoch = read.integer(fields.get("leader_epoch", 0), (*path, "leader_epoch"), 0, MOST_EPOCH)
    return PartitionState(
        name,
        leader,
        epoch,
        read.integer(
            fields.get("partition_epoch", epoch), (*path, "partition_epoch"), 0, MOST_EPOCH
        ),
        isr,
        members("elr"),
        members("last_known_elr"),
        read.integer(fields.get("min_isr", 0), (*path, "min_isr"), 0, MOST_BROKERS),
        _logs(read, fields.get("logs", []), (*path, "logs"), brokers, replicas, epoch),
        _configs(read, fields.get("configs", {}), (*path, "configs")),
    )


TOPIC_SETTINGS: Final = (
    "unclean.leader.election.enable",
    "retention.ms",
    "retention.bytes",
    "flush.messages",
    "segment.records",
    "message.max.records",
)
"""Settings that a topic may have of its own at the start; `min_isr` is one more."""


def _configs(read: Reader, value: object, path: Path) -> tuple[tuple[str, Value], ...]:
    fields = read.mapping(value, path, TOPIC_SETTINGS)
    return tuple(
        (name, configuration.checked(name, setting, read.places.of((*path, name))))
        for name, setting in sorted(fields.items())
    )


def _logs(
    read: Reader,
    value: object,
    path: Path,
    brokers: tuple[BrokerSpec, ...],
    replicas: tuple[int, ...],
    epoch: int,
) -> tuple[tuple[int, LogState], ...]:
    logs: dict[int, LogState] = {}
    for index, item in enumerate(read.listing(value, path, len(replicas))):
        here = (*path, index)
        fields = read.mapping(item, here, ("broker", "epochs", "end", "hw", "recovery"))
        broker = broker_id(read, fields.get("broker"), (*here, "broker"), brokers)
        if broker in logs or broker not in replicas:
            raise read.bad(here, "Broker {0} has one log of each partition it is to have.", broker)
        logs[broker] = _log(read, fields, here, epoch)
    return tuple(logs.items())


def _log(read: Reader, fields: dict[str, object], path: Path, latest: int) -> LogState:
    epochs: list[tuple[int, int]] = []
    where = (*path, "epochs")
    for index, pair in enumerate(read.listing(fields.get("epochs"), where, MOST_EPOCHS, 1)):
        both = read.listing(pair, (*where, index), 2, 2)
        epoch = read.integer(both[0], (*where, index, 0), 0, latest)
        start = read.integer(both[1], (*where, index, 1), 0, MOST_OFFSET)
        if epochs and not (epochs[-1][0] < epoch and epochs[-1][1] < start):
            raise read.bad((*where, index), "Epochs and their first offsets rise.")
        epochs.append((epoch, start))
    start = epochs[0][1]
    end = read.integer(fields.get("end", start), (*path, "end"), start, MOST_OFFSET)
    if end - start > MOST_KEPT:
        raise read.bad(
            (*path, "end"), "A log keeps at most {0} records.", MOST_KEPT, code="too_large"
        )
    if epochs[-1][1] > end:
        raise read.bad(where, "An epoch begins after the log's end, {0}.", end)
    hw = read.integer(fields.get("hw", end), (*path, "hw"), start, end)
    recovery = read.integer(fields.get("recovery", end), (*path, "recovery"), start, end)
    return LogState(tuple(epochs), end, hw, recovery)
