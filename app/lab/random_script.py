"""Random scripts that real brokers can play, drawn by what the model allows in each state.

A script is a function of seed, number and release: every machine draws the same.  Moves whose
outcome on real brokers depends on the clock are left out (`fits`), so that a difference is one of
behaviour and not of time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import permutations
from typing import Final

from app.lab import configuration
from app.lab.moves import why_not
from app.lab.releases import KafkaRelease
from engine.model.errors import InputError
from engine.model.messages import CONTROLLER
from engine.model.state import DOWN, FOLLOWER, LEADER, PAUSED, UP
from engine.moves import moves
from engine.moves.moves import Move
from engine.scenarios.scenario import Scenario
from engine.sim.kernel import Chance
from engine.sim.run import Run
from engine.sim.simulation import Simulation
from engine.study.wander import advance

BROKERS: Final = (1, 2, 3)
LEAST_MOVES: Final = 9
MOST_MOVES: Final = 22
QUICK_MOVES: Final = 3
"""Moves between the silence of a broker and the `detect` that ends it."""

WEIGHTS: Final[dict[str, int]] = {
    "produce": 30,
    "fetch": 22,
    "settle": 14,
    "detect": 14,
    "restart": 14,
    "resume": 10,
    "heal": 10,
    "release": 10,
    "kill": 8,
    "elect": 12,
    "reassign": 8,
    "cut": 7,
    "ask": 6,
    "shutdown": 5,
    "pause": 5,
    "hold": 5,
    "set": 4,
    "power": 3,
    "flush": 3,
    "bounce": 3,
    "delete": 2,
    "wipe": 2,
}
"""Weight of each verb among those that are possible."""

WITHOUT_CONTROLLER: Final = frozenset({"produce", "fetch", "restart"})
"""Verbs that are drawn while the controller is down."""

WHILE_SILENT: Final = frozenset(
    {"produce", "fetch", "ask", "flush", "detect", "resume", "heal", "kill", "cut", "power"}
)
"""Verbs that take little time: a broker is silent, and its session must not end by itself."""

MENDS: Final = ("restart K", "release", "heal", "resume", "restart")


@dataclass(slots=True)
class RandomScript:
    """A script as far as it is drawn, the model's state after it, and what `fits` must know.

    `asked` are followers whose response is held on its way; `silence` counts the moves since a
    broker fell silent.
    """

    sim: Simulation
    release: KafkaRelease
    lines: list[str] = field(default_factory=list)
    asked: set[int] = field(default_factory=set)
    silence: int = 0

    def silent(self) -> list[int]:
        """Return brokers that the controller counts as alive and hears no more."""
        return [one for one in self.sim.brokers if _is_silent(self.sim, one)]

    def add(self, line: str) -> str:
        """Play a line in the model and keep it; return why it does not fit, or ""."""
        move = moves.parse(line, self.sim.scenario.brokers)
        why = why_not(move, zookeeper=not self.release.kraft)
        why = why or moves.why_not(self.sim, move) or fits(self, move)
        if why:
            return why
        before = set(self.silent())
        after = self.sim.copy()
        advance(after, line)
        missed = {broker for broker in before if not _counts(after, broker)}
        if missed and move.verb.name != "detect":
            return "a session ends meanwhile"
        if not all(_is_settled(after, broker) for broker in after.brokers):
            return "a broker waits for something"
        advance(after, "checkpoint")
        self.sim = after
        self.lines.append(line)
        self.silence = self.silence + 1 if self.silent() else 0
        self._remember(move)
        return ""

    def _remember(self, move: Move) -> None:
        name, broker = move.verb.name, move.args.get("broker")
        if name == "ask":
            self.asked.add(move.args["broker"])
        elif name == "settle":
            self.asked.clear()
        elif name in ("kill", "power", "bounce", "shutdown"):
            # The connection of a held response breaks with either end.
            led = {node for node in self.asked if _leader_of(self.sim, node) in (broker, -1)}
            self.asked -= {broker, *led}


def scenario_of(chance: Chance, release: KafkaRelease, title: str) -> Scenario:
    """Draw replicas and the settings of the topic; the others are the laboratory's."""
    replicas = list(BROKERS)
    order = [replicas.pop(chance.below(len(replicas))) for _ in range(3)]
    count = 2 if chance.hits(0.25) else 3
    configs: dict[str, int] = {
        "min.insync.replicas": 1 + chance.below(2),
        "unclean.leader.election.enable": int(chance.hits(0.2)),
        **configuration.model_settings(release),
    }
    return Scenario.from_dict(
        {
            "title": title,
            "brokers": len(BROKERS),
            "partitions": [order[:count]],
            "configs": configs,
        }
    )


