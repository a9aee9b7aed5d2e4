"""Claims: sentences that are taught, under every Kafka; and a property of one's own, judged."""

from __future__ import annotations

from typing import Any, Final

from flask import Blueprint, render_template, request

from app.common.refusals import Refusal
from app.context import naming, visitor
from app.context.moments import animator, frame, recorded
from engine.learn import claims as book
from engine.learn.claims import Claim
from engine.learn.interview import questions
from engine.model.errors import BadInput
from engine.model.profiles import GENERATIONS, PROFILES
from engine.properties.evaluate import judge
from engine.properties.facts import FACTS
from engine.scenarios.file import library
from engine.scenarios.translated import in_language

blueprint = Blueprint("claims", __name__)

WAYS: Final = (book.NEVER, book.UNTIL, book.SINCE, book.SOME, book.HOLDS)
USUAL: Final = ("S22", "K39", "eventually (acked(m4) and m4 not in log(leader))")
"""What stands in the form at first: a run, and a property that is not obvious."""


def _card(claim: Claim) -> dict[str, Any]:
    row = book.verdicts()[claim.slug]
    way, turn = book.summary(row)
    return {
        "slug": claim.slug,
        "sentence": claim.sentence[visitor.lang()],
        "way": way,
        "turn": PROFILES[turn].stands_for if turn else "",
    }


@blueprint.get("/claims")
def claims() -> str:
    """All sentences, or those of one way; below, a property of one's own."""
    way = request.args.get("show", "")
    cards = [_card(one) for one in book.claims().values()]
    cards.sort(key=lambda one: (WAYS.index(one["way"]), one["sentence"]))
    shown = [one for one in cards if one["way"] == way] if way in WAYS else cards
    return render_template(
        "claims.html",
        cards=shown,
        counts={one: sum(card["way"] == one for card in cards) for one in WAYS},
        total=len(cards),
        chosen=way,
        own=_own(),
        facts=[(name, fact.takes) for name, fact in FACTS.items()],
        scenarios=[
            (one.code, in_language(one, visitor.lang()).title)
            for one in library().values()
            if one.code
        ],
        profiles=list(GENERATIONS.values()),
    )


def _own() -> dict[str, Any]:
    """What was asked in the form, its verdict, or the sentence that says what cannot be read."""
    code, profile, text = (
        request.args.get(name, usual)
        for name, usual in zip(("s", "profile", "property"), USUAL, strict=True)
    )
    own: dict[str, Any] = {"s": code, "profile": profile, "property": text, "asked": False}
    if "property" not in request.args:
        return own
    own["asked"] = True
    try:
        run = naming.default_run(naming.scenario_named(code), naming.profile_asked())
        verdict = judge(text, recorded(run))
    except BadInput as bad:
        return {**own, "problem": bad.sentence}
    return {**own, "holds": verdict.holds, "open": animator(run, verdict.step), "n": verdict.step}


@blueprint.get("/claims/<slug>")
def claim(slug: str) -> str:
    """One sentence, and the run at the moment that decides it under ``?profile=``."""
    found = book.claims().get(slug)
    if found is None:
        raise Refusal("not_found")
    row = book.verdicts()[slug]
    asked = naming.profile_asked()
    shown = asked if asked in row else _telling(found)
    lang = visitor.lang()
    return render_template(
        "claim.html",
        card=_card(found),
        truth=found.truth[lang],
        property=found.property,
        questions=[(name, questions()[name].ask[lang]) for name in found.questions],
        shown=PROFILES[shown],
        verdict=row[shown],
        stage=frame(found.run(shown), row[shown].step),
        open=animator(found.run(shown), row[shown].step),
        lanes=min(len(found.run(shown).scenario.partitions[0]), 4),
        rows=[(PROFILES[name], verdict) for name, verdict in row.items()],
    )


def _telling(claim: Claim) -> str:
    """The newest Kafka that refutes it, else the newest."""
    row = book.verdicts()[claim.slug]
    refuting = [name for name in claim.profiles if not row[name].holds]
    return (refuting or list(claim.profiles))[-1]
