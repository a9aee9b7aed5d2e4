"""Gathers everything that is installed below one package, `highwater`.

The tree has `app`, `engine`, `static` and `templates` at its top.  A wheel gets a copy of them
whose imports begin with `highwater`; an editable installation and a source archive get the tree.
HIGHWATER_COMPILE builds hot modules of a wheel's engine as C.  pyproject.toml has everything else.
"""

import ast
import os
import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from setuptools import find_packages, setup

sys.path.insert(0, str(Path(__file__).parent))
from app.compiled.expand import expand
from app.compiled.extensions import extensions, files

COMPILE = bool(os.environ.get("HIGHWATER_COMPILE"))
# pip asks what the build needs, before it installs mypy
ASKED_ONLY = "egg_info" in sys.argv and find_spec("mypyc") is None
AS_IT_IS = bool({"editable_wheel", "develop", "sdist"} & set(sys.argv))
BUILD = Path("build/wheel")
TREE = BUILD / "tree"
PLACES = {
    "highwater": "app/python_api/highwater",
    "app": "app",
    "engine": "engine",
    "app.static": "static",
    "app.templates": "templates",
}
UNUSED = shutil.ignore_patterns(
    "__pycache__", "*.so", "node_modules", "__main__.py", "py.typed", "highwater"
)


def gather() -> None:
    """Copy what a wheel holds into TREE."""
    shutil.rmtree(BUILD, ignore_errors=True)
    package = TREE / "highwater"
    shutil.copytree(PLACES["highwater"], package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in ("app", "engine", "static", "templates"):
        shutil.copytree(folder, package / folder, ignore=UNUSED)
    sources = sorted(package.rglob("*.py"))
    names = [".".join(path.relative_to(package).with_suffix("").parts) for path in sources]
    modules = {name.removesuffix(".__init__") for name in names}
    for path in sources:
        path.write_text(moved(path, modules), "utf-8")


def moved(path: Path, modules: set[str]) -> str:
    """Return a source that names the modules of `app` and `engine` as a wheel does."""
    text = path.read_text("utf-8")
    lines = [line.encode() for line in text.split("\n")]
    edits = [edit for node in ast.walk(ast.parse(text)) for edit in edits_of(node, modules)]
    for number, column, old, new in sorted(edits, reverse=True):
        line = lines[number - 1]
        if not line.startswith(old.encode(), column):
            sys.exit(f"{path}:{number}: write {old} so that setup.py can move it.")
        lines[number - 1] = line[:column] + new.encode() + line[column + len(old) :]
    return b"\n".join(lines).decode()


def edits_of(node: ast.AST, modules: set[str]) -> Iterator[tuple[int, int, str, str]]:
    """Yield (line, column, old, new) for an import, or a string that is a module's full name."""
    if isinstance(node, ast.ImportFrom) and node.module in modules:
        yield node.lineno, node.col_offset, f"from {node.module}", f"from highwater.{node.module}"
    elif isinstance(node, ast.Import) and node.names[0].name in ("app", "engine"):
        name = node.names[0].name
        yield node.lineno, node.col_offset, f"import {name}", f"from highwater import {name}"
    elif isinstance(node, ast.Constant) and node.value in modules and "." in node.value:
        yield node.lineno, node.col_offset, f'"{node.value}"', f'"highwater.{node.value}"'


def compiled() -> list[Any]:
    """Return the extension modules, translated to C."""
    alone = BUILD / "alone"  # the whole package would be checked with the engine
    shutil.copytree(TREE / "highwater" / "engine", alone / "highwater" / "engine")
    (alone / "highwater" / "__init__.py").touch()
    expand([Path(name) for name in files("highwater.engine", alone)])
    return extensions("highwater.engine", alone)


if AS_IT_IS:
    packages = [*find_packages(include=["app*", "engine*"]), *PLACES]
    places = PLACES
else:
    gather()
    packages, places = find_packages(str(TREE)), {"": str(TREE)}

setup(
    packages=list(dict.fromkeys(packages)),
    package_dir=places,
    package_data={name: ["**/*"] for name in PLACES},
    options={"build": {"build_base": str(BUILD)}},
    ext_modules=compiled() if COMPILE and not ASKED_ONLY and not AS_IT_IS else [],
    setup_requires=["mypy>=2,<3"] if COMPILE else [],
)
