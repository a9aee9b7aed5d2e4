"""Durability advisor: losses of an operator's setting, and settings that would lose less.

A setting and its neighbours, each changed in one thing, become cells of one study under the same
failures; how often each loses is found by cycles (cycles.py).  The load that keeps a quiet cluster
busy is slowed down (`_paced`), or the answer would take too long.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from engine.model import configs
from engine.model.errors import InputError
from engine.model.profiles import get_profile
from engine.scenarios.scenario import Scenario
from engine.scenarios.spans import DAY_MS

YEAR_MS: Final = 365 * DAY_MS
NEWEST: Final = "K41"

BATCH_S: Final = 10
"""Seconds between two batches of a producer ..."""
BATCH_RECORDS: Final = 20
"""... of this number of records: a power loss seldom spares all of what was not flushed."""
FLUSH_MS: Final = 60_000
"""Written records are on disk after half a minute on average, as Linux writes back by itself
(vm.dirty_expire_centisecs = 3000)."""
SLACK_MS: Final = 500
"""Time by which a session outlasts a heartbeat; messages take at most 8 ms."""

BOUNDS: Final[dict[str, tuple[int, int]]] = {
    "brokers": (1, 9),
    "factor": (1, 9),
    "min_isr": (1, 9),
    "racks": (1, 9),
    "process_days": (1, 3_650),
    "process_repair_s": (5, 600),
    "machine_days": (1, 36_500),
    "machine_repair_min": (1, 480),
    "rack_days": (1, 36_500),
    "rack_repair_min": (1, 480),
    "disk_days": (1, 200_000),
    "disk_repair_min": (1, 480),
}
"""Bounds of each value, both ends included."""


@dataclass(frozen=True)
class Setting:
    """Settings that an operator configures."""

    profile: str = "K39"
    brokers: int = 3
    factor: int = 3
    min_isr: int = 2
    acks: str = "all"
    unclean: bool = False
    racks: int = 1

    def values(self) -> dict[str, str]:
        """Return the settings in the words of a study's cells."""
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
    """Failures that an operator expects: mean days between them, and mean time to repair.

    Those of one process (it crashes), one machine (its power fails, what was not flushed is gone),
    one rack (all its machines lose power at once), the disk of one broker (an empty one replaces
    it).

    By default a process is restarted by its supervisor, a machine by an operator on call, a rack
    when its power is back, and a disk is changed by hand.
    """

    process_days: int = 30
    process_repair_s: int = 30
    machine_days: int = 180
    machine_repair_min: int = 60
    rack_days: int = 720
    rack_repair_min: int = 60
    disk_days: int = 3650
    disk_repair_min: int = 60


PRESETS: Final[dict[str, Failures]] = {
    "usual": Failures(),
    "fleet": Failures(30, 30, 657, 60, 821, 210, 23_248, 240),
    "volumes": Failures(30, 30, 365, 10, 3_650, 120, 182_500, 60),
}
"""Failures to begin with; only what is named here was published, the rest is a guess.

`fleet`: J. Dean of the first year of a cluster of 1,800 servers (Google I/O, May 2008): about 1,000
machines fail, and 20 racks, of 40 servers each as is taken here, are away for one to six hours.
Disks by the annualized failure rate of 2024 in Backblaze's Drive Stats, 1.57 %.
`volumes`: network volumes "designed for" an annual failure rate of 0.1 to 0.2 % (AWS Storage
Services Overview), of which the worse is taken."""


def check(setting: Setting, failures: Failures) -> None:
    """Raise InputError naming what is out of bounds or does not go together."""
    get_profile(setting.profile)
    for name, (low, high) in BOUNDS.items():
        value = getattr(setting if hasattr(setting, name) else failures, name)
        if not low <= value <= high:
            raise InputError(
                "invalid", "{0} lies between {1} and {2}, not {3}.", name, low, high, value
            )
    if setting.acks not in ("all", "1"):
        raise InputError("invalid", "acks is all or 1.")
    if setting.factor > setting.brokers:
        raise InputError("invalid", "There are fewer brokers than replicas.")
    if setting.min_isr > setting.factor:
        raise InputError("invalid", "min.insync.replicas is above the replication factor.")
    if setting.racks > setting.brokers:
        raise InputError("invalid", "There are fewer brokers than racks.")


def neighbours(setting: Setting) -> list[Setting]:
    """Return the setting itself, then every setting that differs in one thing and makes sense."""
    settings = [setting]
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
        if sound and other not in settings:
            settings.append(other)
    return settings


def profiles(setting: Setting) -> tuple[str, ...]:
    """Return the release that is asked for, and the newest."""
    return tuple(dict.fromkeys((get_profile(setting.profile).name, NEWEST)))


def scenario(setting: Setting, duration_ms: int) -> Scenario:
    """Return a scenario of this setting at work for `duration_ms` without a failure."""
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
            "duration_ms": duration_ms,
            "script": "run",
        }
    )


def _paced(names: tuple[str, ...]) -> dict[str, int]:
    """Lower the rate of messages while nothing happens, with the same events when something does.

    A dead broker is noticed a session after its last heartbeat: on average a session less half a
    heartbeat after its death.  Rarer heartbeats in a longer session keep that mean.
    """
    usual = [configs.build(get_profile(name)) for name in names]
    noticed = [workload.session_timeout_ms - workload.heartbeat_ms // 2 for workload in usual]
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


def per_year(share: float, window_ms: int) -> float:
    """Return windows in a year in which it happens, from the share of windows."""
    return share * YEAR_MS / window_ms


def seconds_per_year(ms_per_window: float, window_ms: int) -> float:
    """Return seconds of a year, from the mean milliseconds of a window."""
    return ms_per_window / 1_000 * YEAR_MS / window_ms
