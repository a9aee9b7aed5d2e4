"""Practice: one deck of predictions, claims, interview questions and cards of the course.

The browser schedules the cards; without scripts each can be opened and answered.  A prediction is
a page of `app.learn.learning`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final, TypedDict

from flask import Blueprint, redirect, render_template, request
from markupsafe import Markup
from werkzeug.wrappers import Response

from app.core.refusals import RequestError
from app.core.request_fields import whole_number
from app.server import visitor
from app.server.services import services
from app.web import naming
from app.web.moments import MOST_LANES, address, animator, frame
from engine.export.thumbnail import HEIGHT, WIDTH, draw
from engine.learn import judging
from engine.learn.claims import Claim, claims
from engine.learn.course import chapter, stand
from engine.learn.deck import CLAIM, INTERVIEW, PREDICTION, PREDICTIONS, PracticeCard, deck
from engine.learn.interview import Item, moments, questions
from engine.learn.judging import Judgement
from engine.learn.topics import TOPICS
from engine.model.profiles import PROFILES
from engine.scenarios.file import find, library
from engine.scenarios.translated import in_language

blueprint = Blueprint("practice", __name__)

MOST_ON_A_SHEET: Final = 60
TRUE: Final = "true"
FALSE: Final = "false"


class ListedCard(TypedDict):
    """A card of the deck in the visitor's language."""

    card: PracticeCard
    text: str
    href: str
    level: int


class InterviewItem(TypedDict):
    """A question in the visitor's language.

    `then`: the next question, `open`: the address of the moment that it is about.
    """

    id: str
    level: int
    ask: str
    facts: list[str]
    wrong: str
    follow: str
    answer: str
    then: str
    open: str


class JudgedReleases(TypedDict):
    """Releases in a row that judge a claim alike; `href` shows the run of the last."""

    first: str
    last: str
    word: str
    href: str


def href(card: PracticeCard) -> str:
    if card.kind == PREDICTION:
        asked = {"s": card.name, "profile": card.profile, "kind": card.ask}
        return address("/practice/question", **asked)
    return f"/practice/{card.id}"


def _text(card: PracticeCard) -> str:
    """Return what a card asks, in one line."""
    lang = visitor.lang()
    if card.kind == CLAIM:
        return _sentence(card)
    if card.kind == INTERVIEW:
        return questions()[card.name].ask[lang]
    if card.kind == PREDICTION:
        kind = services().words.text(lang, f"learn.kind.{card.ask}", {})
        return f"{kind} · {in_language(find(card.name), lang).title}"
    return chapter(card.name, lang).cards[card.number - 1][0]


def _sentence(card: PracticeCard) -> str:
    said = claims()[card.name].sentence[visitor.lang()]
    if not card.profile:
        return said
    args = {"kafka": PROFILES[card.profile].stands_for, "said": said}
    return services().words.text(visitor.lang(), "practice.under", args)


@blueprint.get("/practice")
def practice() -> str:
    levels = {name: item.level for name, item in questions().items()}
    listed = [
        ListedCard(card=item, text=_text(item), href=href(item), level=levels.get(item.id, 0))
        for item in deck().values()
    ]
    return render_template(
        "learn/practice.html",
        topics=[(topic, [row for row in listed if row["card"].topic == topic]) for topic in TOPICS],
        total=len(listed),
        scenarios=[
            (scenario.code, in_language(scenario, visitor.lang()).title)
            for scenario in library().values()
            if scenario.code
        ],
    )


@blueprint.get("/practice/<name>")
def card(name: str) -> str:
    """Render one card; ``?said=`` answers a claim, ``?profile=`` shows it under another release."""
    card = deck().get(name)
    if card is None:
        slug, _, profile = name.partition("@")
        if slug not in claims() or (profile and profile not in claims()[slug].profiles):
            raise RequestError("not_found")
        card = next(each for each in deck().values() if each.name == slug)
    parts: dict[str, object] = {"card": card, "text": _text(card), "following": _next(card)}
    said = request.args.get("said", "")
    if card.kind == CLAIM:
        parts |= _claim_parts(card, claims()[card.name], said) if said in (TRUE, FALSE) else {}
    elif card.kind == INTERVIEW:
        item = questions()[card.name]
        then = questions()[item.then].ask[visitor.lang()]
        parts |= {"item": _item_json(item), "then": then}
    else:
        parts |= _recall_parts(card)
    return render_template("learn/card.html", **parts)


def _next(card: PracticeCard) -> str:
    """Return the address of the next card of the same kind; after the last one, of the first."""
    alike = [one for one in deck().values() if one.kind == card.kind]
    return href(alike[(alike.index(card) + 1) % len(alike)])


