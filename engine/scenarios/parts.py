"""The parts of a scenario: brokers, network, workload.  Checked values, nothing more."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from engine.model.errors import InputError
from engine.model.messages import MOST_VOTERS
from engine.model.profiles import get_profile, quorum_refusal
from engine.scenarios.delays import Delay, read_delay
from engine.scenarios.places import Path, Reader, name_of, short_value
from engine.scenarios.spans import DAY_MS

MOST_BROKERS: Final = 40
MOST_PARTITIONS: Final = 1_000
MOST_REPLICAS: Final = 4_000  # of all partitions together
MOST_ID: Final = 999_999
MOST_DIRS: Final = 8
MOST_PRODUCERS: Final = 20
MOST_CONSUMERS: Final = 20
RESETS: Final = ("earliest", "latest", "none")
MOST_BATCH: Final = 1_000  # records of one batch
MOST_RECORDS: Final = 500_000  # of the whole workload of one run

PRODUCER_FIELDS: Final = (
    "rate_per_s",
    "acks",
    "retries",
    "timeout_ms",
    "idempotent",
    "partition",
    "batch",
    "steady",
    "calm_rate_per_s",
    "wave_ms",
)
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,15}")
_RESERVED: Final = re.compile(r"[Kk]|all|[PCb][0-9]+")
_RACK: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,31}")


@dataclass(frozen=True, slots=True)
class BrokerSpec:
    """One broker: its id, a display name ("" = none), a rack ("" = none), its log directories."""

    id: int
    name: str = ""
    rack: str = ""
    dirs: int = 1

    @property
    def label(self) -> str:
        """Display name: the name, else the id."""
        return self.name or str(self.id)

    @property
    def spellings(self) -> tuple[str, ...]:
        """The words for it in a text."""
        return self.label, str(self.id), f"b{self.id}"


@dataclass(frozen=True, slots=True)
class NetworkSpec:
    """Delays and losses of messages.

    Delays in ms, of messages between brokers and clients and of those of the controller; loss as a
    share of the messages.
    """

    delay_ms: Delay = (0, 0)
    loss: float = 0.0
    control_delay_ms: Delay = (0, 0)


@dataclass(frozen=True, slots=True)
class ProducerSpec:
    """A steady producer.  acks: -1 (all), 1 or 0; timeout_ms: how long acks=all may wait."""

    rate_per_s: float
    acks: int = -1
    retries: bool = True
    timeout_ms: int = 30_000
    idempotent: bool = False
    partition: int = -1  # -1: the partitions in turn
    batch: int = 1  # records that travel together
    steady: bool = False  # at even intervals, not at random ones
    calm_rate_per_s: float = 0.0  # of every other wave
    wave_ms: int = 0  # 0: no waves


@dataclass(frozen=True, slots=True)
class ConsumerSpec:
    """One consumer.

    epochs: it looks after the epoch of its position, if its release can; rack: where it stands (""
    = nowhere), so that a follower near it may serve it.
    """

    epochs: bool = True
    reset: str = "earliest"  # auto.offset.reset
    rack: str = ""


@dataclass(frozen=True, slots=True)
class Workload:
    """Load of a run: producers, and the consumers that follow them."""

    producers: tuple[ProducerSpec, ...] = ()
    consumers: tuple[ConsumerSpec, ...] = ()


def read_brokers(read: Reader, value: object) -> tuple[BrokerSpec, ...]:
    """Read 3 | [1, 2, 3] | [A, B] | [{id: 1, name: A, rack: a, dirs: 2}]."""
    path: Path = ("brokers",)
    if isinstance(value, int) and not isinstance(value, bool):
        count = read.integer(value, path, 1, MOST_BROKERS)
        return tuple(BrokerSpec(number) for number in range(1, count + 1))
    brokers: list[BrokerSpec] = []
    for index, item in enumerate(read.listing(value, path, MOST_BROKERS, 1)):
        brokers.append(_read_broker(read, item, (*path, index), index + 1))
    for index, broker in enumerate(brokers):
        if broker.id in [other.id for other in brokers[:index]]:
            raise read.bad((*path, index), "Broker {0} is listed twice.", broker.id)
        if broker.name and broker.name in [other.name for other in brokers[:index]]:
            raise read.bad((*path, index), "Two brokers are called {0}.", broker.name)
    return tuple(brokers)


def _read_broker(read: Reader, item: object, path: Path, number: int) -> BrokerSpec:
    if isinstance(item, str):
        return BrokerSpec(number, _broker_name(read, item, path))
    if isinstance(item, dict):
        fields = read.mapping(item, path, ("id", "name", "rack", "dirs"))
        name = fields.get("name", "")
        rack = read.text(fields.get("rack", ""), (*path, "rack"), 32)
        if rack and not _RACK.fullmatch(rack):
            raise read.bad((*path, "rack"), "A rack is named with letters, digits, -, _ and dots.")
        return BrokerSpec(
            read.integer(fields.get("id", number), (*path, "id"), 0, MOST_ID),
            _broker_name(read, name, (*path, "name")) if name != "" else "",
            rack,
            read.integer(fields.get("dirs", 1), (*path, "dirs"), 1, MOST_DIRS),
        )
    return BrokerSpec(read.integer(item, path, 0, MOST_ID))


def _broker_name(read: Reader, value: object, path: Path) -> str:
    name = read.text(value, path, 16)
    if not _NAME.fullmatch(name):
        raise read.bad(path, "A broker's name is a short word, not {0}.", short_value(name))
    if _RESERVED.fullmatch(name):
        raise read.bad(path, "{0} cannot name a broker: it already means something else.", name)
    return name


def read_quorum(read: Reader, value: object, profiles: tuple[str, ...]) -> tuple[str, ...]:
    """Read [C1, C2, C3]: the voters of a KRaft quorum, by the names that moves give them."""
    path: Path = ("quorum",)
    names = tuple(read.text(name, path, 16) for name in read.listing(value, path, MOST_VOTERS))
    if not names:
        return ()
    if names != tuple(f"C{number}" for number in range(1, len(names) + 1)):
        raise read.bad(path, "The voters are called C1, C2, C3 and so on, in this order.")
    for profile in profiles:
        if why := quorum_refusal(get_profile(profile)):
            raise read.bad(path, why)
    return names


def find_broker(word: object, brokers: Iterable[BrokerSpec], where: str = "") -> int:
    """Return the id of the broker that is called 2, b2 or by its name.

    Raises InputError, with its place in the text.
    """
    labels = []
    for broker in brokers:
        if isinstance(word, str | int) and str(word) in broker.spellings:
            return broker.id
        labels.append(broker.label)
    sentence = "There is no broker “{0}”; there are {1}."
    raise InputError("unknown", sentence, short_value(word), ", ".join(labels), where=where)


def broker_id(read: Reader, value: object, path: Path, brokers: tuple[BrokerSpec, ...]) -> int:
    """Return the id of the broker that a value names."""
    return find_broker(value, brokers, read.places.of(path))


def read_partitions(
    read: Reader, value: object, brokers: tuple[BrokerSpec, ...]
) -> tuple[tuple[int, ...], ...]:
    """Read AR lists, ids or names; the first of each is the preferred leader."""
    path: Path = ("partitions",)
    partitions: list[tuple[int, ...]] = []
    for index, item in enumerate(read.listing(value, path, MOST_PARTITIONS, 1)):
        here = (*path, index)
        replicas = [
            broker_id(read, name, (*here, number), brokers)
            for number, name in enumerate(read.listing(item, here, MOST_BROKERS, 1))
        ]
        for number, broker in enumerate(replicas):
            if broker in replicas[:number]:
                raise read.bad(
                    (*here, number), "Partition {0} names broker {1} twice.", index, broker
                )
        partitions.append(tuple(replicas))
    total = sum(map(len, partitions))
    if total > MOST_REPLICAS:
        reason = f"The partitions have {total} replicas; at most {MOST_REPLICAS} fit."
        raise read.bad(path, reason, code="too_large")
    return tuple(partitions)


def read_network(read: Reader, value: object) -> NetworkSpec:
    """Read {delay_ms: [1, 5] | {median: 2, p99: 40}, loss: 0.01, control_delay_ms: 2}."""
    path: Path = ("network",)
    fields = read.mapping(value, path, ("delay_ms", "loss", "control_delay_ms"))
    return NetworkSpec(
        read_delay(read, fields.get("delay_ms", 0), (*path, "delay_ms")),
        read.number(fields.get("loss", 0.0), (*path, "loss"), 0.0, 0.9),
        read_delay(read, fields.get("control_delay_ms", 0), (*path, "control_delay_ms")),
    )


def acks_of(read: Reader, value: object, path: Path) -> int:
    """Return acks: all (-1), 1 or 0."""
    if value in ("all", "-1") or (value == -1 and not isinstance(value, bool)):
        return -1
    if value in ("0", "1"):
        return int(str(value))
    if value in (0, 1) and isinstance(value, int) and not isinstance(value, bool):
        return value
    raise read.bad(path, "{0} is all, 1 or 0, not {1}.", name_of(path), short_value(value))


def read_workload(read: Reader, value: object, partitions: int) -> Workload:
    """Read {producers: [{rate_per_s: 20, acks: all, ...}], consumers: 1 | [{rack: a}, ...]}."""
    path: Path = ("workload",)
    fields = read.mapping(value, path, ("producers", "consumers"))
    producers: list[ProducerSpec] = []
    listed = read.listing(fields.get("producers", []), (*path, "producers"), MOST_PRODUCERS)
    for index, item in enumerate(listed):
        here = (*path, "producers", index)
        producer = read.mapping(item, here, PRODUCER_FIELDS)
        if "rate_per_s" not in producer:
            raise read.bad(here, "A producer needs a rate_per_s.")
        made = ProducerSpec(
            read.number(producer["rate_per_s"], (*here, "rate_per_s"), 0.001, 10_000),
            acks_of(read, producer.get("acks", -1), (*here, "acks")),
            read.boolean(producer.get("retries", True), (*here, "retries")),
            read.integer(
                producer.get("timeout_ms", 30_000), (*here, "timeout_ms"), 1, DAY_MS, "ms"
            ),
            read.boolean(producer.get("idempotent", False), (*here, "idempotent")),
            read.integer(producer.get("partition", -1), (*here, "partition"), -1, partitions - 1),
            read.integer(producer.get("batch", 1), (*here, "batch"), 1, MOST_BATCH),
            read.boolean(producer.get("steady", False), (*here, "steady")),
            read.number(
                producer.get("calm_rate_per_s", 0.0), (*here, "calm_rate_per_s"), 0.0, 10_000
            ),
            read.integer(producer.get("wave_ms", 0), (*here, "wave_ms"), 0, DAY_MS, "ms"),
        )
        if (made.wave_ms > 0) != (made.calm_rate_per_s > 0):
            raise read.bad(here, "A producer in waves has both a wave_ms and a calm_rate_per_s.")
        if made.idempotent and (made.acks != -1 or not made.retries):
            path_to = (*here, "idempotent")
            raise read.bad(path_to, "An idempotent producer needs acks all and retries.")
        producers.append(made)
    consumers = _read_consumers(read, fields.get("consumers", 0), (*path, "consumers"))
    return Workload(tuple(producers), consumers)


def _read_consumers(read: Reader, value: object, path: Path) -> tuple[ConsumerSpec, ...]:
    """Read consumers, given as a number or one by one."""
    if not isinstance(value, list | tuple):
        return (ConsumerSpec(),) * read.integer(value, path, 0, MOST_CONSUMERS)
    consumers: list[ConsumerSpec] = []
    for index, item in enumerate(read.listing(value, path, MOST_CONSUMERS)):
        here = (*path, index)
        fields = read.mapping(item, here, ("epochs", "reset", "rack"))
        rack = read.text(fields.get("rack", ""), (*here, "rack"), 32)
        if rack and not _RACK.fullmatch(rack):
            raise read.bad((*here, "rack"), "A rack is named with letters, digits, -, _ and dots.")
        consumers.append(
            ConsumerSpec(
                read.boolean(fields.get("epochs", True), (*here, "epochs")),
                read.choice(fields.get("reset", "earliest"), (*here, "reset"), RESETS),
                rack,
            )
        )
    return tuple(consumers)
