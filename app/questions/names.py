"""Names of scenarios and runs in requests: parsing and lookup."""

from __future__ import annotations

import re
from collections.abc import Callable

from app.core.memoize import once
from app.core.refusals import RequestError
from app.core.request_fields import SEED_MAX, RequestFields
from engine.model.profiles import get_profile
from engine.scenarios import file
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run

RUN_BYTES = 64 * 1024
SCENARIO_BYTES = 64 * 1024
DIGEST = re.compile(r"[0-9a-f]{16}\Z")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,119}\Z")


def scenario_named(name: str, saved: Callable[[str], Scenario | None]) -> Scenario:
    """Return a library scenario by code or slug, or a saved one by digest.

    Raises `RequestError` "not_found".  Names from outside never reach the file system.
    """
    if _NAME.match(name):
        names = library_names()
        scenario = names.get(name) or names.get(name.upper())
        if scenario is not None:
            return scenario
        own = saved(name) if DIGEST.match(name) else None
        if own is not None:
            return own
    raise RequestError("not_found", key="not_found.scenario", scenario=name[:120])


@once
def library_names() -> dict[str, Scenario]:
    """Return slug, digest or code -> scenario; cached, as a digest needs the whole text."""
    return {
        name: scenario
        for scenario in file.library().values()
        for name in (scenario.slug, scenario.digest, scenario.code)
        if name
    }


def default_run(scenario: Scenario, profile: str = "", seed: int = 0) -> Run:
    """Return the run a scenario opens with: its script under its first profile, seed 0."""
    name = profile or (scenario.profiles[0] if scenario.profiles else "K39")
    get_profile(name)
    return Run(scenario, profile=name, seed=seed)


def parse_run(text: object) -> Run:
    """Parse a run that a client sent: bounded first, then read strictly."""
    if not isinstance(text, str) or not text:
        raise RequestError("invalid", what="run")
    if len(text.encode("utf-8", "replace")) > RUN_BYTES:
        raise RequestError("too_large", limit=RUN_BYTES)
    return Run.from_text(text)


def digest_asked(request: RequestFields, name: str = "run") -> str:
    """Return the digest in a field of a request.  Raises `RequestError` "invalid"."""
    digest = request.text(name)
    if not DIGEST.match(digest):
        raise RequestError("invalid", what=name)
    return digest


def step_of(request: RequestFields) -> int:
    """Return the step that a request names, 0 without one; it may lie beyond the run's end."""
    return request.whole("step", 0, SEED_MAX, default=0)


def step_asked(request: RequestFields, run: str, total: int) -> int:
    """Return a step of this run.  Raises `RequestError` "stale" for one beyond its end."""
    step = step_of(request)
    if step > total:
        raise RequestError("stale", run=run, total=total, step=step)
    return step
