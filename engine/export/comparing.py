"""One run under two profiles, or two branches of it, in lock-step up to where they part.

Steps are paired by move, and within a move by what happened; where one side has nothing of the
kind, the other goes on alone.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any, Final

from engine.model import messages, timers
from engine.model.errors import InputError
from engine.model.json_types import Json
from engine.model.messages import Message
from engine.replay.cursor import Cursor
from engine.replay.replay import STEPS_MOST, Replay
from engine.sim.run import Run, play
from engine.view.view import node_name
from engine.view.wire import View

PAIRS_MOST: Final = 4_000
TOLD_MOST: Final = 24
"""Differing things named of one pair; more of them say no more."""

Pair = tuple[int, int]
Walk = list[list[str]]
"""Events of every move in each of its steps, without the numbers."""


def playable(run: Run, most: int = STEPS_MOST) -> tuple[Run, str]:
    """Return the run as far as this profile can play it, and why it ends there ("" if it does not).

    A move that was made under another profile may be impossible here, or pass `most` events.
    """
    ended = -1

    def note(number: int) -> None:
        nonlocal ended
        ended = number

    sim = run.simulation()
    sim.budget = most
    try:
        for _ in play(sim, run.lines(), ended=note):
            pass
    except InputError as error:
        return Run(run.scenario, run.profile, run.seed, run.lines()[: ended + 1]), error.sentence
    return run, ""


def compare(a: Replay, b: Replay) -> Json:
    """Return {pairs: [[step of A, of B], ...], parts: [{at, what: [[thing, A's, B's], ...]}], cut}.

    `parts` has an entry for every pair at which what differs is not what differed before; its
    things are named as the stage names them ("b2:leo", "rec:isr").
    """
    pairs = aligned(walk(a.run), walk(b.run), a.run.lines(), b.run.lines())
    cut = len(pairs) > PAIRS_MOST
    pairs = pairs[:PAIRS_MOST]
    facts_a, facts_b = _facts(a), _facts(b)
    parts: list[Json] = []
    before: dict[str, tuple[Any, Any]] = {}
    for at, (left, right) in enumerate(pairs):
        now = _different(facts_a(left), facts_b(right))
        if now != before:
            what = [[name, *values] for name, values in list(now.items())[:TOLD_MOST]]
            parts.append({"at": at, "what": what})
            before = now
    return {"pairs": [list(pair) for pair in pairs], "parts": parts, "cut": cut}


# -- pairing --------------------------------------------------------------------------------------


def walk(run: Run) -> Walk:
    """Return the events, move by move, step by step."""
    labels: Walk = [[] for _ in run.lines()]
    cursor = Cursor(run)
    while (events := cursor.advance()) is not None:
        labels[cursor.move] += [_label(node, what) for _, node, what, _, _ in events]
    return labels


def _label(node: int, what: Any) -> str:
    if isinstance(what, Message):
        return f"{node_name(what.src)}->{node_name(what.dst)} {messages.NAMES[what.kind]}"
    if isinstance(what, tuple):
        return f"{node_name(node)} {timers.NAMES[what[0]]}"
    return f"{node_name(node)} {what}"


def aligned(a: Walk, b: Walk, moves_a: tuple[str, ...], moves_b: tuple[str, ...]) -> list[Pair]:
    """Return pairs of steps in order, from (0, 0) to both ends."""
    pairs = [(0, 0)]
    left = right = 0
    for moves_of_a, moves_of_b in _blocks(list(moves_a), list(moves_b)):
        steps_a = [label for move in moves_of_a for label in a[move]]
        steps_b = [label for move in moves_of_b for label in b[move]]
        for of_a, of_b in _blocks(steps_a, steps_b):
            for index in range(max(len(of_a), len(of_b))):
                left += index < len(of_a)
                right += index < len(of_b)
                pairs.append((left, right))
    return pairs


def _blocks(a: list[str], b: list[str]) -> list[tuple[range, range]]:
    """Return equal things one by one, and what stands between them on either side by itself."""
    blocks: list[tuple[range, range]] = []
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    for kind, from_a, to_a, from_b, to_b in matcher.get_opcodes():
        if kind == "equal":
            for index in range(to_a - from_a):
                here, there = from_a + index, from_b + index
                blocks.append((range(here, here + 1), range(there, there + 1)))
        else:
            blocks.append((range(from_a, to_a), range(0)))
            blocks.append((range(0), range(from_b, to_b)))
    return blocks


# -- differences ----------------------------------------------------------------------------------


Comparable = dict[str, object]
"""Facts of a view by their name, "b1:leo"."""


def _different(a: Comparable, b: Comparable) -> dict[str, tuple[object, object]]:
    return {name: (a.get(name), b.get(name)) for name in {**a, **b} if a.get(name) != b.get(name)}


def _facts(replay: Replay) -> Any:
    """Return step -> what of its view can be compared under any two profiles."""
    states: dict[int, Comparable] = {}

    def facts(step: int) -> Comparable:
        if step not in states:
            states.clear()
            for row in replay.steps(step, 64):
                states[row["n"]] = _of_view(row["view"])
        return states[step]

    return facts


def _of_view(view: View) -> Comparable:
    state: Comparable = {}
    for broker in view["brokers"]:
        state[f"b{broker['id']}:alive"] = broker["alive"]
    for index, part in enumerate(view["partitions"]):
        own = f"p{part.get('p', index)}/" if part.get("p", index) else ""
        record = part["record"]
        state |= {
            f"{own}rec:leader": record["leader"],
            f"{own}rec:le": record["le"],
            f"{own}rec:isr": record["isr"],
        }
        for node, replica in part["replicas"].items():
            state |= {
                f"{own}b{node}:role": replica["role"],
                f"{own}b{node}:leo": replica["leo"],
                f"{own}b{node}:hw": replica["hw"],
                f"{own}b{node}:log": " ".join(
                    f"{record['o']}:{record['id']}@{record['e']}" for record in replica["records"]
                ),
            }
    return state
