"""Pairs of the same seeds under two profiles or in two cells, so that both had the same luck."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final

from app.batch.runners.rows import ANY
from app.batch.runners.tables import Row, Tables
from app.storage.batch_fields import StoredPair
from engine.study.batch import LOST

ALL_UP_TO: Final = 3
"""Profiles; with more of them, each is compared with the first only."""

Side = tuple[str, int]
"""(profile, cell)"""


def profile_pairs(count: int) -> list[tuple[int, int]]:
    """Return the indices of the profiles that are compared with each other."""
    pairs = combinations(range(count), 2)
    return [pair for pair in pairs if count <= ALL_UP_TO or pair[0] == 0]


def cell_pairs(count: int) -> list[tuple[int, int]]:
    """Return the first cell with each of the others."""
    return [(0, cell) for cell in range(1, count)]


def pair_up(tables: Tables, profiles: Sequence[str], cells: int) -> list[StoredPair]:
    """Return all pairs, by what they have in common.

    Runs that failed themselves are on no side.
    """
    stored: list[StoredPair] = []
    places = " ".join(f"WHEN '{name}' THEN {at}" for at, name in enumerate(profiles))
    for along, member, pairs in (
        ("cell", f"CASE profile {places} END", profile_pairs(len(profiles))),
        ("profile", "cell", cell_pairs(cells)),
    ):
        if not pairs:
            continue
        sides = ", ".join(f"({a}, {b})" for a, b in pairs)
        query = PAIRS.format(
            along=along, member=member, pairs=sides, rows="{rows}", losing=tables.names(LOST)
        )
        for row in tables.ask(query):
            a, b = (_side(along, row, at, profiles) for at in (row["a"], row["b"]))
            for invariant, name in ((ANY, "any"), (LOST, "lost")):
                stored.append(pair_of(a, b, invariant, [row[f"{name}{at}"] for at in range(4)]))
    return stored


def pair_of(a: Side, b: Side, invariant: str, counts: Sequence[int]) -> StoredPair:
    """Return the counts of the seeds played on both sides, by the sides that broke an invariant."""
    neither, only_a, only_b, both = counts
    return {
        "a": a,
        "b": b,
        "invariant": invariant,
        "neither": neither,
        "only_a": only_a,
        "only_b": only_b,
        "both": both,
    }


def _side(along: str, row: Row, at: int, profiles: Sequence[str]) -> Side:
    return (profiles[at], row["cell"]) if along == "cell" else (row["profile"], at)


def _table(name: str, bits: str) -> str:
    """Return the SQL of the four counts of a pair: neither, only first, only second, both."""
    return ", ".join(
        f"count(*) FILTER (WHERE ({bits} >> a) & 1 = {at & 1} AND ({bits} >> b) & 1 = {at >> 1}) "
        f"AS {name}{at}"
        for at in range(4)
    )


# A seed has one row with a bit for every member, so the pairs cost no shuffle of their own.
PAIRS = f"""
SELECT {{along}}, a, b, {_table("any", "violated")}, {_table("lost", "losing")}
FROM (SELECT {{along}}, seed, bit_or(bit) AS played,
             bit_or(CASE WHEN verdict = 'violates' THEN bit ELSE none END) AS violated,
             bit_or(CASE WHEN lost THEN bit ELSE none END) AS losing
      FROM (SELECT {{along}}, seed, verdict, CAST(0 AS BIGINT) AS none,
                   {{losing}} AS lost, CAST(1 AS BIGINT) << ({{member}}) AS bit
            FROM {{rows}} WHERE verdict <> 'error') AS each
      GROUP BY {{along}}, seed) AS seeds
CROSS JOIN (VALUES {{pairs}}) AS pair(a, b)
WHERE (played >> a) & 1 = 1 AND (played >> b) & 1 = 1
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""
