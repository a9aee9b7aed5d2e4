"""The scenario editor: parsing and playing of a text or a form; `app.web.api` saves.

The browser sends the whole value each time; nothing is kept here between two questions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from flask import Blueprint, Response, render_template, request

from app.context import naming, visitor
from app.context.services import services
from app.core import clock
from app.core.memoize import once
from app.core.refusals import RequestError
from app.core.request_fields import RequestFields
from app.runs.recording import recorded
from app.server import api_schema
from app.storage.saved import SCENARIO_BYTES
from app.web import registry
from app.web.api import body, json_answer
from engine.catalogue import promises
from engine.checks.catalogue import VIOLABLE
from engine.model.configs import CATALOGUE, Config
from engine.model.errors import InputError
from engine.model.profiles import PROFILES
from engine.moves import moves
from engine.replay.replay import STEPS_MOST
from engine.scenarios import file
from engine.scenarios.expectations import in_order
from engine.scenarios.fault_lines import FAULT_KINDS
from engine.scenarios.places import Places
from engine.scenarios.scenario import TAGS, Scenario
from engine.scenarios.translated import in_language
from engine.scenarios.writing import to_yaml, yaml_of
from engine.sim.run import Run
from engine.story.sayings import translate

blueprint = Blueprint("editing", __name__)

WHERE = "scenario"
MOST_PROFILES = 12
PATIENCE_S = 6.0
"""How long the profiles of one scenario may take together before the rest is left out."""
STEPS_AT_ONCE = 64
MOST_PROBLEMS = 50
TITLE_CHARS = 80

BEGINNINGS: Final[Mapping[str, Mapping[str, Any]]] = {
    "slow": {
        "script": "produce m0 acks=all\nsettle\npause 3\nproduce m1 acks=all\nadvance 40s\nsettle"
    },
    "dies": {
        "script": "produce m0 acks=all\nsettle\nproduce m1 acks=1\nkill 1\ndetect 1\n"
        "produce m2 acks=all\nsettle\nrestart 1\nsettle"
    },
    "rack": {
        "brokers": [{"id": 1, "rack": "r1"}, {"id": 2, "rack": "r1"}, {"id": 3, "rack": "r2"}],
        "script": "produce m0 acks=all\nsettle\nproduce m1 acks=1\nfetch 2\npower 1\npower 2\n"
        "detect 1\ndetect 2\nrestart 1\nrestart 2\nsettle",
    },
    "cut": {
        "script": "produce m0 acks=all\nsettle\ncut 1 K\nproduce m1 to 1 acks=1\ndetect 1\n"
        "produce m2 to 1 acks=1\nheal 1 K\nsettle"
    },
    "unclean": {
        "configs": {"unclean.leader.election.enable": True},
        "script": "produce m0 acks=all\nsettle\nkill 2\ndetect 2\nkill 3\ndetect 3\n"
        "produce m1 acks=all\nsettle\nkill 1\ndetect 1\nrestart 2\nsettle",
    },
    "refused": {
        "configs": {"min.insync.replicas": 2},
        "script": "produce m0 acks=all\nsettle\nkill 2\ndetect 2\nkill 3\ndetect 3\n"
        "produce m1 acks=all\nsettle",
    },
    "rolling": {
        "script": "produce m0 acks=all\nsettle\nshutdown 1\nrestart 1\nsettle\nshutdown 2\n"
        "restart 2\nsettle\nproduce m1 acks=all\nsettle"
    },
    "moves": {
        "brokers": 4,
        "partitions": [[1, 2, 3]],
        "script": "produce m0 m1 acks=all\nsettle\nreassign 2 3 4\nsettle",
    },
}
"""What a scenario can begin with instead of the life of one record: name -> what it says."""

Json = dict[str, Any]


@blueprint.get("/edit")
@blueprint.get("/edit/<name>")
def edit(name: str = "") -> str:
    """Render the editor with a new scenario, a copy of one, or one made of a run."""
    asks: list[Json] = []
    digest = request.args.get("run", "")
    begun = request.args.get("begin", "")
    begun = begun if begun in BEGINNINGS else ""
    if digest:
        if not naming.DIGEST.match(digest):
            raise RequestError("not_found")
        with services().replays.using(digest) as replay:
            scenario, asks = recorded(replay, visitor.lang())
    elif name:
        own = in_language(naming.scenario_named(name), visitor.lang())
        scenario = replace(own, slug="", code="")
    elif begun:
        scenario = beginning(begun)
    else:
        title = " ".join(request.args.get("title", "")[:TITLE_CHARS].split())
        scenario = empty(title)
    text = yaml_of(scenario)
    lang = visitor.lang()
    boot = {**looked_at(text), "asks": asks, "lang": lang, "offers": offers(lang)}
    return render_template(
        "editor.html",
        boot=boot,
        text=text,
        recorded=bool(digest),
        templates=BEGINNINGS,
        begun=begun,
    )


def beginning(name: str) -> Scenario:
    """Return one of BEGINNINGS, with a title in the visitor's language."""
    title = services().words.text(visitor.lang(), f"edit.begin.{name}", {})
    return Scenario.from_dict({"title": title, **BEGINNINGS[name]})


