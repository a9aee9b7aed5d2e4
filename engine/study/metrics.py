"""What is measured of a run."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Metric:
    name: str
    unit: str
    meaning: str
    of: Callable[[Any], int | None]
    summary: str


METRICS: dict[str, Metric] = {}
