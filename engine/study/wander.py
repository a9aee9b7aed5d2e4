"""Random play: small worlds, clusters by chance, and moves drawn from what the engine offers.

Tests and `highwater soak` draw from the same places.  Whatever is drawn is text again: a scenario,
a profile, a list of moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar

from engine.model.configs import Value
from engine.model.profiles import FLAGS, TRUNCATIONS, get_profile
from engine.moves import moves
from engine.scenarios.scenario import Scenario
from engine.sim.kernel import Chance
from engine.sim.run import Run
from engine.sim.simulation import Simulation
from engine.why.suggesting import suggestions

T = TypeVar("T")

WORLDS: Final = {
    "manual": Scenario.from_dict({"title": "x", "brokers": 3}),
    "two of three": Scenario.from_dict(
        {"title": "x", "brokers": 3, "configs": {"min.insync.replicas": 2}}
    ),
    "auto": Scenario.from_dict(
        {
            "title": "x",
            "brokers": 3,
            "fetching": "auto",
            "network": {"delay_ms": [0, 5], "control_delay_ms": [0, 5]},
        }
    ),
    "two partitions": Scenario.from_dict(
        {"title": "x", "brokers": 3, "partitions": [[1, 2, 3], [2, 3]]}
    ),
}

# -- what can be done -----------------------------------------------------------------------------


def allowed(
    sim: Simulation,
    accepts: Callable[[str], bool],
    offers: Callable[[Simulation], Iterator[str]] = suggestions,
) -> dict[str, list[str]]:
    """Return the possible moves by verb, so that many targets do not favour a verb."""
    by_verb: dict[str, list[str]] = {}
    for line in offers(sim):
        move = moves.parse(line, sim.scenario.brokers)
        if accepts(line) and not moves.why_not(sim, move):
            by_verb.setdefault(move.verb.name, []).append(line)
    return by_verb


def advance(sim: Simulation, line: str) -> None:
    """Play one move to its end."""
    for _ in moves.play(sim, moves.parse(line, sim.scenario.brokers)):
        pass


def everything(sim: Simulation) -> Iterator[str]:
    """Yield what the menus suggest, and what only a line or an operator can ask for."""
    yield from suggestions(sim)
    names = [spec.label for spec in sim.scenario.brokers]
    fresh = sim.ledger.sent
    for tp in range(len(sim.scenario.partitions)):
        yield f"produce x{fresh} acks=all p={tp}"
        yield f"produce y{fresh} z{fresh} acks=1 p={tp}"
    for index, name in enumerate(names):
        yield f"produce w{fresh} to {name} acks={('all', '1', '0')[fresh % 3]}"
        if not sim.auto:
            yield f"fetch {name} x3"
        for tp in range(len(sim.scenario.partitions)):
            yield f"fetch_error {name} p={tp}"
        for verb in ("wipe {}", "bounce {}", "bounce {} power", "jump {} 60s", "checkpoint {}"):
            yield verb.format(name)
        for what in ("md", "alter"):
            yield f"hold {what} {name}"
            yield f"release {what} {name}"
        yield f"slow {name} K 200"
        yield f"slow_disk {name} {(fresh % 3) * 2}"
        for other in names[index + 1 :]:
            yield f"cut {name}->{other}"
            yield f"slow {name} {other} {(fresh % 3) * 300}"
            yield f"lose {name} {other} {(fresh % 2) * 25}%"
    yield from ("heal", "+40", "run 2s", "advance 20s", "fetching auto", "fetching manual")
    for value in (1, 2, 3):
        yield f"set min.insync.replicas={value}"
    yield from ("set unclean.leader.election.enable=true", "set replica.lag.time.max.ms=10000")
    for role in ("leader", "follower"):
        yield f"set {role}.replication.throttled.replicas={('', '*', '0:1')[fresh % 3]}"
        yield f"set {role}.replication.throttled.rate={(500, 10**9)[fresh % 2]}"
    yield f"set retention.bytes={(-1, 3_000)[fresh % 2]}"
    yield f"set num.replica.fetchers={1 + fresh % 3}"
    yield f"set replica.fetch.min.bytes={(1, 2_500)[fresh % 2]}"
    yield f"set replica.fetch.max.bytes={(1_048_576, 500)[fresh % 2]}"
    yield f"set replica.fetch.response.max.bytes={(10_485_760, 1_500)[fresh % 2]}"
    yield f"set fetch_sessions={('true', 'false')[fresh % 2]}"


# -- by chance ------------------------------------------------------------------------------------

STEADY: Final = ("produce", "settle", "fetch", "deliver", "advance", "detect", "restart", "read")
"""Half of the moves are of these, so that there is something to lose."""


def pick(chance: Chance, found: Sequence[T]) -> T:
    """Return one of these, each as likely."""
    return found[chance.below(len(found))]


def draw_move(sim: Simulation, chance: Chance, accepts: Callable[[str], bool]) -> str:
    offered = allowed(sim, accepts, everything)
    verbs = sorted(offered)
    steady = [verb for verb in verbs if verb in STEADY]
    verb = pick(chance, steady if steady and chance.hits(0.5) else verbs)
    return pick(chance, offered[verb])


def draw_profile(chance: Chance, names: Sequence[str]) -> str:
    """Return one of these releases; in a third of the cases with flags flipped."""
    row = get_profile(pick(chance, names))
    changes: dict[str, bool | int] = {}
    if chance.hits(0.33):
        modelled = [
            name for name, flag in FLAGS.items() if flag.modelled and flag.exists_in(row.mode)
        ]
        for _ in range(1 + chance.below(3)):
            flag = pick(chance, [*modelled, "truncation"])
            if flag == "truncation":
                changes[flag] = chance.below(len(TRUNCATIONS))
            else:
                changes[flag] = not getattr(row, flag)
    return row.with_flags(changes).name


VALUES: Final[dict[str, tuple[Value, ...]]] = {
    "min.insync.replicas": (1, 2, 2, 3),
    "unclean.leader.election.enable": (0, 0, 0, 1),
    "replica.lag.time.max.ms": (2_000, 30_000),
    "broker.session.timeout.ms": (4_000, 9_000),
    "zookeeper.session.timeout.ms": (4_000, 18_000),
    "broker.heartbeat.interval.ms": (100, 2_000),
    "replica.high.watermark.checkpoint.interval.ms": (50, 5_000),
    "flush.messages": (1, 3),
    "segment.records": (1, 2, 5),
    "fetch_max_records": (1, 2, 500),
    "num.replica.fetchers": (2, 3),
    "replica.fetch.min.bytes": (0, 1_500, 5_000),
    "replica.fetch.max.bytes": (0, 500, 2_000),
    "replica.fetch.response.max.bytes": (0, 1_000, 3_000),
    "commit_ms": (0, 30),
    "md_delay": (0, 50),
    "controlled.shutdown.enable": (0, 1),
    "eligible.leader.replicas.version": (0, 1),
    "leader.imbalance.check.interval.seconds": (2, 300),
    "fetch_sessions": (0, 1),
    "max.incremental.fetch.session.cache.slots": (0, 1, 2),
    "leader.replication.throttled.replicas": ("*", "0:1,1:1"),
    "leader.replication.throttled.rate": (500, 5_000),
    "follower.replication.throttled.replicas": ("*", "0:2"),
    "follower.replication.throttled.rate": (500, 5_000),
    "retention.ms": (5_000, 60_000),
    "retention.bytes": (0, 3_000),
    "log.retention.check.interval.ms": (1_000, 10_000),
}


LOADS: Final[tuple[dict[str, object], ...]] = (
    {"acks": "all", "idempotent": True},
    {"acks": "all"},
    {"acks": "all", "batch": 3, "steady": True},
    {"acks": 1},
    {"acks": 0, "retries": False},
)


STRIKES: Final[tuple[dict[str, object], ...]] = (
    {"kind": "kill", "mttr_ms": 400},
    {"kind": "power", "mttr_ms": 400},
    {"kind": "disk_fail", "mttr_ms": 700},
    {"kind": "disk_fail"},
    {"kind": "partition", "together": False, "mttr_ms": 3_000},
    {"kind": "cut", "mttr_ms": 2_000},
    {"kind": "cut_controller", "mttr_ms": 3_000},
    {"kind": "lossy", "loss": 0.3, "mttr_ms": 2_000},
    {"kind": "rolling_restart"},
    {"kind": "rolling_restart", "mttr_ms": 600},
)
"""Faults of the plan of a drawn cluster; `run` lets it."""


def draw_faults(chance: Chance, brokers: Sequence[int]) -> list[dict[str, Any]]:
    """Return one to three lines: at a rate that is met within some seconds, or once."""
    lines = []
    for _ in range(1 + chance.below(3)):
        when = pick(chance, ({"mtbf_ms": 2_500}, {"mtbf_ms": 6_000}, {"at_ms": 300}))
        line = {**pick(chance, STRIKES), **when}
        if chance.hits(0.5):
            line["brokers"] = [pick(chance, brokers)]
        lines.append(line)
    return lines


def draw_cluster(chance: Chance) -> Scenario:
    """Return a random cluster.

    It has one to five brokers, numbered from 1 or from 0, one to three partitions, and a few
    settings unlike the defaults.
    """
    brokers, first = pick(chance, (1, 2, 3, 3, 3, 4, 5)), pick(chance, (0, 1, 1))
    ids = list(range(first, first + brokers))
    partitions = []
    for _ in range(pick(chance, (1, 1, 2, 3))):
        rest = list(ids)
        partitions.append(
            [rest.pop(chance.below(len(rest))) for _ in range(1 + chance.below(min(3, brokers)))]
        )
    configs = {name: pick(chance, VALUES[name]) for name in VALUES if chance.hits(0.25)}
    data: dict[str, Any] = {
        "title": "by chance",
        "brokers": [{"id": broker} for broker in ids],
        "partitions": partitions,
        "configs": configs,
    }
    if chance.hits(0.4):
        loss = pick(chance, (0.0, 0.0, 0.05))
        delays = [0, pick(chance, (0, 3, 20))]
        data["fetching"] = "auto"
        data["network"] = {"delay_ms": delays, "control_delay_ms": delays, "loss": loss}
        if chance.hits(0.25):
            data["network"]["delay_ms"] = {"median": 2, "p99": pick(chance, (10, 200))}
    if chance.hits(0.3):
        load = {"rate_per_s": pick(chance, (1, 5)), **pick(chance, LOADS)}
        data["workload"] = {"producers": [load], "consumers": chance.below(2)}
    if chance.hits(0.3):
        data["faults"] = draw_faults(chance, ids)
    if chance.hits(0.4):
        data["brokers"] = [{"id": broker, "dirs": 1 + chance.below(2)} for broker in ids]
    return Scenario.from_dict(data)


def draw_run(
    seed: int, number: int, profiles: Sequence[str], library: Sequence[Scenario]
) -> tuple[Run, Chance]:
    """Run `number` of a soak as it begins, before any move of its own, and where to draw them.

    Half of them are scenarios of the library, played from the start or after a part of the script.
    """
    chance = Chance(seed, f"soak {number}")
    profile = draw_profile(chance, profiles)
    if not library or chance.hits(0.5):
        cluster = draw_cluster(chance)
        first = ("run 6s",) if cluster.faults else ()
        return Run(cluster, profile, chance.below(1_000), first), chance
    fit = [candidate for candidate in library if not candidate.cannot_begin(profile)]
    if not fit:
        return Run(draw_cluster(chance), profile, chance.below(1_000), ()), chance
    scenario = pick(chance, fit)
    run = Run(scenario, profile, chance.below(1_000))
    script = [line for line in run.lines() if not line.startswith("run")]
    lines = tuple(script[: chance.below(len(script) + 1)])
    return Run(scenario, profile, run.seed, lines), chance
