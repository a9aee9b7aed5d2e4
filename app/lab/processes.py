"""The processes of a laboratory: each in a group of its own, none of which outlives it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Final

from app.lab.trouble import LabError

WATCHDOG: Final = Path(__file__).with_name("watchdog.py")
END_WITHIN_S: Final = 60.0


class Processes:
    """A directory and what runs in it; as a context manager, both are gone at the end.

    `keep`: a directory to use and to leave behind, instead of one that is removed.
    """

    def __init__(self, keep: Path | None = None) -> None:
        if keep is not None:
            if keep.exists() and any(keep.iterdir()):
                raise LabError(f"{keep} is not empty; name a directory that does not exist yet.")
            keep.mkdir(parents=True, exist_ok=True)
        self.keeps = keep is not None
        self.directory = keep or Path(tempfile.mkdtemp(prefix="highwater-lab-"))
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self._watchdog = subprocess.Popen(
            [sys.executable, "-I", str(WATCHDOG), "-" if keep else str(self.directory)],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )

    def __enter__(self) -> Processes:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def start(
        self, name: str, command: list[str], stdin: int = subprocess.DEVNULL
    ) -> subprocess.Popen[bytes]:
        """Start a program; what it prints goes to NAME.out."""
        with (self.directory / f"{name}.out").open("ab") as out:
            process = subprocess.Popen(
                command,
                stdin=stdin,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=self.directory,
                start_new_session=True,
            )
        self._tell(f"+{process.pid}\n")
        self.running[name] = process
        return process

    def alive(self, name: str) -> bool:
        process = self.running.get(name)
        return process is not None and process.poll() is None

    def signal(self, name: str, number: signal.Signals) -> None:
        """Send a signal; wait for the end where the signal asks for one."""
        process = self.running.get(name)
        if process is None or process.poll() is not None:
            return
        process.send_signal(number)
        if number in (signal.SIGKILL, signal.SIGTERM):
            try:
                process.wait(END_WITHIN_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            self._tell(f"-{process.pid}\n")

    def last_words(self, name: str) -> str:
        """Return the last line of a program's output that helps to explain its end."""
        for suffix in ("out", "log"):
            path = self.directory / f"{name}.{suffix}"
            with contextlib.suppress(OSError):
                for line in reversed(path.read_text(errors="replace").splitlines()):
                    if any(word in line for word in ("Exception", "FATAL", "ERROR", "error")):
                        return line.strip()[:300]
        return ""

    def close(self) -> None:
        """End everything.  Whatever happens here, the watchdog does the same again."""
        for process in self.running.values():
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
        for process in self.running.values():
            process.wait()
        if self._watchdog.stdin is not None:
            self._watchdog.stdin.close()
        self._watchdog.wait()

    def _tell(self, line: str) -> None:
        assert self._watchdog.stdin is not None
        self._watchdog.stdin.write(line.encode())
        self._watchdog.stdin.flush()
