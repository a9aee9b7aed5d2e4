"""Result of a durability study: losses and downtime per year, and the best setting."""

from __future__ import annotations

from math import inf
from typing import Final

from app.batch import cycles, records, statistics
from app.batch.intervals import Look, weighed
from app.batch.wire import (
    AdviceDowntime,
    AdviceLosses,
    AdviceRates,
    AdviceSetting,
    BatchAdvice,
)
from app.storage.batch_fields import BatchState
from app.storage.database import Database
from app.storage.models import BatchCellRow, BatchRow
from engine.advisor import advice
from engine.advisor.closed_form import left_out, overlaps_by_size, overlaps_per_year
from engine.advisor.cycle_rows import LOST

KIND: Final = "advice"
OLD_WINDOW_MS: Final = 600_000
"""Of studies that were stored when all windows were alike."""
METRICS_OF_ALL: Final = ("acked_lost", "unavailable_ms")
METRICS_OF_ONE: Final = ("acked1_lost", "leaderless_ms")
"""What is lost, and how long writes wait: acks=1 needs a leader, acks=all enough replicas."""
MINUTE, HOUR, DAY = 60, 3_600, 86_400
MILLION: Final = 1_000_000
NEVER_YEARS: Final = 1e12
"""Longer than the universe: said in words."""


