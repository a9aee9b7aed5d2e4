"""Bytecode in the archives of a static site, as a browser compiles Python slowly.

The site's own interpreter, run by Node, compiles what its first answers and pages import.  The
rest stays source, which is half as large; without Node all of it does.
"""

from __future__ import annotations

import gzip
import io
import logging
import marshal
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Collection
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from typing import Final

from app.site.archives import EPOCH

SCRIPT: Final = Path(__file__).with_name("precompile.mjs")
NODE_S: Final = 300
UNCHECKED: Final = (1).to_bytes(4, "little") + bytes(8)
"""Flags and hash of bytecode that is not compared with its source, which is not there."""
PACKED: Final = ".bin"
"""Ending of a file that the site has compressed."""

log = logging.getLogger(__name__)


def precompiled(files: dict[str, bytes]) -> dict[str, bytes]:
    """Return these files of a site, by name, their archives compiled if Node is installed.

    They are the interpreter's and the two archives engine.zip and pages.zip.
    """
    node = shutil.which("node")
    if node is None:
        return files
    with tempfile.TemporaryDirectory() as place:
        for name, data in files.items():
            unpacked = gzip.decompress(data) if name.endswith(PACKED) else data
            Path(place, name.removesuffix(PACKED)).write_bytes(unpacked)
        shutil.copy(SCRIPT, place)
        command = [node, SCRIPT.name, __name__.rpartition(".")[0]]
        try:
            subprocess.run(command, cwd=place, check=True, capture_output=True, timeout=NODE_S)
        except (OSError, subprocess.SubprocessError) as error:
            why = getattr(error, "stderr", None) or str(error).encode()
            log.warning("Node cannot compile the engine, which starts slower then: %r", why[-300:])
            return files
        return {
            name: Path(place, name).read_bytes() if name.endswith(".zip") else data
            for name, data in files.items()
        }


def imported(folder: str) -> set[str]:
    """Return the files below a folder, or in a zip file, that this process has imported."""
    specs = (getattr(module, "__spec__", None) for module in list(sys.modules.values()))
    paths = (str(spec.origin) for spec in specs if spec is not None)
    return {path.removeprefix(f"{folder}/") for path in paths if path.startswith(f"{folder}/")}


def with_bytecode(archive: bytes, names: Collection[str], optimize: int = -1) -> bytes:
    """Return an archive in which these sources are bytecode of this Python."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(buffer, "w") as new:
        for entry in old.infolist():
            if entry.is_dir():
                continue
            name, data = entry.filename, old.read(entry)
            if name in names:
                code = compile(data, name, "exec", dont_inherit=True, optimize=optimize)
                name, data = f"{name}c", MAGIC_NUMBER + UNCHECKED + marshal.dumps(code)
            new.writestr(zipfile.ZipInfo(name, EPOCH), data, zipfile.ZIP_DEFLATED, 9)
    return buffer.getvalue()
