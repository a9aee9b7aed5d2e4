"""The page that takes what Kafka's tools print; nothing of it is stored."""

from __future__ import annotations

import json
import re

from flask.testing import FlaskClient

from app.server.services import services
from engine.sim.run import Run
from tests.app.conftest import post
from tests.conftest import ROOT
from tests.field.test_paste import DESCRIBE, FILES, GARBLED, QUORUM


def test_a_pasted_cluster_becomes_a_run_and_is_not_stored(client: FlaskClient) -> None:
    answer = post(client, "/api/cluster", {"text": DESCRIBE + QUORUM + FILES})
    assert answer.status_code == 200 and answer.json["problems"] == []
    run = Run.from_text(answer.json["run"])
    assert run.profile == "K41" and run.scenario.initial is not None
    assert answer.json["partitions"][0]["name"] == "orders-0"
    assert any("812,000" in str(note["args"]) for note in answer.json["notes"])
    with client.application.app_context():
        assert services().store.run(run.digest) is None and services().store.scenarios() == []
    other = post(client, "/api/cluster", {"text": DESCRIBE, "profile": "K39"})
    assert Run.from_text(other.json["run"]).profile == "K39"


def test_unreadable_lines_are_named_and_the_rest_opens(client: FlaskClient) -> None:
    answer = post(client, "/api/cluster", {"text": GARBLED}).json
    assert [one["line"] for one in answer["problems"]][:3] == [2, 3, 4]
    assert Run.from_text(answer["run"]).scenario.partitions == ((1, 2, 3), (1, 2))
    nothing = post(client, "/api/cluster", {"text": "hello"}).json
    assert nothing["run"] is None and nothing["notes"][0]["key"] == "paste.note.nothing"


def test_only_our_page_may_ask_and_sizes_are_bounded(client: FlaskClient) -> None:
    assert client.post("/api/cluster", data="{}").status_code == 403
    assert post(client, "/api/cluster", {"text": "x" * 240_000}).status_code == 413
    assert post(client, "/api/cluster", {"text": ""}).status_code == 400
    assert post(client, "/api/cluster", {"text": DESCRIBE, "profile": "K99"}).status_code == 400


def test_every_sentence_of_the_reader_is_in_both_catalogues() -> None:
    rooms = (ROOT / "app" / "reading", ROOT / "app" / "cluster")
    text = "".join(path.read_text("utf-8") for room in rooms for path in room.rglob("*.py"))
    keys = set(re.findall(r'[^f]"(paste\.[a-z_.]+)"', text))
    named = r'(?:PasteError|problem)\(\s*(?:[\w.\[\]]+,\s*)?((?:"\w+"(?:\s+if\s+\w+\s+else\s+)?)+)'
    keys |= {
        f"paste.{key}" for one in re.findall(named, text) for key in re.findall(r'"(\w+)"', one)
    }
    keys |= {f"paste.note.{key}" for key in re.findall(r'\.note\(\s*[\w.]+, "(\w+)"', text)}
    keys |= {f"paste.note.offline.{one}" for one in ("quorum", "listed", "assumed")}
    keys |= {f"paste.note.release.{one.lower()}" for one in ("Z28", "K39", "K41")}
    keys |= {"paste.note.partial"}
    keys |= {f"paste.note.twice.{one}" for one in ("first", "last")}
    assert len(keys) > 25
    for lang in ("en", "zh-Hans"):
        path = ROOT / "static" / "i18n" / f"cluster.{lang}.json"
        words = json.loads(path.read_text("utf-8"))
        assert keys - {"paste.note.offline."} <= set(words), keys - set(words)
        told = {key for key in words if key.startswith("paste.")}
        assert told <= keys, told - keys


def test_the_page_is_there_in_both_languages(client: FlaskClient) -> None:
    assert "Paste what you have" in client.get("/cluster").text
    assert "粘贴你手上的内容" in client.get("/cluster?lang=zh").text


def test_sentences_and_presses_come_with_the_answer(client: FlaskClient) -> None:
    text = "Topic: a Partition: 0 Leader: none Replicas: 1,2 Isr: 2\n[cut off\n"
    answer = post(client, "/api/cluster?lang=en", {"text": text}).json
    assert answer["offline"] == [1, 2]
    dead = answer["notes"][0]
    assert dead["sentence"].startswith("No broker leads a-0. A live member of the ISR")
    assert [one["put"] for one in dead["choices"]] == ["# broker 2 is running"]
    again = post(client, "/api/cluster", {"text": dead["choices"][0]["put"] + "\n" + text}).json
    assert again["offline"] == [1]
    chinese = post(client, "/api/cluster?lang=zh", {"text": text}).json
    assert chinese["problems"][0]["sentence"].startswith("“[cut off”")
