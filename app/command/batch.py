"""``highwater batch``: the same batch as on the page, awaited in a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence

from app.batch.wire import BatchResult, BatchSnapshot
from app.core.config import Settings
from app.core.refusals import RequestError
from engine.scenarios import file


class ProgressBar:
    """One line on the error output, written over while the batch goes on."""

    def __init__(self) -> None:
        self._shown = ""
        self._live = sys.stderr.isatty()

    def __call__(self, snapshot: BatchSnapshot) -> None:
        line = f"{snapshot['state']}: {snapshot['done_runs']:,} of {snapshot['total_runs']:,} runs"
        if snapshot["runs_per_s"]:
            line += f", {snapshot['runs_per_s']:,.0f} a second"
        if self._live:
            print(f"\r{line:<{len(self._shown)}}", end="", file=sys.stderr, flush=True)
        elif snapshot["state"] != self._shown.partition(":")[0]:
            print(line, file=sys.stderr, flush=True)
        self._shown = line

    def end(self) -> None:
        if self._live and self._shown:
            print(file=sys.stderr)


def run_batch(
    settings: Settings,
    scenario: str,
    runs: int,
    profiles: Sequence[str] | None,
    seed: int,
    vary: Sequence[str],
    within: int,
    as_json: bool,
) -> int:
    """Run and report a batch; return 0 done, 1 ended early or failed, 2 bad input."""
    from app import create_app
    from app.batch.result import played
    from app.batch.spec import make_spec, parse_vary
    from app.server.services import KEY, Services

    try:
        spec = make_spec(file.find(scenario), runs, profiles, seed, parse_vary(vary), within)
    except RequestError as refusal:
        print(refusal, file=sys.stderr)
        return 2
    app = create_app(settings)
    services: Services = app.extensions[KEY]
    progress = ProgressBar()
    try:
        result = played(services.jobs, spec, progress)
    finally:
        progress.end()
        services.close()
    if as_json:
        print(json.dumps(result, ensure_ascii=False, indent=1))
    else:
        print("\n".join(lines(result)))
    return 0 if result["state"] == "done" else 1


def lines(result: BatchResult) -> Iterator[str]:
    """Yield the results, profile by profile, with links to failing runs."""
    yield f"{result['state']}, batch {result['id']}, {result['done_runs']:,} runs"
    if result["message"]:
        yield result["message"]
    for cell in result["cells"]:
        where = f"{cell['profile']} {cell['label']}".strip()
        broken = ", ".join(
            f"{name} in {count['hits']:,}"
            for name, count in sorted(cell["broken"].items())
            if count["hits"]
        )
        failed = f"; {cell['errors']:,} more failed" if cell["errors"] else ""
        held = f"broken: {broken}" if broken else "all hold"
        yield f"{where}: {cell['n']:,} runs, {held}{failed}"
    for failure in result["failures"]["rows"][:5]:
        yield (
            f"  {failure['profile']} seed {failure['seed']} breaks {failure['invariant']} "
            f"at step {failure['step']}: {failure['url']}"
        )
