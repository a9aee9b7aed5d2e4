"""``python3 -m tests.mutants``: is a wrong engine noticed?  Mutation testing, with Cosmic Ray.

Cosmic Ray finds what can be changed in a module and changes it, one thing at a time, in a copy of
the project; a fast set of tests decides each.  It asks of a test only its exit code, and changes a
file as it stands, so tables of handlers and slots need no care.  Left alone are annotations and
what is said to the compiler, which nothing evaluates; an order where equality is asked, for names
and states have none; the sign of a written number, which is one thing with it; and a number below
-1, since in Kafka every number below 0 says "none".  The other operators are those of PIT's default
mutators: a comparison goes over its boundary or to its contrary, arithmetic to its inverse.

Some changes change nothing that anybody could see.  ``equal_mutants.txt`` lists those that were
found, each with the reason; a sample counts them apart and does not run them.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("engine/dataplane", "engine/controlplane", "engine/checks", "engine/advisor/weights.py")
COPIED = ("app", "docs", "engine", "tests", "static/i18n", "pyproject.toml")
LEFT_OUT = shutil.ignore_patterns("__pycache__", "e2e", "other_python", "*.pyc")

JUDGES = (
    "tests/test_random_runs.py",
    "tests/test_golden.py",
    "tests/test_conformance.py",
    "tests/test_dir_moves.py",
    "tests/test_directories.py",
    "tests/test_invariants.py",
    "tests/rules",
)
"""What decides every mutant, quickest first: random runs and the library move by move, the cases,
the rules' own tests."""

WIDER = (
    "tests/test_metrics.py",
    "tests/test_oracle.py",
    "tests/test_why.py",
    "tests/test_profiles.py",
    "tests/test_flips.py",
    "tests/test_rules.py",
    "tests/test_scenarios.py",
    "tests/test_recordings.py",
    "tests/test_levels.py",
    "tests/test_fault_plans.py",
    "tests/test_long_runs.py",
    "tests/test_search.py",
    "tests/test_refinement.py",
    "tests/test_surgery.py",
    "tests/test_properties.py",
)
"""What decides those that survived: real brokers' recordings, searches, whole features."""

OWN = {
    "engine/dataplane/watermark.py": ("tests/test_why.py",),
    "engine/checks/lags.py": ("tests/test_metrics.py",),
    "engine/checks/ledger.py": ("tests/test_metrics.py",),
    "engine/checks/prefix.py": ("tests/test_oracle.py",),
    "engine/advisor/weights.py": ("tests/test_weights.py", "tests/test_fault_plans.py"),
}
"""What decides those of a module in addition."""

INSTEAD = {
    "Comparison": "Eq:NotEq NotEq:Eq Is:IsNot IsNot:Is Lt:LtE Lt:GtE LtE:Lt LtE:Gt Gt:GtE Gt:LtE "
    "GtE:Gt GtE:Lt",
    "Binary": "Add:Sub Sub:Add Mul:FloorDiv FloorDiv:Mul Div:Mul Mod:Mul Pow:Mul LShift:RShift "
    "RShift:LShift BitAnd:BitOr BitOr:BitAnd BitXor:BitAnd",
    "Unary": "Not:Delete",
}
"""What may stand instead of an operator."""

OTHERS = re.compile(r"Replace(And|Or|True|False|Break|Continue)With|^(AddNot|NumberReplacer|Zero)")

KILLED, SURVIVED, UNDECIDED, EQUAL = "killed", "survived", "undecided", "equal"
EQUALS = Path("tests/equal_mutants.txt")


@dataclass(frozen=True)
class Change:
    """One change of one module, as Cosmic Ray names it; `line` as an editor counts."""

    module: str
    operator: str
    occurrence: int
    line: int

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.operator.removeprefix('core/')}"


