"""CPython as WebAssembly: the files of the npm package `pyodide`, pinned by version and hash."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

VERSION: Final = "314.0.7"
INTEGRITY: Final = (
    "sha512-0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq"
    "+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
)
"""Hash of the package's archive, as the registry and every lock file of npm give it."""
NEEDED: Final = (
    "package.json",
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "python_stdlib.zip",
    "pyodide-lock.json",
)
NPM_S: Final = 300


class MissingFilesError(Exception):
    """Error for files that cannot be had; its text is one sentence that says what to do."""


@dataclass(frozen=True)
class Interpreter:
    """Files of the interpreter, by name, as the site serves them."""

    version: str
    files: dict[str, bytes]


def interpreter(directory: Path | None = None) -> Interpreter:
    """Return the files, from a directory or else from npm.  Raises `MissingFilesError`."""
    return _served(_unpacked(directory) if directory else _from_npm())


def _unpacked(directory: Path) -> dict[str, bytes]:
    for name in NEEDED:
        if not (directory / name).is_file():
            raise MissingFilesError(
                f"{directory} has no {name}: unpack the npm package pyodide {VERSION} there."
            )
    files = {name: (directory / name).read_bytes() for name in NEEDED}
    version = json.loads(files["package.json"]).get("version")
    if version != VERSION:
        raise MissingFilesError(
            f"{directory} holds pyodide {version}, and this needs pyodide {VERSION}."
        )
    return files


def _from_npm() -> dict[str, bytes]:
    archive = _cache() / f"pyodide-{VERSION}.tgz"
    if not archive.is_file() or not _is_genuine(archive):
        _download(archive)
    with tarfile.open(archive) as packed:
        files = {}
        for name in NEEDED:
            member = packed.extractfile(f"package/{name}")
            if member is None:
                raise MissingFilesError(f"{archive} has no {name}: delete it, and start again.")
            files[name] = member.read()
    return files


def _cache() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "highwater"


def _is_genuine(archive: Path) -> bool:
    digest = hashlib.sha512(archive.read_bytes()).digest()
    return f"sha512-{base64.b64encode(digest).decode()}" == INTEGRITY


def _download(archive: Path) -> None:
    """Let npm fetch the archive, and keep it if its hash is right."""
    advice = f"download the npm package pyodide {VERSION}, and pass its folder as --pyodide DIR"
    npm = shutil.which("npm")
    if npm is None:
        raise MissingFilesError(f"There is no npm to fetch Pyodide with: install it, or {advice}.")
    with tempfile.TemporaryDirectory() as folder:
        command = [npm, "pack", "--silent", f"pyodide@{VERSION}"]
        try:
            subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=NPM_S)
            (fetched,) = Path(folder).glob("*.tgz")
        except (OSError, subprocess.SubprocessError, ValueError):
            raise MissingFilesError(
                f"npm cannot fetch Pyodide from its registry: {advice}."
            ) from None
        if not _is_genuine(fetched):
            raise MissingFilesError(
                f"What npm fetched is not pyodide {VERSION} (its hash differs): {advice}."
            )
        archive.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(fetched, archive)


def _served(files: dict[str, bytes]) -> Interpreter:
    """Return the files that a browser loads: the module compressed, no list of packages."""
    lock = json.loads(files["pyodide-lock.json"])
    return Interpreter(
        VERSION,
        {
            "pyodide.mjs": files["pyodide.mjs"],
            "pyodide.asm.mjs": files["pyodide.asm.mjs"],
            "pyodide.asm.wasm.bin": gzip.compress(files["pyodide.asm.wasm"], 9, mtime=0),
            "python_stdlib.zip": files["python_stdlib.zip"],
            "pyodide-lock.json": json.dumps({**lock, "packages": {}}).encode(),
        },
    )
