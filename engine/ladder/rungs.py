"""The rungs: which rule each generation follows, and KIP-320 with one of its fences taken away."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from engine.ladder import rules
from engine.ladder.rules import Cut
from engine.ladder.state import AbstractReplica

Allows = Callable[[AbstractReplica, AbstractReplica], bool]
"""(leader, follower) -> may it be?"""


@dataclass(frozen=True)
class Rung:
    """One generation: the rules of the moves in which the generations differ."""

    truncate: Callable[[AbstractReplica, AbstractReplica, int], tuple[Cut, ...]]
    """(leader, follower, epoch of the announcement) -> every way to become a follower."""
    fetch: Allows
    advance: Allows
    """Asked for each member of the leader's in-sync set."""
    shrink: Callable[[AbstractReplica, AbstractReplica], int]
    """(leader, follower) -> in how many ways the guard is true."""
    expand: Allows
    truncates_later: bool = False
    """May a follower also truncate while it follows?"""
    compares_epoch_to_shrink: bool = True
    """Must a leader's epoch be the controller's for it to remove a replica from the ISR?"""


TRUNC_HW: Final = Rung(
    truncate=rules.by_high_watermark,
    fetch=rules.fetch_is_served,
    advance=rules.has_next,
    shrink=rules.lags,
    expand=rules.reaches_hw,
)
KIP101: Final = replace(TRUNC_HW, truncate=rules.by_last_epoch)
KIP279: Final = replace(TRUNC_HW, truncate=rules.by_matching_end)
KIP320: Final = Rung(
    truncate=rules.by_fenced_matching_end,
    fetch=rules.fetch_is_served_fenced,
    advance=rules.has_next_fenced,
    shrink=rules.lags_fenced,
    expand=rules.reaches_hw_fenced,
)

FENCES: Final[dict[str, Rung]] = {
    "fenced_fetch": replace(KIP320, fetch=TRUNC_HW.fetch),
    "fenced_hw": replace(KIP320, advance=TRUNC_HW.advance),
    "fenced_truncation": replace(KIP320, truncate=KIP279.truncate),
    "fenced_shrink": replace(KIP320, shrink=TRUNC_HW.shrink),
    "fenced_expand": replace(KIP320, expand=TRUNC_HW.expand),
    "epoch_start": replace(KIP320, expand=rules.reaches_hw_of_any_epoch),
    "reached_hw": replace(KIP320, expand=rules.is_heard),
    "truncation": replace(KIP320, truncate=rules.fenced_but_not_at_all),
    "matching_end": replace(KIP320, truncate=rules.by_fenced_high_watermark),
    "shrink_epoch": replace(KIP320, compares_epoch_to_shrink=False),
}
"""KIP-320 without one of its fences, by the fence that is removed."""

RUNGS: Final[dict[str, Rung]] = {
    "trunc_hw": TRUNC_HW,
    "kip101": KIP101,
    "kip101_clamped": replace(KIP101, truncate=rules.by_last_epoch_clamped),
    "kip279": KIP279,
    "kip320_first_try": Rung(
        truncate=rules.not_at_all,
        fetch=rules.fetch_is_served_by_epoch,
        advance=rules.has_next_by_epoch,
        shrink=rules.lags_by_epoch,
        expand=rules.reaches_hw_by_epoch,
        truncates_later=True,
    ),
    "kip320": KIP320,
    **{f"kip320-{fence}": rung for fence, rung in FENCES.items()},
}
"""Name -> rung; a fence that is taken away is written like a flipped flag of a profile."""
