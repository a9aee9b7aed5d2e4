"""The conformance runner: comparison rules, references, failures, and a case of each family."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from engine.model.errors import InputError
from tests.conformance.__main__ import lines, main
from tests.conformance.matching import differences, matches
from tests.conformance.registry import ADAPTERS
from tests.conformance.runner import check, load_cases, run_case, run_paths
from tests.conftest import sample

FOLDER = Path(__file__).parent / "conformance"
OWN = list(load_cases([FOLDER]))

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


def case(subject: str, when: list[dict[str, Any]], then: Any) -> dict[str, Any]:
    return {
        "id": f"T-{subject}",
        "area": "test",
        "subject": subject,
        "generation": "any",
        "given": {},
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
    with pytest.raises(InputError):
        run_paths([tmp_path])
    (tmp_path / "cases-a.json").write_text("[]")
    with pytest.raises(InputError):
        run_paths([tmp_path])
    with pytest.raises(InputError):
        run_paths([tmp_path / "absent.json"])


def test_every_adapter_says_which_rules_it_stands_for() -> None:
    for subject, adapter in ADAPTERS.items():
        assert adapter.__doc__ and subject in adapter.__doc__


# -- the cases that come with the engine ---------------------------------------------------------


def test_every_adapter_comes_with_a_case() -> None:
    """docs/reference/conformance.md: one file a subject, named after it."""
    assert {case["subject"] for case in OWN} == set(ADAPTERS)
    assert len({case["id"] for case in OWN}) == len(OWN)
    assert {file.name for file in FOLDER.glob("*.json")} == {
        f"cases-{name}.json" for name in ADAPTERS
    }
    for case in OWN:
        assert case["source"] and case["note"].endswith(".") and case["then"]


@pytest.mark.parametrize("case", OWN, ids=lambda case: case["id"])
def test_the_engine_does_as_the_case_says(case: dict[str, Any]) -> None:
    assert check(case) is None


def otherwise(value: Any) -> Any:
    """An expectation that differs as little as it can."""
    if value is None:
        return []
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return value + "?"
    if isinstance(value, list):
        return [*value, 0]
    if isinstance(value, dict) and "$len" in value:
        return {"$len": value["$len"] + 1}
    if isinstance(value, dict) and "$gt" in value:
        return {"$le": value["$gt"]}
    if isinstance(value, dict) and "$set" in value:
        return {"$set": [*value["$set"], 0]}
    return {**value, "?": 0}


def altered(case: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(label, field, the case with that one expectation altered)."""
    for label, fields in case["then"].items():
        for field, value in fields.items():
            other = deepcopy(case)
            other["then"][label][field] = otherwise(value)
            yield label, field, other


@pytest.mark.parametrize("case", sample(OWN, 6), ids=lambda case: case["id"])
def test_a_case_fails_when_any_expectation_is_altered(case: dict[str, Any]) -> None:
    for label, field, other in altered(case):
        failure = check(other)
        assert failure is not None, f"{label}.{field} is not looked at"
        assert failure["expected"] == {label: {field: other["then"][label][field]}}


def test_lines_name_every_case_that_was_not_right() -> None:
    result = {
        "total": 3,
        "passed": 1,
        "failed": [{"id": "a", "area": "truncation", "expected": {"leo": 1}, "got": {"leo": 2}}],
        "skipped": [{"id": "b", "why": "no such operation"}],
    }
    text = "\n".join(lines(result))
    assert "failed  a (truncation)" in text
    assert "skipped b: no such operation" in text
    assert text.endswith("1 of 3 cases agree, 1 failed, 1 skipped")


def test_the_command_tells_agreement_and_nonsense_by_its_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(FOLDER / "cases-log.json")]) == 0
    assert capsys.readouterr().out.endswith("cases agree, 0 failed, 0 skipped\n")
    assert main(["--json", str(FOLDER / "cases-log.json")]) == 0
    assert json.loads(capsys.readouterr().out)["failed"] == []
    assert main([str(tmp_path)]) == 2 and main([]) == 2
