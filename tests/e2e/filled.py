"""A site with something to show on every page: saved runs, and batches that have ended."""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from app import create_app
from app.advisor.pages import study_spec
from app.batch import cycles, estimate
from app.batch.jobs import Jobs
from app.batch.spec import Futures, Spec, make_futures, make_spec
from app.core import config
from app.server.services import KEY, Services
from engine.advisor import importance
from engine.advisor.advice import Failures, Setting
from engine.replay.replay import Replay
from engine.scenarios import file
from engine.sim.run import Run
from engine.study.batch import run_chunk
from tests.batch_runner import plain_jobs
from tests.e2e.conftest import Server

NAMES = "names.json"
VARIED = [("min.insync.replicas", ["1", "2"]), ("brokers", ["3", "5"])]


def fill(place: Path) -> dict[str, str]:
    """Fills the instance of a server that has not started; name -> what stands in an address.

    The batches are played here, one chunk after the other: pages do not say which process counted.
    """
    app = create_app(config.load({}, instance=place))
    services: Services = app.extensions[KEY]
    services.jobs.close()
    jobs = plain_jobs(services, run_chunk)
    try:
        storm = file.find("S61")
        made = {
            "run": _save(services, Run(file.find("R20"), "Z0102", 0)),
            "batch": _played(jobs, make_spec(storm, 8, ["Z0102", "K39"], vary=VARIED)),
            "running": _played(jobs, make_spec(storm, 4, ["Z0102"])),
            "advice": _advised(jobs),
        }
        futures = make_futures(Run(file.find("S21"), "Z0102"), "I7", 1)
        # Each moment is a row of twenty-six figures, which axe reads one by one.
        some = replace(futures, presents=futures.presents[::4])
        made["futures"] = _played(jobs, some)
    finally:
        services.close()
    return made


def fill_folder(place: Path) -> None:
    """Fills an instance, with a file of what stands in its addresses."""
    names = fill(place)
    (place / NAMES).write_text(json.dumps(names), "utf-8")


def _save(services: Services, run: Run) -> str:
    services.store.save_run(run, Replay(run).outcome)
    return run.digest


def _advised(jobs: Jobs) -> str:
    """Of small trees, and one for a pilot: its page is the same."""
    with (
        patch.object(importance, "FLOOR", (1.0, 0.05, 0.001, 0.001)),
        patch.object(cycles, "PILOT_TREES", 1),
    ):
        return _played(jobs, study_spec(Setting(), Failures(), 1))


def _played(jobs: Jobs, spec: Spec | Futures) -> str:
    with patch.object(estimate, "PROBE_S", 0.02):  # no test reads how long it would take
        number = jobs.submit(spec)
        jobs.wait(number, lambda snapshot: None)
    return number


class Filled(Server):
    """A server over such a site; `names` fill the places of its addresses."""

    def __init__(self, place: Path, filled: Path | None = None) -> None:
        """`filled` is an instance that `fill_folder` has made; without it, this makes one."""
        super().__init__(place)
        if filled is None:
            fill_folder(place)
        else:
            shutil.copytree(filled, place, dirs_exist_ok=True)
        self.names: dict[str, str] = json.loads((place / NAMES).read_text("utf-8"))

    def start(self) -> None:
        super().start()
        # A server takes what ran before for interrupted; this one still runs elsewhere.
        running = self.names["running"]
        (self.place / "batches" / f"{running}.lock").unlink()
        self._change("state = 'running', finished = null where id = ?", running)

    def belongs_to(self, token: str) -> None:
        """Make all batches those of the browser with this token."""
        both = base64.urlsafe_b64decode(token)
        half = len(both) // 2
        own = bytes(a ^ b for a, b in zip(both[:half], both[half:], strict=True))
        self._change("owner = ?", hashlib.sha256(own).hexdigest())

    def _change(self, what: str, *values: str) -> None:
        with sqlite3.connect(self.place / "highwater.db") as rows:
            rows.execute(f"update batch set {what}", values)
