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
    found = [one.to_dict() for one in comparisons]
    return {
        "equal": sum(one["equal"] for one in found),
        "explained": sum(one["explained"] for one in found),
        "different": sum(one["different"] for one in found),
        "recordings": found,
    }


def lines(comparisons: list[RecordingComparison]) -> Iterator[str]:
    """Yield the same for people: a line for each recording, the table, the sums."""
    wide = max((len(one.recording.name) for one in comparisons), default=0)
    for one in comparisons:
        yield (
            f"{one.recording.name:{wide}}  {one.equal:5} equal {len(one.explained):4} explained "
            f"{len(one.different):4} different"
        )
        if one.first:
            yield f"    first difference: {one.first}"
    yield ""
    yield from table(comparisons)
    yield ""
    told = report(comparisons)
    yield (
        f"{told['equal']} facts equal, {told['explained']} explained, "
        f"{told['different']} different, in {len(comparisons)} recordings"
    )


def table(comparisons: list[RecordingComparison]) -> Iterator[str]:
    """Yield scenario x release: equal, explained and different facts of a pair's recordings."""
    cells: dict[tuple[str, str], list[int]] = {}
    for one in comparisons:
        cell = cells.setdefault((one.recording.scenario, one.recording.kafka), [0, 0, 0])
        for at, more in enumerate((one.equal, len(one.explained), len(one.different))):
            cell[at] += more
    releases = sorted({release for _, release in cells}, key=release_order)
    scenarios = sorted({scenario for scenario, _ in cells})
    rows = [["equal/explained/different", *releases]]
    for scenario in scenarios:
        told = [cells.get((scenario, release)) for release in releases]
        rows.append([scenario, *("" if one is None else "/".join(map(str, one)) for one in told)])
    wide = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(text.ljust(wide[at]) for at, text in enumerate(row)).rstrip()
