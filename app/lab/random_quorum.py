"""Random scripts of a quorum: controllers are cut off, killed, frozen and started again.

A script is a function of seed, number and release.  It is not drawn by what the model allows, for
the leader is chance; what is possible follows from the controllers that run and the links cut.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

from app.lab.releases import KafkaRelease
from engine.scenarios.scenario import Scenario
from engine.sim.kernel import Chance
from engine.sim.run import Run

BROKERS: Final = 3
LEAST_FAULTS: Final = 3
MOST_FAULTS: Final = 6
REST_S: Final = (4, 9)
"""Seconds after a fault: most elections are over by then."""
PATIENCE_S: Final = 12
"""... and after everything is mended."""

WEIGHTS: Final = {
    "cut": 6,
    "kill": 5,
    "restart": 5,
    "shutdown": 3,
    "heal": 3,
    "pause": 3,
    "resume": 3,
    "produce": 2,
}


@dataclass(slots=True)
class QuorumScript:
    """Lines as far as they are drawn, and the controllers and links that they leave."""

    voters: tuple[str, ...]
    lines: list[str] = field(default_factory=list)
    down: set[str] = field(default_factory=set)
    frozen: set[str] = field(default_factory=set)
    cut: set[str] = field(default_factory=set)
    produced: int = 0

    def possible(self) -> list[str]:
        """Return every move that can be played now; a rest is possible at any time."""
        runs = [voter for voter in self.voters if voter not in self.down | self.frozen]
        links = [f"{voter} {other}" for voter, other in combinations(self.voters, 2)]
        return [
            *(f"{verb} {voter}" for verb in ("kill", "shutdown", "pause") for voter in runs),
            *(f"restart {voter}" for voter in sorted(self.down)),
            *(f"resume {voter}" for voter in sorted(self.frozen)),
            *(f"kill {voter}" for voter in sorted(self.frozen)),
            *(f"cut {link}" for link in links if link not in self.cut),
            *(["heal"] if self.cut else []),
            f"produce m{self.produced} to 1 acks=1",
        ]

    def add(self, line: str) -> None:
        verb, _, what = line.partition(" ")
        if verb in ("kill", "shutdown"):
            self.down.add(what)
            self.frozen.discard(what)
        elif verb == "restart":
            self.down.discard(what)
        elif verb == "pause":
            self.frozen.add(what)
        elif verb == "resume":
            self.frozen.discard(what)
        elif verb == "cut":
            self.cut.add(what)
        elif verb == "heal":
            self.cut.clear()
        elif verb == "produce":
            self.produced += 1
        self.lines.append(line)

    def mends(self) -> list[str]:
        """Return the moves after which everything runs and is connected."""
        return [
            *(["heal"] if self.cut else []),
            *(f"resume {voter}" for voter in sorted(self.frozen)),
            *(f"restart {voter}" for voter in sorted(self.down)),
        ]


@dataclass(frozen=True, slots=True)
class QuorumScripts:
    """Scripts of a quorum; `voters` is the number of its controllers."""

    voters: int

    def draw(self, seed: int, number: int, release: KafkaRelease) -> Run:
        """Return script `number` of a seed, for a release."""
        title = f"quorum {release.version} {seed} {number}"
        chance = Chance(seed, f"real quorum {self.voters} {number}")
        scenario = Scenario.from_dict(
            {
                "title": title,
                "profiles": [release.profile],
                "brokers": BROKERS,
                "quorum": [f"C{number}" for number in range(1, self.voters + 1)],
                "fetching": "auto",
            }
        )
        script = QuorumScript(scenario.quorum)
        for _ in range(chance.between(LEAST_FAULTS, MOST_FAULTS)):
            _draw_fault(script, chance)
            script.add(f"advance {chance.between(*REST_S)}s")
        mends = script.mends()
        for line in mends:
            script.add(line)
        script.add(f"advance {PATIENCE_S}s")
        return Run(scenario, release.profile, 0, tuple(script.lines))

    def why_unfit(self, run: Run, release: KafkaRelease) -> str:
        """Return the first reason for which a list of moves cannot be played, or ""."""
        script = QuorumScript(run.scenario.quorum)
        for line in run.lines():
            kind = line.startswith(("advance ", "produce "))
            if not kind and line not in script.possible():
                return f"“{line}” is not possible there"
            script.add(line)
        return ""


def _draw_fault(script: QuorumScript, chance: Chance) -> None:
    offered: dict[str, list[str]] = {}
    for line in script.possible():
        offered.setdefault(line.split()[0], []).append(line)
    left = chance.below(sum(WEIGHTS[verb] for verb in offered))
    for verb, lines in offered.items():
        left -= WEIGHTS[verb]
        if left < 0:
            script.add(lines[chance.below(len(lines))])
            return
