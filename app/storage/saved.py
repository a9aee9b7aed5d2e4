"""Saved scenarios and runs: kept by digest, so that saving twice changes nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.common.refusals import Refusal
from app.storage.database import Database
from app.storage.models import RunRow, ScenarioRow
from engine import ENGINE_VERSION
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run

RUN_BYTES = 64 * 1024
SCENARIO_BYTES = 64 * 1024


@dataclass(frozen=True)
class SavedRun:
    """What was stored of a run, and by which engine."""

    text: str
    engine_version: int
    outcome: str


class Store:
    """Reads and writes the two tables; everything it returns is a value."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def run(self, digest: str) -> SavedRun | None:
        with self._database.reading() as session:
            row = session.get(RunRow, digest)
            return SavedRun(row.text, row.engine_version, row.outcome) if row else None

    def scenario(self, digest: str) -> Scenario | None:
        with self._database.reading() as session:
            row = session.get(ScenarioRow, digest)
            return Scenario.from_dict(json.loads(row.text)) if row else None

    def scenarios(self, limit: int = 200, owner: str = "") -> list[ScenarioRow]:
        """The scenarios saved here, newest first; of one browser, where it is named."""
        with self._database.reading() as session:
            newest = select(ScenarioRow).order_by(ScenarioRow.created.desc()).limit(limit)
            if owner:
                newest = newest.where(ScenarioRow.owner == owner)
            return list(session.scalars(newest))

    def save_run(self, run: Run, outcome: str) -> bool:
        """True if it was new.  Its scenario is kept with it, so that it has a link as well."""
        with self._database.writing() as session:
            if session.get(RunRow, run.digest) is not None:
                return False
            _keep_scenario(session, run.scenario, "")
            session.add(
                RunRow(
                    digest=run.digest,
                    scenario_digest=run.scenario.digest,
                    text=run.text(),
                    engine_version=ENGINE_VERSION,
                    outcome=outcome,
                )
            )
            return True

    def save_scenario(self, scenario: Scenario, owner: str = "") -> bool:
        """True if it was new."""
        with self._database.writing() as session:
            return _keep_scenario(session, scenario, owner)


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


def parse_run(text: object) -> Run:
    """A run from a text someone sent: bounded first, then read strictly."""
    if not isinstance(text, str) or not text:
        raise Refusal("invalid", what="run")
    if len(text.encode("utf-8", "replace")) > RUN_BYTES:
        raise Refusal("too_large", limit=RUN_BYTES)
    return Run.from_text(text)
