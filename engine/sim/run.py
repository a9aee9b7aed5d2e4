"""A run: a value of scenario, profile, seed and moves, from which replays compute the rest."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from hashlib import sha256

from engine.model.errors import InputError
from engine.model.phrases import phrase
from engine.model.profiles import get_profile
from engine.moves import moves, verbs
from engine.scenarios.scenario import Scenario
from engine.sim.simulation import Simulation

FORMAT = 1
MAX_MOVES = 5_000
MAX_TEXT = 256 * 1024
MAX_SEED = 2**53 - 1

assert verbs  # importing it fills the registry of moves


@dataclass(frozen=True, slots=True)
class Run:
    """Value of a run.  `moves` is the full list of moves, or None for the scenario's own script."""

    scenario: Scenario
    profile: str = "K39"
    seed: int = 0
    moves: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "profile", get_profile(self.profile).name)
        if not 0 <= self.seed <= MAX_SEED:
            raise InputError("invalid", "A seed lies between 0 and {0}.", MAX_SEED)
        if self.moves is not None:
            if len(self.moves) > MAX_MOVES:
                raise InputError("too_large", "A run has at most {0} moves.", MAX_MOVES)
            if self.moves == self.script():
                object.__setattr__(self, "moves", None)

    def script(self) -> tuple[str, ...]:
        """Return the scenario's moves under this profile, without comments and expectations."""
        lines = self.scenario.lines(self.profile)
        return tuple(line.text for line in lines if not line.is_expect)

    def lines(self) -> tuple[str, ...]:
        return self.script() if self.moves is None else self.moves

    def then(self, move: str) -> Run:
        """Return this run with one more move."""
        return replace(self, moves=(*self.lines(), move))

    def text(self) -> str:
        """Return the run as canonical JSON: equal runs have equal texts."""
        return json.dumps(
            {
                "format": FORMAT,
                "moves": None if self.moves is None else list(self.moves),
                "profile": self.profile,
                "scenario": self.scenario.to_dict(),
                "seed": self.seed,
            },
            sort_keys=True,
            separators=(",", ":"),
            ensure_ascii=False,
        )

    @property
    def digest(self) -> str:
        """Permanent id of this run: 16 hex digits of a hash of its text."""
        return sha256(self.text().encode()).hexdigest()[:16]

    @staticmethod
    def from_text(text: str) -> Run:
        """Parse a text from `text()`.  Raises InputError if it is too long or malformed."""
        if len(text) > MAX_TEXT:
            raise InputError("too_large", "The text of a run has at most {0} characters.", MAX_TEXT)
        try:
            data = json.loads(text)
        except RecursionError as error:
            raise InputError("invalid", "The run is nested too deep.") from error
        except ValueError as error:
            raise InputError("invalid", "The run is not JSON: {0}.", error) from error
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise InputError("invalid", "The text is no run of format {0}.", FORMAT)
        lines, seed, profile = data.get("moves"), data.get("seed"), data.get("profile")
        if lines is not None and not (
            isinstance(lines, list) and all(isinstance(move, str) for move in lines)
        ):
            raise InputError("invalid", "The moves of a run are a list of lines.")
        if not isinstance(seed, int) or isinstance(seed, bool) or not isinstance(profile, str):
            raise InputError("invalid", "A run needs a profile and a whole number as seed.")
        scenario = Scenario.from_dict(data.get("scenario"))
        run = Run(scenario, profile, seed, None if lines is None else tuple(lines))
        for line in run.lines():
            moves.parse(line, scenario.brokers)
        return run

    def simulation(self, cues: bool = False) -> Simulation:
        """Return the simulation at the start of the run."""
        return Simulation(self.scenario, self.profile, self.seed, cues)


def play(
    sim: Simulation,
    lines: tuple[str, ...],
    start: int = 0,
    ended: Callable[[int], None] | None = None,
) -> Iterator[int]:
    """Play the moves from number `start` on; after each event, yield the number of its move.

    `ended` is called with the number of a move after its last event.  For a line that cannot be
    played, raises InputError with "Move n" in `where`.
    """
    for number in range(start, len(lines)):
        try:
            move = moves.parse(lines[number], sim.scenario.brokers)
            for _ in moves.play(sim, move):
                yield number
        except InputError as error:
            sentence = phrase("Move {0} (“{1}”): {2}", number + 1, lines[number], error.sentence)
            place = f"Move {number + 1}"
            raise InputError(error.code, sentence, where=place) from error
        if ended is not None:
            ended(number)
        if sim.events > sim.budget:
            raise InputError("too_large", "The run passed {0} events.", sim.budget)


def run_to_end(sim: Simulation, lines: tuple[str, ...], start: int = 0) -> None:
    """Play the moves from number `start` on.  Raises InputError as `play` does."""
    for _ in play(sim, lines, start):
        pass


def try_move(sim: Simulation, line: str) -> str:
    """Play a move; return why it cannot be played, or ""."""
    try:
        run_to_end(sim, (line,))
    except InputError as error:
        return error.sentence
    return ""


def play_all(run: Run, cues: bool = False) -> Simulation:
    """Return the simulation, played to its end; ongoing unavailability is counted up to there."""
    sim = run.simulation(cues)
    sim.rush = not cues
    run_to_end(sim, run.lines())
    sim.ledger.close(sim.now)
    return sim
