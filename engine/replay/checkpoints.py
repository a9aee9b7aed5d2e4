"""Checkpoints of a run: places from which it can go on, near each other and small.

Logs, what the observer knows of them and queues grow with the run, mostly at their ends, or are
read from their beginnings.  Checkpoints share these entries: each has the rest of its simulation,
and which of the entries there were.
"""

from __future__ import annotations

import pickle
from bisect import bisect_left
from collections.abc import Generator, Iterator, Sequence
from io import BytesIO
from itertools import chain
from typing import Any, Final, Protocol

from engine.clients.clients import Producer
from engine.replay import memory_estimate
from engine.replay.view_cache import alike
from engine.sim import pacing
from engine.sim.simulation import Simulation

EVENTS_BETWEEN: Final = 256
"""Steps between two checkpoints of a run that needs few; as many are played without a turn."""
MOST_CHECKPOINTS: Final = 400
CHECKPOINT_BYTES: Final = 64 * 1024 * 1024
SHORT: Final = 32
"""Entries of a log, a ledger or a queue that each checkpoint keeps by itself."""
MOST_SPANS: Final = 32

Place = tuple[Any, ...]
"""(kind of owner, its numbers, name or index there) of a list or dictionary."""
Spans = list[tuple[int, int]]
"""[first, end) of entries that follow each other."""


class Growth:
    """Entries of one list or dictionary at checkpoints; `spans` are those of the last checkpoint.

    `columns` are the entries of a list, or the keys and the values of a dictionary.
    """

    __slots__ = ("columns", "spans")

    def __init__(self, width: int) -> None:
        self.columns: tuple[list[Any], ...] = tuple([] for _ in range(width))
        self.spans: Spans = []

    def follow(self, now: tuple[list[Any], ...]) -> bool:
        """Find what is there now, and add what is new; False if it lies in too many spans."""
        spans, at = Spans(), 0
        names, columns = now[0], self.columns[0]
        for first, end in self.spans:
            while at < len(names) and first < end:
                try:
                    first = columns.index(names[at], first, end)
                except ValueError:
                    break
                both = zip(self.columns, now, strict=True)
                count = min(alike(column[first:end], new[at:]) for column, new in both)
                if count:
                    spans.append((first, first + count))
                first += count or 1
                at += count
                if len(spans) > MOST_SPANS:
                    return False
        if at < len(names):
            end = len(columns)
            first = spans.pop()[0] if spans and spans[-1][1] == end else end
            spans.append((first, end + len(names) - at))
            for column, new in zip(self.columns, now, strict=True):
                column += new[at:]
        self.spans = spans
        return True

    def taken(self, spans: Spans) -> Any:
        """Return the list or dictionary that had these spans."""
        whole = []
        for column in self.columns:
            parts = [column[first:end] for first, end in spans]
            whole.append(parts[0] if len(parts) == 1 else [*chain(*parts)])
        return whole[0] if len(whole) == 1 else dict(zip(*whole, strict=True))


Grown = tuple[Place, Growth, Spans]


class Growths:
    """The entries that the checkpoints of one run share."""

    def __init__(self) -> None:
        self._of: dict[Place, Growth] = {}

    def copy(self, sim: Simulation) -> tuple[Simulation, list[Grown]]:
        """Return a copy of a simulation without what is shared, and what that is."""
        grown: list[Grown] = []
        whole: list[tuple[Place, Any]] = []
        try:
            for place in _places(sim):
                entries = _get(sim, place)
                if len(entries) <= SHORT:
                    continue
                keyed = isinstance(entries, dict)
                now = ([*entries], [*entries.values()]) if keyed else (entries,)
                growth = self._of.get(place)
                if growth is None or not growth.follow(now):
                    growth = self._of[place] = Growth(len(now))
                    growth.follow(now)
                grown.append((place, growth, growth.spans))
                whole.append((place, entries))
                _put(sim, place, entries.__class__())
            return sim.copy(), grown
        finally:
            for place, entries in whole:
                _put(sim, place, entries)


