"""The durability advisor: a form, and the study of its settings."""

from __future__ import annotations

from typing import Final, TypedDict

from flask import Blueprint, redirect, render_template, request
from flask.sansio.blueprints import BlueprintSetupState
from werkzeug.wrappers import Response as AnyResponse

from app.advisor.result import KIND, how_long, how_often, promised
from app.batch.cycles import PILOT_SEED
from app.batch.spec import Cell, Spec, cell_of, check_total
from app.batch.study_pages import jobs
from app.core import clock
from app.core.refusals import RequestError
from app.core.request_fields import typed, whole_number
from app.server import visitor
from app.server.services import apart
from app.storage.batch_fields import ACTIVE, BatchAbout
from app.web.moments import address
from engine.advisor import advice
from engine.advisor.advice import Failures, Setting
from engine.advisor.closed_form import overlaps_per_year
from engine.advisor.cycles import Tree, quiet
from engine.model.profiles import PROFILES

blueprint = Blueprint("advice", __name__)

RUNS: Final = 40
RUNS_MOST: Final = 20_000


class StudyEstimate(TypedDict):
    """Expected work of a study, and how often a year the formula expects a loss."""

    trees: int
    settings: int
    seconds: float
    cores: int
    overlaps: float


@blueprint.record
def _filters(state: BlueprintSetupState) -> None:
    state.app.jinja_env.filters.update(how_often=how_often, how_long=how_long)


@blueprint.get("/advisor")
def form() -> str:
    """Render the form for the visitor's setting and the failures to plan for.

    ``?again=`` begins with what a study was asked, ``?preset=`` with failures as they were counted
    somewhere.
    """
    again, preset = request.args.get("again", ""), request.args.get("preset", "")
    setting, failures, runs = _asked_before(again) if again else (Setting(), Failures(), RUNS)
    return _form(setting, advice.PRESETS.get(preset, failures), runs, preset)


def _form(
    setting: Setting,
    failures: Failures,
    runs: int,
    preset: str = "",
    estimate: StudyEstimate | None = None,
) -> str:
    return render_template(
        "advisor/page.html",
        profiles=list(PROFILES.values()),
        setting=setting,
        failures=failures,
        bounds=advice.BOUNDS,
        runs={"least": 1, "most": RUNS_MOST, "usual": runs},
        presets=list(advice.PRESETS),
        preset=preset if preset in advice.PRESETS else "",
        estimate=estimate,
    )


def _asked_before(number: str) -> tuple[Setting, Failures, int]:
    """Return the question of a study of the advisor, completed by defaults.

    Raises RequestError.
    """
    batch = jobs().batch(number)
    if batch.kind != KIND:
        raise RequestError("not_found")
    fields = {**batch.about["setting"]}
    setting = Setting.of(fields.pop("profile"), fields)
    names = Failures.__dataclass_fields__.keys() & batch.about["failures"].keys()
    failures = Failures(**{name: batch.about["failures"][name] for name in names})
    return setting, failures, batch.runs


@blueprint.post("/advisor")
def ask() -> AnyResponse | str:
    """Start the study, whose page shows the advice.

    With the button *Estimate*, show its expected time and how often the formula expects a loss.
    """
    visitor.require_token()
    visitor.limit_saves()
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
    runs = typed(request.form, "runs", 1, RUNS_MOST)
    spec = study_spec(setting, failures, runs)
    if request.form.get("act") == "estimate":
        return _form(setting, failures, runs, estimate=_estimate(spec, setting, failures))
    number = jobs().submit(spec, *visitor.owner_and_account())
    return redirect(address(f"/batch/{number}", **visitor.lang_query()), 303)


@blueprint.get("/batch/<number>/advice")
def so_far(number: str) -> str:
    """Render the interim result of a running study, for its page.

    Before its first tree what the formula says.
    """
    batch = jobs().batch(number)
    if batch.kind != KIND:
        raise RequestError("not_found")
    active = batch.state in ACTIVE
    advice_now = jobs().advice_of(batch)
    if advice_now is None:
        return (
            render_template("advisor/advice_first.html", promised=promised(batch)) if active else ""
        )
    shown = {"id": batch.id, "runs": batch.runs, "advice": advice_now}
    return render_template("advisor/advice.html", batch=shown, active=active)


def _estimate(spec: Spec, setting: Setting, failures: Failures) -> StudyEstimate:
    """Estimate a study from one tree of the asked setting."""
    each = apart(_tree_s, setting, failures, spec.profiles[0])
    cores = jobs().runner.cores()
    settings = len(spec.cells) * len(spec.profiles)
    return {
        "trees": spec.total,
        "settings": settings,
        "seconds": spec.total * each / cores,
        "cores": cores,
        "overlaps": overlaps_per_year(setting, failures),
    }


def _tree_s(setting: Setting, failures: Failures, profile: str) -> float:
    began = clock.processor()
    Tree(setting, failures, profile, PILOT_SEED)
    return clock.processor() - began


def _bounded(name: str) -> int:
    low, high = advice.BOUNDS[name]
    number = whole_number(request.form.get(name, ""), low, high)
    if number is None:
        raise RequestError("invalid", "advice.range", name=name, low=low, high=high)
    return number


def study_spec(setting: Setting, failures: Failures, runs: int) -> Spec:
    """Return the study: a cell for the setting and one for each neighbour differing in one thing.

    Raises InputError, RequestError.
    """
    advice.check(setting, failures)
    scenario = quiet(setting, failures)
    yours = setting.values()
    cells = [Cell({}, scenario)]
    for other in advice.neighbours(setting)[1:]:
        changed = {key: value for key, value in other.values().items() if value != yours[key]}
        cells.append(cell_of(scenario, changed))
    about: BatchAbout = {
        "setting": {**yours, "profile": setting.profile},
        "failures": vars(failures).copy(),
        "cycles": True,
    }
    spec = Spec(scenario, advice.profiles(setting), runs, 0, tuple(cells), KIND, about)
    check_total(spec.total)
    return spec
