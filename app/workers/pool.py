"""Work that takes long, done by a few processes, so that it cannot slow other visitors' steps.

The address that has taken least goes first, as at every `Gate`: a process whose work has taken long
stands still while another's is done.  Work that no client waits for any more is ended with its
process.
"""

from __future__ import annotations

import contextlib
import math
import pickle
import resource
import signal
import threading
import time
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from app.admission import cpu_quota
from app.admission.cpu_quota import CpuBudget
from app.admission.queue import AGAIN_MS, Gate, Shares
from app.core import clock
from app.core.refusals import RequestError
from app.core.uploads import sweep, temporary_files_in
from app.workers.absence import NoWorkerError
from app.workers.worker_process import Line, ProcessLimits, WorkerDiedError, WorkerProcess
from engine.model.errors import InputError

WAITING_MOST: Final = 64
PATIENCE_S: Final = 10.0
STANDING: Final = 4
"""Processes per one that runs: the others stand still, or wait for work."""
SLICE_S: Final = 0.25
"""CPU time slice after which a task yields to waiting tasks; most tasks take less.  A shorter slice
would leave many tasks half done and none complete."""
LOOK_S: Final = 0.05
"""Seconds between two checks whether the client still waits."""
GROWN_BYTES: Final = 256 << 20
"""Workers whose RSS has exceeded this are not reused."""
SPARE_S: Final = 1
NICE: Final = 4
"""Nice value of workers: interactive steps have priority."""

DONE: Final = "done"
RAISED: Final = "raised"

T = TypeVar("T")


def _nobody() -> int:
    """Return 0, the number of other waiting clients."""
    return 0


