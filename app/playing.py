"""What the command line says of a run that was played, and of conformance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.show.replay import Replay


def as_expected(replay: Replay) -> bool:
    return bool(replay.verdict()["expected"])


def report(replay: Replay) -> dict[str, Any]:
    """One JSON object: the run, its verdict, and the state it ended in."""
    run = replay.run
    return {
        "run": run.digest,
        "profile": run.profile,
        "seed": run.seed,
        "steps": replay.total,
        "verdict": replay.verdict(),
        "final": replay.final_view(),
        "digest": replay.outcome,
    }


def conformance_lines(result: dict[str, Any]) -> Iterator[str]:
    for case in result["failed"]:
        yield f"failed  {case['id']} ({case['area']})"
        yield f"    expected {case['expected']}"
        yield f"    got      {case['got']}"
    for case in result["skipped"]:
        yield f"skipped {case['id']}: {case['why']}"
    yield (
        f"{result['passed']} of {result['total']} cases agree, "
        f"{len(result['failed'])} failed, {len(result['skipped'])} skipped"
    )
