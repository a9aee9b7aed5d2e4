"""Store and workers of a tab, which has no database and no other processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NoReturn

from app.core.refusals import RequestError
from app.workers.absence import NoWorkerError
from engine.scenarios.scenario import Scenario

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
