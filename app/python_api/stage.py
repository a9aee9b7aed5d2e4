"""The stage in a notebook: a picture of a step, what happened, and buttons to go on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import anywidget
import traitlets

from app.python_api.picture import STYLE, picture
from app.python_api.steps import Step

MODULE = """
const element = (name, properties, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

function render({ model, el }) {
  const picture = element("div", { className: "highwater-picture" });
  const said = element("p", { className: "highwater-said" });
  const at = element("output");
  const slider = element("input", { type: "range", min: 0, max: model.get("last"), step: 1 });
  slider.ariaLabel = "Step";
  const go = (step) => {
    model.set("step", Math.max(0, Math.min(model.get("last"), step)));
    model.save_changes();
  };
  const back = element("button", { textContent: "‹", title: "Back" });
  const on = element("button", { textContent: "›", title: "Next" });
  back.onclick = () => go(model.get("step") - 1);
  on.onclick = () => go(model.get("step") + 1);
  slider.oninput = () => go(Number(slider.value));
  const draw = () => {
    picture.innerHTML = model.get("picture");
    said.textContent = model.get("said");
    at.textContent = `${model.get("step")} / ${model.get("last")}`;
    slider.value = model.get("step");
  };
  model.on("change:picture change:said", draw);
  draw();
  const heading = element("strong", { textContent: model.get("title") });
  const controls = element("div", { className: "highwater-controls" }, back, on, slider, at);
  el.classList.add("highwater");
  el.append(heading, picture, said, controls);
}

export default { render };
"""


class Stage(anywidget.AnyWidget):
    """A run to be stepped through.  Setting `step` moves the picture; so does its slider."""

    _esm = MODULE
    _css = STYLE
    title = traitlets.Unicode().tag(sync=True)
    step = traitlets.Int(0).tag(sync=True)
    last = traitlets.Int(0).tag(sync=True)
    picture = traitlets.Unicode().tag(sync=True)
    said = traitlets.Unicode().tag(sync=True)

    def __init__(self, title: str, steps: Sequence[Step], step: int = 0) -> None:
        self._steps = steps
        super().__init__(title=title, last=len(steps) - 1, step=step)
        self._draw()
        self.observe(self._draw, names="step")

    @traitlets.validate("step")
    def _within(self, proposal: Any) -> int:
        return max(0, min(int(proposal["value"]), len(self._steps) - 1))

    def _draw(self, _change: object = None) -> None:
        step = self._steps[self.step]
        with self.hold_sync():
            self.picture = picture(step)
            self.said = step.told
