"""Matrix of "What if a broker dies now?": brokers, racks and pairs x partitions, each cell played.

Each column is a run: the moves so far, the deaths, and what the controller makes of them once it
has noticed.  A cell says what became of a partition.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from engine.model.records import NO_LEADER, PartitionRecord
from engine.sim.run import Run, run_to_end
from engine.sim.simulation import Simulation

WRITES: Final = "writes"
"""The leader stays, and acks=all is accepted."""
MOVES: Final = "moves"
"""Another broker leads, and acks=all is accepted."""
REFUSED: Final = "refused"
"""A broker leads; fewer than min.insync.replicas are in sync, so acks=all is refused."""
OFFLINE: Final = "offline"
"""No broker may lead until one that holds every committed record restarts."""
RISK: Final = "risk"
"""A broker from outside ISR and ELR was elected: what only others had is given up."""
KINDS: Final = (WRITES, MOVES, REFUSED, RISK, OFFLINE)
"""The worst last."""
STOPPED: Final = (REFUSED, RISK, OFFLINE)

MOST_COLUMNS: Final = 60
MOST_PAIRS: Final = 12
"""Pairs shown, those that stop most partitions first."""
MOST_CELLS: Final = 20_000


@dataclass(frozen=True)
class WhatIfCell:
    """Outcome of a partition: one of `KINDS`, and its leader (-1: none).

    `waits`: without a leader, the brokers of which one has to restart (ISR and ELR of KIP-966).
    """

    kind: str
    leader: int
    waits: tuple[int, ...] = ()


@dataclass(frozen=True)
class Column:
    """Brokers that die together, the moves that play it, and a cell for each partition."""

    brokers: tuple[int, ...]
    rack: str
    moves: tuple[str, ...]
    cells: tuple[WhatIfCell, ...]

    @property
    def totals(self) -> Counter[str]:
        """Kind -> number of partitions."""
        return Counter(cell.kind for cell in self.cells)

    @property
    def stopped(self) -> int:
        """Partitions that no longer accept acks=all."""
        return sum(cell.kind in STOPPED for cell in self.cells)

    @property
    def harm(self) -> tuple[int, ...]:
        """Partitions of each kind, the worst kind first: columns and rows are sorted by it."""
        return harm_of(cell.kind for cell in self.cells)


def harm_of(kinds: Iterable[str]) -> tuple[int, ...]:
    """Return how often each kind of `STOPPED` occurs, the worst first."""
    counts = Counter(kinds)
    return tuple(counts[kind] for kind in reversed(STOPPED))


def what_if(run: Run) -> tuple[tuple[int, ...], list[Column]]:
    """Return (the partitions, the columns) for the state in which a run ends.

    The state as it is first, without a death; then brokers, racks of several brokers, and the pairs
    that stop more partitions than their two brokers one by one.  Raises InputError where the run
    cannot be played.
    """
    sim = run.simulation()
    run_to_end(sim, run.lines())
    tps = tuple(sim.cluster.controller.records)
    alive = [node for node, broker in sim.brokers.items() if broker.process is not None]
    room = min(MOST_COLUMNS, MOST_CELLS // max(1, len(tps)))
    singles = [_column(sim, (node,), tps) for node in alive[:room]]
    racks = [_column(sim, nodes, tps, rack) for rack, nodes in _racks(sim, alive)]
    columns = [_column(sim, (), tps), *singles, *racks]
    if len(columns) + len(alive) * (len(alive) - 1) // 2 <= room:
        columns += _pairs(sim, singles, tps)
    return tps, columns[:room]


def _racks(sim: Simulation, alive: Iterable[int]) -> Iterator[tuple[str, tuple[int, ...]]]:
    racks: dict[str, list[int]] = {}
    for node in alive:
        if sim.racks[node]:
            racks.setdefault(sim.racks[node], []).append(node)
    yield from ((rack, tuple(nodes)) for rack, nodes in racks.items() if len(nodes) > 1)


def _pairs(sim: Simulation, singles: list[Column], tps: tuple[int, ...]) -> list[Column]:
    columns = []
    for first, other in combinations(singles, 2):
        pair = _column(sim, (*first.brokers, *other.brokers), tps)
        apart = sum(
            a.kind in STOPPED or b.kind in STOPPED
            for a, b in zip(first.cells, other.cells, strict=True)
        )
        if pair.stopped > apart:
            columns.append(pair)
    return sorted(columns, key=lambda column: -column.stopped)[:MOST_PAIRS]


def _column(
    sim: Simulation, nodes: tuple[int, ...], tps: tuple[int, ...], rack: str = ""
) -> Column:
    before = dict(sim.cluster.controller.records)
    unclean = set(sim.ledger.unclean_epochs)
    names = [sim.scenario.broker_name(node) for node in nodes]
    # No follower catches up afterwards: the answer is that of the moment of the failure.
    moves = (*(f"kill {name}" for name in names), *(f"detect {name}" for name in names))
    twin = sim.copy()
    run_to_end(twin, moves)
    risky = {tp for tp, _ in twin.ledger.unclean_epochs - unclean}
    cells = tuple(_cell(twin, tp, before[tp], tp in risky) for tp in tps)
    return Column(nodes, rack, moves, cells)


def _cell(sim: Simulation, tp: int, before: PartitionRecord, is_risky: bool) -> WhatIfCell:
    record = sim.cluster.controller.records[tp]
    if is_risky:
        return WhatIfCell(RISK, record.leader)
    process = sim.brokers[record.leader].process if record.leader != NO_LEADER else None
    if process is None:
        unclean = sim.cluster.controller.unclean_for(tp)
        waits = record.replicas if unclean else (*record.isr, *record.elr)
        return WhatIfCell(OFFLINE, NO_LEADER, tuple(waits or record.last_known_elr))
    replica = process.replicas.get(tp)
    if replica is None or len(record.isr) < replica.min_isr():
        return WhatIfCell(REFUSED, record.leader)
    return WhatIfCell(WRITES if record.leader == before.leader else MOVES, record.leader)
