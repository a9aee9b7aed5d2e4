"""The conformance runner: comparison rules, references, failures, and a case of each family."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.conformance.matching import differences, matches
from engine.conformance.registry import ADAPTERS
from engine.conformance.runner import run_case, run_paths
from engine.model.errors import BadInput

MATCHES: list[tuple[Any, Any, bool]] = [
    (1, 1, True),
    (1, 1.0, True),
    (1, True, False),
    (True, True, True),
    (True, 1, False),
    (None, None, True),
    (None, 0, False),
    ([1, [2]], (1, (2,)), True),
    ([1], [1, 2], False),
    ({"a": 1}, {"a": 1}, True),
    ({"a": 1}, {"a": 1, "b": 2}, False),
    ({"$ne": 0}, 1, True),
    ({"$ne": 0}, 0, False),
    ({"$any_of": [1, [2]]}, [2], True),
    ({"$ge": 1, "$lt": 3}, 3, False),
    ({"$gt": 1, "$le": 3}, 3, True),
    ({"$gt": 1}, True, False),
    ({"$set": [1, {"$gt": 5}]}, [7, 1], True),
    ({"$set": [1, 1]}, [1, 2], False),
    ({"$contains": [1]}, [2, 1], True),
    ({"$contains": [1]}, [2], False),
    ({"$len": 2}, {"a": 1, "b": 2}, True),
    ({"$keys": ["a"]}, {"a": 1}, True),
    ({"$keys": ["a"]}, {"a": 1, "b": 1}, False),
    ({"$sub": {"a": {"$gt": 0}}}, {"a": 1, "b": 1}, True),
    ({"$approx": [10, 0.5]}, 10.4, True),
    ({"$approx": [10, 0.5]}, "10", False),
]


@pytest.mark.parametrize(("expected", "actual", "same"), MATCHES)
def test_matching(expected: Any, actual: Any, same: bool) -> None:
    assert matches(expected, actual) is same


def test_unknown_matchers_are_an_error() -> None:
    with pytest.raises(ValueError, match="unknown matcher"):
        matches({"$like": 1}, 1)


def test_a_field_that_was_not_reported_differs() -> None:
    assert differences({"x": {"a": 1}}, {}) == [("x", "a", 1, "(nothing)")]


def case(subject: str, when: list[dict[str, Any]], then: Any, given: Any = None) -> dict[str, Any]:
    return {
        "id": f"T-{subject}",
        "area": "test",
        "subject": subject,
        "generation": "any",
        "given": given or {},
        "when": when,
        "then": then,
    }


def test_references_and_repetition() -> None:
    when = [
        {"op": "append_leader", "epoch": 1, "repeat": 3},
        {"op": "state", "as": "s"},
        {"op": "truncate_to", "offset": {"ref": "s.leo", "plus": -1}},
        {"op": "state", "as": "t"},
    ]
    result = run_case(case("log", when, {}))
    assert (result["s"]["leo"], result["t"]["leo"]) == (3, 2)
    assert result["t"]["error"] == "NONE"


def test_run_paths_counts_and_explains(tmp_path: Path) -> None:
    state = [{"op": "state", "as": "s"}]
    bad = {"op": "append_follower", "batches": [[1, 0], [0, 0]]}
    cases = [
        case("log", state, {"s": {"leo": 0}}),
        case("log", state, {"s": {"leo": 1, "hw": 0}}),
        case("log", [bad], {}),
        case("log", [{"op": "dance"}], {}),
        case("weather", state, {}),
    ]
    (tmp_path / "cases-a.json").write_text(json.dumps({"cases": cases}))
    report = run_paths([tmp_path])
    assert (report["total"], report["passed"]) == (5, 1)
    wrong, unexpected, unknown = report["failed"]
    assert (wrong["expected"], wrong["got"]) == ({"s": {"leo": 1}}, {"s": {"leo": 0}})
    assert "OFFSETS_OUT_OF_ORDER" in unexpected["got"]
    assert "CaseError" in unknown["got"]
    assert report["skipped"] == [{"id": "T-weather", "why": "no adapter for subject weather"}]
    one_file = run_paths([tmp_path / "cases-a.json"])
    assert one_file == report


def test_paths_without_cases_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput):
        run_paths([tmp_path])
    (tmp_path / "cases-a.json").write_text("[]")
    with pytest.raises(BadInput):
        run_paths([tmp_path])
    with pytest.raises(BadInput):
        run_paths([tmp_path / "absent.json"])


def test_every_adapter_says_which_rules_it_stands_for() -> None:
    for subject, adapter in ADAPTERS.items():
        assert adapter.__doc__ and subject in adapter.__doc__
