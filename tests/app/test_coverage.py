"""The intervals of pages on known truths; and that the measure sees a rule that does not hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from flask import Flask

from app.batch import intervals, statistics
from app.web.coverage import BAR, STORED
from tests import coverage
from tests.app.conftest import browser

STATIC = Path(__file__).parents[2] / "static" / STORED


@pytest.mark.night
def test_every_interval_holds_and_the_page_tells_it(tmp_path: Path) -> None:
    out = tmp_path / "coverage.json"
    found = CliRunner().invoke(coverage.main, ["--out", str(out)])
    assert found.exit_code == 0, found.output
    told = json.loads(out.read_text())
    assert {one["interval"] for one in told["cases"]} == {
        "count", "growing", "table", "difference", "weighted", "cycles", "stopped"}  # fmt: skip
    assert min(one["coverage"] for one in told["cases"]) >= BAR
    stored = json.loads(STATIC.read_text())
    assert stored["repetitions"] >= 2_000
    assert cases_of(stored) == cases_of(told), (
        "python3 -m tests.coverage --out static/coverage.json"
    )


def cases_of(found: dict[str, Any]) -> list[tuple[str, str, int]]:
    return sorted((one["interval"], one["truth"], one["n"]) for one in found["cases"])


def test_a_rule_that_misses_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ends of a normal distribution, as books have them for large counts."""

    def naive(hits: Any, n: Any, alpha: float = 0.05) -> tuple[Any, Any]:
        share = np.asarray(hits) / n
        half = 1.96 * np.sqrt(share * (1 - share) / n)
        return share - half, share + half

    monkeypatch.setattr(intervals, "exact", naive)
    statistics._worked_out.cache_clear()
    try:
        assert coverage.worst(coverage.measured(200)).coverage < 0.9
    finally:
        statistics._worked_out.cache_clear()  # other tests ask for the right ends


def test_the_page_shows_the_worst_first(app: Flask) -> None:
    for lang, said in (
        ("en", "How often is our 95 % right?"),
        ("zh", "我们的 95 % 有多常是对的？"),
    ):
        page = browser(app).get(f"/coverage?lang={lang}").text
        assert said in page and "coverage." not in page.split("<main")[1].split("</main")[0]
