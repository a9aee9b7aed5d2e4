"""Finds the sentences that the engine words itself: reasons and refusals, as templates {0} {1}."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from app.core.words import Catalogue
from engine.model.configs import CATALOGUE
from engine.moves.move_errors import REFUSALS
from engine.moves.verbs import VERBS

ROOT = Path(__file__).resolve().parent.parent / "engine"
RAISED = (
    "checks",
    "sim",
    "clients",
    "moves",
    "faults",
    "scenarios",
    "model",
    "catalogue/promises.py",
    "study/futures.py",
    "study/shrink.py",
    "replay/replay.py",
)
"""Where sentences are raised or reported."""
RETURNED = (
    "sim",
    "clients",
    "moves",
    "faults",
    "model/profiles.py",
    "checks",
    "scenarios/places.py",
    "catalogue/promises.py",
)
"""Where functions return them."""
OF_DEVELOPERS = "translated.py"
OF_THE_STORY = "move_errors.py"
"""Its refusals stand in the story's catalogue, by key."""
CALLS = {"report", "InputError", "invalid", "impossible", "fail", "bad", "_bad", "append"}
SENTENCE = re.compile(r".*[a-z]\S* \S.*", re.S)


def sources(places: tuple[str, ...]) -> Iterator[Path]:
    for place in places:
        path = ROOT / place
        yield from [path] if path.suffix else sorted(path.glob("*.py"))


def template(node: ast.expr) -> str | None:
    """The text of a string expression with its values as numbered places, or None."""
    parts = _parts(node)
    if parts is None:
        return None
    numbers = iter(range(99))
    return "".join(part if part is not None else f"{{{next(numbers)}}}" for part in parts)


def _parts(node: ast.expr) -> list[str | None] | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.JoinedStr):
        return [str(one.value) if isinstance(one, ast.Constant) else None for one in node.values]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _parts(node.left), _parts(node.right)
        return None if left is None and right is None else [*(left or [None]), *(right or [None])]
    return None


def _told(node: ast.AST, returns: bool) -> Iterator[ast.expr]:
    """Expressions that may be a sentence on a page."""
    if isinstance(node, ast.Call):
        name = getattr(node.func, "id", getattr(node.func, "attr", ""))
        if name in CALLS:
            yield from node.args
        elif returns and name == "get":
            yield from node.args[1:]
    elif returns and isinstance(node, ast.Dict):
        yield from node.values
    elif isinstance(node, ast.Assign):
        if getattr(node.targets[0], "id", "") in ("sentence", "why"):
            yield node.value
    elif returns and isinstance(node, ast.Return | ast.Lambda | ast.Yield):
        told = node.body if isinstance(node, ast.Lambda) else node.value
        if told is not None:
            yield told


def _branches(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.IfExp):
        yield from _branches(node.body)
        yield from _branches(node.orelse)
    elif isinstance(node, ast.BoolOp):
        for one in node.values:
            yield from _branches(one)
    else:
        yield node


def templates() -> dict[str, str]:
    """Every sentence as a template, and the first place where it stands."""
    found = {verb.help: f"the move {verb.name}" for verb in VERBS.values()}
    keyed = set(REFUSALS.values())
    told = Catalogue().words("zh-Hans")
    for config in CATALOGUE.values():
        if f"config.{config.name}" not in told:
            found[config.meaning] = f"the configuration {config.name}"
    returning = set(sources(RETURNED))
    for path in sources(RAISED):
        if path.name in (OF_DEVELOPERS, OF_THE_STORY):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            for told in _told(node, path in returning):
                for one in _branches(told):
                    text = template(one)
                    if text and SENTENCE.fullmatch(text) and text not in keyed:
                        found.setdefault(text, f"{path.name}:{node.lineno}")
    return found


if __name__ == "__main__":
    for told, where in templates().items():
        print(f"{where}\t{told}")
