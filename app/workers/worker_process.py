"""One worker process: started in milliseconds, within limits, ended at any moment.

It is forked from a process that has read all modules and has a single thread (forkserver): this one
has many threads, and to fork it would copy what they are in the middle of.
"""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from app.core import gc_settings
from app.core.parent_death import ends_with_parent

PRELOADED: Final = ("app.runs.build_tasks", "app.questions.comparing", "app.explore.worker")
"""What is read once, before any of them is forked."""
ENDED_S: Final = 5.0

Line = Connection
Work = Callable[[Line], None]
"""What a process does: it is a function of some module, and has one end of the line."""

_context = get_context("forkserver")
_context.set_forkserver_preload(list(PRELOADED))
_children = threading.RLock()
"""Held while one begins or ends: the standard library looks through all of them meanwhile."""


class WorkerDiedError(Exception):
    """Error for a process that has ended, by itself or by a limit."""


@dataclass(frozen=True)
class ProcessLimits:
    """Limits of a process over its whole life.

    Bytes of addresses, seconds of a processor (0: no limit); and by how much other processes go
    before it where processors are scarce.
    """

    memory_bytes: int
    cpu_s: int = 0
    nice: int = 10


class WorkerProcess:
    """The process, and this end of the line to it.  For one thread at a time; `end` for any."""

    def __init__(self, work: Work, limits: ProcessLimits) -> None:
        self._line, far = _context.Pipe()
        self._process = _context.Process(target=_begin, args=(work, far, limits), daemon=True)
        try:
            with _children:
                self._process.start()
        except BaseException:
            self._line.close()
            raise
        finally:
            far.close()
        self.pid = self._process.pid or 0

    def tell(self, what: object) -> None:
        """Send a message to the process.  Raises WorkerDiedError."""
        try:
            self._line.send(what)
        except (OSError, ValueError):
            raise WorkerDiedError from None

    def poll(self, seconds: float) -> bool:
        """Check whether a message, or the end, arrives within `seconds`.

        Raises WorkerDiedError.
        """
        try:
            return self._line.poll(seconds)
        except (OSError, ValueError):
            raise WorkerDiedError from None

    def hear(self) -> Any:
        """Return its next message.  Raises WorkerDiedError."""
        try:
            return self._line.recv()
        except (EOFError, OSError):
            raise WorkerDiedError from None

    def hear_bytes(self) -> bytes:
        """Return the same, of what was sent as bytes."""
        try:
            return self._line.recv_bytes()
        except (EOFError, OSError):
            raise WorkerDiedError from None

    def spent_s(self) -> float:
        """Return its CPU seconds; 0 where the system does not report them."""
        try:
            with open(f"/proc/{self.pid}/schedstat", "rb") as file:
                return int(file.read().split()[0]) / 1e9
        except (OSError, ValueError, IndexError):
            return 0.0

    def memory_bytes(self) -> int:
        """Return its proportional share of memory; 0 where the system does not report it."""
        try:
            text = Path(f"/proc/{self.pid}/smaps_rollup").read_text()
        except OSError:
            return 0
        return next(
            (int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Pss:")),
            0,
        )

    @contextlib.contextmanager
    def resting(self) -> Iterator[None]:
        """Suspend it while the block runs."""
        self._signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._signal(signal.SIGCONT)

    def ended_by(self) -> int:
        """Return the signal that ended it; 0 for none."""
        with _children:
            self._process.join(ENDED_S)
            return max(0, -(self._process.exitcode or 0))

    def kill(self) -> None:
        """End it, while another thread may be listening."""
        self._signal(signal.SIGKILL)

    def end(self) -> None:
        """End it now, whatever it is doing."""
        with _children, contextlib.suppress(ValueError):  # it is closed already
            self._process.kill()
            self._process.join(ENDED_S)
            self._process.close()
            self._line.close()

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)


def _begin(work: Work, line: Line, limits: ProcessLimits) -> None:
    ends_with_parent()
    os.nice(limits.nice)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: only the server handles it
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, limits.memory_bytes))
    if limits.cpu_s:
        resource.setrlimit(resource.RLIMIT_CPU, (limits.cpu_s, limits.cpu_s))
    gc_settings.settle()
    with contextlib.suppress(
        EOFError, BrokenPipeError, ConnectionResetError
    ):  # the parent has gone
        work(line)
