"""The path of the first page: six short runs, in the order in which a beginner plays them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, TypedDict

from flask import url_for

from app.learn.cards import LibraryCard
from engine.scenarios.file import find
from engine.sim.run import Run


@dataclass(frozen=True)
class PathStop:
    """A run of the path; with `beside` it is watched next to the same script under that profile."""

    code: str
    profile: str = ""
    beside: str = ""


PATH: Final = (
    PathStop("S01"),
    PathStop("S02"),
    PathStop("S10"),
    PathStop("R20", "Z0102"),
    PathStop("R20", "Z0102", beside="Z011"),
    PathStop("S82"),
)


class PathCard(LibraryCard):
    number: int
    href: str
    key: str


class NextStop(TypedDict):
    number: int
    href: str


class PathPlace(TypedDict):
    """Place of a run on the path: `number` of `of`; `next` is None at its end."""

    number: int
    of: int
    key: str
    next: NextStop | None


def _key(stop: PathStop) -> str:
    """Return the key by which a browser notes that it has seen a run: scenario and profile."""
    scenario = find(stop.code)
    return f"{stop.code}:{stop.beside or stop.profile or scenario.profiles[0]}"


def _href(stop: PathStop) -> str:
    scenario = find(stop.code)
    if stop.beside:
        digest = Run(scenario, stop.profile).digest
        return f"{url_for('comparing.page', digest=digest)}?with={stop.beside}"
    return url_for("pages.scenario", name=scenario.slug, profile=stop.profile or None)


def path(cards: Iterable[LibraryCard]) -> list[PathCard]:
    by_code = {card["code"]: card for card in cards}
    return [
        PathCard(**by_code[stop.code], number=number, href=_href(stop), key=_key(stop))
        for number, stop in enumerate(PATH, 1)
    ]


def place_on_path(code: str, profile: str, beside: str = "") -> PathPlace | None:
    """Return the place of a run on the path; None for a run that is not on it."""
    for number, stop in enumerate(PATH, 1):
        shown_under = stop.profile or find(stop.code).profiles[0]
        if (stop.code, shown_under, stop.beside) == (code, profile, beside):
            after = PATH[number] if number < len(PATH) else None
            return {
                "number": number,
                "of": len(PATH),
                "key": _key(stop),
                "next": {"number": number + 1, "href": _href(after)} if after else None,
            }
    return None
