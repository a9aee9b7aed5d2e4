"""The engine as a zip, which a driver sends to the executors of Spark.

This module travels to the executors by value, so it may import only what they have.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from typing import Final

import engine
from app.batch.runners.rows import RunChunk

ENGINE_ZIP: Final = "highwater-engine.zip"
REST_OF_THE_PACKAGE: Final = "__path__ = __import__('pkgutil').extend_path(__path__, __name__)\n"
"""In `highwater` of a zip: an executor that has Highwater finds all else of it there."""


def engine_zip(scratch: str) -> str:
    """Return the engine package as a zip that executors put on their path; same engine, same bytes.

    Spark Connect refuses a file of the same name with other bytes.
    """
    package, place = Path(engine.__file__).parent, Path(*engine.__name__.split("."))
    target = Path(scratch) / ENGINE_ZIP
    with zipfile.ZipFile(target, "w") as archive:

        def add(name: Path, data: bytes) -> None:
            archive.writestr(zipfile.ZipInfo(str(name)), data, zipfile.ZIP_DEFLATED)

        for path in sorted(package.rglob("*")):
            if path.suffix in {".py", ".yaml", ".json"}:
                add(place / path.relative_to(package), path.read_bytes())
        if place.parent.name:
            above = (package.parent / "__init__.py").read_bytes()
            add(place.parent / "__init__.py", above + REST_OF_THE_PACKAGE.encode())
    return str(target)


def engine_sent() -> RunChunk:
    """Return run_chunk of the engine that the driver sent to this worker.

    It comes before whatever else of that name the worker could find, the driver's own directory
    included: files that change while a batch runs must not change the batch.
    """
    for place in [place for place in sys.path if place.endswith(ENGINE_ZIP)]:
        sys.path.remove(place)
        sys.path.insert(0, place)
    from engine.study.batch import run_chunk

    return run_chunk
