"""Runner of conformance cases against this engine, with a result for each."""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path

from engine.model.errors import InputError
from tests.conformance.adapter import CaseError, Fields
from tests.conformance.matching import differences
from tests.conformance.registry import ADAPTERS

TASK = ("subject", "generation", "release", "given", "when")
"""All that an adapter gets to see of a case; `release` may be missing."""


def run_paths(paths: Iterable[str | Path]) -> Fields:
    """Run every case found: {"total", "passed", "failed": [...], "skipped": [...]}.

    A path is a `cases-*.json` file or a directory of such files.  failed: {id, area, expected,
    got}, only the values that differ; skipped: {id, why}, cases whose subject has no adapter.
    Raises InputError for a path that holds no cases.
    """
    total = passed = 0
    failed: list[Fields] = []
    skipped: list[Fields] = []
    for case in load_cases(paths):
        total += 1
        subject = case["subject"]
        if subject not in ADAPTERS:
            skipped.append({"id": case["id"], "why": f"no adapter for subject {subject}"})
            continue
        failure = check(case)
        if failure is None:
            passed += 1
        else:
            failed.append(failure)
    return {"total": total, "passed": passed, "failed": failed, "skipped": skipped}


def load_cases(paths: Iterable[str | Path]) -> Iterator[Fields]:
    """Return the cases of files and directories, in the order of the names."""
    for path in map(Path, paths):
        files = sorted(path.glob("cases-*.json")) if path.is_dir() else [path]
        if not files:
            raise InputError("unknown", f"There is no cases-*.json in {path}.", where=str(path))
        for file in files:
            try:
                yield from json.loads(file.read_text("utf-8"))["cases"]
            except (OSError, ValueError, KeyError, TypeError) as error:
                raise InputError(
                    "invalid", f"{file} holds no cases: {error}.", where=str(file)
                ) from error


def run_case(case: Fields) -> dict[str, Fields]:
    """Run one case and return its results: {label: {field: value}}.

    Raises CaseError for a subject or an operation without adapter.
    """
    adapter = ADAPTERS.get(case["subject"])
    if adapter is None:
        raise CaseError(f"subject {case['subject']}")
    release = case.get("release", "")
    return adapter(case["given"], case["generation"], release).run(case["when"])


def check(case: Fields) -> Fields | None:
    """Return None if the case holds, else what was expected and what came."""
    task = json.loads(json.dumps({key: case[key] for key in TASK if key in case}))
    try:
        wrong = differences(case["then"], run_case(task))
    except Exception:  # whatever goes wrong inside, it is this one case that fails
        text = traceback.format_exc(limit=-3)
        return {"id": case["id"], "area": case["area"], "expected": case["then"], "got": text}
    if not wrong:
        return None
    expected: dict[str, dict[str, object]] = {}
    got: dict[str, dict[str, object]] = {}
    for label, field, wanted, observed in wrong:
        expected.setdefault(label, {})[field] = wanted
        got.setdefault(label, {})[field] = observed
    return {"id": case["id"], "area": case["area"], "expected": expected, "got": got}
