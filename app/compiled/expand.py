"""Declared classes with their constructors written out: mypyc takes no generated ones.

`engine.model.declared` gives a class its constructor when it is imported; in a copy of the engine
that is compiled, the same constructor is source.
"""

from __future__ import annotations

import ast
import builtins
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

NOTE: Final = "mypyc_attr(allow_interpreted_subclasses=True, serializable=True{})"
NOTES: Final = {"declared": NOTE.format(""), "acyclic": NOTE.format(", acyclic=True")}
BASES: Final = re.compile(r"^class \w+\(([^)]*)\):", re.M)
EMPTY: Final = {"dict": "{}", "list": "[]"}

Classes = Mapping[str, ast.ClassDef]


def expand(files: Sequence[Path]) -> None:
    """Write out the declared classes of modules, in place; what they inherit from is among them."""
    trees = {path: ast.parse(path.read_text("utf-8")) for path in files}
    every = {
        node.name: node
        for tree in trees.values()
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }
    classes = {name: node for name, node in every.items() if _note(node)}
    parents = _parents(Path(os.path.commonpath(files)))
    constructors = {name: _constructor(node, classes) for name, node in classes.items()}
    for path, tree in trees.items():
        defined = {name.name for node in tree.body for name in getattr(node, "names", ())}
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and str(node.module).endswith("model.declared"):
                node.module = str(node.module).replace("declared", "compiling")
                node.names = [ast.alias("mypyc_attr")]
            elif isinstance(node, ast.ImportFrom):
                bases = [classes[name.name] for name in node.names if name.name in classes]
                used = {name for base in bases for name in _types(base, classes)} - defined
                node.names += [ast.alias(name) for name in sorted(used)]
                defined |= used
            elif isinstance(node, ast.ClassDef):
                if node.name not in parents:
                    _Copies(node, every).visit(node)
                if node.name in constructors:
                    _write_out(node, constructors[node.name])
        path.write_text(ast.unparse(tree), "utf-8")


def _parents(package: Path) -> set[str]:
    """Return the names of classes that others inherit from, in modules that stay Python as well."""
    texts = (path.read_text("utf-8") for path in package.rglob("*.py"))
    return {name for text in texts for bases in BASES.findall(text) for name in bases.split(", ")}


def _note(node: ast.ClassDef) -> str:
    """Return the note for the compiler to a declared class; "" for any other class."""
    names = [one.id for one in node.decorator_list if isinstance(one, ast.Name)]
    return next((NOTES[name] for name in names if name in NOTES), "")


def _own_fields(node: ast.ClassDef) -> list[ast.AnnAssign]:
    return [
        line
        for line in node.body
        if isinstance(line, ast.AnnAssign)
        and not ast.unparse(line.annotation).startswith("ClassVar")
    ]


def _maker(line: ast.AnnAssign) -> str:
    """Return the name of what declares a field that is no argument, or ""."""
    value = line.value
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id if value.func.id in ("begins", "fresh", "unset") else ""
    return ""


def _family(node: ast.ClassDef, classes: Classes) -> list[ast.ClassDef]:
    """Return a class after the declared ones that it inherits from."""
    base = next((ast.unparse(one) for one in node.bases), "")
    return [*(_family(classes[base], classes) if base in classes else []), node]


def _types(node: ast.ClassDef, classes: Classes) -> set[str]:
    """Return the names in the annotations of a class, which one that inherits from it needs."""
    fields = [line for one in _family(node, classes) for line in _own_fields(one)]
    parts = [part for line in fields for part in ast.walk(line.annotation)]
    return {part.id for part in parts if isinstance(part, ast.Name)} - set(dir(builtins))


def _constructor(node: ast.ClassDef, classes: Classes) -> list[str]:
    """Return the lines of a constructor that sets inherited fields, then the class's own."""
    family = _family(node, classes)
    arguments, lines = ["self"], []
    for line in (line for cls in family for line in _own_fields(cls)):
        name, maker = ast.unparse(line.target), _maker(line)
        if not maker:
            default = f" = {ast.unparse(line.value)}" if line.value else ""
            arguments.append(f"{name}: {ast.unparse(line.annotation)}{default}")
            lines.append(f"self.{name} = {name}")
        elif maker != "unset":
            assert isinstance(line.value, ast.Call)
            made = line.value.args[0]
            text = ast.unparse(made.body if isinstance(made, ast.Lambda) else made)
            if maker == "fresh" and not isinstance(made, ast.Lambda):
                text = EMPTY.get(text, f"{text}()")
            lines.append(f"self.{name} = {text}")
    lines += [line for cls in family[-1:] for line in _rest(cls)]
    return [f"def __init__({', '.join(arguments)}) -> None:", *lines] if lines else []


def _rest(node: ast.ClassDef) -> list[str]:
    """Return the lines that a class runs after its fields are set, and take them out of it."""
    rest = [
        statement for statement in node.body if getattr(statement, "name", "") == "__post_init__"
    ]
    for method in rest:
        node.body.remove(method)
    body = [ast.unparse(line) for method in rest for line in getattr(method, "body", [])]
    return "\n".join(body).splitlines()


def _write_out(node: ast.ClassDef, constructor: list[str]) -> None:
    node.decorator_list = [ast.parse(_note(node), mode="eval").body]
    for line in _own_fields(node):
        line.value = None
    if constructor and _own_fields(node):
        node.body += ast.parse("\n    ".join(constructor)).body


class _Copies(ast.NodeTransformer):
    """Writes out `shallow(self)` of a class that no other inherits from."""

    def __init__(self, node: ast.ClassDef, every: Classes) -> None:
        self._name = node.name
        self._family = _family(node, every)

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | list[ast.stmt]:
        return self._copied() if ast.unparse(node) == "twin = shallow(self)" else node

    def visit_Return(self, node: ast.Return) -> ast.stmt | list[ast.stmt]:
        if ast.unparse(node) != "return shallow(self)":
            return node
        return [*self._copied(), *ast.parse("return twin").body]

    def _copied(self) -> list[ast.stmt]:
        names = [name for one in self._family for name in _field_names(one)]
        lines = [f"twin.{name} = self.{name}" for name in names]
        return ast.parse("\n".join([f"twin = {self._name}.__new__({self._name})", *lines])).body


def _field_names(node: ast.ClassDef) -> list[str]:
    """Return the names of a class's own fields, declared or in its slots."""
    for line in node.body:
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "__slots__":
            return list(ast.literal_eval(line.value))
    return [ast.unparse(line.target) for line in _own_fields(node)]
