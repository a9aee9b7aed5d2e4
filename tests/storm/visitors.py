"""Honest visitors: they step, save and study, and remember what was acknowledged."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final, Protocol

from engine.scenarios.scenario import Scenario
from engine.sim.run import Run
from tests.storm import ledger
from tests.storm.ledger import Ledger, Study
from tests.storm.net import DOWN, Answer, Browser
from tests.storm.process import Process
from tests.storm.world import Dice, World

SHOWN: Final = ("S20", "R20")
STEPS: Final = 12
RUNS: Final = 24
PROFILES: Final = ("K39", "Z0102")
FAILED: Final = "The server failed"
TROUBLED: Final = (503, 507)


class Place(Protocol):
    """One server, which is sometimes down, as visitors see it."""

    world: World
    process: Process | None
    ledger: Ledger

    def excused(self, since: float) -> bool:
        """Check whether the database or a disk was in trouble at any time since."""

    def tell(self, line: str) -> None:
        """Add a line to the story."""


class Visitor:
    """One person: she does one thing after the other until the storm is over."""

    def __init__(self, place: Place, number: int) -> None:
        self.place = place
        self.name = f"visitor {number}"
        self.browser = Browser(place.world, f"198.51.100.{number}")
        self.random = Dice(f"{place.world.random.random()} {number}")
        self.titles: list[str] = []
        self.mine: list[str] = []
        self._asked = 0

    def live(self) -> None:
        acts: tuple[tuple[Callable[[], None], int], ...] = (
            (self._step, 10),
            (self._save_scenario, 4),
            (self._save_run, 2),
            (self._study, 2),
            (self._look, 2),
        )
        doing = [act for act, weight in acts for _ in range(weight)]
        while True:
            self._pause(0.1, 0.8)
            if self.browser.know(self.place.process):
                self.random.choice(doing)()

    def _pause(self, low: float, high: float) -> None:
        self.place.world.sleep(self.random.uniform(low, high))

    def ask(self, method: str, path: str, body: Any = None) -> Answer:
        """Send a question that must be answered well, or fail by an injected fault."""
        since = self.place.world.now
        answer = self.browser.ask(self.place.process, method, path, body)
        fine = answer.status in (DOWN, 200, 201)
        if not fine and not (answer.status in TROUBLED and self.place.excused(since)):
            sentence = answer.text[:160] if answer.text.startswith("{") else ""
            self.place.ledger.fail(
                ledger.ANSWERED,
                f"{method} {path.split('/')[1]} was answered {answer.status} {sentence}",
            )
        return answer

    # -- what they do --------------------------------------------------------------------------

    def _step(self) -> None:
        """Open a run of the library and step through it."""
        shown = self.random.choice(SHOWN)
        page = self.ask("GET", f"/s/{shown}")
        if page.status not in (DOWN, 200):
            self.place.ledger.fail(ledger.PLAYS, f"the page of {shown} came as {page.status}")
        line = self.browser.connect(self.place.process)
        if line is None:
            self._left("a live connection was refused")
            return
        opened = line.question("open", {"scenario": shown})
        if opened is None or not opened["ok"]:
            self._left(f"open was answered {json.dumps(opened)[:160]}")
            return
        for step in range(STEPS):
            self._pause(0.1, 0.4)
            since = self.place.world.now
            told = line.question("play", {"run": opened["run"], "step": step, "count": 1})
            if told is None or not told["ok"]:
                self._left(f"play was answered {json.dumps(told)[:160]}")
                return
            self.place.ledger.steps_ms.append((self.place.world.now - since) * 1_000)
        self.place.ledger.counts["steps"] += STEPS
        line.close()

    def _left(self, how: str) -> None:
        """Handle the end of the connection: with the server, or for no good reason."""
        self._pause(0.0, 0.01)
        process = self.place.process
        if process is not None and not process.dead and self.place.world.now > process.born + 1:
            self.place.ledger.fail(ledger.PLAYS, how)

    def _save_scenario(self) -> None:
        self._asked += 1
        title = f"{self.name} asks {self._asked}"
        text = f"title: {title}\nbrokers: 2\nprofiles: [K39]\nscript: |\n  produce m0\n"
        self._saved("scenario", self.ask("POST", "/api/scenarios", {"yaml": text}), title)

    def _save_run(self) -> None:
        self._asked += 1
        title = f"{self.name} plays {self._asked}"
        scenario = Scenario.from_dict({"title": title, "brokers": 2, "profiles": ["K39"]})
        run = Run(scenario, "K39", 0, ("produce m0",))
        self._saved("run", self.ask("POST", "/api/runs", {"text": run.text()}))

    def _saved(self, what: str, answer: Answer, title: str = "") -> None:
        self.place.tell(f"{self.name} saves a {what}: {answer.status}")
        if answer.status in (200, 201):
            self.place.ledger.saves[answer.json()["digest"]] = what
            self.place.ledger.counts["saves"] += 1
            if title:
                self.titles.append(title)

    def _study(self) -> None:
        if self.mine:
            self._follow(self.mine[-1])
            return
        body = {"scenario": "S20", "runs": RUNS, "profiles": list(PROFILES)}
        answer = self.ask("POST", "/api/batches", body)
        self.place.tell(f"{self.name} starts a study: {answer.status}")
        if answer.status == 201:
            number = answer.json()["id"]
            self.mine.append(number)
            self.place.ledger.studies[number] = Study(number, RUNS, PROFILES, self.browser)
            self.place.ledger.counts["studies"] += 1

    def _follow(self, number: str) -> None:
        """Check the progress of her study, and resume it where it has stopped."""
        answer = self.ask("GET", f"/api/batches/{number}")
        if answer.status != 200:
            return
        found = answer.json()
        if found["state"] in ("failed", "interrupted", "cancelled"):
            if found["message"].startswith(FAILED):
                self.place.ledger.fail(ledger.ANSWERED, f"a study failed: {found['message']}")
            told = self.ask("POST", f"/api/batches/{number}/resume", {})
            self.place.tell(f"{self.name} takes up a study that is {found['state']}: {told.status}")

    def _look(self) -> None:
        """Check that her own scenarios are there, and no other visitor's."""
        since = self.place.world.now
        page = self.ask("GET", "/batch")
        if page.status != 200 or self.place.excused(since):
            return
        missing = [title for title in self.titles if title not in page.text]
        if missing:
            self.place.ledger.fail(ledger.KEPT, f"{self.name} does not find {missing[0]!r}")
        others = [f"visitor {n} asks" for n in range(10) if self.name != f"visitor {n}"]
        if any(one in page.text for one in others):
            self.place.ledger.fail(ledger.PRIVATE, f"{self.name} sees a stranger's scenario")
