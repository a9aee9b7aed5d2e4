"""The one box: whatever is pasted is read, named or searched for, line by line."""

from __future__ import annotations

import json

import pytest
from flask.testing import FlaskClient

from app.cluster.box import read_box
from app.cluster.quorum import quorum_of
from app.cluster.reading import read_text
from app.find.meaning import explaining
from app.reading import paste
from app.reading.kinds import kinds
from app.reading.secrets import masked
from engine.catalogue.bugs import bugs_of
from engine.model.languages import LANGUAGES
from engine.replay.replay import Replay
from engine.scenarios import file
from engine.sim.run import Run
from tests.app.conftest import post
from tests.conftest import ROOT

B1 = """\
==> b1/server.log <==
[2026-03-04 14:05:00,100] INFO [Broker id=1] Leader toll-0 with topic id \
Some(Zk3vYk1sR0iZt7Xc5BnWgA) starts at leader epoch 8 from offset 100 with partition epoch 20, \
high watermark 100, ISR [1,2,3], \
adding replicas [] and removing replicas [] . (state.change.logger)
[2026-03-04 14:07:01,300] ERROR Uncaught exception in task 'flush-log' (kafka.utils.KafkaScheduler)
java.lang.OutOfMemoryError: Java heap space
\tat java.base/java.nio.HeapByteBuffer.<init>(HeapByteBuffer.java:64)
[2026-03-04 14:07:10,200] INFO [Partition toll-0 broker=1] Shrinking ISR from 1,2,3 to 1. Leader: \
(highWatermark: 150, endOffset: 170). Out of sync replicas: (brokerId: 2, endOffset: 150) \
(brokerId: 3, endOffset: 150). (kafka.cluster.Partition)
"""
B2 = """\
==> b2/server.log <==
[2026-03-04 14:07:11,005] INFO [Broker id=2] Leader toll-0 with topic id \
Some(Zk3vYk1sR0iZt7Xc5BnWgA) starts at leader epoch 9 from offset 150 with partition epoch 21, \
high watermark 150, ISR [2,3], \
adding replicas [] and removing replicas [] . (state.change.logger)
"""
DESCRIBED = """\
Topic: toll\tPartitionCount: 1\tReplicationFactor: 3\tConfigs: min.insync.replicas=2
\tTopic: toll\tPartition: 0\tLeader: 2\tReplicas: 1,2,3\tIsr: 2,3
"""


def box_of(text: str, language: str = "en") -> dict[str, object]:
    return dict(read_box(text, paste.read(text), "", language))


def test_two_logs_in_one_paste_answer_with_the_verdict_first() -> None:
    story = box_of(B1 + B2)["story"]
    assert isinstance(story, dict)
    assert story["verdict"][0] == (
        "When broker 1 stopped leading, offsets 150 to 169 were only in its log and not committed; "
        "what was written with acks=1 is gone."
    )
    assert "14:07:11 leadership goes from broker 1 to broker 2." in story["verdict"]
    assert any("runs out of memory: Java heap space" in row[2] for row in story["rows"])
    assert story["run"] and story["followed"] == story["states"]


@pytest.mark.parametrize(
    ("language", "uncommitted", "committed"),
    [
        (
            "en",
            "When broker 1 stopped leading, offset 150 was only in its log and not committed; what "
            "was written with acks=1 is gone.",
            "Broker 2 leads from offset 150: offset 150 was committed and lost.",
        ),
        (
            "zh-Hans",
            "Broker 1 不再当 Leader 时，offset 150 只在它的日志中，没有提交；"
            "以 acks=1 写入的消息已丢失。",
            "Broker 2 从 offset 150 开始当 Leader：offset 150 已提交却丢失了。",
        ),
    ],
)
def test_a_verdict_on_one_record_is_singular(
    language: str, uncommitted: str, committed: str
) -> None:
    for before, wanted in (("highWatermark: 150", uncommitted), ("highWatermark: 151", committed)):
        shrink = B1.replace("endOffset: 170", "endOffset: 151").replace(
            "highWatermark: 150", before
        )
        story = box_of(shrink + B2, language)["story"]
        assert isinstance(story, dict)
        assert wanted == story["verdict"][0].replace("\u2009", " ")


def test_several_kinds_stand_in_one_paste() -> None:
    text = DESCRIBED + "\n" + B1 + B2 + "\nthe moon is made of cheese\n"
    facts = paste.read(text)
    assert list(facts.partitions) == ["toll-0"]
    box = box_of(text)
    runs = box["lines"]
    assert isinstance(runs, list)
    assert {"state", "log", "unknown"} <= {run["kind"] for run in runs}
    assert box["story"] is not None and box["hits"] == []


def test_the_table_of_a_quorum_is_no_bug() -> None:
    """Its table has LogEndOffset in its head: words of bugs, and no line that one prints."""
    text = (
        "LeaderId: 2\nLeaderEpoch: 5\nCurrentVoters: [1,2,3]\n"
        "NodeId\tLogEndOffset\tLag\tLastFetchTimestamp\tLastCaughtUpTimestamp\tStatus\n"
        "2\t14\t0\t1700000000000\t1700000000000\tLeader\n"
        "1\t14\t0\t1700000000000\t1700000000000\tFollower\n"
    )
    assert box_of(text)["bugs"] == [] and box_of(text)["quorum"]


