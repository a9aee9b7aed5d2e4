"""The picture that goes with the link of a run, at any of its moments."""

from __future__ import annotations

import resvg_py
from flask import Blueprint, Response, request

from app.common.fields import SEED_MAX, typed
from app.common.refusals import Refusal
from app.context import naming, visitor
from app.context.services import services
from app.web.api import unless_known
from engine import ENGINE_VERSION
from engine.model.profiles import PROFILES
from engine.scenarios.translated import in_language
from engine.show.postcard import postcard

blueprint = Blueprint("unfurling", __name__)


@blueprint.get("/r/<digest>/card.png")
def card(digest: str) -> Response:
    """1200 x 630; ``?step=`` is the moment, without it or beyond the end it is the end."""
    if not naming.DIGEST.match(digest):
        raise Refusal("not_found")
    step = typed(request.args, "step", default=SEED_MAX)
    lang = visitor.lang()

    def answer() -> Response:
        with services().plays.turn():
            svg = _drawn(digest, step, lang)
        return Response(resvg_py.svg_to_bytes(svg_string=svg), mimetype="image/png")

    response = unless_known(f"card-{digest}-{step}-{lang}-{ENGINE_VERSION}", answer)
    response.cache_control.max_age = 3600
    return response


def _drawn(digest: str, step: int, lang: str) -> str:
    run = services().replays.run(digest)
    with services().replays.using(digest) as replay:
        (here,) = replay.steps(min(step, replay.total), 1)
        broken = [one for one in replay.verdict()["broken"] if one["step"] <= here["n"]]
    view = here["view"]
    lost = view["ledger"]["lost"]
    kind = "lost" if lost else "broken" if broken else "held"
    verdict = services().words.text(lang, f"end.{kind}", {"m": ", ".join(lost[:4])})
    row = PROFILES.get(run.profile)
    version = f"Kafka · {row.stands_for}" if row else run.profile
    names = {broker["id"]: broker["name"] for broker in view["brokers"]}
    title = in_language(run.scenario, lang).title
    return postcard(title, version, verdict, kind != "held", view, names)
