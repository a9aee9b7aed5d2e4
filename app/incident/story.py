"""The story of an incident as plain data: of files, or of a text that was pasted.

Pure: paths or a text in, data out.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Final, TypedDict

from app.core.refusals import RequestError
from app.core.words import OF_APP
from app.incident import reconstruction, render, timeline
from app.incident.reconstruction import Rebuilt
from app.incident.timeline import Timeline
from app.incident.verdict import verdict
from app.questions.names import RUN_BYTES
from app.reading import sources
from app.reading.files import IncidentFile
from app.reading.names import partition_named
from engine.model.errors import InputError
from engine.model.languages import read_words
from engine.model.phrases import catalogue, phrase, translate, with_values
from engine.model.profiles import get_profile

MOST_STATES: Final = 300
MOST_ROWS: Final = 2_000
MOST_NAMED: Final = 40
MOST_FILES: Final = 40
"""Files of one paste."""
_HEAD: Final = re.compile(r"==> ([^\r\n]{1,300}) <==\s*$")
"""What `tail -n 1000 *.log` writes above each file."""
_NOT_IN_NAMES: Final = re.compile(r"[^\w.=@+-]+")
MOST_PARTS: Final = 8
"""Of a path: folders below each other."""
LONGEST: Final = 120


class IncidentStory(TypedDict):
    """Story of a partition, of which the run is null where no state of its record is known.

    `began`: time of the first row, in ms, as the logs have it; `rows`: [ms since then, node,
    sentence, whether it is grave], and `more` that are left out; `clocks`: [node, least, most ms];
    `followed` of `states` are reached by the model.
    """

    partition: str
    kafka: str
    replicas: list[int]
    verdict: list[str]
    began: float
    rows: list[list[int | str | bool]]
    more: int
    clocks: list[list[str | float | None]]
    disks: int
    states: int
    profile: str | None
    followed: int
    moves: list[str]
    run: str | None
    notes: list[str]
    finding: str


class PartitionChoice(TypedDict):
    """Partitions that the files name: [name, how often]."""

    choose: list[list[str | int]]
    notes: list[str]


def story_of_text(text: str, partition: str, language: str) -> IncidentStory | PartitionChoice:
    """Return the story of pasted logs or dumps, of one file or of several.

    Raises InputError "unknown" where they show no state.
    """
    with tempfile.TemporaryDirectory(prefix="highwater-pasted-") as root:
        saved = [(name, partial(_write, contents=contents)) for name, contents in _files_in(text)]
        arguments, names = laid_out(Path(root), saved)
        return story_of_files(arguments, names, partition, language, Path(root))


def _write(path: Path, contents: str) -> None:
    path.write_text(contents, "utf-8")


def _files_in(text: str) -> list[tuple[str, str]]:
    """Return the files of a paste, as `tail -n 1000 *.log` prints several: name and contents."""
    parts: list[tuple[str, list[str]]] = [("pasted.log", [])]
    for line in text.splitlines(keepends=True):
        head = _HEAD.match(line)
        if head is not None and len(parts) < MOST_FILES:
            parts.append((head[1], []))
        else:
            parts[-1][1].append(line)
    return [(name, "".join(lines)) for name, lines in parts if lines]


def laid_out(
    root: Path, files: Iterable[tuple[str, Callable[[Path], object]]]
) -> tuple[tuple[str, ...], dict[Path, str]]:
    """Save files (name, how to save it) below `root`, under their names as far as those are names.

    Return what `highwater incident` would be called with, and path -> name.
    """
    names: dict[Path, str] = {}
    arguments: dict[str, None] = {}
    for number, (name, save) in enumerate(files):
        parts = [_NOT_IN_NAMES.sub("_", part)[:LONGEST] for part in re.split(r"[/\\]", name)]
        parts = [part for part in parts if part.strip(".")][-MOST_PARTS:] or ["file"]
        owner = sources.GIVEN.fullmatch(parts[-1])
        whose = root / (f"of_{owner[1]}" if owner else "all")
        if owner:
            parts[-1] = owner[2]
        path = whose.joinpath(*parts)
        if path in names or path.is_dir():  # two of one name are two files
            path = whose.joinpath(str(number), *parts[-2:])
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            save(path)
        except OSError:
            raise RequestError("invalid", what=name[:LONGEST]) from None
        names[path] = name[:260]
        arguments[f"{owner[1]}={whose}" if owner else str(whose)] = None
    return tuple(arguments), names


def story_of_files(
    arguments: tuple[str, ...],
    names: Mapping[Path, str],
    partition: str,
    language: str,
    root: Path,
) -> IncidentStory | PartitionChoice:
    """Return the story of files below `root`, which sentences call by their `names`.

    Raises InputError where they are about no partition.
    """
    try:
        answer = _investigated(arguments, names, partition, language)
    except InputError as bad:
        raise InputError(bad.code, worded(_without(root, bad.sentence), language)) from None
    answer["notes"] = [worded(_without(root, note), language) for note in answer["notes"]]
    return answer


def worded(sentence: str, language: str) -> str:
    return translate(sentence, language, known_in(language))


@cache
def known_in(language: str) -> Mapping[str, str]:
    """Return the engine's templates in a language and, before them, those of this feature."""
    return {**catalogue(language), **words_in(language)}


