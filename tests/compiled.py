"""The compiled engine beside this checkout: ``python3 -m tests.compiled`` builds it and says where.

It is kept by the sources it was made of: none is played that is no longer as it is written.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
LEVEL: Final = "1"
"""Of gcc: a build in half of the time that plays nearly as fast."""


def key() -> str:
    """Of every source that a build is made of, this Python and mypy."""
    found = sha256(f"{sys.version} {LEVEL}".encode())
    for path in (ROOT / "setup.py", *sorted((ROOT / "engine").rglob("*.py"))):
        found.update(path.relative_to(ROOT).as_posix().encode() + path.read_bytes())
    return found.hexdigest()[:16]


def place() -> Path:
    return ROOT / "build" / "compiled" / key()


def build() -> Path:
    """The folder whose `engine` is compiled; it is built where there is none yet.

    Raises RuntimeError with what the compiler said.
    """
    done = place()
    if done.exists():
        return done
    making = done.with_name(f"{done.name}.{os.getpid()}")
    shutil.copytree(
        ROOT / "engine", making / "engine", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(ROOT / "setup.py", making)
    told = subprocess.run(
        [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"],
        cwd=making,
        env={**os.environ, "HIGHWATER_COMPILE": "1", "HIGHWATER_COMPILE_LEVEL": LEVEL},
        capture_output=True,
        text=True,
    )
    if told.returncode:
        shutil.rmtree(making)
        raise RuntimeError(f"{told.stdout}\n{told.stderr}"[-4_000:])
    shutil.rmtree(making / "build", ignore_errors=True)
    making.rename(done)
    return done


if __name__ == "__main__":
    print(build())
