"""The page of the last storm."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest
from flask import Flask

from app.storm.faults import FAULTS
from app.web import survived
from tests.app.conftest import browser


@pytest.mark.parametrize(("lang", "said"), [("en", "Survived "), ("zh-Hans", "经受住了")])
def test_the_page_tells_what_was_survived(app: Flask, lang: str, said: str) -> None:
    page = browser(app).get(f"/storm?lang={lang}").text
    assert said in page
    assert not any(f"storm.{part}" in page for part in ("fault", "promise", "said", "why"))


def test_the_page_is_of_a_storm_without_a_broken_promise() -> None:
    path = Path(survived.__file__).parents[2] / "static" / survived.STORED
    stored = orjson.loads(path.read_bytes())
    assert stored["faults"].keys() <= FAULTS.keys(), "highwater storm --out static/storm.json"
    assert stored["broken"] == []
