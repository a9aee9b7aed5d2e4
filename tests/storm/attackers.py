"""Attackers of a storm: each has one address, any number of cookies, and repeats one request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.scenarios.file import find
from engine.sim.run import Run
from tests.storm import ledger
from tests.storm.net import Browser
from tests.storm.visitors import Place

HANDS: Final = 8
LINKS: Final = 40
COOKIE: Final = 5
"""Questions with one cookie."""
NO_JSON: Final = '421["open",{"seed":NaN}]'
RESERVED: Final = ('42["disconnect",{}]', '42["connect",{}]')
BODY_BYTES: Final = 250_000


class Attacker:
    """One address, for as long as `over` says."""

    def __init__(self, place: Place, number: int, until: float) -> None:
        self.place = place
        self.address = f"203.0.113.{number}"
        self.until = until
        self.number = number

    def _goes_on(self) -> bool:
        return self.place.world.now < self.until

    def _browser(self) -> Browser:
        return Browser(self.place.world, self.address)

    def hands(self, kind: str) -> None:
        """Start as many tasks as this kind of attack has."""
        body, count = KINDS[kind]
        for hand in range(count):
            self.place.world.spawn(kind, lambda hand=hand: body(self, hand))  # type: ignore[misc]

    def pages(self, hand: int) -> None:
        run = Run(find("R20"), "Z0102").digest
        mine = self._browser()
        number = hand
        while self._goes_on():
            number += 1
            path = f"/r/{run}/steps.json?from={number % 40}&count=8"
            if mine.ask(self.place.process, "GET", path).status != 200:
                self.place.world.sleep(0.02)

    def silent(self, _hand: int) -> None:
        """Open live connections that never identify themselves."""
        while self._goes_on():
            line = self._browser().connect(self.place.process, greet=False)
            self.place.world.sleep(1.0 if line is None or line.closed else 4.0)
            if line is not None:
                line.close()

    def bodies(self, _hand: int) -> None:
        """Send a body of which the rest never comes."""
        while self._goes_on():
            body = {"yaml": "x"}
            self._browser().ask(
                self.place.process, "POST", "/api/scenarios", body, (1, 0.5), BODY_BYTES
            )
            self.place.world.sleep(0.05)

    def builds(self, hand: int) -> None:
        """Open runs that take long to be played, each left for the next."""
        number = 1_000 * self.number + hand
        while self._goes_on():
            line = self._browser().connect(self.place.process)
            while line is not None and not line.closed and self._goes_on():
                number += HANDS
                run = Run(find("crash-storm"), "K39", number)
                line.question("open", {"text": run.text(), "ahead": 1})
                self.place.world.sleep(0.02)
            self.place.world.sleep(0.05)

    def packets(self, hand: int) -> None:
        """Send what is no packet, and names that mean something to the server itself."""
        said = (*RESERVED, "4\x00", NO_JSON, "4451-")
        number = hand
        while self._goes_on():
            line = self._browser().connect(self.place.process)
            if line is not None:
                line.say(NO_JSON)
                process = self.place.process
                if line.hear("431", 5.0) is None and process is not None and not process.dead:
                    self.place.ledger.fail(ledger.ANSWERED, "a question that is no JSON was not")
            while line is not None and not line.closed and self._goes_on():
                number += 1
                line.say(said[number % len(said)])
                self.place.world.sleep(0.01)
            self.place.world.sleep(0.05)

    def saves(self, hand: int) -> None:
        """Save scenario after scenario, with ever new cookies."""
        number, mine = 0, self._browser()
        while self._goes_on():
            number += 1
            if number % COOKIE == 0:
                mine = self._browser()
            if mine.know(self.place.process):
                title = f"attacker {self.number} {hand} {number}"
                lines = "\n".join(f"  produce m{one}" for one in range(400))
                text = f"title: {title}\nbrokers: 2\nprofiles: [K39]\nscript: |\n{lines}\n"
                answer = mine.ask(self.place.process, "POST", "/api/scenarios", {"yaml": text})
                if answer.status == 201:
                    self.place.ledger.kept[self.address] += len(text)
            self.place.world.sleep(0.05)

    def studies(self, _hand: int) -> None:
        """Start study after study, with ever new cookies."""
        while self._goes_on():
            mine = self._browser()
            if mine.know(self.place.process):
                for _ in range(COOKIE):
                    body = {"scenario": "S20", "runs": 16, "profiles": ["K39"]}
                    mine.ask(self.place.process, "POST", "/api/batches", body)
            self.place.world.sleep(0.2)

    def thefts(self, _hand: int) -> None:
        """Try to change, and to lead, what belongs to others."""
        mine = self._browser()
        while self._goes_on():
            if mine.know(self.place.process):
                for number in list(self.place.ledger.studies):
                    for what in ("cancel", "more"):
                        path, body = f"/api/batches/{number}/{what}", {"runs": 10}
                        status = mine.ask(self.place.process, "POST", path, body).status
                        if status in (200, 201):
                            self.place.ledger.fail(ledger.PRIVATE, f"a stranger could {what}")
            self.place.world.sleep(0.5)


KINDS: Final[dict[str, tuple[Callable[[Attacker, int], None], int]]] = {
    "pages": (Attacker.pages, 40),
    "silent": (Attacker.silent, LINKS),
    "bodies": (Attacker.bodies, LINKS),
    "builds": (Attacker.builds, HANDS),
    "packets": (Attacker.packets, HANDS),
    "saves": (Attacker.saves, 3),
    "studies": (Attacker.studies, 2),
    "thefts": (Attacker.thefts, 1),
}
