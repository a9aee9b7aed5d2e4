"""The same runs under another Python end the same: CPython 3.14, as WebAssembly under node.

It is fetched once from the npm registry (14 MB, pinned by a lock file) and stays in
tests/other_python/node_modules.  Without node or the registry nothing can be proved: a developer's
machine then skips, saying so; under CI (the variable is set by .ci/run) that is a failure.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.conftest import ROOT, THOROUGH
from tests.digests import RANDOM_RUNS, digests

pytestmark = pytest.mark.night

HERE = ROOT / "tests/other_python"
OLDEST = (3, 14)
NTH = 1 if THOROUGH else 3
"""Of the scripts; chance and crash storms are always there."""
GET = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]


def cannot(why: str) -> None:
    """Not to be overlooked where every check has to run."""
    sentence = f"No other Python to compare with: {why}"
    if os.environ.get("CI"):
        pytest.fail(sentence, pytrace=False)
    pytest.skip(sentence)


def fetch() -> None:
    """Installs what the lock file names, unless that very version is here already."""
    wanted = json.loads((HERE / "package.json").read_text())["dependencies"]["pyodide"]
    installed = HERE / "node_modules/pyodide/package.json"
    if installed.exists() and json.loads(installed.read_text())["version"] == wanted:
        return
    try:
        done = subprocess.run(GET, cwd=HERE, capture_output=True, text=True, timeout=240)
    except (OSError, subprocess.TimeoutExpired) as error:
        cannot(f"npm: {error}")
        return
    if done.returncode != 0:
        cannot(f"{' '.join(GET)}: {done.stderr.strip()[-300:]}")


@pytest.fixture(scope="module")
def there() -> dict[str, Any]:
    """What the other interpreter found."""
    if shutil.which("node") is None:
        cannot("node is not installed.")
    fetch()
    packages = Path(yaml.__file__).parent.parent
    done = subprocess.run(
        ["node", "play.mjs", str(ROOT), str(packages), str(NTH)],
        cwd=HERE,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def test_it_is_another_python(there: dict[str, Any]) -> None:
    version = tuple(there["python"][:2])
    assert version >= OLDEST
    if version == sys.version_info[:2]:
        cannot("the checks run under its very version.")


def test_every_run_ends_the_same(there: dict[str, Any]) -> None:
    here = digests(NTH)
    assert len(here) > 100 and sum(name.startswith("random") for name in here) == RANDOM_RUNS
    found = there["digests"]
    assert list(found) == list(here)
    other = {name: (here[name], found[name]) for name in here if here[name] != found[name]}
    assert other == {}
    assert len(set(here.values())) > len(here) - 5, "the comparison is not about one run"
