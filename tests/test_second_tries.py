"""How checks are run: a browser test that fails once and then passes does not fail the check and is
told; what a check leaves behind is counted."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests import __main__ as checks

FLAKY = """
from pathlib import Path
def test_of_chance():
    been = Path(__file__).with_suffix(".been")
    first = not been.exists()
    been.touch()
    assert not first
def test_of_none():
    pass
"""
COMMAND = [sys.executable, "-m", "pytest", "-q", "-p", "xdist", "tests"]


def passes_at(place: Path, test: str, patch: pytest.MonkeyPatch) -> tuple[bool, list[str]]:
    (place / "tests" / test).parent.mkdir(parents=True)
    (place / "tests" / test).write_text(FLAKY)
    patch.setattr(checks, "ROOT", place)
    patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    second: list[str] = []
    return checks.passes(COMMAND, second)[0], second


def test_only_a_browser_test_gets_a_second_try_and_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    name = "tests/e2e/test_flaky.py::test_of_chance"
    assert passes_at(tmp_path / "a", "e2e/test_flaky.py", monkeypatch) == (True, [name])
    checks.tell_second_tries([name])
    told = capfd.readouterr().err
    assert told.endswith(f"\n1 browser test failed at first and had a second try:\n  {name}\n")
    assert passes_at(tmp_path / "b", "test_flaky.py", monkeypatch) == (False, [])


ORPHAN = """
import subprocess, sys
middle = "import subprocess, sys; subprocess.Popen([sys.executable, '-c', sys.argv[1]])"
busy = "import time\\nwhile time.process_time() < 0.6: pass"
subprocess.run([sys.executable, "-c", middle, busy], stdout=subprocess.PIPE)  # until it is closed
sys.exit(3)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere orphans are nobody's")
def test_abandoned_writes_are_counted() -> None:
    code, used = checks.run([sys.executable, "-c", ORPHAN], None)
    assert code == 3
    assert used > 0.6
