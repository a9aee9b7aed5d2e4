"""Options of `highwater explore`."""

from __future__ import annotations

from dataclasses import dataclass

from engine.explore.budgets import Budgets


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """Options of `highwater explore`, as its help explains them; None where one is not given."""

    scenario: str | None
    profile: str | None
    seed: int
    moves: str | None
    at: str | None
    budgets: Budgets
    never: str | None
    reach: str | None
    ladder: str | None
    replicas: int | None
    log: int | None
    records: int | None
    epochs: int | None
    offsets: int | None
    versions: int | None
    symmetry: bool
    max_states: int | None
    max_seconds: float | None
    spark: bool
    master: str | None
    counts_path: str | None
    budget_s: float | None
    fences: bool
