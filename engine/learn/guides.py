"""Reading guides: a post about Kafka, statement by statement, each with a moment to follow it at.

A guide is a YAML file (docs/how-to/reading-guides.md): sections of statements in words of one's
own; each statement has a run and what is looked at in it, names of Kafka's source, and the proof
from which its verdict in every release is computed (`reading.py`).  No verdict is ever written in a
guide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from engine.learn.claims import claims
from engine.learn.texts import (
    profile_name,
    property_text,
    require,
    run_of,
    scenario_code,
    script_of,
)
from engine.lens.search import names
from engine.lens.source import source
from engine.model.errors import InputError
from engine.model.languages import LANGUAGES
from engine.model.profiles import nearest
from engine.properties.grammar import MOST_CHARACTERS
from engine.scenarios.file import MOST_BYTES, load_value
from engine.scenarios.places import Path as Where
from engine.scenarios.places import Reader
from engine.sim.run import Run
from engine.story.rules import RULES

FOLDER: Final = "guides"
MOST_TEXT: Final = 300
MOST_QUOTED: Final = 160
MOST_SECTIONS: Final = 20
MOST_STATEMENTS: Final = 60
MOST_NAMES: Final = 6
PROOFS: Final = ("claim", "property", "acts", "idle", "has", "calls", "passes", "later", "began")
"""What a verdict is computed from: docs/how-to/reading-guides.md has a sentence on each."""
_FIELDS: Final = (
    "says", "quote", "instead", "item", "run", "kafka", "moves", "first", "shows", "when", "code",
    "missing", *PROOFS,
)  # fmt: skip
_SENTENCE_END: Final = re.compile(r"[.!?][\s\"”’]+\S|[。！？]\s*\S|\n")

Texts = dict[str, str]
"""Language -> text; a text in one language stands for both."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of a post.

    `number` counts from 1 through the guide; `item` is its number in a list of one's own, 0 without
    one. `shows` are cues: the first that acts gives the moment; `when` is a property that gives it
    instead. `proof` is (kind, what). `missing` says why nothing can be followed.
    """

    number: int
    says: Texts
    quote: str
    instead: Texts
    item: int
    scenario: str
    kafka: str
    moves: tuple[str, ...] | None
    first: tuple[str, ...]
    shows: tuple[str, ...]
    when: str
    code: tuple[str, ...]
    proof: tuple[str, str]
    missing: Texts

    def run(self, profile: str = "") -> Run:
        """Return the run that shows it, under the guide's Kafka or another one."""
        return run_of(self.scenario, profile or self.kafka, self.moves, self.first)


@dataclass(frozen=True, slots=True)
class Section:
    title: Texts
    statements: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Guide:
    """`reads`: the exact release whose code the post reads; `post`: its address or ""."""

    name: str
    title: Texts
    lead: Texts
    post: str
    reads: str
    sections: tuple[Section, ...]

    def statements(self) -> Iterator[Statement]:
        for section in self.sections:
            yield from section.statements


def read(text: str, name: str) -> Guide:
    """Read a guide from its file.

    Raises InputError: one sentence, where = "file:line:column".
    """
    value, check = load_value(text, f"{name}.yaml")
    if not isinstance(value, dict):
        raise check.bad((), "A guide is written as a mapping, key: value.")
    fields = check.mapping(value, (), ("title", "lead", "post", "reads", "sections"))
    require(check, fields, ("title", "lead", "reads", "sections"), (), "A guide")
    reads = check.choice(fields["reads"], ("reads",), source().releases)
    listed = check.listing(fields["sections"], ("sections",), MOST_SECTIONS, 1)
    sections: list[Section] = []
    number = 1
    for i, row in enumerate(listed):
        section = _section(check, row, ("sections", i), reads, number)
        number += len(section.statements)
        sections.append(section)
    if number > MOST_STATEMENTS + 1:
        raise check.bad(("sections",), f"A guide has at most {MOST_STATEMENTS} statements.")
    title, lead = (_texts(check, fields[key], (key,)) for key in ("title", "lead"))
    return Guide(name, title, lead, _post(check, fields), reads, tuple(sections))


