"""A run as lines of text: move, rule, consequence; `|` stands at the high watermark."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, Final

from engine.controlplane.reassignment import target_of
from engine.dataplane import directories
from engine.model import timers
from engine.model.broker import Broker
from engine.model.effects import NO_PARTITION, Cue, field_of
from engine.model.errors import name_of
from engine.model.log import Batch, Log
from engine.model.messages import (
    CONTROLLER,
    FIRST_PRODUCER,
    FIRST_VOTER,
    NAMES,
    REPLIES,
    Message,
)
from engine.model.records import PartitionRecord
from engine.model.state import DOWN, LEADER, ROLE_NAMES, Replica
from engine.sim.kernel import DELIVERY
from engine.sim.simulation import Simulation
from engine.view.fields import fields_of
from engine.view.shown_partitions import shown_partitions
from engine.view.view import node_name
from engine.view.wire import CueJson

MOST_NAMED: Final = 8
"""Records of a batch that are named one by one."""

ROLE_LETTERS: Final = {name: name[0].upper() for name in ROLE_NAMES.values()} | {"none": "-"}


OF_NODES: Final = ("CP-RAFT-OBSERVER", "CP-RAFT-EPOCH", "CP-RAFT-VOTE", "CP-RAFT-PREVOTE", "CP-8.5")
"""Beginnings of rules whose cues have nodes as values."""

CUE_CHARS: Final = 2_000
"""Most characters of a value in a cue, such as the batches of a long truncated log."""


def node_text(node: int) -> str:
    """Return a node as moves write it: 1, K, C1 a voter or a consumer, P1 a producer."""
    voter = FIRST_PRODUCER < node < CONTROLLER
    return f"C{FIRST_VOTER - node + 1}" if voter else str(node_name(node))


def _with_nodes(cue: Cue, value: Any) -> Any:
    """Return a cue's value with the names of its voters, where it has nodes."""
    if isinstance(value, tuple | list):
        return [_with_nodes(cue, item) for item in value]
    is_node = isinstance(value, int) and FIRST_PRODUCER < value < CONTROLLER
    return node_text(value) if is_node and cue.rule.startswith(OF_NODES) else value


def value_text(value: Any) -> str:
    if isinstance(value, tuple | list):
        return "[" + ",".join(value_text(item) for item in value) + "]"
    if isinstance(value, Batch):
        return f"{'+'.join(value.values)}@{value.base}({value.epoch})"
    return "-" if value is None else str(value)


def cue_json(cue: Cue) -> CueJson:
    return {
        "rule": cue.rule,
        "node": node_name(cue.node),
        "field": field_of(cue),
        "old": _short(_with_nodes(cue, cue.old)),
        "new": _short(_with_nodes(cue, cue.new)),
        "p": None if cue.tp == NO_PARTITION else cue.tp,
    }


def _short(value: Any) -> Any:
    if isinstance(value, int | str | None):
        return value
    told = value_text(value)
    return told if len(told) <= CUE_CHARS else told[:CUE_CHARS] + "…"


def cue_line(cue: Cue) -> str:
    """Return `H-2   b1 hw 1 -> 2`."""
    name = f"b{cue.node}" if cue.node >= 0 else node_text(cue.node)
    return f"{cue.rule:<6} {name} {field_of(cue)} {old_text(cue)} -> {new_text(cue)}"


def old_text(cue: Cue) -> str:
    """Return the old value."""
    return value_text(_with_nodes(cue, cue.old))


def new_text(cue: Cue) -> str:
    """Return the new value; errors by their names."""
    rule, field, new = cue.rule, cue.field, cue.new
    if field == "error" or rule in (
        "L-3.refused",
        "P-4.answer",
        "P-2",
        "CP-ALTER",
        "CP-ALTER.direct",
    ):
        new = name_of(new) if isinstance(new, int) else new
    return value_text(_with_nodes(cue, new))


def message_words(m: Any) -> str:
    """Return `Fetch offset=2 epoch=0`."""
    fields = " ".join(f"{key}={value_text(value)}" for key, value in fields_of(m).items())
    return f"{NAMES[m.kind]} {fields}".rstrip()


def message_line(m: Any) -> str:
    """Return `2->1 Fetch offset=2 epoch=0`."""
    arrow = "=>" if m.kind in REPLIES else "->"
    return f"{node_text(m.src)}{arrow}{node_text(m.dst)} {message_words(m)}"


def event_lines(kind: int, node: int, what: Any, cues: list[Cue]) -> list[str]:
    """Return one event: what arrived or happened, then its cues."""
    if kind == DELIVERY and isinstance(what, Message):
        head = message_line(what)
    elif isinstance(what, tuple):
        head = f"timer {node_text(node)} {timers.NAMES[what[0]]}"
    else:
        head = f"{what}"
    return [head, *(cue_line(cue) for cue in cues)]


