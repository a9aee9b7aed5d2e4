"""The durability advisor: what an operator's setting would lose, and what would lose less.

A setting and its neighbours, each changed in one thing, become cells of one study under the same
seeds and the same failures.  Failures of years are met in windows of minutes: their rates get
importance factors, and the weights of the runs undo them (weights.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from engine.model.errors import BadInput
from engine.model.profiles import get_profile
from engine.scenarios.scenario import Scenario
from engine.scenarios.spans import DAY_MS

WINDOW_MS: Final = 600_000
"""One run: long enough to fail, to be noticed, to fail again and to recover."""
YEAR_MS: Final = 365 * DAY_MS
STRIKES: Final = 0.7
"""Strikes of a kind in a window, on average: enough to overlap, few enough to weigh well."""
NEWEST: Final = "K41"

BOUNDS: Final[dict[str, tuple[int, int]]] = {
    "brokers": (1, 9),
    "factor": (1, 9),
    "min_isr": (1, 9),
    "racks": (1, 9),
    "process_days": (1, 3650),
    "machine_days": (1, 3650),
    "rack_days": (1, 3650),
    "repair_s": (5, 200),
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


@dataclass(frozen=True)
class Failures:
    """What an operator fears: mean days between failures of one process (it crashes), one machine
    (its power fails, what was not flushed is gone), one rack (all its machines lose power at
    once); how long a repair takes on average."""

    process_days: int = 30
    machine_days: int = 180
    rack_days: int = 720
    repair_s: int = 60


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
    return Scenario.from_dict(
        {
            "title": "What would these settings lose?",
            "tags": ["scale", "durability"],
            "profiles": list(profiles(setting)),
            "brokers": [{"id": i + 1, "rack": rack} for i, rack in enumerate(racks)],
            "partitions": [list(range(1, setting.factor + 1))],
            "configs": {
                "min.insync.replicas": setting.min_isr,
                "unclean.leader.election.enable": setting.unclean,
                "replica.fetch.wait.max.ms": 10_000,
                "retry.backoff.ms": 1_000,
                "commit_ms": 20,
            },
            "network": {"delay_ms": [1, 8], "control_delay_ms": [1, 8]},
            "fetching": "auto",
            "workload": {"producers": [{"rate_per_s": 0.5, "acks": setting.acks}]},
            "faults": _faults(setting, failures, racks),
            "duration_ms": WINDOW_MS,
            "script": "run",
        }
    )


def _faults(setting: Setting, failures: Failures, racks: list[str]) -> list[dict[str, Any]]:
    mend = failures.repair_s * 1_000
    used = list(dict.fromkeys(racks))
    everyone = list(range(1, setting.brokers + 1))
    return [
        _line("kill", failures.process_days, mend, setting.brokers) | {"brokers": everyone},
        _line("power", failures.machine_days, mend, setting.brokers) | {"brokers": everyone},
        _line("power", failures.rack_days, mend, len(used)) | {"racks": used},
    ]


def _line(kind: str, days: int, mend_ms: int, targets: int) -> dict[str, Any]:
    mtbf = days * DAY_MS
    factor = max(1.0, STRIKES * mtbf / (targets * WINDOW_MS))
    return {"kind": kind, "mtbf_ms": mtbf, "mttr_ms": mend_ms, "importance": round(factor, 3)}


def per_year(share: float) -> float:
    """Windows in a year in which it happens, from the share of windows."""
    return share * YEAR_MS / WINDOW_MS


def seconds_per_year(ms_per_window: float) -> float:
    """Seconds of a year, from the mean milliseconds of a window."""
    return ms_per_window / 1_000 * YEAR_MS / WINDOW_MS
