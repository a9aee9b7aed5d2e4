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


def ensure_browser() -> None:
    """Chromium and fonts for the browser tests, where this machine lets us install them."""
    wanted = []
    if not has_chromium():
        wanted.append("chromium")
    if not has_chinese():
        wanted.append("fonts-noto-cjk")
    if not wanted:
        return
    names = " ".join(wanted)
    apt = shutil.which("apt-get")
    if apt is None or not hasattr(os, "geteuid") or os.geteuid() != 0:
        bootstrap.say(f"The browser tests need: {names} (not installable from here).")
        return
    bootstrap.say(f"Installing for the browser tests: {names} ...")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        [apt, "-qq", "update"],
        [apt, "-qq", "install", "-y", "--no-install-recommends", *wanted],
    ):
        if subprocess.run(command, env=quiet, stdout=subprocess.DEVNULL).returncode != 0:
            bootstrap.say(f"That failed: {shlex.join(command)}")
            return


def node_tests() -> list[str] | None:
    """The command for the JavaScript tests, or None, having said why not."""
    files = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("tests/js/**/*.test.*js"))
    if not files:
        bootstrap.say("There are no JavaScript tests.")
        return None
    node = shutil.which("node")
    if node is None:
        bootstrap.say("node is not installed: the JavaScript tests are left out.")
        return None
    told = subprocess.run([node, "--version"], capture_output=True, text=True).stdout
    version = re.match(r"v(\d+)", told)
    if version is None or int(version[1]) < NODE_OLDEST:
        bootstrap.say(f"node {told.strip()} is too old: the JavaScript tests are left out.")
        return None
    return [node, "--test", *files]


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
    ensure_browser()
    python = [sys.executable, "-m"]
    checks = [[*python, "ruff", "check", "."], [*python, "mypy"]]
    javascript = node_tests()
    if javascript is not None:
        checks.append(javascript)
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
    failed = []
    for command in checks:
        line = shlex.join(command)
        bootstrap.say(f"\n$ {line}")
        began = time.monotonic()
        if not passes(command):
            failed.append(line)
        bootstrap.say(f"({time.monotonic() - began:.1f} s)")
    if not failed:
        bootstrap.say("\nAll checks passed.")
        return 0
    bootstrap.say("\nFailed; these lines repeat it:")
    for line in failed:
        bootstrap.say(f"  cd {shlex.quote(str(ROOT))} && {line}")
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
