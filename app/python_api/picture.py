"""A step of a run as a picture and a sentence, for output without a page of ours."""

from __future__ import annotations

from html import escape

from app.python_api.steps import Step
from engine.export.thumbnail import HEIGHT, WIDTH, draw

STYLE = """
.highwater { --panel: light-dark(#ffffff, #1c2024); --ink: light-dark(#1a1c1e, #e8e6e1);
  --line: light-dark(#dfe0e2, #30363c); --accent: light-dark(#0b5cad, #7db8f5);
  --hw: light-dark(#0b3d91, #9ec5ff); --water: light-dark(#cfe3f8, #1f3f63);
  --bad: light-dark(#b3261e, #ff8a80); --div: light-dark(#a3157a, #ff8ad4);
  --ink2: light-dark(#565b61, #a5abb2); --edge: light-dark(#7c828a, #8b929b);
  --crest: light-dark(#2b7fdb, #62a8f5); --ok: light-dark(#1b6e3c, #7fd39b);
  --e0: #f0cf8e; --e1: #ee8866; --e2: #9fd09a; --e3: #d8a9e0; --e4: #f3ef9b; --e5: #c2a878;
  --e6: #c9ced6; max-width: 44rem; font-family: system-ui, sans-serif; }
.highwater-picture svg { width: 100%; height: auto; }
.highwater-said { min-height: 2.6em; margin: 0.4em 0; }
.highwater-controls { display: flex; gap: 0.5em; align-items: center; }
.highwater-controls input { flex: 1; }
"""


def picture(step: Step) -> str:
    """Draw a step as SVG: a tank for each replica, records by epoch, the high watermark."""
    box = f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(step.told)}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {box}>{draw(step.view)}</svg>'


def page(title: str, step: Step) -> str:
    """Return a static page of a step, for use without a kernel: a picture and the run's title."""
    return (
        f"<style>{STYLE}</style><div class='highwater'><strong>{escape(title)}</strong>"
        f"<div class='highwater-picture'>{picture(step)}</div>"
        f"<p class='highwater-said'>{escape(step.told)}</p></div>"
    )
