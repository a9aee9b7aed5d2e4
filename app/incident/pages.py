"""An incident in the browser: brokers' files are uploaded, read once, and deleted.

What reads them is what `highwater incident` reads them with.  They lie in a directory of their own
that lives as long as the request.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final, TypedDict

from flask import Blueprint, Response, render_template, request
from werkzeug.datastructures import FileStorage

from app.admission.bodies import FILES_BYTES
from app.admission.cpu_quota import CpuBudget
from app.core.refusals import RequestError
from app.core.words import OF_APP
from app.incident import reconstruction, render, sources, timeline
from app.incident.events import partition_named
from app.incident.files import IncidentFile
from app.incident.formats import FORMATS
from app.incident.reconstruction import Rebuilt
from app.incident.timeline import Timeline
from app.questions.names import RUN_BYTES
from app.server import visitor
from app.server.services import services
from app.web.api import json_answer
from engine.model.errors import InputError
from engine.model.languages import read_words
from engine.model.phrases import catalogue, join, translate, with_values
from engine.model.profiles import get_profile

blueprint = Blueprint("incident", __name__)

FILES_PATH: Final = "/incident/read"
MOST_FILES: Final = 200
MOST_PARTS: Final = 8
"""Of a path: folders below each other."""
MOST_STATES: Final = 300
MOST_ROWS: Final = 2_000
MOST_NAMED: Final = 40
MOST_COMPLAINTS: Final = 3
LONGEST: Final = 120
_GIVEN: Final = re.compile(r"(\d{1,6}|K)=(.+)")
_NOT_IN_NAMES: Final = re.compile(r"[^\w.=@+-]+")


class IncidentStory(TypedDict):
    """Story of a partition, of which the run is null where no state of its record is known.

    `rows`: [ms since the first, node, sentence, whether it is grave], and `more` that are left
    out; `clocks`: [node, least, most ms]; `followed` of `states` are reached by the model.
    """

    partition: str
    kafka: str
    replicas: list[int]
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


@blueprint.get("/incident")
def page() -> str:
    """Render a place to drop files on."""
    boot = {
        "lang": visitor.lang(),
        "most": FILES_BYTES,
        "files": MOST_FILES,
        "path": FILES_PATH,
    }
    rows = [row for one in FORMATS for row in one.rows]
    return render_template("incident/page.html", boot=boot, formats=rows)


@blueprint.post(FILES_PATH)
def read_files() -> Response:
    """Return the story and the run of uploaded files.

    They are a form with `file` parts whose names are paths, and perhaps a `partition`; `choose` is
    returned where the files name several partitions.
    """
    visitor.require_token()
    request.max_form_parts = MOST_FILES + 2
    given = request.files.getlist("file")
    if not given:
        raise RequestError("invalid", what="file")
    # A thread that reads files plays a run at its end: it waits at the gate for plays.
    with services().plays.turn(), tempfile.TemporaryDirectory(prefix="highwater-incident-") as root:
        arguments, known = _laid_out(Path(root), given)
        try:
            answer = _investigated(arguments, known, request.form.get("partition", "")[:260])
        except InputError as bad:
            raise InputError(bad.code, _worded(_without(root, bad.sentence))) from None
        answer["notes"] = [_worded(_without(root, note)) for note in answer["notes"]]
    return json_answer({"ok": True, **answer})


def _laid_out(root: Path, given: list[FileStorage]) -> tuple[tuple[str, ...], dict[Path, str]]:
    """Write the files below `root`, under the names they came with as far as those are names.

    What `highwater incident` would be called with, and path -> name.
    """
    known: dict[Path, str] = {}
    arguments: dict[str, None] = {}
    for number, file in enumerate(given):
        name = file.filename or "file"
        parts = [_NOT_IN_NAMES.sub("_", one)[:LONGEST] for one in re.split(r"[/\\]", name)]
        parts = [one for one in parts if one.strip(".")][-MOST_PARTS:] or ["file"]
        owner = _GIVEN.fullmatch(parts[-1])
        whose = root / (f"of_{owner[1]}" if owner else "all")
        if owner:
            parts[-1] = owner[2]
        path = whose.joinpath(*parts)
        if path in known or path.is_dir():  # two of one name are two files
            path = whose.joinpath(str(number), *parts[-2:])
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            file.save(path)
        except OSError:
            raise RequestError("invalid", what=name[:LONGEST]) from None
        known[path] = name[:260]
        arguments[f"{owner[1]}={whose}" if owner else str(whose)] = None
    return tuple(arguments), known


def _worded(sentence: str) -> str:
    """Return the sentence in the visitor's language."""
    return translate(sentence, visitor.lang(), known_in(visitor.lang()))


