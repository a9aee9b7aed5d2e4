"""The durability advisor: what an operator's setting would lose, and what would lose less.

A setting and its neighbours, each changed in one thing, become cells of one study under the same
seeds and the same failures.  Failures of years are met in windows of hours: their rates get
importance factors, and the weights of the runs undo them (weights.py).  A window outlasts the
repairs, so that a second failure can meet the repair of the first; after it everything is repaired
and nothing else fails, so that each outage is seen to its end.  What keeps a quiet cluster busy is
slowed down (`_paced`), or nobody could wait for the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, Final

from engine.model import configs
from engine.model.errors import BadInput
from engine.model.profiles import get_profile
from engine.scenarios.scenario import Scenario
from engine.scenarios.spans import DAY_MS, UNITS

REPAIRS: Final = 2
"""Mean repairs, of the longest kind, in a window, and again in the time to recover after it.

Of failures that would meet a repair r, a window w of the same kind sees 1 - r/w (1 - e^(-w/r)):
0.57 for the longest, 0.75 for one half as long.  Of an outage's length 0.94 and 0.99 are seen.
"""
SHORTEST_MS: Final = 600_000
"""A window is never shorter: long enough to fail, to be noticed, and to fail again."""
YEAR_MS: Final = 365 * DAY_MS
STRIKES: Final = 1.6
"""Strikes in a window, on average: so many leave the most runs in which one or two of them struck
and nothing else, and it is those that weigh.  The kinds share them by the square root of how often
they strike in truth: with equal parts, what is likely would weigh most and be met least."""
NEWEST: Final = "K41"

BATCH_S: Final = 10
"""A producer sends a batch so often ..."""
BATCH_RECORDS: Final = 20
"""... of so many records: a power loss seldom spares all of what was not flushed."""
FLUSH_MS: Final = 60_000
"""What was written is on disk after half a minute on average, as Linux writes back by itself
(vm.dirty_expire_centisecs = 3000)."""
SLACK_MS: Final = 500
"""A session outlasts a heartbeat by so much; messages take at most 8 ms."""

BOUNDS: Final[dict[str, tuple[int, int]]] = {
    "brokers": (1, 9),
    "factor": (1, 9),
    "min_isr": (1, 9),
    "racks": (1, 9),
    "process_days": (1, 3650),
    "process_repair_s": (5, 600),
    "machine_days": (1, 3650),
    "machine_repair_min": (1, 480),
    "rack_days": (1, 3650),
    "rack_repair_min": (1, 480),
    "disk_days": (1, 3650),
    "disk_repair_min": (1, 480),
}
"""What may be asked, both ends included."""


@dataclass(frozen=True)
class Setting:
    """What an operator configures."""

    profile: str = "K39"
    brokers: int = 3
    factor: int = 3
    min_isr: int = 2
    acks: str = "all"
    unclean: bool = False
    racks: int = 1

    def values(self) -> dict[str, str]:
        """The same in the words of a study's cells."""
        return {
            "brokers": str(self.brokers),
            "racks": str(self.racks),
            "replication.factor": str(self.factor),
            "min.insync.replicas": str(self.min_isr),
            "workload.acks": self.acks,
            "unclean.leader.election.enable": str(self.unclean).lower(),
        }

    @staticmethod
    def of(profile: str, values: Mapping[str, str]) -> Setting:
        """The setting of which `values` were told."""
        return Setting(
            profile,
            int(values["brokers"]),
            int(values["replication.factor"]),
            int(values["min.insync.replicas"]),
            values["workload.acks"],
            values["unclean.leader.election.enable"] == "true",
            int(values["racks"]),
        )


@dataclass(frozen=True)
class Failures:
    """What an operator fears: mean days between failures, and how long a repair takes on average,
    of one process (it crashes), one machine (its power fails, what was not flushed is gone), one
    rack (all its machines lose power at once), the disk of one broker (an empty one replaces it).

    By default a process is started again by its supervisor, a machine by somebody on call, a rack
    when its power is back, and a disk is changed by hand; ten years between failures are the most
    that a fault plan takes.
    """

    process_days: int = 30
    process_repair_s: int = 30
    machine_days: int = 180
    machine_repair_min: int = 60
    rack_days: int = 720
    rack_repair_min: int = 60
    disk_days: int = 3650
    disk_repair_min: int = 60

    @property
    def window_ms(self) -> int:
        """How long things fail in one run; to recover it has as long again."""
        minutes = max(self.machine_repair_min, self.rack_repair_min, self.disk_repair_min)
        longest = max(self.process_repair_s * UNITS["s"], minutes * UNITS["m"])
        return max(SHORTEST_MS, REPAIRS * longest)


def check(setting: Setting, failures: Failures) -> None:
    """Raises BadInput naming what is out of bounds or does not go together."""
    get_profile(setting.profile)
    for name, (low, high) in BOUNDS.items():
        value = getattr(setting if hasattr(setting, name) else failures, name)
        if not low <= value <= high:
            raise BadInput("invalid", f"{name} lies between {low} and {high}, not {value}.")
    if setting.acks not in ("all", "1"):
        raise BadInput("invalid", "acks is all or 1.")
    if setting.factor > setting.brokers:
        raise BadInput("invalid", "There are fewer brokers than replicas.")
    if setting.min_isr > setting.factor:
        raise BadInput("invalid", "min.insync.replicas is above the replication factor.")
    if setting.racks > setting.brokers:
        raise BadInput("invalid", "There are fewer brokers than racks.")


