"""The loop of the first page: one script that real brokers confirmed, under every version.

Eight moments of a run, each a picture and a caption.  Which versions lose the acknowledged message
follows from their release; tests/app/test_loop.py plays each.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, TypedDict

from flask import Blueprint, Response, url_for
from markupsafe import Markup

from app.core.memoize import once
from app.core.refusals import RequestError
from app.server.edition import FOR_EVER, edition
from app.server.services import services
from engine.export import tanks
from engine.export.comparing import playable
from engine.model.languages import LANGUAGES
from engine.model.profiles import GENERATIONS, PROFILES
from engine.replay.replay import Replay
from engine.scenarios import file
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run
from engine.view.wire import StepJson

blueprint = Blueprint("loop", __name__)

CODE: Final = "R20"
FIRST: Final = "Z0102"
"""The version that the page begins with: the last that loses the message."""
WIDTH: Final = 500
HEIGHT: Final = 340
MOMENTS: Final = (6, 8, 9, 11, 13, 14, 16, 19)
"""How many moves of the script have been made at each moment."""
TURN: Final = 6
"""From this moment on the versions part."""


class LoopFrame(TypedDict):
    picture: str
    say: str
    step: int


@dataclass(frozen=True)
class LoopStop:
    """A place of the slider: neighbours that end alike share one."""

    profile: str
    release: str
    lost: bool


def scenario() -> Scenario:
    return next(one for one in file.library().values() if one.code == CODE)


def _replay(profile: str) -> Replay:
    """Return a replay of its own: one that two threads share would be in the midst of a step."""
    return Replay(playable(Run(scenario(), profile))[0])


def _loses(profile: str) -> bool:
    return PROFILES[profile].release <= PROFILES[FIRST].release


@once
def stops() -> tuple[LoopStop, ...]:
    """Return a stop for each generation and the newest release, KRaft's where both exist."""
    last = list(PROFILES)[-1]
    rows = sorted((GENERATIONS | {last: PROFILES[last]}).items(), key=lambda row: row[1].release)
    newest = {profile.release: name for name, profile in rows}
    return tuple(
        LoopStop(name, ".".join(map(str, profile.release)).removesuffix(".0"), _loses(name))
        for name, profile in rows
        if newest[profile.release] == name
    )


@once
def pictured(profile: str) -> tuple[list[tuple[StepJson, int]], int]:
    """Return the step of each moment with its beat, and the highest mark of the run.

    The step is the last one that truncates, else the last of its moves; its beat is that of the
    story to which it belongs.
    """
    replay = _replay(profile)
    steps: list[StepJson] = []
    chosen: StepJson | None = None
    for step in replay.each(0, replay.total + 1):
        if len(steps) == len(MOMENTS):
            break
        if step["line"] >= MOMENTS[len(steps)] and chosen is not None:
            steps.append(chosen)
            chosen = None
        if chosen is None or _cuts(step) or not _cuts(chosen):
            chosen = step
    if chosen is not None and len(steps) < len(MOMENTS):
        steps.append(chosen)
    facts = replay.facts()
    beats: list[int] = [at for at, _ in facts["beats"]]
    pictures = [
        (step, max((at for at in beats if at <= step["n"]), default=step["n"])) for step in steps
    ]
    return pictures, facts["highest"]["0"]


def _cuts(step: StepJson) -> bool:
    return any(one["cut"] for one in step["view"]["partitions"][0]["replicas"].values())


@once
def frame(profile: str, lang: str, number: int) -> LoopFrame:
    """Return one of the moments, counted from 0.

    Its `step` is the beat of the story at which the run's own page opens.
    """
    say = partial(services().words.text, lang)
    moments, highest = pictured(profile)
    step, beat = moments[number]
    end = (".kept", ".lost")[_loses(profile)] if number + 1 >= TURN else ""
    picture = tanks.draw(step["view"], WIDTH, HEIGHT, say=say, prefix="loop-", highest=highest)
    return {"picture": picture, "say": say(f"loop.{number + 1}{end}", {}), "step": beat}


@once
def frames(profile: str, lang: str) -> bytes:
    """Return {"frames": one a moment, "lost": bool} as JSON."""
    told = [frame(profile, lang, number) for number in range(len(MOMENTS))]
    data = {"frames": told, "lost": _loses(profile)}
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode()


def address(profile: str, lang: str) -> str:
    """Return the address of the frames.

    The address names the program that draws them, so they are kept for ever, and no version is
    drawn before it is requested.
    """
    return f"/loop/{profile}/{lang}/{edition() or 'new'}.json"


def hero(lang: str) -> Mapping[str, object]:
    """Return the data of the first page's template."""
    return {
        "scenario": scenario(),
        "first": FIRST,
        "stops": [
            {
                "profile": stop.profile,
                "release": stop.release,
                "lost": stop.lost,
                "frames": address(stop.profile, lang),
                "watch": url_for(
                    "pages.scenario",
                    name=scenario().slug,
                    profile=stop.profile,
                    size="story",
                    play=1,
                ),
            }
            for stop in stops()
        ],
        "begins": _framed(frame(FIRST, lang, 0)),
        "ends": _framed(frame(FIRST, lang, len(MOMENTS) - 1)),
        "moments": len(MOMENTS),
        "size": (WIDTH, HEIGHT),
    }


def _framed(shown: LoopFrame) -> dict[str, str]:
    return {"picture": Markup(shown["picture"]), "say": shown["say"]}


@blueprint.get("/loop/<profile>/<lang>/<digest>.json")
def loop(profile: str, lang: str, digest: str) -> Response:
    """Return the frames of a version, in a language; an old address gets the new ones, for now."""
    if profile not in PROFILES or lang not in LANGUAGES:
        raise RequestError("not_found")
    body = frames(profile, lang)
    response = Response(body, mimetype="application/json")
    response.set_etag(hashlib.sha256(body).hexdigest()[:12])
    if digest == edition():
        response.headers["Cache-Control"] = FOR_EVER
    return response
