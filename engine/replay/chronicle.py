"""Meters and log lines of brokers since their start, from the cues of a run."""

from __future__ import annotations

import json
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Final

from engine.model.control_messages import AlterPartitionRequest
from engine.model.declared import declared, fresh
from engine.model.effects import Cue
from engine.model.errors import REQUEST_TIMED_OUT, name_of
from engine.model.json_types import Json
from engine.model.messages import CONTROLLER
from engine.sim.simulation import Simulation
from engine.view import isr_lines

SHRINKS: Final = "IsrShrinksPerSec"
EXPANDS: Final = "IsrExpandsPerSec"
FAILED_UPDATES: Final = "FailedIsrUpdatesPerSec"
EXPIRES: Final = "ExpiresPerSec"
ELECTIONS: Final = "LeaderElectionRateAndTimeMs"
UNCLEAN: Final = "UncleanLeaderElectionsPerSec"

ENDS: Final = frozenset(
    ("CP-8.1.kill", "CP-8.1.power", "CP-8.1.wipe", "CP-8.2.start", "CP-10.down", "L-12", "F-9.halt")
)
"""With the process its counters and its console are gone."""
LINES_SHOWN: Final = 40
LINES_OF_A_BLOCK: Final = 1_000
MOST_BLOCKS: Final = 500
"""Lines that came before are compressed to blocks, some 10 KB each; the oldest are evicted."""
PARTITION: Final = "[Partition]"
"""Place of `Partition.logIdent` at the beginning of a line."""

Line = tuple[int, int, str, str]
"""(step, node, level, text)"""


@declared
class Chronicle:
    """Marks (step, node, meter) and log lines (step, node, level, text), in order."""

    _marks: list[tuple[int, int, str]] = fresh(list)
    # leader -> meters of its ISR change that the controller took and it has not heard of yet
    _accepted: dict[int, list[str]] = fresh(dict)
    _lines: list[Line] = fresh(list)
    # (step of the first line, compressed JSON of the lines)
    _blocks: deque[tuple[int, bytes]] = fresh(lambda: deque(maxlen=MOST_BLOCKS))

    def note(self, step: int, what: Any, cues: Sequence[Cue], sim: Simulation) -> None:
        """Note one event: what arrived or fired, its cues, and the cluster after it."""
        partitions = sim.cluster.names
        lines: list[Line] = []
        for cue in cues:
            rule, node = cue.rule, cue.node
            if rule in ENDS:
                self._marks.append((step, node, ""))
                self._accepted.pop(node, None)
            elif rule == "CP-ISR" and isinstance(what, AlterPartitionRequest):
                self._accepted[what.src] = _of_isr(cue)
            elif rule in ("S-9", "CP-KR-APPLY"):
                for meter in self._accepted.pop(node, ()):
                    self._marks.append((step, node, meter))
            self._marks += [(step, node, meter) for meter in _counted(cue, cues)]
            if rule in isr_lines.RULES:
                line = isr_lines.line(sim, cue)
                if line is not None:
                    lines.append((step, node, *line))
            elif rule in LINES:
                level, text = LINES[rule](cue, partitions[0] if len(partitions) == 1 else "")
                if text.startswith(PARTITION):
                    name = partitions[cue.tp] if cue.tp >= 0 else ""
                    text = isr_lines.ident(sim, node, name) + text.removeprefix(PARTITION)
                lines.append((step, node, level, text))
        self._lines += lines[-LINES_SHOWN:]
        if len(self._lines) >= LINES_OF_A_BLOCK:
            block = zlib.compress(json.dumps(self._lines).encode())
            self._blocks.append((self._lines[0][0], block))
            self._lines = []

    def counts(self, step: int, everything: bool = False) -> dict[tuple[int, str], int]:
        """Return (node, meter) -> count up to a step, since the start of process or run."""
        counts: dict[tuple[int, str], int] = {}
        for at, node, meter in self._marks:
            if at > step:
                break
            if meter:
                counts[node, meter] = counts.get((node, meter), 0) + 1
            elif not everything:
                counts = {key: value for key, value in counts.items() if key[0] != node}
        return counts

    def lines(self, step: int) -> list[Json]:
        """Return the last log lines up to a step, the newest first."""
        lines = [line for line in self._lines if line[0] <= step]
        for first, block in reversed(self._blocks):
            if first <= step and len(lines) < LINES_SHOWN:
                lines[:0] = [line for line in json.loads(zlib.decompress(block)) if line[0] <= step]
        return [
            {"n": at, "node": "K" if node == CONTROLLER else node, "level": level, "text": text}
            for at, node, level, text in reversed(lines[-LINES_SHOWN:])
        ]


