"""What every test may use."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pluggy
import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pluggy.Result[pytest.TestReport], None]:
    """Under every failure stands the line that repeats it."""
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        report.sections.append(("Repeat", f"python3 -m pytest {item.nodeid!r}"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite",
        action="store_true",
        help="write the golden files anew instead of comparing; then read the diff",
    )


@pytest.fixture
def rewrite(request: pytest.FixtureRequest) -> bool:
    """Are golden files to be written instead of compared?"""
    return bool(request.config.getoption("--rewrite"))