def _claim_parts(card: PracticeCard, claim: Claim, said: str) -> dict[str, object]:
    shown, verdict = judging.shown(claim, naming.profile_asked() or card.profile)
    run = verdict.run(claim, shown)
    lang = visitor.lang()
    title = ""
    if verdict.source == judging.LIBRARY:
        title = in_language(find(verdict.name), lang).title
    return {
        "said": said,
        "right": TRUE if card.right else FALSE,
        "truth": claim.truth[lang],
        "may": claim.may,
        "property": claim.property if verdict.source == judging.OWN else claim.everywhere,
        "questions": [(question, questions()[question].ask[lang]) for question in claim.questions],
        "shown": PROFILES[shown].stands_for,
        "verdict": verdict,
        "title": title,
        "stage": frame(run, verdict.step),
        "open": animator(run, verdict.step),
        "lanes": min(len(run.scenario.partitions[0]), MOST_LANES),
        "rows": list(_releases(card, judging.verdicts()[claim.slug])),
    }


def _releases(card: PracticeCard, row: dict[str, Judgement]) -> Iterator[JudgedReleases]:
    """Yield the releases by verdict, the oldest first."""
    groups: list[tuple[str, list[str]]] = []
    for name, verdict in row.items():
        if not groups or groups[-1][0] != verdict.word:
            groups.append((verdict.word, []))
        groups[-1][1].append(name)
    for word, profiles in groups:
        first, last = (PROFILES[profiles[i]].stands_for for i in (0, -1))
        shown = address(f"/practice/{card.id}", profile=profiles[-1], said=TRUE)
        yield {"first": first, "last": last, "word": word, "href": shown}


def _recall_parts(card: PracticeCard) -> dict[str, object]:
    """Return what a chapter asks to remember, with the last moment that it stops at."""
    translated = chapter(card.name, visitor.lang())
    here = stand([scene for scene in translated.scenes if scene.block == "moment"][-1])
    return {
        "answer": translated.cards[card.number - 1][1],
        "chapter": translated.title,
        "open": animator(here.run, here.step),
    }


def _item_json(item: Item) -> InterviewItem:
    lang = visitor.lang()
    return {
        "id": item.id,
        "level": item.level,
        "ask": item.ask[lang],
        "facts": [fact[lang] for fact in item.facts],
        "wrong": item.wrong[lang],
        "follow": item.follow[lang],
        "answer": item.answer[lang],
        "then": item.then,
        "open": animator(item.run, moments()[item.id]),
    }


@blueprint.get("/practice/sheet")
def sheet() -> str:
    """Render one page for paper: the questions named in ``only``, or those of level 1."""
    names = request.args.get("only", "")[:400].split(",")
    items = [questions()[name] for name in dict.fromkeys(names) if name in questions()]
    items = items or [item for item in questions().values() if item.level == 1]
    return render_template(
        "learn/sheet.html",
        items=[{**_item_json(item), "picture": Markup(_picture(item.id))} for item in items],
        size=(WIDTH, HEIGHT),
    )


@lru_cache(maxsize=MOST_ON_A_SHEET)
def _picture(name: str) -> str:
    """Return the moment that proves the answer, as the inside of an <svg>."""
    item = questions()[name]
    digest = services().replays.register(item.run)
    with services().replays.using(digest) as replay:
        (step,) = replay.steps(moments()[name], 1)
    return draw(step["view"])


# -- addresses of earlier pages -------------------------------------------------------------------


_PLACES: Final = ("n", "mix", "end")
"""Arguments of `/learn` that named places in lists of questions."""
FIRST_MIXED: Final = 13
"""Place of the first question that was asked after twelve on a path."""


def _moved(path: str, without: Iterable[str] = (), **args: str) -> Response:
    left = {name: one for name, one in request.args.items() if name not in without}
    return redirect(address(path, **{**args, **left}), 301)


@blueprint.get("/interview")
@blueprint.get("/interview/sheet")
def interview() -> Response:
    """Redirect to the sheet, or to the deck, which opens the question behind the #."""
    return _moved("/practice/sheet" if request.path.endswith("/sheet") else "/practice")


@blueprint.get("/claims")
def old_claims() -> Response:
    """Redirect to a card, to the form for a property, or to the deck."""
    if "property" in request.args:
        return _moved("/property")
    slug = request.args.get("card", "")
    return _moved(f"/practice/{_present(slug)}" if slug else "/practice", ("card", "show"))


def _present(slug: str) -> str:
    """Return the name that a claim has now.  Raises RequestError where there was none."""
    claim_slug = next(
        (claim.slug for claim in claims().values() if slug in (claim.slug, claim.formerly)), ""
    )
    if not claim_slug:
        raise RequestError("not_found")
    return claim_slug


@blueprint.get("/claims/<slug>")
def old_claim(slug: str) -> Response:
    return _moved(f"/practice/{_present(slug)}")


@blueprint.get("/learn")
def old_questions() -> Response:
    """Redirect to the question that the address names by a number or a run, or to the deck."""
    if request.args.get("s") or request.args.get("run"):
        return _moved("/practice/question", _PLACES)
    place, mixed = (whole_number(request.args.get(name, "0")) or 0 for name in ("n", "mix"))
    if not (place or mixed) or request.args.get("end"):
        return _moved("/practice", _PLACES)
    code, profile, kind, _ = PREDICTIONS[(place or mixed + FIRST_MIXED - 1) % len(PREDICTIONS) - 1]
    return _moved("/practice/question", _PLACES, s=code, profile=profile, kind=kind)
