"""One seed: an application, visitors, a draw of faults, and the checks after each."""

from __future__ import annotations

import logging
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from app.batch.records import ACTIVE
from app.core import clock, config
from app.storage.database import Database
from tests.storm import ledger
from tests.storm.faults import FAULTS, LASTS_S, OF_THE_DATABASE
from tests.storm.ledger import Ledger, Study
from tests.storm.net import Browser
from tests.storm.process import START_S, Process, Trouble, place_of
from tests.storm.visitors import Visitor
from tests.storm.world import World

VISITORS: Final = 3
FAULTS_EACH: Final = 5
CALM_S: Final = 3.0
AFTER_S: Final = 8.0
"""Until the last study is done."""
TRIES: Final = 4
OVERDRAFT_S: Final = 1.5
"""What may be under way when an account is found to be empty."""
SCALED: Final[dict[str, Any]] = {
    "cpu_ms_per_s": 200.0,
    "cpu_burst_ms": 2_000,
    "build_cpu_s": 1.0,
    "saved_kib_per_day": 64,
    "live_mib": 8,
}
"""Settings a tenth of the usual ones, so that limits are reached within seconds."""


@dataclass
class StormOutcome:
    """Result of one seed."""

    seed: int
    story: list[str]
    faults: dict[str, int]
    broken: list[tuple[str, str]]
    p99_ms: float
    counts: dict[str, int]
    virtual_s: float
    live_mib: float = 0.0
    trouble: list[str] = field(default_factory=list)


