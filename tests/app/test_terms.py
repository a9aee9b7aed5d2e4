"""The words of the Chinese pages are those of docs/reference/terms.zh-Hans.md."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from engine.scenarios.file import library
from tests.conftest import ROOT, sample

pytestmark = pytest.mark.quick

TABLE = ROOT / "docs/reference/terms.zh-Hans.md"
NOT_AN_OFFSET = "高水位移动"
"""Where two words meet and look like a third one."""
PAGES = (
    "/", "/glossary", "/learn", "/interview", "/interview/sheet", "/claims", "/levels",
    "/cluster", "/batch", "/advisor", "/edit", "/edit/S61", "/code", "/s/R20/ladder",
    "/s/no-such-scenario",
)  # fmt: skip


@cache
def foreign() -> dict[str, str]:
    """What is not said -> what is."""
    rows = re.findall(r"^\| (\S+) \| ([^|]+) \|", TABLE.read_text("utf-8"), re.M)
    return {word: instead for word, instead in rows if word != "不要"}


def found(text: str) -> list[str]:
    text = text.replace(NOT_AN_OFFSET, "")
    return [f"{word} → {instead}" for word, instead in foreign().items() if word in text]


SEARCHED = ROOT / "app" / "find" / "synonyms.yaml"
"""Words that visitors type, foreign renderings included; no page shows them."""


def written() -> Iterator[Path]:
    """Every file that people read in Chinese."""
    for folder in ("engine", "static/i18n", "templates", "app", "static/js"):
        for path in (ROOT / folder).rglob("*"):
            if path != SEARCHED and path.suffix in (".json", ".yaml", ".html", ".py", ".js"):
                yield path


def test_the_table_is_read() -> None:
    assert foreign()["追随者"] == "Follower"
    assert len(foreign()) > 10
    assert found("每一任领导者都有纪元") == ["领导者 → Leader", "纪元 → epoch, leader epoch"]
    assert found(NOT_AN_OFFSET) == []


def test_no_catalogue_holds_a_foreign_rendering() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{n}: {one}"
        for path in written()
        for n, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        for one in found(line)
    ]
    assert wrong == []


@pytest.mark.parametrize("path", PAGES)
def test_no_page_shows_one(client: FlaskClient, path: str) -> None:
    assert found(client.get(f"{path}?lang=zh").text) == []


def test_no_scenario_shows_one(client: FlaskClient) -> None:
    for code in sample(sorted(one.code for one in library().values()), 12):
        assert found(client.get(f"/s/{code}?lang=zh&plain=1").text) == [], code
