"""Questions about one run: its steps, its moves, and why something does not happen."""

from __future__ import annotations

from dataclasses import replace
from typing import TypedDict

from app.core.request_fields import SEED_MAX, RequestFields
from app.questions import names
from app.questions.context import Answer, Context, run_of
from engine.model.errors import InputError
from engine.model.json_types import Json
from engine.replay.replay import Replay
from engine.sim.run import Run
from engine.view.wire import Sentence, StepJson, Why
from engine.why.guards_control import WHOLE
from engine.why.why import MAX_SUBJECT

AHEAD = 32
"""The most steps of one answer."""
WINDOW = 8
"""Steps sent when a request names no number."""
STEPS_MOST = 64
"""The most steps of an answer to a client without a socket."""
MOVE_CHARS = 2_000


class OpenedRun(TypedDict):
    """A run: its text, its facts, and its steps from `first` on."""

    run: str
    text: str
    facts: Json
    first: int
    steps: list[StepJson]


class RunSteps(TypedDict):
    """Steps of a run from `first` on; `total` is its last step."""

    run: str
    first: int
    total: int
    steps: list[StepJson]


class RunEnding(TypedDict):
    """End of a run: its verdict, and the acknowledged records that it lost."""

    run: str
    total: int
    verdict: Json
    lost: list[str]


class RunWhy(Why):
    run: str
    step: int


def steps_from(replay: Replay, first: int, count: int) -> list[StepJson]:
    """Return `count` steps; fewer at the end, none beyond it."""
    return replay.steps(first, count) if first <= replay.total else []


def open_run(context: Context, request: RequestFields) -> OpenedRun:
    """Return the run {text | run | scenario, profile, seed}, with steps around ``step``.

    With ``early`` a long run is answered by its beginning, whose facts are ``unfinished``.

    A script of another release or of an older engine may have a move that cannot be played; then
    the run ends before that move, with the sentence that says why.
    """
    run = context.run = run_of(context, request)
    try:
        return _opened(context, request, run)
    except InputError as bad:
        word, _, number = bad.where.partition(" ")
        if word != "Move":
            raise
        moves = run.lines()[: int(number) - 1]
        context.run = Run(run.scenario, run.profile, run.seed, moves)
        answer = _opened(context, request, context.run)
        answer["facts"]["stops"] = context.said(bad.sentence)
        return answer


def _opened(context: Context, request: RequestFields, run: Run) -> OpenedRun:
    digest = context.runs.register(run)
    describe = context.runs.describe(digest, context.lang)
    step = names.step_of(request)
    beyond = step if request.raw("early") is True else None
    with context.runs.using(digest, beyond) as replay:
        step = min(step, replay.total)
        have = request.whole("have", -1, SEED_MAX, default=-1)
        ahead = request.count("ahead", AHEAD, WINDOW)
        first = max(0, step - 1)
        if have >= step:
            first = have + 1
            steps = steps_from(replay, first, ahead)
        else:
            steps = replay.around(first, step, max(1, ahead))
        return {
            "run": digest,
            "text": run.text(),
            "facts": describe(replay),
            "first": first,
            "steps": context.visible(digest, steps),
        }


def move(context: Context, request: RequestFields) -> Answer:
    """Return the branch of {run} in which ``text`` is played after ``step``."""
    parent = names.digest_asked(request)
    text = request.text("text", most=MOVE_CHARS)
    ahead = request.count("ahead", AHEAD, WINDOW)
    run = context.run = context.runs.run(parent)
    with context.runs.using(parent, names.step_of(request)) as replay:
        step = names.step_asked(request, parent, replay.total)
        # Should the move fail, this is what plays it again.
        context.run = replace(run, moves=(*replay.cut(step), text))
        branch = context.run = replay.branch(step, text)
    digest = context.runs.register(branch)
    describe = context.runs.describe(digest, context.lang)
    with context.runs.using(digest) as replay:
        return {
            "run": digest,
            "at": step + 1,
            "text": branch.text(),
            "facts": describe(replay),
            "steps": steps_from(replay, step + 1, ahead),
        }


def steps(context: Context, request: RequestFields) -> RunSteps:
    """Return ``count`` steps of {run} from ``first`` on; fewer at the end, none beyond it."""
    digest = names.digest_asked(request)
    first = request.whole("first", 0, SEED_MAX, default=0)
    count = request.count("count", STEPS_MOST, AHEAD)
    context.run = context.runs.run(digest)
    with context.runs.using(digest) as replay:
        page = steps_from(replay, first, count)
        return {
            "run": digest,
            "first": first,
            "total": replay.total,
            "steps": context.visible(digest, page),
        }


def ending(context: Context, request: RequestFields) -> RunEnding:
    """Return the verdict of {run}, the acknowledged records that it lost, and its length."""
    digest = names.digest_asked(request)
    context.run = context.runs.run(digest)
    with context.runs.using(digest) as replay:
        return {
            "run": digest,
            "total": replay.total,
            "verdict": replay.verdict(),
            "lost": list(replay.end.ledger.lost),
        }


def play(context: Context, request: RequestFields) -> RunSteps:
    """Return ``count`` steps of {run} after ``step``."""
    with context.at_step(request) as (digest, replay, step):
        steps = steps_from(replay, step + 1, request.count("count", AHEAD, WINDOW))
        return {
            "run": digest,
            "first": step + 1,
            "total": replay.total,
            "steps": context.visible(digest, steps),
        }


def seek(context: Context, request: RequestFields) -> RunSteps:
    """Return the step ``step`` of {run}, and the two before it, which show what it changed."""
    with context.at_step(request) as (digest, replay, step):
        first = max(0, step - 2)
        return {
            "run": digest,
            "first": first,
            "total": replay.total,
            "steps": context.visible(digest, replay.around(first, step, 1 + step - first)),
        }


def possible(context: Context, request: RequestFields) -> Answer:
    """Return the moves that {run} allows at ``step``, and its messages in full."""
    with context.at_step(request) as (digest, replay, step):
        return {
            "run": digest,
            "step": step,
            "moves": [
                {**row, "help": context.said(row["help"]), "why": context.said(row["why"])}
                for row in replay.possible(step)
            ],
            "messages": replay.letters(step),
        }


def metrics(context: Context, request: RequestFields) -> Answer:
    """Return an operator's dashboard of {run} at ``step``, beside the true values."""
    with context.at_step(request) as (digest, replay, step):
        return {"run": digest, "step": step, "metrics": replay.dashboard(step)}


def why(context: Context, request: RequestFields) -> RunWhy:
    """Explain why ``subject`` does not happen at ``step``: its guards, and how to meet them."""
    subject = request.text("subject", most=MAX_SUBJECT)
    with context.at_step(request) as (digest, replay, step):
        answer = replay.why(step, subject)
        for guard in answer["guards"]:
            _translate(context, guard["say"])
        return {"run": digest, "step": step, **answer}


def _translate(context: Context, sentence: Sentence) -> None:
    """Translate the engine's own words in a sentence: a reason without a key of the catalogue."""
    if sentence["key"] == WHOLE:
        words = sentence["args"]["s"]
        words["s"] = context.said(words["s"])
