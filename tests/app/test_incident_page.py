"""Files of brokers, sent by a browser: the story, the run, and one sentence for each bad file."""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from app.admission.bodies import FILES_BYTES
from app.core.uploads import sweep, upload_folder
from app.incident import reconstruction, timeline
from app.incident.pages import FILES_PATH
from app.reading import sources
from app.server.services import KEY
from tests.app.conftest import TOKEN
from tests.conftest import ROOT, sample

FILES = ROOT / "tests" / "incident" / "files"


def files_of(name: str) -> list[tuple[str, bytes]]:
    """A recorded cluster as a folder that is dropped: (path, content)."""
    folder = FILES / name
    return [
        (path.relative_to(FILES).as_posix(), path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]


def send(client: FlaskClient, files: Iterable[tuple[str, bytes]], **form: str) -> TestResponse:
    parts = [(io.BytesIO(content), name) for name, content in files]
    return client.post(
        f"{FILES_PATH}?lang=en",
        data={"file": parts, **form},
        headers={"X-CSRF-Token": TOKEN, "Accept": "application/json"},
        content_type="multipart/form-data",
    )


def answer_of(client: FlaskClient, files: Iterable[tuple[str, bytes]], **form: str) -> Any:
    answer = send(client, files, **form)
    assert answer.status_code == 200, answer.json
    return answer.json


@pytest.fixture(autouse=True)
def nothing_is_left(app: Flask) -> Iterator[None]:
    yield
    assert list(app.extensions[KEY].settings.instance.glob("uploads/*/files/*")) == []


def test_uploads_of_a_killed_server_go_at_the_next_start(tmp_path: Path) -> None:
    code = (
        "import os, pathlib, signal; from app.core.uploads import upload_folder\n"
        f"with upload_folder(pathlib.Path({str(tmp_path)!r})) as folder:\n"
        "    (folder / 'server.log').write_text('x'); os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    assert len(list(tmp_path.glob("uploads/*/files/server.log"))) == 1
    with upload_folder(tmp_path) as folder:
        sweep(tmp_path)
        assert folder.is_dir(), "the folder of a server that runs is locked"
        assert len(list(tmp_path.glob("uploads/*"))) == 1
    assert list(tmp_path.glob("uploads/*")) == []


@pytest.mark.parametrize("name", ["S30-3.9.1", "R20-0.10.2.2"])
def test_the_page_tells_what_the_command_tells(client: FlaskClient, name: str) -> None:
    told = answer_of(client, files_of(name))
    found = sources.readable_files((str(FILES / name),))
    wanted = next(iter(timeline.partitions(found)))
    rebuilt = reconstruction.rebuild(timeline.gather(found, wanted))
    assert told["partition"] == str(wanted)
    assert told["run"] == rebuilt.run.text()
    assert (told["followed"], told["finding"]) == (rebuilt.followed, rebuilt.finding)
    assert not [note for note in told["notes"] if "/" + "tmp" in note or "incident-" in note]
    assert any(what.startswith("LOST") for _, _, what, _ in told["rows"])


def test_order_and_names_of_the_files_do_not_matter(client: FlaskClient) -> None:
    files = files_of("S30-3.9.1")
    assert answer_of(client, reversed(files))["run"] == answer_of(client, files)["run"]


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (("notes.bin", bytes(range(256)) * 40), "notes.bin is not a log, segment, checkpoint"),
        (("empty.log", b""), "empty.log is empty."),
        (("../../../etc/passwd.log", b"root:x:0"), "../../../etc/passwd.log is not a log"),
    ],
)
def test_a_bad_file_costs_one_sentence(
    client: FlaskClient, bad: tuple[str, bytes], why: str
) -> None:
    files = files_of("S30-3.9.1")
    whole = answer_of(client, files)
    told = answer_of(client, [*files, bad])
    assert told["run"] == whole["run"]
    assert sum(why in note for note in told["notes"]) == 1, told["notes"]
    alone = send(client, [bad])
    assert alone.status_code == 400
    assert why in alone.json["sentence"]


def test_a_truncated_segment_is_named_with_its_byte(client: FlaskClient) -> None:
    files = [
        (name, content[:-9] if name.endswith("b1/S30-0/00000000000000000000.log") else content)
        for name, content in files_of("S30-3.9.1")
    ]
    notes = answer_of(client, files)["notes"]
    named = [one for one in notes if "S30-3.9.1/b1/S30-0/00000000000000000000.log: Byte" in one]
    assert len(named) == 1, notes


def test_two_partitions_are_asked_about(client: FlaskClient) -> None:
    files = files_of("S30-3.9.1")
    other = [(name, content.replace(b"S30-0", b"S30-1")) for name, content in files]
    both = [(f"other/{name}", content) for name, content in other if name.endswith("server.log")]
    asked = answer_of(client, [*files, *both])
    assert {"S30-0", "S30-1"} == {name for name, _ in asked["choose"]}
    assert answer_of(client, [*files, *both], partition="S30-0")["partition"] == "S30-0"


def test_file_names_may_name_the_broker(client: FlaskClient) -> None:
    dump = (FILES / "dumps" / "metadata.txt").read_bytes()
    segment = (FILES / "dumps" / "segment.txt").read_bytes()
    nobody = answer_of(client, [("metadata.txt", dump), ("segment.txt", segment)])
    assert any("the broker of this segment is unknown" in note for note in nobody["notes"])
    named = answer_of(client, [("metadata.txt", dump), ("2=segment.txt", segment)])
    assert not any("the broker of this segment" in note for note in named["notes"])


def test_too_large_files_are_refused_unread(client: FlaskClient) -> None:
    headers = {"X-CSRF-Token": TOKEN, "Accept": "application/json"}
    answer = client.post(
        f"{FILES_PATH}?lang=en",
        input_stream=io.BytesIO(b"x"),
        headers=headers,
        environ_overrides={"CONTENT_LENGTH": str(2 << 30)},
        content_type="multipart/form-data; boundary=x",
    )
    assert answer.status_code == 413
    assert "larger than 16 MiB together: highwater incident" in answer.get_data(as_text=True)
    assert FILES_BYTES == 16 << 20


def test_a_token_and_a_file_are_wanted(client: FlaskClient) -> None:
    assert client.post(FILES_PATH, data={"file": (io.BytesIO(b"x"), "a")}).status_code == 403
    assert send(client, []).status_code in (400, 403)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page(client: FlaskClient, lang: str) -> None:
    text = client.get(f"/incident?lang={lang}").text
    assert 'id="drop"' in text and ">incident." not in text


DUMP = (
    b"Dumping 00000000000000000000.log\nLog starting offset: 0\nbaseOffset: 0 lastOffset: 1 "
    b"count: 2 baseSequence: 0 lastSequence: 1 producerId: 0 producerEpoch: 0 "
    b"partitionLeaderEpoch: 3 isTransactional: false isControl: false deleteHorizonMs: "
    b"OptionalLong.empty position: 0 CreateTime: 1749283750000 size: 95 magic: 2 "
    b"compresscodec: none crc: 1 isvalid: true\n"
)
LEADS = (
    b"[2026-03-04 05:06:07,089] INFO [Broker id=2] Leader rides-0 with topic id Some(x) starts "
    b"at leader epoch 3 from offset 2 with partition epoch 5, high watermark 2, ISR [1,2], adding "
    b"replicas [] and removing replicas [] . Previous leader Some(2) and previous leader epoch was "
    b"2. (s)\n"
)


@pytest.mark.parametrize(
    "name", sample(["2=dump.txt", "broker-2/dump.txt", "dump-3.txt", "kafka-1/d.txt"], 3)
)
def test_a_dump_of_no_partition_costs_one_sentence(client: FlaskClient, name: str) -> None:
    told = answer_of(client, [("server.log", LEADS), (name, DUMP)])
    assert (told["states"], told["disks"]) == (1, 0)
    [note] = [one for one in told["notes"] if "kafka-dump-log was called inside" in one]
    assert note.startswith(name.removeprefix("2="))
    named = answer_of(client, [("server.log", LEADS), ("2=rides-0.txt", DUMP)])
    assert named["disks"] == 1
    assert not any("kafka-dump-log" in one for one in named["notes"])


def test_checkpoints_without_a_broker_cost_one_sentence_each(client: FlaskClient) -> None:
    marks = b"0\n1\nrides 0 2\n"
    names = ("replication-offset-checkpoint", "recovery-point-offset-checkpoint")
    told = answer_of(client, [("server.log", LEADS), *((name, marks) for name in names)])
    assert told["disks"] == 0
    for name in names:
        assert sum(note.startswith(name) for note in told["notes"]) == 1
    owned = answer_of(client, [("server.log", LEADS), (f"1={names[0]}", marks)])
    assert owned["disks"] == 1


def test_single_lines_are_told_without_a_run(client: FlaskClient) -> None:
    line = (
        b"[2026-03-04 05:06:07,089] INFO [UnifiedLog partition=rides-0, dir=/var/kafka-3] "
        b"Truncating to offset 9 (kafka.log.UnifiedLog)\n"
    )
    told = answer_of(client, [("server.log", line)])
    assert (told["partition"], told["states"], told["run"]) == ("rides-0", 0, None)
    [(_, who, what, _)] = told["rows"]
    assert (who, what) == ("?", "truncates its log to 9")
    assert "add state-change.log of a broker" in told["finding"]
