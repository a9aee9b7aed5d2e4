"""A leader and a controller that exchange the in-sync set by requests (AlterPartition).

The question behind the maximal ISR: while the leader does not know what became of a request, its
high watermark waits for every replica in the set it knows or in the one it requested.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Final, NamedTuple

from engine.ladder.search import LadderMove
from engine.ladder.state import check_limits, members, renamed_set
from engine.ladder.tables import COUNT_BITS, counts_of

LEADER: Final = 0
LIMITS: Final = {"replicas": (1, 6), "offsets": (0, 8), "versions": (0, 8)}
NONE: Final = -1
INVARIANTS: Final = ("ValidHighWatermark", "LeaderInControllerIsr", "LeaderIsrCoversController")
KINDS: Final = (
    "controller-shrinks",
    "controller-accepts",
    "leader-asks-shrink",
    "leader-asks-expand",
    "writes",
    "leader-learns",
    "fetches",
)


@dataclass(frozen=True)
class AsyncIsrConstants:
    """The size.  Beyond these offsets of the leader, or versions, nothing is gone on from."""

    replicas: int
    offsets: int
    versions: int

    def __post_init__(self) -> None:
        check_limits(vars(self), LIMITS)


Sent = tuple[int, int]
"""(in-sync set as bits, version)."""


class AsyncIsrState(NamedTuple):
    """One state.  Sets of replicas are bits; messages that were sent stay for ever."""

    isr: int
    """The controller's."""
    version: int
    leader_isr: int
    leader_version: int
    pending_isr: int
    """In-sync set that the leader requested, without an answer yet; empty if there is none."""
    pending_version: int
    offsets: tuple[int, ...]
    requests: frozenset[Sent]
    updates: frozenset[Sent]

    @property
    def maximal(self) -> int:
        return self.leader_isr | self.pending_isr

    @property
    def hw(self) -> int:
        return min(self.offsets[member] for member in members(self.maximal))


class AsyncIsr:
    """The model, as `Search` wants it; states are numbered as they are first met."""

    invariants = INVARIANTS
    kinds = KINDS
    bounded = True

    def __init__(self, constants: AsyncIsrConstants) -> None:
        self.constants = constants
        n = constants.replicas
        everybody = (1 << n) - 1
        self._fired = 0
        self._states: list[AsyncIsrState] = []
        self._numbers: dict[AsyncIsrState, int] = {}
        self._renamings = [(LEADER, *rest) for rest in permutations(range(1, n))]
        nothing: frozenset[Sent] = frozenset()
        begin = AsyncIsrState(everybody, 0, everybody, 0, 0, NONE, (0,) * n, nothing, nothing)
        self.initial = self._number(begin)

    def _number(self, state: AsyncIsrState) -> int:
        number = self._numbers.setdefault(state, len(self._states))
        if number == len(self._states):
            self._states.append(state)
        return number

    def state(self, number: int) -> AsyncIsrState:
        """Return the state of a number, to be shown."""
        return self._states[number]

    def look(self, number: int) -> tuple[int, list[int]]:
        state = self._states[number]
        if not self.inside(number):
            return self._broken(state), []
        nexts = []
        for move, following in self._moves(state):
            self._fired += 1 << COUNT_BITS * KINDS.index(move.name)
            nexts.append(self._number(following))
        return self._broken(state), nexts

    def labelled(self, number: int) -> Iterator[tuple[LadderMove, int]]:
        for move, following in self._moves(self._states[number]):
            yield move, self._number(following)

    def inside(self, number: int) -> bool:
        state = self._states[number]
        size = self.constants
        return state.offsets[LEADER] <= size.offsets and state.version <= size.versions

    def moves_fired(self) -> dict[str, int]:
        return counts_of(KINDS, self._fired)

    def _broken(self, state: AsyncIsrState) -> int:
        hw = state.hw
        holds = (
            all(state.offsets[member] >= hw for member in members(state.isr)),
            bool(state.isr >> LEADER & 1),
            not state.isr & ~state.maximal,
        )
        return sum(1 << place for place, held in enumerate(holds) if not held)

    def _moves(self, state: AsyncIsrState) -> Iterator[tuple[LadderMove, AsyncIsrState]]:
        yield from self._of_controller(state)
        yield from self._of_leader(state)
        for replica, offset in enumerate(state.offsets):
            if replica != LEADER and offset < state.offsets[LEADER]:
                yield LadderMove("fetches", (replica,)), self._further(state, replica)

    def _of_controller(self, state: AsyncIsrState) -> Iterator[tuple[LadderMove, AsyncIsrState]]:
        for replica in members(state.isr):
            if replica != LEADER:
                isr = state.isr & ~(1 << replica)
                yield LadderMove("controller-shrinks", (replica,)), self._decided(state, isr)
        for isr, version in sorted(state.requests):
            if version == state.version:
                yield (
                    LadderMove("controller-accepts", tuple(members(isr))),
                    self._decided(state, isr),
                )

    @staticmethod
    def _decided(state: AsyncIsrState, isr: int) -> AsyncIsrState:
        version = state.version + 1
        updates = state.updates | {(isr, version)}
        return state._replace(isr=isr, version=version, updates=updates)

    def _of_leader(self, state: AsyncIsrState) -> Iterator[tuple[LadderMove, AsyncIsrState]]:
        hw = state.hw
        for replica in range(1, self.constants.replicas):
            if state.leader_isr >> replica & 1:
                yield LadderMove("leader-asks-shrink", (replica,)), self._asked(state, replica)
            elif state.offsets[replica] >= hw:
                yield LadderMove("leader-asks-expand", (replica,)), self._asked(state, replica)
        yield LadderMove("writes", (LEADER,)), self._further(state, LEADER)
        for isr, version in sorted(state.updates):
            if version > state.leader_version:
                learnt = state._replace(
                    leader_isr=isr, leader_version=version, pending_isr=0, pending_version=NONE
                )
                yield LadderMove("leader-learns", (*members(isr), version)), learnt

    @staticmethod
    def _asked(state: AsyncIsrState, replica: int) -> AsyncIsrState:
        isr = state.leader_isr ^ 1 << replica
        return state._replace(
            requests=state.requests | {(isr, state.leader_version)},
            pending_isr=state.pending_isr | isr,
            pending_version=state.leader_version,
        )

    @staticmethod
    def _further(state: AsyncIsrState, replica: int) -> AsyncIsrState:
        offsets = list(state.offsets)
        offsets[replica] += 1
        return state._replace(offsets=tuple(offsets))

    def representative(self, number: int) -> int:
        """Return the least image under renamings of all replicas but the leader."""
        state = self._states[number]
        return self._number(
            min((_renamed(state, names) for names in self._renamings), key=_in_order)
        )


def _renamed(state: AsyncIsrState, names: tuple[int, ...]) -> AsyncIsrState:
    def sent(messages: frozenset[Sent]) -> frozenset[Sent]:
        return frozenset((renamed_set(isr, names), version) for isr, version in messages)

    offsets = [0] * len(names)
    for replica, offset in enumerate(state.offsets):
        offsets[names[replica]] = offset
    return state._replace(
        isr=renamed_set(state.isr, names),
        leader_isr=renamed_set(state.leader_isr, names),
        pending_isr=renamed_set(state.pending_isr, names),
        offsets=tuple(offsets),
        requests=sent(state.requests),
        updates=sent(state.updates),
    )


def _in_order(state: AsyncIsrState) -> tuple[object, ...]:
    return (*state[:7], sorted(state.requests), sorted(state.updates))
