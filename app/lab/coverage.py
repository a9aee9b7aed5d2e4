"""The library x the releases that were recorded: equal, explained, or not playable and why."""

from __future__ import annotations

from collections.abc import Iterator

from app.lab.nightly import unplayable
from engine.recordings.comparing import compare
from engine.recordings.reading import own, release_order
from engine.scenarios import file


def markdown() -> Iterator[str]:
    """Yield the table as lines of Markdown (docs/reference/real-brokers.md has it)."""
    compared = {(recording.scenario, recording.kafka): compare(recording) for recording in own()}
    releases = sorted({kafka for _, kafka in compared}, key=release_order)
    yield f"| Scenario | Title | {' | '.join(releases)} | Not played because |"
    yield "|" + "---|" * (len(releases) + 3)
    for scenario in file.library().values():
        cells, whys = [], []
        for kafka in releases:
            comparison = compared.get((scenario.code, kafka))
            why = unplayable(scenario.code, kafka)
            if comparison is not None:
                more = f" + {len(comparison.explained)}" if comparison.explained else ""
                cells.append(f"{'≠ ' if comparison.different else ''}{comparison.equal}{more}")
            else:
                cells.append("–" if why else "")
                whys += [why] if why else []
        reasons = " ".join(dict.fromkeys(whys)).replace("|", "\\|")
        yield f"| {scenario.code} | {scenario.title} | {' | '.join(cells)} | {reasons} |"
