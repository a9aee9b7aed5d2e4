"""One run under two profiles, in a browser: found from the run, gone through by its differences."""

from __future__ import annotations

from typing import Any

from tests.e2e.conftest import HERE, Opener
from tests.e2e.walk import run_of

AXE = HERE / "vendor" / "axe-4.14.1.min.js"
RULES = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"]


def pair(page: Any) -> int:
    return int(page.get_attribute("#both", "data-at"))


def at(page: Any, number: int) -> None:
    page.wait_for_selector(f'#both[data-at="{number}"]')


def test_from_a_run_to_its_first_difference_and_on(visit: Opener) -> None:
    page = visit("/s/S20?profile=Z0102")
    run = run_of(page)
    page.get_by_role("link", name="Compare").click()
    page.wait_for_url(f"**/r/{run}/compare**")
    page.wait_for_selector('body[data-ready="1"]')
    page.select_option("select[name=with]", "Z011")
    page.get_by_role("button", name="Compare").click()
    page.wait_for_url("**with=Z011**")
    page.wait_for_selector('body[data-ready="1"]')
    line = page.locator(".verdictline")
    assert "LEO 3 ≠ 5" in line.inner_text()
    sides = page.locator(".side")
    assert sides.nth(0).locator('[data-id="b1:leo"].differs').count() == 1
    first = pair(page)
    page.get_by_role("button", name="Step back").click()
    at(page, first - 1)
    assert "Same until here" in line.inner_text()
    assert page.locator(".differs").count() == 0
    page.keyboard.press("n")
    at(page, first)
    page.get_by_role("button", name="Next difference").click()
    page.wait_for_function(f"Number(document.getElementById('both').dataset.at) > {first}")
    assert f"at={pair(page)}" in page.url, "the address opens the same pair"


def test_comparing_and_the_ladder_are_accessible(visit: Opener) -> None:
    run = run_of(visit("/s/S20?profile=Z0102"))
    for path in (f"/r/{run}/compare?with=K39", "/s/S20/ladder"):
        for lang, scheme in (("en", "light"), ("zh", "dark")):
            sign = "&" if "?" in path else "?"
            compared = "compare" in path
            options = {"ready": compared, "color_scheme": scheme, "bypass_csp": True}
            page = visit(f"{path}{sign}lang={lang}", **options)
            page.add_script_tag(path=str(AXE))
            found = page.evaluate("rules => axe.run({runOnly: rules})", RULES)
            assert [one["id"] for one in found["violations"]] == [], (path, lang)


def test_both_fit_a_phone(visit: Opener) -> None:
    run = run_of(visit("/s/S20?profile=Z0102"))
    page = visit(f"/r/{run}/compare?with=K39", viewport={"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
