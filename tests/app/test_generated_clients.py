"""Clients that generators make of `/api/openapi.json`: each plays a loss, as the page shows it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from flask import Flask

import highwater as hw
from tests.app.test_programs import PAGE, serving

pytestmark = pytest.mark.night  # generators are installed, from PyPI and npm

NPM = "npm install --no-audit --no-fund openapi-typescript@7 openapi-fetch typescript@5 @types/node"
PYTHON = (
    f"{sys.executable} -m venv own",
    "own/bin/pip install -q openapi-python-client",
    "own/bin/openapi-python-client generate --path openapi.json",
)
TYPESCRIPT = (
    NPM,
    "npx openapi-typescript openapi.json -o highwater.d.ts",
    "npx tsc play.mts --noEmit --strict --allowImportingTsExtensions --target es2022 "
    "--module nodenext",
    "npx tsc play.mts --target es2022 --module nodenext --rewriteRelativeImportExtensions",
)


@pytest.mark.parametrize(
    ("language", "file", "install", "play"),
    [
        ("python", "play.py", PYTHON, "PYTHONPATH=highwater-client own/bin/python play.py"),
        ("typescript", "play.mts", TYPESCRIPT, "node play.mjs"),
    ],
)
def test_a_generated_client_plays_a_loss(
    app: Flask, tmp_path: Path, language: str, file: str, install: tuple[str, ...], play: str
) -> None:
    fence = rf"```{language} client\n(.*?)```"
    (program,) = re.findall(fence, PAGE.read_text("utf-8"), re.DOTALL)
    document = app.test_client().get("/api/openapi.json").json
    (tmp_path / "openapi.json").write_text(json.dumps(document))
    with serving(app) as address:
        (tmp_path / file).write_text(program.replace("localhost:8000", address))
        for command in (*install, play):
            done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True)
            assert done.returncode == 0, (command, done.stdout, done.stderr)
    run = hw.run("R20", kafka="0.10.2.2")
    assert "m1" in done.stdout and run.verdict in done.stdout
    assert done.stdout.splitlines()[-1] == run[137].said[0]
    if language == "python":
        models = list(tmp_path.glob("highwater-client/highwater_client/api/*/*_*.py"))
        routes = sum(len(methods) for methods in document["paths"].values())
        assert len([one for one in models if one.name != "__init__.py"]) == routes
