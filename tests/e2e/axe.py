"""Violations that axe finds on an open page."""

from __future__ import annotations

from typing import Any, Final

from tests.e2e.conftest import HERE

SCRIPT: Final = (HERE / "vendor" / "axe-4.14.1.min.js").read_text("utf-8")
LEVELS: Final = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]
# What a frame shows is looked at as a page of its own.
_VIOLATIONS: Final = """([part, rules]) =>
  axe.run(part || document, {runOnly: rules, resultTypes: ["violations"], iframes: false,
  preload: false})
  .then((told) => told.violations.map((one) =>
    `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join(" | ")}`))"""


def violations(page: Any, part: str = "", rules: list[str] = LEVELS) -> list[str]:
    """Each with its first elements; `part` is a selector, by default the whole page."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(f"() => {{ {SCRIPT} }}")  # a tag would need the page's leave (CSP)
    found: list[str] = page.evaluate(_VIOLATIONS, [part, rules])
    return found
