"""The course's pages: read without scripts, answered, and nothing of what comes is sent before."""

from __future__ import annotations

import re
from html import unescape

import pytest
from flask.testing import FlaskClient

from engine.learn import course
from engine.learn.probes import best_moment
from engine.properties.recording import MomentRecording
from engine.scenarios.file import find
from engine.sim.run import Run
from tests.app.test_learning import UNFILLED, boot_of, page


@pytest.mark.parametrize("slug", course.slugs())
def test_a_chapter_is_gone_through_by_its_links(client: FlaskClient, slug: str) -> None:
    last = len(course.chapter(slug, "zh-Hans").scenes) + 1
    for number in range(1, last + 1):
        text = page(client, f"/learn/{slug}/{number}?lang=zh")
        assert UNFILLED.search(text) is None
        onward = re.search(r'id="(?:next|skip)" href="([^"]+)"', text)
        assert onward is not None
        if number < last:
            assert onward[1] == f"/learn/{slug}/{number + 1}"
        for stage in re.findall(r'<iframe[^>]* src="([^"]+)"', text):
            assert client.get(unescape(stage)).status_code == 200


def test_a_scene_stands_at_its_step_and_knows_nothing_beyond(client: FlaskClient) -> None:
    text = page(client, "/learn/high-watermark/1")
    stage = unescape(re.search(r'<iframe[^>]* src="([^"]+)"', text)[1])  # type: ignore[index]
    boot = boot_of(page(client, stage))
    steps, facts = boot["steps"], boot["facts"]
    assert isinstance(steps, list) and isinstance(facts, dict)
    assert steps[-1]["n"] == boot["to"] == facts["total"] == 7


def test_an_answer_by_hand_is_graded_and_named(client: FlaskClient) -> None:
    right = page(client, "/learn/followers-fetch/2?by=4")
    named = page(client, "/learn/followers-fetch/2?by=2")
    other = page(client, "/learn/followers-fetch/2?by=77")
    assert 'data-right="1"' in right and "verdict ok" in right
    assert 'class="belief"' in named and "guess=leo%3A2%3A2" in named
    assert 'data-right="0"' in other and 'class="belief"' not in other


def test_a_rule_of_an_older_kafka_is_played_there(client: FlaskClient) -> None:
    name = "MC-TRUNC-HW"
    probe = best_moment(MomentRecording(Run(find("S14"), "K39")), name)
    assert probe is not None
    place = next(i for i, one in enumerate(probe.choices) if name in one.wrong)
    told = page(client, f"/practice/question?s=S14&profile=K39&q={probe.text}&answer={place}")
    older = re.search(r'class="older".*?src="([^"]+)"', told, re.S)
    assert older is not None
    boot = boot_of(page(client, unescape(older[1])))
    assert boot["facts"]["profile"] == "Z0102"  # type: ignore[index]


def test_a_task_is_graded_by_playing(client: FlaskClient) -> None:
    done = page(client, "/learn/a-log/5?moves=fetch+2")
    assert 'id="done"' in done
    assert 'class="verdict bad"' in page(client, "/learn/a-log/5?moves=kill+3")
    assert 'role="alert"' in page(client, "/learn/a-log/5?moves=kil+3")


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/learn/nothing", 404),
        ("/learn/nothing/1", 404),
        ("/learn/a-log/0", 404),
        ("/learn/a-log/99", 404),
        ("/learn/followers-fetch/2?answer=9", 400),
        ("/learn/followers-fetch/2?by=x", 400),
        ("/learn/followers-fetch/2?by=1,2", 400),
        ("/learn/stage?c=a-log&scene=77", 404),
        ("/learn/stage?c=..%2F..&scene=1", 404),
    ],
)
def test_unknown_chapters_are_refused(client: FlaskClient, address: str, status: int) -> None:
    assert client.get(address).status_code == status


def test_a_chapters_text_is_never_trusted() -> None:
    from app.learn.course import marked

    told = str(marked("**a** *b* `<i>` <script> x"))
    assert told == ("<p><strong>a</strong> <em>b</em> <code>&lt;i&gt;</code> &lt;script&gt; x</p>")
