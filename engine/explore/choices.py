"""Choices of the next move in a search: moves of the language, each played to its end."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final, NamedTuple

from engine.clients.group_member import GroupMember
from engine.controlplane import znodes
from engine.explore.budgets import FREE, NAMES, Budgets
from engine.model import timers
from engine.model.broker import Broker
from engine.model.groups import OFFSETS_TOPIC
from engine.model.messages import BROKEN, CONTROLLER, FIRST_PRODUCER, FIRST_VOTER
from engine.model.quorum import Quorum
from engine.model.state import DOWN, LEADER, PAUSED, STARTING, UP
from engine.moves.moves import Move, client_name, parse, play, why_not
from engine.scenarios.scenario import Scenario
from engine.sim.kernel import DELIVERY, TIMER
from engine.sim.simulation import Simulation
from engine.sim.voter_timers import has_timeout, repeating

CRASHES: Final = NAMES.index("crashes")
POWER: Final = NAMES.index("power")
K_CRASHES: Final = NAMES.index("controller")
LOSSES: Final = NAMES.index("losses")
CUTS: Final = NAMES.index("cuts")
PAUSES: Final = NAMES.index("pauses")
TIMERS: Final = NAMES.index("timers")
WRITES: Final = NAMES.index("writes")
WAITS: Final = NAMES.index("waits")
ELECTIONS: Final = NAMES.index("elections")
DISKS: Final = NAMES.index("disks")
MEMBERS: Final = NAMES.index("members")
COMMITS: Final = NAMES.index("commits")
STORE: Final = NAMES.index("store")

Way = tuple[int, int]


class Choice(NamedTuple):
    """A move, and the place of the budget that pays for it."""

    move: Move
    pays: int


class Choices:
    """Lists what can be done in a state, always in the same order."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self._names = {spec.id: spec.label for spec in scenario.brokers}
        self._names[CONTROLLER] = "K"
        for number, name in enumerate(scenario.quorum):
            self._names[FIRST_VOTER - number] = name
        self._moves: dict[str, Move] = {}

    def of(self, sim: Simulation, left: Budgets) -> list[Choice]:
        return [Choice(self._move(text), pays) for text, pays in self._texts(sim, left)]

    def _move(self, text: str) -> Move:
        move = self._moves.get(text)
        if move is None:
            move = self._moves[text] = parse(text, self._scenario.brokers)
        return move

    def _name(self, node: int) -> str:
        return self._names.get(node) or self._scenario.broker_name(node)

    def _texts(self, sim: Simulation, left: Budgets) -> Iterator[tuple[str, int]]:
        quorum = sim.cluster.quorum
        if quorum is not None:
            yield from self._of_voters(sim, quorum, left)
        else:
            yield from self._of_brokers(sim, left)
        if left.elections and sim.cluster.controller.alive:
            yield from self._of_operators(sim)

    def _of_voters(
        self, sim: Simulation, quorum: Quorum, left: Budgets
    ) -> Iterator[tuple[str, int]]:
        """Yield what voters and their links can do; brokers stand still."""
        voters = list(quorum.voters.values())
        waiting = {way for way in under_way(sim) if quorum.voters.keys() >= set(way)}
        yield from self._of_ways(waiting, waiting, left)
        for v in voters:
            if not v.alive:
                yield f"restart {v.name}", FREE
                if left.disks:
                    yield f"wipe {v.name}", DISKS
                continue
            if left.controller:
                yield f"kill {v.name}", K_CRASHES
            if left.timers and has_timeout(v):
                yield f"timeout {v.name}", TIMERS
            if any(repeating(sim, v)):
                yield f"repeat {v.name}", FREE
        yield from self._of_links(sim, list(quorum.voters), left)

    def _of_ways(
        self, ways: set[Way], waiting: set[Way], left: Budgets
    ) -> Iterator[tuple[str, int]]:
        for src, dst in sorted(ways):
            way = f"{self._end(src)}->{self._end(dst)}"
            yield f"deliver {way}", FREE
            if left.losses and (src, dst) in waiting:
                yield f"drop {way}", LOSSES

    def _of_brokers(self, sim: Simulation, left: Budgets) -> Iterator[tuple[str, int]]:
        waiting = under_way(sim)
        yield from self._of_ways(waiting | can_appear(sim), waiting, left)
        for broker in sim.cluster.brokers.values():
            yield from self._of_broker(sim, broker, left)
        yield from self._of_controller(sim, left)
        yield from self._of_links(sim, [*sim.brokers, CONTROLLER], left)
        for client in sim.clients.values():
            if isinstance(client, GroupMember):
                yield from self._of_member(sim, client, left)
        if sim.cluster.store is not None:
            if not sim.cluster.store.up:
                yield "store up", FREE
            elif left.store:
                yield "store down", STORE
        if left.writes:
            for tp, record in sim.cluster.controller.records.items():
                if sim.cluster.names[tp].startswith(OFFSETS_TOPIC):
                    continue
                leader = sim.cluster.brokers.get(record.leader)
                if leader is not None and leader.status in (UP, PAUSED):
                    yield f"produce s{left.writes}{_where(tp)} acks=all", WRITES

    def _of_member(
        self, sim: Simulation, member: GroupMember, left: Budgets
    ) -> Iterator[tuple[str, int]]:
        """Yield what a member, its application and its session can do next."""
        ends = MEMBERS if member.alive else FREE
        for verb, pays in (
            *(("join", FREE), ("read", FREE), ("process", FREE), ("repeat", FREE)),
            *(("commit", COMMITS), ("leave", MEMBERS), ("die", MEMBERS), ("timeout", ends)),
        ):
            text = f"{verb} {client_name(member.id)}"
            if (pays == FREE or left[pays]) and not why_not(sim, self._move(text)):
                yield text, pays

    def _end(self, node: int) -> str:
        """Return a node's name in a direction: brokers by number."""
        if node <= FIRST_PRODUCER:
            return client_name(node)
        return str(node) if node >= 0 else self._name(node)

    def _of_broker(
        self, sim: Simulation, broker: Broker, left: Budgets
    ) -> Iterator[tuple[str, int]]:
        name = self._name(broker.id)
        if broker.status == DOWN:
            yield f"restart {name}", FREE
            if left.disks and broker.machine.disks:
                yield f"wipe {name}", DISKS
        else:
            if left.crashes:
                yield f"kill {name}", CRASHES
                yield f"bounce {name}", CRASHES
            if left.power:
                yield f"power {name}", POWER
                yield f"bounce {name} power", POWER
        if broker.status == PAUSED:
            yield f"resume {name}", FREE
        if broker.status == UP:
            if left.pauses:
                yield f"pause {name}", PAUSES
            if left.timers:
                if any(replica.role == LEADER for replica in broker.replicas.values()):
                    yield f"tick {name}", TIMERS
                yield f"checkpoint {name}", TIMERS
                yield f"flush {name}", TIMERS
                if sim.cluster.store is not None:
                    yield f"tick {name} remote", TIMERS
                    yield f"tick {name} retention", TIMERS
        if left.waits and broker.status == STARTING:
            due = registers_at(sim, broker)
            if due > sim.now:
                yield f"advance {due - sim.now}ms", WAITS
        if sim.cluster.controller.alive and is_unnoticed(sim, broker):
            yield f"detect {name}", FREE

    def _of_controller(self, sim: Simulation, left: Budgets) -> Iterator[tuple[str, int]]:
        if not sim.cluster.controller.alive:
            if sim.cluster.zombie is None:
                yield "restart K", FREE
        elif left.controller:
            yield "kill K", K_CRASHES

    def _of_operators(self, sim: Simulation) -> Iterator[tuple[str, int]]:
        """Yield moves of leadership within the ISR; without a leader, to any live replica."""
        k = sim.cluster.controller
        live = k.active if sim.profile.mode == "kraft" else partial(znodes.is_live, k)
        for tp, record in k.records.items():
            for broker in record.isr:
                if broker != record.leader and live(broker):
                    yield f"elect {self._name(broker)}{_where(tp)}", ELECTIONS
            if not sim.profile.elect_unclean:
                continue
            if record.leader < 0 and any(live(broker) for broker in record.replicas):
                yield f"elect unclean{_where(tp)}", ELECTIONS

    def _of_links(
        self, sim: Simulation, nodes: list[int], left: Budgets
    ) -> Iterator[tuple[str, int]]:
        for place, node in enumerate(nodes):
            for other in nodes[place + 1 :]:
                ends = f"{self._name(node)} {self._name(other)}"
                if sim.network.is_cut(node, other):
                    yield f"heal {ends}", FREE
                elif left.cuts:
                    yield f"cut {ends}", CUTS
            if node in sim.network.without_zookeeper:
                yield f"heal {self._name(node)} zk", FREE


