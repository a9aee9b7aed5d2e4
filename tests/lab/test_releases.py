"""Which release is started how, and where its jars come from."""

from __future__ import annotations

import stat
from pathlib import Path
from xml.etree import ElementTree

import pytest

from app.lab import jars
from app.lab.releases import release_of
from app.lab.trouble import LabError


@pytest.mark.parametrize(
    ("version", "profile", "kraft", "scala"),
    [
        ("0.10.2.2", "Z0102", False, "2.11"),
        ("0.11.0.3", "0.11.0.3", False, "2.11"),
        ("1.1.1", "Z011", False, "2.12"),
        ("2.0.1", "Z20", False, "2.12"),
        ("2.3.1", "Z21", False, "2.12"),
        ("2.8.2", "2.8.2", False, "2.13"),
        ("3.6.2", "K36", True, "2.13"),
        ("3.9.1", "K39", True, "2.13"),
        ("4.1.1", "K41", True, "2.13"),
    ],
)
def test_a_release_is_a_row_of_the_models_table(
    version: str, profile: str, kraft: bool, scala: str
) -> None:
    release = release_of(version)
    assert (release.profile, release.kraft, release.scala) == (profile, kraft, scala)


def test_a_release_to_come_is_the_newest_row() -> None:
    assert release_of("9.0.0").profile == release_of("8.0.0").profile


@pytest.mark.parametrize("version", ["4", "9.1", "kafka", "4.1.x", "../4.1.1", "4.1.1-rc0"])
def test_names_that_are_no_release(version: str) -> None:
    with pytest.raises(LabError, match="is no release of Kafka"):
        release_of(version)


@pytest.mark.parametrize(
    ("line", "newest"), [("4.1", "4.1.1"), ("3.9", "3.9.1"), ("0.10.2", "0.10.2.2")]
)
def test_a_line_of_releases_is_its_newest(line: str, newest: str) -> None:
    """Pages name a Kafka by the line it stands for."""
    assert release_of(line).version == newest


def test_releases_that_are_too_old() -> None:
    with pytest.raises(LabError, match=r"older than 0\.10\.2"):
        release_of("0.9.0.1")


def test_maven_is_asked_for_what_a_release_lacks() -> None:
    names = {}
    for version in ("0.10.2.2", "2.3.1", "4.1.1"):
        pom = ElementTree.fromstring(jars.pom_of(release_of(version)))
        found = pom.iter("{http://maven.apache.org/POM/4.0.0}dependency")
        names[version] = {one[1].text: one[2].text for one in found}
    assert names["0.10.2.2"]["kafka_2.11"] == "0.10.2.2"
    assert "jaxb-api" in names["0.10.2.2"]
    assert "zookeeper" not in names["0.10.2.2"]
    assert names["2.3.1"]["zookeeper"] == "3.4.10"
    assert "kafka-tools" not in names["4.1.1"]  # a server needs none, and 4.4 has none at Maven
    assert "reload4j" not in names["4.1.1"]


def jar(place: Path, version: str) -> Path:
    place.mkdir(parents=True, exist_ok=True)
    (place / f"kafka_2.13-{version}.jar").touch()
    (place / f"kafka_2.13-{version}-sources.jar").touch()
    return place


def found(tmp_path: Path, given: Path | None = None, **environ: str) -> tuple[Path, list[str]]:
    told: list[str] = []
    environ = {"XDG_CACHE_HOME": str(tmp_path / "cache"), **environ}
    return jars.find_jars(release_of("3.9.1"), given, environ, told.append), told


def test_a_directory_that_is_given_comes_first(tmp_path: Path) -> None:
    place = jar(tmp_path / "mine", "3.9.1")
    assert found(tmp_path, place, KAFKA_HOME="/nowhere")[0] == place
    assert found(tmp_path, jar(tmp_path / "home" / "libs", "3.9.1").parent)[0].name == "libs"


def test_a_directory_of_another_release_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"has Kafka 4\.1\.1, not 3\.9\.1"):
        found(tmp_path, jar(tmp_path / "mine", "4.1.1"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(LabError, match="has no jars of Kafka"):
        found(tmp_path, tmp_path / "empty")


def test_kafka_home_is_used_if_it_is_that_release(tmp_path: Path) -> None:
    home = jar(tmp_path / "home" / "libs", "3.9.1").parent
    assert found(tmp_path, KAFKA_HOME=str(home))[0] == home / "libs"


def test_the_cache_is_used_and_another_kafka_home_is_told(tmp_path: Path) -> None:
    cached = jar(tmp_path / "cache" / "highwater" / "kafka" / "3.9.1" / "libs", "3.9.1")
    home = jar(tmp_path / "home" / "libs", "4.1.1").parent
    place, told = found(tmp_path, KAFKA_HOME=str(home))
    assert place == cached
    assert told == ["KAFKA_HOME has Kafka 4.1.1, so it is not used."]


def maven(tmp_path: Path, script: str) -> str:
    program = tmp_path / "bin" / "mvn"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IEXEC)
    return str(program.parent)


def test_no_maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LabError, match="there is no Maven"):
        found(tmp_path)


def test_maven_brings_a_release_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = 'for a; do case $a in -DoutputDirectory=*) d=${a#*=};; esac; done; mkdir "$d"; '
    place = maven(tmp_path, script + 'touch "$d/kafka_2.13-3.9.1.jar"')
    monkeypatch.setenv("PATH", f"{place}:/usr/bin:/bin")
    libs, told = found(tmp_path)
    assert (libs / "kafka_2.13-3.9.1.jar").exists()
    assert len(told) == 1
    assert found(tmp_path) == (libs, [])
    assert [one.name for one in libs.parent.iterdir()] == ["libs"]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (
            "[ERROR] Could not find artifact org.apache.kafka:kafka_2.13:jar:3.9.1 in central",
            r"Maven finds no Kafka 3\.9\.1",
        ),
        ("[ERROR] Connection refused", "could not bring Kafka 3.9.1: Connection refused"),
        ("", "gave no reason"),
    ],
)
def test_maven_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, why: str) -> None:
    place = maven(tmp_path, f"echo '{said}'; exit 1")
    monkeypatch.setenv("PATH", f"{place}:/usr/bin:/bin")
    with pytest.raises(LabError, match=why):
        found(tmp_path)
    assert not (tmp_path / "cache" / "highwater" / "kafka" / "3.9.1").exists()
