"""Classes whose fields are written once: what is made at import, and what is compiled."""

from __future__ import annotations

import ast
import importlib
import inspect
import pickle
from pathlib import Path
from typing import ClassVar

import pytest

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


def test_a_compiled_class_is_made_as_its_source_says(tmp_path: Path) -> None:
    for name in files():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text((ROOT / name).read_text("utf-8"), "utf-8")
    expand([tmp_path / name for name in files()])
    compared = 0
    for name in files():
        by_hand = constructors((ROOT / name).read_text("utf-8"))
        expanded = constructors((tmp_path / name).read_text("utf-8"))
        module = importlib.import_module(".".join(Path(name).with_suffix("").parts))
        for kind in expanded.keys() - by_hand.keys():
            own = inspect.signature(getattr(module, kind).__init__).parameters.values()
            assert [one.arg for one in expanded[kind].args] == [one.name for one in own], kind
            given = [one for one in own if one.default is not one.empty]
            assert len(expanded[kind].defaults) == len(given), kind
            compared += 1
    assert compared > 60
