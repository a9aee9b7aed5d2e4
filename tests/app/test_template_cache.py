"""Compiled templates are kept; a damaged file or a folder that cannot be used refuses no page."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment

from app.server.template_cache import TemplateCache


def rendered(folder: Path, text: str = "{{ 1 + 1 }}") -> str:
    loader = DictLoader({"page": text})
    environment = Environment(loader=loader, bytecode_cache=TemplateCache(folder))
    return environment.get_template("page").render()


def test_a_second_start_compiles_no_template(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert rendered(tmp_path / "templates") == "2"
    monkeypatch.setattr(Environment, "_compile", lambda *_: pytest.fail("compiled"))
    assert rendered(tmp_path / "templates") == "2"


def test_a_template_that_has_changed_is_compiled_again(tmp_path: Path) -> None:
    assert [rendered(tmp_path, text) for text in ("old", "new")] == ["old", "new"]


@pytest.mark.parametrize("kept", [0, 1, 30, 60, 200])
def test_a_file_that_was_cut_short_is_written_again(kept: int, tmp_path: Path) -> None:
    rendered(tmp_path)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[:kept])
    assert rendered(tmp_path) == "2"
    assert file.read_bytes() == whole


def test_without_a_folder_pages_are_rendered(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert rendered(tmp_path / "file" / "templates") == "2"
