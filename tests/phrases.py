"""Finds the sentences of the engine that a visitor may read, as templates."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from engine.moves.verbs import VERBS

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("checks", "clients", "faults", "model", "moves", "scenarios", "sim",
         "catalogue/bugs.py", "catalogue/promises.py", "study/futures.py", "study/shrink.py",
         "replay/replay.py", "explore", "why", "properties", "lens/lens_json.py", "upgrade",
         "advisor")  # fmt: skip
"""Rooms whose sentences are on pages."""
SENTENCE_AT = {"InputError": 1, "report": 1, "fail": 0, "invalid": 0, "impossible": 0, "bad": 1,
               "_bad": 1, "phrase": 0}  # fmt: skip
"""Call -> the argument that is a sentence."""


def constants(*places: str) -> Iterator[tuple[str, Path, int]]:
    """Every text in the code, docstrings apart."""
    for place in places:
        path = ROOT / place
        for file in [path] if path.suffix else sorted(path.rglob("*.py")):
            tree = ast.parse(file.read_text("utf-8"))
            docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
            for node in ast.walk(tree):
                if not isinstance(node, ast.Constant) or id(node) in docs:
                    continue
                if isinstance(node.value, str):
                    yield node.value, file, node.lineno


def templates() -> dict[str, str]:
    """Every sentence that a call of the engine raises or reports, and where it stands."""
    found = {verb.help: f"the move {verb.name}" for verb in VERBS.values()}
    for room in ROOMS:
        path = ROOT / "engine" / room
        for file in [path] if path.suffix else sorted(path.glob("*.py")):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if not isinstance(node, ast.Call):
                    continue
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                at = SENTENCE_AT.get(name, len(node.args))
                for told in ast.walk(node.args[at]) if at < len(node.args) else ():
                    if isinstance(told, ast.Constant) and isinstance(told.value, str):
                        found.setdefault(told.value, f"{file.name}:{told.lineno}")
    return found
