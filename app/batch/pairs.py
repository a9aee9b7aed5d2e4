"""Paired results of the same seeds under two settings, for pages and programs."""

from __future__ import annotations

from typing import Final

from app.batch import statistics, wire
from app.batch.runners.rows import ANY
from app.batch.spec import label_of
from app.core.refusals import KeyedSentence
from app.storage.models import BatchRow
from engine.study.batch import LOST

SAID_MOST: Final = 6
SHOWN_MOST: Final = 60


def pairs(batch: BatchRow) -> list[wire.BatchPair]:
    """Return the same seeds on two sides, with the exact sign test: those that differ first.

    `a` and `b` name the sides, `common` what they have in common, if there is more than one of it.
    """
    listed: list[wire.BatchPair] = []
    for stored in batch.about.get("pairs", ()):
        (profile, cell), (other, further) = stored["a"], stored["b"]
        table = statistics.Paired(
            stored["neither"], stored["only_a"], stored["only_b"], stored["both"]
        )
        if cell == further:
            sides = (profile, other, batch.cells[cell]["label"])
        else:
            sides = _apart(profile, batch.cells[cell]["values"], batch.cells[further]["values"])
        listed.append(
            {
                "invariant": stored["invariant"],
                "neither": table.neither,
                "only_a": table.only_a,
                "only_b": table.only_b,
                "both": table.both,
                "a": sides[0],
                "b": sides[1],
                "common": sides[2],
                "profiles": cell == further,
                "n": table.n,
                "p": table.p,
            }
        )
    # ... and of the same standing in the order in which they were asked for.
    return sorted(
        listed, key=lambda pair: (not pair["profiles"], pair["p"], pair["invariant"] == ANY)
    )


def _apart(profile: str, a: dict[str, str], b: dict[str, str]) -> tuple[str, str, str]:
    """Return what differs in the first cell, in the second, and what both have in common."""
    same = {key: value for key, value in a.items() if b[key] == value}
    here, there = (
        label_of({key: value for key, value in cell.items() if key not in same}) for cell in (a, b)
    )
    return here, there, ", ".join(filter(None, [profile, label_of(same)]))


def pair_sentences(listed: list[wire.BatchPair]) -> list[KeyedSentence]:
    """Return sentences on lost records, or on anything broken where no side lost one."""
    lost = [pair for pair in listed if pair["invariant"] == LOST and pair["neither"] < pair["n"]]
    said = lost or [
        pair for pair in listed if pair["invariant"] == ANY and pair["neither"] < pair["n"]
    ]
    family = "lost" if lost else "broke"
    return [
        {
            "key": f"batch.pair.{family}{'.at' if pair['common'] else ''}",
            "args": {
                "only_a": statistics.whole(pair["only_a"]),
                "only_b": statistics.whole(pair["only_b"]),
                "both": statistics.whole(pair["both"]),
                "n": statistics.whole(pair["n"]),
                "a": pair["a"],
                "b": pair["b"],
                "common": pair["common"],
            },
        }
        for pair in said[:SAID_MOST]
    ]
