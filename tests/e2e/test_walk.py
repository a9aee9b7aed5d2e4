"""The walk of a new visitor: library, twelve steps, why not, compare, a move in the past, a link.

By mouse and by keyboard alone, in English and in Chinese.  The keyboard never lands on anything
that shows no ring or that something covers, and no language speaks the other's words.
"""

from __future__ import annotations

import re
from typing import Any, Final

import pytest

from app.core.words import Catalogue
from tests.conftest import THOROUGH
from tests.e2e.conftest import Opener
from tests.e2e.walk import at, step_of

STEPS: Final = 14
LOST: Final = '.steps a[href="/s/gone-after-a-clean-election?profile=Z0102"]'
LANGUAGES: Final = {"en": "en", "zh": "zh-Hans"}
CATALOGUE: Final = Catalogue()
SAID: Final = {
    "en": {"why": "high watermark", "compare": "Different now:", "branch": "Undo"},
    "zh": {"why": "高水位", "compare": "现在不同：", "branch": "撤销"},
}
"""What a person reads on the way; written here once more, so that a lost translation is seen."""

FOCUS: Final = """selector => {
  const el = document.activeElement;
  const ring = [el, el.closest(".card"), el.nextElementSibling].filter(Boolean).some((one) => {
    const style = getComputedStyle(one);
    return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  });
  const box = el.getBoundingClientRect();
  const top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  return {
    body: el === document.body, found: el.matches(selector), ring,
    clear: Boolean(top) && (el.contains(top) || top.contains(el)),
    html: el.outerHTML.slice(0, 160),
  };
}"""