def modules(named: list[str]) -> list[str]:
    """The files below what was named, such as ``engine/dataplane``; raises SystemExit."""
    found: list[str] = []
    for name in named:
        path = (ROOT / name).resolve()
        if not path.is_relative_to(ROOT / "engine") or not path.exists():
            raise SystemExit(f"{name} is no module or package of engine/.")
        files = [path] if path.is_file() else sorted(path.rglob("*.py"))
        found += [one.relative_to(ROOT).as_posix() for one in files if one.name != "__init__.py"]
    return list(dict.fromkeys(found))


def annotations(source: str) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Where nothing is evaluated: (line, column) of the begin and end of each annotation and of
    each ``mypyc_attr``."""
    found: list[ast.expr | None] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef):
            found += [one for one in node.decorator_list if "mypyc_attr" in ast.dump(one)]
        if isinstance(node, ast.arg | ast.AnnAssign):
            found.append(node.annotation)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(node.returns)
    return [
        ((one.lineno, one.col_offset), (one.end_lineno or 0, one.end_col_offset or 0))
        for one in found
        if one is not None
    ]


def used(operator: str) -> bool:
    """Is this one of the operators whose changes are tried?"""
    name = operator.removeprefix("core/")
    found = re.fullmatch(r"Replace(Comparison|Binary|Unary)Operator_(\w+)_(\w+)", name)
    if found is None:
        return OTHERS.search(name) is not None
    kind, old, new = found.groups()
    if old == "Delete":
        old, new = new, old
    return f"{old}:{new}" in INSTEAD[kind].split()


def below_none(source: str) -> set[tuple[int, int]]:
    """Where a -1 stands that is no index: (line, column) of its 1."""
    tree = ast.parse(source)
    indices = {id(node.slice) for node in ast.walk(tree) if isinstance(node, ast.Subscript)}
    return {
        (node.operand.lineno, node.operand.col_offset)
        for node in ast.walk(tree)
        if isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.USub)
        and isinstance(node.operand, ast.Constant)
        and node.operand.value == 1
        and id(node) not in indices
    }


def changes(module: str) -> Iterator[Change]:
    """Everything in a module that is to be changed, as the module's docstring says."""
    from cosmic_ray import plugins
    from cosmic_ray.ast import ast_nodes, get_ast

    source = (ROOT / module).read_text("utf-8")
    tree, quiet, nones = get_ast(source), annotations(source), below_none(source)
    for name in filter(used, sorted(plugins.operator_names())):
        operator = plugins.get_operator(name)()
        places = (at for node in ast_nodes(tree) for at in operator.mutation_positions(node))
        seen: set[tuple[int, int]] = set()
        for occurrence, (start, end) in enumerate(places):
            first_here = start not in seen
            seen.add(start)
            if name.endswith("NumberReplacer") and first_here and start in nones:
                continue  # the first change of a 1 makes it a 2
            if not any(first <= start and end <= last for first, last in quiet):
                yield Change(module, name, occurrence, start[0])


def mutated(change: Change) -> str | None:
    """The text of the module with the change in it; None if there is nothing to change."""
    from cosmic_ray import plugins
    from cosmic_ray.mutating import mutate_code

    source = (ROOT / change.module).read_text("utf-8")
    operator: Any = plugins.get_operator(change.operator)()
    text: str | None = mutate_code(source, operator, change.occurrence)
    return text


def equals() -> dict[tuple[str, str, str, str], str]:
    """Why no test can tell: by (module, operator, line, changed line).  Raises ValueError for a
    line of the file that is none of ``module operator``, ``- line``, ``+ line``, ``= why``."""
    found = {}
    text = (ROOT / EQUALS).read_text("utf-8")
    for block in text.split("\n\n"):
        if block.startswith("#"):
            continue
        head, before, after, why = block.strip().splitlines()
        if (before[:2], after[:2], why[:2]) != ("- ", "+ ", "= "):
            raise ValueError(
                f"{EQUALS}: {head} is followed by - the line, + the changed one, = why"
            )
        module, operator = head.split()
        found[module, f"core/{operator}", before[2:], after[2:]] = why[2:]
    return found