def draw(seed: int, number: int, release: KafkaRelease) -> Run:
    """Return script `number` of a seed, for a release."""
    title = f"chance {release.version} {seed} {number}"
    chance = Chance(seed, f"real brokers {release.version} {number}")
    scenario = scenario_of(chance, release, title)
    script = RandomScript(begun(scenario, release), release)
    length = chance.between(LEAST_MOVES, MOST_MOVES)
    while len(script.lines) < length and _draw_move(script, chance):
        pass
    _mend(script)
    return Run(scenario, release.profile, 0, tuple(script.lines))


def begun(scenario: Scenario, release: KafkaRelease) -> Simulation:
    sim = Simulation(scenario, release.profile)
    sim.rush = True
    return sim


def why_unfit(run: Run, release: KafkaRelease) -> str:
    """Return the first reason for which a list of moves would not be drawn, or ""."""
    script = RandomScript(begun(run.scenario, release), release)
    for line in run.lines():
        try:
            why = script.add(line)
        except InputError as error:
            why = error.sentence
        if why:
            return f"“{line}”: {why}"
    return ""


def _draw_move(script: RandomScript, chance: Chance) -> bool:
    """Add one move; return whether one was possible."""
    offered: dict[str, list[str]] = {}
    for line in candidates(script):
        offered.setdefault(line.split()[0], []).append(line)
    while offered:
        verb = _by_weight(chance, sorted(offered))
        lines = offered.pop(verb)
        while lines:
            if not script.add(lines.pop(chance.below(len(lines)))):
                return True
    return False


def _by_weight(chance: Chance, verbs: list[str]) -> str:
    drawn = chance.below(sum(WEIGHTS[verb] for verb in verbs))
    for verb in verbs:
        drawn -= WEIGHTS[verb]
        if drawn < 0:
            return verb
    raise AssertionError("the weights have changed")


def _mend(script: RandomScript) -> None:
    """End what is silent, cut, held or down, and let everything flow twice."""
    for _ in range(2 * len(BROKERS)):
        for broker in script.silent():
            script.add(f"detect {broker}")
    for mend in MENDS:
        for line in [candidate for candidate in candidates(script) if candidate.startswith(mend)]:
            script.add(line)
    if script.add("settle"):
        for broker in BROKERS:
            script.add(f"fetch {broker} x3")
        script.add("settle")
    script.add("settle")


# -- candidates -----------------------------------------------------------------------------------


