"""Bugs of the past, put back into releases: whether the storms would find them (sensitivity)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, NamedTuple

from engine.hunt.storms import storm
from engine.model.errors import InputError
from engine.sim.run import Run
from engine.study.batch import row_of
from engine.study.shrink import shorten

SHORTENED: Final = 3
"""Runs of a storm and bug that are made short before it counts as not found."""


class Hidden(NamedTuple):
    """A bug with two profiles that differ in it alone: with the bug, and without it."""

    bug: str
    sick: str
    mended: str


HIDDEN: Final = (
    Hidden("KAFKA-15583", "4.4.0-strict_min_isr", "4.4.0"),
    Hidden("KIP-101", "4.4.0+truncation=HW", "4.4.0"),
    Hidden("KIP-279", "4.4.0+truncation=KIP101", "4.4.0"),
    Hidden("KAFKA-13141", "K39-diverging_skips_follower_update", "K39"),
    Hidden("KAFKA-7128", "K39-join_needs_epoch_start", "K39"),
    Hidden("KAFKA-16234", "3.7.0", "3.7.0-failed_dir_remade"),
    Hidden("KAFKA-14704", "3.4.0", "3.4.0-mark_before_cut"),
    Hidden("KAFKA-9338", "2.5.1+session_forgets_epoch", "2.5.1"),
    Hidden("KAFKA-7235", "Z24-broker_generation", "Z24"),
    Hidden("KAFKA-9491", "2.4.0", "2.4.0-full_truncation_keeps_hw"),
    Hidden("KAFKA-7164", "Z20-refetch_on_missed_epoch", "Z20"),
    Hidden("KAFKA-7415", "Z20-epoch_entry_at_election", "Z20"),
    Hidden("KAFKA-6937", "1.1.0", "1.1.0-waiting_fetch_throttled"),
    Hidden("KAFKA-4313", "0.10.1.0", "0.10.1.0-quota_covers_in_sync"),
    Hidden("KAFKA-2960", "0.10.0.1+waiting_outlives_leading", "0.10.0.1"),
    Hidden("KAFKA-1097", "0.8.0", "0.8.0-keeps_removed_replicas"),
)
"""Those of the ledger that break an invariant in a run of the library, and two KIPs."""


def found_in(name: str, hidden: Hidden, runs: int) -> int | None:
    """Return the number of the first run of a storm, from 1, that finds the bug; 0 if none does.

    It breaks an invariant that the same seed keeps without the bug, and so does what is left of it
    when it is made short.  None if the release cannot play the storm.
    """
    scenario, examined = storm(name), 0
    try:
        Run(scenario, hidden.sick, 0).simulation()
    except InputError:
        return None
    for seed in range(runs):
        run = Run(scenario, hidden.sick, seed)
        own = _broken(run) - _broken(replace(run, profile=hidden.mended))
        if not own:
            continue
        short = shorten(run, min(own)).run
        if min(own) not in _broken(replace(short, profile=hidden.mended)):
            return seed + 1
        examined += 1
        if examined == SHORTENED:
            return 0
    return 0


def _broken(run: Run) -> set[str]:
    return {name for name, *_ in row_of(run, 0, run.seed)["broken"]}
