"""Random scripts on real brokers: play, compare, repeat what differs, shorten, keep.

The results of a release and a seed are one file, written after each script, so that a second call
goes on where the first was stopped.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any, Final, Protocol, TypedDict

from app.lab import random_script, table
from app.lab.recording import LabRecording, text_of, write_whole
from app.lab.releases import KafkaRelease
from app.lab.trouble import LabError
from engine.sim.run import Run
from engine.study.ddmin import ddmin

Tell = Callable[[str], None]

FORMAT: Final = 1
SHORTEN_PLAYS: Final = 24  # of real brokers, for one difference
QUORUM: Final = "quorum-"
"""How the directory of results of a quorum begins; the number of its voters follows."""
EQUAL: Final = "equal"
PASSED: Final = "passed"
"""The second play had no difference."""
DIFFERS: Final = "differs"
FAILED: Final = "failed"


class RandomStage(Protocol):
    """A place where runs are played."""

    def play(self, run: Run) -> LabRecording:
        """Return the recording of a run.  Raises LabError."""


class RandomScripts(Protocol):
    """A kind of scripts: the module `random_script`, or those of a quorum."""

    def draw(self, seed: int, number: int, release: KafkaRelease) -> Run:
        """Return script `number` of a seed, for a release."""

    def why_unfit(self, run: Run, release: KafkaRelease) -> str:
        """Return the first reason for which a list of moves would not be drawn, or ""."""


@dataclass(frozen=True, slots=True)
class ScriptResult:
    """Outcome of one script.

    `first` is [step, move, fact, real value, model's value]; `short` are the moves that still
    differ in that fact.
    """

    number: int
    moves: int
    outcome: str
    equal: int = 0
    different: int = 0
    seconds: float = 0.0
    first: tuple[Any, ...] = ()
    short: tuple[str, ...] = ()
    file: str = ""
    why: str = ""


@dataclass(slots=True)
class RandomResults:
    """Results of a release and a seed, kept in a file."""

    path: Path
    kafka: str
    seed: int
    scripts: dict[int, ScriptResult] = field(default_factory=dict)

    @staticmethod
    def load(into: Path, kafka: str, seed: int) -> RandomResults:
        """Return what the file has; a file that cannot be read raises LabError."""
        results = RandomResults(into / f"results-{kafka}-{seed}.json", kafka, seed)
        if results.path.exists():
            try:
                data = json.loads(results.path.read_text("utf-8"))
                lists = ("first", "short")
                rows = [
                    ScriptResult(**row | {name: tuple(row[name]) for name in lists})
                    for row in data["scripts"]
                ]
            except (OSError, ValueError, TypeError, KeyError) as error:
                raise LabError(
                    f"{results.path} has no results of random scripts ({error}); move it away."
                ) from None
            results.scripts = {row.number: row for row in rows}
        return results

    def add(self, result: ScriptResult) -> None:
        """Keep a result; the file is replaced at once and whole."""
        self.scripts[result.number] = result
        rows = [asdict(self.scripts[number]) for number in sorted(self.scripts)]
        data = {"format": FORMAT, "kafka": self.kafka, "seed": self.seed, "scripts": rows}
        write_whole(self.path, text_of(data))


@dataclass(slots=True)
class RandomPlayer:
    """Player of a seed's scripts; none begins after `deadline`, a time.monotonic."""

    stage: RandomStage
    release: KafkaRelease
    seed: int
    into: Path
    tell: Tell
    scripts: RandomScripts = random_script
    deadline: float = float("inf")
    shorten_plays: int = SHORTEN_PLAYS

    def play(self, count: int) -> Iterator[ScriptResult]:
        """Yield the result of each script from 1 to `count` that has none yet."""
        self.into.mkdir(parents=True, exist_ok=True)
        results = RandomResults.load(self.into, self.release.version, self.seed)
        for number in range(1, count + 1):
            earlier = results.scripts.get(number)
            if earlier is not None and earlier.outcome != FAILED:
                continue
            if time.monotonic() >= self.deadline:
                self.tell("The time is over; the same command goes on.")
                return
            result = self.one(number)
            results.add(result)
            self.tell(f"{number} of {count}: {sentence(result)}")
            yield result

    def one(self, number: int) -> ScriptResult:
        """Play one script, again where it differs, and shorten what differs twice."""
        run = self.scripts.draw(self.seed, number, self.release)
        length = len(run.lines())
        began = time.monotonic()
        try:
            made, differences, equal = self._compared(run)
        except LabError as trouble:
            return ScriptResult(number, length, FAILED, why=str(trouble))
        seconds = round(time.monotonic() - began, 1)
        result = ScriptResult(number, length, EQUAL, equal, len(differences), seconds)
        if not differences:
            return result
        name = f"chance-{self.release.version}-{self.seed}-{number}"
        self._write(name, made)
        result = replace(result, first=tuple(differences[0]), file=f"{name}.json")
        self.tell(f"{number}: {difference(result.first)}; it is played once more.")
        try:
            again = self._compared(run)[1]
            if not again:
                return replace(result, outcome=PASSED)
            result = replace(result, outcome=DIFFERS, first=tuple(again[0]))
            return replace(result, short=self._shorten(run, result.first, f"{name}-short"))
        except LabError as trouble:
            return replace(result, outcome=DIFFERS, why=str(trouble))

    def _compared(self, run: Run) -> tuple[LabRecording, list[list[Any]], int]:
        """Return a recording, what differs in it from the model, and how many facts do not."""
        made = self.stage.play(run)
        moments = table.compared(made, run)
        differences = made["differ"] = table.differing(moments)
        return made, differences, sum(len(moment.rows) for moment in moments) - len(differences)

    def _write(self, name: str, made: LabRecording) -> None:
        write_whole(self.into / f"{name}.json", text_of(made))

    def _shorten(self, run: Run, first: tuple[Any, ...], name: str) -> tuple[str, ...]:
        """Return the fewest moves found under which real brokers differ in the same fact."""
        fact, left = first[2], self.shorten_plays
        shortest = list(run.lines())[: int(first[0])]

        def spent() -> bool:
            return left <= 0 or time.monotonic() >= self.deadline

        def differs(lines: list[str]) -> bool:
            nonlocal shortest, left
            candidate = replace(run, moves=tuple(lines))
            if spent() or not lines or self.scripts.why_unfit(candidate, self.release):
                return False
            left -= 1
            made, differences, _ = self._compared(candidate)
            self.tell(f"  shortening: {len(lines)} moves, {'differs' if differences else 'equal'}")
            if all(difference[2] != fact for difference in differences):
                return False
            shortest = lines
            self._write(name, made)
            return True

        if not differs(shortest):
            return ()
        ddmin(lambda: shortest, differs, spent)
        while not spent() and any(differs(lines) for lines in without_group(shortest)):
            pass
        return tuple(shortest)


def without_group(lines: list[str]) -> Iterator[list[str]]:
    """Yield the list without two to four moves in a row, or without two that belong together.

    A kill, its detect and its restart are possible only together.
    """
    for size in (4, 3, 2):
        for start in range(len(lines) - size + 1):
            yield lines[:start] + lines[start + size :]
    for first, other in combinations(range(len(lines)), 2):
        if other > first + 1:
            yield lines[:first] + lines[first + 1 : other] + lines[other + 1 :]


def difference(first: tuple[Any, ...]) -> str:
    step, move, fact, real, model = first
    return (
        f"after move {step}, “{move}”, {fact} is {real!r} on real brokers, {model!r} in the model"
    )


def sentence(result: ScriptResult) -> str:
    if result.outcome == FAILED:
        return f"{result.moves} moves could not be played: {result.why}"
    total = result.equal + result.different
    text = f"{result.moves} moves, {result.equal} of {total} facts equal, {result.seconds:.0f} s"
    if result.outcome == PASSED:
        text += "; the second play was equal"
    if result.outcome == DIFFERS:
        short = f", in short: {'; '.join(result.short)}" if result.short else ""
        text += f"; {difference(result.first)}{short}"
    return text


class RandomTotals(TypedDict):
    """Figures of a release: counts over its scripts, and the median seconds of one."""

    scripts: int
    moves: int
    equal: int
    different: int
    seconds: float


def totals_of(results: RandomResults) -> RandomTotals:
    """Return the figures of a release that /real shows; failed scripts do not count."""
    played = [row for row in results.scripts.values() if row.outcome != FAILED]
    return {
        "scripts": len(played),
        "moves": sum(row.moves for row in played),
        "equal": sum(row.equal for row in played),
        "different": sum(row.different for row in played),
        "seconds": round(median(row.seconds for row in played), 1) if played else 0.0,
    }


def summary(results: RandomResults) -> Iterator[str]:
    """Yield the table of a release, and each script that differs."""
    outcomes = Counter(row.outcome for row in results.scripts.values())
    totals = totals_of(results)
    columns = {
        "scripts": totals["scripts"],
        "moves": totals["moves"],
        "facts equal": totals["equal"],
        "facts different": totals["different"],
        "scripts that differ": outcomes[DIFFERS],
        "not repeated": outcomes[PASSED],
        "failed": outcomes[FAILED],
        "seconds a script": round(totals["seconds"]),
    }
    yield f"| Kafka | {' | '.join(columns)} |"
    yield "|---|" + "--:|" * len(columns)
    yield f"| {results.kafka} | {' | '.join(map(str, columns.values()))} |"
    for row in results.scripts.values():
        if row.outcome != EQUAL:
            yield f"Script {row.number}: {sentence(row)}"
