"""Scripts x releases: each pair is played on real brokers once, and kept as a recording."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from app.lab import laboratory
from app.lab.laboratory import Wish
from app.lab.playing import lines_of, must_be_playable
from app.lab.recording import text_of, write_whole
from app.lab.releases import TRIED, release_of
from app.lab.trouble import LabError
from engine.conformance.recordings import reading
from engine.conformance.recordings.comparing import RecordingComparison, compare
from engine.model.errors import InputError
from engine.scenarios import file
from engine.sim.run import Run

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class NightOutcome:
    """Result of a pair: a comparison, or the sentence that says why there is none."""

    scenario: str
    kafka: str
    comparison: RecordingComparison | None = None
    why: str = ""
    playable: bool = True

    @property
    def good(self) -> bool:
        """True where nothing differs; what no real broker can play is no failure."""
        return not self.playable or (self.comparison is not None and not self.comparison.different)


def usual_scripts() -> list[str]:
    """Return the scripts that real brokers have played before, and those written for them."""
    played = {one.scenario for one in reading.own()}
    written = {one.code for one in file.library().values() if one.code.startswith("R")}
    return sorted(played | written)


def usual_releases() -> list[str]:
    """Return releases that were tried, or that there are recordings of."""
    return sorted({*TRIED, *(one.kafka for one in reading.own())}, key=reading.release_order)


def unplayable(code: str, kafka: str) -> str:
    """Return why real brokers of a release cannot play a library script; "" where they can.

    Raises InputError for an unknown script, LabError for what is no release.
    """
    release = release_of(kafka)
    try:
        must_be_playable(_run(code, kafka), zookeeper=not release.kraft)
    except LabError as trouble:
        return str(trouble)
    return ""


def record(
    codes: Iterable[str], releases: Iterable[str], into: Path, wish: Wish, tell: Tell
) -> Iterator[NightOutcome]:
    """Record every pair, release by release, and yield its outcome.

    Those whose recording is in `into` already are only compared.

    A pair that fails does not stop the others.  Raises InputError and LabError before the first
    starts where a script or a release is not known, and KeyboardInterrupt when it is cancelled.
    """
    pairs = [(code, kafka) for kafka in releases for code in codes]
    whys = [unplayable(code, kafka) for code, kafka in pairs]
    into.mkdir(parents=True, exist_ok=True)
    for number, ((code, kafka), why) in enumerate(zip(pairs, whys, strict=True), 1):
        if why:
            yield NightOutcome(code, kafka, why=why, playable=False)
            continue
        path = into / f"{code}-{kafka}.json"
        try:
            if not _is_recorded(path, code, kafka):
                tell(f"{number} of {len(pairs)}: {code} on Kafka {kafka}")
                made = laboratory.play(replace(wish, kafka=kafka), _run(code, kafka), tell)
                write_whole(path, text_of(made))
            yield NightOutcome(code, kafka, compare(next(reading.load([path]))))
        except (LabError, InputError) as error:
            yield NightOutcome(code, kafka, why=str(error))


def _run(code: str, kafka: str) -> Run:
    scenario = file.find(code)
    return Run(scenario, release_of(kafka).profile)


def _is_recorded(path: Path, code: str, kafka: str) -> bool:
    """Check whether there is a whole recording of this script as it is today."""
    try:
        found = next(reading.load([path]))
    except InputError:
        return False
    now = tuple(line.text for line in lines_of(_run(code, kafka)) if not line.is_expect)
    return (found.kafka, found.moves) == (kafka, now)
