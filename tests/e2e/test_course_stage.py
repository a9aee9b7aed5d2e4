"""Stages of the course fit a laptop's screen, and the first one shows records."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.conftest import CALM, Server


@pytest.mark.parametrize("path", ["/learn/a-log/1", "/learn/a-log/5"])
def test_the_whole_tank_is_seen(browser: Any, server: Server, path: str) -> None:
    context = browser.new_context(**{**CALM, "viewport": {"width": 1440, "height": 900}})
    page = context.new_page()
    page.goto(f"{server.url}{path}?lang=en")
    outer = page.locator("iframe.stage")
    frame = page.frame_locator("iframe.stage")
    names = frame.locator("#stage svg text", has_text="Broker 3")
    names.first.wait_for()
    box, host = names.first.bounding_box(), outer.bounding_box()
    assert box is not None and host is not None
    assert box["y"] + box["height"] < 900, "the foot of the tank is below the fold"
    stage = frame.locator("#stagebox").evaluate("e => [e.scrollHeight, e.clientHeight]")
    assert stage[0] <= stage[1] + 1 and host["y"] + host["height"] <= 900
    if path.endswith("a-log/1"):
        assert frame.locator("#stage svg text", has_text="LEO 1").count() == 1
    context.close()
