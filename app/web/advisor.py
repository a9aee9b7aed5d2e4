"""The durability advisor: a form, and the study of its settings."""

from __future__ import annotations

from typing import Final

from flask import Blueprint, redirect, render_template, request, url_for
from flask.sansio.blueprints import BlueprintSetupState
from werkzeug.wrappers import Response as AnyResponse

from app.batch.advice_result import KIND, how_long, how_often
from app.batch.spec import Cell, Spec, cell_of, check_total
from app.common.fields import typed, whole_number
from app.common.refusals import Refusal
from app.common.words import SENTENCES
from app.context import visitor
from app.web.studies import jobs
from engine.model.profiles import PROFILES
from engine.study import advice
from engine.study.advice import Failures, Setting

blueprint = Blueprint("advice", __name__)

RUNS: Final = 150
RUNS_MOST: Final = 20_000

SENTENCES.update(
    {
        "advice.range": (
            "{name} is a whole number from {low} to {high}.",
            "{name} 是 {low} 到 {high} 之间的整数。",
        ),
    }
)


@blueprint.record
def _filters(state: BlueprintSetupState) -> None:
    state.app.jinja_env.filters.update(how_often=how_often, how_long=how_long)


@blueprint.get("/advisor")
def form() -> str:
    """What one runs and what one fears; ``?again=`` begins with what a study was asked."""
    again = request.args.get("again", "")
    setting, failures, runs = _asked_before(again) if again else (Setting(), Failures(), RUNS)
    return render_template(
        "advisor.html",
        profiles=list(PROFILES.values()),
        setting=setting,
        failures=failures,
        bounds=advice.BOUNDS,
        runs={"least": 1, "most": RUNS_MOST, "usual": runs},
    )


def _asked_before(number: str) -> tuple[Setting, Failures, int]:
    """Of a study of the advisor; what it was not asked yet is as usual.  Raises Refusal."""
    batch = jobs().batch(number)
    if batch.kind != KIND:
        raise Refusal("not_found")
    told = {**batch.about["setting"]}
    setting = Setting.of(told.pop("profile"), told)
    known = Failures.__dataclass_fields__.keys() & batch.about["failures"].keys()
    failures = Failures(**{name: batch.about["failures"][name] for name in known})
    return setting, failures, batch.runs


@blueprint.post("/advisor")
def ask() -> AnyResponse:
    """Starts the study; its page tells the advice."""
    visitor.require_token()
    visitor.require_patience()
    setting = Setting(
        profile=request.form.get("profile", "")[:120],
        brokers=_bounded("brokers"),
        factor=_bounded("factor"),
        min_isr=_bounded("min_isr"),
        acks=request.form.get("acks", "all")[:10],
        unclean=request.form.get("unclean") == "on",
        racks=_bounded("racks"),
    )
    failures = Failures(*(_bounded(name) for name in Failures.__dataclass_fields__))
    asked = study(setting, failures, typed(request.form, "runs", 1, RUNS_MOST))
    number = jobs().submit(asked, *visitor.asker())
    return redirect(url_for("batches.page", number=number), 303)


def _bounded(name: str) -> int:
    low, high = advice.BOUNDS[name]
    number = whole_number(request.form.get(name, ""), low, high)
    if number is None:
        raise Refusal("invalid", "advice.range", name=name, low=low, high=high)
    return number


def study(setting: Setting, failures: Failures, runs: int) -> Spec:
    """A cell for the setting and for each that differs in one thing.  Raises BadInput, Refusal."""
    advice.check(setting, failures)
    scenario = advice.scenario(setting, failures)
    yours = setting.values()
    cells = [Cell({}, scenario)]
    for other in advice.neighbours(setting)[1:]:
        changed = {key: value for key, value in other.values().items() if value != yours[key]}
        cells.append(cell_of(scenario, changed))
    about = {
        "setting": {**yours, "profile": setting.profile},
        "failures": vars(failures).copy(),
        "window_ms": failures.window_ms,
    }
    spec = Spec(scenario, advice.profiles(setting), runs, 0, tuple(cells), KIND, about)
    check_total(spec.total)
    return spec
