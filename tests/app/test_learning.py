"""Predict: a stranger can answer, the judge is the run, and what comes is nowhere before."""

from __future__ import annotations

import json
import re
from html import unescape
from itertools import pairwise
from urllib.parse import parse_qs, urlsplit

import pytest
from flask.testing import FlaskClient

from engine.learn.deck import PREDICTIONS
from engine.learn.probes import probe_at
from engine.properties.recording import MomentRecording
from engine.replay.replay import Replay
from engine.scenarios.file import find
from engine.sim.run import Run
from tests.app.conftest import TOKEN
from tests.conftest import CLAIM_NAME, THOROUGH, sample

QUESTION = "/practice/question"
UNFILLED = re.compile(r">\s*(?:learn|claims|interview|challenge|course|practice)\.[\w.%-]+\s*<")


def page(client: FlaskClient, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200, f"{address}: {answer.text[:300]}"
    return answer.text


def boot_of(text: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="boot">(.*?)</script>', text, re.S)
    assert found is not None
    boot: dict[str, object] = json.loads(found[1])
    return boot


def prediction(number: int) -> str:
    code, profile, kind, _ = PREDICTIONS[number]
    return f"{QUESTION}?s={code}&profile={profile}&kind={kind}"


@pytest.mark.parametrize(
    ("lang", "number"),
    sample([(lang, n) for n in range(len(PREDICTIONS)) for lang in ("en", "zh")], 9),
)
def test_every_prediction_is_asked_and_answered(
    client: FlaskClient, number: int, lang: str
) -> None:
    address = prediction(number)
    text = page(client, f"{address}&lang={lang}")
    assert UNFILLED.search(text) is None
    answers = re.findall(r'name="answer" value="(\d)"', text)
    assert len(answers) >= 3
    verdicts = []
    for one in answers:
        told = page(client, f"{address}&answer={one}&lang={lang}")
        assert UNFILLED.search(told) is None
        assert CLAIM_NAME.search(re.sub(r'data-ids="[^"]*"', "", told)) is None
        verdicts.append(re.search(r'class="verdict (\w+)"', told)[1])  # type: ignore[index]
    assert sorted(verdicts) == ["bad"] * (len(answers) - 1) + ["ok"]


def test_confidence_is_scored(client: FlaskClient) -> None:
    """What was certain and wrong is worth most; without scripts it can be said, too."""
    asked = page(client, prediction(0))
    assert asked.count('type="radio" name="sure"') == 3 and 'name="sure" checked' not in asked
    rights = {}
    for answer in range(3):
        told = page(client, f"{prediction(0)}&answer={answer}&sure=3")
        rights[answer] = 'class="verdict ok"' in told
        assert ("You were certain and wrong." in told) is not rights[answer]
        lucky = page(client, f"{prediction(0)}&answer={answer}&sure=1")
        assert ("You guessed right." in lucky) is rights[answer]
    assert sum(rights.values()) == 1


def onward(client: FlaskClient, address: str) -> tuple[str, str]:
    """(kind of the question there, where its answer leads on to)."""
    told = page(client, f"{address}{'&' if '?' in address else '?'}answer=0")
    link = re.search(r'id="next" href="([^"]+)"', told)
    kind = re.search(r'data-kind="(\w+)"', told)
    assert link is not None and kind is not None
    return kind[1], unescape(link[1])


def test_predictions_lead_on_and_change_run_and_kind(client: FlaskClient) -> None:
    address, runs, kinds = prediction(12), [], []
    for _ in range(len(PREDICTIONS) - 14 if THOROUGH else 8):
        kind, address = onward(client, address)
        kinds.append(kind)
        runs.append(parse_qs(urlsplit(address).query)["s"][0])
    assert all(one != other for one, other in pairwise(runs)), runs
    assert all(one != other for one, other in pairwise(kinds)), kinds


@pytest.mark.parametrize("number", [0, 4, 8, 11])
def test_later_steps_are_not_sent_before_the_answer(client: FlaskClient, number: int) -> None:
    """The stage of a question knows one step, and of the rest of the run nothing but its name."""
    question = page(client, prediction(number))
    stage = unescape(re.search(r'<iframe[^>]* src="([^"]+)"', question)[1])  # type: ignore[index]
    boot = boot_of(page(client, stage))
    facts, steps = boot["facts"], boot["steps"]
    assert isinstance(facts, dict) and isinstance(steps, list)
    step = boot["step"]
    assert [one["n"] for one in steps] == [step] and facts["total"] == step
    args = {name: one[0] for name, one in parse_qs(urlsplit(stage).query).items()}
    replay = Replay(Run(find(args["s"]), args["profile"]))
    assert replay.total > int(str(step))
    later = {
        one["id"]
        for p in replay.final_view()["partitions"]
        for r in p["replicas"].values()
        for one in r["records"]
    }
    now = {
        one["id"]
        for p in steps[0]["view"]["partitions"]
        for r in p["replicas"].values()
        for one in r["records"]
    }
    sent = json.dumps(boot)
    coming = [name for name in later - now if len(name) > 1 and f'"{name}"' in sent]
    told = {name for m in steps[0]["view"]["messages"] for name in str(m).split("'")}
    assert set(coming) <= told  # what is under way is seen; what is not sent yet is not
    assert facts["verdict"]["broken"] == [] and facts["outcome"] == ""
    assert not any(one[0] > step for one in [*facts["marks"], *facts["chapters"], *facts["clock"]])
    assert "end" not in {name for m in steps[0]["view"]["messages"] for name in m["fields"]}


def test_any_run_of_the_library_can_be_asked_about(client: FlaskClient) -> None:
    for code in ("S01", "S44", "S74", "M01"):
        assert 'name="answer"' in page(client, f"{QUESTION}?s={code}")


def test_a_quiz_asks_five_questions_none_of_which_gives_away_a_later_one(
    client: FlaskClient,
) -> None:
    run = Run(find("S74"), "Z0102", seed=45)
    refused = client.post("/practice/quiz", data={"run": run.text()})
    assert refused.status_code == 403
    began = client.post("/practice/quiz", data={"run": run.text(), "csrf": TOKEN})
    address, asked = began.headers["Location"], []
    for n in range(1, 6):
        told = page(client, f"{address}&answer=0&lang=en")
        assert f"Question {n} of 5 about this run" in told
        asked.append(re.search(r'data-probe="(\w+@(\d+)[^"]*)"', told)[1])  # type: ignore[index]
        address = unescape(re.search(r'id="next" href="([^"]+)"', told)[1])  # type: ignore[index]
    assert len(set(asked)) == 5 and address.startswith("/r/")
    recording = MomentRecording(run)
    decided = [probe_at(recording, one).until for one in asked]
    assert decided == sorted(set(decided))


def test_the_best_question_from_a_step_on_is_asked(client: FlaskClient) -> None:
    for step in (20, 90, 150):
        told = page(client, f"{QUESTION}?s=S22&profile=K39&step={step}")
        at = int(re.search(r'data-probe="\w+@(\d+)', told)[1])  # type: ignore[index]
        assert step <= at < step + 60
    assert 'name="answer"' in page(client, f"{QUESTION}?s=S22&profile=K39&step=9999")


@pytest.mark.parametrize(
    ("address", "status"),
    [
        (f"{QUESTION}?s=nothing", 404),
        (f"{QUESTION}?run=../../etc", 404),
        (f"{QUESTION}?run=0123456789abcdef", 404),
        (f"{QUESTION}?s=S22&q=hw@1.0.1", 400),
        (f"{QUESTION}?s=S22&q=rm%20-rf", 400),
        (f"{QUESTION}?s=S22&profile=K99", 400),
        (f"{QUESTION}?answer=9", 400),
        (f"{QUESTION}?s=S22&step=x", 400),
    ],
)
def test_invalid_questions_are_refused_with_a_sentence(
    client: FlaskClient, address: str, status: int
) -> None:
    answer = client.get(address, headers={"Accept": "text/html"})
    assert answer.status_code == status
    assert re.search(r"<p[^>]*>[^<]+\.", answer.text)
