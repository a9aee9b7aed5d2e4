"""The preview picture of a link to a run, at any of its moments."""

from __future__ import annotations

from functools import partial
from typing import Final

from flask import Blueprint, Response, request

from app.core.request_fields import typed
from app.core.verdict_text import verdict_text
from app.runs import build_tasks
from app.server import visitor
from app.server.services import apart, services
from app.web.api import unless_known
from app.web.naming import run_named
from engine import ENGINE_VERSION
from engine.export.postcard import Postcard, postcard
from engine.export.thumbnail import telling_step
from engine.model.profiles import PROFILES
from engine.scenarios.translated import in_language
from engine.sim.run import Run
from engine.story import story

blueprint = Blueprint("unfurling", __name__)

OPEN: Final = "open"
"""The kind of a picture on which nothing is decided yet."""


@blueprint.get("/r/<digest>/card.png")
def card(digest: str) -> Response:
    """Return a card of 1200 x 630 for a moment of a run.

    ``?step=`` is the moment, beyond the end it is the end, without it the most important one of the
    run.
    """
    run = run_named(digest)
    step = typed(request.args, "step", default=-1)
    lang = visitor.lang()

    def answer() -> Response:
        with services().plays.turn():
            svg = _drawn(run, step, lang)
        return Response(apart(build_tasks.png, svg), mimetype="image/png")

    response = unless_known(f"card-{digest}-{step}-{lang}-{ENGINE_VERSION}", answer)
    response.cache_control.max_age = 3600
    return response


def _drawn(run: Run, step: int, lang: str) -> str:
    with services().replays.using(run.digest) as replay:
        at = telling_step(replay) if step < 0 else min(step, replay.total)
        (here,) = replay.steps(at, 1)
    view = here["view"]
    verdict = here["verdict"] or {"kind": OPEN, "key": "end.open", "records": []}
    row = PROFILES.get(run.profile)
    scenario = in_language(run.scenario, lang)
    plain = {broker["id"]: broker["name"] for broker in view["brokers"]}
    sentences = [story.render(sentence, plain, lang) for sentence in here["say"][:1]]
    return postcard(
        Postcard(
            title=scenario.title,
            version=row.stands_for if row else run.profile,
            verdict=verdict_text(partial(services().words.text, lang), verdict),
            kind=verdict["kind"],
            said=sentences[0] if sentences else "",
            # The point of the script is not given away before it has happened.
            answer="" if verdict["kind"] == OPEN or run.moves is not None else scenario.teaches,
            say=partial(services().words.text, lang),
        ),
        view,
    )
