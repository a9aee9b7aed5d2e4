"""Recordings for the stage: every moment beside the script as it is written."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from engine.recordings.reading import own
from tests.conftest import sample


def moments(client: FlaskClient, path: str) -> dict[str, object]:
    answer = client.get(path)
    assert answer.status_code == 200, path
    return answer.get_json()


@pytest.mark.parametrize("recording", sample(own(), 4), ids=lambda one: one.name)
def test_every_difference_says_why(client: FlaskClient, recording) -> None:
    path = f"/s/{recording.scenario}/real/{recording.kafka}/moments.json"
    told = moments(client, path)
    found = told["moments"]
    steps = [one["step"] for one in found]
    assert steps == sorted(steps)
    assert len(found) == len(recording.steps)
    assert all(row["why"] for one in found for row in one["differ"])
    assert sum(one["of"] for one in found) > 150


def test_differences_from_the_run_are_worded_in_both_languages(client: FlaskClient) -> None:
    path = "/s/R20/real/0.10.2.2/moments.json"
    found = moments(client, path)
    assert found["lost"] == ["m1"]
    [wrong] = [one for one in found["moments"] if one["differ"]]
    assert wrong["move"] == "restart 2"
    first = wrong["differ"][0]
    assert (first["broker"], first["key"], first["real"], first["model"]) == ("2", "LEO", "2", "0")
    assert "another order" in first["why"]
    chinese = moments(client, path + "?lang=zh")["moments"][wrong_at(found)]["differ"][0]["why"]
    assert "顺序" in chinese


def wrong_at(found) -> int:
    return next(n for n, one in enumerate(found["moments"]) if one["differ"])


def test_nothing_else_is_there(client: FlaskClient) -> None:
    assert client.get("/s/R20/real/9.9.9/moments.json").status_code == 404
    assert client.get("/s/S01/real/4.1.1/moments.json").status_code == 404