def _named(batch: Batch) -> str:
    values = batch.values
    return "+".join(values) if len(values) <= MOST_NAMED else f"{values[0]}...{values[-1]}"


def log_line(broker: Broker, tp: int, replica: Replica | None, cache: CellCache) -> str:
    """Return `b1{L le=0 LEO=2 HW=2}  m0@0 m1@0 |`."""
    disk = broker.machine.disks.get(tp)
    if disk is None:
        return f"b{broker.id}{{no log}}"
    log = disk.log
    up = broker.status != DOWN and replica is not None
    hw = log.hw if up else disk.hw_checkpoint
    if replica is not None and up:
        role = ROLE_LETTERS[ROLE_NAMES[replica.role]]
        head = f"b{broker.id}{{{role} le={replica.leader_epoch} LEO={log.leo} HW={hw}}}"
    else:
        lost = disk.dir in broker.machine.broken
        status = f"{directories.name(disk.dir)} failed" if lost else broker.status
        head = f"b{broker.id}{{{status} LEO={log.leo} HW={hw}}}"
    if log.log_start:
        head = f"{head[:-1]} start={log.log_start}}}"
    if log.local_start > log.log_start:
        head = f"{head[:-1]} local={log.local_start}}}"
    return f"{head}  {_cells(log, hw, cache)}"


def future_line(broker: Broker, tp: int, cache: CellCache) -> list[str]:
    """Return `  future d2{LEO=2 HW=2}  m0@0 m1@0 |`, if the log moves to another directory."""
    move = broker.machine.futures.get(tp)
    if move is None:
        return []
    log, where = move.disk.log, directories.name(move.disk.dir)
    return [f"  future {where}{{LEO={log.leo} HW={log.hw}}}  {_cells(log, log.hw, cache)}"]


def remote_line(sim: Simulation, tp: int) -> list[str]:
    """Return `  remote{up}  0-1@0 2-3@0,1`, if segments are copied to remote storage."""
    store = sim.cluster.store
    if store is None:
        return []
    segments = [
        f"{segment.base}-{segment.end - 1}@{','.join(str(epoch) for epoch, _ in segment.epochs)}"
        for segment in store.log_of(tp).all_segments()
    ]
    return [" ".join([f"  remote{{{'up' if store.up else 'down'}}} ", *segments]).rstrip()]


class CellCache:
    """Texts of the batches of logs, kept while these only grow (`Log.cuts`)."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[Log, int, list[str]]] = {}

    def of(self, log: Log) -> list[str]:
        cached = self._of.get(id(log))
        if cached is None or cached[0] is not log or cached[1] != log.cuts:
            cached = self._of[id(log)] = log, log.cuts, []
        cells = cached[2]
        cells += [f"{_named(batch)}@{batch.epoch}" for batch in log.batches[len(cells) :]]
        return cells


def _cells(log: Log, hw: int, cache: CellCache) -> str:
    cells, mark = cache.of(log), bisect_left(log.bases, hw)
    return " ".join((*cells[:mark], "|", *cells[mark:]))


def _record_text(record: PartitionRecord) -> str:
    """Return `{1 0 0 [1,2]} elr [3]`."""
    isr = ",".join(map(str, record.isr))
    elr = f" elr [{','.join(map(str, record.elr))}]" if record.elr else ""
    recovering = " RECOVERING" if record.recovering else ""
    target = value_text(target_of(record.replicas, record.removing))
    moving = f" to {target}" if record.reassigning else ""
    epochs = f"{record.leader_epoch} {record.partition_epoch}"
    return f"{{{record.leader} {epochs} [{isr}]}}{elr}{recovering}{moving}"


def state_lines(sim: Simulation, cache: CellCache | None = None) -> list[str]:
    """Return the controller's record and every replica, partition by partition.

    `cache` is that of earlier calls with this very simulation.
    """
    lines = []
    cache = cache or CellCache()
    several = len(sim.cluster.names) > 1
    for tp, record, deleted in shown_partitions(sim)[0]:
        name = sim.cluster.names[tp] if several else "P"
        lines.append(f"{name}{{{deleted}}}" if deleted else name + _record_text(record))
        for broker_id in sorted(record.replicas):
            broker = sim.brokers[broker_id]
            replica = broker.replicas.get(tp)
            lines.append(log_line(broker, tp, replica, cache))
            lines += future_line(broker, tp, cache)
            if replica is not None and replica.role == LEADER and replica.pending:
                lines.append(f"  pending isr {value_text(replica.pending_isr)}")
        lines += remote_line(sim, tp)
    return lines


def verdict_lines(sim: Simulation) -> list[str]:
    lines = [f"violates {name} at {step}: {why}" for name, step, why in sim.broken]
    lines += [
        f"counts {name} {count}"
        for name, count in sorted(sim.checker.counts.items())
        if not any(name == broken for broken, _, _ in sim.broken)
    ]
    return lines or ["holds"]
