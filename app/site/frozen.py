"""Runs that are played when a site is built: their steps and facts as compressed files."""

from __future__ import annotations

import gzip
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, Final

from app.core.json_response import to_json
from app.questions.comparing import folded_endings
from app.questions.context import described
from engine.model.errors import InputError
from engine.model.languages import short
from engine.replay.replay import Replay
from engine.scenarios import file
from engine.sim.run import Run

STEPS_MOST: Final = 4_000
"""Longest run that is frozen; the tab plays a longer one."""
BYTES_MOST: Final = 2_500_000
"""Bytes of JSON that the steps of a frozen run take; the tab plays what comes after."""
PAGE: Final = 32


@dataclass(frozen=True)
class Frozen:
    """One run: its digest, and its files by name."""

    digest: str
    files: dict[str, bytes]


@dataclass(frozen=True)
class FrozenScenario:
    """One library scenario: its runs by profile, and how it ends under every release."""

    slug: str
    runs: dict[str, Frozen]
    endings: bytes


def packed(data: Any) -> bytes:
    """Return JSON, compressed; equal data give equal bytes."""
    return gzip.compress(to_json(data), 9, mtime=0)


def first_steps(replay: Replay) -> bytes:
    """Return the steps of a replay from its start as JSON: all, or as many as are frozen."""
    pages: list[bytes] = []
    size = step = 0
    while step <= replay.total and size < BYTES_MOST:
        steps = replay.steps(step, PAGE)
        pages.append(to_json(steps)[1:-1])
        size += len(pages[-1])
        step += len(steps)
    return b"[" + b",".join(pages) + b"]"


def freeze(text: str, langs: tuple[str, ...]) -> Frozen | None:
    """Play a run; None for one that is too long or cannot be played."""
    run = Run.from_text(text)
    try:
        replay = Replay(run, STEPS_MOST + 1)
    except InputError:
        return None
    if replay.total > STEPS_MOST:
        return None
    files = {f"{run.digest}.bin": gzip.compress(first_steps(replay), 9, mtime=0)}
    for lang in langs:
        facts = {**described(replay, lang), "saved": False}
        files[f"{run.digest}.{short(lang)}.bin"] = packed({"text": text, "facts": facts})
    return Frozen(run.digest, files)


def freeze_scenario(slug: str, langs: tuple[str, ...]) -> FrozenScenario:
    """Play a library scenario under its own profiles, and under every release to its end."""
    scenario = file.library()[slug]
    runs = {}
    for profile in scenario.profiles:
        run = freeze(Run(scenario, profile, 0).text(), langs)
        if run is not None:
            runs[profile] = run
    return FrozenScenario(slug, runs, to_json({"ok": True, **folded_endings(scenario)}))


def freeze_library(
    langs: tuple[str, ...], jobs: int, scenarios: Collection[str] | None = None
) -> Iterator[FrozenScenario]:
    """Yield library scenarios, all or those with these slugs, played by `jobs` processes."""
    slugs = [slug for slug in file.library() if scenarios is None or slug in scenarios]
    if jobs == 1:
        yield from (freeze_scenario(slug, langs) for slug in slugs)
        return
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        yield from pool.map(freeze_scenario, slugs, [langs] * len(slugs), chunksize=4)


def freeze_runs(runs: Iterable[Run], langs: tuple[str, ...]) -> Iterator[Frozen]:
    """Yield the runs that pages of the site show."""
    for run in runs:
        frozen_run = freeze(run.text(), langs)
        if frozen_run is not None:
            yield frozen_run
