"""Nothing that the stage says is cut off or told in codes, and a phone shows the sentence with
what it speaks of."""

from __future__ import annotations

from typing import Any

import pytest

from app.command.bench.view import LOAD
from engine.scenarios.file import find, library
from engine.show.replay import Replay
from engine.sim.run import Run
from tests.e2e import codes
from tests.e2e.conftest import THOROUGH, Opener
from tests.e2e.walk import at

SIZES = {360: 740, 390: 844, 768: 1024, 1440: 900, 1920: 1080}
CHINESE = (390, 1920)
"""The widths at which the other language is looked at."""
USUAL = (390, 1440)
"""The widths that are looked at without HIGHWATER_THOROUGH=1, one in each language."""
SAMPLE = ("S20", "S22", "S14", "S30", "S61")
MOST = 4
"""Moments of one run; HIGHWATER_THOROUGH=1 looks at every step of the library."""

GO = f"""async (n) => {{ {LOAD} return (await load('animator/player')).goTo(n); }}"""
CUT = """() => {
  const stage = document.getElementById('stage');
  const { width } = stage.querySelector('svg').getBoundingClientRect();
  const left = stage.getBoundingClientRect().left;
  const wrong = [];
  const folded = /^\\d+ … \\d+$/;
  for (const text of stage.querySelectorAll('svg text')) {
    const box = text.getBoundingClientRect();
    if (!box.width) continue;
    if (box.left < left - 1 || box.right > left + width + 1)
      wrong.push(`${text.textContent} leaves the stage`);
    if (text.closest('.tank') && text.textContent.includes('…') && !folded.test(text.textContent))
      wrong.push(`${text.textContent} is shortened`);
  }
  const boxes = '#stagebox, #stage, .ending b, .version, .pace button';
  for (const el of document.querySelectorAll(boxes))
    if (el.scrollWidth > el.clientWidth + 1 && el.clientWidth)
      wrong.push(`${el.id || el.className} ${el.scrollWidth} > ${el.clientWidth}`);
  return wrong;
}"""
SEEN = """() => {
  const low = Math.min(innerHeight, document.getElementById('deck').getBoundingClientRect().top);
  const box = (el) => el.getBoundingClientRect();
  const said = document.querySelector('[data-violation] b') ?? document.querySelector('.say .what');
  return {
    low,
    said: [box(said).top, box(said).bottom],
    cells: [...document.querySelectorAll('#stage .record, #stage .cut')].map(
      (el) => [box(el).top, box(el).bottom]),
    feet: [...document.querySelectorAll('#stage .role')].map((el) => box(el).bottom),
  };
}"""


def steps(code: str) -> list[int]:
    replay = Replay(Run(find(code), find(code).profiles[0]))
    if THOROUGH:
        return list(range(replay.total + 1))
    moments: list[int] = replay.facts()["moments"]
    return moments[:: max(1, len(moments) // MOST)][:MOST]


def go(page: Any, n: int) -> None:
    page.evaluate(GO, n)
    at(page, n)


@pytest.mark.parametrize("width", SIZES if THOROUGH else USUAL)
def test_no_label_of_the_stage_is_cut_or_a_code(visit: Opener, width: int) -> None:
    wanted = [one.code for one in library().values()] if THOROUGH else SAMPLE
    lang = "zh" if width in CHINESE else "en"
    for code in wanted:
        size = {"width": width, "height": SIZES[width]}
        page = visit(f"/s/{code}?lang={lang}", viewport=size)
        for n in steps(code):
            go(page, n)
            where = f"/s/{code}?step={n}&lang={lang} at {width}"
            assert page.evaluate(CUT) == [], where
            assert codes.shown(page) == [], where
        page.close()


@pytest.mark.parametrize("code", SAMPLE)
def test_a_phone_shows_the_sentence_with_its_cells(visit: Opener, code: str) -> None:
    page = visit(f"/s/{code}", viewport={"width": 390, "height": 844})
    for n in steps(code):
        go(page, n)
        seen = page.evaluate(SEEN)
        where = f"/s/{code}?step={n}"
        top, bottom = seen["said"]
        assert top >= 0 and bottom <= seen["low"], f"{where}: the sentence"
        assert all(a >= 0 and b <= seen["low"] for a, b in seen["cells"]), f"{where}: the cells"
        assert all(foot <= seen["low"] for foot in seen["feet"]), f"{where}: the feet"
