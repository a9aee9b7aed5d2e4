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


class SeededBug(NamedTuple):
    """A bug with two profiles that differ in it alone: with the bug, and without it."""

    bug: str
    buggy: str
    fixed: str


SEEDED_BUGS: Final = (
    SeededBug("KAFKA-15583", "4.4.0-strict_min_isr", "4.4.0"),
    SeededBug("KIP-101", "4.4.0+truncation=HW", "4.4.0"),
    SeededBug("KIP-279", "4.4.0+truncation=KIP101", "4.4.0"),
    SeededBug("KAFKA-13141", "K39-diverging_skips_follower_update", "K39"),
    SeededBug("KAFKA-7128", "K39-join_needs_epoch_start", "K39"),
    SeededBug("KAFKA-16234", "3.7.0", "3.7.0-failed_dir_remade"),
    SeededBug("KAFKA-14704", "3.4.0", "3.4.0-mark_before_cut"),
    SeededBug("KAFKA-9338", "2.5.1+session_forgets_epoch", "2.5.1"),
    SeededBug("KAFKA-7235", "Z24-broker_generation", "Z24"),
    SeededBug("KAFKA-9491", "2.4.0", "2.4.0-full_truncation_keeps_hw"),
    SeededBug("KAFKA-7164", "Z20-refetch_on_missed_epoch", "Z20"),
    SeededBug("KAFKA-7415", "Z20-epoch_entry_at_election", "Z20"),
    SeededBug("KAFKA-6937", "1.1.0", "1.1.0-waiting_fetch_throttled"),
    SeededBug("KAFKA-4313", "0.10.1.0", "0.10.1.0-quota_covers_in_sync"),
    SeededBug("KAFKA-2960", "0.10.0.1+waiting_outlives_leading", "0.10.0.1"),
    SeededBug("KAFKA-1097", "0.8.0", "0.8.0-keeps_removed_replicas"),
)
"""Those of the ledger that break an invariant in a run of the library, and two KIPs."""


def found_in(name: str, bug: SeededBug, runs: int) -> int | None:
    """Return the number of the first run of a storm, from 1, that finds the bug; 0 if none does.

    It breaks an invariant that the same seed keeps without the bug, and so does what is left of it
    when it is made short.  None if the release cannot play the storm.
    """
    scenario, examined = storm(name), 0
    try:
        Run(scenario, bug.buggy, 0).simulation()
    except InputError:
        return None
    for seed in range(runs):
        run = Run(scenario, bug.buggy, seed)
        own = _broken(run) - _broken(replace(run, profile=bug.fixed))
        if not own:
            continue
        short = shorten(run, min(own)).run
        if min(own) not in _broken(replace(short, profile=bug.fixed)):
            return seed + 1
        examined += 1
        if examined == SHORTENED:
            return 0
    return 0


def _broken(run: Run) -> set[str]:
    return {name for name, *_ in row_of(run, 0, run.seed)["broken"]}
