"""Every page of the site, and whatever opens on it: the one table that checks and pictures read.

An address has places, {run} or {batch}, for what `filled.Filled` has made.  Whatever opens is
found by what it is, not by its words: the table serves every language.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tests.e2e.walk import jump, more, runs, typed

Act = Callable[[Any], None]
READY = 'body[data-ready="1"]'


UNREADABLE = "title: A?\nscript: |\n  fech 2\n"
GARBLED = "Topic: a Partition: 0 Leader: 1 Replicas: 1,2 Isr: 1\nhello\n"


@dataclass(frozen=True)
class Opened:
    """Something that opens: how, what shows that it has, and what is to be looked at then."""

    name: str
    act: Act
    shown: str
    part: str = ""
    """A selector; "" for the whole page."""
    close: str = "Escape"
    """The key that puts it away again; "" where it stays."""


@dataclass(frozen=True)
class Screen:
    path: str
    shown: str = READY
    opens: tuple[Opened, ...] = ()


def press(selector: str) -> Act:
    return lambda page: page.locator(selector).first.click()


def key(name: str) -> Act:
    return lambda page: page.keyboard.press(name)


def fill(selector: str, text: str) -> Act:
    def act(page: Any) -> None:
        page.locator(selector).fill(text)

    return act


def tab(name: str, shown: str) -> Opened:
    def act(page: Any) -> None:
        if not page.locator("#side [role=tab]").count():
            page.locator("#whynow").click()
        page.locator(f"#tab-{name}").click()

    return Opened(name, act, f"#panel {shown}", "#side", close="")


def sharing(name: str, shown: str) -> Opened:
    press_it = press(f"#share-{name}")
    return Opened(f"share-{name}", press_it, f"#sharepart {shown}", "#share", close="")


def seen_in(name: str) -> Opened:
    def act(page: Any) -> None:
        more(page).locator("#view").select_option(name)
        page.keyboard.press("Escape")

    return Opened(name, act, f'#board[data-view="{name}"]', "#board", close="")


def move(text: str) -> Act:
    return lambda page: typed(page, text)


def branches(page: Any) -> None:
    for number, step in enumerate((12, 10), 2):
        jump(page, step)
        typed(page, "kill 1")
        runs(page, number)
        page.wait_for_selector('[data-id="b1"][data-alive="down"]', state="attached")


def all_parts(page: Any) -> None:
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")


def coach(page: Any) -> None:
    page.evaluate("dispatchEvent(new Event('coach'))")


SETTINGS = Opened("settings", press("#settingsbutton"), "#settings:popover-open", "#settings")
PARTS = Opened("parts", all_parts, "details[open]", close="")

SCREENS = {
    "home": Screen("/"),
    "library": Screen(
        "/scenarios",
        opens=(SETTINGS, Opened("nothing", fill("#find", "zzzz"), "#nothing", "main", close="")),
    ),
    "lost": Screen(
        "/s/R20?profile=Z0102&step=137",
        ".caption[role=alert]",
        (
            tab("inspect", ".facts"),
            tab("log", ".log li"),
            tab("checks", ".checks li"),
            tab("metrics", "#metrics:not([aria-busy]) table"),
            tab("table", "table"),
        ),
    ),
    "fetch": Screen(
        "/s/S20?profile=Z20&step=59",
        opens=(
            Opened("coach", coach, ".coach", ".coach"),
            Opened("more", press("#more"), "#moresheet section", "#moresheet"),
            Opened("break", press("#breakit"), "#breaksheet .btn", "#breaksheet"),
            Opened("palette", key("/"), ".palette .movebtn", ".palette"),
            Opened("message", press('[data-hit^="m"]'), ".menu .fullfields", ".menu"),
            Opened("broker", press('[data-hit="b1"]'), ".menu .quick .btn", ".menu"),
            Opened("why", key("w"), "#whybox:popover-open li", "#whybox"),
            Opened("help", key("?"), "#help[open] .badges circle", "#help"),
        ),
    ),
    "views": Screen(
        "/s/S20?profile=Z0102&step=39&layers=disk,sessions,heartbeats",
        opens=(seen_in("spacetime"), seen_in("table")),
    ),
    "metrics": Screen(
        "/s/S38?step=108&tab=metrics",
        "#metrics:not([aria-busy]) .wrong",
        (Opened("about", press(".metric"), "tr.about", "#side", close=""),),
    ),
    "matrix": Screen("/s/S46?step=60", '#board[data-view="matrix"] .sq'),
    "branch": Screen(
        "/r/{run}?step=12",
        opens=(
            Opened("branches", branches, ".branches", "#deck", close=""),
            Opened("refused", move("kill Q"), "[data-notice]", "#notice", ""),
        ),
    ),
    "shared": Screen(
        "/r/{run}?step=12",
        opens=(
            Opened("share", press("#title [aria-haspopup=dialog]"), "#share[open]", "#share", ""),
            sharing("embed", ".preview"),
            sharing("export", ".files"),
            sharing("test", "textarea"),
        ),
    ),
    "carried": Screen("/r", "[data-notice=warn]"),
    "compare": Screen("/r/{run}/compare?with=K39"),
    "what_if": Screen("/r/{run}/whatif", ".whatif td"),
    "ladder": Screen("/s/R20/ladder", "table svg"),
    "edit": Screen(
        "/edit/S61",
        opens=(
            PARTS,
            Opened("wrong", fill("#yaml", UNREADABLE), "#problems li", close=""),
        ),
    ),
    "embed": Screen("/e/{run}?step=12&controls=play"),
    "embed-odd": Screen("/e/{run}?step=x&panel=none"),
    "batch": Screen("/batch"),
    "running": Screen("/batch/{running}"),
    "result": Screen("/batch/{batch}", "#shares svg", (replace(PARTS, part="#metrics"),)),
    "futures": Screen("/batch/{futures}", "#futures svg"),
    "advisor": Screen("/advisor", "form"),
    "advice": Screen("/batch/{advice}", "#advice table"),
    "cluster": Screen(
        "/cluster",
        opens=(
            PARTS,
            Opened("garbled", fill("#text", GARBLED), "#text", close=""),
            Opened("found", press("form .btn.primary"), "#found table", "#found", close=""),
        ),
    ),
    "upgrade": Screen("/upgrade?from=2.4.1&to=3.9.1", "#changed"),
    "lens": Screen(
        "/s/S23?profile=Z011&step=85&tab=code",
        "#lens:not([aria-busy]) .stackbox",
        (
            Opened("threads", press(".threads summary"), ".threadbox button", "#side", close=""),
            Opened("turn", press('.threadbox [data-rule="T-1"]'), ".turn", "#side", close=""),
        ),
    ),
    "practice": Screen("/practice", ".topic", (PARTS,)),
    "learn": Screen("/practice/question"),
    "learned": Screen("/practice/question?s=S22&kind=truncate&answer=2", opens=(PARTS,)),
    "learnstage": Screen("/learn/stage?s=S22&kind=truncate"),
    "scene": Screen("/learn/lost-before-011/1"),
    "asked": Screen("/learn/who-leads-next/2"),
    "task": Screen("/learn/a-log/5?moves=fetch+2"),
    "recap": Screen("/learn/epochs/7"),
    "property": Screen("/property?property=HW(B&s=S22&profile=K39", ".ownform", (PARTS,)),
    "course": Screen("/course", ".chapters"),
    "read": Screen("/read", ".shelf"),
    "guide": Screen("/read/fetcher?at=1", ".said.open .frames"),
    "claim": Screen("/practice/acks-all-survives-the-leader?said=true", ".kafkas", (PARTS,)),
    "interview": Screen("/practice/Q39", opens=(PARTS,)),
    "levels": Screen("/levels", ".levels"),
    "level": Screen(
        "/levels/high-watermark?moves=kill+1",
        opens=(Opened("break", press("#breakit"), "#breaksheet .btn", "#breaksheet"),),
    ),
    "sheet": Screen("/practice/sheet", ".sheetitems article"),
    "seen": Screen("/s/R11/real/2.0.1?at=15", opens=(PARTS,)),
    "real": Screen("/real", ".played"),
    "incident": Screen("/incident", opens=(PARTS,)),
    "api": Screen("/api", ".apis section"),
    "glossary": Screen("/glossary", "#H-2"),
    "hits": Screen("/scenarios?q=GC+pause", ".hits a"),
    "code": Screen("/code?q=truncateTo", ".hit"),
    "explore": Screen("/explore/{run}?step=12&crashes=1"),
    "missing": Screen("/s/no-such-scenario", "main h1"),
    "plain": Screen("/s/S20?plain=1&step=40", "main table"),
    "tier": Screen("/s/S95?step=101", '[data-id="store"]'),
}


def address(screen: Screen, names: dict[str, str], lang: str) -> str:
    """Its path under a server that has these names, in a language."""
    path = screen.path.format(**names)
    return f"{path}{'&' if '?' in path else '?'}lang={lang}"
