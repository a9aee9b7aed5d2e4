"""The verbs of log directories: one fails, a log moves to another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from engine.dataplane import directories
from engine.sim import faults, pacing
from engine.sim.moves import Args, Words, verb
from engine.sim.simulation import Simulation
from engine.sim.wording import name, named

_DIR: Final = re.compile(r"d[1-9]")


def directory(words: Words) -> int:
    """d1, d2 ..."""
    word = words.take("a log directory such as d1")
    if not _DIR.fullmatch(word):
        raise words.fail(f"“{word[:20]}” is no log directory, such as d1.")
    return int(word[1:])


def no_such_directory(sim: Simulation, args: Args) -> str:
    """Why the broker has no directory of that name, or ""."""
    broker = sim.brokers[args["broker"]]
    if args["dir"] <= broker.dirs:
        return ""
    known = ", ".join(directories.name(one) for one in range(1, broker.dirs + 1))
    wanted = directories.name(args["dir"])
    return f"{named(sim, broker.id)} has no log directory {wanted}; there is {known}."


def _parse_fail(words: Words) -> Args:
    return {"broker": words.broker(), "dir": directory(words)}


def _why_not_fail(sim: Simulation, args: Args) -> str:
    why = no_such_directory(sim, args)
    if why or args["dir"] not in sim.brokers[args["broker"]].broken:
        return why
    where = directories.name(args["dir"])
    return f"Log directory {where} of {name(sim, args['broker'])} has failed already."


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
