"""An incident in Chinese: every row, note and finding of real stories, and of files that broke."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from app.incident import reconstruction, render, sources, timeline
from app.incident.translated import catalogue, told_in

FILES = Path(__file__).parent / "files"
CHINESE = "zh-Hans"
HAN = re.compile("[\u3400-\u9fff]")
PLACE = re.compile(r"\{\w+\}")
RECORD = re.compile(r"P\{[^}]*\}( RECOVERING)?")


def foreign(sentences: list[str]) -> list[str]:
    """Those that are no Chinese, records of the partition aside."""
    told = [told_in(one, CHINESE) for one in sentences if not RECORD.fullmatch(one)]
    return [one for one in told if not HAN.search(one)]


@pytest.mark.parametrize("folder", ["S30-3.9.1", "R20-0.10.2.2"])
def test_a_story_is_told_in_chinese(folder: str) -> None:
    found = sources.readable_files((str(FILES / folder),))
    told = timeline.gather(found, next(iter(timeline.partitions(found))))
    sentences = [what for _, _, what in render.rows(told)]
    assert len(sentences) > 30
    assert foreign(sentences) == []
    assert any(told_in(one, CHINESE).startswith("丢失：") for one in sentences)


def test_files_that_broke_and_findings_are_told_in_chinese(tmp_path: Path) -> None:
    files = []
    for path in sorted((FILES / "S30-3.9.1").rglob("*")):
        if path.is_file():
            broken = tmp_path / path.relative_to(FILES / "S30-3.9.1")
            broken.parent.mkdir(parents=True, exist_ok=True)
            data = path.read_bytes()
            cut = path.suffix == ".log" and path.stem.isdigit()
            broken.write_bytes(data[:-5] if cut else b"\xff" if "checkpoint" in path.name else data)
            files.append(str(broken))
    found = sources.readable_files((str(tmp_path),))
    told = timeline.gather(found, next(iter(timeline.partitions(found))))
    rebuilt = reconstruction.rebuild(told)
    sentences = [*told.notes, *rebuilt.notes, *([rebuilt.finding] if rebuilt.finding else [])]
    assert sentences
    assert foreign(sentences) == []


def test_templates_have_the_same_places() -> None:
    for english, chinese in catalogue(CHINESE).items():
        assert set(PLACE.findall(english)) == set(PLACE.findall(chinese)), english
        assert HAN.search(chinese) or not HAN.search(english), english


def test_english_stays_as_it_is() -> None:
    assert told_in("broker 3 is fenced", "en") == "broker 3 is fenced"
    assert told_in("Nobody ever said this.", CHINESE) == "Nobody ever said this."


def test_every_sentence_of_the_field_is_told_in_chinese() -> None:
    sentences: set[str] = set()
    for path in sorted(
        (Path(__file__).parent.parent / "field" / "incident").glob("*/reading.json")
    ):
        reading = json.loads(path.read_text("utf-8"))
        rows = [row.split(" ", 2)[2] for row in reading.get("rows", [])]
        said = [*rows, *reading.get("notes", []), reading.get("finding"), reading.get("refused")]
        sentences |= {one for one in said if one}
    assert len(sentences) > 60
    assert foreign(sorted(sentences)) == []
