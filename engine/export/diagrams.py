"""A run as diagrams of other tools: a Mermaid sequence diagram, a ShiViz log with vector clocks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from engine.model.effects import Cue, field_of
from engine.model.messages import (
    CONTROLLER,
    FIRST_PRODUCER,
    GROUP_HEARTBEAT,
    GROUP_HEARTBEAT_R,
    HEARTBEAT,
    HEARTBEAT_R,
    METADATA_FETCH,
    REPLIES,
    Message,
)
from engine.replay.cursor import Cursor, Happened
from engine.sim.kernel import DELIVERY, FAILURE
from engine.sim.run import Run
from engine.sim.simulation import Simulation
from engine.story import story
from engine.story.entities import Happening, Leaders, leaders
from engine.story.rules import RULES
from engine.view.text import message_words, new_text, node_text, old_text
from engine.view.view import node_name

MOST_ARROWS: Final = 600
"""Most arrows of one Mermaid diagram; its renderers give up soon after."""
MOST_LOGGED: Final = 20_000
QUIET: Final = (HEARTBEAT, HEARTBEAT_R, METADATA_FETCH, GROUP_HEARTBEAT, GROUP_HEARTBEAT_R)
WORTH_A_NOTE: Final = 2

_ESCAPES: Final = str.maketrans({"#": "#35;", ";": "#59;", "<": "#lt;", ">": "#gt;", "\n": " "})
_SHIVIZ: Final = r"(?<step>\d+) (?<time>\d+) ms (?<event>.*)\n(?<host>\S+) (?<clock>{.*})"


def _events(run: Run) -> Iterator[tuple[int, int, Happened, Simulation]]:
    """Return (step, number of the move, what happened, the world after it)."""
    cursor = Cursor(run)
    step = 0
    while (happened := cursor.advance()) is not None:
        for event in happened:
            step += 1
            yield step, cursor.move, event, cursor.sim


# -- Mermaid ---------------------------------------------------------------------------------------


def mermaid(run: Run, total: int) -> str:
    """Return a sequence diagram: deliveries as arrows, moves and weighty changes as notes.

    Heartbeats and empty polls are left out; of `total` steps, a note at the end says how many are
    not drawn.
    """
    lines = run.lines()
    drawn: list[str] = []
    met: set[int] = set()
    shown = -1
    left = 0
    for step, move, (kind, _node, what, cues, _), sim in _events(run):
        if len(drawn) >= MOST_ARROWS or step > total:
            left = total - step + 1
            break
        if move > shown:
            shown = move
            ends = (min(sim.brokers), max(sim.brokers))
            met.update(ends)
            drawn.append(f"Note over {_join(ends)}: {_plain(lines[move])}")
        if kind == DELIVERY and isinstance(what, Message):
            if what.kind not in QUIET:
                met.update((what.src, what.dst))
                drawn.append(_arrow(what))
        elif kind == FAILURE and not cues:
            continue
        notes = _notes(cues)
        met.update(cue.node for cue in notes)
        drawn += [f"Note over {_who(cue.node)}: {_plain(_cue(cue))}" for cue in notes]
    if left:
        drawn.append(f"Note over {_who(min(met))}: {left} more steps are not drawn")
    head = ["sequenceDiagram", f"accTitle: {_plain(run.scenario.title)}"]
    head += [
        f"participant {_who(node)} as {_participant_name(run, node)}" for node in _in_order(met)
    ]
    return "\n".join([head[0], *(f"    {line}" for line in [*head[1:], *drawn])]) + "\n"


def _in_order(met: set[int]) -> list[int]:
    """Return clients, the controller, then the brokers, as on the stage."""
    return sorted(met, key=lambda one: (one >= 0, one == CONTROLLER, abs(one)))


def _who(node: int) -> str:
    name = node_name(node)
    return f"b{name}" if node >= 0 else str(name)


def _participant_name(run: Run, node: int) -> str:
    if node >= 0:
        return f"Broker {run.scenario.broker_name(node)}"
    return "Controller" if node == CONTROLLER else node_text(node)


def _join(ends: tuple[int, int]) -> str:
    return _who(ends[0]) if ends[0] == ends[1] else f"{_who(ends[0])},{_who(ends[1])}"


def _arrow(m: Message) -> str:
    sign = "-->>" if m.kind in REPLIES else "->>"
    return f"{_who(m.src)}{sign}{_who(m.dst)}: {_plain(message_words(m))}"


def _notes(cues: list[Cue]) -> list[Cue]:
    """Return the changes that a reader of the diagram should not miss."""
    return [
        cue for cue in cues
        if cue.rule in RULES and RULES[cue.rule].moment >= WORTH_A_NOTE and cue.node >= CONTROLLER
    ]  # fmt: skip


def _cue(cue: Cue) -> str:
    before = "" if cue.old is None else f"{old_text(cue)} to "
    return f"{cue.rule} {field_of(cue)} {before}{new_text(cue)}"


def _plain(text: str) -> str:
    """Return text that no character of Mermaid's own notation stands in."""
    return " ".join(text.split()).translate(_ESCAPES)


# -- ShiViz ----------------------------------------------------------------------------------------


def shiviz(run: Run) -> str:
    """Return a log for ShiViz: its first line is the regular expression that reads the others.

    Each event is two lines, the sentence and the clock of the node it happened on.  A message
    carries the clock of the event that sent it.
    """
    names = {broker.id: broker.label for broker in run.scenario.brokers}
    clocks: dict[str, dict[str, int]] = {}
    carried: dict[int, dict[str, int]] = {}
    led: Leaders = frozenset()
    lines = [_SHIVIZ, ""]
    for step, _, (kind, node, what, cues, sends), sim in _events(run):
        if step > MOST_LOGGED:
            break
        host = _host(run, node)
        clock = clocks.setdefault(host, {})
        if kind == DELIVERY and isinstance(what, Message):
            for name, value in carried.pop(what.id, {}).items():
                clock[name] = max(clock.get(name, 0), value)
        clock[host] = clock.get(host, 0) + 1
        for m in sends:
            carried[m.id] = dict(clock)
        said, _why = story.tell(Happening(kind, node, what, cues, sends, sim, led))
        led = leaders(sim)
        event = story.render(said[0], names) if said else str(what)
        lines += [f"{step} {sim.now} ms {' '.join(event.split())}", f"{host} {json.dumps(clock)}"]
    return "\n".join(lines) + "\n"


def _host(run: Run, node: int) -> str:
    if node >= 0:
        return f"broker-{run.scenario.broker_name(node)}"
    if FIRST_PRODUCER < node < CONTROLLER:
        return f"controller-{node_text(node)}"
    return "controller" if node == CONTROLLER else str(node_name(node))
