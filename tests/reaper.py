"""``python3 tests/reaper.py COMMAND ...``: runs it, and waits for all that it leaves behind.

A browser kills its renderers and waits for none of them: what they used would be counted nowhere.
Linux gives such orphans to the nearest ancestor that asks for them, which is this process; so its
own usage, once it has ended, has all of it.  Elsewhere the command just runs.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys

PR_SET_CHILD_SUBREAPER = 36


def main(command: list[str]) -> int:
    if sys.platform != "linux":
        return subprocess.call(command)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    child = subprocess.Popen(command)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command was told, too, and ends this
    pid, status = 0, 0
    while pid != child.pid:
        pid, status = os.wait()
    child.returncode = os.waitstatus_to_exitcode(status)
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
