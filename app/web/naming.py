"""Lookup of scenarios and runs by the names in addresses and questions."""

from __future__ import annotations

from difflib import get_close_matches

from flask import request

from app.core.refusals import RequestError
from app.questions import names
from app.server.services import services
from engine.scenarios import file
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run

NEAR = 4
PROFILE_CHARS = 400
"""Longest profile name, with all the flags that are flipped in it."""


def scenario_named(name: str) -> Scenario:
    """Return a library scenario by code or slug, or a saved one by digest.

    Raises `RequestError` "not_found".
    """
    return names.scenario_named(name, services().store.scenario)


def run_named(digest: str) -> Run:
    """Return a live or saved run.

    Raises `RequestError` "not_found" for what is no digest, "gone" for a run this server lacks.
    """
    if not names.DIGEST.match(digest):
        raise RequestError("not_found")
    return services().replays.run(digest)


def in_library(scenario: Scenario) -> bool:
    """Check whether it is, word for word, one of the library."""
    return scenario.digest in names.library_names()


def scenarios_like(name: str) -> list[Scenario]:
    """Return library scenarios whose code or slug is spelled most like an unknown name."""
    named = {scenario.slug: scenario for scenario in file.library().values()}
    named |= {scenario.code.lower(): scenario for scenario in named.values() if scenario.code}
    near = get_close_matches(name.lower(), list(named), NEAR, 0.6) if name else []
    return list({named[slug].slug: named[slug] for slug in near}.values())


def profile_asked(name: str = "profile") -> str:
    """Return the profile in the address, or ""; there the + of a flag reads as a space."""
    return request.args.get(name, "")[:PROFILE_CHARS].replace(" ", "+")