def test_an_error_finds_its_meaning_and_its_bugs() -> None:
    line = (
        "org.apache.kafka.common.errors.NotEnoughReplicasException: The size of the current ISR "
        "Set(4) is insufficient to satisfy the min.isr requirement of 3 for partition toll-0"
    )
    [named] = box_of(line)["named"]
    assert (named["key"], named["args"]["ids"]) == ("line.not_enough_set", "4")
    assert [(link["kind"], link["href"]) for link in named["links"]] == [
        ("scenario", f"/s/{file.find('S05').slug}"),
        ("rule", "/glossary#P-5"),
        ("question", "/practice/Q30"),
    ]
    assert paste.read(line).min_isr("toll") == 3, "the number in the line is used"
    bugs = box_of("UNKNOWN_PRODUCER_ID")["bugs"]
    assert bugs and bugs[0]["jira"] == "KAFKA-7190"


def test_a_version_and_a_question_are_answered() -> None:
    box = box_of("3.6.1 (Commit:5e3c2b738d253ff5)")
    assert (box["release"], box["hits"]) == ("3.6.1", [])
    assert box["has"] == len(bugs_of("3.6.1")) and box["bugs"][0]["jira"] == "KAFKA-14616"
    question = "when is it safe to restart the next broker?"
    hits = box_of(question)["hits"]
    assert hits and all(hit["url"].startswith("/") for hit in hits)
    for text in ("3.6.1", question, "UNKNOWN_PRODUCER_ID"):
        read = read_text(text, "", "", "title", "en")
        assert not read.problems and {run["kind"] for run in read.box["lines"]} == {"named"}


def test_the_search_reads_a_version_an_error_and_a_line_alike(client: FlaskClient) -> None:
    def found(query: str) -> list[tuple[str, str]]:
        hits = client.get("/api/search", query_string={"q": query}).json["hits"]
        return [(hit["kind"], hit["name"]) for hit in hits]

    assert found("3.9.1")[0] == ("bug", "3.9.1")
    line = (
        "[2018-03-14 06:17:57,590] FATAL [ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] "
        "Exiting because log truncation is not allowed for partition parcels-0, current leader's "
        "latest offset 2051 is less than replica's latest offset 2391 (kafka.server.X)"
    )
    kinds = dict(reversed(found(line)[:5]))
    assert kinds["bug"] == "KAFKA-7414", "no release that has KAFKA-4039 words the line so"
    assert (kinds["rule"], kinds["question"]) == ("F-9", "Q49")
    assert found("NOT_ENOUGH_REPLICAS")[0] == ("error", "NOT_ENOUGH_REPLICAS")


def test_secrets_are_masked_before_anything_is_read() -> None:
    text = (
        'sasl.jaas.config=org.apache.x.PlainLoginModule required username="u" password="hunter2";\n'
        "ssl.key.password = hunter3\nhttps://me:hunter4@kafka.example/\n"
        "Authorization: Bearer hunter5xyz\n"
    )
    hidden, count = masked(text)
    assert "hunter" not in hidden and count == 4
    facts = paste.read(text)
    assert facts.masked == 4 and "hunter" not in json.dumps([dict(p.args) for p in facts.problems])
    assert masked(hidden) == (hidden, 0)


def test_every_kind_of_line_has_its_sentence_and_its_run() -> None:
    for tag in LANGUAGES:
        words = json.loads((ROOT / f"static/i18n/cluster.{tag}.json").read_text("utf-8"))
        for kind in kinds():
            assert f"line.{kind.name}" in words
    for kind in kinds():
        wanted = (kind.scenario, kind.rule, kind.question)
        assert len(explaining(kind)) == sum(map(bool, wanted))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_both_addresses_open_the_same_box(client: FlaskClient, lang: str) -> None:
    pages = [client.get(f"{path}?lang={lang}").text for path in ("/cluster", "/incident")]
    for page in pages:
        assert 'id="paste"' in page and 'id="files"' in page
    assert '<details class="incident" open>' in pages[1]


def test_the_answer_has_the_box(client: FlaskClient) -> None:
    answer = post(client, "/api/cluster?lang=en", {"text": B1 + B2}).json
    assert answer["ok"] and answer["box"]["story"]["partition"] == "toll-0"
    assert answer["run"] is None and answer["what_if"] is None


