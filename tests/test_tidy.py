"""The house rules, by reading the sources: imports, lengths, and what is banned."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

CORE = {
    "engine": (
        ("model",),
        ("dataplane",),
        ("controlplane",),
        ("quorum", "groups"),
        ("checks",),
        ("scenarios",),
        ("sim", "clients", "moves", "faults"),
        ("replay", "view", "story", "why", "export"),
        ("catalogue",),
    ),
    "app": (
        ("core",),
        ("questions",),
        ("admission",),
        ("storage", "workers", "kafka", "reading"),
        ("runs",),
        ("live", "server", "web"),
    ),
}
"""Layers of the core: a room imports its own layer and the layers above it in this list."""

ARROWS = {
    "engine": {
        "advisor": {"study"},
        "explore": {"advisor", "study"},
        "hunt": {"study"},
        "learn": {"explore", "lens", "properties"},
        "refinement": {"ladder"},
        "study": {"advisor"},
    },
    "app": {
        "advisor": {"batch"},
        "batch": {"advisor"},
        "cluster": {"find", "incident"},
        "compare": {"learn"},
        "hunt": {"batch", "learn"},
        "lens": {"learn"},
    },
}
"""The features that a feature imports.  A feature is a folder that is neither the core's nor an
end; all import the core, and the core imports none."""

ENDS = {"app": {"command", "lab", "python_api", "site"}}
"""What people start.  It may import everything, and nothing but other ends imports it: no page
can start a broker."""

COMPOSING = {
    "app/server/services.py",
    "app/live/socket_handlers.py",
    "app/server/api_schema.py",
    "app/server/factory.py",
    "app/server/warm.py",
    "app/web/coverage.py",
    "app/web/home.py",
    "app/web/library.py",
    "app/web/pages.py",
}
"""Modules of the core that put the features together."""

BANNED_IN_ENGINE = {
    "asyncio",
    "datetime",
    "multiprocessing",
    "os",
    "secrets",
    "socket",
    "subprocess",
    "threading",
    "time",
    "uuid",
}
STANDARD_OF_ENGINE = {
    "array",
    "bisect",
    "collections",
    "contextlib",
    "copy",
    "dataclasses",
    "decimal",
    "difflib",
    "functools",
    "hashlib",
    "heapq",
    "html",
    "importlib",
    "io",
    "itertools",
    "json",
    "marshal",
    "math",
    "operator",
    "pathlib",
    "pickle",
    "pkgutil",
    "re",
    "traceback",
    "typing",
    "zlib",
}
"""A new one is a decision: the engine must play the same on every machine."""

ONLY_IN = {
    "random": {"engine/sim/kernel.py"},
    "lark": {"engine/properties/grammar.py"},
    "mypy_extensions": {"engine/model/compiling.py"},  # its name alone, for mypy
    "yaml": {"engine/scenarios/file.py"},
    "pyspark": {"app/batch/runners/connect.py", "app/batch/runners/spark.py"},
    "py4j": {"app/batch/runners/spark.py"},
}

AT_THE_DOOR_OF_ENGINE = {"os", "sys", "types"}
"""Imported by `engine/__init__.py` alone, which decides whether compiled modules are used."""

CONNECTING = {"create_engine", "Engine", "Connection", "event", "make_url", "exc", "pool"}
DECLARING = {"DeclarativeBase", "Mapped", "mapped_column", "ForeignKey", "MetaData", "Column"}
"""SQLAlchemy: connections are `db.py`'s, tables `models.py`'s (and the migrations').  A module with
rows elsewhere may build queries (select, insert, ...) and name the Session it was given."""

MOST_LINES = 700
MOST_OF_A_FUNCTION = 70


@cache
def python_files(*tops: str) -> tuple[Path, ...]:
    return tuple(sorted(path for top in tops for path in (ROOT / top).rglob("*.py")))


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


@cache
def imports(path: Path) -> tuple[tuple[int, str, str], ...]:
    """(line, module, name or "") of every import, those inside functions too."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[tuple[int, str, str]]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name, ""
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{short(path)}:{node.lineno} imports relatively"
            for alias in node.names:
                yield node.lineno, node.module or "", alias.name


def rooms_of(top: str) -> set[str]:
    return {path.parent.name for path in (ROOT / top).glob("*/__init__.py")}


def allowed(top: str, room: str) -> set[str]:
    """The rooms that a room may import."""
    if room in ENDS.get(top, ()):
        return rooms_of(top)
    core: set[str] = set()
    for layer in CORE[top]:
        core |= set(layer)
        if room in layer:
            return core
    return core | ARROWS[top].get(room, set()) | {room}


@pytest.mark.parametrize("top", CORE)
def test_every_folder_of_the_tables_is_there(top: str) -> None:
    named = {room for layer in CORE[top] for room in layer} | ENDS.get(top, set())
    for room, others in ARROWS[top].items():
        named |= {room, *others}
    assert named <= rooms_of(top)
    loose = {path.name for path in (ROOT / "app").glob("*.py")}
    assert loose == {"__init__.py", "__main__.py", "bootstrap.py"}


@pytest.mark.parametrize(
    ("top", "room"), [(top, room) for top in CORE for room in sorted(rooms_of(top))]
)
def test_the_core_imports_no_feature(top: str, room: str) -> None:
    rooms, may = rooms_of(top), allowed(top, room)
    for path in python_files(f"{top}/{room}"):
        if short(path) in COMPOSING:
            continue
        for line, module, name in imports(path):
            parts = module.split(".")
            if parts[0] == top:
                target = parts[1] if len(parts) > 1 else name
                assert target not in rooms - may, f"{short(path)}:{line} imports {module}"


def test_few_features_import_another() -> None:
    for top, arrows in ARROWS.items():
        assert sum(map(len, arrows.values())) <= 10, top


def modules_of(top: str) -> dict[str, set[str]]:
    """Module -> the modules of the same top folder that it imports, for type checks too."""
    files = {
        path: ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in python_files(top)
    }
    names = {name.removesuffix(".__init__"): path for path, name in files.items()}
    return {
        name: {
            target
            for _, module, what in imports(path)
            for target in (f"{module}.{what}", module)
            if target in names and target != name
        }
        for name, path in names.items()
    }


@pytest.mark.parametrize("top", CORE)
def test_no_modules_import_each_other_in_a_circle(top: str) -> None:
    sorter = TopologicalSorter(modules_of(top))
    try:
        sorter.prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_the_engine_is_standard_library_and_takes_nothing_from_outside_a_run() -> None:
    for path in python_files("engine"):
        for line, module, _ in imports(path):
            top = module.split(".")[0]
            where = f"{short(path)}:{line} imports {module}"
            if short(path) == "engine/__init__.py" and top in AT_THE_DOOR_OF_ENGINE:
                continue
            assert top not in BANNED_IN_ENGINE, where
            if short(path) in ONLY_IN.get(top, ()):
                continue
            assert top in STANDARD_OF_ENGINE | {"__future__", "engine"}, where


def test_some_modules_have_one_door() -> None:
    for path in python_files("engine", "app"):
        for line, module, _ in imports(path):
            doors = ONLY_IN.get(module.split(".")[0])
            assert doors is None or short(path) in doors, f"{short(path)}:{line} imports {module}"


def test_doors_compute_nothing_themselves() -> None:
    """Python, assistants and tabs are answered by `app.questions`, as sockets and HTTP are."""
    doors = (
        ROOT / f"app/{name}.py" for name in ("command/assistant", "site/tab", "site/tab_session")
    )
    for path in (*python_files("app/python_api"), *doors):
        for line, module, _ in imports(path):
            computes = module.startswith(("engine.replay", "engine.why", "engine.export.compar"))
            assert not computes, f"{short(path)}:{line} imports {module}"


def test_the_database_has_two_doors() -> None:
    for path in python_files("app"):
        name = short(path)
        if name.startswith("app/storage/migrations/"):
            continue
        for line, module, what in imports(path):
            if module.split(".")[0] != "sqlalchemy":
                continue
            where = f"{name}:{line} takes {what} from {module}"
            parts = {what, *module.split(".")}
            assert what, f"{where}: say what is needed of it"
            assert name == "app/storage/database.py" or not parts & CONNECTING, where
            assert name == "app/storage/models.py" or not parts & DECLARING, where


WRITTEN_OUT = ("engine/model/copying.py", "exec")
"""Made of the names of a class's fields, as dataclasses make their methods."""


def test_the_engine_opens_and_evaluates_nothing() -> None:
    for path in python_files("engine"):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                called = node.func.id
                if (short(path), called) == WRITTEN_OUT:
                    continue
                assert called not in {"__import__", "eval", "exec", "open", "input"}, short(path)


# -- lengths --------------------------------------------------------------------------------------


def test_functions_are_short() -> None:
    for path in python_files("engine", "app", "tests"):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                length = (node.end_lineno or node.lineno) - node.lineno + 1
                assert length <= MOST_OF_A_FUNCTION, f"{short(path)}: {node.name} has {length}"


def test_files_are_short() -> None:
    """ruff and ESLint hold the widths of lines, and ESLint the lengths of scripts."""
    lengths = {
        short(path): len(path.read_text("utf-8").splitlines())
        for path in python_files("engine", "app", "tests")
    }
    assert {name: n for name, n in lengths.items() if n > MOST_LINES} == {}


# -- words ----------------------------------------------------------------------------------------

UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX|HACK|NotImplementedError|NotImplemented)\b")
OF_A_MACHINE = re.compile(r"(?<![\w.])/(home|root|Users|work|workspace|mnt)/|[A-Z]:\\\\")
PRODUCT = ("engine", "app", "static/js", "static/css", "static/i18n", "templates")
TEXTS = {".py", ".js", ".css", ".html", ".json", ".yaml", ".md", ".toml"}


def product_files() -> Iterator[Path]:
    for top in PRODUCT:
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in TEXTS:
                yield path
    for name in ("README.md", "CHANGELOG.md", "pyproject.toml", "Makefile"):
        if (ROOT / name).exists():
            yield ROOT / name


@pytest.mark.parametrize("banned", [UNFINISHED, OF_A_MACHINE], ids=["unfinished", "machine"])
def test_nothing_is_left_unfinished_or_tied_to_a_machine(banned: re.Pattern[str]) -> None:
    found = [
        f"{short(path)}:{number}: {line.strip()[:80]}"
        for path in product_files()
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if banned.search(line)
    ]
    assert found == []


def test_every_module_says_what_it_is_for() -> None:
    for path in python_files("engine", "app", "tests"):
        if path.read_text("utf-8").strip():
            assert ast.get_docstring(tree(path)), f"{short(path)} has no docstring"
