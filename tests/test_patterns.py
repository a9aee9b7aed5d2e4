"""Every regular expression that sees text of a visitor takes linear time.

`re` holds the interpreter's lock while it matches, so one slow pattern stops every other visitor.
Each pattern of `app` and `engine` is attacked: with fixed texts, and for each of its repetitions
with a text that reaches it, repeats it, and fails behind it.
"""

from __future__ import annotations

import ast
import importlib
import itertools
import random
import re
import re._constants as sre
import re._parser as parser
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Set
from functools import cache, partial
from typing import Any, NamedTuple

import pytest

from app.bootstrap import ROOT
from tests.conftest import sample

LENGTHS = 14, 22, 1_000, 4_000
"""Characters of an attack; the shorter ones find what would take years for the last."""
FIXED = (
    "a",
    " ",
    "1",
    "1 2 ",
    "a@",
    "/a",
    '"',
    "'",
    "a.",
    "a, ",
    "a=",
    "[",
    "(",
    "{",
    "\t",
    "-",
    ":",
)
ENDS = ("\0", "\n\0", "a \0", "_")
METHODS = frozenset({"match", "fullmatch", "search"})
SCANS = frozenset({"search", "finditer", "findall", "sub", "subn", "split"})
MOST_ATTACKS = 6
SHARE = 0.2
"""Most time of an attack, as a share of what a quadratic pattern takes for the same length."""
SHARE_OF_BEGINNINGS = 6.0
"""The same for a text that begins again and again: each beginning costs a search the whole length,
and lines are cut before they are searched."""
NOT_FED = (
    "app/bootstrap", "app/command/", "app/compiled/", "app/lab/", "app/python_api/", "app/site/",
    "engine/catalogue/sourcemap",
)  # fmt: skip
"""Modules that read no text of a visitor: commands, and readers of the project's own files."""


class Found(NamedTuple):
    where: str
    pattern: str | bytes
    flags: int
    methods: frozenset[str]
    """How it is used: `search` stands for all that try it at every place of a text."""


# -- all patterns --------------------------------------------------------------------------------


@cache
def compiled() -> tuple[Found, ...]:
    """Return the patterns that the sources of `app` and `engine` compile."""
    found: list[Found] = []
    for path in sorted(path for top in ("app", "engine") for path in (ROOT / top).rglob("*.py")):
        place = path.relative_to(ROOT).as_posix()
        source = path.read_text("utf-8")
        if "import re\n" in source and not place.startswith(NOT_FED):
            name = place.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            found += _of_module(name, place, source)
    return tuple(found)


def _of_module(name: str, place: str, source: str) -> Iterator[Found]:
    known = set()
    for variable, value in vars(importlib.import_module(name)).items():
        for one in _patterns(value):
            if one.pattern in known:
                continue
            known.add(one.pattern)
            calls = _calls(variable, source) or _called_anywhere()[variable] & (METHODS | SCANS)
            calls = calls or _calls(r"\w+", source) - {"split"}
            yield Found(f"{place}: {variable}", one.pattern, one.flags, _used(calls))
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if ast.unparse(node.func.value) == "re" and node.args:
            text = node.args[0]
            if not isinstance(text, ast.Constant) or text.value in known:
                continue
            if isinstance(text.value, str | bytes):
                yield Found(f"{place}:{node.lineno}", text.value, 0, _used({node.func.attr}))


@cache
def _called_anywhere() -> defaultdict[str, set[str]]:
    """Return the methods that are called on a variable of some name, in any source."""
    called: defaultdict[str, set[str]] = defaultdict(set)
    for path in (path for top in ("app", "engine") for path in (ROOT / top).rglob("*.py")):
        for variable, method in re.findall(r"\b(\w+)\.(\w+)\(", path.read_text("utf-8")):
            called[variable].add(method)
    return called


def _used(calls: Set[str]) -> frozenset[str]:
    """Return the methods to attack with, all of them where the calls are not known."""
    used = {"search" if one in SCANS else one for one in calls}
    return frozenset(used & METHODS) or METHODS


def _calls(variable: str, source: str) -> frozenset[str]:
    """Return the methods that a source calls on a pattern of this name."""
    return (METHODS | SCANS) & set(re.findall(rf"\b{variable}\.(\w+)\(", source))


