"""What py-fsrs, the reference, makes of some answers: `memory.test.mjs` compares.

Rewritten by hand, with `pip install fsrs==6.3.2`; the tests themselves need no such library.
"""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fsrs import Card, Rating, Scheduler

FILE = Path(__file__).parent / "fixtures" / "fsrs.json"
HISTORIES = 24
ANSWERS = 8


def histories() -> list[dict[str, Any]]:
    """Answers on the day, early by a day or late by some, drawn by a fixed seed."""
    chance = random.Random(7)
    reference = Scheduler(learning_steps=(), relearning_steps=(), enable_fuzzing=False)
    begin = datetime(2026, 1, 5, 9, tzinfo=UTC)
    found = []
    for _ in range(HISTORIES):
        card, now, days, answers = Card(), begin, 0, []
        for _ in range(ANSWERS):
            wait = max(1, days + chance.choice((-1, 0, 0, 0, 3, 20))) if days else 0
            now += timedelta(days=wait)
            grade = chance.choice((1, 2, 3, 3, 3, 4))
            four = [reference.review_card(card, Rating(one), now)[0] for one in (1, 2, 3, 4)]
            outlook = [(one.due - now).days for one in four]
            card, days = four[grade - 1], outlook[grade - 1]
            answers.append(
                {"grade": grade, "wait": wait, "outlook": outlook, "stability": card.stability}
            )
        found.append({"start": int(begin.timestamp() * 1000), "answers": answers})
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(histories()) + "\n", "utf-8")
