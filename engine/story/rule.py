"""Declaration of a rule: what it is called, and what the story says of each of its steps."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engine.model.declared import begins, declared
from engine.model.effects import Cue
from engine.model.phrases import Entity
from engine.story.entities import Happening, node, offset, say
from engine.view.wire import Sentence

Place = Callable[[Happening, Cue], Entity]
"""A value of a sentence, out of the cue."""


@declared
class RuleStep:
    """One step of a rule, which a cue names: "S-9", or "S-9.rejected" with `sub` "rejected".

    title: "" for that of the rule.  moment: 3 a leadership change, lost data; 2 truncation, ISR,
    faults, HW, answers to clients; 1 records appended, a follower's end learnt; 0 routine.
    say, why: keys of the catalogue, "" for none.  places: values of the sentence; without them it
    has {b}, the node, {a}, the old, and {o}, the new value.  A sentence that needs more than its
    cue is made in `cue_sentences`.  kafka: class and method.  mark: its kind on the rail.
    """

    sub: str
    title: str
    moment: int
    say: str
    kafka: str = ""
    why: str = ""
    mark: str = ""
    places: Mapping[str, Place] | None = None
    id: str = begins("")


@declared
class Rule:
    """One rule of the specification, or one group of cues beside it, with its steps.

    excuse: why no run follows it.  unlit: why no step of the library lights its card.
    """

    id: str
    title: str
    steps: tuple[RuleStep, ...] = ()
    excuse: str = ""
    unlit: str = ""

    def __post_init__(self) -> None:
        for step in self.steps:
            step.id = f"{self.id}.{step.sub}" if step.sub else self.id
            step.title = step.title or self.title


def stated(step: RuleStep, happening: Happening, cue: Cue) -> Sentence:
    """Return the sentence of a step from its cue alone."""
    if step.places is not None:
        return say(step.say, **{key: place(happening, cue) for key, place in step.places.items()})
    old, new = (value if isinstance(value, int) else 0 for value in (cue.old, cue.new))
    return say(step.say, b=node(cue.node), a=offset(old), o=offset(new))
