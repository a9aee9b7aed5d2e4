"""Two profiles side by side, and the ladder: one scenario under every generation."""

from __future__ import annotations

from typing import Final

from flask import Blueprint, Response, render_template, request, url_for
from markupsafe import Markup

from app.core.memoize import last
from app.core.refusals import RequestError
from app.core.request_fields import whole_number
from app.learn.path import place_on_path
from app.questions import comparing
from app.questions.comparing import LadderRung
from app.server import visitor
from app.server.edition import lasting
from app.server.services import apart, services
from app.web import naming
from app.web.api import json_answer, unless_known
from app.web.questioning import question_context
from engine import ENGINE_VERSION
from engine.export.thumbnail import HEIGHT, WIDTH
from engine.export.verdict_by_release import Ending, endings
from engine.model.phrases import translate
from engine.model.profiles import PROFILES
from engine.scenarios import file
from engine.scenarios.scenario import Scenario
from engine.scenarios.translated import in_language
from engine.sim.run import Run

blueprint = Blueprint("comparing", __name__)


RUNGS_KEPT: Final = 32
ENDINGS_KEPT: Final = 256


def _requested_profile(run: Run) -> str:
    return naming.profile_asked("with") or comparing.other_profile(run)


@blueprint.get("/r/<digest>/compare")
def page(digest: str) -> str:
    """Render both runs in lock-step, opened at ``?at=``; ``?step=`` is the visitor's last step."""
    run = naming.run_named(digest)
    other_name = _requested_profile(run)
    other, why = comparing.other_run(question_context(), run, other_name)
    services().replays.register(other)
    return render_template(
        "compare/page.html",
        title=in_language(run.scenario, visitor.lang()).title,
        run=run,
        other=other,
        why=why,
        profiles=list(PROFILES.values()),
        place=place_on_path(run.scenario.code, run.profile, other.profile),
        boot={
            "lang": visitor.lang(),
            "a": digest,
            "b": other.digest,
            "with": other_name,
            "at": whole_number(request.args.get("at", "")),
            "step": whole_number(request.args.get("step", "")),
        },
    )


@blueprint.get("/r/<digest>/compare.json")
def pairs(digest: str) -> Response:
    """Return {a: facts, b: facts, pairs, parts}; see `engine.export.comparing.compare`."""
    run = naming.run_named(digest)
    other, _ = comparing.other_run(question_context(), run, _requested_profile(run))
    services().replays.register(other)
    etag = f"{digest}-{other.digest}-{ENGINE_VERSION}"

    def answer() -> Response:
        return json_answer({"ok": True, **apart(comparing.compared, run, other)})

    response = unless_known(etag, answer)
    response.cache_control.no_cache = True
    return response


# -- the ladder -----------------------------------------------------------------------------------


@blueprint.get("/s/<name>/ladder")
def ladder(name: str) -> str:
    """Render one scenario under every profile: how it ends, and its key step in miniature."""
    scenario = naming.scenario_named(name)
    if scenario.workload.producers and scenario.slug not in file.library():
        raise RequestError("impossible", "ladder.busy")
    rungs = _rungs(scenario)
    for rung in rungs:
        if rung["digest"]:
            services().replays.register(Run(scenario, rung["profile"]))
    return render_template(
        "compare/ladder.html",
        scenario=in_language(scenario, visitor.lang()),
        home=url_for("pages.scenario", name=name),
        rungs=[{**rung, "why": translate(rung["why"], visitor.lang())} for rung in rungs],
        size=(WIDTH, HEIGHT),
        first=next((rung for rung in rungs if rung["digest"]), None),
    )


@blueprint.get("/s/<name>/endings.json")
def all_endings(name: str) -> Response:
    """Return {endings: [{kind, span, profiles, broken}]}: the ladder folded, for a run's strip."""
    scenario = naming.scenario_named(name)

    def answer() -> Response:
        return json_answer({"ok": True, **comparing.folded_endings(scenario, _endings)})

    response = unless_known(f"endings-{scenario.digest}-{ENGINE_VERSION}", answer)
    return lasting(response)


@last(ENDINGS_KEPT)
def _endings(scenario: Scenario) -> tuple[Ending, ...]:
    return apart(endings, scenario)


@last(RUNGS_KEPT)
def _rungs(scenario: Scenario) -> tuple[LadderRung, ...]:
    return tuple(map(_drawn, apart(comparing.rungs, scenario)))


def _drawn(rung: LadderRung) -> LadderRung:
    if not rung["digest"]:
        return rung
    return {**rung, "telling": Markup(rung["telling"]), "final": Markup(rung["final"])}
