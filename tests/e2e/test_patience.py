"""What a page never answers is not waited for without an end, and a dead browser is replaced."""

from __future__ import annotations

import pytest

from tests.conftest import ends_within
from tests.e2e.conftest import Chromium, Opener


def test_a_promise_that_never_settles_is_not_waited_for(visit: Opener) -> None:
    page = visit("/scenarios")
    with (
        pytest.raises(pytest.fail.Exception, match=r"^It: no end after 0\.5 s"),
        ends_within(0.5, "It"),
    ):
        page.evaluate("new Promise(() => {})")
    assert page.evaluate("6 * 7") == 42, "the page can be asked again"


def test_a_browser_that_is_gone_is_replaced(browser: Chromium) -> None:
    other = browser.another()
    other.close()
    page = other.new_context().new_page()
    assert page.evaluate("6 * 7") == 42
    other.close()
