"""What pip installs: the wheel serves every page from an empty directory."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.gate

ROOT = Path(__file__).resolve().parent.parent
PAGES = "/ /scenarios /edit /cluster /glossary /batch /advisor /s/S20 /static/brand.svg /health"

NOT_SOURCE = shutil.ignore_patterns(
    ".git", ".venv", ".*_cache", "build", "instance", "node_modules", "tests", "*.egg-info"
)

SERVED = """
import sys
from pathlib import Path

import app
from app.core import config

assert Path(app.__file__).is_relative_to(sys.argv[1]), app.__file__
application = app.create_app(config.load({}, instance="instance"))
client = application.test_client()
for page in sys.argv[2:]:
    status = client.get(page, follow_redirects=True).status_code
    print(status, page)
"""


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A wheel, unpacked as pip would."""
    place = tmp_path / "wheel"
    place.mkdir()
    source = place / "source"
    shutil.copytree(ROOT, source, ignore=NOT_SOURCE)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps"]
    command += ["--no-build-isolation", "--wheel-dir", str(place), str(source)]
    built = subprocess.run(command, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    (wheel,) = place.glob("highwater-*.whl")
    with zipfile.ZipFile(wheel) as file:
        file.extractall(place / "site")
    return place / "site"


def modules(folder: Path) -> set[Path]:
    """Python files below a folder; `highwater` alone lies elsewhere in a wheel."""
    found = {path.relative_to(folder) for path in folder.rglob("*.py")}
    return {path for path in found if "highwater" not in path.parts}


def said(installed: Path, place: Path, *command: str) -> str:
    """What another Python, that has nothing but the wheel, prints."""
    answer = subprocess.run(
        [sys.executable, *command],
        cwd=place,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
    )
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def test_the_wheel_serves_every_page_plays_and_is_imported(installed: Path, tmp_path: Path) -> None:
    """One test, since a wheel is made once."""
    for top in ("app", "engine"):
        assert modules(ROOT / top) <= modules(installed / top), "a package of setup.py is missing"
    pages = PAGES.split()
    served = said(installed, tmp_path, "-c", SERVED, str(installed), *pages)
    assert served.splitlines() == [f"200 {page}" for page in pages]
    script = "import highwater as hw; run = hw.run('S30', 'K39'); print(run.holds, run.lost)"
    assert said(installed, tmp_path, "-c", script) == "False ['b', 'c']\n"
    assert said(installed, tmp_path, "-m", "app", "run", "S30", "--profile", "K41").strip()
