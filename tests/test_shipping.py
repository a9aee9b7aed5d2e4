"""What is shipped: the lock agrees with pyproject.toml, containers have no more than they need."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from app import bootstrap

ROOT = Path(__file__).resolve().parent.parent


def uv(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "uv", *words, "--offline", "--quiet", "--no-config"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def lock() -> list[dict[str, Any]]:
    with (ROOT / "uv.lock").open("rb") as file:
        found: list[dict[str, Any]] = tomllib.load(file)["package"]
    return found


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
    return found


def test_the_lock_agrees_with_what_is_asked_for() -> None:
    answer = uv("lock", "--check")
    assert answer.returncode == 0, f"{answer.stderr}\nThis makes it anew: make lock"


def test_every_file_that_is_locked_has_a_hash() -> None:
    packages = lock()
    for package in packages:
        if package["source"] == {"editable": "."}:
            continue
        files = [*package.get("wheels", []), *filter(None, [package.get("sdist")])]
        assert files and all(file["hash"].startswith("sha256:") for file in files), package["name"]
    assert {"flask", "psycopg", "pyspark"} <= {package["name"] for package in packages}


def test_the_container_installs_by_the_lock() -> None:
    text = (ROOT / "Dockerfile").read_text("utf-8")
    assert re.findall(r"\buv==\S+", text) == [bootstrap.locked()]
    syncs = re.findall(r"uv sync .*", text)
    assert len(syncs) == 2 and all("--locked" in one for one in syncs)
    assert text.index("\nUSER highwater") < text.index("\nCMD")
    assert "\nHEALTHCHECK" in text


def test_container_sources_are_all_that_a_wheel_needs() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)
    needed = {"app", "engine", "static", "templates", "setup.py"}
    text = (ROOT / "Dockerfile").read_text("utf-8")
    copied = {word for line in re.findall(r"\nCOPY (\w.*)", text) for word in line.split()[:-1]}
    let_in = re.findall(r"^!(\S+)", (ROOT / ".dockerignore").read_text("utf-8"), re.MULTILINE)
    assert copied == set(let_in)
    assert needed | {"pyproject.toml", "uv.lock", project["project"]["readme"]} <= copied


@pytest.mark.parametrize("name", ["highwater", "proxy", "database"])
def test_a_service_can_write_only_where_it_must(name: str) -> None:
    service = compose()["services"][name]
    assert service["read_only"] is True
    assert "no-new-privileges:true" in service["security_opt"]
    assert service["restart"] == "unless-stopped"


def test_only_the_proxy_can_be_reached() -> None:
    services = compose()["services"]
    assert services["proxy"]["network_mode"] == "service:highwater"
    assert services["highwater"]["environment"]["HIGHWATER_HOST"] == "127.0.0.1"
    assert services["highwater"]["environment"]["HIGHWATER_PROXIES"] == "1"
    assert services["database"]["networks"] == ["inside"]
    assert compose()["networks"]["inside"] == {"internal": True}
    listens = re.findall(r"listen (\d+)", (ROOT / "docs/nginx.conf").read_text("utf-8"))
    assert services["highwater"]["ports"] == [f"{port}:{port}" for port in listens]
    assert "ports" not in services["proxy"] and "ports" not in services["database"]


def test_packages_of_the_container_can_be_listed() -> None:
    answer = uv("export", "--locked", "--extra", "postgres", "--format", "cyclonedx1.5")
    told = json.loads(answer.stdout)
    assert told["bomFormat"] == "CycloneDX"
    named = {part["name"]: part for part in told["components"]}
    assert {"flask", "psycopg", "gunicorn"} <= set(named) and "pytest" not in named
    assert named["flask"]["purl"].startswith("pkg:pypi/flask@")
    assert named["flask"]["externalReferences"][0]["hashes"][0]["alg"] == "SHA-256"


def test_wheels_are_compiled_for_every_python_and_play_both_engines() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        told = tomllib.load(file)
    wheels = told["tool"]["cibuildwheel"]
    oldest = told["project"]["requires-python"].removeprefix(">=").replace(".", "")
    assert wheels["build"][0] == f"cp{oldest}-*"
    assert wheels["environment"] == {"HIGHWATER_COMPILE": "1"}
    checked = wheels["test-command"].removeprefix("python {project}/")
    assert (ROOT / checked).is_file()
