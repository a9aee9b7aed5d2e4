"""The one door to YAML: a text becomes a Scenario, or a sentence with file:line:column.

Only plain values are let in: no tags, no anchors or aliases (so nothing can explode), no key twice,
little depth, little text.  The tree is built from the parser's events without recursion.

The library's own files are read by libyaml where it is there, in a tenth of the time.  Other
texts are not: libyaml takes a tab for a space where YAML forbids it, and counts columns
otherwise, so that a text would be right on one machine and wrong on the next.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path as FilePath
from typing import Any, Final

import yaml

from engine.model.declared import begins, declared
from engine.model.errors import InputError
from engine.model.profiles import nearest
from engine.scenarios.places import Path, Places, Reader
from engine.scenarios.scenario import Scenario

MOST_BYTES: Final = 65_536
MOST_DEPTH: Final = 8
MOST_VALUES: Final = 5_000
MOST_TOLD: Final = 600
"""Characters of one translated text."""

FIRST: Final = {"S": 0, "R": 1}
"""Kinds of codes in the order of the library; all others come after them."""

_INT: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,14})")
_FLOAT: Final = re.compile(r"-?[0-9]{1,15}\.[0-9]{1,15}")
_OWN_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_WORDS: Final[dict[str, bool | None]] = {"true": True, "false": False, "null": None, "~": None}


def load_text(text: str, where: str = "scenario", slug: str = "") -> Scenario:
    """Return the scenario that a YAML text describes; `where` is the file's name in messages.

    Raises InputError: one sentence, where = "file:line:column".
    """
    return load_placed(text, where, slug)[0]


def load_placed(
    text: str, where: str, slug: str = "", own: bool = False
) -> tuple[Scenario, Places]:
    """Return the scenario, and the place of each of its values.  Raises InputError."""
    if len(text.encode("utf-8", "replace")) > MOST_BYTES:
        raise InputError(
            "too_large", "A scenario has at most {0} bytes.", MOST_BYTES, where=f"{where}:1:1"
        )
    places = Places(where)
    data = own_tree(text, places) if own else _Tree(places).build(text)
    if slug and isinstance(data, dict):
        data.setdefault("slug", slug)
    return Scenario.from_dict(data, places), places


def load_value(text: str, where: str) -> tuple[Any, Reader]:
    """Return the plain value that a YAML text of ours describes, and what checks it.

    Our own files may be twice as long as uploaded ones.  Raises InputError.
    """
    if len(text.encode("utf-8", "replace")) > 2 * MOST_BYTES:
        raise InputError(
            "too_large", "A file has at most {0} bytes.", 2 * MOST_BYTES, where=f"{where}:1:1"
        )
    places = Places(where)
    return _Tree(places, _OWN_LOADER).build(text), Reader(places)


def load_path(path: str | FilePath) -> Scenario:
    """Return the scenario in a file; its slug is the file's name.  Raises InputError."""
    path = FilePath(path)
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise InputError(
                "too_large", "A scenario has at most {0} bytes.", MOST_BYTES, where=f"{path}:1:1"
            )
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise InputError(
            "unknown", "{0} cannot be read: {1}.", path, reason, where=str(path)
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(
            "invalid", "{0} is not UTF-8 text (byte {1}).", path, error.start, where=f"{path}:1:1"
        ) from None
    slug = re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-")[:80]
    return load_text(text, path.name, slug)


def folder() -> Traversable:
    """Return the folder of the library, with its words in other languages in subfolders."""
    return resources.files("engine.scenarios") / "library"


def library() -> dict[str, Scenario]:
    """Return the scenarios that come with the engine, by slug, in the order of their codes.

    After them come those played on real brokers (R10, ...) and the museum of defects (M01, ...).
    """
    return _shelf()[0]


def unreadable() -> dict[str, InputError]:
    """Return the library's files that are no scenarios, by slug; only these are missing from it.

    The refusal says where and why.
    """
    return _shelf()[1]


@cache
def _library_file(slug: str) -> Scenario:
    """Return one file of the library, read once.  Raises InputError, UnicodeDecodeError."""
    entry = folder() / f"{slug}.yaml"
    return load_placed(entry.read_text("utf-8"), entry.name, slug, True)[0]


def own_tree(text: str, places: Places) -> Any:
    """Return the plain values of a file of the library, which a static site has as JSON.

    A browser has no libyaml, and reads JSON in a fiftieth of the time.
    """
    if text.startswith("{"):
        with suppress(ValueError):
            return json.loads(text)
    return _Tree(places, _OWN_LOADER).build(text)


@cache
def _alone(name: str) -> Scenario | None:
    """Return a scenario of the library without reading the others, as a command needs one only.

    A code stands in a line of its own.  None where all have to be searched.
    """
    line = f"code: {name}".encode()
    for entry in folder().iterdir():
        slug = entry.name.removesuffix(".yaml")
        if slug != entry.name and (slug == name or line in entry.read_bytes().splitlines()):
            try:
                scenario = _library_file(slug)
            except (InputError, UnicodeDecodeError):
                return None
            if name in (scenario.slug, scenario.code):
                return scenario
    return None


@cache
def _shelf() -> tuple[dict[str, Scenario], dict[str, InputError]]:
    scenarios: list[Scenario] = []
    bad: dict[str, InputError] = {}
    for entry in sorted(folder().iterdir(), key=lambda entry: entry.name):
        if not entry.name.endswith(".yaml"):
            continue
        slug = entry.name.removesuffix(".yaml")
        try:
            scenarios.append(_library_file(slug))
        except UnicodeDecodeError as error:
            reason = f"It is not UTF-8 text (byte {error.start})."
            bad[slug] = InputError("invalid", reason, where=f"{entry.name}:1:1")
        except InputError as error:
            bad[slug] = error
    scenarios.sort(key=lambda each: (FIRST.get(each.code[:1], len(FIRST)), each.code, each.slug))
    return {scenario.slug: scenario for scenario in scenarios}, bad


@dataclass(frozen=True, slots=True)
class ScenarioWords:
    """A scenario's words in another language; comments by what they say in the library's own."""

    title: str
    teaches: str
    comments: dict[str, str]


@cache
def translations(language: str) -> dict[str, ScenarioWords]:
    """Return the words of the library in a language, by the code of the scenario."""
    words = folder() / language
    if not words.is_dir():
        return {}
    words_by_code: dict[str, ScenarioWords] = {}
    for entry in sorted(words.iterdir(), key=lambda entry: entry.name):
        where = f"{language}/{entry.name}"
        read = Reader(Places(where))
        document = own_tree(entry.read_text("utf-8"), read.places)
        fields = read.mapping(document, (), ("title", "teaches", "comments"))
        title, teaches = (
            read.text(fields.get(key), (key,), MOST_TOLD) for key in ("title", "teaches")
        )
        comments = read.mapping(fields.get("comments", {}), ("comments",), ())
        by_own = {
            key: read.text(text, ("comments", key), MOST_TOLD) for key, text in comments.items()
        }
        words_by_code[entry.name.removesuffix(".yaml")] = ScenarioWords(title, teaches, by_own)
    return words_by_code


def find(name: str) -> Scenario:
    """Return a scenario by its code (S20), its slug, or the path of a .yaml file.

    Raises InputError "unknown".  A server looks in `library()` only and never calls this with what
    a stranger sent.
    """
    if name.endswith((".yaml", ".yml")):
        return load_path(name)
    alone = _alone(name) if name else None
    if alone is not None:
        return alone
    scenarios = library()
    if name in unreadable():
        raise unreadable()[name]
    for scenario in scenarios.values():
        if name in (scenario.slug, scenario.code) and name:
            return scenario
    names = [*scenarios, *(each.code for each in scenarios.values() if each.code)]
    raise InputError("unknown", "There is no scenario {0}{1}", name[:80], nearest(name, names))


@declared
class _Open:
    """A mapping or list whose end has not come yet."""

    data: dict[str, Any] | list[Any]
    path: Path
    key: str | None = begins(None)


class _Tree:
    """Builds plain values from the parser's events and remembers where each stood."""

    def __init__(self, places: Places, loader: Any = yaml.SafeLoader) -> None:
        self.places = places
        self.loader = loader
        self.stack: list[_Open] = []
        self.result: Any = None
        self.documents = 0
        self.count = 0

    def build(self, text: str) -> Any:
        """Return the value of the only document.  Raises InputError."""
        try:
            for event in self._events(text):
                self._take(event)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            problem = error.problem or "unreadable"
            where = self.places.at(mark.line + 1, mark.column + 1) if mark else ""
            raise InputError("invalid", "This is not YAML: {0}.", problem, where=where) from None
        except yaml.reader.ReaderError as error:
            raise InputError(
                "invalid",
                "Character {0} is not allowed in YAML.",
                error.position + 1,
                where=self.places.at(1, 1),
            ) from None
        if self.documents == 0:
            raise InputError("invalid", "The text is empty.", where=self.places.at(1, 1))
        return self.result

    def _events(self, text: str) -> Iterator[yaml.Event]:
        loader = self.loader(text)
        try:
            while loader.check_event():
                yield loader.get_event()
        except (ValueError, OverflowError):  # of chr() and int(), called with what was written
            mark = loader.get_mark()
            raise InputError(
                "invalid",
                "This is not YAML: a number here is too large.",
                where=self.places.at(mark.line + 1, mark.column + 1),
            ) from None
        finally:
            loader.dispose()

    def _bad(
        self, event: yaml.Event, sentence: str, *values: object, code: str = "invalid"
    ) -> InputError:
        return InputError(code, sentence, *values, where=self.places.at(*_start(event)))

    def _take(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise self._bad(event, "One text holds one scenario, not several documents.")
            return
        if isinstance(event, yaml.AliasEvent):
            raise self._bad(event, "Aliases (*name) are not allowed here.")
        if isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
            closed = self.stack.pop()
            if not self.stack:
                self.result = closed.data
            return
        if not isinstance(event, yaml.NodeEvent):
            return
        if event.anchor is not None:
            raise self._bad(event, "Anchors (&name) are not allowed here.")
        self.count += 1
        if self.count > MOST_VALUES:
            raise self._bad(
                event, "A scenario has at most {0} values.", MOST_VALUES, code="too_large"
            )
        if isinstance(event, yaml.ScalarEvent):
            self._scalar(event)
        elif isinstance(event, yaml.MappingStartEvent):
            self._open(event, {})
        elif isinstance(event, yaml.SequenceStartEvent):
            self._open(event, [])

    def _open(self, event: yaml.CollectionStartEvent, data: dict[str, Any] | list[Any]) -> None:
        if event.tag not in (None, "!"):
            raise self._bad(event, "The tag {0} is not allowed here.", event.tag)
        if len(self.stack) >= MOST_DEPTH:
            raise self._bad(
                event, "This is nested more than {0} deep.", MOST_DEPTH, code="too_large"
            )
        if self.stack and isinstance(self.stack[-1].data, dict) and self.stack[-1].key is None:
            raise self._bad(event, "A key is a plain word.")
        path = self._next_path()
        self._put(event, data, path)
        self.stack.append(_Open(data, path))

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        if event.tag not in (None, "!"):
            raise self._bad(event, "The tag {0} is not allowed here.", event.tag)
        top = self.stack[-1] if self.stack else None
        if top is not None and isinstance(top.data, dict) and top.key is None:
            if event.value in top.data:
                raise self._bad(event, "The key {0} is written twice.", event.value[:60])
            if event.value == "<<":
                raise self._bad(event, "Merge keys (<<) are not allowed here.")
            top.key = event.value
            self.places.keys[(*top.path, event.value)] = _start(event)
            return
        path = self._next_path()
        self._put(event, _value_of(event), path)
        if event.style == "|":
            self._number_lines(event, path)
        if not self.stack:
            self.result = _value_of(event)

    def _number_lines(self, event: yaml.ScalarEvent, path: Path) -> None:
        """Give lines of a literal block places of their own, from 1: ("script", 3)."""
        line, _ = _start(event)
        for number in range(1, event.value.count("\n") + 2):
            self.places.values[(*path, number)] = (line + number, 1)

    def _next_path(self) -> Path:
        if not self.stack:
            return ()
        top = self.stack[-1]
        step: str | int = len(top.data) if isinstance(top.data, list) else (top.key or "")
        return (*top.path, step)

    def _put(self, event: yaml.Event, value: Any, path: Path) -> None:
        self.places.values[path] = _start(event)
        if not self.stack:
            return
        top = self.stack[-1]
        if isinstance(top.data, list):
            top.data.append(value)
        else:
            assert top.key is not None
            top.data[top.key] = value
            top.key = None


def _start(event: yaml.Event) -> tuple[int, int]:
    """Return line and column, from 1."""
    mark = event.start_mark
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)


def _value_of(event: yaml.ScalarEvent) -> str | int | float | bool | None:
    """Return a scalar's value; quoted and block text is text.

    A plain word is a number, true, false or null only when it is written in exactly that way: no
    "yes", no 1:30, no octal.
    """
    text: str = event.value
    if event.style:  # libyaml says "" of a plain word
        return text
    if text == "":
        return None
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text
