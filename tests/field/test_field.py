"""Inputs as people have them, each in a folder with the reading that is right.

`pytest tests/field --rewrite` writes the readings; the diff of that is what a reviewer reads.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.reading.facts import MOST_CHARS
from app.reading.format import ReadLines
from app.reading.formats import FORMATS
from tests.field.readings import HERE, READING, cases, of_files, of_paste


def compare(folder: Path, reading: dict[str, Any], rewrite: bool) -> None:
    """A reading beside the one that is kept."""
    path = folder / READING
    text = json.dumps(reading, ensure_ascii=False, indent=1) + "\n"
    if rewrite:
        path.write_text(text, "utf-8")
    assert path.exists(), f"pytest tests/field --rewrite writes {path}"
    assert reading == json.loads(path.read_text("utf-8"))


@pytest.mark.parametrize("name", cases("cluster"))
def test_a_pasted_cluster(name: str, rewrite: bool) -> None:
    folder = HERE / "cluster" / name
    compare(folder, of_paste((folder / "input.txt").read_bytes().decode()), rewrite)


@pytest.mark.parametrize("name", cases("incident"))
def test_files_of_brokers(name: str, rewrite: bool, tmp_path: Path) -> None:
    folder = HERE / "incident" / name
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != READING]
    names = [path.relative_to(folder).as_posix() for path in files]
    for path, name in zip(files, names, strict=True):
        copy = tmp_path / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    alone = all("/" not in name for name in names)
    compare(folder, of_files(tmp_path, *(names if alone else ())), rewrite)


@pytest.mark.parametrize("name", [one for one in cases("incident") if one.startswith("layout-")])
def test_a_layout_changes_nothing(name: str) -> None:
    plain = json.loads((HERE / "incident" / "layout-strimzi" / READING).read_text("utf-8"))
    reading = json.loads((HERE / "incident" / name / READING).read_text("utf-8"))
    assert len(plain["states"]) == 3 == plain["followed"]
    assert reading == plain


def test_every_format_of_a_paste_has_a_case() -> None:
    """Each format takes a line of some case."""
    texts = [(HERE / "cluster" / name / "input.txt").read_text() for name in cases("cluster")]
    for one in FORMATS:
        taken = one.read_lines is None or any(_takes(one.read_lines, text) for text in texts)
        assert taken, f"no case of tests/field/cluster is of the format {one.name}"


def _takes(read_lines: ReadLines, text: str) -> bool:
    from app.reading.cleaning import lines_of
    from app.reading.facts import Facts, PasteError
    from app.reading.format import PasteContext, PastedLine

    facts = Facts()
    lines = [PastedLine(line.number, line.text.strip()) for line in lines_of(text, facts)]
    context = PasteContext(facts, topic="orders", broker=1, file="replication-offset-checkpoint")
    for at, line in enumerate(lines):
        try:
            if line.text and read_lines(lines, at, context):
                return True
        except PasteError:
            continue
    return False


def test_formats_have_names_of_their_own() -> None:
    assert len({one.name for one in FORMATS}) == len(FORMATS)


def test_a_long_paste_keeps_partitions_in_trouble() -> None:
    rows = []
    for topic in range(200):
        rows.append(f"Topic: t{topic}\tPartitionCount: 12\tReplicationFactor: 3\tConfigs: a.b=c")
        for n in range(12):
            ids = ",".join(str((n + k) % 6 + 1) for k in range(3))
            leader = ids[0]
            rows.append(
                f"\tTopic: t{topic}\tPartition: {n}\tLeader: {leader}\tReplicas: {ids}\tIsr: {ids}"
            )
    rows.append("\tTopic: zzz\tPartition: 0\tLeader: none\tReplicas: 7,1\tIsr: 7")
    text = "\n".join(rows)
    assert len(text) > MOST_CHARS
    reading = of_paste(text)
    assert reading["problems"] == []
    assert next(iter(reading["partitions"])) == "zzz-0"
    assert reading["offline"] == [7]
    kept = len(reading["partitions"])
    assert (
        f"{2_401 - kept} of 2401 partitions are left out; those in trouble come first."
        in (reading["notes"])
    )
