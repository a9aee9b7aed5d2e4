"""An incident: the folder of a recorded cluster is chosen, told, and opened on the stage."""

from __future__ import annotations

import re

from tests.conftest import ROOT
from tests.e2e.conftest import Opener

FILES = ROOT / "tests" / "incident" / "files"


def test_a_folder_becomes_a_story_on_the_stage(visit: Opener) -> None:
    page = visit("/incident", apart=True)
    page.set_input_files("#folder", FILES / "S30-3.9.1")
    page.get_by_role("button", name="Read them").click()
    page.wait_for_selector("#found .verdict")
    page.locator("details.check summary").click()
    assert page.locator("tr.bad").count() >= 1
    assert "The model reproduces all" in page.locator(".finding").inner_text()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.get_by_role("link", name="Open the run").click()
    page.wait_for_url(re.compile(r"/r[?#]"))
    page.wait_for_selector('#title h1:has-text("What happened to S30-0")')
    page.wait_for_selector("#stage svg")
    assert asked and not any("endings.json" in one for one in asked), "of a script nobody saved"


def test_a_file_that_is_too_large_is_not_sent(visit: Opener) -> None:
    page = visit("/incident", apart=True)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate(
        """() => {
            const all = new DataTransfer();
            all.items.add(new File([new Uint8Array(17 << 20)], "server.log"));
            const pick = document.getElementById("pick");
            pick.files = all.files;
            pick.dispatchEvent(new Event("change"));
        }"""
    )
    told = page.locator("#found [role=alert]").inner_text()
    assert told.startswith("With server.log the files have more than 16 MiB")
    assert page.locator("#read").is_disabled()
    assert not any("incident/read" in one for one in asked)
