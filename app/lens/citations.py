"""Citations of rules in the engine's docstrings, read from its sources."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import engine
from app.core.memoize import once
from engine.catalogue.rulebook import IDENTIFIER
from engine.model.declared import declared

FOLDER = Path(engine.__file__).resolve().parent
PLAYED_FROM = "engine.sim.run"
NO_RULES = tuple(
    f"{engine.__name__}.{room}."
    for room in ("export", "recordings", "replay", "story", "view", "why")
)
"""What tells of rules: it names them and follows none."""

Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@declared
class Citation:
    """Citation of a rule.

    `name` is that of a function or class, such as Log.append, "" that of the module itself.
    `played`: a run can come to it.
    """

    rule: str
    module: str
    name: str
    played: bool

    @property
    def where(self) -> str:
        """Place of the code, such as engine.model.log.Log.append."""
        return f"{self.module}.{self.name}".rstrip(".")

    @property
    def implements(self) -> bool:
        """True for code that follows the rule, false for a module's heading."""
        return self.name != "" and not self.module.startswith(NO_RULES)


@once
def _sources() -> dict[str, ast.Module]:
    """Return module name -> its tree, for the whole engine."""
    trees = {}
    for path in sorted(FOLDER.rglob("*.py")):
        parts = (engine.__name__, *path.relative_to(FOLDER).with_suffix("").parts)
        name = ".".join(parts).removesuffix(".__init__")
        trees[name] = ast.parse(path.read_text("utf-8"))
    return trees


def _imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@once
def played_modules() -> frozenset[str]:
    """Return the modules that a simulation imports, directly or through others."""
    modules: set[str] = set()
    todo = [PLAYED_FROM]
    while todo:
        name = todo.pop()
        if name in _sources() and name not in modules:
            modules.add(name)
            todo += _imported(_sources()[name])
    return frozenset(modules)


def _documented(node: ast.AST, path: str = "") -> Iterator[tuple[str, Documented]]:
    """Yield every function and class below `node`, with its dotted name."""
    for child in ast.iter_child_nodes(node):
        name = path
        if isinstance(child, Documented):
            name = f"{path}.{child.name}".lstrip(".")
            yield name, child
        yield from _documented(child, name)


def _named(node: ast.AST) -> Iterator[str]:
    """Yield the names in `node` by which functions and classes may be meant."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr


def _at_once(node: ast.Module | ast.ClassDef) -> Iterator[str]:
    """Yield the names that count as soon as the module or class does.

    All outside of its functions, and the functions that a decorator with arguments registers, such
    as verbs.
    """
    for child in node.body:
        if not isinstance(child, Documented):
            yield from _named(child)
        elif any(isinstance(decorator, ast.Call) for decorator in child.decorator_list):
            yield child.name


@once
def _played() -> frozenset[tuple[str, str]]:
    """Return (module, name) of what a run can reach, by following names from loaded modules.

    A function that shares its name with something that is called counts as called: this errs on the
    side of "played", never on the other.
    """
    called: dict[str, list[tuple[str, str, Documented]]] = defaultdict(list)
    todo: list[str] = []
    for module in played_modules():
        tree = _sources()[module]
        todo += _at_once(tree)
        for name, node in _documented(tree):
            called[node.name].append((module, name, node))
            if module == PLAYED_FROM or node.name.startswith("__"):
                todo.append(node.name)
    functions: set[tuple[str, str]] = set()
    seen: set[str] = set()
    while todo:
        short = todo.pop()
        if short in seen:
            continue
        seen.add(short)
        for module, name, node in called.get(short, ()):
            functions.add((module, name))
            todo += _at_once(node) if isinstance(node, ast.ClassDef) else _named(node)
    return frozenset(functions)


@once
def citations() -> tuple[Citation, ...]:
    """Return all citations of the engine, module by module, in the order of the sources."""
    cited_here = []
    for module, tree in _sources().items():
        nodes: list[tuple[str, ast.Module | Documented]] = [("", tree), *_documented(tree)]
        for name, node in nodes:
            cited = IDENTIFIER.findall(ast.get_docstring(node) or "")
            played = (module, name) in _played()
            cited_here += [Citation(rule, module, name, played) for rule in dict.fromkeys(cited)]
    return tuple(cited_here)