def _patterns(value: Any, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    """Yield the patterns in a value of a module: tables of patterns included."""
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 4 and isinstance(value, dict):
        for one in value.values():
            yield from _patterns(one, depth + 1)
    elif depth < 4 and isinstance(value, tuple | list | set | frozenset):
        for one in value:
            yield from _patterns(one, depth + 1)
    elif depth < 4 and hasattr(type(value), "__dataclass_fields__"):
        for field in type(value).__dataclass_fields__:
            yield from _patterns(getattr(value, field, None), depth + 1)


# -- attacks -------------------------------------------------------------------------------------


def attacks(pattern: str | bytes, flags: int) -> dict[tuple[str, str], float]:
    """Return (beginning, repeated text) of each attack on a pattern -> the share it may take."""
    found = {("", text): SHARE for text in FIXED}
    tree = list(parser.parse(pattern, flags))
    chance = random.Random(1)
    for _ in range(MOST_ATTACKS):
        for before, text in _repeats(tree, "", chance):
            found.setdefault((before, text), SHARE)
            found.setdefault(("", before + text), SHARE_OF_BEGINNINGS)
    return found


def _repeats(items: list[Any], before: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Yield each repetition of a sequence, with a text that leads to it."""
    for op, value in items:
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            _, most, inner = value
            one = _example(inner, chance)
            if most > 50 and one:
                yield before, one
                yield before, one[:1]
            yield from _repeats(list(inner), before, chance)
        elif op is sre.SUBPATTERN:
            yield from _repeats(list(value[-1]), before, chance)
        elif op is sre.BRANCH:
            for branch in value[1]:
                yield from _repeats(list(branch), before, chance)
        elif op in (sre.ASSERT, sre.ASSERT_NOT):
            yield from _repeats(list(value[1]), before, chance)
        before += _example([(op, value)], chance)


def _example(items: Any, chance: random.Random) -> str:
    """Return a text that a sequence matches, as far as it does not depend on its surroundings."""
    text = ""
    for op, value in items:
        if op is sre.LITERAL:
            text += chr(value)
        elif op is sre.NOT_LITERAL:
            text += "a" if value != ord("a") else "b"
        elif op is sre.ANY:
            text += chance.choice("a1 .@/")
        elif op is sre.IN:
            text += _member(value, chance)
        elif op in (sre.MAX_REPEAT, sre.MIN_REPEAT, getattr(sre, "POSSESSIVE_REPEAT", None)):
            least, _, inner = value
            text += "".join(_example(inner, chance) for _ in range(min(max(least, 1), 40)))
        elif op is sre.SUBPATTERN:
            text += _example(value[-1], chance)
        elif op is getattr(sre, "ATOMIC_GROUP", None):
            text += _example(value, chance)
        elif op is sre.BRANCH:
            text += _example(chance.choice(value[1]), chance)
    return text


POOL = "a1 .@/-_:,=[](){}\"'$#%*+?!\t\nbZ<>|;~^&\\é中"


def _member(items: Any, chance: random.Random) -> str:
    """Return a character of a class."""
    known = re.compile(_source_of(items))
    fits = [one for one in POOL if known.match(one)]
    if fits:
        return chance.choice(fits[:3])
    for op, value in items:
        if op is sre.RANGE:
            return chr(value[0])
        if op is sre.LITERAL:
            return chr(value)
    return "a"


CATEGORIES = {
    sre.CATEGORY_DIGIT: r"\d", sre.CATEGORY_NOT_DIGIT: r"\D", sre.CATEGORY_SPACE: r"\s",
    sre.CATEGORY_NOT_SPACE: r"\S", sre.CATEGORY_WORD: r"\w", sre.CATEGORY_NOT_WORD: r"\W",
}  # fmt: skip


def _source_of(items: Any) -> str:
    text = ""
    for op, value in items:
        if op is sre.NEGATE:
            text = "^" + text
        elif op is sre.LITERAL:
            text += re.escape(chr(value))
        elif op is sre.RANGE:
            text += f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
        elif op is sre.CATEGORY:
            text += CATEGORIES[value]
    return f"[{text}]"


# -- time ----------------------------------------------------------------------------------------


def seconds(act: Callable[[], object], most: float) -> float:
    """Return the least time of up to three calls; of one where that is within `most`."""
    least = float("inf")
    for _ in range(3):
        began = time.thread_time()
        act()
        least = min(least, time.thread_time() - began)
        if not most < least < 20 * most:
            break
    return least


@cache
def quadratic() -> float:
    """Return the time that a quadratic pattern takes for the longer text."""
    pattern, text = re.compile("a*b"), "a" * LENGTHS[-1]
    return min(seconds(lambda: pattern.search(text), 0) for _ in range(5))


def slow(found: Found) -> str:
    """Return the attack that takes more than linear time, or ""."""
    pattern = re.compile(found.pattern, found.flags)
    of = (lambda text: text.encode("utf-8")) if isinstance(found.pattern, bytes) else str
    ways = [getattr(pattern, name) for name in sorted(found.methods)]
    for (before, text), share in attacks(found.pattern, found.flags).items():
        most = share * quadratic()
        for length, end, way in itertools.product(LENGTHS, ENDS, ways):
            times = length // len(text) + 1
            attack = of(before + (text * times)[:length] + end)
            if seconds(partial(way, attack), most) > most:
                return f"{way.__name__}({before!r} + {text!r} * {times} + {end!r})"
    return ""


def test_each_pattern_is_linear() -> None:
    found = compiled()
    assert len(found) > 150
    tried = sample(found, 2)
    worst = [f"{one.where}: {attack}  {one.pattern}" for one in tried if (attack := slow(one))]
    assert not worst, "\n".join(worst)


@pytest.mark.parametrize(
    "planted", [r"\S+@\S+.*[$#]", r"(\w+\s*)+:", r"^.*?=.*?=.*?;", r"Topic: (?:a|\w+)*,"]
)
def test_a_planted_pattern_is_found(planted: str) -> None:
    assert slow(Found("planted", planted, 0, frozenset({"match"})))
