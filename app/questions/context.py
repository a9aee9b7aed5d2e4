"""Context of a question: the known runs, the language, and the way long work is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from app.core.refusals import RequestError
from app.core.request_fields import SEED_MAX, RequestFields
from app.core.words import Catalogue
from app.questions import names
from engine.model.json_types import Json
from engine.model.phrases import translate
from engine.replay.replay import Replay
from engine.scenarios.scenario import Scenario
from engine.scenarios.translated import in_language
from engine.sim.run import Run
from engine.view.wire import StepJson

Answer = Mapping[str, object]
"""Answer that is only sent on; a question whose answer Python reads declares its fields."""
T = TypeVar("T")
COMPARED_MOST: Final = 6_000
"""Steps of the longest run that is compared with others."""


class Runs(Protocol):
    """Runs by digest, and their replays."""

    def register(self, run: Run) -> str:
        """Remember a run and return its digest."""

    def run(self, digest: str) -> Run:
        """Return a known run.  Raises `RequestError` "gone"."""

    def using(self, digest: str, beyond: int | None = None) -> AbstractContextManager[Replay]:
        """Lock the replay of a known run until the block ends.

        With `beyond` an unfinished replay is enough, if it goes beyond that step.
        """

    def describe(self, digest: str, lang: str) -> Callable[[Replay], Json]:
        """Return a function that gives the facts of a replay of this run in a language.

        Call this before the replay is in use: it may read a database, and other callers wait for
        the replay.
        """


class Compute(Protocol):
    """Computation that takes long."""

    def apart(self, work: Callable[..., T], *args: object) -> T:
        """Return `work(*args)`, computed by another process where there is one."""

    def turn(self) -> AbstractContextManager[object]:
        """Wait for a turn to compute here until the block ends."""


@dataclass
class Context:
    """Known runs, computation, words and language: the surroundings of a question."""

    runs: Runs
    compute: Compute
    words: Catalogue
    lang: str
    saved_scenario: Callable[[str], Scenario | None]
    """Digest -> a scenario that was saved under it."""
    visible_until: Callable[[str], int | None] = lambda _digest: None
    """Digest -> the last step of this run that may be sent; None for all."""
    compared_most: int = COMPARED_MOST
    """Steps of the longest run that is compared with another one."""
    run: Run | None = None
    """The run of the current question, for the report of a failure."""

    def text(self, key: str, args: Mapping[str, Any] | None = None) -> str:
        """Return the words of a key in the language of the question."""
        return self.words.text(self.lang, key, args or {})

    def said(self, sentence: str) -> str:
        """Return a sentence of the engine in the language of the question."""
        return translate(sentence, self.lang)

    def scenario(self, name: str) -> Scenario:
        """Return a scenario by code, slug or digest.  Raises `RequestError` "not_found"."""
        return names.scenario_named(name, self.saved_scenario)

    def visible(self, digest: str, steps: list[StepJson]) -> list[StepJson]:
        """Return the steps without those that may not be sent."""
        last = self.visible_until(digest)
        return steps if last is None else [step for step in steps if step["n"] <= last]

    @contextmanager
    def at_step(self, request: RequestFields) -> Iterator[tuple[str, Replay, int]]:
        """Yield digest, replay and step that a request names as ``run`` and ``step``.

        Raises `RequestError` "gone", or "stale" for a step beyond the end.
        """
        digest = names.digest_asked(request)
        self.run = self.runs.run(digest)
        with self.runs.using(digest, names.step_of(request)) as replay:
            yield digest, replay, names.step_asked(request, digest, replay.total)


def described(replay: Replay, lang: str) -> Json:
    """Return the engine's facts of a run, with texts in a language."""
    facts = dict(replay.facts(in_language(replay.run.scenario, lang)))
    broken = [
        {**breach, "why": translate(breach["why"], lang)} for breach in facts["verdict"]["broken"]
    ]
    facts["verdict"] = {**facts["verdict"], "broken": broken}
    return facts


def run_of(context: Context, request: RequestFields) -> Run:
    """Return the run a request names: by text, by digest, or by scenario, profile and seed."""
    if request.has("text"):
        return context.compute.apart(names.parse_run, request.raw("text"))
    if request.has("run"):
        return context.runs.run(names.digest_asked(request))
    if not request.has("scenario"):
        raise RequestError("invalid", what="scenario")
    return names.default_run(
        context.scenario(request.text("scenario")),
        request.text("profile", default=""),
        request.whole("seed", 0, SEED_MAX, default=0),
    )
