"""The one box: what a pasted text is, line by line, and what it means.

Pure: text in, plain data out.  Formats of tools are read by `app.reading`, logs by
`app.incident`, bugs are found by their lines, and a question is searched for.
"""

from __future__ import annotations

from itertools import groupby
from typing import Final, TypedDict

from app.cluster.quorum import QuorumJson, quorum_of
from app.find.answers import Result, results
from app.find.meaning import explaining, release_named
from app.incident.story import IncidentStory, PartitionChoice, story_of_text
from app.reading.facts import Facts
from app.reading.formats import BY_NAME
from app.reading.kinds import NamedLine
from app.reading.secrets import masked
from engine.catalogue import bugs as known_bugs
from engine.catalogue.bug_matching import fitting, printing
from engine.catalogue.bugs import LedgerEntry
from engine.model.errors import InputError
from engine.model.flags import release_of
from engine.model.json_types import Json
from engine.model.languages import USUAL

MOST_NAMED: Final = 40
MOST_BUGS: Final = 8
MOST_HITS: Final = 6
MOST_LINES_FOR_BUGS: Final = 400
MOST_WORDS_OF_A_NAME: Final = 4
"""Of a bare error, which finds bugs by its name too; a line finds those that print it."""
FATAL: Final = " FATAL "
"""In the lines that stand above all others."""
SHORT: Final = 600
"""Characters of a text that may be a question, a bare error or a release."""
OF_STORY: Final = ("isr_shrinks", "isr_grows", "truncates", "fetcher_added", "fetcher_removed",
                   "out_of_memory", "disk_full", "many_files", "process_ends")  # fmt: skip
"""Kinds of lines that the story of an incident tells itself."""
READ: Final = ("state", "setting", "quorum")
"""Kinds of lines that print no error."""


class LineRun(TypedDict):
    """Lines in a row that are of one kind."""

    first: int
    last: int
    kind: str


class LinkJson(TypedDict):
    """Explanation of a line: a `scenario`, a `rule`, or a `question` of an interview."""

    kind: str
    title: str
    href: str


class NamedJson(TypedDict):
    """A kind of log line: the first of its lines, how many, and what explains it."""

    line: int
    count: int
    key: str
    args: dict[str, str]
    links: list[LinkJson]


class BugJson(TypedDict):
    """A known bug that prints such a line (0: a bug of the release that is the text).

    `hit`: whether the named release has it.
    """

    line: int
    jira: str
    statement: str
    href: str
    hit: bool | None


class BoxJson(TypedDict):
    """All that a text means besides the state of its partitions.

    `story`: an `IncidentStory`, or the partitions to choose from; `without`: why dumps have none;
    `has`: how many known bugs the
    release has that is the text, of which `bugs` are the worst.
    """

    lines: list[LineRun]
    quorum: QuorumJson
    named: list[NamedJson]
    bugs: list[BugJson]
    story: Json | None
    without: str
    hits: list[Result]
    release: str
    has: int
    masked: int


def read_box(
    text: str,
    facts: Facts,
    partition: str,
    language: str,
    title: str = "quorum",
) -> BoxJson:
    """Return what a text means; `facts` are those that were read of it.

    Lines that only this answers are no problems any more.
    """
    text, secrets = masked(text)
    release = release_named(text)
    story, without = _story(text, facts, partition, language)
    excluded = OF_STORY if story is not None and story.get("states") else ()
    understood = bool(
        facts.partitions or facts.logged or story or without or facts.quorum or facts.members
    )
    bugs = _bugs(text, facts, release, language)
    has: list[BugJson] = []
    if release and not (understood or bugs):
        has = [_bug(bug.entry, 0, release, language) for bug in known_bugs.bugs_of(release)]
    hits: list[Result] = []
    if not (understood or release):
        hits = results(text, language, (), MOST_HITS)["hits"]
    if without or (not understood and (release or bugs or hits)):
        facts.answered()
    return {
        "lines": _lines(facts),
        "quorum": quorum_of(facts, title),
        "named": _named(facts, language, excluded),
        "bugs": bugs or has[:MOST_BUGS],
        "story": None if story is None else dict(story),
        "without": without,
        "hits": hits,
        "release": release,
        "has": len(has),
        "masked": secrets,
    }


def _story(
    text: str, facts: Facts, partition: str, language: str
) -> tuple[IncidentStory | PartitionChoice | None, str]:
    """Return the story of logs and dumps; without one, why dumps have none."""
    dumped = "dump" in facts.kinds.values()
    if not facts.logged and not dumped:
        return None, ""
    try:
        return story_of_text(text, partition, language), ""
    except InputError as bad:
        if bad.code != "unknown":
            raise
        return None, bad.sentence if dumped else ""


def _colour(name: str) -> str:
    """Return the kind of lines that a format took; of an answered question, or of no format."""
    if name in BY_NAME:
        return BY_NAME[name].colour
    return "named" if name else "unknown"


def _lines(facts: Facts) -> list[LineRun]:
    numbered = [(number, _colour(name)) for number, name in sorted(facts.kinds.items())]
    runs: list[LineRun] = []
    for number, kind in numbered:
        if runs and runs[-1]["kind"] == kind and runs[-1]["last"] == number - 1:
            runs[-1]["last"] = number
        else:
            runs.append({"first": number, "last": number, "kind": kind})
    return runs


def _named(facts: Facts, language: str, excluded: tuple[str, ...]) -> list[NamedJson]:
    numbered: list[tuple[int, NamedLine]] = [
        (line.number, line.named)
        for line in sorted(facts.logged, key=lambda line: FATAL not in line.text)
        if line.named is not None and line.named.kind.name not in excluded
    ]
    listed = []
    linked: set[str] = set()
    for _, group in groupby(
        numbered, key=lambda entry: (entry[1].kind.name, tuple(entry[1].values.items()))
    ):
        rows = list(group)
        number, named = rows[0]
        shown: NamedJson = {
            "line": number,
            "count": len(rows),
            "key": f"line.{named.kind.name}",
            "args": {name: value[:80] for name, value in named.values.items()},
            "links": [
                {
                    "kind": entry.kind,
                    "title": entry.title.get(language) or entry.title[USUAL],
                    "href": entry.url,
                }
                for entry in explaining(named.kind)
                if entry.url not in linked
            ],
        }
        linked |= {link["href"] for link in shown["links"]}
        listed.append(shown)
    return listed[:MOST_NAMED]


def _bugs(text: str, facts: Facts, release: str, language: str) -> list[BugJson]:
    """Return the known bugs that print one of the lines, each once."""
    lines = [(line.number, line.text) for line in facts.logged[:MOST_LINES_FOR_BUGS]]
    if not facts.partitions and len(text) <= SHORT:
        lines += [
            (number, line)
            for number, line in enumerate(text.splitlines(), 1)
            if _colour(facts.kinds.get(number, "")) not in READ
        ]
    entries: dict[LedgerEntry, int] = {}
    for number, line in lines:
        fits = fitting if len(line.split()) <= MOST_WORDS_OF_A_NAME else printing
        for entry in fits(line, release):
            entries.setdefault(entry, number)
    return [
        _bug(entry, number, release, language)
        for entry, number in list(entries.items())[:MOST_BUGS]
    ]


def _bug(entry: LedgerEntry, line: int, release: str, language: str) -> BugJson:
    return {
        "line": line,
        "jira": entry.jira,
        "statement": entry.said_in(language)[0],
        "href": f"/upgrade?from={release or entry.last_affected}#{entry.jira}",
        "hit": entry.affects(release_of(release)) if release else None,
    }
