"""Benchmark of reading brokers' logs.

CPU-seconds a MB behind prefixes and in JSON, beside the plain layout, and the memory that a large
file takes.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

SIZE_MB: Final = 20
LARGE_MB: Final = 200
MESSAGE: Final = (
    "[GroupCoordinator 1]: Preparing to rebalance group app-{n} in state PreparingRebalance with "
    "old generation {n} (reason: Adding new member)"
)
CHANGE: Final = "[Partition other-{n} broker=1] Expanding ISR from 1 to 1,2"
LEADS: Final = (
    "[Broker id=1] Leader orders-0 with topic id Some(x) starts at leader epoch 3 from offset 50 "
    "with partition epoch 5, high watermark 50, ISR [1,2], adding replicas [] and removing "
    "replicas [] . Previous leader Some(1) and previous leader epoch was 2."
)
LAYOUTS: Final[dict[str, Callable[[str, str], str]]] = {
    "plain": lambda at, message: f"[{at}] INFO {message} (kafka.x.X)",
    "prefix": lambda at, message: f"kafka-1  | [{at}] INFO {message} (kafka.x.X)",
    "json": lambda at, message: json.dumps({"log": f"[{at}] INFO {message} (kafka.x.X)\n"}),
}
BUDGETS: Final = {
    "plain_s_per_mb": 0.25,
    "prefix_s_per_mb": 0.25,
    "json_s_per_mb": 0.25,
    "large_rss_mib": 100.0,
}


def _lines(layout: str, size: int) -> Iterator[str]:
    wrap, written, number = LAYOUTS[layout], 0, 0
    yield wrap("2026-03-04 05:00:00,000", LEADS) + "\n"
    while written < size:
        at = f"2026-03-04 05:{number // 60 % 60:02d}:{number % 60:02d},{number % 1_000:03d}"
        message = CHANGE if number % 10 == 0 else MESSAGE
        line = wrap(at, message.format(n=number)) + "\n"
        yield line
        written, number = written + len(line), number + 1


def _read(path: Path) -> float:
    """Return the CPU-seconds to find the partitions of a file and to gather one of them."""
    from app.incident import timeline
    from app.reading import sources
    from app.reading.names import TopicIdentity

    began = time.process_time()
    found = sources.readable_files((str(path),))
    timeline.partitions(found)
    told = timeline.gather(found, TopicIdentity("orders", 0))
    if not told.states:
        raise RuntimeError("The log was not read.")
    return time.process_time() - began


def logs() -> tuple[float, dict[str, float]]:
    """Return the seconds a MB of the slowest layout over those of the plain one, and figures."""
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "server.log")
        for layout in LAYOUTS:
            with path.open("w") as file:
                file.writelines(_lines(layout, SIZE_MB * 1_000_000))
            figures[f"{layout}_s_per_mb"] = min(_read(path) for _ in range(2)) / SIZE_MB
        with path.open("w") as file:
            file.writelines(_lines("prefix", LARGE_MB * 1_000_000))
        command = [sys.executable, "-m", "tests.bench.logs", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        figures["large_rss_mib"] = float(done.stdout)
    rates = [figures[f"{layout}_s_per_mb"] for layout in LAYOUTS]
    return max(rates) / rates[0], figures


if __name__ == "__main__":
    _read(Path(sys.argv[1]))
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
