"""Fail-over of a KRaft controller: only what a majority had survives (control-plane 10)."""

from __future__ import annotations

from typing import Any

from engine.controlplane import kraft
from engine.controlplane.elr import cleared
from engine.controlplane.membership import (
    R_CHANGE,
    R_CLEAR_ELR,
    R_CONFIG,
    R_PARTITION,
    R_REGISTER,
    R_REMOVE,
    R_UNREGISTER,
)
from engine.model.controller import Controller, Registration
from engine.model.effects import Effects
from engine.model.messages import CONTROLLER
from engine.model.records import PartitionRecord

Record = tuple[Any, ...]


def lose_uncommitted(k: Controller, out: Effects) -> list[int]:
    """10.  Drop what no majority had when the active controller failed.

    Return the partitions whose state goes back.  An operator's request is kept in `unsaid`: it has
    no answer, so the next controller gets it again.
    """
    lost = k.log[k.committed :]
    if not lost:
        return []
    out.cue("CP-10.discarded", CONTROLLER, "metadata log", len(k.log), k.committed)
    del k.log[k.committed :]
    back = []
    for tp in dict.fromkeys(r[1] for r in lost if r[0] in (R_PARTITION, R_REMOVE)):
        before = _last(k, (R_PARTITION,), tp)
        if tp not in k.records:
            k.unsaid.append((R_REMOVE, tp))
        elif before is None:  # numbers of removed partitions are never used again
            k.unsaid.append((R_PARTITION, tp, k.records[tp]))
        else:
            k.records[tp] = _since(k, before)
            back.append(tp)
    for broker in dict.fromkeys(r[1] for r in lost if r[0] in (R_REGISTER, R_CHANGE)):
        if broker in k.brokers:
            _register_again(k, broker)
    kinds = (R_CONFIG, R_CLEAR_ELR, R_UNREGISTER)
    k.unsaid += [record for record in lost if record[0] in kinds]
    return back


def _last(k: Controller, kinds: tuple[str, ...], key: int) -> Record | None:
    """Return the newest committed record of a partition or a broker."""
    for at in range(len(k.log) - 1, -1, -1):
        record: Record = k.log[at]
        if record[0] in kinds and record[1] == key:
            return record
    return None


def _since(k: Controller, lost: Record) -> PartitionRecord:
    """Return a partition's newest committed record, and whether its ELR was cleared after that."""
    tp, record = lost[1:3]
    written: PartitionRecord = record
    for other in k.log[::-1]:
        if other is lost:
            break
        if other[0] == R_CLEAR_ELR and tp in other[1]:
            return cleared(written)
    return written


def _register_again(k: Controller, broker: int) -> None:
    """Restore a registration as the committed log has it."""
    before = _last(k, (R_REGISTER, R_CHANGE), broker)
    if before is None:
        del k.brokers[broker]
        return
    _, _, epoch, fenced, shutting_down = before
    entry = k.brokers[broker]
    if entry.epoch != epoch:  # of a former process: the next sender is another one
        k.brokers[broker] = entry = Registration(epoch, -1, entry.rack, entry.last_contact)
    entry.fenced, entry.shutting_down = fenced, shutting_down
    if not shutting_down:
        entry.shutdown_at = -1


def take_over(k: Controller, out: Effects) -> None:
    """10(f).  Start a new active controller; operators without an answer ask it."""
    kraft.resume(k, out)
    unsaid, k.unsaid = k.unsaid, []
    for kind, *rest in unsaid:
        if kind == R_CLEAR_ELR:
            kraft.clear_elr(k, [tp for tp in rest[0] if tp in k.records], out)
    kraft.append(k, unsaid, out)