def neighbours(setting: Setting) -> list[Setting]:
    """The setting itself, then every setting that differs in one thing and makes sense."""
    found = [setting]
    changes: list[dict[str, Any]] = [
        {"acks": "1" if setting.acks == "all" else "all"},
        {"min_isr": setting.min_isr + 1},
        {"min_isr": setting.min_isr - 1},
        {"factor": setting.factor + 1, "brokers": max(setting.brokers, setting.factor + 1)},
        {"unclean": not setting.unclean},
        {"racks": min(setting.factor, setting.brokers)},
        {"racks": 1},
    ]
    for change in changes:
        other = replace(setting, **change)
        sound = 1 <= other.min_isr <= other.factor and other.factor <= BOUNDS["factor"][1]
        if sound and other not in found:
            found.append(other)
    return found


def profiles(setting: Setting) -> tuple[str, ...]:
    """The release that is asked for, and the newest."""
    return tuple(dict.fromkeys((get_profile(setting.profile).name, NEWEST)))


def scenario(setting: Setting, failures: Failures) -> Scenario:
    """A window of this setting under these failures, with importance factors."""
    racks = [chr(ord("a") + index % setting.racks) for index in range(setting.brokers)]
    names = profiles(setting)
    load = {"rate_per_s": BATCH_RECORDS / BATCH_S, "batch": BATCH_RECORDS, "acks": setting.acks}
    return Scenario.from_dict(
        {
            "title": "What would these settings lose?",
            "tags": ["scale", "durability"],
            "profiles": list(names),
            "brokers": [{"id": i + 1, "rack": rack} for i, rack in enumerate(racks)],
            "partitions": [list(range(1, setting.factor + 1))],
            "configs": {
                "min.insync.replicas": setting.min_isr,
                "unclean.leader.election.enable": setting.unclean,
                "flush.ms": FLUSH_MS,
                "commit_ms": 20,
                **_paced(names),
            },
            "network": {"delay_ms": [1, 8], "control_delay_ms": [1, 8]},
            "fetching": "auto",
            "workload": {"producers": [load]},
            "faults": _faults(setting, failures, racks),
            "duration_ms": failures.window_ms,
            "script": f"run\nadvance {failures.window_ms}",
        }
    )


def _paced(names: tuple[str, ...]) -> dict[str, int]:
    """Few messages while nothing happens, without a change to what happens when something does.

    A dead broker is noticed a session after its last heartbeat: on average a session less half a
    heartbeat after its death.  Rarer heartbeats in a longer session keep that mean.
    """
    usual = [configs.build(get_profile(name)) for name in names]
    noticed = [one.session_timeout_ms - one.heartbeat_ms // 2 for one in usual]
    beat = min(2 * (ms - SLACK_MS) for ms in noticed)
    sessions = {
        f"{'broker' if get_profile(name).kraft else 'zookeeper'}.session.timeout.ms": ms + beat // 2
        for name, ms in zip(names, noticed, strict=True)
    }
    return {
        **sessions,
        "broker.heartbeat.interval.ms": beat,
        "replica.fetch.wait.max.ms": 60_000,
        "replica.lag.time.max.ms": 90_000,
        "replica.high.watermark.checkpoint.interval.ms": 60_000,
        "retry.backoff.ms": 20_000,
        "delivery.timeout.ms": 60_000,
    }


def _faults(setting: Setting, failures: Failures, racks: list[str]) -> list[dict[str, Any]]:
    used = list(dict.fromkeys(racks))
    brokers: dict[str, Any] = {"brokers": list(range(1, setting.brokers + 1))}
    rows: tuple[tuple[str, int, int, dict[str, Any]], ...] = (
        ("kill", failures.process_days, failures.process_repair_s * UNITS["s"], brokers),
        ("power", failures.machine_days, failures.machine_repair_min * UNITS["m"], brokers),
        ("power", failures.rack_days, failures.rack_repair_min * UNITS["m"], {"racks": used}),
        ("disk_fail", failures.disk_days, failures.disk_repair_min * UNITS["m"], brokers),
    )
    lines: list[dict[str, Any]] = []
    often = [sqrt(sum(map(len, targets.values())) / days) for _, days, _, targets in rows]
    for (kind, days, mend_ms, targets), root in zip(rows, often, strict=True):
        mtbf = days * DAY_MS
        (struck,) = targets.values()
        wanted = STRIKES * root / sum(often)
        factor = max(1.0, wanted * mtbf / (len(struck) * failures.window_ms))
        lines.append(
            {"kind": kind, "mtbf_ms": mtbf, "mttr_ms": mend_ms, "importance": round(factor, 3)}
            | targets
        )
    return lines


def per_year(share: float, window_ms: int) -> float:
    """Windows in a year in which it happens, from the share of windows."""
    return share * YEAR_MS / window_ms


def seconds_per_year(ms_per_window: float, window_ms: int) -> float:
    """Seconds of a year, from the mean milliseconds of a window."""
    return ms_per_window / 1_000 * YEAR_MS / window_ms
