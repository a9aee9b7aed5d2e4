"""A sample of a whole file: the format of its lines, and the brokers that wrote them."""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Final

from app.reading import layouts, lines
from app.reading.events import CONTROLLER
from app.reading.files import LONGEST_LINE

WHOLE: Final = 4 * 1024 * 1024
"""Bytes of a file up to which every line is looked at."""
WINDOWS: Final = 48
WINDOW: Final = 64 * 1024
"""Bytes that are looked at, at each of WINDOWS places of a larger file."""
MOST_LINES: Final = 100_000
"""Lines that are looked at: a file may be nothing but line breaks."""
NOTHING_LINES: Final = 5_000
"""Lines without a sign of Kafka after which a file is none of its own."""
SHORTEST: Final = 10
"""Bytes below which a line shows nothing."""
MOST_ORIGINS: Final = 1_000
_LEVEL: Final = re.compile(layouts.LEVEL.encode())
_CLOCK: Final = re.compile(rb"\d\d:\d\d:\d\d")
_BRACKET: Final = re.compile(rb"\[[A-Z]|Broker \d|Partition \[|Controller \d|apache\.kafka")
DUMPED: Final = b"Dumping "
DUMP_WORDS: Final = (b"baseOffset: ", b"| offset: ", b"isvalid: true keysize: ")
DESCRIBED: Final = re.compile(rb"Topic: ?\S+\s+(?:PartitionCount|Partition): ?\d")
COUNTED: Final = re.compile(rb"\A\s*0\r?\n\s*\d+\r?\n(?:\S+ )?\d+ \d+\s")
BOMS: Final = ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass(slots=True)
class FileSample:
    """Counts of lines by their form.

    `speakers`: node -> its lines; `origins`: prefix -> speakers of lines that have it.
    """

    size: int = 0
    encoding: str = ""
    logged: int = 0
    dumped: int = 0
    described: int = 0
    counted: bool = False
    tails: Counter[bool] = field(default_factory=Counter)
    speakers: Counter[str] = field(default_factory=Counter)
    origins: dict[str, Counter[str]] = field(default_factory=dict)

    @property
    def writer(self) -> str:
        """The one node whose lines these are; "" where there are several or none.

        A combined node writes as a broker and as a controller: its other lines are the broker's.
        """
        brokers = [node for node in self.speakers if node != CONTROLLER]
        if not brokers:
            return CONTROLLER if self.speakers else ""
        return brokers[0] if len(brokers) == 1 else ""

    @property
    def tail(self) -> bool:
        """True if lines end with the name of their logger."""
        return self.tails[True] >= 3 and self.tails[True] >= 3 * self.tails[False]

    def usual_writer(self) -> str:
        """Return the node whose lines these are, unless another number's container wrote some."""
        writers = self.writers()
        numbers = {lines.number_in(origin) for origin in writers}
        others = {lines.number_in(origin) for origin in self.origins.keys() - writers.keys()}
        return "" if others - numbers - {"", self.writer} else self.writer

    def writers(self) -> dict[str, str]:
        """Return prefix -> its node: the one that its lines name, or else the number in it."""
        by_origin = {}
        for origin, speakers in self.origins.items():
            brokers = [node for node in speakers if node not in ("", CONTROLLER)]
            if len(brokers) == 1:
                by_origin[origin] = brokers[0]
        numbers = ((lines.number_in(origin), node) for origin, node in by_origin.items())
        if any(number and number != node for number, node in numbers):
            return by_origin  # containers are counted from another number than brokers
        named = set(by_origin.values())
        for origin in self.origins.keys() - by_origin.keys():
            number = lines.number_in(origin)
            if number and number not in named and not set(self.origins[origin]) - {"", CONTROLLER}:
                by_origin[origin] = number
        return by_origin


def sample_file(path: Path) -> FileSample:
    """Sample a file.  Raises OSError."""
    sample = FileSample(size=path.stat().st_size)
    with path.open("rb") as file:
        head = file.read(4_096)
    sample.encoding = next((name for bom, name in BOMS if head.startswith(bom)), "")
    sample.counted = COUNTED.match(head.lstrip(codecs.BOM_UTF8)) is not None
    for number, line in enumerate(islice(_lines(path, sample), MOST_LINES)):
        if number == NOTHING_LINES and not (sample.logged or sample.dumped or sample.described):
            break
        if len(line) >= SHORTEST:
            _count(sample, layouts.without_colours(line))
    return sample


def is_dumped(line: bytes) -> bool:
    """Return whether kafka-dump-log prints such a line."""
    return line.startswith(DUMPED) or any(words in line for words in DUMP_WORDS)


def _lines(path: Path, sample: FileSample) -> Iterator[bytes]:
    if sample.encoding:
        with path.open(encoding=sample.encoding, errors="replace") as text:
            while text.tell() < 2 * WHOLE and (piece := text.readline(LONGEST_LINE)):
                yield piece.encode()
        return
    with path.open("rb") as file:
        if sample.size <= WHOLE:
            while line := file.readline(LONGEST_LINE):
                yield line
            return
        for number in range(WINDOWS):
            file.seek(number * (sample.size - WINDOW) // (WINDOWS - 1))
            if number:
                file.readline(LONGEST_LINE)  # the rest of a line
            end = file.tell() + WINDOW
            while file.tell() < end and (line := file.readline(LONGEST_LINE)):
                yield line


def _count(sample: FileSample, line: bytes) -> None:
    if is_dumped(line):
        sample.dumped += 1
        return
    if DESCRIBED.search(line):
        sample.described += 1
    tells = lines.may_tell(line, b"")
    if not tells and not _BRACKET.search(line):
        if _CLOCK.search(line) and _LEVEL.search(line):
            sample.logged += 1
        return
    plain = layouts.unwrapped(line)
    speaker = lines.speaker_in(plain.text)
    timed = _CLOCK.search(line) is not None or plain.stamp_ms is not None
    if speaker or (timed and (tells or _LEVEL.search(line))):
        sample.logged += 1
    if not speaker and not tells:
        return
    sample.tails[lines.TAIL.search(plain.text) is not None] += 1
    if speaker:
        sample.speakers[speaker] += 1
    origin = layouts.origin_of(plain, len(plain.text))
    if origin and (origin in sample.origins or len(sample.origins) < MOST_ORIGINS):
        sample.origins.setdefault(origin, Counter())[speaker] += 1
