"""Building the compiled engine, and checking once that it plays the same bytes.

The steps are programs of their own: a build that fails, or is cancelled, leaves this process and
every former build as they were.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from app.bootstrap import add, is_checkout
from app.compiled import digests, extensions
from app.compiled.expand import expand
from app.core import compiled_engine
from app.core.words import Catalogue
from engine.model.languages import USUAL

LEVEL: Final = "1"
"""Optimisation level of the C compiler: half the time of level 2, and plays nearly as fast."""
USUAL_CPU_S: Final = 75
"""Processor seconds of a build with its check, for what is said beforehand."""
POLL_S: Final = 0.25
INSTALLING, TRANSLATING = "installing", "translating"
COMPILING, CHECKING = "compiling", "checking"

Progress = Callable[[str, float], None]
"""Told the phase, and its share done (0 – 1)."""


class CompileError(Exception):
    """Error for an engine that cannot be compiled here: a key of `compiled.*.json`, and its words.

    As text it is one sentence of the usual language.
    """

    def __init__(self, key: str, **args: object) -> None:
        super().__init__(key)
        self.key = f"compiled.{key}"
        self.args_of_key = args

    def sentence(self, words: Catalogue, lang: str) -> str:
        return words.text(lang, self.key, self.args_of_key)

    def __str__(self) -> str:
        return self.sentence(Catalogue(), USUAL)


def why_not() -> CompileError | None:
    """Return what is missing here, or None."""
    if sys.platform == "win32":
        return CompileError("missing.system")
    if compiler() is None:
        return CompileError("missing.compiler")
    if not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        return CompileError("missing.headers")
    if lacks_mypy() and not is_checkout():
        return CompileError("missing.mypy", command="pip install 'highwater[fast]'")
    return None


def lacks_mypy() -> bool:
    """Check whether what translates to C is missing; a checkout installs it first."""
    return any(importlib.util.find_spec(name) is None for name in ("mypyc", "setuptools"))


def compiler() -> str | None:
    """Return the path of the C compiler that setuptools would use, or None."""
    usual = (os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc").split()
    return shutil.which(usual[0]) or shutil.which("cc")


def build(progress: Progress, program: Path | None = None) -> Path:
    """Build the compiled engine, check it, and return its folder; a former build is kept.

    `program` stands in for the module that writes digests.  Raises CompileError.
    """
    if (done := compiled_engine.built()) is not None:
        return done
    if reason := why_not():
        raise reason
    if lacks_mypy():
        progress(INSTALLING, 0.0)
        if not add("fast"):
            raise CompileError("uninstallable", command="pip install -e '.[fast]'")
        importlib.invalidate_caches()
    with _scratch() as place:
        package = place.joinpath(*compiled_engine.ENGINE.split("."))
        without = shutil.ignore_patterns("__pycache__", "*.so")
        done = compiled_engine.builds() / compiled_engine.fingerprint()  # sources may change later
        shutil.copytree(compiled_engine.SOURCES, package, ignore=without)
        if package.parent != place:
            (package.parent / "__init__.py").touch()
        expand([Path(name) for name in extensions.files(compiled_engine.ENGINE, place)])
        _compile(place, progress)
        shutil.rmtree(place / "build", ignore_errors=True)
        _check(place, progress, program or Path(digests.__file__))
        try:
            place.rename(done)
        except OSError as error:
            if compiled_engine.built() is None:  # no other process was faster
                raise CompileError("unwritable", folder=done, why=error.strerror) from error
        return done


@contextmanager
def _scratch() -> Iterator[Path]:
    """Yield a new folder beside the builds; what is left in it goes."""
    folder = compiled_engine.builds()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        place = Path(tempfile.mkdtemp(prefix="making-", dir=folder))
    except (OSError, RuntimeError) as error:
        raise CompileError("unwritable", folder=folder, why=error) from error
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _compile(place: Path, progress: Progress) -> None:
    """Translate and compile in place.  Raises CompileError with the compiler's last line."""
    command = [sys.executable, extensions.__file__, "--quiet", "build_ext", "--inplace"]
    jobs = os.cpu_count() or 1
    own = {**os.environ, "HIGHWATER_COMPILE_LEVEL": LEVEL, "HIGHWATER_PURE": "1"}
    with (place / "build.log").open("w+", encoding="utf-8") as log:
        process = subprocess.Popen(
            [*command, "--parallel", str(jobs)], cwd=place, env=own, stdout=log, stderr=log
        )
        try:
            while process.poll() is None:
                progress(*_how_far(place))
                with suppress(subprocess.TimeoutExpired):
                    process.wait(POLL_S)
        finally:
            process.kill()
        if process.wait():
            log.seek(0)
            raise CompileError("failed", why=_last_line(log.read()))


def _how_far(place: Path) -> tuple[str, float]:
    """Return the phase and its share, from the files that are there."""
    sources = len(list(place.glob("build/**/*.c")))
    objects = len(list(place.glob("build/**/*.o")))
    return (COMPILING, objects / sources) if objects else (TRANSLATING, 0.0)


def _check(place: Path, progress: Progress, program: Path) -> None:
    """Play the library with both engines.  Raises CompileError where a run ends differently."""
    progress(CHECKING, 0.0)
    root = str(compiled_engine.ON_PATH)
    ends = []
    for share, choice in (
        (0.5, {"HIGHWATER_PURE": "1"}),
        (1.0, {compiled_engine.VARIABLE: str(place)}),
    ):
        own = {key: value for key, value in os.environ.items() if not key.startswith("HIGHWATER_")}
        done = subprocess.run(
            [sys.executable, "-P", str(program)],
            env={**own, **choice, "PYTHONPATH": root},
            capture_output=True,
            text=True,
        )
        if done.returncode:
            raise CompileError("unplayable", why=_last_line(done.stderr))
        ends.append(json.loads(done.stdout))
        progress(CHECKING, share)
    pure, compiled = ends
    if compiled.pop("is_compiled") is pure.pop("is_compiled"):
        raise CompileError("unfound")
    different = sorted(name for name in pure if pure[name] != compiled.get(name))
    if different:
        raise CompileError("different", n=len(different), all=len(pure), name=different[0])


def _last_line(told: str) -> str:
    lines = told.strip().splitlines()
    return lines[-1][:300].rstrip(".") if lines else "-"
