"""Searches under way and those that were answered: one process at a time, a short line before it.

An answer depends on its question alone, so who asks what was asked before gets the answer that is
there, and who asks what is being searched waits for the same search.  Nothing is stored: a question
stands in its address, and can be put again.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from app.common.config import ROOT
from app.common.refusals import Refusal
from app.common.words import SENTENCES
from app.searches.asked import Ask

WAITING_MOST: Final = 8
PER_ADDRESS: Final = 2
"""Searches of one address that wait or run."""
ANSWERS_KEPT: Final = 256
PATIENCE_S: Final = 5.0
"""A search that was told to end does so; after this it is ended."""

WAITS: Final = "waits"
RUNS: Final = "runs"
DONE: Final = "done"
REFUSED: Final = "refused"
ENDED: Final = "ended"

SENTENCES.update(
    {
        "search.line": (
            "Others are searching already: wait for one of them to end, and ask again.",
            "已有其他搜索正在进行：请等其中一个结束后再试。",
        ),
        "search.yours": (
            "{n} of your searches are not finished: wait for them, or cancel one.",
            "你还有 {n} 个搜索未完成：请等待，或取消其中一个。",
        ),
        "search.memory": (
            "This search took more memory than there is for one: give it smaller budgets.",
            "该搜索所需内存超出上限：请减小预算。",
        ),
        "search.fell": (
            "The search ended without an answer: ask again, with smaller budgets.",
            "搜索未得出答案便已结束：请减小预算后重试。",
        ),
    }
)


@dataclass
class Search:
    """One question: where it stands, and its answer once there is one."""

    ask: Ask
    address: str
    state: str = WAITS
    progress: dict[str, Any] = field(default_factory=dict)
    answer: dict[str, Any] = field(default_factory=dict)
    refusal: Refusal | None = None
    cancelled: bool = False
    process: subprocess.Popen[str] | None = None

    @property
    def over(self) -> bool:
        return self.state in (DONE, REFUSED, ENDED)

    @property
    def stands(self) -> bool:
        """Is it for whoever asks the same again?  Not if it ended early, or its process fell."""
        fell = self.refusal is not None and self.refusal.code == "busy"
        return not (fell or self.cancelled or self.state == ENDED)


class Searches:
    """Asked by requests, worked on by one thread; safe for threads."""

    def __init__(self, command: tuple[str, ...] = ("-m", "app.searches.worker")) -> None:
        self._command = command
        self._lock = threading.Lock()
        self._come = threading.Condition(self._lock)
        self._line: list[Search] = []
        self._known: OrderedDict[str, Search] = OrderedDict()
        self._running: Search | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    def ask(self, ask: Ask, address: str) -> Search:
        """The search of this question, begun if there is none.

        Raises BadInput for what cannot be asked, Refusal "slow_down" where too many wait.
        """
        ask.check()
        with self._lock:
            known = self._known.get(ask.number)
            if known is not None and known.stands:
                self._known.move_to_end(ask.number)
                return known
            mine = sum(1 for one in self._unfinished() if one.address == address)
            if mine >= PER_ADDRESS:
                raise Refusal("slow_down", "search.yours", n=mine, ms=3000)
            if len(self._line) >= WAITING_MOST:
                raise Refusal("slow_down", "search.line", ms=10_000)
            search = self._known[ask.number] = Search(ask, address)
            self._line.append(search)
            self._forget()
            self._start()
            self._come.notify()
            return search

    def find(self, number: str) -> Search | None:
        """The search of a question that was asked here and is not forgotten."""
        with self._lock:
            return self._known.get(number)

    def place(self, search: Search) -> int:
        """How many are before it; 0 for one that runs or is over."""
        with self._lock:
            if search not in self._line:
                return 0
            return self._line.index(search) + (self._running is not None)

    def cancel(self, number: str, address: str) -> None:
        """Ends a search that this address began; what it has seen so far becomes its answer."""
        with self._lock:
            search = self._known.get(number)
            if search is None or search.over:
                return
            if search.address != address:
                raise Refusal("forbidden")
            search.cancelled = True
            if search in self._line:
                self._line.remove(search)
                search.state = ENDED
            process = search.process
        if process is not None:
            _hang_up(process)

    def close(self) -> None:
        """Ends what runs; nothing new begins."""
        with self._lock:
            self._closed = True
            self._line.clear()
            running, thread = self._running, self._thread
            self._come.notify_all()
        if running is not None and running.process is not None:
            running.process.kill()
        if thread is not None:
            thread.join(PATIENCE_S)

    def _unfinished(self) -> list[Search]:
        return [*self._line, *([self._running] if self._running else [])]

    def _forget(self) -> None:
        for number in [number for number, one in self._known.items() if one.over]:
            if len(self._known) <= ANSWERS_KEPT:
                return
            del self._known[number]

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="searches", daemon=True)
            self._thread.start()

    def _work(self) -> None:
        while True:
            with self._lock:
                while not self._line and not self._closed:
                    self._come.wait()
                if self._closed:
                    return
                search = self._running = self._line.pop(0)
                search.state = RUNS
            with suppress(OSError, ValueError):  # it cannot be started, or is cut off in mid-line
                self._play(search)
            with self._lock:
                self._running = None
                search.process = None
                if not search.over:
                    search.refusal = Refusal("busy", "search.fell")
                    search.state = ENDED if search.cancelled else REFUSED

    def _play(self, search: Search) -> None:
        """Starts the process of a search and reads what it tells, to its end."""
        process = subprocess.Popen(
            [sys.executable, *self._command],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        with self._lock:
            search.process = process
        try:
            _write(process, search.ask.told() + "\n")
            if search.cancelled:
                _hang_up(process)
            for line in process.stdout or ():
                self._hear(search, json.loads(line))
        finally:
            _hang_up(process)
            if process.stdout is not None:
                process.stdout.close()
            process.wait()

    @staticmethod
    def _hear(search: Search, told: dict[str, Any]) -> None:
        if "answer" in told:
            search.answer = told["answer"]
            search.cancelled = told["answer"]["cancelled"]
            search.state = DONE
        elif "refused" in told:
            why = told["refused"]
            search.refusal = (
                Refusal("too_large", "search.memory")
                if why["where"] == "memory"
                else Refusal(why["code"], text=why["sentence"], where=why["where"])
            )
            search.state = REFUSED
        else:
            search.progress = told


def _write(process: subprocess.Popen[str], line: str) -> None:
    """To a process that may be gone already, or was cancelled before it could be asked."""
    assert process.stdin is not None
    with suppress(OSError, ValueError):
        process.stdin.write(line)
        process.stdin.flush()


def _hang_up(process: subprocess.Popen[str]) -> None:
    """The end of its input tells a search to end."""
    assert process.stdin is not None
    with suppress(OSError):
        process.stdin.close()