def candidates(script: RandomScript) -> Iterator[str]:
    """Yield lines that may be possible; `RandomScript.add` refuses the others."""
    sim = script.sim
    fresh = f"m{sim.ledger.sent}"
    for broker in BROKERS:
        yield from (f"produce {fresh} to {broker} acks={acks}" for acks in ("all", "1"))
        yield from (f"fetch {broker}", f"fetch {broker} x2", f"ask {broker}")
        for verb in ("detect", "restart", "resume", "kill", "shutdown", "pause", "power"):
            yield f"{verb} {broker}"
        yield from (f"flush {broker}", f"bounce {broker}", f"wipe {broker}", f"elect {broker}")
        yield from (f"{verb} {what} {broker}" for verb in ("hold", "release") for what in _HELD)
        yield from (f"{verb} {broker} K" for verb in ("cut", "heal"))
        for other in range(broker + 1, BROKERS[-1] + 1):
            yield from (f"{verb} {broker} {other}" for verb in ("cut", "heal"))
    yield from ("settle", "elect preferred", "elect unclean", "kill K", "restart K")
    yield from (f"set min.insync.replicas={value}" for value in (1, 2))
    yield from (f"set unclean.leader.election.enable={value}" for value in ("true", "false"))
    record = sim.cluster.controller.records[0]
    leader = sim.brokers.get(record.leader)
    if leader is not None and 0 in leader.replicas:
        mark = leader.replicas[0].log.hw
        yield from (f"delete records {offset}" for offset in sorted({mark, (mark + 1) // 2}))
    if record.reassigning:
        yield "reassign cancel"
    for order in (*permutations(BROKERS, 2), *permutations(BROKERS, 3)):
        yield f"reassign {' '.join(map(str, order))}"


_HELD: Final = ("md", "alter")


# -- what is left out -----------------------------------------------------------------------------


def fits(script: RandomScript, move: Move) -> str:
    """Return why a move would be decided by the clock of real brokers; "" if it would not."""
    sim, verb, args = script.sim, move.verb.name, move.args
    broker = args.get("broker")
    k = sim.cluster.controller
    if not k.alive and verb not in WITHOUT_CONTROLLER:
        return "the controller is down"
    silent = script.silent()
    if silent and verb not in WHILE_SILENT:
        return "a broker's session is about to end"
    if silent and script.silence >= QUICK_MOVES and verb not in ("detect", "resume", "heal"):
        return "a broker is silent for long enough"
    if broker == CONTROLLER:
        return _why_not_controller(script, verb)
    why = _CHECKS.get(verb, _no_reason)(script, move)
    if why or not _silences(move):
        return why
    able = [member for member in sim.brokers if _is_able(sim, member) and member != _silenced(move)]
    if not able:
        return "no broker is left to ask"
    if silent and not script.release.kraft:
        return "two sessions may end in one event or in two"
    return ""


def _no_reason(script: RandomScript, move: Move) -> str:
    return ""


def _why_not_controller(script: RandomScript, verb: str) -> str:
    if not script.release.kraft:
        return "ZooKeeper's controller is a broker"
    healthy = all(_is_able(script.sim, broker) for broker in script.sim.brokers)
    if verb == "kill" and (not healthy or _holds(script.sim)):
        return "every broker must reach the controller"
    return ""


def _check_produce(script: RandomScript, move: Move) -> str:
    return "" if _leads(script.sim, move.args["to"]) else "it does not lead"


def _check_fetch(script: RandomScript, move: Move) -> str:
    sim, broker = script.sim, move.args["broker"]
    if broker in script.asked:
        return "its response is held"
    leader = _leader_of(sim, broker)
    if not _leads(sim, leader) or sim.network.is_cut(broker, leader):
        return "it follows no leader that answers"
    record = sim.cluster.controller.records[0]
    if broker in sim.network.held_metadata or record.leader != leader:
        return "it does not know the newest leader"
    if record.reassigning and broker not in record.isr and move.args.get("times", 1) > 1:
        return "its first fetch may end the reassignment, and its second race with the news"
    return ""


def _check_detect(script: RandomScript, move: Move) -> str:
    return "" if _is_silent(script.sim, move.args["broker"]) else "it is noticed already"


def _check_settle(script: RandomScript, move: Move) -> str:
    """Refuse a race: of two followers, the one that joins first may end the reassignment."""
    sim = script.sim
    record = sim.cluster.controller.records[0]
    outside = [node for node in record.replicas if node not in record.isr and _is_able(sim, node)]
    if record.reassigning and len(outside) > 1:
        return "two followers race for the end of a reassignment"
    return ""


def _check_restart(script: RandomScript, move: Move) -> str:
    sim, broker = script.sim, move.args["broker"]
    if not sim.cluster.controller.alive or sim.network.is_cut(broker, CONTROLLER):
        return "it does not reach the controller"
    return "its session has not ended" if _counts(sim, broker) else ""


def _check_able(script: RandomScript, move: Move) -> str:
    """Check a move of a broker that runs, reaches the controller and holds nothing back."""
    sim, broker = script.sim, move.args["broker"]
    if not _is_able(sim, broker) or broker in _holds(sim):
        return "it does not reach the controller"
    held = {broker} & script.asked or {
        follower for follower in script.asked if _leader_of(sim, follower) == broker
    }
    return "a response is held" if held else ""


def _check_bounce(script: RandomScript, move: Move) -> str:
    """Refuse a race: a broker answers LeaderAndIsr once its fetcher to the old leader has ended.

    That thread waits for a paused leader, and the controller sends the request to the next process.
    """
    paused = any(process.status == PAUSED for process in script.sim.brokers.values())
    if paused and not script.release.kraft:
        return "a fetcher of it may wait for the paused broker"
    return _check_able(script, move)


def _check_kill(script: RandomScript, move: Move) -> str:
    sim, broker = script.sim, move.args["broker"]
    return "" if _is_able(sim, broker) and broker not in _holds(sim) else "it is not reachable"


def _check_cut(script: RandomScript, move: Move) -> str:
    sim = script.sim
    ends = [broker for broker in (move.args["a"], move.args["b"]) if broker != CONTROLLER]
    if not all(_is_able(sim, broker) or len(ends) == 2 for broker in ends):
        return "it is not reachable"
    if any(sim.brokers[broker].status != UP or broker in _holds(sim) for broker in ends):
        return "it does not run"
    return "links are cut already" if sim.network.is_cut(move.args["a"], move.args["b"]) else ""


def _check_heal(script: RandomScript, move: Move) -> str:
    a, b = move.args["a"], move.args["b"]
    if a is None or not script.sim.network.is_cut(a, b):
        return "nothing is cut"
    ends = [node for node in (a, b) if node != CONTROLLER]
    return "" if all(script.sim.brokers[node].status == UP for node in ends) else "it does not run"


def _check_hold(script: RandomScript, move: Move) -> str:
    sim, broker = script.sim, move.args["broker"]
    if not script.release.kraft:
        return "ZooKeeper's controller sends metadata by itself"
    if not _is_able(sim, broker) or broker in _holds(sim):
        return "it does not reach the controller"
    return ""


def _check_elect(script: RandomScript, move: Move) -> str:
    sim = script.sim
    record = sim.cluster.controller.records[0]
    if move.args["broker"] is not None and record.reassigning:
        return "its order of replicas is being changed"
    return "" if not _holds(sim) or move.args["broker"] is None else "metadata is held"


def _check_reassign(script: RandomScript, move: Move) -> str:
    if script.release.numbers < (2, 4, 0):
        return "reassignments by request came with 2.4"
    sim = script.sim
    target = move.args["target"]
    record = sim.cluster.controller.records[0]
    if target is not None and (record.reassigning or target == record.replicas):
        return "nothing would move"
    return "" if target is None or all(_is_able(sim, node) for node in target) else "one is away"


def _check_delete(script: RandomScript, move: Move) -> str:
    leader = script.sim.cluster.controller.records[0].leader
    if not _is_able(script.sim, leader):
        return "the leader is not reachable"
    return "a response is held" if script.asked else ""


def _check_set(script: RandomScript, move: Move) -> str:
    """Refuse a race: Kafka looks for leaderless partitions that may elect every five minutes."""
    if script.release.numbers < (1, 0, 0):
        return "there is no request for it"
    allows = move.args["key"] == "unclean.leader.election.enable" and move.args["value"] == "true"
    if allows and script.release.kraft and script.sim.cluster.controller.records[0].leader < 0:
        return "the controller may look for an unclean leader at any time"
    return ""


def _check_wipe(script: RandomScript, move: Move) -> str:
    sim, broker = script.sim, move.args["broker"]
    down = sim.brokers[broker].status == DOWN and not _counts(sim, broker)
    return "" if down and 0 in sim.brokers[broker].machine.disks else "it is not down"


_CHECKS: Final = {
    "produce": _check_produce,
    "fetch": _check_fetch,
    "ask": _check_fetch,
    "detect": _check_detect,
    "settle": _check_settle,
    "restart": _check_restart,
    "kill": _check_kill,
    "power": _check_kill,
    "pause": _check_able,
    "shutdown": _check_able,
    "bounce": _check_bounce,
    "cut": _check_cut,
    "heal": _check_heal,
    "hold": _check_hold,
    "elect": _check_elect,
    "reassign": _check_reassign,
    "delete": _check_delete,
    "set": _check_set,
    "wipe": _check_wipe,
}


def _silenced(move: Move) -> int | None:
    if move.verb.name == "cut" and CONTROLLER in (move.args["a"], move.args["b"]):
        return int(max(move.args["a"], move.args["b"]))
    return move.args["broker"] if move.verb.name in ("kill", "power", "pause", "shutdown") else None


def _silences(move: Move) -> bool:
    return _silenced(move) is not None


def _counts(sim: Simulation, broker: int) -> bool:
    """Check whether the controller counts a broker as alive."""
    registration = sim.cluster.controller.brokers.get(broker)
    return registration is not None and not registration.fenced


def _is_silent(sim: Simulation, broker: int) -> bool:
    away = sim.brokers[broker].status != UP or sim.network.is_cut(broker, CONTROLLER)
    return away and _counts(sim, broker)


def _is_able(sim: Simulation, broker: int) -> bool:
    """Check whether a broker runs, is counted, and reaches the controller."""
    up = broker in sim.brokers and sim.brokers[broker].status == UP
    return up and _counts(sim, broker) and not sim.network.is_cut(broker, CONTROLLER)


def _is_settled(sim: Simulation, broker: int) -> bool:
    return sim.brokers[broker].status in (UP, DOWN, PAUSED)


def _holds(sim: Simulation) -> set[int]:
    return sim.network.held_metadata | sim.network.held_alter


def _leads(sim: Simulation, broker: int) -> bool:
    if broker not in sim.brokers or sim.brokers[broker].status != UP:
        return False
    replica = sim.brokers[broker].replicas.get(0)
    return replica is not None and replica.role == LEADER


def _leader_of(sim: Simulation, follower: int) -> int:
    """Return the leader that a follower fetches from, or -1."""
    process = sim.brokers[follower].process
    replica = None if process is None else process.replicas.get(0)
    if process is None or replica is None or replica.role != FOLLOWER:
        return -1
    return next((it.leader for it in process.fetchers.values() if 0 in it.partitions), -1)
