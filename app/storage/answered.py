"""Counts of answers to questions, in a table of bounded size."""

from __future__ import annotations

import hashlib
import secrets
import threading
from collections import Counter, OrderedDict
from dataclasses import dataclass, field
from typing import Final

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session

from app.storage.database import Database
from app.storage.models import AnswerCountRow as Row

RIGHT: Final = "right"
OTHER: Final = "other"
"""A wrong answer that no misconception gives."""
MOST_ROWS: Final = 20_000
FOLDED: Final = 200
"""Questions that give up their rows at once when there are too many: those answered least."""
REMEMBERED: Final = 50_000


@dataclass
class Tally:
    """The answers to one question, or to all of one kind (`question` is "")."""

    kind: str
    question: str = ""
    said: Counter[str] = field(default_factory=Counter)

    @property
    def n(self) -> int:
        return self.said.total()

    @property
    def wrong(self) -> int:
        return self.n - self.said[RIGHT]

    @property
    def most(self) -> str:
        """The misconception that was chosen most; "" where none was."""
        named = [one for one in self.said.items() if one[0] not in (RIGHT, OTHER) and one[1]]
        return min(named, key=lambda one: (-one[1], one[0]))[0] if named else ""


class Answers:
    """Counts of answers.

    The browsers behind a count are held in memory only, as hashes under a key of this
    process, so that one browser counts once; safe for threads.
    """

    def __init__(self, database: Database, most_rows: int = MOST_ROWS) -> None:
        self._database = database
        self._most_rows = most_rows
        self._key = secrets.token_bytes(32)
        self._lock = threading.Lock()
        self._given: OrderedDict[bytes, None] = OrderedDict()

    def count(self, who: str, asked: str, kind: str, question: str, said: str) -> bool:
        """Count one more such answer.

        False where this browser has answered what was `asked` before.

        Raises `RequestError` where the database cannot be written, and then nothing is counted.
        """
        mark = hashlib.blake2b(f"{who} {asked}".encode(), key=self._key, digest_size=16).digest()
        with self._lock:
            if mark in self._given:
                return False
            self._given[mark] = None
            while len(self._given) > REMEMBERED:
                self._given.popitem(last=False)
        try:
            with self._database.writing() as session:
                _add(session, (kind, question, said), 1)
                self._fold(session)
        except BaseException:
            with self._lock:
                self._given.pop(mark, None)
            raise
        return True

    def _fold(self, session: Session) -> None:
        """Merge the rows of the least answered questions into their kind's, if there are many."""
        rows = session.scalar(select(func.count()).select_from(Row)) or 0
        if rows <= self._most_rows:
            return
        least = (
            select(Row.question)
            .where(Row.question != "")
            .group_by(Row.question)
            .order_by(func.sum(Row.n), Row.question)
            .limit(FOLDED)
        )
        for name in list(session.scalars(least)):
            for row in list(session.scalars(select(Row).where(Row.question == name))):
                _add(session, (row.kind, "", row.said), row.n)
            session.execute(delete(Row).where(Row.question == name))

    def tallies(self) -> tuple[list[Tally], list[Tally]]:
        """Return (by kind, by question), in no particular order."""
        kinds: dict[str, Tally] = {}
        questions: dict[str, Tally] = {}
        with self._database.reading() as session:
            rows = list(session.scalars(select(Row).order_by(Row.kind, Row.question, Row.said)))
        for row in rows:
            kinds.setdefault(row.kind, Tally(row.kind)).said[row.said] += row.n
            if row.question:
                one = questions.setdefault(row.question, Tally(row.kind, row.question))
                one.said[row.said] += row.n
        return list(kinds.values()), list(questions.values())


def _add(session: Session, key: tuple[str, str, str], n: int) -> None:
    row = session.get(Row, key)
    if row is None:
        kind, question, said = key
        session.add(Row(kind=kind, question=question, said=said, n=n))
        session.flush()
    else:
        row.n += n
