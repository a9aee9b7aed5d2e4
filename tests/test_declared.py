"""Classes whose fields are written once: what is made at import, and what is compiled."""

from __future__ import annotations

import ast
import importlib
import inspect
import pickle
import pkgutil
import re
import shutil
from pathlib import Path
from typing import ClassVar

import pytest

import engine
from app.compiled.expand import expand
from app.compiled.extensions import files
from engine.model.copying import fields
from engine.model.declared import begins, declared, fresh, unset
from tests.conftest import ROOT


@declared
class Numbered:
    number: int
    names: ClassVar = ("kind",)
    count: int = begins(3)
    seen: dict[int, str] = fresh(dict)
    due: int = unset()


@declared
class Named(Numbered):
    name: str
    rack: str | None = None


def test_fields_without_a_declarer_are_arguments() -> None:
    one, other = Named(1, "a"), Named(1, "a", rack="r")
    assert (one.number, one.name, one.rack, one.count, one.seen) == (1, "a", None, 3, {})
    assert other.rack == "r" and other.seen is not one.seen
    assert one != Named(1, "a")
    assert not hasattr(one, "due") and not hasattr(one, "__dict__")
    assert fields(Named) == ("name", "rack", "count", "due", "number", "seen")
    one.due = 0
    assert pickle.loads(pickle.dumps(one)).due == 0
    with pytest.raises(TypeError):
        Named(1)  # type: ignore[call-arg]


def constructors(source: str) -> dict[str, ast.arguments]:
    """Return the arguments of the constructors in a module, by class."""
    return {
        node.name: part.args
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef)
        for part in node.body
        if isinstance(part, ast.FunctionDef) and part.name == "__init__"
    }


@pytest.fixture(scope="module")
def expanded_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the engine as it is compiled."""
    folder = tmp_path_factory.mktemp("expanded")
    shutil.copytree(ROOT / "engine", folder / "engine", ignore=shutil.ignore_patterns("*.pyc"))
    expand([folder / name for name in files()])
    return folder


def test_a_compiled_copy_has_the_class_of_its_original(expanded_files: Path) -> None:
    """A method that names a class makes no copies of what inherits from it."""
    for module in pkgutil.walk_packages(engine.__path__, "engine."):
        importlib.import_module(module.name)
    copied = 0
    for name in files():
        module = importlib.import_module(".".join(Path(name).with_suffix("").parts))
        text = (expanded_files / name).read_text("utf-8")
        for kind in re.findall(r"= ([A-Z]\w+)\.__new__\(\1\)", text):
            heirs = getattr(module, kind).__subclasses__()
            assert not [one for one in heirs if one.__module__.startswith("engine.")], kind
            copied += 1
    assert copied > 20


def test_a_compiled_class_is_made_as_its_source_says(expanded_files: Path) -> None:
    compared = 0
    for name in files():
        by_hand = constructors((ROOT / name).read_text("utf-8"))
        expanded = constructors((expanded_files / name).read_text("utf-8"))
        module = importlib.import_module(".".join(Path(name).with_suffix("").parts))
        for kind in expanded.keys() - by_hand.keys():
            own = inspect.signature(getattr(module, kind).__init__).parameters.values()
            assert [one.arg for one in expanded[kind].args] == [one.name for one in own], kind
            given = [one for one in own if one.default is not one.empty]
            assert len(expanded[kind].defaults) == len(given), kind
            compared += 1
    assert compared > 60
