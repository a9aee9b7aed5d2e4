"""Bytecode in the archives of a site: what was imported runs without its source."""

from __future__ import annotations

import io
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from app.site import precompiling
from app.site.archives import engine_archive
from app.site.precompiling import imported, precompiled, with_bytecode
from engine.scenarios.file import own_tree
from engine.scenarios.places import Places
from tests.conftest import ROOT


def zipped(files: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return buffer.getvalue()


OWN = {"one.py": "'''Say it.'''\nassert __doc__\nx = 1", "two.py": "y = 2", "a.txt": "import one"}


def test_bytecode_runs_from_a_folder_and_from_an_archive(tmp_path: Path) -> None:
    archive = with_bytecode(zipped(OWN), {"one.py"})
    with zipfile.ZipFile(io.BytesIO(archive)) as read:
        assert sorted(read.namelist()) == ["a.txt", "one.pyc", "two.py"]
        read.extractall(tmp_path / "folder")
    (tmp_path / "archive.zip").write_bytes(archive)
    program = "import one, two; print(one.x, two.y, one.__spec__.origin)"
    for place in ("folder", "archive.zip"):
        command = [sys.executable, "-c", program]
        told = subprocess.check_output(
            command, env={"PYTHONPATH": str(tmp_path / place)}, text=True
        )
        assert told.split() == ["1", "2", str(tmp_path / place / "one.pyc")]


def test_equal_archives_are_compiled_to_equal_ones() -> None:
    assert with_bytecode(zipped(OWN), {"one.py"}, 2) == with_bytecode(zipped(OWN), {"one.py"}, 2)


def test_imported_files_are_named_as_in_the_archive() -> None:
    found = imported(str(ROOT))
    assert {"app/site/precompiling.py", "engine/__init__.py"} <= found


@pytest.mark.parametrize("failing", [False, True])
def test_without_node_an_archive_stays_source(
    failing: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    node = shutil.which("false") if failing else None
    monkeypatch.setattr(precompiling.shutil, "which", lambda _: node)
    files = {"engine.zip": b"engine", "pyodide.mjs": b"script"}
    assert precompiled(files) == files
    assert ("slower" in caplog.text) == failing


def test_the_library_is_packed_as_json_that_reads_the_same() -> None:
    with zipfile.ZipFile(io.BytesIO(engine_archive().data)) as archive:
        packed = [name for name in archive.namelist() if "/scenarios/library/" in name]
        assert len(packed) > 300
        for name in packed:
            text = archive.read(name).decode()
            assert text.startswith("{"), name
            own = (ROOT / name).read_text("utf-8")
            assert own_tree(text, Places(name)) == own_tree(own, Places(name)), name