def _post(check: Reader, fields: Mapping[str, object]) -> str:
    post = check.text(fields.get("post", ""), ("post",), 300)
    if post and not re.fullmatch(r"https?://[^\s\"'<>\\]+", post):
        raise check.bad(("post",), "The address of a post begins with https://.")
    return post


def _section(check: Reader, value: object, path: Where, reads: str, number: int) -> Section:
    fields = check.mapping(value, path, ("title", "statements"))
    require(check, fields, ("title", "statements"), path, "A section")
    listed = check.listing(fields["statements"], (*path, "statements"), MOST_STATEMENTS, 1)
    return Section(
        _texts(check, fields["title"], (*path, "title")),
        tuple(
            _statement(check, row, (*path, "statements", i), reads, number + i)
            for i, row in enumerate(listed)
        ),
    )


def _statement(check: Reader, value: object, path: Where, reads: str, number: int) -> Statement:
    fields = check.mapping(value, path, _FIELDS)
    if "says" not in fields:
        raise check.bad(path, "A statement needs what it says.")
    missing = _optional(check, fields, path, "missing")
    code = "" if missing and "run" not in fields else _code(check, fields, path)
    own, first = script_of(check, fields, path, code)
    kafka = profile_name(check, fields.get("kafka", reads), (*path, "kafka"))
    shows, when = _looked_at(check, fields, path, bool(missing))
    return Statement(
        number,
        _texts(check, fields["says"], (*path, "says")),
        _quote(check, fields, path),
        _optional(check, fields, path, "instead"),
        check.integer(fields.get("item", 0), (*path, "item"), 0, 9999),
        code,
        kafka,
        own,
        first,
        shows,
        when,
        _names(check, fields, path),
        _proof(check, fields, path, shows),
        missing,
    )


def _code(check: Reader, fields: Mapping[str, object], path: Where) -> str:
    if "run" not in fields:
        raise check.bad(path, "A statement needs the run that shows it, or says why none can.")
    return scenario_code(check, fields["run"], (*path, "run"))


def _looked_at(
    check: Reader, fields: Mapping[str, object], path: Where, missing: bool
) -> tuple[tuple[str, ...], str]:
    """Return the cues or the property that give the moment."""
    if ("shows" in fields) == ("when" in fields) and not missing:
        raise check.bad(path, "A statement has either shows, a rule, or when, a property.")
    if "when" in fields:
        return (), property_text(check, fields["when"], (*path, "when"))
    return _cues(check, fields.get("shows", ""), (*path, "shows")), ""


def _cues(check: Reader, value: object, path: Where) -> tuple[str, ...]:
    cues = tuple(part.strip() for part in check.text(value, path, 120).split(",") if part.strip())
    for cue in cues:
        if cue not in RULES:
            hint = nearest(cue, list(RULES))
            raise check.bad(path, f"No rule that a step can show is called {cue[:30]}{hint}")
    return cues


def _names(check: Reader, fields: Mapping[str, object], path: Where) -> tuple[str, ...]:
    """Return names of Kafka's source, each of which at least one release must have."""
    listed = check.listing(fields.get("code", []), (*path, "code"), MOST_NAMES)
    code_names = tuple(check.text(row, (*path, "code", i), 120) for i, row in enumerate(listed))
    for i, name in enumerate(code_names):
        _known_name(check, name, (*path, "code", i))
    return code_names


def _known_name(check: Reader, name: str, path: Where) -> str:
    if not source().spans(name):
        hint = nearest(name, names())
        raise check.bad(path, f"No release of the index has {name[:60]}{hint}", code="unknown")
    return name


