"""Challenges: a task, the visitor's moves, and the run of these moves, which decides."""

from __future__ import annotations

from typing import Final, TypedDict

from flask import Blueprint, render_template, request

from app.core.refusals import RequestError
from app.server import visitor
from app.server.services import apart
from app.web.moments import frame
from engine.learn.challenges import Challenge, challenges
from engine.model.errors import InputError
from engine.model.profiles import get_profile
from engine.moves.moves import VERBS
from engine.properties.recording import MomentRecording

blueprint = Blueprint("challenges", __name__)

MOST_CHARACTERS: Final = 4_000
OFFERED: Final = (
    "produce m1 to 1 acks=all",
    "produce m1 to 1 acks=1",
    "settle",
    "fetch 2",
    "ask 2",
    "kill 1",
    "detect 1",
    "restart 1",
    "power 1",
    "cut 1 2",
    "cut 1 K",
    "heal",
    "elect 2",
    "elect preferred",
    "elect unclean",
    "advance 50s",
    "read",
)
"""Moves that stand ready; any other may be typed."""


class ChallengeCard(TypedDict):
    slug: str
    level: int
    task: str
    par: int


class TriedMoves(TypedDict, total=False):
    """Result of the visitor's moves; only `problem` where one of them cannot be played."""

    done: bool
    used: int
    problem: str


def _card(challenge: Challenge) -> ChallengeCard:
    return {
        "slug": challenge.slug,
        "level": challenge.level,
        "task": challenge.task[visitor.lang()],
        "par": challenge.par,
    }


@blueprint.get("/challenges")
def listed() -> str:
    """Render all tasks by level."""
    return render_template(
        "learn/challenges.html", cards=[_card(one) for one in challenges().values()]
    )


@blueprint.get("/challenges/<slug>")
def challenge(slug: str) -> str:
    """Render one task; ``moves`` (one per line) adds their result, ``show`` a solution."""
    found = challenges().get(slug)
    if found is None:
        raise RequestError("not_found")
    text = request.args.get("moves", "")[:MOST_CHARACTERS]
    if "show" in request.args:
        text = "\n".join(found.solution)
    tried: TriedMoves = {}
    stage = ""
    if text.strip():
        tried, stage = _tried(found, text)
    names = list(challenges())
    after = names[(names.index(slug) + 1) % len(names)]
    return render_template(
        "learn/challenge.html",
        card=_card(found),
        hint=found.hint[visitor.lang()],
        goal=found.goal,
        first=found.first,
        without=found.without,
        kafka=get_profile(found.profile).stands_for,
        text=text,
        tried=tried,
        stage=stage or frame(found.beginning, _beginning(found)),
        lanes=min(len(found.beginning.scenario.partitions[0]), 4),
        offered=[one for one in OFFERED if one.split()[0] not in found.without],
        verbs=sorted(VERBS),
        after=after,
    )


def _beginning(found: Challenge) -> int:
    return MomentRecording(found.beginning).end.step


def _tried(found: Challenge, text: str) -> tuple[TriedMoves, str]:
    """Return (sentence about these moves, stage after them)."""
    lines = tuple(line.strip() for line in text.splitlines() if line.strip())
    try:
        attempt = apart(found.attempt, lines)
    except InputError as bad:
        return {"problem": bad.sentence}, ""
    return {"done": attempt.done, "used": attempt.used}, frame(attempt.run, attempt.step)