def _where(tp: int) -> str:
    return f" p={tp}" if tp else ""


def advance(sim: Simulation, move: Move) -> None:
    """Play a move to its end."""
    for _ in play(sim, move):
        pass


def under_way(sim: Simulation) -> set[Way]:
    """Return the directions on which some message can be delivered or lost."""
    network = sim.network
    links = {(m.src, m.dst) for m in network.hands}
    links.update((m.src, m.dst) for m in network.held)
    for _, kind, _, _, m in sim.kernel.pending:
        if kind == DELIVERY and m.kind != BROKEN:
            links.add((m.src, m.dst))
    return links


def can_appear(sim: Simulation) -> set[Way]:
    """Return the directions on which a message can be made to travel.

    It is an idle fetcher's request, or the answer to a fetch that waits in its leader's purgatory.
    """
    links = set()
    for broker in sim.cluster.brokers.values():
        process = broker.process
        if process is None or process.status != UP:
            continue
        for thread in process.fetchers.values():
            if thread.is_idle():
                links.add((broker.id, thread.leader))
        links.update((broker.id, parked.request.replica) for parked in process.parked)
    return {(src, dst) for src, dst in links if dst in sim.brokers}


def is_unnoticed(sim: Simulation, broker: Broker) -> bool:
    """Check whether a broker is gone or cut off, and not yet known to be."""
    registration = sim.cluster.controller.brokers.get(broker.id)
    if registration is None or registration.fenced:
        return False
    return broker.status != UP or sim.network.is_out_of_touch(broker.id)


def registers_at(sim: Simulation, broker: Broker) -> int:
    """Return when a starting broker tries to register again, or -1."""
    return min(
        (
            due
            for due, kind, node, _, payload in sim.kernel.pending
            if kind == TIMER
            and node == broker.id
            and payload[0] == timers.REGISTER
            and payload[2] == broker.machine.incarnation
        ),
        default=-1,
    )
