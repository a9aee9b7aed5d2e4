"""The process that answers one question: ``python -m app.searches.worker``.

Its input is one line, the question (`asked.Ask.told`); the end of the input cancels.  It prints one
JSON object a line: how far it is, twice a second, and at the end the answer or why there is none.
It may use so much of a processor and of memory and no more; whoever started it takes it along.
"""

from __future__ import annotations

import json
import os
import resource
import select
import sys
import time
from typing import Any, Final

from app.common.dying import ends_with_parent
from app.searches.asked import CPU_S, MEMORY_BYTES, Ask, bounded, counted
from engine.model.errors import BadInput
from engine.search.card import card
from engine.search.danger import Danger, danger
from engine.search.searching import Outcome, Progress, search

EVERY_S: Final = 0.5
DANGER_S: Final = 20.0
"""Of the processor, for the distances of the next moves, after the answer itself."""
NICE: Final = 10


class Watch:
    """Tells how far the search is, and ends it where it has to end."""

    def __init__(self, what: str, seconds: float) -> None:
        self.cancelled = False
        self._what = what
        self._until = time.process_time() + seconds
        self._told = time.monotonic()

    def __call__(self, progress: Progress) -> bool:
        now = time.monotonic()
        if now - self._told >= EVERY_S:
            self._told = now
            tell({"doing": self._what, **counted(progress), "cpu_s": round(cpu_s(), 1)})
            self.cancelled = self.cancelled or _input_ended()
        return self.cancelled or time.process_time() > self._until


def cpu_s() -> float:
    return time.process_time()


def tell(data: dict[str, Any]) -> None:
    print(json.dumps(data, ensure_ascii=False), flush=True)


def _input_ended() -> bool:
    ready, _, _ = select.select([sys.stdin.fileno()], [], [], 0)
    return bool(ready) and not os.read(sys.stdin.fileno(), 1)


def answer(ask: Ask) -> dict[str, Any]:
    """The question's card, and the distances of the next moves where there was time for them."""
    question = ask.question()
    watch = Watch("search", CPU_S)
    outcome = search(question, bounded(watch))
    told: dict[str, Any] = {"card": card(outcome), "ways": _ways(outcome), "distances": []}
    if not watch.cancelled:
        after = Watch("distances", DANGER_S)
        told["distances"] = _distances(danger(question, bounded(after)))
        told["cancelled"] = after.cancelled
    else:
        told["cancelled"] = True
    return {**told, "cpu_s": round(cpu_s(), 1)}


def _ways(outcome: Outcome) -> list[dict[str, Any]]:
    """What was found, as runs to open: the nearest first."""
    found = sorted(outcome.found.items(), key=lambda one: len(one[1].moves))
    return [
        {"name": name, "moves": list(one.moves), "why": one.why, "run": one.run.text()}
        for name, one in found
    ]


def _distances(found: Danger) -> list[list[Any]]:
    return [[one.move, one.kind, one.moves] for one in found.distances]


def main() -> int:
    os.nice(NICE)
    ends_with_parent()
    most_s = int(CPU_S + DANGER_S) + 10
    resource.setrlimit(resource.RLIMIT_CPU, (most_s, most_s))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    try:
        tell({"answer": answer(Ask.of(sys.stdin.readline()))})
    except BadInput as error:
        tell({"refused": {"code": error.code, "sentence": error.sentence, "where": error.where}})
    except MemoryError:
        tell({"refused": {"code": "too_large", "sentence": "", "where": "memory"}})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
