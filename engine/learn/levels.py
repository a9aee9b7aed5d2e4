"""Levels of "Can you lose it?": a cluster, a hand of moves, and an acknowledged record to lose.

`levels/levels.yaml` has them in order.  A level is solved when a broker leads that lacks an
acknowledged record; where no order of the moves leads there, the level is solved by saying so.
Par and the number of states are results of `tests/level_search.py`, an exhaustive search.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from engine.explore.choices import advance, is_unnoticed
from engine.learn.texts import Texts, move_lines, profile_name, require, texts
from engine.model.errors import InputError
from engine.model.state import LEADER, UP
from engine.moves import moves
from engine.scenarios.file import find, load_value
from engine.scenarios.places import Reader
from engine.sim.run import Run, run_to_end
from engine.sim.simulation import Simulation
from engine.why.suggesting import about

CANVAS: Final = "S60"
"""The scenario of every level: three brokers, one partition, no script."""
MOST_MOVES: Final = 60
MOST_TEXT: Final = 200
UNLIMITED: Final = 99
"""In a hand: a move that may be made as often as one likes."""
WAITS: Final = ("settle", "detect")
"""Verbs of moves that let time pass.  They are free."""
_FIELDS: Final = ("title", "goal", "hint", "release", "first", "hand", "states", "solution", "was")


class LevelMove(NamedTuple):
    """A move of the hand that can be made now."""

    kind: str
    text: str
    broker: str = ""
    """Name of the broker it concerns, if it is one."""
    about: tuple[str, ...] = ()
    """Things of the stage that it acts on, by their names there (`engine.why.suggesting.about`)."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """Outcome of the moves of a run: moves that cost, the verdict, and what can be done next."""

    played: tuple[str, ...]
    used: int
    verdict: str
    """`none`: nothing is acknowledged; `headless`: no broker leads; `gone`: the leader is down and
    the controller has not noticed; `kept`: the leader has everything; `lost`."""
    leader: str
    records: tuple[str, ...]
    """Acknowledged records: all, or with `lost` those that are lost."""
    moves: tuple[LevelMove, ...]
    wait: str

    @property
    def lost(self) -> bool:
        return self.verdict == "lost"


@dataclass(frozen=True, slots=True)
class Level:
    """One level; `hand` has the kinds of moves with how often each may be made."""

    slug: str
    title: Texts
    goal: Texts
    hint: Texts
    profile: str
    first: tuple[str, ...]
    hand: dict[str, int]
    states: int
    """States that the search visited: all, where there is no solution."""
    solution: tuple[str, ...]
    was: tuple[str, ...]
    """Names under which old links know it."""

    @property
    def par(self) -> int:
        """Moves of a shortest solution; 0 where there is none."""
        return sum(not is_wait(line) for line in self.solution)

    @property
    def beginning(self) -> Run:
        return Run(find(CANVAS), self.profile, 0, self.first)

    def start(self) -> Simulation:
        """Return the cluster as the player finds it."""
        run = self.beginning
        sim = run.simulation()
        run_to_end(sim, run.lines())
        return sim

    def attempt(self, run: Run) -> Attempt:
        """Judge a run.  Raises InputError unless it is this level's cluster, with its moves."""
        lines, begun = run.lines(), len(self.first)
        same = (run.scenario.digest, run.profile) == (find(CANVAS).digest, self.profile)
        if not same or lines[:begun] != self.first or len(lines) > begun + MOST_MOVES:
            raise InputError("impossible", "This run is not one of the level.")
        sim, played = self.start(), lines[begun:]
        at = 0
        while at < len(played):
            at += len(self._follow(sim, played, at))
        verdict, records = judge(sim)
        leader = sim.cluster.controller.records[0].leader
        return Attempt(
            played,
            sum(not is_wait(line) for line in played),
            verdict,
            sim.scenario.broker_name(leader) if leader >= 0 else "",
            records,
            tuple(self.moves(sim, played)),
            "; ".join(wait(sim.copy())),
        )

    def _follow(self, sim: Simulation, played: tuple[str, ...], at: int) -> list[str]:
        """Make the move at a place, or let time pass, and return its lines.

        Raises InputError for a move that is not in the hand, and for time that passes in part: no
        search has seen that.
        """
        line = played[at]
        if is_wait(line):
            lines = wait(sim)
        elif line in {move.text for move in self.moves(sim, played[:at])}:
            lines = [line]
            make(sim, line)
        else:
            lines = []
        if not lines or played[at : at + len(lines)] != tuple(lines):
            raise InputError("impossible", "“{0}” is no move of this level.", line[:60])
        return lines

    def moves(self, sim: Simulation, played: tuple[str, ...]) -> Iterator[LevelMove]:
        """Yield the moves of the hand that are left and can be made."""
        spent = Counter(map(kind_of, played))
        writes = sum(line.startswith("produce ") for line in (*self.first, *played))
        for kind, most in self.hand.items():
            if spent[kind] >= most < UNLIMITED:
                continue
            for move in KINDS[kind](sim, kind, writes + 1):
                parsed = moves.parse(move.text, sim.scenario.brokers)
                if not moves.why_not(sim, parsed):
                    yield move._replace(about=tuple(about(sim, parsed)))


