"""Runs for browsers without scripts, and the page of what was not found."""

from __future__ import annotations

import re

from flask.testing import FlaskClient

from engine.replay.replay import Replay
from engine.scenarios.file import find
from engine.sim.run import Run
from engine.story import story


def test_a_browser_without_scripts_is_sent_to_the_plain_page(client: FlaskClient) -> None:
    page = client.get("/s/R20?profile=Z0102&step=145").text
    found = re.search(r'<noscript><meta http-equiv="refresh" content="0; url=([^"]+)">', page)
    assert found
    plain = client.get("/s/R20" + found[1].replace("&amp;", "&"))
    assert "Step 145 of 188" in plain.text


def test_the_plain_page_shows_the_step_its_table_and_links_to_the_others(
    client: FlaskClient,
) -> None:
    page = client.get("/s/R20?profile=Z0102&step=145&plain=1").text
    replay = Replay(Run(find("R20"), "Z0102"))
    (step,) = replay.steps(145, 1)
    names = {broker.id: broker.label for broker in find("R20").brokers}
    assert story.render(step["say"][0], names) in page
    for replica in step["view"]["partitions"][0]["replicas"].values():
        assert f"<td>{replica['leo']}</td><td>{replica['hw']}</td>" in page
    assert "step=146" in page and "step=144" in page and f"step={replay.total}" in page
    assert '<svg class="still"' in page and '<script type="module"' in page
    assert "高水位" in client.get("/s/R20?profile=Z0102&step=109&plain=1&lang=zh").text


def test_a_step_beyond_the_end_is_the_end(client: FlaskClient) -> None:
    page = client.get("/s/S01?plain=1&step=99999").text
    total = Replay(Run(find("S01"))).total
    assert f"Step {total} of {total}" in page


def test_a_name_that_is_none_leads_to_the_nearest(client: FlaskClient) -> None:
    page = client.get("/s/lost-to-truncat")
    assert page.status_code == 404
    assert 'href="/s/lost-to-truncation"' in page.text
    assert 'href="/scenarios?q=lost-to-truncat"' in page.text
    assert "/s/" not in client.get("/s/zzzzzzzzzzzz").text.split("<main")[1].split("</main")[0]


def test_a_change_of_language_keeps_the_place(client: FlaskClient) -> None:
    page = client.get("/s/R20?profile=Z0102&step=145&plain=1").text
    assert 'href="?profile=Z0102&amp;step=145&amp;plain=1&amp;lang=zh"' in page


def test_a_run_that_travels_in_the_address_is_not_sent_in_circles(client: FlaskClient) -> None:
    assert 'http-equiv="refresh"' not in client.get("/r?plain=1").text