def test_the_quorum_names_voters_that_can_win_and_why_epochs_climb() -> None:
    described = (
        "LeaderId:               1\n"
        "NodeId\tLogEndOffset\tLag\tLastFetchTimestamp\tLastCaughtUpTimestamp\tStatus\n"
        "1\t700\t0\t17\t17\tLeader\n2\t700\t0\t17\t17\tFollower\n3\t-1\t701\t-1\t-1\tFollower\n"
        "9\t650\t50\t17\t17\tObserver\n"
    )
    said = {
        one["key"]: one["args"] for one in quorum_of(paste.read(described), "title")["sentences"]
    }
    assert said["can_win"] == {"voters": "1, 2", "n": 3, "majority": 2}
    assert said["leads"] == {"leader": 1} and said["empty"]["voter"] == 3
    assert said["fragile"] == {"voters": "1, 2"} and "behind" not in said
    lines = "".join(
        f"[2025-01-28 05:00:{epoch},618] INFO [RaftManager id=0] Completed transition to "
        f"Unattached(epoch={epoch}, voters=[0, 1, 2], electionTimeoutMs=9) (o.a.k.raft.Quorum)\n"
        for epoch in (20, 21, 22)
    )
    climbs = quorum_of(paste.read(lines), "title")["sentences"][0]
    assert climbs == {"key": "climbs", "args": {"first": 20, "last": 22}}
    for tag in LANGUAGES:
        words = json.loads((ROOT / f"static/i18n/cluster.{tag}.json").read_text("utf-8"))
        keys = {"leads", "can_win", "behind", "empty", "fragile", "climbs", "named", "epoch"}
        assert {f"voting.{key}" for key in keys} <= set(words)


VOTERS = """\
LeaderId:               101
LeaderEpoch:            40
NodeId\tLogEndOffset\tLag\tLastFetchTimestamp\tLastCaughtUpTimestamp\tStatus
101\t700\t0\t17\t17\tLeader
102\t700\t0\t17\t17\tFollower
103\t640\t60\t17\t17\tFollower
"""
VOTES = """\
[2025-01-28 05:00:19,618] INFO [RaftManager id=0] Completed transition to Unattached(epoch=538, \
voters=[0, 1, 2], electionTimeoutMs=1109) from Unattached(epoch=537, voters=[0, 1, 2], \
electionTimeoutMs=1348) (org.apache.kafka.raft.QuorumState)
"""


def test_a_described_quorum_is_a_run_of_voters_in_which_the_best_log_wins() -> None:
    quorum = quorum_of(paste.read(VOTERS), "title")
    assert quorum["sentences"][-2]["args"] == {"names": "101 = C1, 102 = C2, 103 = C3"}
    assert quorum["sentences"][-1] == {"key": "epoch", "args": {"epoch": "40"}}
    assert quorum["run"]
    voters = {
        one["name"]: (one["state"], one["alive"])
        for one in Replay(Run.from_text(quorum["run"])).final_view()["quorum"]["voters"]
    }
    assert voters["C2"] == ("leader", True) and voters["C3"] == ("follower", True)
    assert not voters["C1"][1]


def test_lines_without_a_leader_are_a_run_in_which_the_epoch_climbs() -> None:
    run = quorum_of(paste.read(VOTES), "title")["run"]
    assert run
    view = Replay(Run.from_text(run)).final_view()["quorum"]
    alive = [one for one in view["voters"] if one["alive"]]
    assert len(alive) == 1 and alive[0]["epoch"] > 2 and alive[0]["state"] != "leader"


def test_dumps_without_a_state_say_what_is_missing() -> None:
    text = (
        "Dumping D:\\kafka\\data\\tickets-2\\00000000000000000000.log\n"
        "Log starting offset: 0\n"
        "baseOffset: 0 lastOffset: 1 count: 2 baseSequence: 0 lastSequence: 1 producerId: 0 "
        "producerEpoch: 0 partitionLeaderEpoch: 3 isTransactional: false isControl: false "
        "position: 0 CreateTime: 1738555500000 size: 95 magic: 2 compresscodec: none "
        "crc: 654334578 isvalid: true\n"
    )
    read = read_text(text, "", "", "title", "en")
    assert "is a dump of tickets-2: records, but no leader and no ISR" in read.box["without"]
    assert "__cluster_metadata-0" in read.box["without"]
    assert not read.problems and not read.box["bugs"] and not read.box["hits"]


def test_a_setting_in_a_line_names_no_bugs() -> None:
    line = "2022-12-16 16:05:22 INFO  X:1 - t/3 has ISR=[0], replicas=[0,4], min.insync.replicas=1"
    assert box_of(line)["bugs"] == []
    assert (
        box_of("Why does a consumer get OFFSET_OUT_OF_RANGE after a leader change?")["bugs"] == []
    )


def test_a_fatal_line_is_named_first() -> None:
    text = (
        "[2018-03-14 06:17:57,563] INFO Truncating fares-0 to 2391 has no effect as the largest "
        "offset in the log is 2390. (kafka.log.Log)\n"
        "[2018-03-14 06:17:57,590] FATAL [ReplicaFetcher replicaId=2, leaderId=1, fetcherId=0] "
        "Exiting because log truncation is not allowed for partition fares-0, current leader's "
        "latest offset 2051 is less than replica's latest offset 2391 "
        "(kafka.server.ReplicaFetcherThread)\n"
    )
    named = box_of(text)["named"]
    assert isinstance(named, list)
    assert [(one["line"], one["key"]) for one in named] == [
        (2, "line.truncation_forbidden"),
        (1, "line.truncates_nothing"),
    ]


def test_half_of_a_surrogate_pair_is_read() -> None:
    assert box_of("UNKNOWN_PRODUCER_ID \ud800")["bugs"]
