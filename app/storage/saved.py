"""Saved scenarios and runs: kept by digest, so that saving twice changes nothing."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.core.refusals import RequestError
from app.storage.database import Database
from app.storage.models import RunRow, ScenarioRow
from engine import ENGINE_VERSION
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run

UNBOUNDED: Final = 1 << 62


@dataclass(frozen=True)
class SavedRun:
    """Stored text of a run, and the engine version that stored it."""

    text: str
    engine_version: int
    outcome: str


class Store:
    """Access to the two tables; everything it returns is a value."""

    def __init__(self, database: Database, most_bytes: int = UNBOUNDED) -> None:
        self._database = database
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._bytes = -1

    def run(self, digest: str) -> SavedRun | None:
        with self._database.reading() as session:
            row = session.get(RunRow, digest)
            return SavedRun(row.text, row.engine_version, row.outcome) if row else None

    def scenario(self, digest: str) -> Scenario | None:
        with self._database.reading() as session:
            row = session.get(ScenarioRow, digest)
            return Scenario.from_dict(json.loads(row.text)) if row else None

    def scenarios(self, limit: int = 200, owner: str = "") -> list[ScenarioRow]:
        """Return the scenarios saved here, newest first; of one browser, where it is named."""
        with self._database.reading() as session:
            newest = select(ScenarioRow).order_by(ScenarioRow.created.desc()).limit(limit)
            if owner:
                newest = newest.where(ScenarioRow.owner == owner)
            return list(session.scalars(newest))

    def at_hand(self, limit: int = 200, owner: str = "") -> list[ScenarioRow]:
        """Return the same; none where the database does not answer, so the page works without."""
        try:
            return self.scenarios(limit, owner)
        except RequestError:
            return []

    def kept_bytes(self) -> int:
        """Return the size of all texts; -1 while the database has not answered yet."""
        with self._lock:
            total = self._bytes
        if total < 0:
            try:
                with self._database.reading() as session:
                    total = sum(
                        session.scalar(select(func.coalesce(func.sum(func.length(text)), 0))) or 0
                        for text in (RunRow.text, ScenarioRow.text)
                    )
            except RequestError:
                return -1
            with self._lock:
                self._bytes = total
        return total

    def _require_room(self, size: int) -> None:
        """Raise `RequestError` "full" where saved texts would exceed their limit."""
        if self.kept_bytes() + size > self._most_bytes:
            raise RequestError("full", "saved.full", setting="HIGHWATER_SAVED_MIB")

    def _grown(self, size: int) -> None:
        with self._lock:
            if self._bytes >= 0:
                self._bytes += size

    def save_run(self, run: Run, outcome: str) -> bool:
        """Save a run; True if it was new.

        Its scenario is kept with it, so that it has a link as well.
        """
        text = run.text()
        self._require_room(len(text))
        with self._database.writing() as session:
            if session.get(RunRow, run.digest) is not None:
                return False
            _keep_scenario(session, run.scenario, "")
            session.add(
                RunRow(
                    digest=run.digest,
                    scenario_digest=run.scenario.digest,
                    text=text,
                    engine_version=ENGINE_VERSION,
                    outcome=outcome,
                )
            )
        self._grown(len(text))
        return True

    def save_scenario(self, scenario: Scenario, owner: str = "") -> bool:
        """Save a scenario; True if it was new."""
        size = len(scenario.canonical())
        self._require_room(size)
        with self._database.writing() as session:
            new = _keep_scenario(session, scenario, owner)
        if new:
            self._grown(size)
        return new


def _keep_scenario(session: Session, scenario: Scenario, owner: str) -> bool:
    if session.get(ScenarioRow, scenario.digest) is not None:
        return False
    session.add(
        ScenarioRow(
            digest=scenario.digest,
            slug=scenario.slug,
            title=scenario.title,
            text=scenario.canonical(),
            engine_version=ENGINE_VERSION,
            owner=owner,
        )
    )
    return True
