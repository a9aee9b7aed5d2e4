"""Schedule of a producer: in batches, evenly or by chance, in waves."""

from __future__ import annotations

from engine.scenarios.parts import ProducerSpec
from engine.sim.kernel import Chance


class Pace:
    """Pattern of a producer's rate.  Waves begin with the busy one when the clock shows 0."""

    __slots__ = ("batch", "busy_ms", "calm_ms", "steady", "wave_ms")

    def __init__(self, load: ProducerSpec) -> None:
        self.batch = load.batch
        self.steady = load.steady
        self.wave_ms = load.wave_ms
        self.busy_ms = _interval(load.batch, load.rate_per_s)
        self.calm_ms = _interval(load.batch, load.calm_rate_per_s) if load.wave_ms else 0

    def wait_ms(self, now: int, chance: Chance) -> int:
        calm = self.wave_ms and now // self.wave_ms % 2
        mean = self.calm_ms if calm else self.busy_ms
        return mean if self.steady else chance.between(1, 2 * mean - 1)


def _interval(batch: int, rate: float) -> int:
    return max(1, round(1_000 * batch / rate))


def pace_of(load: ProducerSpec) -> Pace | None:
    """Return the pace; None for the usual producer: single records, at random, at one rate."""
    usual = load.batch == 1 and not load.steady and not load.wave_ms
    return None if usual else Pace(load)
