"""The code lens over HTTP: its releases, and the search by method, class or KIP."""

from __future__ import annotations

from typing import TypedDict

from flask import Blueprint, Response, render_template, request

from app.core.request_fields import typed
from app.learn.glossary import link
from app.server import api_schema, visitor
from app.server.edition import FOR_EVER
from app.server.services import services
from app.web import naming
from app.web.api import json_answer, unless_known
from engine import ENGINE_VERSION
from engine.catalogue.rulebook import title_of
from engine.lens import source as kafka
from engine.lens.lanes import WIDEST, lanes
from engine.lens.lens_json import parse_releases
from engine.lens.search import LONGEST, Act, LensHit, reached, scenarios, search
from engine.lens.source import SourcePlace
from engine.lens.through import through
from engine.model.profiles import get_profile
from engine.replay.replay import Replay
from engine.scenarios import file
from engine.scenarios.translated import in_language
from engine.view.wire import StepJson

blueprint = Blueprint("lens", __name__)

DEFAULT = "K39"
"""Profile of the code where the address names none."""

EXAMPLES = (
    "truncateToEpochEndOffsets",
    "processPartitionData",
    "partitionMapLock",
    "handleOutOfRangeError",
    "DelayedOperationPurgatory",
    "KIP-101",
)


@blueprint.get("/api/lens.json")
@api_schema.declare(api_schema.Releases, asks=api_schema.ProfileAsked)
def releases() -> Response:
    """Return the releases of the index, old to new, with the controllers they have.

    And, with ``?profile=``, the one that it behaves as.
    """
    profile = naming.profile_asked()
    index = kafka.source()
    response = json_answer(
        {
            "ok": True,
            "base": kafka.REPOSITORY,
            "releases": [
                {"name": release, "modes": kafka.modes(release)} for release in index.releases
            ],
            "own": kafka.release_of(get_profile(profile)) if profile else "",
        }
    )
    response.add_etag()
    response.cache_control.no_cache = True
    response.make_conditional(request)
    return response


@blueprint.get("/api/lens/method.json")
@api_schema.declare(api_schema.ReachedJson, asks=api_schema.MethodAsked)
def method() -> Response:
    """Return where a breakpoint on ``?name=`` stops a run of ``?profile=``.

    The methods that are meant, and the cues that have one of them on their stack; none where the
    release lacks it.
    """
    profile = get_profile(naming.profile_asked() or DEFAULT)
    methods, cues = reached(request.args.get("name", ""), kafka.release_of(profile), profile.mode)
    response = json_answer({"ok": True, "methods": methods, "cues": cues})
    response.cache_control.no_cache = True
    return response


@blueprint.get("/api/lens/runs.json")
@api_schema.declare(api_schema.SightingsJson, asks=api_schema.QuestionAsked)
def runs() -> Response:
    """Return the scenarios of the library in which ``?q=`` acts.

    It is a method, a class, a KIP or a JIRA number.
    """
    question = " ".join(request.args.get("q", "")[:LONGEST].split())
    return json_answer({"ok": True, "scenarios": sorted(scenarios(question))})


@blueprint.get("/r/<digest>/threads.json")
def threads(digest: str) -> Response:
    """Return the threads that act at ``?count=`` steps from ``?from=``, in release ``?lens=``.

    They never change, so they are kept for ever.
    """
    first = max(1, typed(request.args, "from", default=1))
    count = min(WIDEST, typed(request.args, "count", default=40))
    release = parse_releases(request.args.get("lens", ""))[0]
    naming.run_named(digest)

    def answer() -> Response:
        with services().replays.using(digest) as replay:
            steps = _window(replay, first - 1, count + 1)
        return json_answer({"ok": True, "first": first, **lanes(steps[1:], release, steps[0])})

    response = unless_known(f"threads-{digest}-{first}-{count}-{release}-{ENGINE_VERSION}", answer)
    response.headers["Cache-Control"] = FOR_EVER
    return response


@blueprint.get("/r/<digest>/through.json")
def through_releases(digest: str) -> Response:
    """Return the chains of step ``?step=`` through all releases, and where they change.

    They never change for one version of the engine, so they are kept for ever.
    """
    number = max(0, typed(request.args, "step", default=0))
    mode = get_profile(naming.run_named(digest).profile).mode

    def answer() -> Response:
        with services().replays.using(digest) as replay:
            (step,) = replay.steps(number, 1)
        return json_answer({"ok": True, "step": step["n"], **through(step, mode)})

    response = unless_known(f"through-{digest}-{number}-{ENGINE_VERSION}", answer)
    response.headers["Cache-Control"] = FOR_EVER
    return response


def _window(replay: Replay, first: int, count: int) -> list[StepJson]:
    """Return up to `count` steps, however many go into one answer of a replay."""
    first = min(first, replay.total)
    end = min(first + count, replay.total + 1)
    steps = replay.steps(first, end - first)
    while first + len(steps) < end:
        steps += replay.steps(first + len(steps), end - first - len(steps))
    return steps


@blueprint.get("/code")
def code() -> str:
    """Render methods, classes, KIPs and JIRA numbers by name: their threads and their runs."""
    question = " ".join(request.args.get("q", "")[:LONGEST].split())
    found = [_hit_json(one) for one in search(question)] if question else []
    return render_template("lens/code.html", question=question, found=found, examples=EXAMPLES)


class HitCard(TypedDict):
    """A method, class or proposal that was found, with its rules and runs.

    `last`: (release, place, address) in the newest release that has it.  A run: (code, title,
    profile, step, address, rule, title of the rule).
    """

    name: str
    kip: bool
    spans: tuple[tuple[str, str], ...]
    last: tuple[str, SourcePlace, str] | None
    threads: tuple[str, ...]
    rules: list[tuple[str, str]]
    runs: list[tuple[str, str, str, int, str, str, str]]


def _hit_json(hit: LensHit) -> HitCard:
    codes = {act.code: act for act in hit.acts}
    return {
        "name": hit.name,
        "kip": hit.kip,
        "spans": hit.spans,
        "last": _place(hit),
        "threads": hit.threads,
        "rules": [(rule, title_of(rule)) for rule in hit.rules],
        "runs": [
            (
                code,
                _title(act.slug),
                act.profile,
                act.step,
                _address(act),
                act.rule,
                title_of(act.rule),
            )
            for code, act in codes.items()
        ],
    }


def _title(slug: str) -> str:
    title: str = in_language(file.library()[slug], visitor.lang()).title
    return title


def _address(act: Act) -> str:
    return link((act.slug, act.profile, act.step))


def _place(hit: LensHit) -> tuple[str, SourcePlace, str] | None:
    """Return (release, place, address) in the newest release that has it."""
    if not hit.spans:
        return None
    release = hit.spans[-1][1]
    place = kafka.source().where(release, hit.name)
    return None if place is None else (release, place, kafka.source().url(release, place))