def make(sim: Simulation, line: str) -> None:
    """Play one move to its end.  Raises InputError where it cannot be played."""
    move = moves.parse(line, sim.scenario.brokers)
    why = moves.why_not(sim, move)
    if why:
        raise moves.impossible(why)
    advance(sim, move)


def wait(sim: Simulation) -> list[str]:
    """Let time pass until nothing changes, and the controller knows which brokers are gone."""
    lines = ["settle"]
    make(sim, "settle")
    for broker in sim.cluster.brokers.values():
        if is_unnoticed(sim, broker):
            lines.append(f"detect {broker.id}")
            make(sim, lines[-1])
    if len(lines) > 1:
        lines.append("settle")
        make(sim, "settle")
    return lines


def judge(sim: Simulation) -> tuple[str, tuple[str, ...]]:
    """Return the verdict on a state, and the records it is about (see `Attempt`)."""
    acked = tuple(value for batch in sim.ledger.acked[0] for value in batch.values)
    leader = sim.cluster.controller.records[0].leader
    if not acked:
        return "none", acked
    if leader < 0:
        return "headless", acked
    broker = sim.cluster.brokers[leader]
    if broker.status != UP:
        return "gone", acked
    disk = broker.machine.disks.get(0)
    stored = {value for batch in disk.log.batches for value in batch.values} if disk else set()
    missing = tuple(value for value in acked if value not in stored)
    return ("lost", missing) if missing else ("kept", acked)


def is_wait(line: str) -> bool:
    """Check whether a move only lets time pass."""
    return line.split()[0] in WAITS


# -- kinds of moves -------------------------------------------------------------------------------


def kind_of(line: str) -> str:
    verb, *words = line.split()
    if verb == "produce":
        return f"write {words[-1].removeprefix('acks=')}"
    return " ".join([verb, *(word for word in words if word in ("power", "unclean"))])


def _write(sim: Simulation, kind: str, number: int) -> Iterator[LevelMove]:
    """Yield a write to each broker that takes itself for the leader."""
    for broker in sim.cluster.brokers.values():
        replica = broker.replicas.get(0) if broker.status == UP else None
        if replica is not None and replica.role == LEADER:
            name = sim.scenario.broker_name(broker.id)
            acks = kind.removeprefix("write ")
            yield LevelMove(kind, f"produce m{number} to {name} acks={acks}", name)


def _each(form: str) -> Callable[[Simulation, str, int], Iterator[LevelMove]]:
    """Return the same move for each broker."""

    def of_brokers(sim: Simulation, kind: str, _: int) -> Iterator[LevelMove]:
        for spec in sim.scenario.brokers:
            yield LevelMove(kind, form.format(spec.label), spec.label)

    return of_brokers


def _alone(text: str) -> Callable[[Simulation, str, int], Iterator[LevelMove]]:
    return lambda sim, kind, _: iter((LevelMove(kind, text),))


KINDS: Final[dict[str, Callable[[Simulation, str, int], Iterator[LevelMove]]]] = {
    "write all": _write,
    "write 1": _write,
    "fetch": _each("fetch {}"),
    "kill": _each("kill {}"),
    "power": _each("power {}"),
    "bounce power": _each("bounce {} power"),
    "wipe": _each("wipe {}"),
    "restart": _each("restart {}"),
    "cut": _each("cut {} K"),
    "heal": _alone("heal"),
    "elect unclean": _alone("elect unclean"),
}
"""Kind of a move -> the moves of this kind, playable or not."""


# -- the file -------------------------------------------------------------------------------------


def read(text: str, where: str = "levels.yaml") -> dict[str, Level]:
    """Read the levels of a file.  Raises InputError: one sentence, where = "file:line:column"."""
    value, check = load_value(text, where)
    if not isinstance(value, dict):
        raise check.bad((), "Levels are listed by their names.")
    return {str(name): _level(check, str(name), fields) for name, fields in value.items()}


def _level(check: Reader, slug: str, value: object) -> Level:
    fields = check.mapping(value, (slug,), _FIELDS)
    needed = ("title", "goal", "hint", "release", "hand", "states")
    require(check, fields, needed, (slug,), f"The level {slug[:40]}")
    profile = profile_name(check, fields["release"], (slug, "release"))
    hand = check.mapping(fields["hand"], (slug, "hand"), tuple(KINDS))
    return Level(
        slug,
        texts(check, fields["title"], (slug, "title"), MOST_TEXT),
        texts(check, fields["goal"], (slug, "goal"), MOST_TEXT),
        texts(check, fields["hint"], (slug, "hint"), MOST_TEXT),
        profile,
        move_lines(check, fields.get("first", []), (slug, "first"), CANVAS),
        {
            kind: check.integer(most, (slug, "hand", kind), 1, UNLIMITED)
            for kind, most in hand.items()
        },
        check.integer(fields["states"], (slug, "states"), 1, 1_000_000),
        move_lines(check, fields.get("solution", []), (slug, "solution"), CANVAS),
        tuple(map(str, check.listing(fields.get("was", []), (slug, "was"), MOST_MOVES))),
    )


@cache
def levels() -> dict[str, Level]:
    return read((files("engine.learn") / "levels" / "levels.yaml").read_text("utf-8"))
