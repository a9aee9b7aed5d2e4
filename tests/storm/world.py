"""Virtual time, tasks that take turns, and one processor that they share.

Every task is a thread, but only one runs at a time: the task with the turn keeps it until it waits.
So a seed decides everything, and the same seed gives the same story.
"""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable
from random import Random
from typing import Final

LOOK_S: Final = 0.000_7
"""What is charged when a task looks at the clock of its processor: it looks twice for every
question and request, and once for every step that it plays from a run's start."""
SLICE_S: Final = 0.005
"""How long a task may have the processor while others wait for it: as Python's own threads."""
Dice = Random
"""Whatever is drawn comes from one of these."""
EPOCH_S: Final = 1_767_225_600.0
"""The wall clock when a storm begins: 2026-01-01."""


class Killed(BaseException):
    """Signal that this task's process is gone; no handler of the application may catch it."""


class Task:
    """One thread of the world."""

    def __init__(self, name: str, body: Callable[[], None]) -> None:
        self.name = name
        self.body = body
        self.go = threading.Semaphore(0)
        self.wakes = 0
        """Counts its waits, so that only the first of what could wake it does."""
        self.processor_s = 0.0
        self.worked_s = 0.0
        self.inside: object = None
        """The process in which it is now."""
        self.killed = False
        self.over = False


class World:
    """The clock, the tasks, and the dice; also the `Clock` of `app.core.clock`."""

    def __init__(self, seed: int | str) -> None:
        self.random = Random(seed)
        self.now = 0.0
        self.jump_s = 0.0
        """How far the wall clock is off."""
        self._order = itertools.count()
        self._next: list[tuple[float, int, Callable[[], None]]] = []
        self._back = threading.Semaphore(0)
        self._here: Task | None = None
        self._free_at = 0.0
        self._tasks: list[Task] = []
        self._trouble: BaseException | None = None
        self.ended = False

    # -- clocks --------------------------------------------------------------------------------

    def monotonic(self) -> float:
        return self.now

    def wall(self) -> float:
        return EPOCH_S + self.now + self.jump_s

    def processor(self) -> float:
        if self._here is None:
            return 0.0
        self._here.processor_s += LOOK_S
        return self._here.processor_s

    def spend(self, seconds: float) -> None:
        """Charge this task for `seconds` of the processor."""
        if self._here is not None:
            self._here.processor_s += seconds

    # -- tasks ---------------------------------------------------------------------------------

    @property
    def task(self) -> Task:
        assert self._here is not None, "a task asks"
        return self._here

    def spawn(self, name: str, body: Callable[[], None], inside: object = None) -> Task:
        """Return a new task, whose turn comes now or a little later."""
        task = Task(name, body)
        task.inside = inside
        self._tasks.append(task)
        threading.Thread(target=self._run, args=(task,), name=name, daemon=True).start()
        self._wake_at(self.now, task)
        return task

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        """Call it then, in no task's thread: it may not wait."""
        heapq.heappush(self._next, (self.now + seconds, next(self._order), call))

    def sleep(self, seconds: float) -> None:
        """Wait.  Raises Killed where the process of this task ends meanwhile."""
        task = self.task
        self._wake_at(self.now + seconds, task)
        self._wait(task)

    def kill(self, process: object) -> None:
        """End every task inside where it waits; one that has the turn, at its next wait."""
        for task in self._tasks:
            if task.inside is process and not task.over:
                task.killed = True
                self._wake_at(self.now, task)

    def work(self) -> None:
        """Wait for the processor to do what this task has used of it since it last worked.

        All tasks that work take turns.
        """
        task = self.task
        left, task.worked_s = task.processor_s - task.worked_s, task.processor_s
        while left > 0:
            part = min(left, SLICE_S)
            left -= part
            self._free_at = max(self._free_at, self.now) + part
            self.sleep(self._free_at - self.now)

    def run(self, seconds: float) -> None:
        """Let time pass.  Raises what a task did not catch."""
        until = self.now + seconds
        while self._next and self._next[0][0] <= until:
            at, _, call = heapq.heappop(self._next)
            self.now = max(self.now, at)
            call()
            if self._trouble is not None:
                raise self._trouble
        self.now = max(self.now, until)

    def end(self) -> None:
        """End every task, so that no thread is left."""
        self.ended = True
        for task in list(self._tasks):
            if not task.over:
                task.killed = True
                self._turn(task)

    # -- inside --------------------------------------------------------------------------------

    def _wake_at(self, at: float, task: Task) -> None:
        number = task.wakes

        def wake() -> None:
            if task.wakes == number and not task.over:
                self._turn(task)

        heapq.heappush(self._next, (at, next(self._order), wake))

    def _turn(self, task: Task) -> None:
        task.wakes += 1
        self._here = task
        task.go.release()
        self._back.acquire()
        self._here = None

    def _wait(self, task: Task) -> None:
        if not (self.ended or task.killed):
            self._back.release()
            task.go.acquire()
        if self.ended or (task.killed and task.inside is not None):
            raise Killed

    def _run(self, task: Task) -> None:
        task.go.acquire()
        try:
            if not task.killed:
                task.body()
        except Killed:
            pass
        except BaseException as error:
            self._trouble = self._trouble or error
        finally:
            task.over = True
            self._tasks.remove(task)
            self._back.release()


class Signal:
    """Event that tasks wait for; set, it wakes all of them."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._waiting: list[Task] = []

    def wait(self, seconds: float) -> None:
        """Wait until it is set, at most `seconds`."""
        self._waiting.append(self._world.task)
        self._world.sleep(seconds)

    def set(self) -> None:
        waiting, self._waiting = self._waiting, []
        for task in waiting:
            self._world._wake_at(self._world.now, task)


class Lock:
    """A lock in virtual time: a task that waits for it lets the others run."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._held = False
        self._free = Signal(world)

    def __enter__(self) -> None:
        while self._held:
            self._free.wait(60.0)
        self._held = True

    def __exit__(self, *_: object) -> None:
        self._held = False
        self._free.set()
