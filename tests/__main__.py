"""``python3 -m tests``: every check of the project, on a machine that has only Python.

``--quick`` runs the checks that a contributor waits for.  Other arguments are passed to pytest,
which runs after the linters.  Only the standard library is imported until `app.bootstrap` has
installed the rest.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from app import bootstrap
from tests import chromium

ROOT = bootstrap.ROOT
REAPER = ROOT / "tests" / "reaper.py"
CJK = ("NotoSansCJK", "NotoSerifCJK")
NODE_OLDEST = 20
CPU_MINUTES, QUICK_CPU_MINUTES = 32, 10
QUICK = "not (browser or spark or alone or cluster or gate)"
LEFT_OUT = (
    "browsers, the server and its pages, Spark, PostgreSQL, nginx, incidents, the laboratory, the "
    "documentation site, the wheel, the advisor, soaks, searches and everything timed"
)


def has_chromium() -> bool:
    return bool(chromium.path())


def has_chinese() -> bool:
    fonts = Path("/usr/share/fonts")
    return any(next(fonts.rglob(f"{name}*"), None) for name in CJK)


def has_postgres() -> bool:
    home = Path("/usr/lib/postgresql")
    return bool(shutil.which("initdb") or next(home.glob("*/bin/initdb"), None))


def has_nginx() -> bool:
    return bool(shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin"))


def ensure_programs() -> None:
    """Install the programs that the tests start; without root and apt, name them."""
    apt = shutil.which("apt-get")
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        apt = None
    if apt and is_ci() and not shutil.which(chromium.SHELL):
        install(apt, [chromium.SHELL])
    there = {
        "chromium": has_chromium(),
        "libatomic1": chromium.has_libatomic(),
        "fonts-noto-cjk": has_chinese(),
        "postgresql": has_postgres(),
        "nginx-light": has_nginx(),
    }
    wanted = [name for name, found in there.items() if not found]
    if wanted and apt:
        install(apt, wanted)
    elif wanted:
        names = " ".join(wanted)
        result = "fail" if is_ci() else "are skipped"
        bootstrap.say(
            f"Only an administrator can install some programs (apt-get install {names}); "
            f"the tests that need them {result}."
        )


def install(apt: str, packages: list[str]) -> None:
    """Install packages one by one: a distribution may have only some of them."""
    bootstrap.say(f"Installing for the tests: {' '.join(packages)} ...")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    get = [apt, "-qq", "install", "-y", "--no-install-recommends"]
    for command in ([apt, "-qq", "update"], *([*get, package] for package in packages)):
        if subprocess.run(command, env=quiet, stdout=subprocess.DEVNULL).returncode != 0:
            bootstrap.say(f"That failed: {shlex.join(command)}")


def why_no_node() -> str:
    """Return the reason why the checks of the front end cannot run here, or ""."""
    node = shutil.which("node")
    if node is None:
        return f"node is not installed; the checks of the front end need {NODE_OLDEST} or newer"
    told = subprocess.run([node, "--version"], capture_output=True, text=True).stdout
    version = re.match(r"v(\d+)", told)
    if version is None or int(version[1]) < NODE_OLDEST:
        return f"node {told.strip()} is too old; the checks of the front end need {NODE_OLDEST}"
    if shutil.which("npm") is None:
        return "npm is not installed; it installs the formatter and linters of the front end"
    return ""


def ensure_node() -> str:
    """Install node and npm from PyPI if they are missing or too old; return why not, or ""."""
    scripts = sysconfig.get_path("scripts")
    if why_no_node() and (Path(scripts) / "node").exists():
        os.environ["PATH"] = scripts + os.pathsep + os.environ.get("PATH", "")
    if not (why_not := why_no_node()):
        return ""
    bootstrap.say(f"{why_not[0].upper()}{why_not[1:]}: installing it from PyPI.")
    if not bootstrap.add("node"):
        return why_not
    os.environ["PATH"] = scripts + os.pathsep + os.environ.get("PATH", "")
    return why_no_node()


def ensure_tools() -> list[str]:
    """Install the formatter and linters in package-lock.json, unless they are installed.

    Return the command that failed, or an empty list.
    """
    lock = ROOT / "package-lock.json"
    mark = ROOT / "node_modules/.installed"
    if mark.exists() and mark.read_bytes() == lock.read_bytes():
        return []
    command = [shutil.which("npm") or "npm", "ci", "--silent", "--no-audit", "--no-fund"]
    bootstrap.say("Installing the formatter and linters of the front end ...")
    if subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL).returncode != 0:
        return command
    mark.write_bytes(lock.read_bytes())
    return []


def front_end() -> list[list[str]]:
    """Checks of scripts and styles: formatter, linters, and the tests that run in node."""
    tools = "node_modules/.bin"
    return [
        [f"{tools}/prettier", "--log-level", "warn", "--check", "."],
        [f"{tools}/eslint", "--max-warnings", "0", "."],
        [f"{tools}/knip", "--no-progress"],
        ["node", "tests/js/all.mjs"],
        ["npm", "run", "--silent", "types"],
    ]


def is_ci() -> bool:
    """Return True where a check that cannot run counts as failed, not as skipped."""
    return bool(os.environ.get("CI"))


def failures(cache: Path) -> list[str]:
    """Return the tests that failed, from the cache of pytest."""
    try:
        text = (cache / "v/cache/lastfailed").read_text("utf-8")
    except OSError:
        return []
    return list(json.loads(text))


@dataclass
class Told:
    """Results of the checks; prints the output of one check at a time."""

    failed: list[str] = field(default_factory=list)
    second: list[str] = field(default_factory=list)
    """Browser tests that needed a second try."""
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def check(self, command: list[str], at_once: bool) -> None:
        """Run a check and print its output, as it comes or whole at the end."""
        line = line_of(command)
        if at_once:
            bootstrap.say(f"\n$ {line}")
        with tempfile.TemporaryFile() as kept:
            began = time.monotonic()
            passed, used = passes(command, self.second, None if at_once else kept)
            with self._turn:
                if not at_once:
                    bootstrap.say(f"\n$ {line}")
                    kept.seek(0)
                    shutil.copyfileobj(kept, sys.stdout.buffer)
                    sys.stdout.flush()
                bootstrap.say(f"({time.monotonic() - began:.1f} s, {used:.1f} s of CPU time)")
                if not passed:
                    self.failed.append(line)

    def lane(self, commands: list[list[str]], at_once: bool = False) -> None:
        for command in commands:
            self.check(command, at_once)


def line_of(command: list[str]) -> str:
    """Return the line that repeats a check; `--quick` has a short one."""
    if QUICK in command:
        return "python3 -m tests --quick"
    return shlex.join(command)


def run(command: list[str], out: IO[bytes] | None) -> tuple[int, float]:
    """Return the exit code, and the CPU seconds of the command and all its descendants."""
    # Hundreds of processes import the same files: the first writes their bytecode for the others.
    own = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    counted = [sys.executable, "-S", str(REAPER), *command]
    with subprocess.Popen(counted, cwd=ROOT, stdout=out, stderr=out, env=own) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, used.ru_utime + used.ru_stime


def passes(
    command: list[str], second: list[str], out: IO[bytes] | None = None
) -> tuple[bool, float]:
    """Run a check; return (passed, CPU seconds).

    Browser tests wait for a real Chromium on a machine that may be busy.  If only browser tests
    failed, they run once more, one after the other, and are added to `second`.  Other tests are
    deterministic and get no second try.
    """
    if "pytest" not in command:
        code, used = run(command, out)
        return code == 0, used
    with tempfile.TemporaryDirectory() as place:  # failures of this run only
        cached = [*command, "-o", f"cache_dir={place}"]
        code, used = run(cached, out)
        names = failures(Path(place)) if code else []
        if not names or not all(name.startswith("tests/e2e/") for name in names):
            return code == 0, used
        second += names
        code, more = run([*cached, "--last-failed", "-n", "0"], out)
        return code == 0, used + more


def tell_second_tries(names: list[str]) -> None:
    if not names:
        bootstrap.say("\nNo browser test needed a second try.")
        return
    told = "1 browser test" if len(names) == 1 else f"{len(names)} browser tests"
    bootstrap.say(f"\n{told} failed at first and had a second try:")
    for name in names:
        bootstrap.say(f"  {name}")


def marked(mark: str) -> list[str]:
    """Return the files with tests that have a mark; pytest need not collect the others."""
    there = re.compile(rf"\bmark\.{mark}\b")
    found = [path for path in ROOT.glob("tests/**/test_*.py") if there.search(path.read_text())]
    return sorted(str(path.relative_to(ROOT)) for path in found)


def suites() -> tuple[list[list[str]], list[list[str]], list[list[str]]]:
    """Return two lanes of tests that run at the same time, and the tests that run after both.

    Tests of the browser and of Spark mostly wait; the other lane uses the cores meanwhile.
    """
    pytest = [sys.executable, "-m", "pytest", "--durations", "40"]
    many = [*pytest, "-n", str(os.cpu_count() or 1), "--dist"]
    apart = "not (spark or alone)"
    plain = [*many, "worksteal", "-m", f"not browser and {apart}", "--ignore", "tests/e2e"]
    browser = [*many, "worksteal", "-m", f"browser and {apart}", "tests/e2e"]
    # The tests of a file share a Spark session.
    spark = [*many, "loadfile", "-m", "spark and not alone", *marked("spark")]
    # Tests that measure time need the whole machine.
    alone = [*pytest, "-m", "alone", *marked("alone")]
    return [spark, plain], [browser], [alone]


def quick_suite(arguments: list[str]) -> list[str]:
    """Return the tests of `--quick`: none needs a browser, Spark, a socket or a database."""
    pytest = [sys.executable, "-m", "pytest", "--durations", "5", "-n", str(os.cpu_count() or 1)]
    return [*pytest, "--dist", "worksteal", "-m", QUICK, "--ignore", "tests/e2e", *arguments]


def say_how_long(quick: bool) -> None:
    """Print how long the checks take on this machine, before they start."""
    cores = os.cpu_count() or 1
    whole, part = (max(2, round(work / cores)) for work in (CPU_MINUTES, QUICK_CPU_MINUTES))
    where = "1 core" if cores == 1 else f"{cores} cores"
    if quick:
        bootstrap.say(f"The quick checks take about {part} minutes on {where}.")
        bootstrap.say(f"They skip {LEFT_OUT}; python3 -m tests runs all.")
    else:
        bootstrap.say(f"All checks take about {whole} minutes on {where}; --quick about {part}.")


def main() -> int:
    arguments = [one for one in sys.argv[1:] if one != "--quick"]
    quick = "--quick" in sys.argv[1:]
    bootstrap.ensure("tests", extra="test")
    if quick or not arguments:
        say_how_long(quick)
    if not quick:
        ensure_programs()
    python = [sys.executable, "-m"]
    checks = [
        [*python, "ruff", "format", "--check", "."],
        [*python, "ruff", "check", "."],
        [*python, "mypy"],
        [*python, "vulture"],
    ]
    told = Told()
    began = time.monotonic()
    why_not = ensure_node()
    if not why_not and (broken := ensure_tools()):
        # An unreachable registry is not a fault of this project.
        bootstrap.say(f"That failed: {shlex.join(broken)}")
        why_not = "npm could not install the formatter and linters of the front end"
    if not why_not:
        checks += front_end()
    elif is_ci():
        bootstrap.say(f"Failed: {why_not}.")
        told.failed.append("python3 -m tests")
    else:
        bootstrap.say(f"Left out: {why_not}.")
    if quick:
        with ThreadPoolExecutor(1) as pool:
            beside = pool.submit(told.lane, checks)
            told.lane([quick_suite(arguments)])
            beside.result()
    elif arguments:
        told.lane([*checks, [*python, "pytest", *arguments]], at_once=True)
    else:
        one, other, after = suites()
        with ThreadPoolExecutor(1) as pool, tempfile.TemporaryDirectory() as shared:
            os.environ["HIGHWATER_TEST_SHARED"] = shared  # files that both lanes build once
            beside = pool.submit(told.lane, [*checks, *other])
            told.lane(one)
            beside.result()
        told.lane(after)
    if not quick:
        tell_second_tries(told.second)
    minutes, seconds = divmod(round(time.monotonic() - began), 60)
    bootstrap.say(f"It took {minutes} min {seconds} s.")
    if not told.failed:
        bootstrap.say(f"\nAll checks passed{', except those of the front end' if why_not else ''}.")
        return 0
    bootstrap.say("\nFailed. To repeat the checks that failed:")
    for line in told.failed:
        bootstrap.say(f"  cd {shlex.quote(str(ROOT))} && {line}")
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
