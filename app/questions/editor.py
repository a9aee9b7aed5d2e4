"""Questions of the scenario editor: what is wrong with a text, and how it plays."""

from __future__ import annotations

from typing import Final, NotRequired, TypedDict

from app.core import clock
from app.core.refusals import RequestError
from app.core.request_fields import RequestFields
from app.questions import names
from app.questions.context import Answer, Context
from engine.catalogue import promises
from engine.model.errors import InputError
from engine.model.json_types import Json
from engine.model.phrases import translate
from engine.moves import moves
from engine.replay.replay import STEPS_MOST
from engine.scenarios import file
from engine.scenarios.expectations import in_order
from engine.scenarios.places import Places
from engine.scenarios.scenario import Scenario
from engine.scenarios.writing import to_yaml, yaml_of
from engine.sim.run import Run

WHERE: Final = "scenario"
MOST_PROFILES: Final = 12
PATIENCE_S: Final = 6.0
"""Seconds after which the remaining profiles of one scenario are left out."""
STEPS_AT_ONCE: Final = 64
MOST_PROBLEMS: Final = 50


class Problem(TypedDict):
    line: int
    column: int
    sentence: str
    script: NotRequired[int]


class LineProblem(TypedDict):
    script: int
    sentence: str


class OutcomeJson(TypedDict):
    """Outcome under a profile; of a script that cannot be played only the problem."""

    profile: str
    verdict: NotRequired[str]
    broken: NotRequired[list[str]]
    final: NotRequired[str]
    complaints: NotRequired[list[str]]
    problem: NotRequired[LineProblem]


def check(context: Context, request: RequestFields) -> Answer:
    """Return {yaml} or {scenario} in both forms, and everything that is wrong with them."""
    return context.compute.apart(looked_at, _sent(request), context.lang)


def _sent(request: RequestFields) -> str | Json:
    """Return what a request has: YAML, or the data of a form.

    Raises `RequestError` "invalid" or "too_large".
    """
    if not request.has("scenario"):
        empty = request.raw("yaml") == ""
        return "" if empty else request.text("yaml", most=names.SCENARIO_BYTES)
    data = request.raw("scenario")
    if not isinstance(data, dict):
        raise RequestError("invalid", what="scenario")
    return data


def play(context: Context, request: RequestFields) -> Answer:
    """Play {yaml} under each profile; return what happens beside what is promised."""
    return {"profiles": context.compute.apart(_played, _sent(request), context.lang)}


def attempt(context: Context, request: RequestFields) -> Answer:
    """Return the run of {yaml, profile} with its first steps, up to a move that fails."""
    profile = request.text("profile", default="")
    run, problem = context.compute.apart(_attempted, _sent(request), profile, context.lang)
    digest = context.runs.register(run)
    describe = context.runs.describe(digest, context.lang)
    with context.runs.using(digest) as replay:
        return {
            "run": digest,
            "facts": describe(replay),
            "steps": replay.steps(0, STEPS_AT_ONCE),
            "problem": problem,
        }


# -- in a worker process --------------------------------------------------------------------------


def _yaml(sent: str | Json) -> str:
    """Return what was sent as YAML.  Raises `RequestError` "invalid" or "too_large"."""
    text = sent if isinstance(sent, str) else _text_of(sent)
    if len(text.encode("utf-8", "replace")) > names.SCENARIO_BYTES:
        raise RequestError("too_large", limit=names.SCENARIO_BYTES)
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


def looked_at(sent: str | Json, lang: str) -> Answer:
    """Return {yaml, scenario or None, problems: [{line, column, sentence, script?}]}."""
    text = _yaml(sent)
    try:
        scenario, places = file.load_placed(text, WHERE)
    except InputError as bad:
        problem = _problem(lang, text, bad.where, bad)
        return {"yaml": text, "scenario": None, "problems": [problem]}
    problems = _script_problems(lang, text, scenario, places)
    return {"yaml": text, "scenario": scenario.to_dict(), "problems": problems}


def _script_problems(lang: str, text: str, scenario: Scenario, places: Places) -> list[Problem]:
    """Return every line of the script that is no move, once."""
    problems: dict[int, Problem] = {}
    for profile in scenario.profiles:
        for line in scenario.lines(profile):
            if line.is_expect or line.number in problems or len(problems) >= MOST_PROBLEMS:
                continue
            try:
                moves.parse(line.text, scenario.brokers)
            except InputError as bad:
                where = places.of(("script", line.number))
                problem = _problem(lang, text, where, bad)
                problems[line.number] = {**problem, "script": line.number}
    return [problems[number] for number in sorted(problems)]


def _problem(lang: str, text: str, where: str, bad: InputError) -> Problem:
    """Return the place of a refusal ("scenario:12:3") as numbers.

    A line's column is where its text is.
    """
    numbers = [int(part) for part in where.split(":")[-2:] if part.isdigit()]
    line, column = numbers if len(numbers) == 2 else (1, 1)
    lines = text.split("\n")
    if column == 1 and line <= len(lines):
        column += len(lines[line - 1]) - len(lines[line - 1].lstrip())
    return {"line": line, "column": column, "sentence": translate(bad.sentence, lang)}


def _played(sent: str | Json, lang: str) -> list[OutcomeJson]:
    """Return one entry for each profile, as many as there is time for."""
    scenario = file.load_text(_yaml(sent), WHERE)
    until = clock.monotonic() + PATIENCE_S
    outcomes: list[OutcomeJson] = []
    for profile in scenario.profiles[:MOST_PROFILES]:
        if outcomes and clock.monotonic() > until:
            break
        outcomes.append(_outcome(lang, scenario, profile))
    return outcomes


def _attempted(sent: str | Json, profile: str, lang: str) -> tuple[Run, LineProblem | None]:
    """Return the run of a text up to a move that fails, and why that fails."""
    scenario = file.load_text(_yaml(sent), WHERE)
    run = names.default_run(scenario, profile or scenario.profiles[0])
    problem = _outcome(lang, scenario, run.profile).get("problem")
    if problem is None:
        return run, None
    lines = [line for line in scenario.lines(run.profile) if not line.is_expect]
    good = tuple(line.text for line in lines if line.number < problem["script"])
    return Run(scenario, run.profile, 0, good), problem


def _outcome(lang: str, scenario: Scenario, profile: str) -> OutcomeJson:
    try:
        outcome = promises.play(scenario, profile, budget=STEPS_MOST)
    except InputError as bad:
        problem: LineProblem = {
            "script": _line_of(bad),
            "sentence": translate(bad.sentence, lang),
        }
        return {"profile": profile, "problem": problem}
    broken = in_order(name for name, _, _ in outcome.sim.broken)
    return {
        "profile": profile,
        "verdict": " ".join(["violates", *broken]) if broken else "holds",
        "broken": broken,
        "final": promises.end_text(outcome.sim, 0),
        "complaints": [translate(text, lang) for text in outcome.complaints],
    }


def _line_of(bad: InputError) -> int:
    """Return the line of the script a refusal is about; 0 where it is about none."""
    word, _, number = bad.where.partition(" ")
    return int(number) if word == "line" and number.isdigit() else 0