@cache
def known_in(language: str) -> Mapping[str, str]:
    """Return the engine's templates in a language and, before them, those of this feature."""
    return {**catalogue(language), **words_in(language)}


@cache
def words_in(language: str) -> dict[str, str]:
    """Return the templates of timelines and findings in a language; none in English."""
    return read_words(OF_APP / f"incident.{language}.json")


def _without(root: str, sentence: str) -> str:
    """Return a sentence with files named as the visitor names them."""
    places = re.compile(re.escape(root) + r"(?:/(?:all|of_\w+)/?)?")
    return with_values(sentence, lambda text: places.sub("", text))


def _investigated(
    arguments: tuple[str, ...], known: dict[Path, str], partition: str
) -> IncidentStory | PartitionChoice:
    found: list[IncidentFile] = []
    for argument in arguments:
        try:
            found += sources.readable_files((argument,))
        except InputError as bad:
            if bad.code == "too_large":
                raise
    useless = list(_useless(found, known))
    if not found:
        raise InputError("unknown", useless[0] if useless else "There is no file.")
    complaints: list[str] = []
    counted = timeline.partitions(found, complaints.append)
    wanted = partition_named(partition) if partition else None
    if wanted is None and len(counted) != 1:
        if not counted:
            raise InputError("unknown", join([render.NOTHING, *complaints[:MOST_COMPLAINTS]], " "))
        choose: list[list[str | int]] = [
            [str(one), n] for one, n in counted.most_common(MOST_NAMED)
        ]
        return {"choose": choose, "notes": useless}
    told = timeline.gather(found, wanted or next(iter(counted)))
    if not told.states:
        return _timeline_json(told, None, useless)
    if len(told.states) > MOST_STATES:
        raise RequestError("too_large", "too_large.states", n=len(told.states), most=MOST_STATES)
    budget = CpuBudget(services().settings.build_cpu_s)
    return _timeline_json(told, reconstruction.rebuild(told, between=budget.check), useless)


def _useless(found: list[IncidentFile], known: dict[Path, str]) -> Iterator[str]:
    """Yield one sentence for each file that is not read, and does not belong to one that is."""
    read = {source.path for source in found}
    used = {folder for path in read for folder in (path.parent, path.parent.parent)}
    for path, name in known.items():
        if path in read or (sources.is_of_kafka(path) and path.parent in used and "/" in name):
            continue
        yield sources.unread(name, path)


def _timeline_json(told: Timeline, rebuilt: Rebuilt | None, useless: list[str]) -> IncidentStory:
    """Return the story; without a run where no state of the record is known."""
    rows = list(render.rows(told))
    times = [one.time_ms for one in told.states if one.time_ms is not None]
    first = min(times, default=rows[0][0] if rows else 0.0)
    notes = [*useless, *told.notes]
    story: IncidentStory = {
        "partition": str(told.partition),
        "kafka": told.version,
        "replicas": told.replicas,
        "rows": [
            [round(time_ms - first), who, _worded(what), what.startswith(render.GRAVE)]
            for time_ms, who, what in rows[:MOST_ROWS]
        ],
        "more": max(0, len(rows) - MOST_ROWS),
        "clocks": [
            [node, skew.least, skew.most]
            for node, skew in sorted(told.clocks.skews.items())
            if skew.pairs
        ],
        "disks": len(told.disks),
        "states": len(told.states),
        "profile": None,
        "followed": 0,
        "moves": [],
        "run": None,
        "notes": notes,
        "finding": "",
    }
    if rebuilt is None:
        return {**story, "finding": _worded(render.missing(told))}
    text = rebuilt.run.text()
    whole = len(text.encode()) <= RUN_BYTES
    notes += rebuilt.notes
    if not whole:
        notes.append("The run is too long to be opened here; highwater incident writes it.")
    return {
        **story,
        "profile": get_profile(rebuilt.run.profile).stands_for,
        "followed": rebuilt.followed,
        "finding": _worded(rebuilt.finding),
        "moves": list(rebuilt.run.lines()),
        "run": text if whole else None,
    }
