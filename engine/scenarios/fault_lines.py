"""The lines of a fault plan: what strikes whom, how often, for how long.  Checked values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from engine.model.errors import InputError
from engine.model.messages import CONTROLLER
from engine.scenarios.parts import MOST_BROKERS, MOST_DIRS, BrokerSpec, broker_id
from engine.scenarios.places import Path, Reader
from engine.scenarios.spans import DAY_MS

MOST_FAULTS: Final = 50
MOST_MOVES: Final = 40
MOST_MOVE_LENGTH: Final = 200
MOST_MTBF_MS: Final = 3650 * DAY_MS
MOST_RUN_MS: Final = 30 * DAY_MS
"""Virtual time of one run; no schedule and no repair needs more."""


class FaultField(NamedTuple):
    """Field of one kind of fault: its bounds, a new fault's value, None for none, and its unit.

    A field that is not `shared` is refused in faults of other kinds.  `whole`: it has no fraction.
    `needed`: the sentence where a fault of the kind lacks it.  `written`: also where it is 0.
    """

    name: str
    low: float
    high: float
    usual: float | None
    unit: str = ""
    shared: bool = True
    whole: bool = False
    needed: str = ""
    written: bool = False

    def read(self, read: Reader, value: object, path: Path) -> float:
        """Return the value.  Raises InputError out of its bounds."""
        if self.whole:
            return read.integer(value, path, int(self.low), int(self.high), self.unit)
        return read.number(value, path, self.low, self.high)


class FaultKind(NamedTuple):
    """Kind of fault: its own fields.

    With `together` it concerns all the named brokers at once, unless the line says otherwise.
    One of the `whole` cluster names no brokers; one that `plays` has moves instead.
    """

    own: tuple[FaultField, ...] = ()
    together: bool = False
    whole: bool = False
    plays: bool = False


FAULT_KINDS: Final = {
    "kill": FaultKind(),
    "power": FaultKind(),
    "pause": FaultKind(),
    "cut": FaultKind(),
    "cut_controller": FaultKind(),
    "slow": FaultKind((FaultField("delay_ms", 0, 60_000, 100, "ms", whole=True, written=True),)),
    "slow_disk": FaultKind((
        FaultField("records_per_s", 0.0, 100_000, 10, "/s",
                   needed="A slow disk needs records_per_s: what it can write."),
    )),
    "wipe": FaultKind(),
    "bounce": FaultKind(),
    "disk_fail": FaultKind((FaultField("dir", 0, MOST_DIRS, None, shared=False, whole=True),)),
    "partition": FaultKind(together=True),
    "lossy": FaultKind((
        FaultField("loss", 0.001, 0.9, 0.1, shared=False,
                   needed="A lossy link needs a loss: the share of what is sent that it loses."),
    )),
    "rolling_restart": FaultKind(together=True),
    "kill_controller": FaultKind(whole=True),
    "operator": FaultKind(whole=True, plays=True),
}  # fmt: skip
OWN_FIELDS: Final = {one.name: one for kind in FAULT_KINDS.values() for one in kind.own}
FAULT_FIELDS: Final = (
    "kind",
    "brokers",
    "racks",
    "together",
    "mtbf_ms",
    "at_ms",
    "mttr_ms",
    *OWN_FIELDS,
    "moves",
    "importance",
)
NAME_BROKERS: Final = frozenset({"brokers", "racks", "together"})
OF_ONE_KIND: Final = {
    one.name: kind for kind, row in FAULT_KINDS.items() for one in row.own if not one.shared
}
"""Field -> the only kind that may have it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One line of a fault plan.

    Either a rate (mtbf_ms > 0: every target fails independently, exponential intervals of that
    mean) or a schedule (at_ms >= 0).  mttr_ms is the mean time to repair (exact for a schedule); 0
    means never repaired.  Targets are the brokers one by one, or whole racks, each struck as one;
    with `together` all the named brokers are struck as one.  With an importance factor a rate
    strikes that many times as often, to meet what is rare; the weights of the runs undo it.

    A rate of `disk_fail` is that of one log directory: each of a broker's fails by itself.  For a
    `rolling_restart` mttr_ms is the longest time it waits for a broker before it takes the next.

    An `operator` plays one of `moves`, each as likely, of those that can be played then.

    `own`: values of OWN_FIELDS that are not 0.
    """

    kind: str
    brokers: tuple[int, ...] = ()
    racks: tuple[str, ...] = ()
    together: bool = False
    mtbf_ms: int = 0
    at_ms: int = -1
    mttr_ms: int = 0
    importance: float = 1.0
    own: Mapping[str, float] = field(default_factory=dict)
    moves: tuple[str, ...] = ()

    def value(self, name: str) -> float:
        return self.own.get(name, 0)

    @property
    def directory(self) -> int:
        """The log directory that fails; 0: any."""
        return int(self.value("dir"))

    @property
    def struck_every_ms(self) -> int:
        """The mean time between failures as it is played."""
        return max(1, round(self.mtbf_ms / self.importance))

    def groups(self, brokers: tuple[BrokerSpec, ...]) -> tuple[tuple[int, ...], ...]:
        """Return the sets of brokers that are struck as one; the controller for the cluster."""
        if FAULT_KINDS[self.kind].whole:
            return ((CONTROLLER,),)
        if self.racks:
            racks = tuple(
                tuple(broker.id for broker in brokers if broker.rack == rack) for rack in self.racks
            )
            if self.together and FAULT_KINDS[self.kind].together:
                return (tuple(broker for rack in racks for broker in rack),)
            return racks
        return (self.brokers,) if self.together else tuple((broker,) for broker in self.brokers)

    def targets(self, brokers: tuple[BrokerSpec, ...]) -> tuple[tuple[tuple[int, ...], int], ...]:
        """Return the groups, each with its log directory that fails; 0 where none is meant."""
        pairs: list[tuple[tuple[int, ...], int]] = []
        dirs = {broker.id: broker.dirs for broker in brokers}
        for group in self.groups(brokers):
            if self.kind == "disk_fail" and self.mtbf_ms and len(group) == 1 and not self.directory:
                pairs += ((group, directory) for directory in range(1, dirs[group[0]] + 1))
            else:
                pairs.append((group, self.directory))
        return tuple(pairs)


def own_fields(fault: Fault) -> dict[str, float]:
    """Return the fields that only some kinds have, as a scenario writes them: most only if set."""
    values = {name: fault.value(name) for name in OWN_FIELDS}
    return {name: value for name, value in values.items() if value or OWN_FIELDS[name].written}


def read_faults(read: Reader, value: object, brokers: tuple[BrokerSpec, ...]) -> tuple[Fault, ...]:
    """Return a list of {kind, brokers | racks, mtbf_ms | at_ms, mttr_ms}."""
    path: Path = ("faults",)
    listed = read.listing(value, path, MOST_FAULTS)
    return tuple(
        _read_fault(read, item, (*path, index), brokers) for index, item in enumerate(listed)
    )


def _read_fault(read: Reader, item: object, path: Path, brokers: tuple[BrokerSpec, ...]) -> Fault:
    fields = read.mapping(item, path, FAULT_FIELDS)
    if "kind" not in fields:
        raise read.bad(path, "A fault needs a kind: {0}.", ", ".join(FAULT_KINDS))
    kind = read.choice(fields["kind"], (*path, "kind"), tuple(FAULT_KINDS))
    _goes_together(read, fields, kind, path)
    mtbf = at = -1
    if "mtbf_ms" in fields:
        mtbf = read.integer(fields["mtbf_ms"], (*path, "mtbf_ms"), 10, MOST_MTBF_MS, "ms")
    else:
        at = read.integer(fields["at_ms"], (*path, "at_ms"), 0, MOST_RUN_MS, "ms")
    unnamed = "racks" in fields or FAULT_KINDS[kind].whole
    fault = Fault(
        kind,
        () if unnamed else _targets(read, fields.get("brokers", "all"), path, brokers),
        _racks(read, fields["racks"], (*path, "racks"), brokers) if "racks" in fields else (),
        read.boolean(fields.get("together", FAULT_KINDS[kind].together), (*path, "together")),
        max(mtbf, 0),
        at,
        read.integer(fields.get("mttr_ms", 0), (*path, "mttr_ms"), 0, MOST_RUN_MS, "ms"),
        read.number(fields.get("importance", 1.0), (*path, "importance"), 0.01, 1_000_000.0),
        {
            name: value
            for name, declared in OWN_FIELDS.items()
            if name in fields and (value := declared.read(read, fields[name], (*path, name)))
        },
        _moves(read, fields.get("moves", []), (*path, "moves")),
    )
    _is_possible(read, fault, path, brokers)
    return fault


def _goes_together(read: Reader, fields: dict[str, object], kind: str, path: Path) -> None:
    """Raise where keys are missing, or contradict one another."""
    if ("mtbf_ms" in fields) == ("at_ms" in fields):
        raise read.bad(path, "A fault has either mtbf_ms (a rate) or at_ms (a schedule).")
    if "brokers" in fields and "racks" in fields:
        raise read.bad(path, "A fault strikes either brokers or racks, not both.")
    if "importance" in fields and "at_ms" in fields:
        raise read.bad((*path, "importance"), "Only a rate has an importance, no schedule has.")
    for declared in FAULT_KINDS[kind].own:
        if declared.needed and declared.name not in fields:
            raise read.bad(path, declared.needed)
    if FAULT_KINDS[kind].whole and (named := NAME_BROKERS & fields.keys()):
        raise read.bad(
            (*path, min(named)), "A {0} names no brokers: leave out {1}.", kind, min(named)
        )
    if FAULT_KINDS[kind].plays and not fields.get("moves"):
        raise read.bad(path, "An operator needs moves: a list such as [elect preferred].")
    if "moves" in fields and not FAULT_KINDS[kind].plays:
        raise _of_another_kind(read, path, "operator", "moves")
    for name, only in OF_ONE_KIND.items():
        if name in fields and kind != only:
            raise _of_another_kind(read, path, only, name)


def _of_another_kind(read: Reader, path: Path, only: str, name: str) -> InputError:
    return read.bad((*path, name), "`{1}` belongs to faults of kind {0} only.", only, name)


def _is_possible(read: Reader, fault: Fault, path: Path, brokers: tuple[BrokerSpec, ...]) -> None:
    """Raise where there is nothing to fail, or no broker to be partitioned from."""
    groups = fault.groups(brokers)
    all_of_them = len(brokers) > 1 and any(len(group) == len(brokers) for group in groups)
    if fault.kind == "partition" and all_of_them:
        raise read.bad(
            path,
            "A partition has brokers on both sides; name fewer of them, or say together: "
            "false to part each from all others.",
        )
    for broker in brokers:
        if fault.directory > broker.dirs and any(broker.id in group for group in groups):
            raise read.bad(
                (*path, "dir"),
                "Broker {0} has no log directory d{1}, only {2}.",
                broker.label,
                fault.directory,
                broker.dirs,
            )


def _targets(
    read: Reader, value: object, path: Path, brokers: tuple[BrokerSpec, ...]
) -> tuple[int, ...]:
    if value == "all":
        return tuple(broker.id for broker in brokers)
    path = (*path, "brokers")
    listed = read.listing(value, path, MOST_BROKERS, 1)
    ids = [broker_id(read, name, (*path, index), brokers) for index, name in enumerate(listed)]
    return tuple(dict.fromkeys(ids))


def _moves(read: Reader, value: object, path: Path) -> tuple[str, ...]:
    listed = read.listing(value, path, MOST_MOVES)
    return tuple(
        " ".join(read.text(line, (*path, index), MOST_MOVE_LENGTH).split())
        for index, line in enumerate(listed)
    )


def _racks(
    read: Reader, value: object, path: Path, brokers: tuple[BrokerSpec, ...]
) -> tuple[str, ...]:
    there = tuple(dict.fromkeys(broker.rack for broker in brokers if broker.rack))
    if not there:
        raise read.bad(path, "No broker has a rack.")
    if value == "all":
        return there
    listed = read.listing(value, path, MOST_BROKERS, 1)
    racks = [read.choice(rack, (*path, index), there) for index, rack in enumerate(listed)]
    return tuple(dict.fromkeys(racks))