def _places(sim: Simulation) -> Iterator[Place]:
    """Yield the places of what may have many entries; where logs are tiered, there are none."""
    if sim.cluster.store is not None:
        return
    yield "network", "open"
    for node, client in sim.clients.items():
        if isinstance(client, Producer):
            yield "client", node, "outstanding"
    for broker in sim.cluster.brokers.values():
        for tp, disk in broker.machine.disks.items():
            if len(disk.log.batches) > SHORT:
                yield "log", broker.id, tp, "batches"
                yield "log", broker.id, tp, "bases"
        for tp, replica in broker.replicas.items():
            if len(replica.waiting) > SHORT:
                yield "replica", broker.id, tp, "waiting"
    for name in ("acked", "committed", "seen", "sequences"):
        for tp, entries in enumerate(getattr(sim.ledger, name)):
            if len(entries) > SHORT:
                yield "ledger", name, tp


def _owner(sim: Simulation, kind: str, *where: Any) -> Any:
    if kind == "network":
        return sim.network
    if kind == "client":
        return sim.clients[where[0]]
    if kind == "ledger":
        return getattr(sim.ledger, where[0])
    broker = sim.cluster.brokers[where[0]]
    return broker.replicas[where[1]] if kind == "replica" else broker.machine.disks[where[1]].log


def _get(sim: Simulation, place: Place) -> Any:
    owner, name = _owner(sim, *place[:-1]), place[-1]
    return owner[name] if isinstance(owner, list) else getattr(owner, name)


def _put(sim: Simulation, place: Place, entries: Any) -> None:
    owner, name = _owner(sim, *place[:-1]), place[-1]
    if isinstance(owner, list):
        owner[name] = entries
    else:
        setattr(owner, name, entries)


class Checkpoint:
    """A simulation as it was after `events` events, during move `move`.

    `until` is the time up to which that move still lets the clock run, `settling` the round from
    which it goes on to settle; both are -1 if the move is over.  `weight`: about how many bytes it
    takes beside what it shares.
    """

    __slots__ = ("_grown", "_packed", "_sim", "events", "move", "settling", "until", "weight")

    def __init__(
        self,
        sim: Simulation,
        move: int = -1,
        until: int = -1,
        settling: int = -1,
        growths: Growths | None = None,
    ) -> None:
        self._packed: tuple[Packed, bytes] | None = None
        self._sim, self._grown = (growths or Growths()).copy(sim)
        self.events = sim.events
        self.move = move
        self.until = until
        self.settling = settling
        self.weight = memory_estimate.of_simulation(self._sim)

    def parts(self) -> tuple[Simulation, list[Grown]]:
        """Return the simulation without what is shared, and what that is."""
        if self._packed is not None:
            shared, text = self._packed
            self._sim, self._grown = shared.load(text)
            self._packed = None
        return self._sim, self._grown

    def world(self) -> Simulation:
        """Return a simulation that goes on from here."""
        bare, grown = self.parts()
        sim = bare.copy()
        for place, growth, spans in grown:
            _put(sim, place, growth.taken(spans))
        return sim

    def rest(self, sim: Simulation) -> Generator[None, None, None]:
        """Play what is left of the move that was under way, on such a simulation."""
        if self.settling >= 0:
            return pacing.settle(sim, self.settling, pauses=True)
        return pacing.run_until(sim, self.until)


class Playing(Protocol):
    """A run under way."""

    sim: Simulation

    def checkpoint(self, over: int, growths: Growths) -> Checkpoint | None:
        """Return a checkpoint here, if the run can be resumed from here."""