def judges(module: str) -> tuple[list[str], ...]:
    """The commands that decide a mutant of this module, one after the other until one kills it."""
    pytest = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    return [*pytest, *OWN.get(module, ()), *JUDGES], [*pytest, *WIDER]


def decide(copy: Path, commands: Iterable[list[str]], limit: float) -> str:
    """Killed by a test or by the time limit, survived, or undecided where the tests did not run."""
    from cosmic_ray.testing import run_tests

    here = Path.cwd()
    os.chdir(copy)
    try:
        for command in commands:
            outcome, output = run_tests(shlex.join(command), limit)
            if outcome.value == "incompetent" or "no tests ran" in output:
                return UNDECIDED
            if outcome.value != SURVIVED:
                break
    finally:
        os.chdir(here)
    return str(outcome.value)


def copied(place: Path) -> Path:
    """What the tests need of the project, where it may be broken."""
    for name in COPIED:
        source, target = ROOT / name, place / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=LEFT_OUT)
        else:
            shutil.copy(source, target)
    return place


def measure(copy: Path, named: list[str]) -> float:
    """How long the judges take where nothing is changed, in seconds.  Raises SystemExit if they
    do not pass there: then they could decide nothing."""
    began = time.monotonic()
    own = {test for name in named for test in OWN.get(name, ())}
    quick, wider = judges("")
    for command in ([*quick, *sorted(own)], wider):
        if subprocess.run(command, cwd=copy, stdout=subprocess.DEVNULL).returncode != 0:
            raise SystemExit(f"The tests fail without a mutant; first mend: {shlex.join(command)}")
    return time.monotonic() - began


def judge(chosen: list[Change], copy: Path, limit: float, tell: Any = print) -> Counter[str]:
    """Decides each; tells survivors as they are found."""
    counts: Counter[str] = Counter()
    known = equals()
    for number, change in enumerate(chosen, 1):
        text = mutated(change)
        assert text is not None, change
        path = copy / change.module
        right = path.read_text("utf-8")
        before, after = (one.splitlines()[change.line - 1].strip() for one in (right, text))
        if (change.module, change.operator, before, after) in known:
            verdict = EQUAL
        else:
            path.write_text(text, "utf-8")
            try:
                verdict = decide(copy, judges(change.module), limit)
            finally:
                path.write_text(right, "utf-8")
        counts[verdict] += 1
        tell(f"{number}/{len(chosen)} {verdict:9} {change}")
        if verdict in (SURVIVED, UNDECIDED):
            tell(f"    - {before}")
            tell(f"    + {after}")
    return counts


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m tests.mutants", description=__doc__)
    parser.add_argument("--module", nargs="+", default=list(ROOMS), help="files or folders")
    parser.add_argument("--sample", type=int, help="so many by chance; without it, all")
    parser.add_argument("--seed", type=int, default=0, help="which sample")
    asked = parser.parse_args()
    named = modules(asked.module)
    every = [change for module in named for change in changes(module)]
    chosen = every
    if asked.sample is not None and asked.sample < len(every):
        chosen = random.Random(asked.seed).sample(every, max(asked.sample, 0))
    with tempfile.TemporaryDirectory(prefix="mutants-") as place:
        copy = copied(Path(place))
        usual = measure(copy, named)
        longest = usual * len(chosen) / 60
        print(
            f"{len(chosen)} of {len(every)} mutants of {len(named)} modules; without one the tests "
            f"take {usual:.0f} s, so this takes at most {longest:.0f} minutes or so.",
            flush=True,
        )
        try:
            counts = judge(chosen, copy, 10 + 4 * usual, lambda line: print(line, flush=True))
        except KeyboardInterrupt:
            print("Stopped; what was decided stands above.")
            return 130
    decided = counts[KILLED] + counts[SURVIVED]
    print(
        f"{counts[KILLED]} of {decided} decided mutants killed, {counts[UNDECIDED]} undecided; "
        f"{counts[EQUAL]} change nothing, {EQUALS} says why."
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
