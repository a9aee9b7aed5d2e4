"""What people read is words: codes of profiles, scenarios, rules, promises and clients are for
tooltips, addresses, the glossary, and pages where a visitor asked for them."""

from __future__ import annotations

from typing import Any, Final

EXPERTS: Final = ("glossary", "code")
"""Screens that are lists of identifiers: visitors open them for these."""

SCRIPT: Final = r"""(names) => {
  const silent = 'code, pre, kbd, textarea, script, style, title, desc';
  const code = /(?<![\w.-])(?:[A-Z]{1,3}-?\d+[A-Z]?|CP-[A-Z0-9-]+)(?!\w)|\b[KZ]\d\d+[+-]\w+/g;
  const known = /^(?:KIP-?\d+|UTF-8)$/;
  const found = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const el = texts.currentNode.parentElement;
    if (el.closest(silent)) continue;
    const said = texts.currentNode.textContent;
    const isCode = (one) => !known.test(one) && !names?.includes(one);
    const codes = (said.match(code) ?? []).filter(isCode);
    const seen = el.tagName === 'OPTION' || el.checkVisibility({ visibilityProperty: true });
    if (codes.length && seen) found.add(`${codes[0]} in “${said.trim().slice(0, 80)}”`);
  }
  return [...found];
}"""


def shown(page: Any) -> list[str]:
    """The codes that can be read on a page now, each with where it stands."""
    found: list[str] = page.evaluate(SCRIPT)
    return found
