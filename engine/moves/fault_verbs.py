"""The verbs that break and mend: each plays a function of `faults`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from engine.dataplane import directories
from engine.faults import faults, paused_controller, voter_faults
from engine.model.messages import CONTROLLER
from engine.model.phrases import phrase
from engine.model.state import DOWN, PAUSED
from engine.moves.dir_verbs import directory, no_such_directory
from engine.moves.move_errors import (
    is_up,
    label,
    no_voter,
    refuse,
    stranger,
    voter,
    why_not_voter_up,
)
from engine.moves.moves import Args, Words, verb
from engine.sim import active_controller, pacing
from engine.sim.simulation import Simulation


def _is_alive(sim: Simulation, args: Args) -> str:
    if sim.brokers[args["broker"]].status == DOWN:
        cure = f"restart {label(sim, args['broker'])}"
        return refuse(sim, "down.already", cure, b=args["broker"])
    return ""


def _is_down(sim: Simulation, args: Args) -> str:
    if sim.brokers[args["broker"]].status != DOWN:
        cure = f"kill {label(sim, args['broker'])}"
        return refuse(sim, "running.already", cure, b=args["broker"])
    return ""


def _is_paused(sim: Simulation, args: Args) -> str:
    if sim.brokers[args["broker"]].status != PAUSED:
        cure = f"pause {label(sim, args['broker'])}"
        return refuse(sim, "not.paused", cure, b=args["broker"])
    return ""


def _broker_or_voter(words: Words) -> Args:
    word = words.named("a broker")
    node = words.node(word)
    return {"broker": words.broker_of(word) if node == CONTROLLER else node}


def _or_voter_up(why_not: Callable[[Simulation, Args], str]) -> Callable[[Simulation, Args], str]:
    """Return why a move is not possible: for a broker by `why_not`, for a voter that is not up."""

    def of_either(sim: Simulation, args: Args) -> str:
        if args["broker"] < CONTROLLER:
            return why_not_voter_up(sim, args["broker"], frozen_too=True)
        return why_not(sim, args)

    return of_either


def _why_not_shut_down(sim: Simulation, args: Args) -> str:
    if args["broker"] < CONTROLLER:
        return why_not_voter_up(sim, args["broker"])
    return is_up(sim, args)


@verb(
    "power",
    "faults",
    "power B | power C1",
    "Power fails: what was not flushed is gone.",
    _broker_or_voter,
    _or_voter_up(_is_alive),
)
def _power(sim: Simulation, args: Args) -> Iterator[None]:
    (voter_faults.kill if args["broker"] < CONTROLLER else faults.power)(sim, args["broker"])
    yield
    yield from pacing.pump(sim)


def _parse_wipe(words: Words) -> Args:
    args: Args = {**_broker_or_voter(words), "dir": 0}
    if words.words and args["broker"] >= 0:
        args["dir"] = directory(words)
    return args


def _why_not_wipe(sim: Simulation, args: Args) -> str:
    node = args["broker"]
    if node < CONTROLLER:
        return "" if voter(sim, node) is not None else no_voter(sim, node)
    return no_such_directory(sim, args)


@verb(
    "wipe",
    "faults",
    "wipe B [d1] | wipe C1",
    "The disks, or that of one log directory, are replaced by empty ones.",
    _parse_wipe,
    _why_not_wipe,
)
def _wipe(sim: Simulation, args: Args) -> Iterator[None]:
    if args["broker"] < CONTROLLER:
        voter_faults.wipe(sim, args["broker"])
    else:
        faults.wipe(sim, args["broker"], args["dir"])
    yield
    yield from pacing.pump(sim)


def _one_node(words: Words) -> Args:
    return {"broker": words.node(words.named("a broker or K"))}


def _why_not_kill(sim: Simulation, args: Args) -> str:
    if args["broker"] == CONTROLLER:
        if sim.cluster.controller.alive:
            return ""
        return refuse(sim, "controller.gone", "restart K")
    if args["broker"] < CONTROLLER:
        return why_not_voter_up(sim, args["broker"], frozen_too=True)
    return _is_alive(sim, args)


@verb(
    "kill",
    "faults",
    "kill B | kill K | kill V",
    "The process dies; its disk stays as it is.",
    _one_node,
    _why_not_kill,
)
def _kill(sim: Simulation, args: Args) -> Iterator[None]:
    if args["broker"] == CONTROLLER:
        faults.kill_controller(sim)
    elif args["broker"] < CONTROLLER:
        voter_faults.kill(sim, args["broker"])
    else:
        faults.kill(sim, args["broker"])
    yield
    yield from pacing.pump(sim)


def _why_not_pause(sim: Simulation, args: Args) -> str:
    if args["broker"] >= 0:
        return is_up(sim, args)
    if args["broker"] < CONTROLLER:
        return why_not_voter_up(sim, args["broker"])
    if sim.cluster.zombie is not None:
        return "A controller is paused already."
    return "" if sim.cluster.controller.alive else "There is no active controller."


@verb(
    "pause",
    "faults",
    "pause B | pause K | pause C1",
    "The process freezes, as in a long GC pause; for a controller another one takes over.",
    _one_node,
    _why_not_pause,
)
def _pause(sim: Simulation, args: Args) -> Iterator[None]:
    if args["broker"] == CONTROLLER:
        paused_controller.pause_controller(sim)
    elif args["broker"] < CONTROLLER:
        voter_faults.pause(sim, args["broker"])
    else:
        faults.pause(sim, args["broker"])
    yield
    yield from pacing.pump(sim)


def _why_not_resume(sim: Simulation, args: Args) -> str:
    node, quorum = args["broker"], sim.cluster.quorum
    if node >= 0:
        return _is_paused(sim, args)
    if node < CONTROLLER:
        process = voter(sim, node)
        if process is None:
            return no_voter(sim, node)
        return "" if process.paused else refuse(sim, "not.paused", f"pause {process.name}", b=node)
    if quorum is not None and any(member.paused for member in quorum.voters.values()):
        return ""
    return "" if sim.cluster.zombie is not None else "No controller is paused."


@verb(
    "resume",
    "faults",
    "resume B | resume K | resume C1",
    "The frozen process goes on; a controller that was replaced learns it the hard way.",
    _one_node,
    _why_not_resume,
)
def _resume(sim: Simulation, args: Args) -> Iterator[None]:
    if args["broker"] == CONTROLLER:
        paused_controller.resume_controller(sim)
        yield
        yield from pacing.pump(sim)
        if sim.cluster.zombie is not None:
            paused_controller.finish_resume(sim)
            yield
        return
    if args["broker"] < CONTROLLER:
        voter_faults.resume(sim, args["broker"])
    else:
        faults.resume(sim, args["broker"])
    yield
    yield from pacing.pump(sim)


def _why_not_restart(sim: Simulation, args: Args) -> str:
    if args["broker"] == CONTROLLER:
        if not sim.cluster.controller.alive:
            return ""
        return refuse(sim, "controller.here", "kill K")
    if args["broker"] < CONTROLLER:
        process = voter(sim, args["broker"])
        if process is None:
            return no_voter(sim, args["broker"])
        return (
            refuse(sim, "voter.up", f"kill {process.name}", b=args["broker"])
            if process.alive
            else ""
        )
    return _is_down(sim, args) or _has_no_disk(sim, args["broker"])


def _has_no_disk(sim: Simulation, broker: int) -> str:
    if not faults.cannot_start(sim, broker):
        return ""
    lost = directories.name(min(sim.brokers[broker].machine.broken))
    who = sim.scenario.broker_name(broker)
    return phrase(
        "Log directory {0} has failed; replace its disk first, with “wipe {1} {2}”.",
        lost,
        who,
        lost,
    )


@verb(
    "restart",
    "faults",
    "restart B | restart K | restart C1",
    "The process starts; the clock runs until it is registered and informed.",
    _one_node,
    _why_not_restart,
)
def _restart(sim: Simulation, args: Args) -> Iterator[None]:
    if args["broker"] == CONTROLLER:
        yield from _restart_controller(sim)
        return
    if args["broker"] < CONTROLLER:
        voter_faults.start(sim, args["broker"])
        yield
        yield from pacing.pump(sim)
        return
    faults.start(sim, args["broker"])
    yield
    yield from pacing.until_informed(sim, args["broker"])


def _restart_controller(sim: Simulation) -> Iterator[None]:
    """Return a new controller; it acts once the brokers that run have made themselves known."""
    faults.start_controller(sim)
    yield
    if sim.cluster.quorum is not None:
        yield from pacing.pump(sim)
        return
    for broker in sim.brokers:
        if sim.brokers[broker].status != DOWN:
            yield from pacing.until_informed(sim, broker)
    faults.finish_controller_start(sim)
    yield
    yield from pacing.pump(sim)


def _parse_bounce(words: Words) -> Args:
    args: Args = {**_broker_or_voter(words), "power": False}
    if words.words:
        if words.words.pop(0) != "power":
            raise words.fail("Only “power” may follow.")
        args["power"] = True
    return args


@verb(
    "bounce",
    "faults",
    "bounce B [power] | bounce C1",
    "A crash, of the process or the machine, and restart quicker than ZooKeeper's notice; "
    "KRaft makes the broker wait.",
    _parse_bounce,
    _or_voter_up(lambda sim, args: _is_alive(sim, args) or _has_no_disk(sim, args["broker"])),
)
def _bounce(sim: Simulation, args: Args) -> Iterator[None]:
    broker = args["broker"]
    if broker < CONTROLLER:
        voter_faults.kill(sim, broker)
        yield
        voter_faults.start(sim, broker)
        yield
        yield from pacing.pump(sim)
        return
    if args["power"]:
        faults.power(sim, broker)
    else:
        faults.kill(sim, broker)
    yield
    faults.start(sim, broker, bounced=sim.profile.mode == "zk")
    yield
    yield from pacing.until_informed(sim, args["broker"])


@verb(
    "shutdown",
    "faults",
    "shutdown B | shutdown C1",
    "A controlled shutdown: leaderships are handed over, the log is flushed.",
    _broker_or_voter,
    _why_not_shut_down,
)
def _shutdown(sim: Simulation, args: Args) -> Iterator[None]:
    node = args["broker"]
    if node < CONTROLLER:
        stops = active_controller.quorum_of(sim).voters[node]
        voter_faults.shut_down(sim, node)
        yield
        yield from pacing.run_while(sim, lambda: stops.alive)
    else:
        faults.shut_down(sim, node)
        yield
        yield from pacing.run_while(sim, lambda: sim.brokers[node].status != DOWN)
    yield from pacing.pump(sim)


def _parse_link(words: Words) -> Args:
    if len(words.words) > 1 and words.words[-1].lower() in ("zk", "zookeeper"):
        words.words.pop()
        return {"a": words.broker(), "b": CONTROLLER, "both": True, "zk": True}
    a, b, both = words.link()
    return {"a": a, "b": b, "both": both}


def _is_whole(sim: Simulation, args: Args) -> str:
    if "zk" in args:
        if sim.profile.kraft:
            return "A KRaft cluster has no ZooKeeper."
        if args["a"] in sim.network.without_zookeeper:
            return refuse(sim, "cut.already", f"heal {label(sim, args['a'])} zk")
        return ""
    if not (sim.network.is_cut(args["a"], args["b"]) and args["both"]):
        return stranger(sim, args["a"], args["b"])
    return refuse(sim, "cut.already", f"heal {label(sim, args['a'])} {label(sim, args['b'])}")


def _is_cut(sim: Simulation, args: Args) -> str:
    if "zk" in args:
        if args["a"] in sim.network.without_zookeeper:
            return ""
        return refuse(sim, "not.cut", f"cut {label(sim, args['a'])} zk")
    if args["a"] is None or sim.network.is_cut(args["a"], args["b"]):
        return ""
    why = stranger(sim, args["a"], args["b"])
    return why or refuse(sim, "not.cut", f"cut {label(sim, args['a'])} {label(sim, args['b'])}")


@verb(
    "cut",
    "faults",
    "cut 1 2 | cut 1->2 | cut 1 K | cut 1 zk | cut C1 C2",
    "Nothing passes over a link, in one direction or in both, or from a broker to ZooKeeper.",
    _parse_link,
    _is_whole,
)
def _cut(sim: Simulation, args: Args) -> Iterator[None]:
    if "zk" in args:
        faults.cut_zookeeper(sim, args["a"])
    else:
        faults.cut(sim, args["a"], args["b"], args["both"])
    yield
    yield from pacing.pump(sim)


def _parse_heal(words: Words) -> Args:
    if not words.words:
        return {"a": None, "b": None, "both": True}
    return _parse_link(words)


@verb(
    "heal",
    "faults",
    "heal 1 2 | heal | heal 1 zk",
    "The link, or every link, works again.",
    _parse_heal,
    _is_cut,
)
def _heal(sim: Simulation, args: Args) -> Iterator[None]:
    everything = args["a"] is None
    if "zk" in args:
        faults.cut_zookeeper(sim, args["a"], back=True)
        yield
        pairs = []
    elif not everything:
        pairs = [(args["a"], args["b"])]
    else:
        cut = sorted(key for key, link in sim.network.links.items() if link.cut)
        pairs = list(dict.fromkeys((max(a, b), min(a, b)) for a, b in cut))
    for a, b in pairs:
        faults.heal(sim, a, b)
        yield
    for broker in sorted(sim.network.without_zookeeper) if everything else ():
        faults.cut_zookeeper(sim, broker, back=True)
        yield
    yield from pacing.pump(sim)


def _parse_slow(words: Words) -> Args:
    a, b, _ = words.link()
    return {"a": a, "b": b, "ms": words.duration()}


def _is_stranger(sim: Simulation, args: Args) -> str:
    return stranger(sim, args["a"], args["b"])


@verb(
    "slow",
    "faults",
    "slow 1 2 200",
    "A link takes so much longer; 0 ends it.",
    _parse_slow,
    _is_stranger,
)
def _slow(sim: Simulation, args: Args) -> Iterator[None]:
    faults.slow(sim, args["a"], args["b"], args["ms"])
    yield


def _parse_slow_disk(words: Words) -> Args:
    broker = words.broker()
    args: Args = {"broker": broker, "rate": words.rate(words.take("records a second"))}
    if words.words:
        if words.words.pop(0) != "reads":
            raise words.fail("Only “reads” may follow.")
        args["reads"] = True
    return args


@verb(
    "slow_disk",
    "faults",
    "slow_disk B 10 [reads]",
    "A disk writes, or reads, so many records a second and no more; 0 ends it.",
    _parse_slow_disk,
)
def _slow_disk(sim: Simulation, args: Args) -> Iterator[None]:
    faults.slow_disk(sim, args["broker"], args["rate"], args.get("reads", False))
    yield


def _parse_lose(words: Words) -> Args:
    a, b, _ = words.link()
    share = words.take("a share such as 10%").removesuffix("%")
    return {"a": a, "b": b, "percent": words.number(share, 100)}


@verb(
    "lose",
    "faults",
    "lose 1 2 10%",
    "A link loses a share of what is sent.",
    _parse_lose,
    _is_stranger,
)
def _lose(sim: Simulation, args: Args) -> Iterator[None]:
    faults.lose(sim, args["a"], args["b"], args["percent"] / 100)
    yield


def _parse_jump(words: Words) -> Args:
    broker, span = words.broker(), words.take("a duration")
    ms = words.parse_duration(span.removeprefix("-"))
    return {"broker": broker, "ms": -ms if span.startswith("-") else ms}


@verb(
    "jump",
    "faults",
    "jump B 60s | jump B -60s",
    "The wall clock of a broker jumps ahead, or back.",
    _parse_jump,
    is_up,
)
def _jump(sim: Simulation, args: Args) -> Iterator[None]:
    faults.jump(sim, args["broker"], args["ms"])
    yield
