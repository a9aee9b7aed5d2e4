"""An incident in Chinese: every row, note and finding of real stories, and of files that broke."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.incident import reconstruction, render, timeline
from app.incident.story import known_in, words_in
from app.incident.verdict import verdict
from app.kafka.metadata import PartitionMetadata
from app.reading import sources
from app.reading.names import TopicIdentity
from engine.model.errors import InputError
from engine.model.phrases import catalogue, translate
from tests.phrases import constants

FILES = Path(__file__).parent / "files"
CHINESE = "zh-Hans"
HAN = re.compile("[\u3400-\u9fff]")
PLACE = re.compile(r"\{\w+\}")
RECORD = re.compile(r"P\{[^}]*\}( RECOVERING)?")


def told_in(sentence: str, language: str) -> str:
    return translate(sentence, language, known_in(language))


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


ISRS = ((1, 2, 3, 4), (1, 2), (1,), (1, 2), (1, 2, 3, 4))
CHANGES = {
    "en": (
        "brokers 3 and 4 leave the ISR; in sync: 1, 2.",
        "broker 2 leaves the ISR; in sync: 1.",
        "broker 2 joins the ISR; in sync: 1, 2.",
        "brokers 3 and 4 join the ISR; in sync: 1, 2, 3, 4.",
    ),
    CHINESE: (
        "Broker 3 和 4 离开 ISR；同步的是 1, 2。",
        "Broker 2 离开 ISR；同步的是 1。",
        "Broker 2 加入 ISR；同步的是 1, 2。",
        "Broker 3 和 4 加入 ISR；同步的是 1, 2, 3, 4。",
    ),
}


@pytest.mark.parametrize("language", CHANGES)
def test_a_verdict_counts_the_brokers_that_leave_and_join(language: str) -> None:
    story = timeline.Timeline(TopicIdentity("a", 0))
    for epoch, isr in enumerate(ISRS):
        state = PartitionMetadata(1, 0, epoch, isr, ISRS[0])
        story.states.append(timeline.TimelineState(state, 1_000.0 * epoch, ""))
    said = [told_in(sentence, language).replace("\u2009", " ") for sentence in verdict(story)]
    assert [sentence.partition(" ")[2] for sentence in said] == list(CHANGES[language])


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
    for english, chinese in words_in(CHINESE).items():
        assert set(PLACE.findall(english)) == set(PLACE.findall(chinese)), english
        assert HAN.search(chinese) or not HAN.search(english), english


def test_english_stays_as_it_is() -> None:
    assert told_in("broker 3 is fenced", "en") == "broker 3 is fenced"
    assert told_in("Nobody ever said this.", CHINESE) == "Nobody ever said this."


def test_every_template_has_its_chinese_and_none_is_stale() -> None:
    own = {text for text, _, _ in constants("app/incident", "app/kafka", "app/reading")}
    known = words_in(CHINESE)
    everything = catalogue(CHINESE).keys() | known.keys()
    assert sorted(text for text in own if "{0}" in text and text not in everything) == []
    assert sorted(text for text in known if text not in own) == []


def sentences_of(folder: Path) -> Iterator[str]:
    """Rows, notes and the finding of the first partition of a case, or why there is none."""
    try:
        found = sources.readable_files((str(folder),))
        told = timeline.gather(found, next(iter(timeline.partitions(found))))
        rebuilt = reconstruction.rebuild(told) if told.states else None
        yield from (what for _, _, what in render.rows(told))
        yield from [*told.notes, render.missing(told)]
        if rebuilt is not None:
            yield from [*rebuilt.notes, rebuilt.finding]
    except InputError as bad:
        yield bad.sentence


def test_every_sentence_of_the_field_is_in_chinese() -> None:
    folders = sorted((Path(__file__).parent.parent / "field" / "incident").iterdir())
    sentences = {one for folder in folders for one in sentences_of(folder) if one}
    assert len(sentences) > 60
    assert foreign(sorted(sentences)) == []
