"""Lookup of scenarios and runs by the names in links and questions."""

from __future__ import annotations

import re
from difflib import get_close_matches

from flask import request

from app.context.services import services
from app.core.memoize import once
from app.core.refusals import RequestError
from app.core.request_fields import SEED_MAX, RequestFields
from app.storage.saved import parse_run
from engine.model.profiles import get_profile
from engine.scenarios import file
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run

DIGEST = re.compile(r"[0-9a-f]{16}\Z")
NEAR = 4
PROFILE_CHARS = 400
"""Of a profile's name with all the flags that are flipped in it."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,119}\Z")


def scenario_named(name: str) -> Scenario:
    """Return a library scenario by code or slug, or a saved one by digest.

    Raises `RequestError` "not_found".  Names from outside never reach the file system.
    """
    if _NAME.match(name):
        known = library_names()
        found = known.get(name) or known.get(name.upper())
        if found is not None:
            return found
        saved = services().store.scenario(name) if DIGEST.match(name) else None
        if saved is not None:
            return saved
    raise RequestError("not_found", key="not_found.scenario", scenario=name[:120])


@once
def library_names() -> dict[str, Scenario]:
    """Return slug, digest or code -> scenario; cached, as a digest needs the whole text."""
    return {
        name: one
        for one in file.library().values()
        for name in (one.slug, one.digest, one.code)
        if name
    }


def in_library(scenario: Scenario) -> bool:
    """Check whether it is, word for word, one of the library."""
    return scenario.digest in library_names()


def scenarios_like(name: str) -> list[Scenario]:
    """Return library scenarios whose code or slug is spelled most like an unknown name."""
    named = {one.slug: one for one in file.library().values()}
    named |= {one.code.lower(): one for one in named.values() if one.code}
    near = get_close_matches(name.lower(), list(named), NEAR, 0.6) if name else []
    return list({named[one].slug: named[one] for one in near}.values())


def profile_asked(name: str = "profile") -> str:
    """Return the profile in the address, or ""; there the + of a flag reads as a space."""
    return request.args.get(name, "")[:PROFILE_CHARS].replace(" ", "+")


def default_run(scenario: Scenario, profile: str = "", seed: int = 0) -> Run:
    """Return the run a scenario opens with: its script under its first profile, seed 0."""
    name = profile or (scenario.profiles[0] if scenario.profiles else "K39")
    get_profile(name)
    return Run(scenario, profile=name, seed=seed)


def run_asked(asked: RequestFields) -> Run:
    """Return the run an ``open`` names: by text, by digest, or by scenario, profile and seed."""
    if asked.has("text"):
        return parse_run(asked.raw("text"))
    if asked.has("run"):
        return services().replays.run(digest_asked(asked))
    if not asked.has("scenario"):
        raise RequestError("invalid", what="scenario")
    return default_run(
        scenario_named(asked.text("scenario")),
        asked.text("profile", default=""),
        asked.whole("seed", 0, SEED_MAX, default=0),
    )


def digest_asked(asked: RequestFields, name: str = "run") -> str:
    digest = asked.text(name)
    if not DIGEST.match(digest):
        raise RequestError("invalid", what=name)
    return digest


def step_asked(asked: RequestFields, run: str, total: int) -> int:
    """Return a step of this run.  Raises `RequestError` "stale" for one beyond its end."""
    step = asked.whole("step", 0, SEED_MAX, default=0)
    if step > total:
        raise RequestError("stale", run=run, total=total, step=step)
    return step
