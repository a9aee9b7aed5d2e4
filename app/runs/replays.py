"""Cache of replays that are being looked at.

What is evicted is played again from the text of its run.  A replay is used under its own lock; the
locks of two runs never wait for each other, so a long run does not block other runs.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypedDict

from app.admission.cpu_quota import CpuBudget
from app.admission.queue import Gate, hold
from app.core.config import Settings
from app.core.memoize import once
from app.core.refusals import RequestError
from app.questions.context import described
from app.runs import build_tasks
from app.storage.row_limit import MIB
from engine import ENGINE_VERSION
from engine.model.json_types import Json
from engine.model.profiles import GENERATIONS
from engine.replay.replay import Replay
from engine.scenarios import file
from engine.scenarios.translated import OWN
from engine.sim.run import Run

if TYPE_CHECKING:
    from app.storage.saved import SavedRun, Store
    from app.workers.pool import Workers


@once
def library_runs() -> dict[str, Run]:
    """Return the runs that library pages open with, by digest: their links work without saving."""
    runs = (
        Run(scenario, profile=profile, seed=0)
        for scenario in file.library().values()
        for profile in {*scenario.profiles, *GENERATIONS}
    )
    return {run.digest: run for run in runs}


WAITING_MOST = 64
PATIENCE_S = 10.0
"""How long a question waits for its run: about as long as the longest run takes to be played."""

SMALL_S = 0.01
"""Of a processor: a run that takes less to be played is played here.  Few of the library take more;
to hand a run to another process and to get it back takes about a third of it."""
EARLY_S = 0.05
"""CPU seconds for the beginning of a long run, which is its first picture."""
LARGE_KEPT = 10_000
"""Scenarios under a profile of which it is known that their runs are not small."""

KNOWN_BYTES = 64 * 1024 * 1024
"""Of the texts of all runs that are known without being saved."""


class KnownRuns:
    """Runs by digest, bounded by count and by text; evicts the least recently used."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._of: OrderedDict[str, tuple[Run, int]] = OrderedDict()
        self._bytes = 0

    def get(self, digest: str) -> Run | None:
        with self._lock:
            entry = self._of.get(digest)
            if entry is None:
                return None
            self._of.move_to_end(digest)
            return entry[0]

    def put(self, digest: str, run: Run) -> None:
        size = len(run.text())
        with self._lock:
            if digest not in self._of:
                self._of[digest] = (run, size)
                self._bytes += size
            self._of.move_to_end(digest)
            while len(self._of) > self._most or self._bytes > KNOWN_BYTES:
                _, (_, freed) = self._of.popitem(last=False)
                self._bytes -= freed


class TooLongError(Exception):
    """Signal that a run takes longer to play than the limit for playing it at once."""


class RecentNames:
    """Bounded set of the names added last.  Safe for threads."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._of: OrderedDict[str, None] = OrderedDict()

    def holds(self, name: str) -> bool:
        return name in self._of

    def put(self, name: str) -> None:
        with self._lock:
            self._of[name] = None
            self._of.move_to_end(name)
            while len(self._of) > self._most:
                self._of.popitem(last=False)


class ReplaySlot:
    """Slot of one replay: made empty, filled by the first caller that has its lock.

    `size` is what it weighed when it was last used, in bytes.  `beginning` is the slot of an
    unfinished replay of the run, which is used while the whole run is played.
    """

    __slots__ = ("_count", "beginning", "lock", "replay", "run", "size", "waiting_count")

    def __init__(self, run: Run, beginning: ReplaySlot | None = None) -> None:
        self.run = run
        self.beginning = beginning
        self.lock = threading.Lock()
        self.replay: Replay | None = None
        self.size = 0
        self.waiting_count = 0
        self._count = threading.Lock()

    @property
    def weight(self) -> int:
        """About how many bytes of memory it takes."""
        return self.size + (self.beginning.size if self.beginning else 0)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count one more waiting request until the block ends."""
        with self._count:
            self.waiting_count += 1
        try:
            yield
        finally:
            with self._count:
                self.waiting_count -= 1


