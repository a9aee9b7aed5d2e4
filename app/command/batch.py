"""``highwater batch``: the same batch as on the page, awaited in a terminal."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

from app import bootstrap
from app.batch.wire import BatchResult, BatchSnapshot
from app.core import config
from app.core.words import Catalogue
from app.storage.batch_fields import BatchState
from engine.model.languages import USUAL
from engine.scenarios import file

if TYPE_CHECKING:
    from app.batch.jobs import Jobs

EVERY_S = 30
"""Between two lines of progress where no terminal is."""
OPENED_MOST = 5


class ProgressBar:
    """Line on the error output: written over in a terminal, elsewhere one every half minute."""

    def __init__(self) -> None:
        self._shown = ""
        self._said = 0.0
        self._live = sys.stderr.isatty()

    def __call__(self, snapshot: BatchSnapshot) -> None:
        line = f"{snapshot['state']}: {snapshot['done_runs']:,} of {snapshot['total_runs']:,} runs"
        if snapshot["runs_per_s"]:
            line += f", {snapshot['runs_per_s']:,.0f} a second"
        if snapshot["left_s"]:
            line += f", about {snapshot['left_s']:,.0f} s left"
        now = time.monotonic()
        if self._live:
            print(f"\r{line:<{len(self._shown)}}", end="", file=sys.stderr, flush=True)
        elif snapshot["state"] != self._shown.partition(":")[0] or now > self._said + EVERY_S:
            print(line, file=sys.stderr, flush=True)
            self._said = now
        self._shown = line

    def end(self) -> None:
        if self._live and self._shown:
            print(file=sys.stderr)


def run_batch(
    overrides: dict[str, str],
    scenario: str,
    runs: int,
    profiles: Sequence[str] | None,
    seed: int,
    vary: Sequence[str],
    within: int,
    as_json: bool,
) -> int:
    """Run and report a batch; return 0 done, 1 ended early or failed.

    Raises InputError or RequestError for bad input.  Only what can be played reads the settings,
    which creates a directory for its results.
    """
    from app.batch.spec import make_spec, parse_vary

    spec = make_spec(file.find(scenario), runs, profiles, seed, parse_vary(vary), within)
    return _played(overrides, lambda jobs: jobs.submit(spec), as_json)


def resume_batch(overrides: dict[str, str], number: str, as_json: bool) -> int:
    """Play what a study of the command line lacks, and report it; return the same."""

    def begin(jobs: Jobs) -> str:
        jobs.resume(number)
        return number

    return _played(overrides, begin, as_json)


@contextmanager
def studies(overrides: dict[str, str]) -> Iterator[tuple[Jobs, ProgressBar]]:
    """Yield the studies of this process and what shows their progress; say where rows are."""
    from app import create_app
    from app.compiled import background
    from app.server.services import KEY, Services
    from app.storage.database import place_of

    bootstrap.ensure("app")
    settings = config.load(None, **overrides)
    if message := background.begin():
        print(message, file=sys.stderr)
    services: Services = create_app(settings).extensions[KEY]
    progress = ProgressBar()
    try:
        yield services.jobs, progress
    finally:
        progress.end()
        services.close()
    print(f"Stored in {place_of(settings.database_url)}", file=sys.stderr)


def _played(overrides: dict[str, str], begin: Callable[[Jobs], str], as_json: bool) -> int:
    from app.batch.result import played

    with studies(overrides) as (jobs, progress):
        result = played(jobs, begin(jobs), progress)
    if as_json:
        print(json.dumps(result, ensure_ascii=False, indent=1))
    else:
        print("\n".join(lines(result)))
    if result["state"] in (BatchState.CANCELLED, BatchState.INTERRUPTED, BatchState.FAILED):
        print(f"Continue with: highwater batch --resume {result['id']}", file=sys.stderr)
    return 0 if result["state"] == "done" else 1


def lines(result: BatchResult) -> Iterator[str]:
    """Yield the findings as on the page, and for each kind of failure what opens its first run."""
    from app.web import display_names

    text = partial(Catalogue().text, USUAL)
    yield f"{result['state']}, study {result['id']}, {result['done_runs']:,} runs"
    if result["message"]:
        yield result["message"]
    for said in result["sentences"]:
        args = display_names.args(said["args"], lambda key: text(key, {}))
        yield text(said["key"], args).replace("\u202f", " ")
    errors = sum(cell["errors"] for cell in result["cells"])
    if errors:
        yield f"{errors:,} runs failed and count nowhere."
    name = result["scenario"]["code"] or result["scenario"]["slug"]
    first = {
        (row["profile"], row["label"], row["invariant"]): row
        for row in reversed(result["failures"]["rows"])
    }
    for failure in list(reversed(first.values()))[:OPENED_MOST]:
        kafka = display_names.kafka(failure["profile"])
        yield f"  {kafka}: {failure['why'] or failure['invariant']}"
        run = f"highwater run {name} --kafka {failure['profile']} --seed {failure['seed']}"
        place = f"highwater serve, and open http://localhost:8000{failure['url']}"
        yield f"    {run if name and not failure['label'] else place}"
