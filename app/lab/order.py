"""Order in which sessions expire, enforced to be the model's.

A controller misses a broker a session after its last heartbeat.  Of two that fall silent within one
heartbeat, chance would decide which is missed first, and with KIP-966 that decides which is in the
ELR. The model knows one order; here real heartbeats are brought into it before a broker falls
silent, by waiting for one, or by holding another's back.
"""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Final

from app.kafka.fetches import BROKER_HEARTBEAT
from app.lab.links import CONTROLLER
from app.lab.stage import LabStage
from engine.model.errors import InputError
from engine.model.state import UP
from engine.moves.moves import Move
from engine.sim.run import Run, play
from engine.sim.simulation import Simulation

TOGETHER_S: Final = 1.0
"""How far apart the last signs of life are of two that one move misses; ZooKeeper ends sessions in
steps of half a second."""

APART_S: Final = 5.0
"""... and of two that are missed in different moves: the first move must be over by then."""

HEARD_WITHIN_S: Final = 12.0


@dataclass(frozen=True, slots=True)
class Before:
    """Constraint on the order in which two silent brokers are missed.

    `first`, silent since the move `since`, is missed before the one it is noted for, whose last
    sign of life must come `seconds` after its own.
    """

    first: int
    since: int
    seconds: float


@dataclass(slots=True)
class SuitePlan:
    """Constraints by the number of a move.

    The brokers that must be missed before the one that the move silences, those missed while it is
    played, and up to where each broker's log is flushed when it begins.
    """

    before: dict[int, list[Before]] = field(default_factory=lambda: defaultdict(list))
    missed: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    flushed: list[dict[int, int]] = field(default_factory=list)


def plan(run: Run, lines: list[str]) -> SuitePlan:
    """Play the moves in the model and note which broker is missed before which."""
    sim = Simulation(run.scenario, run.profile)
    silent: dict[int, int] = {}
    missed: list[tuple[int, int, int]] = []
    suite = SuitePlan()
    for number, line in enumerate(lines):
        disks = {broker.id: broker.machine.disks.get(0) for broker in sim.brokers.values()}
        suite.flushed.append({node: disk.log.flushed for node, disk in disks.items() if disk})
        with contextlib.suppress(InputError):  # what the model refuses, the cluster may refuse, too
            for _ in play(sim, (line,)):
                for broker in [node for node in silent if not _counts(sim, node)]:
                    since = silent.pop(broker)
                    for earlier, its, when in missed:
                        if since <= when:
                            apart = TOGETHER_S if when == number else APART_S
                            suite.before[since].append(Before(earlier, its, apart))
                    missed.append((broker, since, number))
                    suite.missed[number].append(broker)
        quiet = {node for node in sim.brokers if _is_quiet(sim, node) and _counts(sim, node)}
        silent = {node: silent.get(node, number) for node in sorted(quiet)}
    return suite


def _counts(sim: Simulation, broker: int) -> bool:
    """Check whether the controller counts a broker as alive."""
    registration = sim.cluster.controller.brokers.get(broker)
    return registration is not None and not registration.fenced


def _is_quiet(sim: Simulation, broker: int) -> bool:
    return sim.brokers[broker].status != UP or sim.network.is_cut(broker, CONTROLLER)


class Order:
    """Scheduler that enforces a plan's order on a cluster, before moves that silence a broker."""

    def __init__(self, stage: LabStage, run: Run, lines: list[str]) -> None:
        self._stage = stage
        self._plan = plan(run, lines)
        self.flushed = self._plan.flushed
        self._silenced: dict[int, float] = {}

    def make(self, number: int, move: Move) -> None:
        """Wait until this move may silence its broker."""
        broker = silenced(move)
        if broker is None or self._stage.cluster.session_ms:
            return  # sessions that the laboratory ends do so in its own order
        for before in self._plan.before.get(number, ()):
            self._let_pass(broker, before)
        self._stage.cluster.hand.hold(broker, BROKER_HEARTBEAT, False)
        self._silenced[number] = time.monotonic()

    def missed_in(self, number: int, move: Move) -> list[int]:
        """Return the brokers that a `detect` waits for, in the order in which the model does."""
        missed = self._plan.missed.get(number, [])
        own = move.args["broker"]
        return missed if own in missed else [*missed, own]

    def _let_pass(self, broker: int, before: Before) -> None:
        """Wait until the controller heard of `broker` long enough after the first.

        The first is the one that is to be missed first.  If that one is still to fall silent, its
        heartbeats wait from now on.
        """
        stage = self._stage
        hand = stage.cluster.hand
        since = self._silenced.get(before.since)
        if since is None:
            hand.hold(before.first, BROKER_HEARTBEAT, True)
            since = time.monotonic()
        if stage.cluster.controller_alive:
            hand.wait_for(
                lambda: hand.heard.get(broker, 0.0) >= since + before.seconds, HEARD_WITHIN_S
            )


def silenced(move: Move) -> int | None:
    """Return the broker that the controller hears no more after this move, or None."""
    args = move.args
    if move.verb.name in ("kill", "power", "pause"):
        who = args["broker"]
    elif move.verb.name == "cut" and CONTROLLER in (args["a"], args["b"]):
        who = args["b"] if args["a"] == CONTROLLER else args["a"]
    else:
        return None
    return None if who == CONTROLLER else int(who)