class Replays:
    """Cache that finds runs by digest and keeps the last used ones ready to be stepped through."""

    def __init__(self, settings: Settings, store: Store, workers: Workers) -> None:
        self._most_live = settings.live_runs
        self._most_bytes = settings.live_mib * MIB
        self._cpu_s = settings.build_cpu_s
        self._store = store
        self._workers = workers
        self._large = RecentNames(LARGE_KEPT)
        self._lock = threading.Lock()
        self._known = KnownRuns(settings.known_runs)
        self._live: OrderedDict[str, ReplaySlot] = OrderedDict()
        # A bounded number is played from the start at once, or from far before the step that is
        # asked for: the rest of the processor stays with visitors who take a single step.
        self._builders = Gate(settings.builders, WAITING_MOST, PATIENCE_S)

    def register(self, run: Run) -> str:
        """Keep a run by its digest until it is evicted as least recently used."""
        digest: str = run.digest
        self._known.put(digest, run)
        return digest

    def run(self, digest: str) -> Run:
        """Return the run of a digest, from memory or storage.  Raises `RequestError` "gone"."""
        run = self._known.get(digest)
        if run is not None:
            return run
        run = library_runs().get(digest)
        if run is None:
            saved = self._store.run(digest)
            run = Run.from_text(saved.text) if saved else None
        if run is None:
            raise RequestError("gone", run=digest)
        self._known.put(digest, run)
        return run

    def is_kept(self, digest: str) -> bool:
        """Check whether the link of this run survives a restart, as saved and library runs do."""
        return digest in library_runs() or self.saved(digest) is not None

    def saved(self, digest: str) -> SavedRun | None:
        """Return the saved run; None as well where the database does not answer.

        A run that is at hand is shown all the same.
        """
        try:
            return self._store.run(digest)
        except RequestError:
            return None

    @contextmanager
    def using(self, digest: str, beyond: int | None = None) -> Iterator[Replay]:
        """Lock the replay of a run for this thread until the block ends.

        With `beyond` an unfinished replay is enough, if it goes beyond that step.  Raises
        `RequestError` "slow_down" where other requests, or other plays, hold it for too long.
        """
        live = self._place(digest)
        if beyond is not None and live.replay is None:
            live = self._begun(live, beyond)
        try:
            with live.waiting(), hold(live.lock, PATIENCE_S):
                if live.replay is None:
                    live.replay = self._build(live)
                    live.beginning = None
                try:
                    yield live.replay
                finally:
                    live.size = live.replay.weight
        finally:  # whatever became of the question, the replay is there
            self._trim()

    def _begun(self, live: ReplaySlot, beyond: int) -> ReplaySlot:
        """Return the slot of the beginning of a long run if it goes beyond a step, else its own."""
        first = live.beginning
        if first is None or live.run.digest in library_runs():
            return live
        with first.waiting(), hold(first.lock, PATIENCE_S):
            if first.replay is None:
                first.replay = self._build_in_thread(first, enough=CpuBudget(EARLY_S).is_spent)
                if first.replay.unfinished:
                    self._large.put(_kind(live.run))
                else:
                    live.replay, live.beginning = first.replay, None
            return first if beyond < first.replay.total and live.beginning else live

    def _build(self, live: ReplaySlot) -> Replay:
        """Build it here if it is small: that is faster than another process.

        What is not is played by another process, and so are others of its kind from then on.
        """
        run = live.run
        if not self._workers.are_there or run.digest in library_runs():
            return self._build_in_thread(live)
        kind = _kind(run)
        if not self._large.holds(kind):
            try:
                return self._build_in_thread(live, CpuBudget(SMALL_S))
            except TooLongError:
                self._large.put(kind)
        replay = self._workers.do(
            build_tasks.replay, run, self._cpu_s, others=lambda: live.waiting_count - 1
        )
        replay.turn = self._builders.turn
        return replay

    def _build_in_thread(
        self,
        live: ReplaySlot,
        small: CpuBudget | None = None,
        enough: Callable[[], bool] = lambda: False,
    ) -> Replay:
        """Build it in this thread, until it is `enough`.

        Raises TooLongError once it has used the CPU time of a small one.
        """
        with self._builders.turn() as give_way:
            budget = CpuBudget(self._cpu_s, lambda: live.waiting_count - 1)

            def check() -> None:
                if small is not None and small.is_spent():
                    raise TooLongError
                budget.check()
                give_way()

            return Replay(live.run, turn=self._builders.turn, check=check, enough=enough)

    def building(self) -> tuple[int, int]:
        """Return (runs that are being played, runs that wait for it)."""
        return self._builders.counts()

    def facts(self, replay: Replay, saved: SavedRun | None, lang: str = OWN) -> Json:
        """Return the engine's facts of the run, with texts in a language.

        They say whether it was saved by another engine version: call `saved` before the replay is
        in use, since others wait for it, and the database may be slow.
        """
        facts = described(replay, lang)
        facts["saved"] = saved is not None
        if saved and saved.engine_version != ENGINE_VERSION and not replay.unfinished:
            facts["replayed_with"] = _compare(saved, replay)
        return facts

    def describe(self, digest: str, lang: str) -> Callable[[Replay], Json]:
        """Return what gives the facts of a replay of this run; the database is asked now."""
        saved = self.saved(digest)
        return lambda replay: self.facts(replay, saved, lang)

    def _place(self, digest: str) -> ReplaySlot:
        with self._lock:
            live = self._live.get(digest)
            if live is not None:
                self._live.move_to_end(digest)
                return live
        run = self.run(digest)
        with self._lock:
            live = self._live.setdefault(digest, ReplaySlot(run, beginning=ReplaySlot(run)))
            self._live.move_to_end(digest)
            return live

    def _trim(self) -> None:
        """Evict the least recently used replays; current users keep their reference."""
        with self._lock:
            weight = sum(live.weight for live in self._live.values())
            while len(self._live) > 1 and (
                len(self._live) > self._most_live or weight > self._most_bytes
            ):
                _, dropped = self._live.popitem(last=False)
                weight -= dropped.weight

    def weight(self) -> tuple[int, int]:
        """Return (runs that are ready to be stepped through, bytes of their memory, roughly)."""
        with self._lock:
            return len(self._live), sum(live.weight for live in self._live.values())


def _kind(run: Run) -> str:
    return f"{run.scenario.digest} {run.profile}"


class EngineComparison(TypedDict):
    """Engine that saved a run, the one that plays it now, and whether the run ends the `same`."""

    saved: int
    now: int
    same: bool


def _compare(saved: SavedRun, replay: Replay) -> EngineComparison:
    return {
        "saved": saved.engine_version,
        "now": ENGINE_VERSION,
        "same": saved.outcome == replay.outcome,
    }
