"""A scenario written as YAML is read back as the same scenario, and reads like one by hand."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.model.errors import InputError
from engine.scenarios.file import find, library, load_text
from engine.scenarios.scenario import Scenario
from engine.scenarios.writing import to_yaml, yaml_of


@pytest.mark.parametrize("slug", list(library()))
def test_the_library_is_read_back(slug: str) -> None:
    scenario = library()[slug]
    text = yaml_of(scenario)
    assert load_text(text) == scenario
    assert text.count("\n") < 3 * scenario.script.count("\n") + 60


def test_defaults_are_left_out() -> None:
    assert yaml_of(Scenario("?")) == 'title: "?"\n'
    assert yaml_of(Scenario("Who leads?", script="settle")) == (
        'title: "Who leads?"\nscript: |\n  settle\n'
    )
    assert "brokers: [A, B]\npartitions: [[B, A]]\n" in yaml_of(find("S20"))
    text = yaml_of(find("R20"))
    assert "partitions: [[2, 3, 1]]\nconfigs: {min.insync.replicas: 1}\n" in text
    assert "  Z0102: {verdict: violates I6 I7 I10, final: " in text


TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)


@settings(derandomize=True, deadline=None)
@given(TEXT, TEXT)
def test_any_title_and_any_script_survive(title: str, script: str) -> None:
    try:
        scenario = Scenario.from_dict({"title": title, "script": script, "teaches": title})
    except InputError:
        return
    assert load_text(yaml_of(scenario)) == scenario


@settings(derandomize=True, deadline=None)
@given(st.dictionaries(TEXT, st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
), max_size=4))  # fmt: skip
def test_invalid_scenarios_can_be_written_and_are_refused(data: dict[str, object]) -> None:
    with pytest.raises(InputError) as refused:
        load_text(to_yaml({"title": "Who?", "no such key": 1, **data}), "form")
    assert refused.value.sentence
    assert refused.value.where.startswith("form:")
