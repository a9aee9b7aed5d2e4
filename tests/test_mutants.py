"""The command that breaks the engine on purpose: what it changes, and what it makes of it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests import mutants
from tests.conftest import sample

pytestmark = pytest.mark.gate

RECOVERY = "engine/dataplane/recovery.py"


def test_modules_are_found_below_the_engine_and_nowhere_else() -> None:
    assert mutants.modules([RECOVERY, "engine/dataplane"]).count(RECOVERY) == 1
    for name in ("app", "engine/nothing.py", "../engine"):
        with pytest.raises(SystemExit, match="is no module or package of engine/"):
            mutants.modules([name])


def test_changes_are_real_and_leave_annotations_alone() -> None:
    """`damaged_from: int = -1` may be changed; what stands behind a colon or an arrow may not."""
    found = list(mutants.changes(RECOVERY))
    assert len(found) > 50
    source = (mutants.ROOT / RECOVERY).read_text("utf-8").splitlines()
    for change in found[::10]:
        text = mutants.mutated(change)
        assert text is not None
        assert text.splitlines()[change.line - 1] != source[change.line - 1], change
    unions = [n for n, line in enumerate(source, 1) if "-> " in line and " | " in line]
    assert not {one.line for one in found if "BitOr" in one.operator} & set(unions)
    assert mutants.annotations("x: int | None = 1 | 2") == [((1, 3), (1, 13))]
    assert mutants.annotations("@mypyc_attr(a=True)\n@b(True)\nclass C: ...") == [((1, 1), (1, 19))]


def test_a_verdict_and_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that reads the module sees one change and not the other."""
    module, check = tmp_path / RECOVERY, tmp_path / "check.py"
    module.parent.mkdir(parents=True)
    right = (mutants.ROOT / RECOVERY).read_text("utf-8")
    module.write_text(right, "utf-8")
    check.write_text(f"assert 'spared: int = 0' in open({RECOVERY!r}).read()")
    monkeypatch.setattr(mutants, "judges", lambda module: [[sys.executable, str(check)]])
    found = [one for one in mutants.changes(RECOVERY) if one.operator == "core/NumberReplacer"]
    chosen = [found[0], found[-1]]
    told: list[str] = []
    counts = mutants.judge(chosen, tmp_path, 20, told.append)
    assert counts == {mutants.KILLED: 1, mutants.SURVIVED: 1}, told
    assert module.read_text("utf-8") == right
    assert f"1/2 killed    {found[0]}" == told[0] and told[-1].startswith("    + ")
    counts = mutants.judge(found[:1], tmp_path, 0, told.append)
    assert counts == {mutants.KILLED: 1}, "a mutant that runs away is noticed, too"


@pytest.mark.night
def test_equal_mutants_are_still_possible_changes() -> None:
    """Each entry of the list is a change that would be tried; one that is no longer goes."""
    listed = mutants.equals()
    assert listed and all(why.endswith(".") for why in listed.values())
    for (module, operator, before, after), why in sample([*listed.items()], 12):
        lines = (mutants.ROOT / module).read_text("utf-8").splitlines()
        found = {
            text.splitlines()[change.line - 1].strip()
            for change in mutants.changes(module)
            if change.operator == operator and lines[change.line - 1].strip() == before
            for text in [mutants.mutated(change)]
            if text is not None
        }
        assert after in found, f"{module}: {before} is not changed to {after} ({why})"


def test_only_faults_that_a_programmer_could_make() -> None:
    """An order where equality is asked, another sign of a number, a number below -1: not tried."""
    for name in ("Eq_Lt", "NotEq_GtE", "Is_Eq", "Lt_Eq", "Gt_NotEq"):
        assert not mutants.used(f"core/ReplaceComparisonOperator_{name}"), name
    for name in (
        "Comparison*_Eq_NotEq",
        "Comparison*_Lt_LtE",
        "Binary*_Add_Sub",
        "Unary*_Delete_Not",
    ):
        assert mutants.used("core/Replace" + name.replace("*", "Operator")), name
    assert not mutants.used("core/ReplaceUnaryOperator_Delete_USub")
    assert not mutants.used("core/NoOp")
    source = "a = -1\nb = c[-1]\nd = -2\ne = f(-1)"
    assert mutants.below_none(source) == {(1, 5), (4, 7)}
