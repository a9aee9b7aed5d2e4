"""The parts of a scenario: brokers, network, workload, faults.  Checked values, nothing more."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from engine.scenarios.places import Path, Reader, name_of, shown

MOST_BROKERS: Final = 40
MOST_PARTITIONS: Final = 64
MOST_ID: Final = 999_999
MOST_DIRS: Final = 8
MOST_PRODUCERS: Final = 20
MOST_CONSUMERS: Final = 20
RESETS: Final = ("earliest", "latest", "none")
MOST_FAULTS: Final = 50
MOST_BATCH: Final = 1_000  # records of one batch
MOST_RECORDS: Final = 500_000  # of the whole workload of one run
DAY_MS: Final = 86_400_000

FAULT_KINDS: Final = (
    "kill",
    "power",
    "pause",
    "cut",
    "cut_controller",
    "slow",
    "slow_disk",
    "wipe",
    "bounce",
)
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
FAULT_FIELDS: Final = (
    "kind",
    "brokers",
    "racks",
    "together",
    "mtbf_ms",
    "at_ms",
    "mttr_ms",
    "delay_ms",
    "records_per_s",
    "importance",
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
        """What people call it: the name, else the id."""
        return self.name or str(self.id)


@dataclass(frozen=True, slots=True)
class Network:
    """Delays in ms as (least, most), both inclusive; loss as a share of the messages."""

    delay_ms: tuple[int, int] = (0, 0)
    loss: float = 0.0
    control_delay_ms: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Producer:
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
class Consumer:
    """One consumer.  epochs: it looks after the epoch of its position, if its release can;
    rack: where it stands ("" = nowhere), so that a follower near it may serve it."""

    epochs: bool = True
    reset: str = "earliest"  # auto.offset.reset
    rack: str = ""


@dataclass(frozen=True, slots=True)
class Workload:
    """What keeps a run busy: producers, and the consumers that follow them."""

    producers: tuple[Producer, ...] = ()
    consumers: tuple[Consumer, ...] = ()


@dataclass(frozen=True, slots=True)
class Fault:
    """One line of a fault plan.

    Either a rate (mtbf_ms > 0: every target fails independently, exponential intervals of that
    mean) or a schedule (at_ms >= 0).  mttr_ms is the mean time to repair (exact for a schedule);
    0 means never repaired.  Targets are the brokers one by one, or whole racks, each struck as one;
    with `together` all the named brokers are struck as one.  With an importance factor a rate
    strikes so many times as often, to meet what is rare; the weights of the runs undo it.
    """

    kind: str
    brokers: tuple[int, ...] = ()
    racks: tuple[str, ...] = ()
    together: bool = False
    mtbf_ms: int = 0
    at_ms: int = -1
    mttr_ms: int = 0
    delay_ms: int = 0  # of a slow link
    records_per_s: float = 0.0  # of a slow disk
    importance: float = 1.0

    @property
    def struck_every_ms(self) -> int:
        """The mean time between failures as it is played."""
        return max(1, round(self.mtbf_ms / self.importance))

    def groups(self, brokers: tuple[BrokerSpec, ...]) -> tuple[tuple[int, ...], ...]:
        """The sets of brokers that are struck as one."""
        if self.racks:
            return tuple(
                tuple(broker.id for broker in brokers if broker.rack == rack) for rack in self.racks
            )
        return (self.brokers,) if self.together else tuple((one,) for one in self.brokers)


def read_brokers(read: Reader, value: object) -> tuple[BrokerSpec, ...]:
    """3 | [1, 2, 3] | [A, B] | [{id: 1, name: A, rack: a, dirs: 2}]."""
    path: Path = ("brokers",)
    if isinstance(value, int) and not isinstance(value, bool):
        count = read.integer(value, path, 1, MOST_BROKERS)
        return tuple(BrokerSpec(number) for number in range(1, count + 1))
    found: list[BrokerSpec] = []
    for index, item in enumerate(read.listing(value, path, MOST_BROKERS, 1)):
        found.append(_read_broker(read, item, (*path, index), index + 1))
    for index, broker in enumerate(found):
        if broker.id in [other.id for other in found[:index]]:
            raise read.bad((*path, index), f"Broker {broker.id} is listed twice.")
        if broker.name and broker.name in [other.name for other in found[:index]]:
            raise read.bad((*path, index), f"Two brokers are called {broker.name}.")
    return tuple(found)


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
        raise read.bad(path, f"A broker's name is a short word, not {shown(name)}.")
    if _RESERVED.fullmatch(name):
        raise read.bad(path, f"{name} cannot name a broker: it already means something else.")
    return name


def broker_id(read: Reader, value: object, path: Path, brokers: tuple[BrokerSpec, ...]) -> int:
    """The id of a broker given by id or by name."""
    for broker in brokers:
        if (value == broker.id and not isinstance(value, bool)) or (
            isinstance(value, str) and value in (broker.name, str(broker.id)) and value
        ):
            return broker.id
    names = ", ".join(broker.label for broker in brokers)
    raise read.bad(path, f"There is no broker {shown(value)}; there are {names}.", "unknown")


def read_partitions(
    read: Reader, value: object, brokers: tuple[BrokerSpec, ...]
) -> tuple[tuple[int, ...], ...]:
    """AR lists, ids or names; the first of each is the preferred leader."""
    path: Path = ("partitions",)
    found: list[tuple[int, ...]] = []
    for index, item in enumerate(read.listing(value, path, MOST_PARTITIONS, 1)):
        here = (*path, index)
        replicas = [
            broker_id(read, one, (*here, number), brokers)
            for number, one in enumerate(read.listing(item, here, MOST_BROKERS, 1))
        ]
        for number, one in enumerate(replicas):
            if one in replicas[:number]:
                raise read.bad((*here, number), f"Partition {index} names broker {one} twice.")
        found.append(tuple(replicas))
    return tuple(found)


def _delay(read: Reader, value: object, path: Path) -> tuple[int, int]:
    """5 or [1, 5], in ms."""
    if isinstance(value, (list, tuple)):
        both = read.listing(value, path, 2, 2)
        low = read.integer(both[0], (*path, 0), 0, 60_000, "ms")
        high = read.integer(both[1], (*path, 1), 0, 60_000, "ms")
        if low > high:
            raise read.bad(path, f"{name_of(path)} is written [least, most].")
        return (low, high)
    one = read.integer(value, path, 0, 60_000, "ms")
    return (one, one)


def read_network(read: Reader, value: object) -> Network:
    """{delay_ms: [1, 5], loss: 0.01, control_delay_ms: 2}."""
    path: Path = ("network",)
    fields = read.mapping(value, path, ("delay_ms", "loss", "control_delay_ms"))
    return Network(
        _delay(read, fields.get("delay_ms", 0), (*path, "delay_ms")),
        read.number(fields.get("loss", 0.0), (*path, "loss"), 0.0, 0.9),
        _delay(read, fields.get("control_delay_ms", 0), (*path, "control_delay_ms")),
    )


def acks_of(read: Reader, value: object, path: Path) -> int:
    """all (-1), 1 or 0."""
    if value in ("all", "-1") or (value == -1 and not isinstance(value, bool)):
        return -1
    if value in ("0", "1"):
        return int(str(value))
    if value in (0, 1) and isinstance(value, int) and not isinstance(value, bool):
        return value
    raise read.bad(path, f"{name_of(path)} is all, 1 or 0, not {shown(value)}.")


def read_workload(read: Reader, value: object, partitions: int) -> Workload:
    """{producers: [{rate_per_s: 20, acks: all, ...}], consumers: 1 | [{rack: a}, ...]}."""
    path: Path = ("workload",)
    fields = read.mapping(value, path, ("producers", "consumers"))
    producers: list[Producer] = []
    listed = read.listing(fields.get("producers", []), (*path, "producers"), MOST_PRODUCERS)
    for index, item in enumerate(listed):
        here = (*path, "producers", index)
        one = read.mapping(item, here, PRODUCER_FIELDS)
        if "rate_per_s" not in one:
            raise read.bad(here, "A producer needs a rate_per_s.")
        made = Producer(
            read.number(one["rate_per_s"], (*here, "rate_per_s"), 0.001, 10_000),
            acks_of(read, one.get("acks", -1), (*here, "acks")),
            read.boolean(one.get("retries", True), (*here, "retries")),
            read.integer(one.get("timeout_ms", 30_000), (*here, "timeout_ms"), 1, DAY_MS, "ms"),
            read.boolean(one.get("idempotent", False), (*here, "idempotent")),
            read.integer(one.get("partition", -1), (*here, "partition"), -1, partitions - 1),
            read.integer(one.get("batch", 1), (*here, "batch"), 1, MOST_BATCH),
            read.boolean(one.get("steady", False), (*here, "steady")),
            read.number(one.get("calm_rate_per_s", 0.0), (*here, "calm_rate_per_s"), 0.0, 10_000),
            read.integer(one.get("wave_ms", 0), (*here, "wave_ms"), 0, DAY_MS, "ms"),
        )
        if (made.wave_ms > 0) != (made.calm_rate_per_s > 0):
            raise read.bad(here, "A producer in waves has both a wave_ms and a calm_rate_per_s.")
        if made.idempotent and (made.acks != -1 or not made.retries):
            path_to = (*here, "idempotent")
            raise read.bad(path_to, "An idempotent producer needs acks all and retries.")
        producers.append(made)
    consumers = _read_consumers(read, fields.get("consumers", 0), (*path, "consumers"))
    return Workload(tuple(producers), consumers)


def _read_consumers(read: Reader, value: object, path: Path) -> tuple[Consumer, ...]:
    """How many, or one by one."""
    if not isinstance(value, list | tuple):
        return (Consumer(),) * read.integer(value, path, 0, MOST_CONSUMERS)
    found: list[Consumer] = []
    for index, item in enumerate(read.listing(value, path, MOST_CONSUMERS)):
        here = (*path, index)
        one = read.mapping(item, here, ("epochs", "reset", "rack"))
        rack = read.text(one.get("rack", ""), (*here, "rack"), 32)
        if rack and not _RACK.fullmatch(rack):
            raise read.bad((*here, "rack"), "A rack is named with letters, digits, -, _ and dots.")
        found.append(
            Consumer(
                read.boolean(one.get("epochs", True), (*here, "epochs")),
                read.choice(one.get("reset", "earliest"), (*here, "reset"), RESETS),
                rack,
            )
        )
    return tuple(found)


def read_faults(read: Reader, value: object, brokers: tuple[BrokerSpec, ...]) -> tuple[Fault, ...]:
    """A list of {kind, brokers | racks, mtbf_ms | at_ms, mttr_ms}."""
    path: Path = ("faults",)
    listed = read.listing(value, path, MOST_FAULTS)
    return tuple(
        _read_fault(read, item, (*path, index), brokers) for index, item in enumerate(listed)
    )


def _read_fault(read: Reader, item: object, path: Path, brokers: tuple[BrokerSpec, ...]) -> Fault:
    fields = read.mapping(item, path, FAULT_FIELDS)
    if "kind" not in fields:
        raise read.bad(path, f"A fault needs a kind: {', '.join(FAULT_KINDS)}.")
    kind = read.choice(fields["kind"], (*path, "kind"), FAULT_KINDS)
    if ("mtbf_ms" in fields) == ("at_ms" in fields):
        raise read.bad(path, "A fault has either mtbf_ms (a rate) or at_ms (a schedule).")
    if "brokers" in fields and "racks" in fields:
        raise read.bad(path, "A fault strikes either brokers or racks, not both.")
    if "importance" in fields and "at_ms" in fields:
        raise read.bad((*path, "importance"), "Only a rate has an importance, no schedule has.")
    if kind == "slow_disk" and "records_per_s" not in fields:
        raise read.bad(path, "A slow disk needs records_per_s: what it can write.")
    mtbf = at = -1
    if "mtbf_ms" in fields:
        mtbf = read.integer(fields["mtbf_ms"], (*path, "mtbf_ms"), 10, 3650 * DAY_MS, "ms")
    else:
        at = read.integer(fields["at_ms"], (*path, "at_ms"), 0, DAY_MS, "ms")
    return Fault(
        kind,
        () if "racks" in fields else _targets(read, fields.get("brokers", "all"), path, brokers),
        _racks(read, fields["racks"], (*path, "racks"), brokers) if "racks" in fields else (),
        read.boolean(fields.get("together", False), (*path, "together")),
        max(mtbf, 0),
        at,
        read.integer(fields.get("mttr_ms", 0), (*path, "mttr_ms"), 0, DAY_MS, "ms"),
        read.integer(fields.get("delay_ms", 0), (*path, "delay_ms"), 0, 60_000, "ms"),
        read.number(fields.get("records_per_s", 0.0), (*path, "records_per_s"), 0.0, 100_000),
        read.number(fields.get("importance", 1.0), (*path, "importance"), 0.01, 1_000_000.0),
    )


def _targets(
    read: Reader, value: object, path: Path, brokers: tuple[BrokerSpec, ...]
) -> tuple[int, ...]:
    if value == "all":
        return tuple(broker.id for broker in brokers)
    path = (*path, "brokers")
    listed = read.listing(value, path, MOST_BROKERS, 1)
    found = [broker_id(read, one, (*path, index), brokers) for index, one in enumerate(listed)]
    return tuple(dict.fromkeys(found))


def _racks(
    read: Reader, value: object, path: Path, brokers: tuple[BrokerSpec, ...]
) -> tuple[str, ...]:
    there = tuple(dict.fromkeys(broker.rack for broker in brokers if broker.rack))
    if not there:
        raise read.bad(path, "No broker has a rack.")
    if value == "all":
        return there
    listed = read.listing(value, path, MOST_BROKERS, 1)
    found = [read.choice(one, (*path, index), there) for index, one in enumerate(listed)]
    return tuple(dict.fromkeys(found))