class Storm:
    """The world of one seed; `run` lets it pass."""

    def __init__(
        self, seed: int, place: Path, kinds: Iterable[str] = (), faults: int = FAULTS_EACH
    ) -> None:
        self.seed = seed
        self.world = World(seed)
        self.trouble = Trouble()
        self.ledger = Ledger()
        self.story: list[str] = []
        self.faults: Counter[str] = Counter()
        self.settings = replace(config.load({}, instance=place), **SCALED)
        self.database = place / "highwater.db"
        self.kinds = sorted(kinds) or sorted(FAULTS)
        self.many = faults
        self.process: Process | None = None
        self._bad_until = 0.0
        self._bad = 0
        self._number = 0
        self._live_mib = 0.0

    # -- what visitors and faults ask ----------------------------------------------------------

    def tell(self, line: str) -> None:
        self.story.append(f"{self.world.now:9.3f}  {line}")

    def excused(self, since: float) -> bool:
        return bool(self._bad) or self._bad_until >= since

    def next_number(self) -> int:
        self._number += 1
        return self._number

    def start(self) -> None:
        self.process = Process(self.world, self.settings, self.trouble)

    def restart(self) -> None:
        """Start a new process, where the last one was killed; if none was, kill it now."""
        assert self.process is not None
        self.process.kill()
        self.process.bury()
        self.tell("the process was killed")
        self.process = None
        self.world.sleep(START_S)
        self.start()
        self.tell("another one listens")

    # -- the storm itself ----------------------------------------------------------------------

    def run(self) -> StormOutcome:
        clock.install(self.world)
        try:
            self.start()
            director = self.world.spawn("director", self._direct)
            for number in range(VISITORS):
                self.world.spawn(f"visitor {number}", Visitor(self, number).live)
            while not director.over:
                self.world.run(1.0)
        finally:
            self.world.end()
            if self.process is not None:
                self.process.kill()
                self.process.bury()
            clock.install(clock.MachineClock())
        return StormOutcome(
            self.seed,
            self.story,
            dict(self.faults),
            self.ledger.broken,
            self.ledger.p99_ms(),
            dict(self.ledger.counts),
            self.world.now,
            self._live_mib,
        )

    def _direct(self) -> None:
        """Strike with faults one after the other, sometimes with two together."""
        dice = self.world.random
        self.world.sleep(CALM_S)
        for _ in range(self.many):
            drawn = {dice.choice(self.kinds)}
            if dice.random() < 0.3:
                drawn.add(dice.choice(self.kinds))
            self._strike(sorted(drawn))
            self.world.sleep(CALM_S)
            self._check()
        self.world.sleep(AFTER_S)
        self._finish()

    def _strike(self, kinds: list[str]) -> None:
        dice = self.world.random
        lasts = max(dice.uniform(*LASTS_S.get(kind, (3.0, 8.0))) for kind in kinds)
        bad = any(kind in OF_THE_DATABASE for kind in kinds)
        self._bad += bad
        self.tell(f"{' and '.join(kinds)}, {lasts:.1f} s")
        with ExitStack() as stack:
            for kind in kinds:
                self.faults[kind] += 1
                stack.enter_context(FAULTS[kind](self, dice))
            until = self.world.now + lasts
            while self.world.now < until:
                self.world.sleep(0.5)
                self._measure()
        self._bad -= bad
        if bad:  # requests that wait for the database still fail a little later
            self._bad_until = self.world.now + 0.5
        self.tell("over")

    # -- promises ------------------------------------------------------------------------------

    def _measure(self) -> None:
        """Check that no address has more than its share, at any moment."""
        process = self.process
        if process is None or process.dead:
            return
        accounts = process.services.accounts
        for address, spent_s in process.charged.items():
            share = self.settings.cpu_burst_ms / 1_000
            share += (self.world.now - process.born) * self.settings.cpu_ms_per_s / 1_000
            if spent_s > share + OVERDRAFT_S:
                self.ledger.fail(ledger.BOUNDED, f"{address} had {spent_s:.1f} s of the processor")
        for address, size in accounts._bytes.items():
            if size > 8 * 1024 * 1024:
                self.ledger.fail(ledger.BOUNDED, f"{size} bytes of bodies of {address}")
        for address, count in process.gateway._of.items():
            if count > self.settings.sockets_per_address + 4:
                self.ledger.fail(ledger.BOUNDED, f"{count} live connections of {address}")
        studies = Counter(job.address for job in process.services.jobs._jobs.values())
        for address, count in studies.items():
            if count > self.settings.batches_per_address:
                self.ledger.fail(ledger.BOUNDED, f"{count} studies of {address}")
        _, weight = process.services.replays.weight()
        self._live_mib = max(self._live_mib, weight / 2**20)
        if weight > 2 * self.settings.live_mib * 2**20:
            self.ledger.fail(ledger.BOUNDED, f"{weight} bytes of live runs")
        most = self.settings.saved_kib_per_day * 1024
        for address, size in self.ledger.kept.items():
            lives = 1 + self.faults["kill"]  # accounts are in memory
            if size > lives * most * 1.1:
                self.ledger.fail(ledger.BOUNDED, f"{address} saved {size} bytes")

    def _check(self) -> None:
        """Check after a fault that all is well, and all that was acknowledged is there."""
        assert self.process is not None
        health = Browser(self.world, "127.0.0.1").ask(self.process, "GET", "/health")
        if health.status != 200:
            self.ledger.fail(ledger.MENDS, f"/health is {health.status}: {health.text[:200]}")
        self._kept()

    def _kept(self) -> None:
        """Check with a connection of its own, which shares nothing with the application."""
        aside = Database(self.settings.database_url)
        try:
            from app.storage.saved import Store

            store = Store(aside)
            for digest, what in self.ledger.saves.items():
                found = store.run(digest) if what == "run" else store.scenario(digest)
                if found is None:
                    self.ledger.fail(ledger.KEPT, f"a {what} that was acknowledged is gone")
        finally:
            aside.close()

    def _finish(self) -> None:
        """Check at the end that every link opens, studies are whole, and steps were quick."""
        assert self.process is not None
        reader = Browser(self.world, "192.0.2.1")
        for digest, what in sorted(self.ledger.saves.items())[-20:]:
            place = "/r/" if what == "run" else "/s/"
            if reader.ask(self.process, "GET", place + digest).status != 200:
                self.ledger.fail(ledger.KEPT, f"the link of a {what} does not open")
        for study in list(self.ledger.studies.values()):
            self._see_to_its_end(study)
        p99 = self.ledger.p99_ms()
        if p99 > ledger.QUICK_MS:
            self.ledger.fail(ledger.QUICK, f"p99 of an honest step is {p99:.0f} ms")

    def _see_to_its_end(self, study: Study) -> None:
        """Resume a study as its owner until all its runs are there."""
        assert self.process is not None
        jobs, wrong = self.process.services.jobs, ""
        for _ in range(TRIES):
            while jobs.batch(study.number).state in ACTIVE:
                self.world.sleep(1.0)
            state, wrong = jobs.batch(study.number).state, study.wrong(place_of(self.settings))
            if state == "done" and not wrong:
                break
            path = f"/api/batches/{study.number}/resume"
            told = study.owner.ask(self.process, "POST", path, {}).status
            self.tell(f"a study that is {state} is taken up ({wrong}): {told}")
        else:
            self.ledger.fail(ledger.KEPT, f"a study is {state}; {wrong}")


def play(seed: int, kinds: Iterable[str] = (), faults: int = FAULTS_EACH) -> StormOutcome:
    """Play the storm of one seed, in a directory of its own that is gone afterwards."""
    place = Path(tempfile.mkdtemp(prefix="highwater-storm-"))
    logging.disable(logging.CRITICAL)  # faults are what it is about
    try:
        shutil.copy(_empty(), place / "highwater.db")
        return Storm(seed, place, kinds, faults).run()
    finally:
        logging.disable(logging.NOTSET)
        shutil.rmtree(place, ignore_errors=True)


_kept_empty: list[Any] = []


def _empty() -> Path:
    """Return a database that was migrated once, to be copied."""
    if not _kept_empty:
        folder = tempfile.TemporaryDirectory(prefix="highwater-storm-")
        path = Path(folder.name) / "highwater.db"
        database = Database(f"sqlite:///{path}")
        database.migrate()
        database.close()
        _kept_empty.extend((folder, path))
    found: Path = _kept_empty[1]
    return found
