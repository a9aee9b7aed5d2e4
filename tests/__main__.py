"""``python3 -m tests``: every check of the project, on a machine that has only Python.

Standard library only, until what the checks need is installed (`app.bootstrap`).
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

from app import bootstrap

ROOT = bootstrap.ROOT
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
CJK = ("NotoSansCJK", "NotoSerifCJK")
NODE_OLDEST = 20


def has_chromium() -> bool:
    return shutil.which(CHROMIUM) is not None


def has_chinese() -> bool:
    fonts = Path("/usr/share/fonts")
    return any(next(fonts.rglob(f"{name}*"), None) for name in CJK)


def has_postgres() -> bool:
    home = Path("/usr/lib/postgresql")
    return bool(shutil.which("initdb") or next(home.glob("*/bin/initdb"), None))


def has_nginx() -> bool:
    return bool(shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin"))


def ensure_programs() -> None:
    """What the browser's, the database's and the proxy's tests start, where this machine lets us
    install it."""
    there = {
        "chromium": has_chromium(),
        "fonts-noto-cjk": has_chinese(),
        "postgresql": has_postgres(),
        "nginx-light": has_nginx(),
    }
    wanted = [name for name, found in there.items() if not found]
    if not wanted:
        return
    names = " ".join(wanted)
    apt = shutil.which("apt-get")
    if apt is None or not hasattr(os, "geteuid") or os.geteuid() != 0:
        bootstrap.say(f"The tests need: {names} (not installable from here).")
        return
    bootstrap.say(f"Installing for the tests: {names} ...")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        [apt, "-qq", "update"],
        [apt, "-qq", "install", "-y", "--no-install-recommends", *wanted],
    ):
        if subprocess.run(command, env=quiet, stdout=subprocess.DEVNULL).returncode != 0:
            bootstrap.say(f"That failed: {shlex.join(command)}")
            return


def why_no_node() -> str:
    """Why the checks of the front end cannot be run here, or ""."""
    node = shutil.which("node")
    if node is None:
        return f"node is not installed; {NODE_OLDEST} or newer checks the front end"
    told = subprocess.run([node, "--version"], capture_output=True, text=True).stdout
    version = re.match(r"v(\d+)", told)
    if version is None or int(version[1]) < NODE_OLDEST:
        return f"node {told.strip()} is too old; the checks of the front end need {NODE_OLDEST}"
    if shutil.which("npm") is None:
        return "npm is not installed; it installs what formats and lints the front end"
    return ""


def ensure_tools() -> list[str]:
    """Installs what formats and lints, in the versions of package-lock.json, where another lock or
    none was installed; the command if that failed, or nothing."""
    lock = ROOT / "package-lock.json"
    mark = ROOT / "node_modules/.installed"
    if mark.exists() and mark.read_bytes() == lock.read_bytes():
        return []
    command = [shutil.which("npm") or "npm", "ci", "--silent", "--no-audit", "--no-fund"]
    bootstrap.say("Installing what formats and lints the front end ...")
    if subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL).returncode != 0:
        return command
    mark.write_bytes(lock.read_bytes())
    return []


def front_end() -> list[list[str]]:
    """The checks of scripts and styles: format, lint, and the tests that run in node."""
    files = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("tests/js/**/*.test.*js"))
    assert files, "there are no JavaScript tests"
    tools = "node_modules/.bin"
    return [
        [f"{tools}/prettier", "--log-level", "warn", "--check", "."],
        [f"{tools}/eslint", "--max-warnings", "0", "."],
        ["node", "--test", *files],
        ["npm", "run", "--silent", "types"],
    ]


def is_ci() -> bool:
    """Where what cannot be checked is a failure, as for the browser and other Pythons."""
    return bool(os.environ.get("CI"))


def only_in_browser() -> bool:
    """Did nothing but browser tests fail?  They wait for a real Chromium on a machine that may be
    busy, so they get one more try, alone; whatever is deterministic gets none."""
    try:
        text = (ROOT / ".pytest_cache/v/cache/lastfailed").read_text("utf-8")
    except OSError:
        return False
    names = json.loads(text)
    return bool(names) and all(name.startswith("tests/e2e/") for name in names)


def passes(command: list[str]) -> bool:
    """Runs a check; says so if the browser tests needed their second try."""
    if subprocess.run(command, cwd=ROOT).returncode == 0:
        return True
    if "pytest" not in command or not only_in_browser():
        return False
    again = [*command, "--last-failed"]
    bootstrap.say(f"\nOnly browser tests failed; once more, alone:\n$ {shlex.join(again)}")
    return subprocess.run(again, cwd=ROOT).returncode == 0


def main() -> int:
    bootstrap.ensure("tests", extra="test")
    ensure_programs()
    python = [sys.executable, "-m"]
    checks = [
        [*python, "ruff", "format", "--check", "."],
        [*python, "ruff", "check", "."],
        [*python, "mypy"],
    ]
    failed = []
    why_not = why_no_node()
    if not why_not and (broken := ensure_tools()):
        # A registry that cannot be reached says nothing about this project.
        bootstrap.say(f"That failed: {shlex.join(broken)}")
        why_not = "what formats and lints the front end could not be installed"
    if not why_not:
        checks += front_end()
    elif is_ci():
        bootstrap.say(f"Failed: {why_not}.")
        failed.append("python3 -m tests")
    else:
        bootstrap.say(f"Left out: {why_not}.")
    if sys.argv[1:]:
        checks.append([*python, "pytest", *sys.argv[1:]])
    else:
        # What is timed needs the machine for itself.  A Spark session serves the tests of a file.
        pytest = [*python, "pytest", "--durations", "15"]
        many = [*pytest, "-n", str(os.cpu_count() or 1), "--dist"]
        apart = "not (spark or alone)"
        checks.append([*many, "worksteal", "-m", f"not browser and {apart}"])
        checks.append([*many, "worksteal", "-m", f"browser and {apart}"])
        checks.append([*many, "loadfile", "-m", "spark and not alone"])
        checks.append([*pytest, "-m", "alone"])
    for command in checks:
        line = shlex.join(command)
        bootstrap.say(f"\n$ {line}")
        began = time.monotonic()
        if not passes(command):
            failed.append(line)
        bootstrap.say(f"({time.monotonic() - began:.1f} s)")
    if not failed:
        bootstrap.say(f"\nAll checks passed{', but for what was left out' if why_not else ''}.")
        return 0
    bootstrap.say("\nFailed; these lines repeat it:")
    for line in failed:
        bootstrap.say(f"  cd {shlex.quote(str(ROOT))} && {line}")
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