def advice_of(database: Database, batch: BatchRow) -> BatchAdvice | None:
    """Return losses and downtime of a year for each setting of an advisor's study.

    It names the best setting.  None for other batches, and before anything was counted.
    """
    if batch.kind != KIND:
        return None
    if records.is_of_cycles(batch):
        return advice_of_counts(batch, records.counts_stored(database, batch))
    look = records.look_of(batch)
    counted = [row for row in records.cells(database, batch) if row.weights and row.metrics]
    settings = [_setting_json(batch, row, look) for row in counted]
    advice_now = _best_of(batch, settings)
    return advice_now and {**advice_now, "window_s": _window_ms(batch) // 1000}


def advice_of_counts(batch: BatchRow, counts: records.Counts) -> BatchAdvice | None:
    """Return the same for counts of trees of cycles, also while they are still being counted."""
    look = records.look_of(batch)
    settings: list[AdviceSetting] = []
    for profile, cell in sorted(counts, key=lambda key: (key[1], batch.profiles.index(key[0]))):
        counted = counts[profile, cell]
        if not counted.judged or LOST not in counted.weights:
            continue
        setting, failures = records.asked_of(batch, cell)
        label = batch.cells[cell]["label"]
        needs_all_out = setting.acks == "all" and not setting.unclean
        overlaps = overlaps_by_size(setting, failures) if needs_all_out else None
        settings.append(
            {
                "profile": profile,
                "cell": cell,
                "label": label,
                "yours": not label and profile == batch.profiles[0],
                "acks": setting.acks,
                "n": counted.judged,
                "overlaps": sum(overlaps.values()) if overlaps else None,
                "left_out": left_out(setting, failures),
                **cycles.rates(counted.weights, counted.judged, look, overlaps),
            }
        )
    advice_now = _best_of(batch, settings)
    return advice_now and {**advice_now, "whole": batch.state == BatchState.DONE}


def promised(batch: BatchRow) -> float | None:
    """Return how often a year all replicas of the asked setting are down at once, by formula.

    It is known before anything is played.  None where a loss does not need that.
    """
    setting, failures = records.asked_of(batch, 0)
    bounded = setting.acks == "all" and not setting.unclean
    return overlaps_per_year(setting, failures) if bounded else None


def _best_of(batch: BatchRow, settings: list[AdviceSetting]) -> BatchAdvice | None:
    yours = next((setting for setting in settings if setting["yours"]), None)
    if yours is None:
        return None
    best = min(settings, key=lambda setting: (setting["lost"]["rate"], setting["down"]["mean"]))
    return {
        "about": batch.about,
        "settings": settings,
        "yours": yours,
        "best": best,
        "better": better(best, yours),
    }


def better(rates: AdviceRates, yours: AdviceRates) -> bool:
    """Check whether a setting is better than the asked one beyond doubt.

    Intervals that overlap show no difference; and a setting that waits less must not be able to
    lose more than the asked one can.
    """
    lost, mine = rates["lost"], yours["lost"]
    waits_less = rates["down"]["high"] < yours["down"]["low"]
    return lost["high"] < mine["low"] or (lost["high"] <= mine["high"] and waits_less)


def _window_ms(batch: BatchRow) -> int:
    return batch.about.get("window_ms", OLD_WINDOW_MS)


def _setting_json(batch: BatchRow, row: BatchCellRow, look: Look) -> AdviceSetting:
    """Return losses and waiting of one setting, which depend on the acks of its writers."""
    values = batch.cells[row.cell]["values"]
    acks = values.get("workload.acks", batch.about["setting"]["workload.acks"])
    lost, down = METRICS_OF_ALL if acks == "all" else METRICS_OF_ONE
    window_ms = _window_ms(batch)
    return {
        "profile": row.profile,
        "cell": row.cell,
        "label": row.label,
        "yours": not row.label and row.profile == batch.profiles[0],
        "acks": acks,
        "n": row.n,
        "lost": _losses(row, lost, window_ms, look),
        "unseen": _unseen(row, lost, window_ms, look),
        "down": _downtime(row, down, window_ms, look),
    }


def _losses(row: BatchCellRow, metric: str, window_ms: int, look: Look) -> AdviceLosses:
    """Return windows of a year in which an acknowledged record is lost: {hits, rate, low, high}."""
    measured = row.metrics[metric]
    hits = measured["positive"]
    share = records.share_of(hits, measured["n"], row.weights, f"metric {metric}", look)
    return {
        "hits": hits,
        "rate": advice.per_year(share["share"] or 0.0, window_ms),
        "low": advice.per_year(share["low"], window_ms),
        "high": advice.per_year(share["high"], window_ms),
    }


def _unseen(row: BatchCellRow, metric: str, window_ms: int, look: Look) -> float:
    """Return an upper bound of the losses of a year by ways that none of the runs took."""
    share = records.unseen(row.metrics[metric]["n"], row.weights, look)
    return advice.per_year(share["high"], window_ms)


def _downtime(row: BatchCellRow, metric: str, window_ms: int, look: Look) -> AdviceDowntime:
    """Return the seconds of a year without a leader that accepts the writes: {mean, low, high}."""
    _, _, weighted, squares = row.weights[f"metric {metric}"]
    n = row.metrics[metric]["n"]
    mean = weighted / n if n else 0.0
    low, high = weighed(weighted, squares, 0.0, look.alpha_of_look)
    return {
        "mean": advice.seconds_per_year(mean, window_ms),
        "low": advice.seconds_per_year(float(low) / max(1, n), window_ms),
        "high": advice.seconds_per_year(float(high) / max(1, n), window_ms),
    }


def how_often(rate: float) -> tuple[str, dict[str, str]]:
    """Return a rate per year in words: a key of the catalogue and its number."""
    if rate >= 1:
        return "advice.times", {"n": f"{rate:.1f}" if rate < 10 else statistics.whole(rate)}
    years = 1 / rate if rate > 0 else inf
    if years > NEVER_YEARS:
        return "advice.never", {}
    if years >= MILLION:
        return "advice.once.millions", {"n": statistics.whole(float(f"{years / MILLION:.2g}"))}
    return "advice.once", {"n": f"{years:.1f}" if years < 10 else statistics.whole(years)}


def how_long(seconds: float) -> tuple[str, dict[str, str]]:
    """Return a duration in words: a key of the catalogue and its number of seconds."""
    for key, unit in (("advice.d", DAY), ("advice.h", HOUR), ("advice.min", MINUTE)):
        if seconds >= 2 * unit:
            return key, {"n": f"{seconds / unit:.1f}"}
    return "advice.s", {"n": f"{seconds:.0f}" if seconds >= 10 else f"{seconds:.1f}"}