def empty(title: str) -> Scenario:
    """Return three brokers and the life of one record: something to change."""
    script = "produce m0 acks=all\nfetch 2 x2\nfetch 3 x2"
    new = services().words.text(visitor.lang(), "edit.new", {})
    return Scenario.from_dict({"title": title or new, "script": script})


@once
def offers(lang: str) -> Json:
    """Return the contents of the form's lists, in a language."""
    return {
        "configs": [_offer(config, lang) for config in CATALOGUE.values()],
        "profiles": [[one.name, one.stands_for] for one in PROFILES.values()],
        "invariants": list(VIOLABLE),
        "faults": list(FAULT_KINDS),
        "tags": list(TAGS),
        "verbs": [
            {**one, "help": translate(one["help"], lang), "example": example(one["grammar"])}
            for one in registry.registry()["verbs"]
        ],
    }


def example(grammar: str) -> str:
    """Return a move of this form that can be parsed: "flush B [upto O]" -> "flush 2"."""
    first = _OPTIONAL.sub("", grammar.split(" | ")[0])
    words = [word.split("|")[0] for word in first.split()]
    return " ".join("2" if word == "B" else word for word in words)


_OPTIONAL: Final = re.compile(r" ?\[[^\]]*\]")


def _offer(config: Config, lang: str) -> Json:
    """Return a configuration; `defaults` names the profiles whose default is another one."""
    defaults = {profile.name: config.default_in(profile) for profile in PROFILES.values()}
    usual = defaults["K39"]
    meaning = services().words.words(lang).get(f"config.{config.name}")
    return {
        "name": config.name,
        "unit": config.unit,
        "scope": config.scope,
        "meaning": meaning or translate(config.meaning, lang),
        "default": usual,
        "defaults": {name: value for name, value in defaults.items() if value != usual},
    }


# -- looking at it --------------------------------------------------------------------------------


@blueprint.post("/api/scenarios/check")
@api_schema.declare(api_schema.Checked, takes=api_schema.ScenarioSent)
def check() -> Response:
    """Return {yaml} or {scenario} in both forms, and everything that is wrong with them."""
    _allowed(costly=False)
    return json_answer({"ok": True, **looked_at(_sent_text(body()))})


def _allowed(costly: bool) -> None:
    """Raise `RequestError` without our token, or for an address that sends too many requests."""
    visitor.require_token()
    services().accounts.take(request.remote_addr or "", "tries" if costly else "checks")


def _sent_text(asked: RequestFields) -> str:
    if not asked.has("scenario"):
        empty_text = asked.raw("yaml") == ""
        text = "" if empty_text else asked.text("yaml", most=SCENARIO_BYTES)
    else:
        data = asked.raw("scenario")
        if not isinstance(data, dict):
            raise RequestError("invalid", what="scenario")
        text = _text_of(data)
    if len(text.encode("utf-8", "replace")) > SCENARIO_BYTES:
        raise RequestError("too_large", limit=SCENARIO_BYTES)
    return text


def _text_of(data: Json) -> str:
    """Return the form's data as YAML, also where it is not valid yet."""
    try:
        return yaml_of(Scenario.from_dict(data))
    except InputError:
        pass
    try:
        return to_yaml(data)
    except RecursionError:
        raise RequestError("invalid", what="scenario") from None