class Keyboard:
    """Every act by keys alone: nothing is clicked, filled or focused from outside."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.press = page.keyboard.press

    def to(self, selector: str, most: int, key: str = "Tab") -> None:
        """Goes from one stop to the next until it is there; each has to be seen on the way."""
        passed = []
        for _ in range(most):
            self.press(key)
            on = self.page.evaluate(FOCUS, selector)
            passed.append(on["html"])
            if on["body"]:
                continue
            assert on["ring"], f"no ring: {on['html']}"
            assert on["clear"], f"covered or out of sight: {on['html']}"
            if on["found"]:
                return
        raise AssertionError(f"{selector} is further than {most} stops: {passed}")

    def past_the_header(self) -> None:
        self.to(".skip", 1)
        self.press("Enter")

    def open_the_scenario(self) -> None:
        self.past_the_header()
        self.to(LOST, 16)
        self.press("Enter")

    def step(self) -> None:
        self.press("ArrowRight")

    def ask(self) -> None:
        self.press("w")

    def put_the_answer_away(self) -> None:
        self.press("Escape")
        self.page.wait_for_function(
            "() => /^why:b\\d+:hw$/.test(document.activeElement.dataset.hit)"
        )

    def compare(self) -> None:
        self.press("c")
        self.page.wait_for_url("**/compare**")
        ready(self.page)
        self.past_the_header()
        self.to("select[name=with]", 4)
        self.page.keyboard.type("Kafka 3.9.0")
        self.press("ArrowDown")  # 3.9.1 begins two names: with ZooKeeper, and this one
        self.to("#choose button", 1)
        with self.page.expect_navigation():
            self.press("Enter")

    def back(self) -> None:
        self.to("h1 a", 4)
        self.press("Enter")

    def branch(self) -> None:
        self.press("/")
        self.page.locator("#typed:focus").wait_for()
        self.page.keyboard.type("kill 1")
        self.press("Enter")
        self.press("Escape")

    def share(self) -> None:
        self.press("Escape")
        self.press("s")
        self.page.locator("#share[open] .copied:not(.quiet) button").wait_for()
        self.to("#share .copied:not(.quiet) button", 8)
        self.press("Enter")


class Mouse:
    def __init__(self, page: Any, lang: str) -> None:
        self.page = page
        self.lang = lang

    def named(self, role: str, key: str, **args: Any) -> Any:
        name = CATALOGUE.text(LANGUAGES[self.lang], key, args)
        return self.page.get_by_role(role, name=name, exact=True)

    def open_the_scenario(self) -> None:
        self.page.locator(LOST).click()

    def step(self) -> None:
        self.named("button", "time.on").click()

    def ask(self) -> None:
        self.page.locator('[data-hit^="why:"][data-hit$=":hw"]').first.click()

    def put_the_answer_away(self) -> None:
        self.page.locator("#whybox").get_by_role("button").first.click()

    def compare(self) -> None:
        self.named("link", "compare.go").click()
        ready(self.page)
        self.page.locator("select[name=with]").select_option("K39")
        with self.page.expect_navigation():
            self.named("button", "compare.go").click()

    def back(self) -> None:
        self.page.locator("h1 a").click()

    def branch(self) -> None:
        self.page.locator('[data-hit="b1"]').click()
        self.page.locator(".menu").get_by_role("button", name=re.compile("kill 1")).click()

    def share(self) -> None:
        self.named("button", "share.open").click()
        self.page.locator("#share .copied").get_by_role("button").click()


def ready(page: Any) -> None:
    page.wait_for_selector('body[data-ready="1"]')


def pieces(lang: str, other: str) -> list[str]:
    """What only the catalogue of one language says: of each text its longest piece as it stands."""
    theirs = "\n".join(CATALOGUE.words(other).values())
    found = set()
    for text in CATALOGUE.words(lang).values():
        piece = max(re.split(r"\{[^}]*\}", text), key=len).strip(" .,:;()")
        if len(piece) >= 12 and " " in piece and piece not in theirs:
            found.add(piece)
    return sorted(found)


ENGLISH: Final = pieces("en", "zh-Hans")
# Pseudo-code is the same in every language, as code is.
HEARD: Final = """() => [...document.querySelectorAll(".rulecard .code")].reduce(
  (text, code) => text.replace(code.innerText, ""), document.body.innerText) + "\\n" +
  [...document.querySelectorAll(
  "[aria-label], [title], [placeholder], [aria-valuetext]")].flatMap((el) =>
  ["aria-label", "title", "placeholder", "aria-valuetext"].map((name) => el.getAttribute(name)))
  .filter(Boolean).join("\\n")"""


def speaks_one_language(page: Any, lang: str) -> None:
    """Nothing of what is read or heard here is in the other language."""
    assert page.get_attribute("html", "lang") == LANGUAGES[lang]
    text = str(page.evaluate(HEARD)).replace("\u2009", " ")
    if lang == "zh":
        lines = text.splitlines()
        assert [line for line in lines if any(piece in line for piece in ENGLISH)] == []
    else:
        text = text.replace("简体中文", "").replace("中文", "")
        assert re.findall("[\u4e00-\u9fff]+", text) == []


WALKS = [("mouse", "zh"), ("keyboard", "en"), ("mouse", "en"), ("keyboard", "zh")]


@pytest.mark.parametrize(("hand", "lang"), WALKS if THOROUGH else WALKS[:1])
def test_a_new_visitor_walks_from_the_library_to_a_link(
    visit: Opener, hand: str, lang: str
) -> None:
    page = visit("/", newcomer=True, locale={"en": "en-GB", "zh": "zh-CN"}[lang])
    walker: Any = Mouse(page, lang) if hand == "mouse" else Keyboard(page)
    said = SAID[lang]
    speaks_one_language(page, lang)

    walker.open_the_scenario()
    ready(page)
    speaks_one_language(page, lang)
    page.keyboard.press("2")  # event by event, from the beginning
    page.keyboard.press("Home")
    at(page, 0)
    for step in range(1, STEPS + 1):
        walker.step()
        at(page, step)
    speaks_one_language(page, lang)

    walker.ask()
    answer = page.locator("#whybox:popover-open")
    answer.locator(".guards li").first.wait_for()
    assert said["why"] in answer.inner_text().replace("\u2009", " ")
    speaks_one_language(page, lang)
    walker.put_the_answer_away()
    answer.wait_for(state="hidden")

    walker.compare()
    page.wait_for_url("**with=K39**")
    ready(page)
    assert said["compare"] in page.locator(".verdictline").inner_text().replace("\u2009", " ")
    assert page.locator(".side h2").last.inner_text() == "B · Kafka 3.9.1"
    speaks_one_language(page, lang)
    walker.back()
    ready(page)
    at(page, STEPS)

    walker.branch()
    page.wait_for_selector('[data-id="b1"][data-alive="down"]')
    page.get_by_role("button", name=said["branch"]).wait_for()
    step = step_of(page)
    assert step == STEPS + 1
    speaks_one_language(page, lang)

    walker.share()
    box = page.locator("#share")
    told = [CATALOGUE.text(LANGUAGES[lang], f"share.{name}", {}) for name in ("copied", "select")]
    box.get_by_text(told[0]).or_(box.get_by_text(told[1])).wait_for()
    link = str(box.locator(".copied:not(.quiet) input").input_value())
    assert re.search(r"/r/[0-9a-f]{16}\?", link), "the short one"
    speaks_one_language(page, lang)

    other = visit(link[link.index("/r/") :])
    at(other, step)
    assert other.get_attribute('[data-id="b1"]', "data-alive") == "down"
    speaks_one_language(other, lang)
