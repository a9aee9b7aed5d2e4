"""Output of commands that play a run."""

from __future__ import annotations

import base64
import re
import shlex
import zlib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from app.core.refusals import reproduce
from app.core.verdict_text import verdict_text
from app.core.words import Catalogue
from app.python_api.steps import names_of, step_of
from engine.catalogue import promises
from engine.model.errors import InputError
from engine.model.languages import USUAL
from engine.model.profiles import get_profile
from engine.moves.moves import split
from engine.replay.replay import Replay
from engine.scenarios import file
from engine.scenarios.file import library
from engine.sim.run import MAX_TEXT, Run

_PACKED: Final = re.compile(r"#(?:.*&)?run=2\.(\d{1,9})\.([\w-]*)")
"""A run inside a link, as static/js/core/packing.js writes it."""


def complaints(replay: Replay) -> list[str]:
    """Return the expectations of the scenario for this profile that the run did not meet.

    Moves of one's own, or a profile the scenario says nothing of, are only expected not to break an
    invariant.
    """
    run = replay.run
    if run.moves is None and run.scenario.expectation(run.profile) is not None:
        return promises.play(run.scenario, run.profile, run.seed).complaints
    first: dict[str, str] = {}
    for breach in replay.verdict()["broken"]:
        first.setdefault(
            breach["invariant"], f"step {breach['step']}: {breach['invariant']}: {breach['why']}"
        )
    return list(first.values())


def report(replay: Replay, unkept: list[str]) -> Mapping[str, object]:
    """Return one JSON object: the run, its verdict, and the state it ended in."""
    run = replay.run
    return {
        "run": run.digest,
        "profile": run.profile,
        "seed": run.seed,
        "steps": replay.total,
        "verdict": {**replay.verdict(), "expected": not unkept, "complaints": unkept},
        "final": replay.final_view(),
        "digest": replay.outcome,
    }


def sentences(replay: Replay) -> Iterator[str]:
    names = names_of(replay.run.scenario)
    for step in replay.each(0, replay.total):
        yield str(step_of(step, names))


def verdict_line(replay: Replay) -> str:
    """Return the verdict of the run in a sentence, as its end card on the page says it."""
    return verdict_text(partial(Catalogue().text, USUAL), replay.verdict())


def exported(replay: Replay, form: str) -> str:
    """Return the run in one of the export formats.  Raises InputError for another."""
    from engine.export.exports import FORMATS  # diagrams and tests: most runs are only printed

    if form not in FORMATS:
        names = ", ".join(FORMATS)
        raise InputError("unknown", f"A run cannot be exported as {form[:40]}; known are {names}.")
    return FORMATS[form].make(replay)


def command_of(run: Run) -> str:
    """Return the command that plays a run again; its scenario by name, if it is in the library."""
    slug = run.scenario.slug
    if not slug or library().get(slug) != run.scenario:
        return reproduce(run)
    line = f"highwater run {run.scenario.code or run.scenario.slug} --kafka {run.profile}"
    if run.seed:
        line += f" --seed {run.seed}"
    if run.moves is not None:
        line += f" --moves {shlex.quote('; '.join(run.moves))}"
    return line


def carried(name: str) -> str:
    """Return the text of the run in a page's link, or in an exported .json.

    Else the name itself.  Raises InputError for a link that was damaged.
    """
    match = _PACKED.search(name)
    if match is None:
        path = Path(name)
        if path.suffix != ".json" or not path.is_file() or path.stat().st_size > MAX_TEXT:
            return name
        return path.read_text("utf-8", errors="replace")
    length, data = int(match[1]), match[2]
    if len(data) != length:
        raise InputError(
            "invalid", f"The link is damaged: {len(data)} of {length} characters came."
        )
    try:
        unpacker = zlib.decompressobj()
        text = unpacker.decompress(
            base64.urlsafe_b64decode(data + "=" * (-len(data) % 4)), MAX_TEXT
        )
        if not unpacker.eof:
            raise InputError("too_large", "The link is damaged, or it is too long.")
        return text.decode()
    except (zlib.error, ValueError):
        raise InputError(
            "invalid", "The link is damaged: characters in it were changed. Copy it again."
        ) from None


def run_of(scenario: str, profile: str | None, seed: int, moves: str | None) -> Run:
    """Return the run that a command names.  Raises InputError."""
    text = carried(scenario)
    if text.lstrip().startswith("{"):
        return Run.from_text(text)
    loaded = file.find(scenario)
    name = profile or loaded.profiles[0]
    get_profile(name)
    lines = None if moves is None else split(moves)
    return Run(loaded, profile=name, seed=seed, moves=lines)
