"""Steps of a run, broken invariants, and reasons why something does not happen."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from engine.model.languages import USUAL
from engine.scenarios.scenario import Scenario
from engine.story import story
from engine.view.wire import StepJson, View


@dataclass(frozen=True)
class Broken:
    """An invariant that broke: its name, the step at which it first did, and how."""

    invariant: str
    step: int
    why: str


@dataclass(frozen=True)
class Step:
    """One event of a run: `number` from 0, virtual time in ms, the move it belongs to.

    `said` are sentences of what happened, `why` of what followed from it.  `view` is the state
    after it, as the pages get it: {"partitions", "brokers", "controller", ...}.
    """

    number: int
    time_ms: int
    move: str
    said: tuple[str, ...]
    why: tuple[str, ...]
    broken: tuple[str, ...]
    view: View

    @property
    def told(self) -> str:
        """The events of the step and their consequences, in one line."""
        return " ".join((*self.said, *self.why)) or "The state in which the run begins."

    def __str__(self) -> str:
        return f"{self.number} ({self.time_ms} ms) {self.move}: {self.told}"

    def __repr__(self) -> str:
        return f"<Step {self}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(str(self))}</p>"


def step_of(step: StepJson, names: dict[int, str]) -> Step:
    """Return a step of the wire in sentences, with these names of brokers."""
    said, why = ([story.render(one, names, USUAL) for one in step[key]] for key in ("say", "why"))
    broken = tuple(one["inv"] for one in step["broken"])
    return Step(step["n"], step["t"], step["move"], tuple(said), tuple(why), broken, step["view"])


def names_of(scenario: Scenario) -> dict[int, str]:
    return {broker.id: broker.name or str(broker.id) for broker in scenario.brokers}


@dataclass(frozen=True)
class WhyNot:
    """Reason why something does not happen: its conditions, and a move that would help, or ""."""

    about: str
    happens: bool
    guards: tuple[tuple[bool, str, str], ...]
    """(does it hold, the sentence, the move that would make it hold)"""

    def __str__(self) -> str:
        lines = [self.about]
        for holds, told, move in self.guards:
            lines.append(f"  {'yes' if holds else 'no'}: {told}{f'  [{move}]' if move else ''}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"
