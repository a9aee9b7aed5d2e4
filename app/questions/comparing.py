"""Two runs side by side, and one scenario under every generation of Kafka."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NotRequired, TypedDict

from app.core.refusals import RequestError
from app.core.request_fields import RequestFields
from app.questions import names
from app.questions.context import COMPARED_MOST, Answer, Context
from app.questions.names import DIGEST
from engine.export.comparing import compare, playable
from engine.export.thumbnail import draw, telling_step
from engine.export.verdict_by_release import Ending, endings, folded
from engine.model.json_types import Json
from engine.model.profiles import GENERATIONS, PROFILES, get_profile
from engine.replay.replay import Replay
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run
from engine.story.verdict import FIELDS


class PairPart(TypedDict):
    """Place where two runs differ: the number of the pair, and (thing, one's, other's)."""

    at: int
    what: list[list[Any]]


class PairedRuns(TypedDict):
    """Two runs: facts of each, their steps in pairs, and where they differ.

    `engine.export.comparing.compare` has the rest.
    """

    a: Json
    b: Json
    pairs: list[list[int]]
    parts: list[PairPart]
    cut: bool


class LadderRung(TypedDict):
    """End of a scenario under a profile, with its key step (`telling`) and its last one as SVG.

    `meant`: the scenario lists the profile.  Where the run cannot begin, `why` has the reason,
    `digest` is "", and the rest is missing.
    """

    profile: str
    stands_for: str
    meant: bool
    digest: str
    why: str
    step: NotRequired[int]
    total: NotRequired[int]
    verdict: NotRequired[Mapping[str, object]]
    broken: NotRequired[list[str]]
    telling: NotRequired[str]
    final: NotRequired[str]


def other_run(context: Context, run: Run, name: str) -> tuple[Run, str]:
    """Return the run to compare with, by digest or profile, and why it ends early, or "".

    Raises RequestError or InputError.
    """
    if DIGEST.match(name):
        return context.runs.run(name), ""
    profile = get_profile(name).name
    # The script as that profile plays it, where nothing was done by hand.
    return context.compute.apart(playable, Run(run.scenario, profile, run.seed, run.moves))


def other_profile(run: Run) -> str:
    """Return the profile that a run is compared with where a request names none."""
    profiles = [profile for profile in run.scenario.profiles if profile != run.profile]
    order = list(PROFILES)
    own = _promised(run, run.profile)
    others = [
        profile for profile in profiles if profile in order and _promised(run, profile) != own
    ]
    if others and run.profile in order:
        # The nearest one that ends otherwise shows best what made the difference.
        here = order.index(run.profile)
        return min(others, key=lambda profile: abs(order.index(profile) - here))
    return (profiles or [profile for profile in ("K39", "Z0102") if profile != run.profile])[-1]


def _promised(run: Run, profile: str) -> Any:
    return (run.scenario.expectation(profile) or {}).get("verdict")


def pairs(context: Context, request: RequestFields) -> PairedRuns:
    """Compare {run} with {other}, both known.

    Raises RequestError "gone" or "too_large".
    """
    a, b = names.digest_asked(request), names.digest_asked(request, "other")
    context.run = context.runs.run(a)
    # Always in one order, so that requests that compare the two the other way cannot wait for
    # each other for ever.
    first, second = sorted((a, b))
    with context.runs.using(first) as replay:
        if first == second:
            return pair(replay, replay, context.compared_most)
        with context.runs.using(second) as two:
            both = {first: replay, second: two}
            return pair(both[a], both[b], context.compared_most)


def compared(one: Run, other: Run, most: int = COMPARED_MOST) -> PairedRuns:
    """Return the same for two runs that are played for it, as another process does."""
    a = Replay(one)
    b = a if one == other else Replay(other)
    return pair(a, b, most)


def pair(a: Replay, b: Replay, most: int) -> PairedRuns:
    """Return the same for two replays.  Raises RequestError "too_large"."""
    if max(a.total, b.total) > most:
        raise RequestError("too_large", "compare.long", most=most)
    comparison = compare(a, b)
    return {
        "a": a.facts(),
        "b": b.facts(),
        "pairs": comparison["pairs"],
        "parts": comparison["parts"],
        "cut": comparison["cut"],
    }


def folded_endings(
    scenario: Scenario, play: Callable[[Scenario], tuple[Ending, ...]] = endings
) -> Answer:
    """Return {endings: [{kind, span, profiles, broken}]}: the ladder folded, for a run's strip."""
    # A workload is long, and ends as its seed has it: there is no one ending to show.
    shown = () if scenario.workload.producers else play(scenario)
    return {
        "endings": [
            {
                "kind": ending.kind,
                "span": ending.span,
                "profiles": ending.profiles,
                "broken": ending.broken,
            }
            for ending in folded(shown)
        ]
    }


def rungs(scenario: Scenario) -> tuple[LadderRung, ...]:
    """Return the ladder: how the scenario ends under every generation, with its key step as SVG."""
    return tuple(rung(scenario, profile) for profile in GENERATIONS)


def rung(scenario: Scenario, profile: str) -> LadderRung:
    """Return one row: how the run ends under a profile, or why it cannot begin (no digest)."""
    why = scenario.cannot_begin(profile)
    shared: LadderRung = {
        "profile": profile,
        "stands_for": PROFILES[profile].stands_for,
        "meant": profile in scenario.profiles,
        "digest": "",
        "why": why,
    }
    if why:
        return shared
    run, why = playable(Run(scenario, profile), COMPARED_MOST)
    replay = Replay(run, COMPARED_MOST)
    step = telling_step(replay)
    (view,) = replay.steps(step, 1)
    verdict = replay.verdict()
    return {
        **shared,
        "digest": run.digest,
        "why": why,
        "step": step,
        "total": replay.total,
        "verdict": {name: verdict[name] for name in FIELDS},
        "broken": list(dict.fromkeys(breach["invariant"] for breach in verdict["broken"])),
        "telling": draw(view["view"]),
        "final": draw(replay.final_view()),
    }
