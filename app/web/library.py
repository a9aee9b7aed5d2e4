"""The page of all scenarios: filtered and ranked cards, saved scenarios, and the canvas."""

from __future__ import annotations

from dataclasses import dataclass, field

from flask import Blueprint, Response, render_template, request, url_for

from app.core.refusals import located
from app.find.index import MAX_QUERY_LENGTH
from app.find.pages import OF_KAFKA, matching, others
from app.learn.cards import LibraryCard, cards, pictures, pictures_version, with_outcomes
from app.recordings.page import badge
from app.server import visitor
from app.server.edition import FOR_EVER
from app.server.services import services
from app.web import naming
from engine.lens.search import search
from engine.model.profiles import PROFILES
from engine.scenarios import file
from engine.scenarios.scenario import TAGS

blueprint = Blueprint("shelf", __name__)

CANVAS = "S60"
"""The scenario to build one's own in."""


@dataclass(frozen=True)
class LibraryFilter:
    """Filter of the library; empty means anything."""

    query: str = ""
    tags: tuple[str, ...] = ()
    difficulty: str = ""
    profile: str = ""
    loss: bool = False
    """Only scenarios in which an acknowledged record goes, under `profile` where one is named."""
    ranks: dict[str, int] = field(default_factory=dict)
    """Slug -> rank of the scenarios that match the query."""

    @staticmethod
    def asked() -> LibraryFilter:
        """Parse the address.  An unknown word is ignored."""
        args = request.args
        query = " ".join(args.get("q", "")[:MAX_QUERY_LENGTH].split())
        return LibraryFilter(
            query,
            tuple(tag for tag in TAGS if tag in args.getlist("tag")),
            args.get("difficulty", "") if args.get("difficulty") in ("1", "2", "3") else "",
            naming.profile_asked(),
            args.get("end") == "loss",
            {slug: rank for rank, slug in enumerate(matching(query))},
        )

    def fits(self, card: LibraryCard) -> bool:
        return (
            (not self.query or card["slug"] in self.ranks)
            and (not self.tags or any(tag in card["tags"] for tag in self.tags))
            and self.difficulty in ("", str(card["difficulty"]))
            and (not self.profile or any(v["profile"] == self.profile for v in card["verdicts"]))
            and (
                not self.loss
                or self.profile in card["lost"]
                or (not self.profile and card["lost"] != [])
            )
        )


@blueprint.get("/scenarios")
def library() -> str:
    """Render every scenario of the library with its verdicts; works without JavaScript."""
    listed = cards(file.library().values(), visitor.lang())
    real = {scenario.slug: badge(scenario) for scenario in file.library().values()}
    chosen = LibraryFilter.asked()
    every = sorted(listed, key=lambda card: chosen.ranks.get(card["slug"], len(listed)))
    shown = [card for card in every if chosen.fits(card)]
    profiles = [verdict["profile"] for card in every for verdict in card["verdicts"]]
    digests = {card["digest"] for card in every}
    saved = services().store.at_hand(owner=visitor.owner())
    return render_template(
        "library.html",
        unreadable=[located(bad) for bad in file.unreadable().values()],
        cards=[{**with_outcomes(card), "seen": real[card["slug"]]} for card in every],
        shown={card["slug"] for card in shown},
        wanted=chosen,
        found=others(chosen.query, visitor.lang()),
        slugs=list(chosen.ranks),
        methods=len(search(chosen.query)) if OF_KAFKA.search(chosen.query) else 0,
        tags=TAGS,
        profiles=[name for name in PROFILES if name in profiles],
        kafkas=PROFILES,
        own=[row for row in saved if row.digest not in digests],
        canvas=next((card for card in every if card["code"] == CANVAS), None),
        pictures=url_for("shelf.sheet", version=pictures_version()),
    )


@blueprint.get("/pictures/<version>.svg")
def sheet(version: str) -> Response:
    """Return the pictures of the cards.  An old address gets the new ones, but not for ever."""
    response = Response(pictures(), mimetype="image/svg+xml")
    response.set_etag(pictures_version())
    if version == pictures_version():
        response.headers["Cache-Control"] = FOR_EVER
    return response
