"""Measure of a course: ten questions before it and ten like them after it.

The runs are short ones of S61 under seeds that nothing else here plays, so that no reader has met
them.  A pair asks the same kind of thing under the same Kafka, and tempts with the same
misconceptions; its two questions are of different runs.  Answers are computed as anywhere else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Final

from engine.learn.probes import probe_at
from engine.properties.recording import MomentRecording
from engine.scenarios.file import find
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run

SCENARIO: Final = "S61"
LASTS_MS: Final = 12_000
"""So short that everything that was written fits on the stage."""
SIDES: Final = ("before", "after")
NONE: Final = "x"
"""An answer that is none of those that are offered."""


@dataclass(frozen=True)
class Pair:
    """A profile, and (seed, probe) of the question before the course and of the one after it."""

    profile: str
    before: tuple[int, str]
    after: tuple[int, str]


PAIRS: Final = (
    Pair("K39", (610120, "leo@6.0.3"), (610072, "leo@13.0.2")),
    Pair("K39", (610018, "hw@8.0.1"), (610086, "hw@15.0.1")),
    Pair("K39", (610010, "isr@4.0.1"), (610051, "isr@52.0.1")),
    Pair("K39", (610052, "hw@10.0.3"), (610042, "hw@20.0.2")),
    Pair("K39", (610118, "ack@73.0.1"), (610148, "ack@49.0.1")),
    Pair("K39", (610012, "leader@112.0.1"), (610067, "leader@133.0.1")),
    Pair("K39", (610047, "isr@99.0.1"), (610009, "isr@111.0.1")),
    Pair("K39", (610136, "epochs@170.0.2"), (610100, "epochs@208.0.2")),
    Pair("Z0102", (610124, "truncate@90.0.2"), (610048, "truncate@107.0.2")),
    Pair("K39", (610149, "leader@194.0.2"), (610201, "leader@235.0.2")),
)


@cache
def _scenario() -> Scenario:
    return replace(find(SCENARIO), duration_ms=LASTS_MS)


def question(side: str, number: int) -> tuple[Run, str]:
    """Return (run, probe's text) of one of `SIDES`, numbered from 1."""
    pair = PAIRS[number - 1]
    seed, text = pair.before if side == "before" else pair.after
    return Run(_scenario(), pair.profile, seed), text


@cache
def _right(side: str, number: int) -> str:
    run, text = question(side, number)
    return str(probe_at(MomentRecording(run), text).right)


def marks(side: str, given: str) -> list[bool]:
    """Return which answers are right, each the number of a choice or `NONE`."""
    return [one == _right(side, number) for number, one in enumerate(given[: len(PAIRS)], 1)]
