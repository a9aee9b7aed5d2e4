"""Session of a tab without a server: a question as JSON, its answer as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, cast

from app.core import config
from app.core.config import Settings
from app.core.json_response import from_json, plain_json
from app.core.refusals import RequestError
from app.core.words import Catalogue
from app.questions import batch
from app.questions.context import Answer, Context
from app.questions.local import LocalCompute
from app.questions.table import OPENS, STEPS, answered
from app.runs.replays import Replays
from app.workers.absence import NoWorkerError
from engine.model.languages import USUAL, language_of
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run

SCENARIOS_MOST: Final = 200


class TabStore:
    """Scenarios of this tab, until it is closed; runs are not saved."""

    def __init__(self) -> None:
        self._scenarios: dict[str, Scenario] = {}

    def run(self, digest: str) -> None:
        """Return None: a run of a tab is kept by the page, in its address."""

    def scenario(self, digest: str) -> Scenario | None:
        """Return a scenario that was saved in this tab."""
        return self._scenarios.get(digest)

    def at_hand(self, limit: int = 200, owner: str = "") -> list[Any]:
        """Return no rows: the library page of a tab lists none."""
        return []

    def save_scenario(self, scenario: Scenario, owner: str = "") -> bool:
        """Keep a scenario; True if it was new.  Raises `RequestError` "full" beyond the limit."""
        if scenario.digest in self._scenarios:
            return False
        if len(self._scenarios) >= SCENARIOS_MOST:
            raise RequestError("full", "full.tab", most=SCENARIOS_MOST)
        self._scenarios[scenario.digest] = scenario
        return True

    def save_run(self, run: object, outcome: str) -> NoReturn:
        """Raise `RequestError` "forbidden": without a server the link carries the run."""
        raise RequestError("forbidden", "forbidden.tab")


class NoWorkers:
    """A worker pool without processes: all work is done here."""

    are_there: Final = False

    def do(self, work: Callable[..., object], *args: object, **_: object) -> NoReturn:
        """Raise NoWorkerError."""
        raise NoWorkerError


if TYPE_CHECKING:
    from app.storage.saved import Store
    from app.workers.pool import Workers

QUESTIONS: Final = {**OPENS, **STEPS, "seeds": batch.seeds}
LIMITS: Final[Mapping[str, object]] = {
    "live_runs": 40,
    "live_mib": 256,
    "known_runs": 2_000,
    "build_cpu_s": 60.0,
    "cpu_ms_per_s": 1e6,
    "saves_per_s": 1e6,
    "secret_key": "a tab signs for itself alone",
    "database_url": "none",
    "instance": Path("/tmp/highwater"),
}
"""Settings of a tab: its visitor shares the processor with no other visitor."""


class TabReplays(Replays):
    """Replays of a tab; remembers which runs are new, so that the page can keep their texts."""

    def __init__(self, settings: Settings, store: Store, workers: Workers) -> None:
        super().__init__(settings, store, workers)
        self.fresh: dict[str, Run] = {}
        self._reported: set[str] = set()

    def register(self, run: Run) -> str:
        digest = super().register(run)
        if digest not in self._reported:
            self.fresh[digest] = run
        return digest

    def take_fresh(self) -> dict[str, Run]:
        """Return the runs that were registered since the last call."""
        fresh, self.fresh = self.fresh, {}
        self._reported |= fresh.keys()
        return fresh


class TabSession:
    """Questions of one tab, and the runs it knows."""

    def __init__(self) -> None:
        self.settings: Settings = config.load({}, **LIMITS)
        self.store = TabStore()
        self.workers = NoWorkers()
        self.replays = TabReplays(
            self.settings, cast("Store", self.store), cast("Workers", self.workers)
        )
        self.words = Catalogue()

    def context(self, lang: str) -> Context:
        """Return the context of a question in a language, English where it is unknown."""
        return Context(
            runs=self.replays,
            compute=LocalCompute(),
            words=self.words,
            lang=language_of(lang) or USUAL,
            saved_scenario=self.store.scenario,
        )

    def ask(self, name: str, request: str, lang: str) -> str:
        """Return the answer to a question as JSON, a refusal included."""
        return plain_json(self._answer(name, request, self.context(lang))).decode()

    def new_runs(self) -> str:
        """Return {digest: text} of runs that are new since the last call, as JSON; "" for none."""
        fresh = self.replays.take_fresh()
        texts = {digest: run.text() for digest, run in fresh.items()}
        return plain_json(texts).decode() if texts else ""

    def _answer(self, name: str, request: str, context: Context) -> Answer:
        question = QUESTIONS.get(name)
        if question is None:
            refusal = RequestError("invalid", key="invalid.event", event=name[:40])
            return refusal.answer(context.lang)
        try:
            data = from_json(request)
        except ValueError:
            return RequestError("invalid", key="invalid.json").answer(context.lang)
        return answered(context, lambda fields: question(context, fields), data)
