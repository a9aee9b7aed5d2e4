"""Page of what was found here: its findings, and the runs that it counts."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from app.hunt.pages import played
from engine.hunt.breaks import KINDS
from engine.hunt.findings import FINDINGS, HuntFinding
from engine.hunt.storms import NAMES
from tests.test_controllers import RECORDINGS as CONTROLLERS
from tests.test_tiered import RECORDINGS, read


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_each_finding_has_a_story_a_proof_and_a_report(client: FlaskClient, lang: str) -> None:
    page = client.get(f"/found?lang={lang}").get_data(as_text=True)
    assert "found." not in re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    for one in FINDINGS:
        assert f'id="{one.code}"' in page
        assert f'href="/s/{one.scenario.slug}"' in page
        assert all(f"**{part}" in one.report for part in ("Summary", "Steps", "Source"))


@pytest.mark.parametrize(
    "one", [one for one in FINDINGS if one.code != "S86"], ids=lambda f: f.code
)
def test_a_finding_logs_what_the_page_says(one: HuntFinding) -> None:
    """The recordings are of the releases that it names; S86 is one of those at /real."""
    found = [read(path) for path in RECORDINGS + CONTROLLERS]
    own = [recording for recording in found if recording["code"] == one.code]
    assert tuple(sorted(recording["release"] for recording in own)) == one.played
    parts = [re.sub(r"[\[\]()]", ".", part) for part in re.split("…", one.said)]
    pattern = ".*".join(parts)
    assert all(any(re.search(pattern, line) for line in recording["said"]) for recording in own)


def test_every_counted_break_is_explained() -> None:
    codes = {one.code for one in FINDINGS} | {kind.name for kind in KINDS if not kind.finding}
    assert {row["storm"] for row in played()["storms"]} == set(NAMES)
    for row in played()["storms"]:
        assert set(row["kinds"]) <= codes
        assert bool(row["hits"]) == bool(row["kinds"])
    assert {kind.finding for kind in KINDS} <= codes | {""}
    assert len(played()["hidden"]) >= 10
