"""Data that only the stage draws beside the view; no digest of a run sees it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

from engine.dataplane.fetcher import waiting_thread
from engine.model.copying import fields
from engine.model.effects import Cue
from engine.model.json_types import Json
from engine.model.last_fetch import IMPLIED
from engine.model.log import Batch
from engine.model.messages import (
    EPOCH_END_R,
    FETCH_R,
    FIRST_PRODUCER,
    GROUP_HEARTBEAT,
    GROUP_HEARTBEAT_R,
    HEARTBEAT,
    HEARTBEAT_R,
    LIST_OFFSETS_R,
    METADATA_FETCH,
    Message,
)
from engine.moves.move_errors import label
from engine.moves.moves import label_of
from engine.replay.view_cache import RECORDS_SHOWN, ViewCache
from engine.sim.simulation import Simulation
from engine.story.entities import say
from engine.view import wire
from engine.view.records import records_of
from engine.view.view import node_name, view
from engine.view.wire import LinkView, Record, ReplicaView, StepJson, View

Cut = tuple[int, int, int, tuple[Batch, ...]]
"""(step, broker, partition, batches) of one truncation."""

BEATS: Final = frozenset(
    (HEARTBEAT, HEARTBEAT_R, METADATA_FETCH, GROUP_HEARTBEAT, GROUP_HEARTBEAT_R)
)
"""Messages that come and go all the time, drawn as dots and only when asked for."""
MOST_GRAVES: Final = 20
MOST_WAYS: Final = 12
FETCHER_RESPONSES: Final = frozenset((FETCH_R, EPOCH_END_R, LIST_OFFSETS_R))


def dress(
    sim: Simulation,
    shown: View,
    older: Iterable[Cut] = (),
    recall: ViewCache | None = None,
    cuts: Iterable[Cut] = (),
) -> View:
    """Return the view for the stage.

    `older` has the truncations since the last moment, `cuts` all truncations so far.
    """
    shown["controller"]["sessionMs"] = sim.configs.session_timeout_ms
    shown["beats"] = [
        {"id": m.id, "from": node_name(m.src), "to": node_name(m.dst), "sent": m.sent, "due": m.due}
        for m in sim.network.under_way()
        if m.kind in BEATS
    ]
    for part in shown["partitions"]:
        for broker, replica in part["replicas"].items():
            disk = sim.brokers[int(broker)].machine.disks.get(part["p"])
            replica["recovery"] = 0 if disk is None else disk.recovery_checkpoint
    lanes = {part["p"]: part["replicas"] for part in shown["partitions"]}
    recall = recall or ViewCache()
    for _, node, tp, batches in older:
        there = lanes.get(tp, {}).get(str(node))
        if there is not None:
            _haunt(there, records_of(sim, tp, batches, recall))
    shown["graves"] = _graves(sim, cuts)
    _queue(sim, shown["messages"])
    _hold(sim, shown["links"])
    return shown


def cut_by(cues: list[Cue]) -> Iterator[tuple[int, int, tuple[Batch, ...]]]:
    """Return (broker, partition, batches) of what these cues cut from logs."""
    for cue in cues:
        if cue.field == "cut" and cue.rule in ("L-14", "L-11.lost") and cue.new:
            yield cue.node, cue.old, cue.new


def initial(sim: Simulation) -> StepJson:
    """Return step 0: the view before anything happens."""
    return {
        "n": 0,
        "t": 0,
        "move": "",
        "line": -1,
        "moment": 0,
        "at": None,
        "arrived": None,
        "cues": [],
        "say": [say("run.begins")],
        "why": [],
        "broken": [],
        "verdict": {},
        "view": dress(sim, view(sim)),
    }


def _haunt(replica: ReplicaView, cut: list[Record]) -> None:
    """Keep ghosts until the next moment, as long as nothing stands in their place."""
    room = RECORDS_SHOWN - len(replica["cut"])
    taken = {ghost["o"] for ghost in replica["cut"]}
    free = (record for record in cut if record["o"] >= replica["leo"] and record["o"] not in taken)
    replica["cut"] += [{**record, "old": True} for record in islice(free, max(0, room))]


def _graves(sim: Simulation, cuts: Iterable[Cut]) -> list[tuple[int, int, str, list[int]]]:
    """Return (partition, offset, name, brokers that truncated it) of acknowledged records lost."""
    ledger = sim.ledger
    if not ledger.lost and not ledger.lost_single:
        return []
    lost = (
        (acked.tp, acked.base + i, name)
        for acks in ledger.acked
        for acked in acks
        for i, name in enumerate(acked.values)
        if name in ledger.lost or name in ledger.lost_single
    )
    truncated: dict[tuple[int, str], set[int]] = {}
    for _, node, tp, batches in cuts:
        for batch in batches:
            for name in batch.values:
                truncated.setdefault((tp, name), set()).add(node)
    return [
        (tp, offset, name, sorted(truncated.get((tp, name), ())))
        for tp, offset, name in islice(lost, MOST_GRAVES)
    ]


def _queue(sim: Simulation, shown: list[wire.Message]) -> None:
    """Add the place of each message in its queue.

    It is its name in a move (`way`), which of its kind goes before it (`behind`), and whether its
    receiver has stopped waiting for it (`unawaited`).
    """
    first: dict[tuple[int, int, int], int] = {}
    for (m, way), row in zip(_drawn_messages(sim), shown, strict=False):  # there may be more
        key = (m.src, m.dst, m.kind)
        row["way"] = way
        if key in first:
            row["behind"] = first[key]
        else:
            first[key] = m.id
        if m.kind in FETCHER_RESPONSES and m.dst in sim.brokers:
            process = sim.brokers[m.dst].process
            if process is None or waiting_thread(process, m.src, m.corr) is None:
                row["unawaited"] = True


def _hold(sim: Simulation, links: list[LinkView]) -> None:
    """Mark the links on which a hand holds messages."""
    for src, dst, _ in sorted(sim.network.held_ways):
        a, b = node_name(max(src, dst)), node_name(min(src, dst))
        link = next((row for row in links if (row["a"], row["b"]) == (a, b)), None)
        if link is None:
            link = {"a": a, "b": b, "cut": "none", "delay": 0, "loss": 0.0, "held": True}
            links.append(link)
        link["held"] = True


def ways(sim: Simulation) -> list[str]:
    """Return every way with a message, each once, for the menu of message surgery."""
    return list(dict.fromkeys(way for _, way in _drawn_messages(sim)))[:MOST_WAYS]


def _drawn_messages(sim: Simulation) -> Iterator[tuple[Message, str]]:
    """Yield the messages that are drawn, each with its way: `2->1`, and its kind where needed.

    Without a kind, a move means the oldest of all messages on that way.
    """
    oldest: dict[tuple[int, int], int] = {}
    for m in sim.network.under_way():
        first = oldest.setdefault((m.src, m.dst), m.kind)
        if m.kind not in BEATS:
            way = f"{_label(sim, m.src)}->{_label(sim, m.dst)}"
            yield m, way if m.kind == first else f"{way} {label_of(m.kind)}"


def _label(sim: Simulation, node: int) -> str:
    return str(node_name(node)) if node <= FIRST_PRODUCER else label(sim, node)


# -- a message in full ----------------------------------------------------------------------------

MOST_IN_FULL: Final = 12
MOST_OF_A_LIST: Final = 8
_UNSHOWN: Final = IMPLIED | {"id", "sent", "due", "src", "dst"}


def letters(sim: Simulation) -> dict[str, Json]:
    """Return the full contents of the messages that are drawn, by their id."""
    return {str(m.id): in_full(m) for m, _ in islice(_drawn_messages(sim), MOST_IN_FULL)}


def in_full(m: Message) -> Json:
    """Return every field of a message, named as Kafka's schemas spell names."""
    return {
        _camel(slot): _plain(getattr(m, slot)) for slot in fields(type(m)) if slot not in _UNSHOWN
    }


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def _plain(value: Any, depth: int = 5) -> Any:
    if value is None or isinstance(value, bool | int | str | float):
        return value
    if isinstance(value, Batch):
        return f"epoch {value.epoch}, offsets {value.base} to {value.end - 1}"
    if depth == 0:
        return str(type(value).__name__)
    if isinstance(value, dict):
        return {str(key): _plain(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        items = [_plain(item, depth - 1) for item in list(value)[:MOST_OF_A_LIST]]
        return [*items, "…"] if len(value) > MOST_OF_A_LIST else items
    return {
        _camel(field): _plain(getattr(value, field), depth - 1) for field in fields(type(value))
    }