@cache
def words_in(language: str) -> dict[str, str]:
    """Return the templates of timelines and findings in a language; none in English."""
    return read_words(OF_APP / f"incident.{language}.json")


def _without(root: Path, sentence: str) -> str:
    """Return a sentence with files named as the visitor names them."""
    places = re.compile(re.escape(str(root)) + r"(?:/(?:all|of_\w+|\d+)/?)?")
    return with_values(sentence, lambda text: places.sub("", text))


def _investigated(
    arguments: tuple[str, ...],
    names: Mapping[Path, str],
    partition: str,
    language: str,
) -> IncidentStory | PartitionChoice:
    readable: list[IncidentFile] = []
    for argument in arguments:
        try:
            readable += sources.readable_files((argument,))
        except InputError as bad:
            if bad.code == "too_large":
                raise
    useless = list(_useless(readable, names))
    if not readable:
        raise InputError("unknown", useless[0] if useless else "There is no file.")
    chosen = partition_named(partition) if partition else None
    if chosen is None:
        counted = timeline.partitions(readable)
        if len(counted) > 1:
            choose: list[list[str | int]] = [
                [str(name), n] for name, n in counted.most_common(MOST_NAMED)
            ]
            return {"choose": choose, "notes": useless}
        chosen = next(iter(counted))
    gathered = timeline.gather(readable, chosen)
    if not gathered.states:
        return _timeline_json(gathered, None, useless, language)
    if len(gathered.states) > MOST_STATES:
        raise InputError(
            "too_large",
            phrase(
                "The partition changed {0} times, and at most {1} are played: give the files of "
                "the hours that matter.",
                len(gathered.states),
                MOST_STATES,
            ),
        )
    rebuilt = reconstruction.rebuild(gathered)
    return _timeline_json(gathered, rebuilt, useless, language)


def _useless(files: list[IncidentFile], names: Mapping[Path, str]) -> Iterator[str]:
    """Yield one sentence for each file that is not read, and does not belong to one that is."""
    read = {source.path for source in files}
    used = {folder for path in read for folder in (path.parent, path.parent.parent)}
    for path, name in names.items():
        if path in read or (sources.is_of_kafka(path) and path.parent in used and "/" in name):
            continue
        yield sources.unread(name, path)


def _timeline_json(
    gathered: Timeline, rebuilt: Rebuilt | None, useless: list[str], language: str
) -> IncidentStory:
    """Return the story; without a run where no state of the record is known."""
    rows = list(render.rows(gathered))
    times = [state.time_ms for state in gathered.states if state.time_ms is not None]
    first = min(times, default=rows[0][0] if rows else 0.0)
    notes = [*useless, *gathered.notes]
    story: IncidentStory = {
        "partition": str(gathered.partition),
        "kafka": gathered.version,
        "replicas": gathered.replicas,
        "verdict": [worded(sentence, language) for sentence in verdict(gathered)],
        "began": first,
        "rows": [
            [round(time_ms - first), who, worded(what, language), what.startswith(render.GRAVE)]
            for time_ms, who, what in rows[:MOST_ROWS]
        ],
        "more": max(0, len(rows) - MOST_ROWS),
        "clocks": [
            [node, skew.least, skew.most]
            for node, skew in sorted(gathered.clocks.skews.items())
            if skew.pairs
        ],
        "disks": len(gathered.disks),
        "states": len(gathered.states),
        "profile": None,
        "followed": 0,
        "moves": [],
        "run": None,
        "notes": notes,
        "finding": "",
    }
    if rebuilt is None:
        return {**story, "finding": worded(render.missing(gathered), language)}
    text = rebuilt.run.text()
    whole = len(text.encode()) <= RUN_BYTES
    notes += rebuilt.notes
    if not whole:
        notes.append("The run is too long to be opened here; highwater incident writes it.")
    return {
        **story,
        "profile": get_profile(rebuilt.run.profile).stands_for,
        "followed": rebuilt.followed,
        "finding": worded(rebuilt.finding, language),
        "moves": list(rebuilt.run.lines()),
        "run": text if whole else None,
    }
