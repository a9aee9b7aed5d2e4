"""Checks of Python's words and Markdown: openings, widths, and words that name no actor."""

from __future__ import annotations

import ast
import builtins
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import ROOT
from tests.test_tidy import python_files, short, tree

FORBIDDEN_OPENINGS = ("What", "Who", "Whose", "Whom", "How", "Which", "Where", "Of", "Whether")
WIDEST_DOCSTRING = 100
WIDEST_MARKDOWN = 120
LONGEST_README = 120  # lines
WIDEST_CHANGE = 160
FORBIDDEN_WORDS = re.compile(
    r"\b(whoever|anew|so\s+many|so\s+much|nobody|somebody)\b", re.IGNORECASE
)
PEOPLE = r"(visitor|reader|student|teacher|operator|developer)s?"
WHO = re.compile(rf"\b(?:{PEOPLE}\s+)?who\b", re.IGNORECASE)
"""`who` is for people; a broker, client, process or thread is a `which`."""
GENERATED = ("invariants.md", "moves.md", "posts.md", "real-brokers.md")
"""Pages whose words come from declarations and titles; those are read where they stand."""


def _docstrings(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield getattr(node, "lineno", 1), text.splitlines()[0]


RAISES = re.compile(r"\b[Rr]aises? (`?[A-Z]\w+(?:(?:,| and| or) `?[A-Z]\w+)*)")
NAME_OF_A_CLASS = re.compile(r"[A-Z]\w+")


def test_errors_named_in_docstrings_exist() -> None:
    known = {name for name, one in vars(builtins).items() if isinstance(one, type)}
    named: dict[str, str] = {}
    for path in python_files("app", "engine"):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef):
                known.add(node.name)
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                for names in RAISES.findall(ast.get_docstring(node) or ""):
                    for name in NAME_OF_A_CLASS.findall(names):
                        named[name] = f"{short(path)}:{node.lineno}"
    assert {name: where for name, where in named.items() if name not in known} == {}


def test_docstrings_open_with_a_noun_or_an_imperative() -> None:
    found = []
    for path in python_files("app", "engine"):
        for line, first in _docstrings(path):
            if first.split(" ", 1)[0].rstrip(",.:;") in FORBIDDEN_OPENINGS:
                found.append(f"{short(path)}:{line}: opens with a question: {first}")
            if len(first) > WIDEST_DOCSTRING:
                found.append(f"{short(path)}:{line}: {len(first)} characters")
    assert found == [], "\n".join(found)


def _markdown() -> Iterator[Path]:
    yield from sorted(ROOT.glob("*.md"))
    for folder in ("docs", "engine"):
        yield from sorted((ROOT / folder).rglob("*.md"))


def _wide(text: str, widest: int) -> list[int]:
    """Numbers of lines that are too wide; rows of tables and single long words may be."""
    return [
        number
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > widest and not line.lstrip().startswith("|") and " " in line.strip()
    ]