def _counted(cue: Cue, cues: Sequence[Cue]) -> list[str]:
    """Return the meters of its node that a cue moves (data-plane 12)."""
    rule, new = cue.rule, cue.new
    if rule in ("S-9.rejected", "S-9.pending"):
        return [FAILED_UPDATES]
    if rule == "P-4.answer" and new == REQUEST_TIMED_OUT:
        return [EXPIRES]
    if rule in ("CP-ELECT-KR", "CP-ELECT-ZK") and new >= 0:
        return [ELECTIONS, UNCLEAN] if _unclean(cue, cues) else [ELECTIONS]
    return []


def _of_isr(cue: Cue) -> list[str]:
    """S-9.  Return the meters of a change of the ISR."""
    old, new = cue.old, cue.new
    lost, won = any(one not in new for one in old), any(one not in old for one in new)
    return [SHRINKS] * lost + [EXPANDS] * won


def _unclean(cue: Cue, cues: Sequence[Cue]) -> bool:
    """Check whether the elected replica was neither in the ISR nor in the ELR."""
    trusted = [one.old for one in cues if one.rule in ("CP-ISR", "CP-ELR") and one.tp == cue.tp]
    return bool(trusted) and not any(cue.new in ids for ids in trusted)


# -- log lines: as Kafka begins them, with the values a cue carries --------------------------------


def _leads(cue: Cue, name: str) -> tuple[str, str]:
    text = f"Leader starts at leader epoch {cue.new}; the previous leader epoch was {cue.old}"
    return "INFO", f"{PARTITION} {text}"


def _follows(cue: Cue, name: str) -> tuple[str, str]:
    text = f"Follower starts at leader epoch {cue.new}; the previous leader epoch was {cue.old}"
    return "INFO", f"{PARTITION} {text}"


def _truncates(cue: Cue, name: str) -> tuple[str, str]:
    return "INFO", f"[UnifiedLog partition={name or '…'}] Truncating to offset {cue.new}"


def _fails(cue: Cue, name: str) -> tuple[str, str]:
    text = f"Partition {name} marked as failed" if name else "A partition is marked as failed"
    return "WARN", f"[ReplicaFetcher replicaId={cue.node}] {text}"


def _breaks(cue: Cue, name: str) -> tuple[str, str]:
    node, field, old, new = cue.node, cue.field, cue.old, cue.new
    ident = f"[ReplicaFetcher replicaId={node}"
    if field == "connection":
        return "WARN", f"{ident}, leaderId={old}] Error in response for fetch request"
    return "INFO", f"{ident}] Retrying after {name_of(new)}"


def _refuses(cue: Cue, name: str) -> tuple[str, str]:
    ident = f"[ReplicaManager broker={cue.node}]"
    return "ERROR", f"{ident} Error processing append operation: {name_of(cue.new)}"


def _silent(cue: Cue, name: str) -> tuple[str, str]:
    if cue.rule == "CP-ZK-BROKERS":
        return "INFO", f"[Controller] Deleted brokers: {cue.about}"
    return "INFO", f"[QuorumController] Fencing broker {cue.about}"


def _back(cue: Cue, name: str) -> tuple[str, str]:
    return "INFO", f"[QuorumController] The request from broker {cue.about} to unfence is granted"


def _elects(cue: Cue, name: str) -> tuple[str, str]:
    old, new = cue.old, cue.new
    where = name or f"partition {cue.tp}"
    return "INFO", f"[Controller] Partition change for {where}: leader: {old} -> {new}"


def _down(cue: Cue, name: str) -> tuple[str, str]:
    return "INFO", f"[KafkaServer id={cue.node}] shut down completed"


def _up(cue: Cue, name: str) -> tuple[str, str]:
    return "INFO", f"[KafkaServer id={cue.node}] starting"


LINES: Final[dict[str, Callable[[Cue, str], tuple[str, str]]]] = {
    "CP-MAKE-LEADER": _leads,
    "CP-MAKE-FOLLOWER": _follows,
    "T-0": _truncates,
    "T-1": _truncates,
    "T-2": _truncates,
    "T-4": _truncates,
    "F-8": _breaks,
    "F-8.failed": _fails,
    "L-3.refused": _refuses,
    "L-12": _down,
    "CP-8.2.start": _up,
    "CP-KR-FENCE": _silent,
    "CP-KR-UNFENCE": _back,
    "CP-ZK-BROKERS": _silent,
    "CP-ELECT-KR": _elects,
    "CP-ELECT-ZK": _elects,
}
"""Rule -> the line it leaves in the log of its node: (level, text)."""
