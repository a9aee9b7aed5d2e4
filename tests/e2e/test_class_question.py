"""A teacher asks her class: pupils answer by hand, each once; then all see how the class did."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import CLAIM_NAME, sample
from tests.e2e.axe import violations
from tests.e2e.conftest import Opener
from tests.e2e.test_class import started
from tests.e2e.test_learn import drag, stage_of
from tests.e2e.walk import at, jump, step_of

HELD = "JSON.stringify([document.documentElement.outerHTML, {...localStorage}])"


def asked(leader: Any, kind: str) -> int:
    """Asks the class a question of this kind, by keyboard; the step at which it is asked."""
    leader.keyboard.press("q")
    leader.locator(".offered .choice", has_text=kind).first.click()
    leader.wait_for_selector(".polled")
    return step_of(leader)


@pytest.mark.parametrize("width", sample([390, 1280], 2))
def test_a_class_answers_by_hand(visit: Opener, width: int) -> None:
    leader = visit("/s/S22?profile=K39")
    path = started(leader)
    narrow: dict[str, Any] = {"viewport": {"width": width, "height": 844}}
    first = visit(path, **narrow)
    second = visit(f"{path}?lang=zh", color_scheme="dark", **narrow)
    step = asked(leader, "At which offset does the log")
    frame = stage_of(first)
    assert not first.locator("#board").is_visible()
    assert first.locator("#predict").count() == 0
    first.locator(".sure label").nth(2).click()
    drag(first, frame, -1)
    frame.locator(".handbar .primary").click()
    first.get_by_text("Your answer counts").wait_for()
    assert first.locator(".histogram").count() == 0 and first.locator(".choice").count() == 0
    leader.get_by_text("1 of 2 have answered").wait_for()
    assert violations(second) == []
    second.wait_for_selector(".polled .choice")
    second.keyboard.press("1")
    second.get_by_text("1 人").or_(second.get_by_text("2 号")).first.wait_for()
    leader.get_by_text("2 of 2 have answered").wait_for()
    leader.get_by_role("button", name="Close and show").click()
    for page in (first, second, leader):
        page.wait_for_selector(".polled .histogram li.ok")
        assert page.locator(".histogram .num").all_inner_texts().count("1") == 2
        assert violations(page) == []
        assert page.locator(".histogram li p.soft").filter(has_text="1").count() >= 1
    with leader.expect_download() as table:
        leader.get_by_role("link", name="Answers as CSV").click()
    assert len(table.value.path().read_text("utf-8").splitlines()) == 3
    leader.get_by_role("button", name="Go on with the run").click()
    first.wait_for_selector("body:not([data-polled])")
    leader.wait_for_selector(f'#stage:not([data-step="{step}"], [data-moving])', state="attached")
    assert step_of(leader) > step
    at(first, step_of(leader))


def test_later_steps_are_not_in_the_page_of_a_pupil(visit: Opener) -> None:
    leader = visit("/s/S22?profile=K39")
    jump(leader, 3)
    pupil = visit(started(leader), apart=True)
    frames: list[str] = []
    step = asked(leader, "At which offset does the log")
    stage_of(pupil)
    pupil.on("websocket", lambda link: link.on("framereceived", lambda data: frames.append(data)))
    pupil.keyboard.press("ArrowRight")
    pupil.wait_for_timeout(500)
    held = pupil.evaluate(HELD) + "".join(one.evaluate(HELD) for one in pupil.frames[1:])
    assert f'"n":{step + 1},' not in held and CLAIM_NAME.search(held) is None
    assert not any(f'"n":{step + 1},' in text for text in frames)