def _prose(text: str) -> str:
    """The text without blocks of code, quotes in code and quotations, line by line."""
    without = re.sub(r"^( *)(`{3,}).*?^\1\2`* *$", _blank, text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`|“[^”\n]*”|^>.*$", "", without, flags=re.MULTILINE)


def _blank(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def _forbidden(text: str) -> list[tuple[int, str]]:
    """(line, word) of words that hide the actor or the unit."""
    prose = _prose(text)
    return [
        (prose.count("\n", 0, match.start()) + 1, " ".join(match[0].split()))
        for match in FORBIDDEN_WORDS.finditer(prose)
    ]


def _words_of(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of each comment and docstring, and of the names of tests."""
    source = path.read_text(encoding="utf-8")
    if "#" in source:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node.lineno, node.name.replace("_", " ")
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.lineno, str(node.value.value)


def _nameless(path: Path) -> list[tuple[int, str]]:
    """(line, word) of words in a Python file that hide the actor or the unit."""
    source = path.read_text("utf-8")
    if not FORBIDDEN_WORDS.search(source) and not WHO.search(source):
        return []  # to part it into tokens takes longer
    return [
        (start + line - 1, word)
        for start, text in _words_of(path)
        for line, word in _forbidden(text) + _persons(text)
    ]


def _persons(text: str) -> list[tuple[int, str]]:
    """(line, word) of each `who` that stands for a thing."""
    prose = _prose(text)
    return [
        (prose.count("\n", 0, match.start()) + 1, match[0])
        for match in WHO.finditer(prose)
        if match[1] is None
    ]


def test_markdown_is_narrow() -> None:
    found = [
        f"{short(path)}:{line}: over {WIDEST_MARKDOWN} characters"
        for path in _markdown()
        if path.name != "CHANGELOG.md" and not path.name.endswith(".zh-Hans.md")
        for line in _wide(path.read_text("utf-8"), WIDEST_MARKDOWN)
    ]
    assert found == [], "\n".join(found)


def test_markdown_names_the_actor() -> None:
    found = [
        f"{short(path)}:{line}: {word}: name the client, broker, replica or number"
        for path in _markdown()
        if path.name not in GENERATED
        for line, word in _forbidden(path.read_text("utf-8"))
    ]
    assert found == [], "\n".join(found)


def test_python_names_the_actor() -> None:
    found = [
        f"{short(path)}:{line}: {word}: name the client, broker, replica or number"
        for path in python_files("app", "engine", "tests")
        for line, word in _nameless(path)
    ]
    assert found == [], "\n".join(found)


SCRIPT_COMMENT = re.compile(
    r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL
)
"""A comment of a script, or a string, which may contain the signs of one."""


def test_scripts_name_the_actor() -> None:
    found = []
    for path in sorted((ROOT / "static/js").rglob("*.js")):
        source = path.read_text("utf-8")
        for match in SCRIPT_COMMENT.finditer(source):
            if match[0].startswith("/"):
                start = source.count("\n", 0, match.start())
                found += [
                    f"{short(path)}:{start + line}: {word}: name the visitor, thing or number"
                    for line, word in _forbidden(match[0])
                ]
    assert found == [], "\n".join(found)


def test_names_of_tests_state_a_fact() -> None:
    """`test_stalled_connections_do_not_block_others`, not `test_who_stalls_...`."""
    found = [
        f"{short(path)}:{node.lineno}: opens with a question: {node.name}"
        for path in python_files("tests")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
        if node.name.split("_")[1].capitalize() in FORBIDDEN_OPENINGS
    ]
    assert found == [], "\n".join(found)


def test_the_readme_fits_on_a_page() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= LONGEST_README


def test_an_entry_of_the_changelog_is_one_line() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text("utf-8").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("## "))
    entries = [line for line in lines[start:] if line]
    wrong = [line for line in entries if not line.startswith(("- ", "## ", "### ", "#### "))]
    assert wrong == [], "an entry goes on in a second line"
    assert [line for line in entries if len(line) > WIDEST_CHANGE] == []


FORBIDDEN_MODULES = {
    *("after", "asked", "asking", "askers", "beside", "called", "dying", "faces", "gone", "hand"),
    *("held", "kept", "made", "met", "seen", "seeing", "survived", "told", "telling", "unfurling"),
}
"""Participles, pronouns and prepositions that do not say what a module holds."""

PUBLIC_API = "app/python_api/"
"""`import highwater` has short names of its own: Run, Step, Stage."""


def test_modules_are_named_after_what_they_hold() -> None:
    modules = python_files("app", "engine")
    assert [short(path) for path in modules if path.stem in FORBIDDEN_MODULES] == []


FORBIDDEN_LOCALS = {"one", "found", "told", "wanted", "known", "asked", "kept", "gone"}
LONG_FUNCTION = 6  # lines; a shorter one shows what its names hold


def _locals_of(path: Path) -> Iterator[tuple[int, str]]:
    """(line, name) of the variables, targets and parameters in functions that are not short."""
    for function in ast.walk(tree(path)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if (function.end_lineno or 0) - function.lineno + 1 < LONG_FUNCTION:
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.lineno, node.id
            elif isinstance(node, ast.arg):
                yield node.lineno, node.arg


def test_local_names_say_what_they_hold() -> None:
    """`replica`, `offset` or `row`, not `one`, `found` or `told`."""
    found = {
        f"{short(path)}:{line}: {name}"
        for path in python_files("app", "engine")
        for line, name in _locals_of(path)
        if name in FORBIDDEN_LOCALS
    }
    assert found == set(), "\n".join(sorted(found))


def test_a_class_name_means_one_thing() -> None:
    places: dict[str, list[str]] = {}
    for path in python_files("app", "engine"):
        name = short(path)
        if not name.startswith(PUBLIC_API):
            for node in ast.walk(tree(path)):
                if isinstance(node, ast.ClassDef):
                    places.setdefault(node.name, []).append(name)
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