class Checkpoints(Sequence[Checkpoint]):
    """The checkpoints of one run, in order, and its end.

    Once there are as many as may be kept, every second one goes and the rest is twice as far
    apart: however long the run is, the memory is bounded, and a seek plays a small share.
    """

    def __init__(self) -> None:
        self._growths = Growths()
        self._all: list[Checkpoint] = []
        self._apart = EVENTS_BETWEEN
        self.end: Checkpoint | None = None
        self.weight = 0

    def __len__(self) -> int:
        return len(self._all)

    def __getitem__(self, at: Any) -> Any:
        return self._all[at]

    def nearest(self, step: int) -> Checkpoint | None:
        """Return the last checkpoint before a step."""
        at = bisect_left(self._all, step, key=lambda one: one.events)
        return self._all[at - 1] if at else None

    def keep(self, cursor: Playing, over: int = -1) -> None:
        """Keep a checkpoint if the last is far enough; `over` is a move that just ended."""
        last = self._all[-1].events if self._all else 0
        if cursor.sim.events - last < self._apart:
            return
        checkpoint = cursor.checkpoint(over, self._growths)
        if checkpoint is None:
            return
        self._all.append(checkpoint)
        self.weight += checkpoint.weight
        if len(self._all) >= MOST_CHECKPOINTS or self.weight > CHECKPOINT_BYTES:
            self.weight -= sum(evicted.weight for evicted in self._all[::2])
            del self._all[::2]
            self._apart *= 2

    def finish(self, sim: Simulation) -> None:
        """Keep the end of the run, too."""
        self.end = Checkpoint(sim, growths=self._growths)

    def __getstate__(self) -> tuple[bytes, list[tuple[Any, ...]], int, int]:
        """Return bytes: what is shared once, and each checkpoint by itself."""
        assert self.end is not None
        places = [(point, *point.parts()) for point in (*self._all, self.end)]
        shared: dict[int, Any] = {}
        for _, sim, grown in places:
            for _, growth, _ in grown:
                if id(growth) not in shared:
                    entries = chain(*growth.columns)
                    shared |= {id(entry): entry for entry in entries if not isinstance(entry, int)}
                    shared[id(growth)] = growth
            shared |= {id(entry): entry for entry in _unchanging(sim)}
        table = {number: at for at, number in enumerate(shared)}
        rows = [
            (
                _packed(parts, table),
                point.events,
                point.move,
                point.until,
                point.settling,
                point.weight,
            )
            for point, *parts in places
        ]
        together = pickle.dumps([*shared.values()], pickle.HIGHEST_PROTOCOL)
        return together, rows, self._apart, self.weight

    def __setstate__(self, state: tuple[bytes, list[tuple[Any, ...]], int, int]) -> None:
        together, rows, self._apart, self.weight = state
        self._growths = Growths()
        self._all = []
        shared = Packed(together)
        for text, *rest in rows:
            point = Checkpoint.__new__(Checkpoint)
            point._packed = shared, text
            point.events, point.move, point.until, point.settling, point.weight = rest
            self._all.append(point)
        self.end = self._all.pop()


# -- for another process ---------------------------------------------------------------------------


class Packed:
    """Entries that checkpoints share, as bytes until one of them is taken up."""

    def __init__(self, together: bytes) -> None:
        self._together = together
        self._objects: list[Any] | None = None

    def load(self, text: bytes) -> Any:
        """Unpack a checkpoint."""
        if self._objects is None:
            self._objects = pickle.loads(self._together)
            self._together = b""
        return _Unpickler(BytesIO(text), self._objects).load()


class _Pickler(pickle.Pickler):
    def __init__(self, file: BytesIO, table: dict[int, int]) -> None:
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self._table = table

    def persistent_id(self, one: object) -> int | None:
        return self._table.get(id(one))


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: BytesIO, objects: list[Any]) -> None:
        super().__init__(file)
        self._objects = objects

    def persistent_load(self, at: Any) -> Any:
        return self._objects[at]


def _unchanging(sim: Simulation) -> Iterator[Any]:
    """Yield what copies of a simulation have in common."""
    yield from (sim.scenario, sim.profile, sim.configs)
    yield from sim.network.open.values()
    for client in sim.clients.values():
        if isinstance(client, Producer):
            yield from client.outstanding.values()
    for broker in sim.cluster.brokers.values():
        for replica in broker.replicas.values():
            yield from replica.waiting


def _packed(parts: Sequence[Any], table: dict[int, int]) -> bytes:
    file = BytesIO()
    _Pickler(file, table).dump(tuple(parts))
    return file.getvalue()
