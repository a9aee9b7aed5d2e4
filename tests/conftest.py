"""Options, marks, samples and limits of time of all tests."""

from __future__ import annotations

import fcntl
import os
import re
import signal
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TypeVar

import pluggy
import pytest

os.environ.setdefault("HIGHWATER_PURE", "1")  # whatever this user has compiled

from app.core import gc_settings

ROOT = Path(__file__).resolve().parent.parent
T = TypeVar("T")
THOROUGH = bool(os.environ.get("HIGHWATER_THOROUGH"))
"""Asked for everything, however long it takes; else a sample of what repeats one kind of check."""
CLAIM_NAME = re.compile(r"\bMC-[A-Z0-9]+-")
"""Beginning of a claim's name; a token drawn at random may hold its first letters."""
PATIENCE_S = {"set-up": 300, "call": 300, "teardown": 120}
"""How long a part of a test may take on a busy machine; what takes longer waits for ever."""


OF_THE_GATE = frozenset({"app", "e2e", "incident", "lab"})
"""Folders whose tests start servers or programs: `--quick` runs only those marked `quick`."""


def sample(every: Sequence[T], nth: int) -> Sequence[T]:
    """The first of them and each `nth` after it; with HIGHWATER_THOROUGH=1 all."""
    return every if THOROUGH else every[::nth]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pluggy.Result[pytest.TestReport], None]:
    """Under every failure stands the line that repeats it."""
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        report.sections.append(("Repeat", f"python3 -m pytest {item.nodeid!r}"))


@contextmanager
def ends_within(seconds: float, what: str) -> Iterator[None]:
    """Whatever waits longer fails where it waits, with that place in its trace.

    Much of what a browser is asked for (`page.evaluate`, a key, a click's last step) has no end of
    its own.  Playwright hands on what a signal raises, and can be used afterwards.
    """

    def late(_number: int, _frame: FrameType | None) -> None:
        pytest.fail(f"{what}: no end after {seconds:g} s; the trace says what it waited for")

    before = signal.signal(signal.SIGALRM, late)
    around, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, around)
        signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    with ends_within(PATIENCE_S["set-up"], f"The set-up of {item.nodeid}"):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    with ends_within(PATIENCE_S["call"], item.nodeid):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    with ends_within(PATIENCE_S["teardown"], f"The teardown of {item.nodeid}"):
        return (yield)


def pytest_configure() -> None:
    """Tests make millions of objects that stay, and looking through them took a sixth of the time
    of all: once before tests are read, once with what reading them has left."""
    gc_settings.settle()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what a folder leaves to the gate.  The tests of the night are left to
    HIGHWATER_THOROUGH=1, unless one is named."""
    for item in items:
        if item.path.parent.name in OF_THE_GATE and not item.get_closest_marker("quick"):
            item.add_marker("gate")
    if THOROUGH or any("::" in argument for argument in config.args):
        return
    night = [item for item in items if item.get_closest_marker("night")]
    config.hook.pytest_deselected(items=night)
    items[:] = [item for item in items if not item.get_closest_marker("night")]


def pytest_collection_finish() -> None:
    gc_settings.settle()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite",
        action="store_true",
        help="write the golden files anew instead of comparing; then read the diff",
    )


def built_once(factory: pytest.TempPathFactory, name: str, build: Callable[[Path], object]) -> Path:
    """A folder for all processes of a check; the first that asks builds it."""
    base = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        base = base.parent
    base = Path(os.environ.get("HIGHWATER_TEST_SHARED", base))
    folder = base / name
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            build(folder)
    return folder


@pytest.fixture(scope="session")
def site_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A static site, in a subdirectory of what a host serves."""
    from tests import site_folder

    place = Path("some", "where")
    host = built_once(tmp_path_factory, "host", lambda host: site_folder.build(host / place))
    return host / place


@pytest.fixture
def rewrite(request: pytest.FixtureRequest) -> bool:
    """Are golden files to be written instead of compared?"""
    return bool(request.config.getoption("--rewrite"))