def looked_at(text: str) -> Json:
    """Return {yaml, scenario or None, problems: [{line, column, sentence, script?}]}."""
    try:
        scenario, places = file.load_placed(text, WHERE)
    except InputError as bad:
        return {"yaml": text, "scenario": None, "problems": [_problem(text, bad.where, bad)]}
    problems = script_problems(text, scenario, places)
    return {"yaml": text, "scenario": scenario.to_dict(), "problems": problems}


def script_problems(text: str, scenario: Scenario, places: Places) -> list[Json]:
    """Return every line of the script that is no move, once."""
    found: dict[int, Json] = {}
    for profile in scenario.profiles:
        for line in scenario.lines(profile):
            if line.is_expect or line.number in found or len(found) >= MOST_PROBLEMS:
                continue
            try:
                moves.parse(line.text, scenario.brokers)
            except InputError as bad:
                where = places.of(("script", line.number))
                found[line.number] = {**_problem(text, where, bad), "script": line.number}
    return [found[number] for number in sorted(found)]


def _problem(text: str, where: str, bad: InputError) -> Json:
    """Return the place of a refusal ("scenario:12:3") as numbers.

    A line's column is where its text is.
    """
    numbers = [int(one) for one in where.split(":")[-2:] if one.isdigit()]
    line, column = numbers if len(numbers) == 2 else (1, 1)
    lines = text.split("\n")
    if column == 1 and line <= len(lines):
        column += len(lines[line - 1]) - len(lines[line - 1].lstrip())
    return {"line": line, "column": column, "sentence": translate(bad.sentence, visitor.lang())}


# -- playing it -----------------------------------------------------------------------------------


def _sent_scenario(asked: RequestFields) -> Scenario:
    return file.load_text(_sent_text(asked), WHERE)


@blueprint.post("/api/scenarios/play")
@api_schema.declare(api_schema.PlayedJson, takes=api_schema.ScenarioSent)
def play() -> Response:
    """Play {yaml} under each profile; return what happens beside what is promised."""
    _allowed(costly=True)
    scenario = _sent_scenario(body())
    with services().plays.turn():
        return json_answer({"ok": True, "profiles": played(scenario)})


def played(scenario: Scenario) -> list[Json]:
    """Return one entry for each profile, as many as there is time for."""
    until = clock.monotonic() + PATIENCE_S
    found: list[Json] = []
    for profile in scenario.profiles[:MOST_PROFILES]:
        if found and clock.monotonic() > until:
            break
        found.append({"profile": profile, **_outcome(scenario, profile)})
    return found


def _outcome(scenario: Scenario, profile: str) -> Json:
    try:
        one = promises.play(scenario, profile, budget=STEPS_MOST)
    except InputError as bad:
        sentence = translate(bad.sentence, visitor.lang())
        return {"problem": {"script": _line_of(bad), "sentence": sentence}}
    names = in_order(name for name, _, _ in one.sim.broken)
    return {
        "verdict": " ".join(["violates", *names]) if names else "holds",
        "broken": names,
        "final": promises.end_text(one.sim, 0),
        "complaints": [translate(text, visitor.lang()) for text in one.complaints],
    }


def _line_of(bad: InputError) -> int:
    """Return the line of the script a refusal is about; 0 where it is about none."""
    word, _, number = bad.where.partition(" ")
    return int(number) if word == "line" and number.isdigit() else 0


@blueprint.post("/api/scenarios/try")
@api_schema.declare(api_schema.Tried, takes=api_schema.ScenarioTried)
def attempt() -> Response:
    """Return the run of {yaml, profile} with its first steps, up to a move that fails."""
    _allowed(costly=True)
    asked = body()
    scenario = _sent_scenario(asked)
    profile = asked.text("profile", default=scenario.profiles[0])
    run = naming.default_run(scenario, profile)
    with services().plays.turn():
        problem = _outcome(scenario, run.profile).get("problem")
    if problem:
        lines = [line for line in scenario.lines(run.profile) if not line.is_expect]
        good = tuple(line.text for line in lines if line.number < problem["script"])
        run = Run(scenario, run.profile, 0, good)
    digest = services().replays.register(run)
    saved = services().replays.saved(digest)
    with services().replays.using(digest) as replay:
        return json_answer(
            {
                "ok": True,
                "run": digest,
                "facts": services().replays.facts(replay, saved, visitor.lang()),
                "steps": replay.steps(0, STEPS_AT_ONCE),
                "problem": problem,
            }
        )
