"""Message delays: between two bounds, or log-normal with a long tail."""

from __future__ import annotations

from dataclasses import dataclass

from engine.scenarios.places import Path, Reader, name_of

MOST_DELAY_MS = 60_000


@dataclass(frozen=True, slots=True)
class LogNormal:
    """Half of the messages take at most `median` ms, one in a hundred takes longer than `p99`."""

    median: int
    p99: int


Delay = tuple[int, int] | LogNormal
"""(least, most) in ms, both inclusive and all between them as likely, or a distribution."""


def read_delay(read: Reader, value: object, path: Path) -> Delay:
    """Read 5, [1, 5] or {median: 2, p99: 40}, in ms."""
    if isinstance(value, dict):
        return _read_log_normal(read, value, path)
    if isinstance(value, (list, tuple)):
        both = read.listing(value, path, 2, 2)
        low = read.integer(both[0], (*path, 0), 0, MOST_DELAY_MS, "ms")
        high = read.integer(both[1], (*path, 1), 0, MOST_DELAY_MS, "ms")
        if low > high:
            raise read.bad(path, "{0} is written [least, most].", name_of(path))
        return (low, high)
    delay_ms = read.integer(value, path, 0, MOST_DELAY_MS, "ms")
    return (delay_ms, delay_ms)


def _read_log_normal(read: Reader, value: object, path: Path) -> LogNormal:
    fields = read.mapping(value, path, ("median", "p99"))
    if len(fields) < 2:
        raise read.bad(path, "{0} as a distribution needs a median and a p99.", name_of(path))
    median = read.integer(fields["median"], (*path, "median"), 1, MOST_DELAY_MS, "ms")
    p99 = read.integer(fields["p99"], (*path, "p99"), 1, MOST_DELAY_MS, "ms")
    if p99 < median:
        raise read.bad((*path, "p99"), "{0} has a p99 below its median.", name_of(path))
    return LogNormal(median, p99)


def delay_data(delay: Delay) -> list[int] | dict[str, int]:
    """Return a delay as plain data; `read_delay` of it is an equal value."""
    if isinstance(delay, LogNormal):
        return {"median": delay.median, "p99": delay.p99}
    return list(delay)


def varies(delay: Delay) -> bool:
    if isinstance(delay, LogNormal):
        return delay.median != delay.p99
    return delay[0] != delay[1]
