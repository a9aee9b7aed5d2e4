"""The page of all scenarios: which cards are shown, and what else stands on its shelves."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, Response, render_template, request, url_for

from app.common.refusals import located
from app.context import naming, visitor
from app.context.services import services
from app.web.cards import cards, outcomes, pictures, pictures_version
from app.web.seen import badge
from engine.lens.search import scenarios, search
from engine.model.profiles import PROFILES
from engine.scenarios import file
from engine.scenarios.scenario import TAGS

blueprint = Blueprint("shelf", __name__)

Card = dict[str, Any]

CANVAS = "S60"
"""The scenario to build one's own in."""
LONGEST_QUERY = 80
_OF_KAFKA = re.compile(r"[a-z][A-Z]|^[A-Z][a-z]+[A-Z]|^(?:KIP|KAFKA)-\d+$", re.ASCII)
"""A question that is written like a method or a class of Kafka, a KIP or a JIRA number."""
_WORD = re.compile(r"[\w.]+")


@dataclass(frozen=True)
class Wanted:
    """What the visitor looks for; empty means anything."""

    query: str = ""
    tags: tuple[str, ...] = ()
    difficulty: str = ""
    profile: str = ""
    loss: bool = False
    """Only scenarios in which an acknowledged record goes, under `profile` where one is named."""
    runs: frozenset[str] = frozenset()
    """Slugs of the scenarios in which the method, class, KIP or JIRA number acts."""

    @staticmethod
    def asked() -> Wanted:
        """From the address.  A word that means nothing here is as good as none."""
        args = request.args
        query = " ".join(args.get("q", "")[:LONGEST_QUERY].split())
        return Wanted(
            query,
            tuple(tag for tag in TAGS if tag in args.getlist("tag")),
            args.get("difficulty", "") if args.get("difficulty") in ("1", "2", "3") else "",
            naming.profile_asked(),
            args.get("end") == "loss",
            scenarios(query) if _OF_KAFKA.search(query) else frozenset(),
        )

    def fits(self, card: Card) -> bool:
        text = searched(card)
        return (
            (all(word in text for word in self.query.lower().split()) or card["slug"] in self.runs)
            and (not self.tags or any(tag in card["tags"] for tag in self.tags))
            and self.difficulty in ("", str(card["difficulty"]))
            and (not self.profile or any(v["profile"] == self.profile for v in card["verdicts"]))
            and (
                not self.loss
                or self.profile in card["lost"]
                or (not self.profile and card["lost"] != [])
            )
        )


def searched(card: Card) -> str:
    """The text in which words are looked for: number, title, what it teaches, where from."""
    invariants = [name for one in card["verdicts"] for name in one["invariants"]]
    parts = (card["code"], card["title"], card["teaches"], card["origin"], *invariants)
    return " ".join(parts).lower()


def nearest(query: str, found: Iterable[Card]) -> list[str]:
    """Words of the library that are written like those asked for."""
    vocabulary = sorted({word for card in found for word in _WORD.findall(searched(card))})
    near = [difflib.get_close_matches(word, vocabulary, 3, 0.7) for word in query.lower().split()]
    return list(dict.fromkeys(word for words in near for word in words))[:6]


@blueprint.get("/scenarios")
def library() -> str:
    """Every scenario of the library with its verdicts; works without JavaScript."""
    every = cards(file.library().values(), visitor.lang())
    real = {scenario.slug: badge(scenario) for scenario in file.library().values()}
    wanted = Wanted.asked()
    shown = [card for card in every if wanted.fits(card)]
    profiles = [verdict["profile"] for card in every for verdict in card["verdicts"]]
    known = {card["digest"] for card in every}
    saved = services().store.at_hand(owner=visitor.owner())
    return render_template(
        "library.html",
        unreadable=[located(bad) for bad in file.unreadable().values()],
        cards=[{**card, "outcomes": outcomes(card), "seen": real[card["slug"]]} for card in every],
        shown={card["slug"] for card in shown},
        wanted=wanted,
        near=nearest(wanted.query, every) if not shown else [],
        methods=len(search(wanted.query)) if _OF_KAFKA.search(wanted.query) else 0,
        tags=TAGS,
        profiles=[name for name in PROFILES if name in profiles],
        kafkas=PROFILES,
        own=[row for row in saved if row.digest not in known],
        canvas=next((card for card in every if card["code"] == CANVAS), None),
        pictures=url_for("shelf.sheet", version=pictures_version()),
    )


@blueprint.get("/pictures/<version>.svg")
def sheet(version: str) -> Response:
    """The pictures of the cards.  An old address gets the new ones, but not for ever."""
    response = Response(pictures(), mimetype="image/svg+xml")
    response.set_etag(pictures_version())
    if version == pictures_version():
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
    return response
