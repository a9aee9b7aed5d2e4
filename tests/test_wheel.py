"""What pip installs: the wheel serves every page from an empty directory."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = "/ /scenarios /edit /cluster /glossary /batch /advisor /s/S20 /static/brand.svg /health"

NOT_SOURCE = shutil.ignore_patterns(
    ".git", ".venv", ".*_cache", "build", "instance", "node_modules", "tests", "*.egg-info"
)

SERVED = """
import sys
from pathlib import Path

import app
from app.common import config

assert Path(app.__file__).is_relative_to(sys.argv[1]), app.__file__
application = app.create_app(config.load({}, instance="instance"))
client = application.test_client()
for page in sys.argv[2:]:
    status = client.get(page, follow_redirects=True).status_code
    print(status, page)
"""


def told() -> dict[str, object]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        found: dict[str, object] = tomllib.load(file)["tool"]["setuptools"]
    return found


def test_every_package_is_named() -> None:
    """A package that is not in the list is missing from the wheel, and from nothing else."""
    there = {
        ".".join(path.parent.relative_to(ROOT).parts)
        for top in ("app", "engine")
        for path in (ROOT / top).rglob("*.py")
    }
    named = told()["packages"]
    mapped = told()["package-dir"]
    assert isinstance(named, list) and isinstance(mapped, dict)
    elsewhere = {folder.replace("/", ".") for folder in mapped.values()}
    assert set(named) - set(mapped) == there - elsewhere
    assert named == sorted(named)
    assert all((ROOT / folder).is_dir() for folder in mapped.values())


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel, unpacked as pip would."""
    place = tmp_path_factory.mktemp("wheel")
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


def test_the_wheel_serves_every_page(installed: Path, tmp_path: Path) -> None:
    pages = PAGES.split()
    answer = subprocess.run(
        [sys.executable, "-c", SERVED, str(installed), *pages],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.splitlines() == [f"200 {page}" for page in pages]


def test_the_wheel_brings_a_package_for_other_peoples_code(installed: Path, tmp_path: Path) -> None:
    script = "import highwater as hw; run = hw.run('S30', 'K39'); print(run.holds, run.lost)"
    answer = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
    )
    assert answer.stdout == "False ['b', 'c']\n", answer.stderr


def test_the_wheel_plays_a_run(installed: Path, tmp_path: Path) -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "app", "run", "S30", "--profile", "K41"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.strip()