class Workers:
    """Pool of worker processes, safe for threads.

    Processes begin when they are first needed, or with `warm`.
    """

    def __init__(
        self, at_once: int, memory_mib: int, cpu_s: float, instance: Path | None = None
    ) -> None:
        """Create the pool; processes create temporary files below `instance`, if it is given."""
        self._limits = ProcessLimits(memory_mib << 20, nice=NICE)
        self._memory_mib = memory_mib
        self._cpu_s = cpu_s
        self._instance = instance
        self._most = at_once * STANDING
        self._gate = Gate(at_once, WAITING_MOST, PATIENCE_S, SLICE_S)
        self._shares = Shares(self._most)
        self._lock = threading.Lock()
        self._idle: list[WorkerProcess] = []
        self._busy: set[WorkerProcess] = set()
        self._begun = 0
        self._closed = False

    @property
    def are_there(self) -> bool:
        """True if there are any; else all work is done in the calling process."""
        return self._most > 0

    def do(self, work: Callable[..., T], *args: object, others: Callable[[], int] = _nobody) -> T:
        """Return `work(*args)`; charged to the asking address, as if this thread had done it.

        It is ended once the client has hung up and none of the `others` is there.  Raises
        NoWorkerError where there are no processes at all, RequestError "unwanted", "too_large"
        beyond the limits, "slow_down" or "busy" where none is free, and what `work` raises.
        """
        if not self.are_there:
            raise NoWorkerError
        with self._shares.one(cpu_quota.asking(), PATIENCE_S):
            return self._do(work, args, others)

    def _do(self, work: Callable[..., T], args: tuple[object, ...], others: Callable[[], int]) -> T:
        hand: WorkerProcess | None = None
        budget = CpuBudget(math.inf, others)  # the process itself has a limit

        def resting() -> contextlib.AbstractContextManager[None]:
            return hand.resting() if hand else contextlib.nullcontext()

        with self._gate.turn(resting) as give_way:
            hand = self._take()
            try:
                outcome = self._watched(hand, (work, args, self._cpu_s), budget.check, give_way)
            except BaseException:
                self._drop(hand)
                raise
            how, last, content = outcome
            if last:
                self._drop(hand)
            else:
                self._give_back(hand)
        if how == RAISED:
            raise content
        result: T = pickle.loads(content)
        return result

    def _watched(
        self,
        hand: WorkerProcess,
        task: Any,
        check: Callable[[], None],
        give_way: Callable[[], None],
    ) -> tuple[str, bool, Any]:
        before = hand.spent_s()
        try:
            hand.tell(task)
            while not hand.poll(LOOK_S):
                before = _charge(hand, before)
                check()
                give_way()
            how, last, content = hand.hear()
            if how == DONE:
                content = hand.hear_bytes()
            _charge(hand, before)
            return how, last, content
        except WorkerDiedError:
            raise self._why(hand) from None

    def _why(self, hand: WorkerProcess) -> RequestError:
        """Return the refusal for an ended process: out of CPU time, else out of memory."""
        if self._closed:
            return RequestError("busy", "busy.plays", ms=AGAIN_MS)
        if hand.ended_by() == signal.SIGXCPU:
            return RequestError("too_large", "cpu.build", s=round(self._cpu_s))
        return RequestError("too_large", "memory.build", mib=self._memory_mib)

    def warm(self) -> None:
        """Start one process, without waiting for it."""

        def begin() -> None:
            with contextlib.suppress(RequestError):
                self._give_back(self._take())

        # No daemon: a process that is half started complains when this one ends.
        threading.Thread(target=begin, name="workers").start()

    def counts(self) -> tuple[int, int]:
        """Return (workers that are busy, pieces of work that wait)."""
        return self._gate.counts()

    def memory_bytes(self) -> int:
        """Return the memory of all processes together."""
        with self._lock:
            hands = [*self._idle, *self._busy]
        return sum(hand.memory_bytes() for hand in hands)

    def close(self) -> None:
        """End all of them, whatever they are doing."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            busy = list(self._busy)
        for hand in busy:  # the thread that waits for it lets go of it
            hand.kill()
        for hand in idle:
            hand.end()
        if self._instance is not None:
            sweep(self._instance)

    # -- processes -----------------------------------------------------------------------------

    def _take(self) -> WorkerProcess:
        with self._lock:
            if self._closed or (not self._idle and self._begun >= self._most):
                raise RequestError("busy", "busy.plays", ms=AGAIN_MS)
            if self._idle:
                hand = self._idle.pop()
                self._busy.add(hand)
                return hand
            self._begun += 1
        try:
            hand = WorkerProcess(partial(serve, instance=self._instance), self._limits)
        except (OSError, EOFError) as error:  # the system has no place for one more
            with self._lock:
                self._begun -= 1
            raise RequestError("busy", "busy.plays", ms=AGAIN_MS) from error
        with self._lock:
            self._busy.add(hand)
        return hand

    def _give_back(self, hand: WorkerProcess) -> None:
        with self._lock:
            self._busy.discard(hand)
            if not self._closed:
                self._idle.append(hand)
                return
        hand.end()

    def _drop(self, hand: WorkerProcess) -> None:
        hand.end()
        with self._lock:
            self._busy.discard(hand)
            self._begun -= 1
        if self._instance is not None:
            sweep(self._instance)


def _charge(hand: WorkerProcess, before: float) -> float:
    """Charge this thread for the process's CPU time since; return that in all."""
    now = hand.spent_s()
    clock.spend(max(0.0, now - before))
    return now


# -- in the process --------------------------------------------------------------------------------


def serve(line: Line, instance: Path | None = None) -> None:
    """Do what it is sent, one after the other, until the parent has gone."""
    _lock = None if instance is None else temporary_files_in(instance)  # until the process ends
    while True:
        work, args, cpu_s = line.recv()
        _bound(cpu_s)
        how, content = _done(work, args)
        last = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > GROWN_BYTES
        if how == DONE:
            line.send((DONE, last, None))
            line.send_bytes(content)
        else:
            line.send((RAISED, last, content))
        if last:
            return
        del content


def _done(work: Callable[..., Any], args: tuple[Any, ...]) -> tuple[str, Any]:
    try:
        return DONE, pickle.dumps(work(*args), pickle.HIGHEST_PROTOCOL)
    except MemoryError:
        mib = resource.getrlimit(resource.RLIMIT_AS)[0] >> 20
        return RAISED, RequestError("too_large", "memory.build", mib=mib)
    except Exception as error:
        return RAISED, _carried(error)


def _carried(error: Exception) -> Exception:
    """Return an error as it can be sent, with where it came from; else its name."""
    if not isinstance(error, RequestError | InputError):
        error.add_note("".join(traceback.format_exception(error)))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(repr(error))
    return error


def _bound(cpu_s: float) -> None:
    """Limit the CPU time from now on, with some to spare for work that checks itself."""
    most = math.ceil(time.process_time() + cpu_s) + SPARE_S
    resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))
