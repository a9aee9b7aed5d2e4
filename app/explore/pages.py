"""Search of every future from here: what can go wrong, in how few moves, and how far it looked."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Final, TypedDict

from flask import Blueprint, Response, redirect, render_template, request, url_for
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as AnyResponse

from app.core.refusals import RequestError
from app.core.request_fields import typed
from app.explore import search_request
from app.explore.answering import ExploreAnswer, FoundWay
from app.explore.search import DONE, REFUSED, Search
from app.explore.search_request import Ask
from app.server import visitor
from app.server.services import services
from app.web.moments import MOST_LANES, address, code_of, frame
from app.web.naming import run_named
from engine.explore.budgets import NAMES, Budgets, known
from engine.explore.danger import FAR, NEAR
from engine.model.phrases import translate
from engine.model.profiles import get_profile
from engine.scenarios.scenario import Scenario
from engine.scenarios.translated import in_language
from engine.sim.run import Run

blueprint = Blueprint("exploring", __name__)

FIRST: Final = ("crashes", "power", "writes")
OF_GROUPS: Final = ("members", "commits", "writes")
OF_VOTERS: Final = ("controller", "cuts", "timers")
"""The budgets that people think of first; the others are behind a fold."""
USUAL: Final = {"crashes": 1, "writes": 1}
USUAL_OF_GROUPS: Final = {"members": 1, "commits": 1}
USUAL_OF_VOTERS: Final = {"controller": 1, "timers": 1}
PAIRS: Final = ("cut", "heal")
NOT_OF_A_BROKER: Final = ("produce", "advance")
WORST_FIRST: Final = {NEAR: 0, FAR: 1}
MOST_WHY: Final = 400


class MoveWords(TypedDict):
    """A move for people: the key of its sentence with its arguments, and the move itself."""

    key: str
    args: dict[str, str]
    text: str


class ShownWay(TypedDict):
    """A way that was found; `open`: the address of its run, `card` that of a picture of it."""

    why: str
    moves: list[MoveWords]
    open: str
    card: str | None


class NextMove(TypedDict):
    """A next move, the kind of its distance, and how many moves it leads on."""

    move: MoveWords
    kind: str
    n: int


def _parse_question(digest: str, fields: MultiDict[str, str]) -> Ask:
    """Parse the question of an address or a form; what it does not name is as usual."""
    run = run_named(digest)
    budgets = budgets_in(fields, _first_of(run.scenario)[1])
    goal = fields.get("goal", search_request.LOSS)
    if goal not in search_request.GOALS:
        raise RequestError("invalid", what="goal")
    own = (
        fields.get("own", "")[: search_request.OWN_CHARACTERS].strip()
        if goal == search_request.OWN
        else ""
    )
    step = typed(fields, "step", default=0)
    return Ask(run, step, budgets, goal, own)


def _first_of(scenario: Scenario) -> tuple[tuple[str, ...], dict[str, int]]:
    """Return the budgets that the page shows first, and those that it proposes."""
    if scenario.quorum:
        return OF_VOTERS, USUAL_OF_VOTERS
    return (OF_GROUPS, USUAL_OF_GROUPS) if scenario.groups else (FIRST, USUAL)


def budgets_in(fields: MultiDict[str, str], usual: Mapping[str, int]) -> Budgets:
    """Return the budgets in an address or a form; the usual ones where it names none."""
    named = any(name in fields for name in NAMES)
    most = search_request.MOST_OF_ONE
    return search_request.budgets_of(
        {name: typed(fields, name, 0, most, 0 if named else usual.get(name, 0)) for name in NAMES}
    )


def _address(ask: Ask) -> dict[str, str]:
    query = {"step": str(ask.step), "goal": ask.goal}
    query |= {name: str(n) for name, n in ask.budgets._asdict().items() if n}
    if not any(ask.budgets):
        query["crashes"] = "0"
    return {**query, "own": ask.own} if ask.own else query


@blueprint.get("/explore/<digest>")
def page(digest: str) -> str:
    """Render the question, and its answer where it was asked."""
    return _question(_parse_question(digest, request.args), digest)


def _question(ask: Ask, digest: str, refusal: str = "") -> str:
    """Render the page of a question; with a sentence, where it was refused."""
    with services().replays.using(digest) as replay:
        total = replay.total
    if ask.step > total:
        raise RequestError("stale", run=digest, total=total, step=ask.step)
    scenario = in_language(ask.run.scenario, visitor.lang())
    search = services().searches.find(ask.number)
    first, budgets = _first_of(ask.run.scenario)[0], ask.budgets._asdict()
    others = [name for name in known(ask.run.scenario) if name not in first]
    without = () if ask.run.scenario.groups else search_request.OF_GROUPS
    standing = {"search": None, "refusal": refusal} if refusal else _standing(ask, search)
    return render_template(
        "explore/page.html",
        ask=ask,
        digest=digest,
        title=scenario.title,
        kafka=get_profile(ask.run.profile).stands_for,
        total=total,
        stage=frame(ask.run, ask.step),
        lanes=min(max(len(partition) for partition in scenario.partitions), MOST_LANES),
        back=address(f"/r/{digest}", step=str(ask.step)),
        question=_address(ask),
        asked=address(f"/explore/{digest}", **_address(ask), **visitor.lang_query()),
        goals=[goal for goal in search_request.GOALS if goal not in without],
        first=[(name, budgets[name]) for name in first],
        others=[(name, budgets[name]) for name in others],
        most=search_request.MOST_OF_ONE,
        limits=services().searches.limits,
        **standing,
    )


@blueprint.post("/explore/<digest>")
def begin(digest: str) -> AnyResponse:
    """Start the search; its page shows the progress.

    It keeps what was chosen where others have to end first.
    """
    visitor.require_token()
    ask = _parse_question(digest, request.form)
    try:
        services().searches.ask(ask, visitor.owner_and_account()[1])
    except RequestError as error:
        if error.code != "slow_down":
            raise
        rendered = _question(ask, digest, error.sentence(visitor.lang()))
        return Response(rendered, error.status, error.headers(), mimetype="text/html")
    return redirect(_page(ask), 303)


@blueprint.post("/explore/<digest>/cancel")
def cancel(digest: str) -> AnyResponse:
    """End the search; what it has seen so far is its answer."""
    visitor.require_token()
    ask = _parse_question(digest, request.form)
    services().searches.cancel(ask.number, visitor.owner_and_account()[1])
    return redirect(_page(ask), 303)


@blueprint.get("/explore/<digest>/answer")
def answer(digest: str) -> str:
    """Render the part of the page that changes while a search runs."""
    ask = _parse_question(digest, request.args)
    search = services().searches.find(ask.number)
    return render_template(
        "explore/answer.html",
        ask=ask,
        digest=digest,
        question=_address(ask),
        **_standing(ask, search),
    )


def _page(ask: Ask) -> str:
    return address(f"/explore/{ask.run.digest}", **_address(ask), **visitor.lang_query())


def standing(search: Search | None) -> dict[str, object]:
    """Return the state of any search: its place in the queue, its refusal, or its card."""
    if search is None:
        return {"search": None}
    shown: dict[str, object] = {"search": search, "place": services().searches.place(search)}
    if search.state == REFUSED and search.refusal is not None:
        shown["refusal"] = search.refusal.sentence(visitor.lang())
    if search.state == DONE and search.answer is not None:
        shown["card"] = search.answer["card"]
        shown["cpu_s"] = search.answer["cpu_s"]
    return shown


def _standing(ask: Ask, search: Search | None) -> dict[str, object]:
    """Return the same for a search from here, with the ways that it found."""
    shown = standing(search)
    if search is not None and search.state == DONE and search.answer is not None:
        shown["ways"] = [_way(ask, way) for way in search.answer["ways"]]
        shown["near"] = _near(ask, search.answer)
        shown["distances"] = _distances(ask, search.answer)
        shown["missing"] = search.answer["missing"]
        shown["command"] = _command(ask)
        shown["left_out"] = _left_out(ask.run.scenario)
    return shown


def _left_out(scenario: Scenario) -> list[str]:
    """Return the names of the sentences that say what a search of this run does not play."""
    if scenario.quorum:
        return ["brokers"]
    remote = ["remote"] if "store" in known(scenario) else []
    return ["members", *remote] if scenario.groups else remote


def _near(ask: Ask, answer: ExploreAnswer) -> ShownWay | None:
    """Return the way that answers the question, if there is one."""
    names = {search_request.LOSS: search_request.LOSSES, search_request.BROKEN: None}.get(
        ask.goal, ("reached",)
    )
    for way in answer["ways"]:
        if names is None or way["name"] in names:
            return _way(ask, way)
    return None


def _way(ask: Ask, way: FoundWay) -> ShownWay:
    """Return a way that was found, as moves in words and a run to open."""
    run = Run.from_text(way["run"])
    digest = services().replays.register(run)
    return {
        "why": translate(way["why"], visitor.lang())[:MOST_WHY],
        "moves": [move_told(move, run.scenario) for move in way["moves"]],
        "open": address(f"/r/{digest}", step=str(ask.step)),
        "card": url_for("unfurling.card", digest=digest, lang=visitor.lang())
        if services().searches.pictures
        else None,
    }


def _distances(ask: Ask, answer: ExploreAnswer) -> list[NextMove]:
    """Return each next move and how near it leads; the worst first."""
    scenario = ask.run.scenario
    moves: list[NextMove] = [
        {"move": move_told(move, scenario), "kind": kind, "n": n}
        for move, kind, n in answer["distances"]
    ]
    return sorted(moves, key=lambda move: (WORST_FIRST.get(move["kind"], 2), move["n"]))


def move_told(text: str, scenario: Scenario) -> MoveWords:
    """Return a move for people: its sentence names the node that it is about."""
    verb, *rest = text.split()
    args: dict[str, str] = {}
    if verb in ("deliver", "drop") and rest:
        source, _, target = rest[0].partition("->")
        args = {"a": _name(source, scenario), "b": _name(target, scenario)}
    elif verb in PAIRS and len(rest) > 1:
        args = {"a": _name(rest[0], scenario), "b": _name(rest[1], scenario)}
    elif rest:
        args = {"a": rest[0] if verb in NOT_OF_A_BROKER else _name(rest[0], scenario)}
    if verb == "bounce" and rest[1:] == ["power"]:
        verb = "bounce.power"
    elif verb == "elect" and rest[:1] == ["unclean"]:
        verb = "elect.unclean"
    elif verb in ("kill", "restart") and rest == ["K"]:
        verb += ".K"
    elif verb == "store" or (verb == "tick" and len(rest) > 1):
        verb += f".{rest[-1]}"
    elif verb in ("timeout", "repeat") and not scenario.quorum:
        verb += ".member"
    return {"key": f"explore.move.{verb}", "args": args, "text": text}


def _name(node: str, scenario: Scenario) -> str:
    """Return the stage's name of a node: a bare number would read as a count."""
    if node == "K":
        return "Controller"
    name = scenario.broker_name(int(node)) if node.isdecimal() else node
    return f"Broker {name}" if name.isdecimal() else name


def _command(ask: Ask) -> str:
    """Return the command for the same search in a terminal, where it may go further."""
    code = code_of(ask.run)
    run = code if code is not None else f"{ask.run.digest}.json"
    parts = ["highwater", "explore", run, "--at", str(ask.step)]
    if code is not None:
        parts += ["--kafka", ask.run.profile]
    for name, n in ask.budgets._asdict().items():
        if n:
            parts += [f"--{name}", str(n)]
    if ask.goal == search_request.LOSS:
        parts += ["--never", ",".join(search_request.LOSSES)]
    elif ask.goal != search_request.BROKEN:
        parts += ["--reach", search_request.SENTENCES.get(ask.goal, ask.own)]
    return shlex.join(parts)
