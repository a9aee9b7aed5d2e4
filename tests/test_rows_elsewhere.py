"""Rows of a study read without Highwater, as the page shows it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from app.batch.runners.plan import Chunk
from app.batch.runners.rows import finish_chunk
from app.command.cli import main
from engine.scenarios import file
from engine.study.batch import run_chunk
from engine.study.metrics import METRICS
from tests.conftest import ROOT

PAGE = ROOT / "docs/how-to/run-at-scale.md"
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of results with one study: forty runs of Kafka 0.10.2, seven of which lose."""
    place = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HIGHWATER_INSTANCE", str(place))
        patch.setenv("HIGHWATER_BACKGROUND_BUILD", "0")
        asked = ["batch", "crash-storm", "--runs", "40", "--kafka", "0.10.2.2"]
        assert CliRunner().invoke(main, asked).exit_code == 0
    return place


@pytest.mark.night
@pytest.mark.parametrize(
    "program",
    PROGRAMS,
    ids=lambda program: program.split()[1].partition(".")[0],
)
def test_programs_of_the_page_read_the_rows(place: Path, program: str) -> None:
    (study,) = (one.name for one in (place / "batches").iterdir() if one.is_dir())
    text = program.replace("6e00cd9aa0c5", study)
    done = subprocess.run([sys.executable, "-c", text], cwd=place, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (row,) = (line for line in done.stdout.splitlines() if "Z0102" in line and "seed" not in line)
    numbers = [int(number) for number in re.findall(r"\b\d+\b", row)]
    assert numbers[0] == 40 and numbers[1] >= 7, done.stdout
    if "parquet_kv_metadata" in program:
        assert "highwater batch crash-storm --kafka Z0102 --seed 0 --runs 40" in done.stdout


def test_a_file_of_a_study_that_still_runs_says_what_it_is(tmp_path: Path) -> None:
    scenario: dict[str, Any] = file.find("S74").to_dict()
    finish_chunk(Chunk(3, "K41", 0, 6, 2), [scenario], tuple(METRICS), str(tmp_path), run_chunk)
    (path,) = tmp_path.iterdir()
    told = pq.read_schema(path).metadata
    assert told[b"release"] == b"K41" and told[b"first_seed"] == b"6"
    assert told[b"command"].startswith(b"highwater batch ")
    assert told[b"command"].endswith(b"--kafka K41 --seed 6 --runs 2")
