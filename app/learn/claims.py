"""Claims as a deck of cards: the reader answers, then sees the verdict and the run.

A list of all sentences follows, and a form that judges a property of the reader's own.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final, NotRequired, TypedDict

from flask import Blueprint, render_template, request

from app.core.memoize import once
from app.core.refusals import RequestError
from app.questions.names import default_run
from app.server import visitor
from app.server.services import apart
from app.web import naming
from app.web.moments import animator, frame
from engine.learn import claims as book
from engine.learn import judging
from engine.learn.claims import Claim
from engine.learn.interview import questions
from engine.learn.judging import Judgement
from engine.model.errors import InputError
from engine.model.profiles import GENERATIONS, PROFILES
from engine.properties.evaluate import Verdict, judge
from engine.properties.facts import FACTS
from engine.properties.recording import MomentRecording
from engine.scenarios.file import find, library
from engine.scenarios.translated import in_language
from engine.sim.run import Run

blueprint = Blueprint("claims", __name__)

WAYS: Final = (
    judging.NEVER,
    judging.UNTIL,
    judging.SINCE,
    judging.SOME,
    judging.HOLDS,
    judging.UNTESTED,
)
ALL: Final = "all"
TRUE: Final = "true"
FALSE: Final = "false"
DEPENDS: Final = "depends"
ANSWERS: Final = (TRUE, FALSE, DEPENDS)
RIGHT: Final = {judging.HOLDS: TRUE, judging.NEVER: FALSE}
"""How a claim stands -> the right answer; of all others DEPENDS."""
USUAL: Final = ("S22", "K39", "eventually (acked(m4) and m4 not in log(leader))")
"""What stands in the form at first: a run, and a property that is not obvious."""


class ClaimCard(TypedDict):
    """A claim; `way`: its verdict over all releases, which changes with `turn` ("": never).

    `key` words the verdict.
    """

    slug: str
    sentence: str
    way: str
    key: str
    turn: str


class OwnProperty(TypedDict):
    """The reader's property on a run; once it is judged, its verdict or the problem with it."""

    s: str
    profile: str
    property: str
    asked: bool
    problem: NotRequired[str]
    holds: NotRequired[bool]
    open: NotRequired[str]
    n: NotRequired[int]


def _card(claim: Claim) -> ClaimCard:
    row = judging.verdicts()[claim.slug]
    way, turn = judging.summary(row)
    whole = all(name in row and row[name].word != judging.UNTESTED for name in GENERATIONS)
    return {
        "slug": claim.slug,
        "sentence": claim.sentence[visitor.lang()],
        "way": way,
        "key": way if whole or way not in RIGHT else f"{way}.tested",
        "turn": PROFILES[turn].stands_for if turn else "",
    }


@once
def deck() -> list[str]:
    """Return the claims in the order of the deck: shuffled, and the same for every visitor."""
    return sorted(book.claims(), key=lambda slug: sha256(slug.encode()).hexdigest())


def _next(slug: str) -> str:
    """Return the next card of the deck; after the last card, return the first."""
    order = deck()
    return order[(order.index(slug) + 1) % len(order)]


@blueprint.get("/claims")
def claims() -> str:
    """Render a card of the deck (``?card=``), or the list with verdicts (``?show=``).

    A property that the reader writes can be tried below.
    """
    way = request.args.get("show", "")
    cards = [_card(one) for one in book.claims().values()]
    cards.sort(key=lambda one: (WAYS.index(one["way"]), one["sentence"]))
    by_slug = {one["slug"]: one for one in cards}
    listed = way in WAYS or way == ALL
    order = deck()
    asked = request.args.get("card", "")
    slug = asked if asked in by_slug else order[0]
    return render_template(
        "learn/claims.html",
        cards=[one for one in cards if way in (ALL, one["way"])] if listed else [],
        deck=[by_slug[name] for name in order],
        card=by_slug[slug],
        number=order.index(slug) + 1,
        asked=asked in by_slug,
        skip=_next(slug),
        answers=ANSWERS,
        counts={one: sum(card["way"] == one for card in cards) for one in WAYS},
        total=len(cards),
        chosen=way if listed else "",
        own=_own(),
        facts=[(name, fact.takes) for name, fact in FACTS.items()],
        scenarios=[
            (one.code, in_language(one, visitor.lang()).title)
            for one in library().values()
            if one.code
        ],
        profiles=list(GENERATIONS.values()),
    )


def _own() -> OwnProperty:
    """Return the question of the form, and its verdict or why it cannot be read."""
    code, profile, text = (
        request.args.get(name, usual)
        for name, usual in zip(("s", "profile", "property"), USUAL, strict=True)
    )
    own: OwnProperty = {"s": code, "profile": profile, "property": text, "asked": False}
    if "property" not in request.args:
        return own
    own["asked"] = True
    try:
        run = default_run(naming.scenario_named(code), naming.profile_asked())
        verdict = apart(_judged, text, run)
    except InputError as bad:
        return {**own, "problem": bad.sentence}
    return {**own, "holds": verdict.holds, "open": animator(run, verdict.step), "n": verdict.step}


def _judged(text: str, run: Run) -> Verdict:
    """Judge a sentence of the property language in a run."""
    return judge(text, MomentRecording(run))


@blueprint.get("/claims/<slug>")
def claim(slug: str) -> str:
    """Render one claim, and the run at the moment that decides it under ``?profile=``.

    With ``?said=`` the reader's answer is compared with the verdict.
    """
    found = book.claims().get(slug)
    if found is None:
        raise RequestError("not_found")
    row = judging.verdicts()[slug]
    asked = naming.profile_asked()
    shown = asked if asked in row else _telling(row)
    lang = visitor.lang()
    card, verdict = _card(found), row[shown]
    run = verdict.run(found, shown)
    said = request.args.get("said", "")
    right = RIGHT.get(card["way"], DEPENDS)
    return render_template(
        "learn/claim.html",
        card=card,
        truth=found.truth[lang],
        property=found.property if verdict.source == judging.OWN else found.everywhere,
        questions=[(name, questions()[name].ask[lang]) for name in found.questions],
        shown=PROFILES[shown],
        verdict=verdict,
        title=_title(verdict),
        stage=frame(run, verdict.step),
        open=animator(run, verdict.step),
        lanes=min(len(run.scenario.partitions[0]), 4),
        rows=[(PROFILES[name], one) for name, one in row.items()],
        said=said if said in ANSWERS else "",
        right=right,
        number=deck().index(slug) + 1,
        total=len(deck()),
        following=_next(slug),
    )


def _title(verdict: Judgement) -> str:
    """Return the title of the library run that decides.

    Returns "" where the claim's own run or a search decides.
    """
    if verdict.source != judging.LIBRARY:
        return ""
    return in_language(find(verdict.name), visitor.lang()).title


def _telling(row: dict[str, Judgement]) -> str:
    """Return the newest Kafka that refutes the claim, or else tests it, or else the newest."""
    for word in (judging.REFUTED, judging.SURVIVED):
        if names := [name for name, one in row.items() if one.word == word]:
            return names[-1]
    return list(row)[-1]
