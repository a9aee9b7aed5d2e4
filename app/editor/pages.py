"""The scenario editor: parsing and playing of a text or a form; `app.web.api` saves.

The browser sends the whole value each time; nothing is kept here between two questions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from flask import Blueprint, Response, render_template, request

from app.core.memoize import once
from app.questions import editor, registry
from app.runs.recording import OfferedComment, recorded
from app.server import api_schema, visitor
from app.server.services import apart, services
from app.web import naming
from app.web.api import body, json_answer
from app.web.questioning import question_context
from engine.checks.catalogue import VIOLABLE
from engine.model.configs import CATALOGUE, Config
from engine.model.phrases import translate
from engine.model.profiles import PROFILES
from engine.scenarios.fault_lines import FAULT_KINDS
from engine.scenarios.scenario import TAGS, Scenario
from engine.scenarios.translated import in_language
from engine.scenarios.writing import yaml_of

blueprint = Blueprint("editing", __name__)

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


@blueprint.get("/edit")
@blueprint.get("/edit/<name>")
def edit(name: str = "") -> str:
    """Render the editor with a new scenario, a copy of one, or one made of a run."""
    asks: list[OfferedComment] = []
    digest = request.args.get("run", "")
    begun = request.args.get("begin", "")
    begun = begun if begun in BEGINNINGS else ""
    if digest:
        naming.run_named(digest)
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
    checked = apart(editor.looked_at, text, lang)
    boot = {**checked, "asks": asks, "lang": lang, "offers": offers(lang)}
    return render_template(
        "editor/page.html",
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
def offers(lang: str) -> Mapping[str, object]:
    """Return the contents of the form's lists, in a language."""
    return {
        "configs": [_offer(config, lang) for config in CATALOGUE.values()],
        "profiles": [[profile.name, profile.stands_for] for profile in PROFILES.values()],
        "invariants": list(VIOLABLE),
        "faults": [
            {
                "name": name,
                "together": row.together,
                "whole": row.whole,
                "plays": row.plays,
                "own": [
                    {"name": own_field.name, "usual": own_field.usual, "unit": own_field.unit}
                    for own_field in row.own
                ],
            }
            for name, row in FAULT_KINDS.items()
        ],
        "tags": list(TAGS),
        "verbs": [
            {**verb, "help": translate(verb["help"], lang), "example": example(verb["grammar"])}
            for verb in registry.registry()["verbs"]
        ],
    }


def example(grammar: str) -> str:
    """Return a move of this form that can be parsed: "flush B [upto O]" -> "flush 2"."""
    first = _OPTIONAL.sub("", grammar.split(" | ")[0])
    words = [word.split("|")[0] for word in first.split()]
    return " ".join("2" if word == "B" else word for word in words)


_OPTIONAL: Final = re.compile(r" ?\[[^\[\]]*\]")


def _offer(config: Config, lang: str) -> Mapping[str, object]:
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
@api_schema.declare(api_schema.Checked, takes=api_schema.ScenarioSent, example=api_schema.YAML)
def check() -> Response:
    """Return {yaml} or {scenario} in both forms, and everything that is wrong with them."""
    _allowed(costly=False)
    return json_answer({"ok": True, **editor.check(question_context(), body())})


def _allowed(costly: bool) -> None:
    """Raise `RequestError` without our token, or for an address that sends too many requests."""
    visitor.require_token()
    services().accounts.take(request.remote_addr or "", "tries" if costly else "checks")


# -- playing it -----------------------------------------------------------------------------------


@blueprint.post("/api/scenarios/play")
@api_schema.declare(api_schema.PlayedJson, takes=api_schema.ScenarioSent, example=api_schema.YAML)
def play() -> Response:
    """Play {yaml} under each profile; return what happens beside what is promised."""
    _allowed(costly=True)
    return json_answer({"ok": True, **editor.play(question_context(), body())})


@blueprint.post("/api/scenarios/try")
@api_schema.declare(
    api_schema.Tried, takes=api_schema.ScenarioTried, example={**api_schema.YAML, "profile": "K39"}
)
def attempt() -> Response:
    """Return the run of {yaml, profile} with its first steps, up to a move that fails."""
    _allowed(costly=True)
    return json_answer({"ok": True, **editor.attempt(question_context(), body())})
