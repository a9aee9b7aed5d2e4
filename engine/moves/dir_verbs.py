"""The verbs of log directories: one fails, a log moves to another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from engine.controlplane.roles import new_disk
from engine.dataplane import directories, futures
from engine.faults import faults
from engine.model.effects import Effects
from engine.model.phrases import phrase
from engine.moves import partitions
from engine.moves.move_errors import is_up, name, named, not_running, one_broker
from engine.moves.moves import Args, Words, verb
from engine.sim import pacing
from engine.sim.kernel import TIMER
from engine.sim.simulation import Simulation

_DIR: Final = re.compile(r"d[1-9]")


def directory(words: Words) -> int:
    """Read d1, d2 ..."""
    word = words.take("a log directory such as d1")
    if not _DIR.fullmatch(word):
        raise words.fail("“{0}” is no log directory, such as d1.", word[:20])
    return int(word[1:])


def no_such_directory(sim: Simulation, args: Args) -> str:
    """Return why the broker has no directory of that name, or ""."""
    broker = sim.brokers[args["broker"]].machine
    if args["dir"] <= broker.dirs:
        return ""
    names = ", ".join(directories.name(number) for number in range(1, broker.dirs + 1))
    directory_name = directories.name(args["dir"])
    return phrase(
        "{0} has no log directory {1}; there is {2}.", named(sim, broker.id), directory_name, names
    )


def _parse_fail(words: Words) -> Args:
    return {"broker": words.broker(), "dir": directory(words)}


def _why_not_fail(sim: Simulation, args: Args) -> str:
    why = no_such_directory(sim, args)
    if why or args["dir"] not in sim.brokers[args["broker"]].machine.broken:
        return why
    where = directories.name(args["dir"])
    return phrase("Log directory {0} of {1} has failed already.", where, name(sim, args["broker"]))


@verb(
    "disk_fail",
    "faults",
    "disk_fail B d1",
    "A log directory cannot be read any more; the broker goes on with the others, or halts.",
    _parse_fail,
    _why_not_fail,
)
def _disk_fail(sim: Simulation, args: Args) -> Iterator[None]:
    faults.fail_disk(sim, args["broker"], args["dir"])
    yield
    yield from pacing.pump(sim)


# -- moves between directories ---------------------------------------------------------------------


def _parse_move(words: Words) -> Args:
    tp = partitions.take(words)
    return {"broker": words.broker(), "dir": directory(words), "tp": tp}


def _why_not_move(sim: Simulation, args: Args) -> str:
    why = not_running(sim, args["broker"]) or partitions.missing(sim, args["tp"])
    if why:
        return why
    process = sim.brokers[args["broker"]].running
    machine = process.machine
    where = directories.name(args["dir"])
    why = no_such_directory(sim, args)
    if why:
        return f"{why[:-1]} (LOG_DIR_NOT_FOUND)."
    tp = partitions.number(sim, args["tp"])
    if not sim.profile.future_replicas or not directories.survives_a_failed_directory(machine):
        return "This release cannot move a log to another directory (KIP-113, KIP-858)."
    if args["dir"] in machine.broken or tp in process.offline:
        return phrase("Log directory {0} or the replica is offline (KAFKA_STORAGE_ERROR).", where)
    disk, move = machine.disks.get(tp), machine.futures.get(tp)
    if move is not None and move.disk.dir == args["dir"]:
        return phrase("It is on its way to {0} already.", where)
    if disk is not None and disk.dir == args["dir"] and move is None:
        return phrase("The log lies in {0} already.", where)
    return ""


@verb(
    "move_dir",
    "admin",
    "move_dir B d1 [p=0]",
    "A log moves to another directory of its broker; naming the present one takes that back.",
    _parse_move,
    _why_not_move,
)
def _move_dir(sim: Simulation, args: Args) -> Iterator[None]:
    """D-1.  Move a log; a broker that does not host it yet remembers the choice."""
    broker, tp = sim.brokers[args["broker"]].running, partitions.number(sim, args["tp"])
    replica = broker.replicas.get(tp)

    def act(out: Effects) -> None:
        if replica is None:
            broker.preferred_dirs[tp] = args["dir"]
            out.cue("D-1.remember", broker.id, f"directory {tp}", None, args["dir"], tp=tp)
        elif replica.disk.dir == args["dir"]:
            futures.cancel(broker, replica, out)
        else:
            futures.begin(broker, replica, new_disk(broker.machine, args["dir"]), out)

    sim.act(TIMER, broker.id, "move_dir", act)
    yield
    yield from pacing.pump(sim)


def _why_not_copy(sim: Simulation, args: Args) -> str:
    why = is_up(sim, args)
    if why:
        return why
    if sim.auto:
        return "Logs are copied by themselves in this run; “fetching manual” changes that."
    broker = sim.brokers[args["broker"]].running
    if not broker.machine.futures:
        return phrase("No log of {0} is on its way to another directory.", name(sim, broker.id))
    if any(move.fenced for move in broker.machine.futures.values()):
        return ""  # the thread goes round and finds nothing
    if futures.next_partition(broker) < 0:
        return phrase("There is nothing to copy on {0} now.", name(sim, broker.id))
    return ""


@verb(
    "copy",
    "deliver",
    "copy B",
    "One round of the thread that copies a log to another directory of its broker.",
    one_broker,
    _why_not_copy,
)
def _copy(sim: Simulation, args: Args) -> Iterator[None]:
    pacing.copy_round(sim, sim.brokers[args["broker"]].running)
    yield
    yield from pacing.pump(sim)
