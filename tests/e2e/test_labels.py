"""Nothing that the stage says is cut off or told in codes, and a phone shows the sentence with
what it speaks of."""

from __future__ import annotations

from typing import Final

import pytest

from engine.replay.replay import Replay
from engine.scenarios.file import find, library
from engine.sim.run import Run
from tests.bench.view import LOAD
from tests.conftest import THOROUGH
from tests.e2e import axe, codes
from tests.e2e.conftest import Opener
from tests.e2e.walk import typed

SIZES: Final = {360: 740, 390: 844, 768: 1024, 1280: 800, 1440: 900, 1920: 1080}
PHONE: Final = 390
WIDTHS: Final = {
    "en": (360, 390, 768, 1280, 1440, 1920) if THOROUGH else (390, 1440),
    "zh": (390, 1920) if THOROUGH else (390,),
}
"""By language; HIGHWATER_THOROUGH=1 looks at all, and at STEPS steps of each run of the library."""
SAMPLE: Final = ("S20", "S30", "S61")
WANTED: Final = tuple(one.code for one in library().values()) if THOROUGH else SAMPLE
MOST: Final = 4
"""Moments of one run."""
STEPS: Final = 300

WALK: Final = f"""async ([steps, phone, names]) => {{ {LOAD}
  const {{ goTo }} = await load('animator/player');
  const codes = {codes.SCRIPT};
  const frame = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const stage = document.getElementById('stage');
  const found = [];
  await frame();
  for (const n of steps) {{
    await goTo(n);
    await frame();
    if (Number(stage.dataset.step) !== n) found.push(`step=${{n}}: the stage rests elsewhere`);
    const said = [...cut(), ...codes(names), ...(phone ? hidden() : [])];
    found.push(...said.map((one) => `step=${{n}}: ${{one}}`));
  }}
  return found;

  function cut() {{
    const {{ width }} = stage.querySelector('svg').getBoundingClientRect();
    const left = stage.getBoundingClientRect().left;
    const wrong = [];
    const folded = /^\\d+ … \\d+$/;
    for (const text of stage.querySelectorAll('svg text')) {{
      const box = text.getBoundingClientRect();
      if (!box.width) continue;
      if (box.left < left - 1 || box.right > left + width + 1)
        wrong.push(`${{text.textContent}} leaves the stage`);
      const short = text.textContent.includes('…') && !folded.test(text.textContent);
      if (text.closest('.tank') && short) wrong.push(`${{text.textContent}} is shortened`);
    }}
    const boxes = '#stagebox, #stage, .caption';
    for (const el of document.querySelectorAll(boxes))
      if (el.scrollWidth > el.clientWidth + 1 && el.clientWidth)
        wrong.push(`${{el.id || el.className}} ${{el.scrollWidth}} > ${{el.clientWidth}}`);
    return wrong;
  }}

  function hidden() {{
    const low = Math.min(innerHeight, document.getElementById('deck').getBoundingClientRect().top);
    const said = document.querySelector('.caption');
    const looked = {{
      'the sentence': [said],
      'a cell': stage.querySelectorAll('.record, .cut'),
      'a foot': stage.querySelectorAll('.role'),
    }};
    const out = (el) => {{
      const box = el.getBoundingClientRect();
      return box.top < 0 || box.bottom > low;
    }};
    return Object.entries(looked)
      .filter(([, all]) => [...all].some(out))
      .map(([name]) => `${{name}} is out of sight`);
  }}
}}"""

IN_SIGHT: Final = """(what) => {
  const { top, bottom } = document.querySelector(what).getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
}"""
COVERED: Final = """(what) => {
  const box = document.querySelector(what).getBoundingClientRect();
  return [...document.querySelectorAll('#stage .record, .caption')].filter((el) => {
    const one = el.getBoundingClientRect();
    return one.bottom > box.top && one.top < box.bottom;
  }).map((el) => el.textContent);
}"""


def steps(code: str) -> list[int]:
    replay = Replay(Run(find(code), find(code).profiles[0]))
    if THOROUGH:
        return list(range(0, replay.total + 1, 1 + replay.total // STEPS))
    moments: list[int] = replay.facts()["moments"]
    return moments[:: max(1, len(moments) // MOST)][:MOST]


def names(code: str) -> list[str]:
    """Names of controllers and of members of groups, which look like codes."""
    scenario = find(code)
    return [f"C{n}" for n in range(1, 21)] if scenario.quorum or scenario.groups else []


@pytest.mark.parametrize("code", WANTED)
def test_sentences_of_a_step_are_complete_and_in_sight(visit: Opener, code: str) -> None:
    wrong: dict[str, list[str]] = {}
    for lang, widths in WIDTHS.items():
        page = visit(f"/s/{code}?lang={lang}")
        for width in widths:
            page.set_viewport_size({"width": width, "height": SIZES[width]})
            found = page.evaluate(WALK, [steps(code), width == PHONE, names(code)])
            if found:
                wrong[f"/s/{code}?lang={lang} at {width}"] = found
    assert wrong == {}


def test_a_refused_move_is_told_on_a_phone_beside_the_cells(visit: Opener) -> None:
    size = {"width": PHONE, "height": SIZES[PHONE]}
    page = visit("/s/S20?step=30", viewport=size, bypass_csp=True)
    typed(page, "kill Q")
    page.wait_for_selector("#notice [data-notice]")
    assert page.evaluate(IN_SIGHT, "#notice [data-notice]"), "where she typed"
    assert axe.violations(page, "#notice") == []
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    assert page.evaluate(IN_SIGHT, "#notice [data-notice]"), "over the foot of the stage"
    assert page.evaluate(WALK, [[30], True, []]) == []
    assert page.evaluate(COVERED, "#notice [data-notice]") == []