def _proof(
    check: Reader, fields: Mapping[str, object], path: Where, shows: tuple[str, ...]
) -> tuple[str, str]:
    """Return the kind of proof and what it asks.

    Without a proof, the statement is proved if one of the rules it shows acts.
    """
    given = [kind for kind in PROOFS if kind in fields]
    if len(given) > 1:
        raise check.bad((*path, given[1]), "A statement has one proof.")
    if not given:
        return ("acts", ", ".join(shows)) if shows else ("", "")
    kind, at = given[0], (*path, given[0])
    text = check.text(fields[kind], at, MOST_CHARACTERS).strip()
    if kind == "claim":
        check.choice(text, at, tuple(claims()))
    elif kind == "property":
        property_text(check, text, at)
    elif kind in ("acts", "idle", "later"):
        if not _cues(check, text, at):
            raise check.bad(at, f"{kind} names a rule.")
    elif kind == "has":
        for name in text.replace(" or ", ", ").split(", "):
            _known_name(check, name, at)
    elif kind == "began":
        name, arrow, release = (part.strip() for part in text.partition(">"))
        if not arrow or release not in source().releases:
            raise check.bad(at, "began is written as name > release.")
        _known_name(check, name, at)
    elif kind == "calls":
        caller, arrow, callee = (part.strip() for part in text.partition(">"))
        if not arrow or not any(source().call(r, caller, callee) for r in source().releases):
            raise check.bad(at, f"In no release of the index {caller[:50]} calls {callee[:50]}.")
    else:
        cues, arrow, name = (part.strip() for part in text.partition(">"))
        if not arrow or not name or not _cues(check, cues, at):
            raise check.bad(at, "passes is written as rule > name.")
    return kind, text


def _quote(check: Reader, fields: Mapping[str, object], path: Where) -> str:
    quote = check.text(fields.get("quote", ""), (*path, "quote"), MOST_QUOTED).strip()
    if _SENTENCE_END.search(quote):
        raise check.bad((*path, "quote"), "A quote is one sentence at most.")
    return quote


def _optional(check: Reader, fields: Mapping[str, object], path: Where, key: str) -> Texts:
    return _texts(check, fields[key], (*path, key)) if key in fields else {}


def _texts(check: Reader, value: object, path: Where) -> Texts:
    """Return {language: text}; a plain text, or one language alone, stands for all."""
    if isinstance(value, str):
        return dict.fromkeys(LANGUAGES, check.text(value, path, MOST_TEXT))
    fields = check.mapping(value, path, LANGUAGES)
    if not fields:
        raise check.bad(path, "A text is missing.")
    sentences = {name: check.text(text, (*path, name), MOST_TEXT) for name, text in fields.items()}
    only = next(iter(sentences.values()))
    return {name: sentences.get(name, only) for name in LANGUAGES}


@cache
def guides() -> dict[str, Guide]:
    """Return the guides that come with the engine, by name, in their order."""
    folder = files("engine.learn") / FOLDER
    texts = {path.name: path for path in folder.iterdir() if path.name.endswith(".yaml")}
    guides_read = {}
    for file in sorted(texts):  # 1-fetcher.yaml: the number is the place in the list.
        name = file.removesuffix(".yaml").partition("-")[2]
        guides_read[name] = read(texts[file].read_text("utf-8"), name)
    return guides_read


def load(path: str | Path) -> Guide:
    """Return the guide in a file.

    Raises InputError.
    """
    path = Path(path)
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(
                "too_large", f"A guide has at most {MOST_BYTES} bytes.", where=f"{path}:1:1"
            )
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        reason = (error.strerror or "unknown reason").lower()
        raise InputError(
            "unknown", "{0} cannot be read: {1}.", path, reason, where=str(path)
        ) from None
    except UnicodeDecodeError:
        raise InputError("invalid", f"{path} is not UTF-8 text.", where=f"{path}:1:1") from None
    return read(text, path.stem)
