"""Every rule of the specification has code that cites it, or an excuse that is still true."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from app.command import rules
from app.lens.citations import citations
from engine.catalogue.rulebook import IDENTIFIER
from engine.scenarios.file import find
from engine.story.rule import Rule
from engine.story.rules import RULEBOOK, RULES


def followed() -> set[str]:
    """Cited by a function or class that a run plays."""
    return {one.rule for one in citations() if one.implements and one.played}


def counted() -> Iterator[str]:
    """What the data plane's specification numbers, series by series."""
    last = {
        "L": 16,
        "E": 8,
        "H": 11,
        "F": 10,
        "S": 9,
        "X": 6,
        "Q": 7,
        "P": 8,
        "C": 8,
        "D": 6,
        "G": 9,
        "R": 6,
    }
    yield from (f"T-{number}" for number in range(5))
    yield from (f"{name}-{number}" for name, most in last.items() for number in range(1, most + 1))


def excused() -> set[str]:
    return {one.id for one in RULEBOOK.values() if one.excuse}


def test_the_rulebook_has_every_series_without_a_gap() -> None:
    assert {name for name in RULEBOOK if not name.startswith("CP-")} == set(counted())
    assert all(IDENTIFIER.fullmatch(one.id) and one.title for one in RULEBOOK.values())


def test_every_rule_has_code_or_an_excuse() -> None:
    assert sorted(set(RULEBOOK) - followed() - excused()) == []


def test_no_excuse_is_left_over() -> None:
    assert sorted(excused() & followed()) == []


def test_only_rules_of_the_rulebook_are_cited() -> None:
    assert [(one.rule, one.where) for one in citations() if one.rule not in RULEBOOK] == []


def test_cues_of_the_data_plane_name_rules_of_the_rulebook() -> None:
    named = {rules.rule_of(cue) for cue in RULES if not cue.startswith("CP-")}
    assert sorted(named - set(RULEBOOK)) == []


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("S-2.1 - S-2.6.  The first", ["S-2", "S-2"]),
        ("L-3.12, P-7", ["L-3", "P-7"]),
        ("CP-PLACE-ZK-RACK, CP-KR-HB 3", ["CP-PLACE-ZK-RACK", "CP-KR-HB"]),
        ("KAFKA-10706 (KIP-101), INV-10, CP-KR-*, S20, CP-5.4", []),
    ],
)
def test_forms_of_a_citation(text: str, cited: list[str]) -> None:
    assert IDENTIFIER.findall(text) == cited


def test_an_entry_names_code_scenarios_and_golden_files(tmp_path: Path) -> None:
    (tmp_path / "S20").mkdir()
    (tmp_path / "S20" / "K39.txt").write_text(
        "P1->1 Produce\nH-2.min_isr b1 hw 1 -> 2\nH-4    b2 hw 0 -> 1\nCP-ISR K isr [1] -> [1,2]\n"
    )
    found = {entry["id"]: entry for entry in rules.rules([find("S20")], tmp_path)}
    assert list(found) == list(RULEBOOK)
    mark = found["H-2"]
    where = "engine.dataplane.watermark.maybe_increment_hw"
    assert {"function": where, "played": True} in mark["functions"]
    assert mark["golden"] == ["S20/K39.txt"]
    assert found["T-0"]["scenarios"]["S20"][0] == "Z0102"
    assert {"function": "engine.sim.dispatch._isr_expiration", "played": True} in (
        found["CP-ISR-SHRINK"]["functions"]
    )
    assert found["E-8"]["excuse"] and not rules.covered(found["E-8"])
    assert "K39" not in found["T-0"]["scenarios"].get("S21", [])


def test_a_scenario_by_the_clock_is_not_played() -> None:
    assert rules.played([find("crash-storm")]) == {}


def test_the_list_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rules.tell_rules([], None)
    told = capsys.readouterr().out
    assert f"{len(RULEBOOK)} rules: {len(RULEBOOK) - len(excused())} covered" in told
    monkeypatch.setitem(RULEBOOK, "L-99", Rule("L-99", "A rule without code"))
    assert not rules.tell_rules([], None)
    assert "without code or excuse: L-99." in capsys.readouterr().out
