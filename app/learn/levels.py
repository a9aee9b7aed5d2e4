"""Pages of the levels: "Can you lose it?", each on the stage of a run."""

from __future__ import annotations

from flask import Blueprint, redirect, render_template
from werkzeug.wrappers import Response

from app.questions.levels import level_named
from app.server import visitor
from app.server.services import services
from app.web import pages
from app.web.moments import address
from engine.learn.levels import levels
from engine.model.profiles import get_profile

blueprint = Blueprint("levels", __name__)


@blueprint.get("/levels")
def listed() -> str:
    lang = visitor.lang()
    cards = [
        {
            "slug": level.slug,
            "title": level.title[lang],
            "goal": level.goal[lang],
            "kafka": get_profile(level.profile).stands_for,
            "par": level.par,
        }
        for level in levels().values()
    ]
    return render_template("learn/levels.html", cards=cards)


@blueprint.get("/levels/<slug>")
def level(slug: str) -> str:
    """Render the stage of a level; ``moves`` of the address are played by the page."""
    level, lang = level_named(slug), visitor.lang()
    order = list(levels())
    place = order.index(slug) + 1
    run = level.beginning
    digest = services().replays.register(run)
    with services().replays.using(digest) as replay:
        begun = replay.total
    return pages.animator(
        run.scenario,
        run,
        step=begun,
        level={
            "slug": slug,
            "title": level.title[lang],
            "place": f"{place}/{len(order)}",
            "goal": level.goal[lang],
            "hint": level.hint[lang],
            "par": level.par,
            "first": len(level.first),
            "text": run.text(),
            "next": f"/levels/{order[place]}" if place < len(order) else "/levels",
        },
    )


@blueprint.get("/challenges")
@blueprint.get("/challenges/<slug>")
def challenge(slug: str = "") -> Response:
    """Redirect from the address of a challenge to the level that it became, or to all of them."""
    now = next((level.slug for level in levels().values() if slug in level.was), "")
    return redirect(address(f"/levels/{now}".rstrip("/"), **visitor.lang_query()), 301)
