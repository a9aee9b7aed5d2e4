"""The threads of a run over a window of steps: a row for each thread that acts, its acts as blocks.

What changes something has a cue, and its chain is that of the cue.  A thread also turns without
changing anything: a Fetch that brings nothing, a clock that finds all well.  Such turns have no
cue; they are known by the sentence of their step and folded into one block, however many follow
one another.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from engine.lens.lens_json import CONTROLLER, at_work, followed, stacks_of
from engine.lens.source import mode_in, source
from engine.lens.stacks import RUN, Frame, Stack, counterpart, stack, thread_name
from engine.model.json_types import Json
from engine.view.wire import StepJson, View

WIDEST: Final = 64
"""Steps of a window at most."""

BEGINS, ENDS, WHOLE = "begins", "ends", "whole"

_QUIET: Final[dict[str, tuple[str, str, str]]] = {
    "fetch.ask": ("F-5", "", BEGINS),
    "fetch.ask.epoch": ("F-5", "", BEGINS),
    **dict.fromkeys(
        ("session.ask", "session.ask.one", "session.ask.none", "session.ask.full",
         "session.ask.full.one", "session.forget"), ("F-5", "", BEGINS),
    ),
    "session.nothing": ("F-6", "", ENDS),
    "fetch.give": ("S-2", "", ""),
    "fetch.give.one": ("S-2", "", ""),
    "epoch.ask": ("T-1", "EpochEndOffsets,EpochsFromLeader", BEGINS),
    "fetch.empty": ("F-6", "", ENDS),
    "timer.isr_expiration": ("S-8", "ReplicaManager.maybeShrinkIsr", WHOLE),
    "timer.checkpoint": ("H-7", "", WHOLE),
    "timer.flusher": ("L-10", "LogManager.flushDirtyLogs", WHOLE),
    "timer.retention": ("L-8", "LogManager.cleanupLogs", WHOLE),
    "heartbeat.ask": ("CP-KR-HB", "", WHOLE),
}  # fmt: skip
"""Sentence of a step without cues -> (the cue whose chain leads there, how the method at which
the chain ends is called or "" for all of it, which part of an empty turn it is)."""

TURN: Final = (
    (RUN,),
    ("AbstractFetcherThread.doWork",),
    ("AbstractFetcherThread.maybeTruncate",),
    ("AbstractFetcherThread.truncateToEpochEndOffsets",),
    ("RemoteLeaderEndPoint.fetchEpochEndOffsets", "ReplicaFetcherThread.fetchEpochEndOffsets",
     "ReplicaFetcherThread.fetchEpochsFromLeader"),
    ("AbstractFetcherThread.maybeFetch",),
    ("RemoteLeaderEndPoint.buildFetch", "ReplicaFetcherThread.buildFetch",
     "ReplicaFetcherThread.buildFetchRequest", "AbstractFetcherThread.fetchRequestBuilder"),
    ("AbstractFetcherThread.processFetchRequest",),
    ("RemoteLeaderEndPoint.fetch", "ReplicaFetcherThread.fetchFromLeader",
     "ReplicaFetcherThread.fetch"),
    ("ReplicaFetcherThread.processPartitionData",),
)  # fmt: skip
"""One turn of a fetcher in the order of its calls, each as the releases name it."""


_PHASES: Final = frozenset(name for names in TURN for name in names)
_FIRST: Final = frozenset((*TURN[3], *TURN[4], *TURN[8]))
"""Requests to the leader before its answer is handled."""


class LaneAct(NamedTuple):
    """Act of a thread at a step.

    `empty`: "" if it has a cue, else the part of a turn that it is; `chain`: the methods from the
    run loop on, of which number `acting` acts.
    """

    step: int
    rule: str
    chain: tuple[str, ...]
    acting: int
    empty: str = ""


class Block(NamedTuple):
    """Acts that are drawn as one: a single one (`turns` 0), or `turns` empty turns."""

    acts: tuple[LaneAct, ...]
    turns: int = 0


Row = tuple[Any, str, str, str]
"""(node, where, key of the thread, the JVM's name)"""


def fold(acts: Iterable[LaneAct]) -> list[Block]:
    """Return the acts of one thread as blocks: empty turns that follow one another become one.

    A turn that began and did not end empty, since something came of it, stays as it is.
    """
    turns: list[tuple[tuple[LaneAct, ...], bool]] = []
    for act in acts:
        before = turns[-1] if turns else ((), False)
        if act.empty == ENDS and not before[1] and before[0] and before[0][0].empty == BEGINS:
            turns[-1] = ((*before[0], act), True)
        else:
            turns.append(((act,), act.empty in (ENDS, WHOLE)))
    blocks: list[Block] = []
    for turn_acts, empty in turns:
        if empty and blocks and blocks[-1].turns:
            last = blocks.pop()
            blocks.append(Block((*last.acts, *turn_acts), last.turns + 1))
        else:
            blocks.append(Block(turn_acts, int(empty)))
    return blocks


def lanes(steps: list[StepJson], release: str, before: StepJson | None = None) -> Json:
    """Return the threads that act at these steps, as JSON.

    It has `rows` of `blocks`, whose `chain` is a number of `chains`.  `before` is the step that
    precedes them, if there is one.  Raises KeyError for a release that is not in the index.
    """
    rows: dict[Row, list[LaneAct]] = {}
    for step in steps:
        for row, act in _acts(step, release, before):
            rows.setdefault(row, []).append(act)
        before = step
    chains: dict[tuple[str, tuple[str, ...], int], int] = {}
    lanes_shown = [
        {
            "node": row[0],
            "where": row[1],
            "thread": row[3],
            "blocks": [_block(block, row[2], chains) for block in fold(rows[row])],
        }
        for row in sorted(rows, key=_order)
    ]
    return {"rows": lanes_shown, "chains": [_chain(*chain, release) for chain in chains]}


def _order(row: Row) -> tuple[bool, str, str]:
    node, _, _, name = row
    return not isinstance(node, int), f"{node:>6}" if isinstance(node, int) else str(node), name


def _block(block: Block, thread: str, chains: dict[tuple[str, tuple[str, ...], int], int]) -> Json:
    first = block.acts[0]
    chain_key = (thread, first.chain, first.acting)
    return {
        "steps": [act.step for act in block.acts],
        "turns": block.turns,
        "rule": first.rule,
        "name": first.chain[first.acting],
        "chain": chains.setdefault(chain_key, len(chains)),
    }


def _chain(thread: str, names: tuple[str, ...], acting: int, release: str) -> Json:
    """Return [method, is it on the stack?] from the run loop on; a fetcher's whole turn."""
    shown = turn(names, release) if thread == "fetcher" else [(name, True) for name in names]
    return {"acting": names[acting], "frames": [list(one) for one in shown]}


def turn(names: tuple[str, ...], release: str) -> list[tuple[str, bool]]:
    """Return a fetcher's whole turn in a release, with a chain in its place.

    The calls of the turn before and after the chain are not on the stack.
    """
    phases = [phase for phase in (_in(each, release) for each in TURN) if phase]
    shown: list[tuple[str, bool]] = []
    for name in names:
        if name in phases:
            at = phases.index(name)
            shown += [(phase, False) for phase in phases[:at]]
            phases = phases[at + 1 :]
        while name not in _PHASES and phases and phases[0] in _FIRST:
            shown.append((phases.pop(0), False))
        shown.append((name, True))
    return shown + [(phase, False) for phase in phases]


def _in(names: tuple[str, ...], release: str) -> str:
    """Return a release's name of a method; "" if it has none of the names."""
    return next((name for name in names if source().has(release, name)), "")


def _acts(step: StepJson, release: str, before: StepJson | None) -> Iterable[tuple[Row, LaneAct]]:
    mode = mode_in(release, step["view"]["mode"])
    for at, call_stack in stacks_of(step, release, mode):
        if not call_stack.reason:
            node = step["cues"][at[0]]["node"]
            row = _row(call_stack, node, step, before)
            if row is not None:
                chain = tuple(frame.name for frame in call_stack.frames)
                yield row, LaneAct(step["n"], call_stack.cue, chain, call_stack.acting)
    if step["cues"] or not step["say"] or not isinstance(step["say"][0], dict):
        return
    cue, end, part = _QUIET.get(step["say"][0]["key"], ("", "", ""))
    if cue:
        yield from _quiet(step, stack(counterpart(cue, release, mode), release, mode), end, part)


def _quiet(step: StepJson, call_stack: Stack, end: str, part: str) -> Iterable[tuple[Row, LaneAct]]:
    """Return an act without a cue, where the release has it."""
    if end and call_stack.thread == "fetcher":
        phases = [_in(each, call_stack.release) for each in TURN[:5]]
        chain = tuple(name for name in phases if name)
        if not chain[-1].endswith(tuple(end.split(","))):
            return
    else:
        chain = _until(call_stack.frames, end)
    row = _row(call_stack, step["at"], step, None)
    if chain and row is not None:
        yield row, LaneAct(step["n"], call_stack.cue, chain, len(chain) - 1, part)


def _until(frames: tuple[Frame, ...], end: str) -> tuple[str, ...]:
    names = [frame.name for frame in frames]
    return tuple(names[: names.index(end) + 1] if end in names else names)


def _row(call_stack: Stack, node: Any, step: StepJson, before: StepJson | None) -> Row | None:
    """Return the row of an act, or None where the thread cannot have been at work.

    A broker's act at the controller's step belongs to the sender of the message, as brokers wrote
    to ZooKeeper themselves.  None: a broker's thread at a client's step, or a fetcher of a broker
    that follows no leader.
    """
    sender = _sender(step, before)
    node = at_work(call_stack, node, step["view"])
    if call_stack.where == "broker" and not isinstance(node, int):
        if node != CONTROLLER or sender is None:
            return None
        node = sender
    leader, number = followed(step, node)
    fetched = _leader(step, sender)
    leader = leader if fetched is None else fetched
    if call_stack.thread == "fetcher" and leader is None and not _follows(step["view"], node):
        return None
    return node, call_stack.where, call_stack.thread, thread_name(call_stack, node, leader, number)


def _follows(view: View, node: Any) -> bool:
    """Check whether any replica on this broker is a follower."""
    replicas = (one["replicas"].get(str(node)) for one in view["partitions"])
    return any(one is not None and one["role"] == "follower" for one in replicas)


def _sender(step: StepJson, before: StepJson | None) -> int | None:
    """Return the broker whose message the step is about, which the step before it still shows."""
    for message in before["view"]["messages"] if before else ():
        if message["id"] == step["arrived"] and isinstance(message["from"], int):
            return int(message["from"])
    return None


def _leader(step: StepJson, sender: int | None) -> int | None:
    """Return the leader of a fetcher that acts here: whose answer it got, or which it asks."""
    for said in step["say"][:1] if not step["cues"] else ():
        named = said["args"].get("l", {}).get("b") if isinstance(said, dict) else None
        if isinstance(named, int):
            return named
    return sender
