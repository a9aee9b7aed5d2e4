"""Faults of a storm, by kind: each begins, lasts, and is over."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Final, Protocol

from app.batch.runners.rows import files_on_disk
from app.core.config import Settings
from tests.storm.attackers import KINDS, Attacker
from tests.storm.process import Trouble, place_of
from tests.storm.visitors import Place
from tests.storm.world import Dice

HOUR_S: Final = 3_600.0


class Scene(Place, Protocol):
    """Process and world that faults strike."""

    trouble: Trouble
    settings: Settings
    database: Path

    def restart(self) -> None:
        """Start another process in the place of this one, which is killed if it was not."""

    def next_number(self) -> int:
        """Return the number of the next attacker."""


Fault = Callable[[Scene, Dice], AbstractContextManager[None]]


@contextmanager
def kill(storm: Scene, dice: Dice) -> Iterator[None]:
    """Kill the process, before some statement of the database or at any time; start another."""
    storm.trouble.kill_in = dice.choice((0, 1, 2, 3, 4, 5, 6, 8))
    yield
    storm.trouble.kill_in = -1
    storm.restart()


@contextmanager
def locked(storm: Scene, dice: Dice) -> Iterator[None]:
    """Let another process write to the database, and not end."""
    other = sqlite3.connect(storm.database, isolation_level=None, timeout=0)
    try:
        other.execute("BEGIN IMMEDIATE")
        storm.trouble.locked = True
        yield
    except sqlite3.OperationalError:  # another process is writing: there is nothing to lock out
        yield
    finally:
        storm.trouble.locked = False
        other.close()


def _flag(name: str, value: object = True) -> Fault:
    @contextmanager
    def during(storm: Scene, _dice: Dice) -> Iterator[None]:
        before = getattr(storm.trouble, name)
        setattr(storm.trouble, name, value)
        yield
        setattr(storm.trouble, name, before)

    return during


@contextmanager
def jump(storm: Scene, dice: Dice) -> Iterator[None]:
    """Set the wall clock wrongly, and then right again."""
    storm.world.jump_s = (
        dice.choice((-1.0, 1.0)) * dice.choice((2, 30 * 24, 12 * 366 * 24)) * HOUR_S
    )
    yield
    storm.world.jump_s = 0.0


def _rows(harm: Callable[[Path, Dice], None]) -> Fault:
    @contextmanager
    def during(storm: Scene, dice: Dice) -> Iterator[None]:
        """Damage one file of rows of every study."""
        for number in storm.ledger.studies:
            directory = place_of(storm.settings) / number
            found = files_on_disk(str(directory))
            if found:
                harm(directory / dice.choice(found).name, dice)
        yield

    return during


def _cut(path: Path, dice: Dice) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: dice.randrange(len(whole))])


def _flip(path: Path, dice: Dice) -> None:
    whole = bytearray(path.read_bytes())
    whole[dice.randrange(len(whole))] ^= 0xFF
    path.write_bytes(whole)


def _flood(kind: str) -> Fault:
    @contextmanager
    def during(storm: Scene, _dice: Dice) -> Iterator[None]:
        attacker = Attacker(storm, storm.next_number(), float("inf"))
        attacker.hands(kind)
        yield
        attacker.until = 0.0

    return during


FAULTS: Final[dict[str, Fault]] = {
    "kill": kill,
    "locked": locked,
    "full": _flag("full"),
    "read only": _flag("readonly"),
    "broken": _flag("broken"),
    "slow": _flag("delay_s", 0.02),
    "no Spark": _flag("spark", "Spark could not start at local[*]: no Java."),
    "no room": _flag("rows_full"),
    "rows cut": _rows(_cut),
    "rows changed": _rows(_flip),
    "rows gone": _rows(lambda path, _dice: path.unlink()),
    "clock": jump,
    **{f"attack by {kind}": _flood(kind) for kind in KINDS},
}
OF_THE_DATABASE: Final = frozenset({"kill", "locked", "full", "read only", "broken", "slow"})
LASTS_S: Final = {"locked": (2.0, 20.0)}
"""The rest lasts three to eight seconds."""
