"""Nightly recordings: plays each script on real brokers of each release, and stores the result."""

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
from engine.model.errors import InputError
from engine.recordings import reading
from engine.recordings.comparing import RecordingComparison, compare
from engine.scenarios import file
from engine.sim.run import Run

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class NightOutcome:
    """Result of a script under a release: a comparison, or the reason why there is none."""

    scenario: str
    kafka: str
    comparison: RecordingComparison | None = None
    why: str = ""
    playable: bool = True

    @property
    def good(self) -> bool:
        """True if no fact differs, or if real brokers cannot play the script."""
        return not self.playable or (self.comparison is not None and not self.comparison.different)


def usual_scripts() -> list[str]:
    """Return the scripts that have recordings, and those written for real brokers (R)."""
    played = {one.scenario for one in reading.own()}
    written = {one.code for one in file.library().values() if one.code.startswith("R")}
    return sorted(played | written)


def usual_releases() -> list[str]:
    """Return the releases that were tried or have recordings."""
    return sorted({*TRIED, *(one.kafka for one in reading.own())}, key=reading.release_order)


def unplayable(code: str, kafka: str) -> str:
    """Return the reason why real brokers of a release cannot play a library script, or "".

    Raises InputError for an unknown script, LabError for an unknown release.
    """
    release = release_of(kafka)
    try:
        must_be_playable(_run(code, kafka), release)
    except LabError as trouble:
        return str(trouble)
    return ""


def record(
    codes: Iterable[str], releases: Iterable[str], into: Path, wish: Wish, tell: Tell
) -> Iterator[NightOutcome]:
    """Record every pair, release by release, and yield its outcome.

    A pair whose recording is in `into` is compared, not played.  A pair that fails does not stop
    the others.  For an unknown script or release, raises InputError or LabError before the first
    pair is played; raises KeyboardInterrupt when cancelled.
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
    """Return True if there is a complete recording of the current version of this script."""
    try:
        recording = next(reading.load([path]))
    except InputError:
        return False
    now = tuple(line.text for line in lines_of(_run(code, kafka)) if not line.is_expect)
    return (recording.kafka, recording.moves) == (kafka, now)
