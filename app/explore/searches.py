"""Running and answered searches: one process at a time, with a short queue.

An answer depends on its question alone, so an answered question is answered from memory, and the
same question during a search waits for the same search.  Nothing is stored: a question stands in
its address, and can be sent again.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from contextlib import suppress
from copy import copy
from typing import Final

from app.core.refusals import RequestError
from app.explore import worker
from app.explore.answering import SERVER_LIMITS
from app.explore.search import DONE, ENDED, REFUSED, RUNS, Search
from app.explore.search_request import MEMORY, MEMORY_BYTES, Ask
from app.workers.worker_process import ProcessLimits, Work, WorkerDiedError, WorkerProcess

WAITING_MOST: Final = 12
PER_ADDRESS: Final = 4
"""Searches of one address that wait or run: a class has one address.  Addresses take turns."""
ANSWERS_KEPT: Final = 256
PATIENCE_S: Final = 5.0
LOOK_S: Final = 60.0
LIMITS: Final = ProcessLimits(
    MEMORY_BYTES, int(SERVER_LIMITS.cpu_s + SERVER_LIMITS.distances_s) + 10
)
STOP: Final = "stop"


class Searches:
    """Queue of searches, filled by requests, worked on by one thread; safe for threads."""

    limits = SERVER_LIMITS
    pictures = True
    """Whether images of new runs have addresses."""

    def __init__(self, work: Work = worker.work) -> None:
        self._work = work
        self._lock = threading.Lock()
        self._come = threading.Condition(self._lock)
        self._line: list[Search] = []
        self._known: OrderedDict[str, Search] = OrderedDict()
        self._running: Search | None = None
        self._turns: list[str] = []
        """Addresses whose searches have begun, the last one at the end."""
        self._thread: threading.Thread | None = None
        self._closed = False

    def ask(self, ask: Ask, address: str) -> Search:
        """Return the search of this question, started if there is none.

        Raises InputError for what cannot be asked, RequestError "slow_down" where too many wait.
        """
        ask.check()
        with self._lock:
            earlier = self._known.get(ask.number)
            if earlier is not None and earlier.stands:
                self._known.move_to_end(ask.number)
                return earlier
            mine = sum(1 for unfinished in self._unfinished() if unfinished.address == address)
            if mine >= PER_ADDRESS:
                raise RequestError("slow_down", "search.yours", n=mine, ms=3000)
            if len(self._line) >= WAITING_MOST:
                raise RequestError("slow_down", "search.line", ms=10_000)
            search = self._known[ask.number] = Search(ask, address)
            self._line.append(search)
            self._forget()
            self._start()
            self._come.notify()
            return search

    def find(self, number: str) -> Search | None:
        """Return a search that was started here and not evicted, as it is at this moment.

        A page reads it in several places; a search that ends meanwhile must not change under it.
        """
        with self._lock:
            return copy(self._known.get(number))

    def place(self, search: Search) -> int:
        """Return the number of searches before it; 0 for one that runs or is over."""
        with self._lock:
            if search not in self._line:
                return 0
            return self._in_turn().index(search) + (self._running is not None)

    def cancel(self, number: str, address: str) -> None:
        """End a search that this address began; what it has seen so far becomes its answer."""
        with self._lock:
            search = self._known.get(number)
            if search is None or search.over:
                return
            if search.address != address:
                raise RequestError("forbidden")
            search.cancelled = True
            if search in self._line:
                self._line.remove(search)
                search.state = ENDED
            if search.hand is not None:
                with suppress(WorkerDiedError):
                    search.hand.tell(STOP)

    def close(self) -> None:
        """End the running search; no new one begins."""
        with self._lock:
            self._closed = True
            self._line.clear()
            running, thread = self._running, self._thread
            self._come.notify_all()
            if running is not None and running.hand is not None:
                running.hand.kill()
        if thread is not None:
            thread.join(PATIENCE_S)

    def _unfinished(self) -> list[Search]:
        return [*self._line, *([self._running] if self._running else [])]

    def _in_turn(self) -> list[Search]:
        """Return the queue in the order in which it will be searched.

        The address that had no turn for the longest time comes first, and of several of one address
        each waits until the others have had theirs.
        """
        last = {address: place for place, address in enumerate(self._turns)}
        nth: Counter[str] = Counter()
        order = {}
        for search in self._line:
            order[search.ask.number] = nth[search.address], last.get(search.address, -1)
            nth[search.address] += 1
        return sorted(self._line, key=lambda waiting: order[waiting.ask.number])

    def _forget(self) -> None:
        for number in [number for number, one in self._known.items() if one.over]:
            if len(self._known) <= ANSWERS_KEPT:
                return
            del self._known[number]

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="searches", daemon=True)
            self._thread.start()

    def _serve(self) -> None:
        while True:
            with self._lock:
                while not self._line and not self._closed:
                    self._come.wait()
                if self._closed:
                    return
                search = self._running = self._in_turn()[0]
                self._line.remove(search)
                self._turns = [turn for turn in self._turns if turn != search.address]
                self._turns = [*self._turns, search.address][-WAITING_MOST:]
                search.state = RUNS
            with suppress(WorkerDiedError, OSError, EOFError):  # it fell, or cannot be started
                self._play(search)
            with self._lock:
                self._running = None
                if not search.over and search.answer:  # all but the distances was sent before
                    search.state = DONE
                elif not search.over:
                    search.refusal = RequestError("busy", "search.fell")
                    search.state = ENDED if search.cancelled else REFUSED

    def _play(self, search: Search) -> None:
        """Start the process of a search and process its messages, to its end."""
        hand = WorkerProcess(self._work, LIMITS)
        try:
            hand.tell(search.ask.to_line())
            with self._lock:
                search.hand = hand
                if search.cancelled:
                    hand.tell(STOP)
                if self._closed:
                    hand.kill()
            while not search.over:
                if hand.poll(LOOK_S):
                    self._hear(search, hand.hear())
        finally:
            with self._lock:
                search.hand = None
            hand.end()

    @staticmethod
    def _hear(search: Search, message: worker.WorkerMessage) -> None:
        if "answer" in message:
            search.answer = message["answer"]
            search.cancelled = message["answer"]["cancelled"]
            search.state = DONE
        elif "first" in message:
            search.answer = message["first"]
        elif "refused" in message:
            why = message["refused"]
            search.refusal = (
                RequestError("too_large", "search.memory")
                if why["where"] == MEMORY
                else RequestError(why["code"], text=why["sentence"], where=why["where"])
            )
            search.state = REFUSED
        else:
            search.progress = message
