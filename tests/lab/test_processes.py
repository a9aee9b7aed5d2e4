"""Nothing of a laboratory outlives it: neither an end in order, nor Ctrl+C, nor kill -9."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.lab.processes import Processes
from app.lab.trouble import LabError

SLEEP = [sys.executable, "-c", "import time; print('up', flush=True); time.sleep(600)"]

LABORATORY = """
import signal, sys, time
from app.lab.processes import Processes
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests may ignore it
with Processes() as processes:
    process = processes.start("one", [sys.executable, "-c", "import time; time.sleep(600)"])
    print(process.pid, processes.directory, flush=True)
    time.sleep(600)
"""


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def until(is_so, seconds: float = 20.0) -> bool:
    end = time.monotonic() + seconds
    while not is_so() and time.monotonic() < end:
        time.sleep(0.05)
    return bool(is_so())


def test_the_end_of_the_block_ends_and_removes_everything() -> None:
    with Processes() as processes:
        process = processes.start("one", SLEEP)
        assert processes.alive("one")
        assert until(lambda: (processes.directory / "one.out").read_text() == "up\n")
    assert process.returncode == -signal.SIGKILL
    assert not processes.directory.exists()


def test_a_frozen_process_ends_too() -> None:
    with Processes() as processes:
        process = processes.start("one", SLEEP)
        processes.signal("one", signal.SIGSTOP)
        assert processes.alive("one")
    assert process.returncode == -signal.SIGKILL


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_laboratory_that_is_killed_leaves_nothing(number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", LABORATORY],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as parent:
        assert parent.stdout is not None
        pid, directory = parent.stdout.readline().split()
        assert is_running(int(pid))
        os.kill(parent.pid, number)
        parent.wait(20)
    assert until(lambda: not is_running(int(pid)))
    assert until(lambda: not Path(directory).exists())


def test_files_can_be_kept(tmp_path: Path) -> None:
    place = tmp_path / "kept"
    with Processes(place) as processes:
        processes.start("one", SLEEP)
    assert [one.name for one in place.iterdir()] == ["one.out"]
    with pytest.raises(LabError, match="is not empty"):
        Processes(place)


def test_last_words_are_the_last_line_that_tells_of_an_error(tmp_path: Path) -> None:
    with Processes(tmp_path / "kept") as processes:
        (processes.directory / "one.log").write_text("INFO fine\nERROR Address in use\nINFO bye\n")
        assert processes.last_words("one") == "ERROR Address in use"
        assert processes.last_words("two") == ""
