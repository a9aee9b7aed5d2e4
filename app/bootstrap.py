"""Bootstrap of ``python3 -m app`` and ``python3 -m tests`` where there is only Python.

Standard library only.  Where what ``pyproject.toml`` asks for is installed, nothing happens;
else it is installed into ``.venv`` beside this package, and the same command runs again there.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
OLDEST = (3, 11)

_AGAIN = "HIGHWATER_BOOTSTRAPPED"
_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9._-]+)(?:\[[^\]]*\])?\s*([^;]*)")
_CLAUSE = re.compile(r"\s*(>=|<=|==|!=|<|>|~=)\s*([0-9][0-9A-Za-z.*+!-]*)\s*\Z")


def say(sentence: str) -> None:
    print(sentence, file=sys.stderr, flush=True)


def give_up(sentence: str) -> NoReturn:
    say(sentence)
    raise SystemExit(2)


def is_checkout() -> bool:
    """Check whether this package stands in a checkout; else pip has installed it."""
    return (ROOT / "pyproject.toml").exists()


def requirements(extra: str = "") -> list[str]:
    """Return the requirement lines of pyproject.toml, those of one extra included."""
    import tomllib  # new in 3.11: older Pythons must get as far as the error message

    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    lines: list[str] = list(project["dependencies"])
    if extra:
        lines += project["optional-dependencies"][extra]
    return lines


def _numbers(version: str) -> tuple[int, ...]:
    """Turn 2.0.40 into (2, 0, 40): enough for the versions this project asks for."""
    found = [int(part) for part in re.findall(r"\d+", version.split("+")[0])]
    while found and found[-1] == 0:
        found.pop()
    return tuple(found)


def fits(version: str, clauses: str) -> bool:
    """Check whether a version is within clauses such as ``>=3.1,<4``; False if unreadable."""
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
    """Return the requirements that this Python does not have in a version that fits."""
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


def ensure(module: str, extra: str = "") -> None:
    """Return if this Python has everything; else run ``-m module`` again in one that has."""
    if sys.version_info < OLDEST:
        have = ".".join(map(str, sys.version_info[:3]))
        give_up(f"Highwater needs Python 3.11 or newer; this is Python {have}.")
    if not is_checkout():
        return  # pip installed this, with all that it needs
    missing = lacking(extra)
    if not missing:
        return
    if os.environ.get(_AGAIN) == extra + "/":
        give_up(
            f"Still missing after installing: {', '.join(missing)}. "
            f"Remove {VENV} and try again, or install them by hand."
        )
    python = _venv_python()
    if python is None:
        _make_venv()
        python = _venv_python()
        if python is None:
            give_up(f"{VENV} has no Python in it: remove it and try again.")
    if not _inside_venv() and _has_all(python, extra):
        _run_again(python, module)
    if failed := _install(python, extra, missing):
        give_up(f"Installing failed; this repeats it: cd {ROOT} && {' '.join(failed)}")
    os.environ[_AGAIN] = extra + "/"
    _run_again(python, module)


def add(extra: str) -> bool:
    """Install an extra into this Python if it is missing; return False if that fails."""
    missing = lacking(extra)
    failed = _install(Path(sys.executable), extra, missing) if missing else []
    if failed:
        say(f"That failed: {' '.join(failed)}")
    return not failed


def _inside_venv() -> bool:
    return Path(sys.prefix).resolve() == VENV.resolve()


def _venv_python() -> Path | None:
    for place in ("bin/python", "Scripts/python.exe"):
        if (VENV / place).exists():
            return VENV / place
    return None


def _has_all(python: Path, extra: str) -> bool:
    question = f"from app import bootstrap; raise SystemExit(bool(bootstrap.lacking({extra!r})))"
    return subprocess.run([str(python), "-c", question], cwd=ROOT).returncode == 0


def _make_venv() -> None:
    say(f"First start: making a virtual environment in {VENV} ...")
    made = subprocess.run([sys.executable, "-m", "venv", str(VENV)], capture_output=True, text=True)
    if made.returncode == 0:
        return
    # Debian packs pip for virtual environments separately; a pip outside can fill one as well.
    shutil.rmtree(VENV, ignore_errors=True)
    outside = subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True)
    bare = [sys.executable, "-m", "venv", "--without-pip", str(VENV)]
    if outside.returncode != 0 or subprocess.run(bare, capture_output=True).returncode != 0:
        shutil.rmtree(VENV, ignore_errors=True)
        give_up(
            "Python here cannot make virtual environments: install it, "
            "for example with 'apt-get install python3-venv', and start again."
        )


def locked() -> str:
    """Return the requirement of uv, in the version that uv.lock pins."""
    import tomllib

    with (ROOT / "uv.lock").open("rb") as file:
        packages = tomllib.load(file)["package"]
    (version,) = (found["version"] for found in packages if found["name"] == "uv")
    return f"uv=={version}"


def _install_locked(pip: list[str], python: Path, extra: str) -> bool:
    """Install exactly what uv.lock names, by hash, as continuous integration wants it."""
    sync = [str(python), "-m", "uv", "sync", "--quiet", "--locked", "--inexact"]
    for command in ([*pip, "install", "--quiet", locked()], [*sync, "--extra", extra]):
        if subprocess.run(command, cwd=ROOT).returncode != 0:
            say(f"That failed: {' '.join(command)}")
            return False
    return True


def _install(python: Path, extra: str, missing: list[str]) -> list[str]:
    """Install the project with an extra; return the command that failed, or an empty list."""
    large = any(line.startswith("pyspark") for line in missing)
    how_long = " (about three minutes: Spark is large)" if large else ""
    count = "1 package" if len(missing) == 1 else f"{len(missing)} packages"
    say(f"Installing {count}{how_long}: {', '.join(missing)}")
    target = f".[{extra}]" if extra else "."
    within = [str(python), "-m", "pip"]
    if subprocess.run([*within, "--version"], capture_output=True).returncode != 0:
        within = [sys.executable, "-m", "pip", "--python", str(python)]
    if extra and os.environ.get("CI") and _install_locked(within, python, extra):
        say("Installed, as uv.lock has it.")
        return []
    command = [*within, "install", "--disable-pip-version-check", "--quiet", "--editable", target]
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
