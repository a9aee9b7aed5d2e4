"""The notebook of the tutorial: a kernel runs every cell, which shows what its text promises."""

from __future__ import annotations

import nbformat
import pytest
from nbclient import NotebookClient

from tests.conftest import ROOT

PATH = ROOT / "docs/tutorial/notebook.ipynb"


@pytest.mark.night
def test_every_cell_runs_and_shows_what_its_metadata_name() -> None:
    notebook = nbformat.read(PATH, as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") for cell in notebook.cells), "clear the outputs"
    environment = {"metadata": {"path": str(ROOT)}}
    NotebookClient(notebook, timeout=240, kernel_name="python3", resources=environment).execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            shown = "".join(
                one.get("text", "") + "".join(map(str, one.get("data", {}).values()))
                for one in cell.outputs
            )
            assert cell.metadata["shows"] in shown, (cell.source, shown)
