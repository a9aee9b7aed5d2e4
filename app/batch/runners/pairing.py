"""The same seeds twice, under two profiles or in two cells: what is compared had the same luck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

from app.batch.runners.rows import ANY

LOST: Final = "I7"
"""An acknowledged record is gone."""
ALL_UP_TO: Final = 3
"""Profiles; with more of them, each is compared with the first only."""

Side = tuple[str, int]
"""(profile, cell)"""


@dataclass(frozen=True)
class Pair:
    """Of the seeds played on both sides, how many broke `invariant` (or ANY) where."""

    a: Side
    b: Side
    invariant: str
    neither: int
    only_a: int
    only_b: int
    both: int


def profile_pairs(count: int) -> list[tuple[int, int]]:
    """Places of the profiles that are compared with each other."""
    pairs = combinations(range(count), 2)
    return [pair for pair in pairs if count <= ALL_UP_TO or pair[0] == 0]


def cell_pairs(count: int) -> list[tuple[int, int]]:
    """The first cell with each of the others."""
    return [(0, cell) for cell in range(1, count)]


def pair_up(session: Any, rows: Any, profiles: Sequence[str], cells: int) -> tuple[Pair, ...]:
    """All pairs, by what they have in common, counted by Spark.  Runs that failed themselves are
    on no side."""
    found = []
    place = "array_position(:profiles, profile)::int - 1"
    for along, member, pairs in (
        ("cell", place, profile_pairs(len(profiles))),
        ("profile", "cell", cell_pairs(cells)),
    ):
        if not pairs:
            continue
        text = ", ".join(f"struct({a} AS a, {b} AS b)" for a, b in pairs)
        args = {"profiles": list(profiles)} if along == "cell" else {}
        counted = session.sql(
            PAIRS.format(along=along, member=member, pairs=text, rows="{rows}"), args, rows=rows
        )
        for row in counted.collect():
            a, b = (_side(along, row, at, profiles) for at in (row.a, row.b))
            for invariant, table in ((ANY, row.any), (LOST, row.lost)):
                found.append(Pair(a, b, invariant, *table))
    return tuple(found)


def _side(along: str, row: Any, at: int, profiles: Sequence[str]) -> Side:
    return (profiles[at], row.cell) if along == "cell" else (row.profile, at)


# A seed has one row with a bit for every member, so the pairs cost no shuffle of their own.
TABLE = """array(count_if({a} = 0 AND {b} = 0), count_if({a} = 1 AND {b} = 0),
                 count_if({a} = 0 AND {b} = 1), count_if({a} = 1 AND {b} = 1))"""
PAIRS = f"""
SELECT {{along}}, pair.a AS a, pair.b AS b,
       {TABLE.format(a="getbit(violated, pair.a)", b="getbit(violated, pair.b)")} AS any,
       {TABLE.format(a="getbit(losing, pair.a)", b="getbit(losing, pair.b)")} AS lost
FROM (SELECT {{along}}, seed, bit_or(bit) AS played,
             bit_or(if(verdict = 'violates', bit, 0L)) AS violated,
             bit_or(if(exists(broken, b -> b.invariant = '{LOST}'), bit, 0L)) AS losing
      FROM (SELECT *, shiftleft(1L, {{member}}) AS bit FROM {{rows}} WHERE verdict <> 'error')
      GROUP BY {{along}}, seed)
LATERAL VIEW explode(array({{pairs}})) AS pair
WHERE getbit(played, pair.a) = 1 AND getbit(played, pair.b) = 1
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""
