"""Ten questions before the course and ten like them after it, judged by playing."""

from __future__ import annotations

import re
from html import unescape

import pytest
from flask.testing import FlaskClient

from engine.learn import measured
from engine.learn.measured import PAIRS, SIDES
from engine.learn.probes import Probe, probe_at
from engine.learn.render import Teller
from engine.properties.recording import MomentRecording
from tests.app.test_learning import UNFILLED, page

GENERIC = {"next.move", "next.time"}


def probe(side: str, number: int) -> tuple[MomentRecording, Probe]:
    run, text = measured.question(side, number)
    recording = MomentRecording(run)
    return recording, probe_at(recording, text)


def sort(one: Probe) -> tuple[str, int, list[str]]:
    return one.kind, len(one.choices), sorted(n for c in one.choices for n in c.wrong)


def test_a_pair_asks_the_same_of_other_runs_and_says_what_happens() -> None:
    seeds = [pair.before[0] for pair in PAIRS] + [pair.after[0] for pair in PAIRS]
    assert len(PAIRS) == 10 and len(set(seeds)) == 20
    kinds = set()
    for number in range(1, len(PAIRS) + 1):
        (one, asked), (two, again) = (probe(side, number) for side in SIDES)
        assert sort(asked) == sort(again), number
        kinds.add(asked.kind)
        for recording, which in ((one, asked), (two, again)):
            teller = Teller(recording, "en")
            assert teller.next(which) not in {teller.say(key) for key in GENERIC}
    assert len(kinds) == 7


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_ten_are_asked_and_then_told(client: FlaskClient, side: str, lang: str) -> None:
    rights = [probe(side, n)[1].right for n in range(1, 11)]
    sent = ""
    for number, right in enumerate(rights, 1):
        told = page(client, f"/learn/test/{side}?a={sent}&lang={lang}")
        assert 'name="answer"' in told and "verdict" not in told and not UNFILLED.search(told)
        chosen = right if number != 3 else (right + 1) % 3
        went = client.get(f"/learn/test/{side}?a={sent}&answer={chosen}&lang={lang}")
        sent = re.search(r"a=(\w+)", went.headers["Location"])[1]  # type: ignore[index]
        assert went.status_code == 302 and len(sent) == number
    told = page(client, f"/learn/test/{side}?a={sent}&lang={lang}")
    assert 'data-marks="1101111111"' in told and not UNFILLED.search(told)
    links = re.findall(r'href="(/learn\?run=[^"]+)"', told)
    verdicts = [
        re.search(r'class="verdict (\w+)"', page(client, unescape(one)))[1]  # type: ignore[index]
        for one in links[:4]
    ]
    assert len(links) == 10 and verdicts == ["ok", "ok", "bad", "ok"]


def test_confidence_is_kept_in_the_address(client: FlaskClient) -> None:
    sent, said = "", ""
    for sure in ("3", "", "1", "7"):
        asked = f"/learn/test/before?said={said}&a={sent}&answer=0" + (sure and f"&sure={sure}")
        went = client.get(asked).headers["Location"]
        found = re.search(r"said=(\d+)&a=(\w+)", went)
        assert found is not None, went
        said, sent = found[1], found[2]
    assert (sent, said) == ("0000", "3010")
    assert 'name="said" value="3010"' in page(client, f"/learn/test/before?said={said}&a={sent}")
    # A test begun without confidence may go on with it, and a link without it stays as it was.
    told = page(client, "/learn/test/before?said=03&a=0000000000")
    assert 'data-sure="0300000000"' in told
    assert client.get("/learn/test/before?a=00&answer=1").headers["Location"].endswith("?a=001")


def test_answers_by_hand_are_a_choice_or_none_of_them(client: FlaskClient) -> None:
    right = probe("before", 1)[1]
    shown = right.choices[right.right].answer
    for by, sign in ((str(shown), str(right.right)), ("9", "x")):
        went = client.get(f"/learn/test/before?by={by}")
        assert went.headers["Location"].endswith(f"a={sign}")
    assert measured.marks("before", "x" * 10) == [False] * 10


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/learn/test/during", 404),
        ("/learn/test/before?a=01234567890", 400),
        ("/learn/test/before?a=<b>", 400),
        ("/learn/test/before?a=0&answer=8", 400),
        ("/learn/test/before?a=0&said=4", 400),
        ("/learn/test/before?a=0&said=33", 400),
    ],
)
def test_an_address_that_cannot_be_is_refused(
    client: FlaskClient, address: str, status: int
) -> None:
    answer = client.get(address, headers={"Accept": "text/html"})
    assert answer.status_code == status and re.search(r"<p[^>]*>[^<]+\.", answer.text)
