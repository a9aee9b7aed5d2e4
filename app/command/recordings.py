"""Output of `highwater recordings`: each recording, its first difference, and a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypedDict

from engine.model.json_types import Json
from engine.recordings.comparing import RecordingComparison
from engine.recordings.reading import release_order


class RecordingsReport(TypedDict):
    """Sums of facts, and each recording as `RecordingComparison.to_dict` has it."""

    equal: int
    explained: int
    different: int
    recordings: list[Json]


def report(comparisons: Iterable[RecordingComparison]) -> RecordingsReport:
    """Return one JSON object: the sums, and every recording with its differences as sentences."""
    rows = [comparison.to_dict() for comparison in comparisons]
    return {
        "equal": sum(row["equal"] for row in rows),
        "explained": sum(row["explained"] for row in rows),
        "different": sum(row["different"] for row in rows),
        "recordings": rows,
    }


def lines(comparisons: list[RecordingComparison]) -> Iterator[str]:
    """Yield the same for people: a line for each recording, the table, the sums."""
    wide = max((len(compared.recording.name) for compared in comparisons), default=0)
    for comparison in comparisons:
        yield (
            f"{comparison.recording.name:{wide}}  {comparison.equal:5} equal "
            f"{len(comparison.explained):4} explained {len(comparison.different):4} different"
        )
        if comparison.first:
            yield f"    first difference: {comparison.first}"
    yield ""
    yield from table(comparisons)
    yield ""
    totals = report(comparisons)
    yield (
        f"{totals['equal']} facts equal, {totals['explained']} explained, "
        f"{totals['different']} different, in {len(comparisons)} recordings"
    )


def table(comparisons: list[RecordingComparison]) -> Iterator[str]:
    """Yield scenario x release: equal, explained and different facts of a pair's recordings."""
    cells: dict[tuple[str, str], list[int]] = {}
    for comparison in comparisons:
        cell = cells.setdefault(
            (comparison.recording.scenario, comparison.recording.kafka), [0, 0, 0]
        )
        for at, more in enumerate(
            (comparison.equal, len(comparison.explained), len(comparison.different))
        ):
            cell[at] += more
    releases = sorted({release for _, release in cells}, key=release_order)
    scenarios = sorted({scenario for scenario, _ in cells})
    rows = [["equal/explained/different", *releases]]
    for scenario in scenarios:
        row_cells = [cells.get((scenario, release)) for release in releases]
        rows.append(
            [
                scenario,
                *("" if counts is None else "/".join(map(str, counts)) for counts in row_cells),
            ]
        )
    wide = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(text.ljust(wide[at]) for at, text in enumerate(row)).rstrip()
