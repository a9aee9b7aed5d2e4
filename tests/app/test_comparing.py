"""The pages that set profiles side by side."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from app.server.services import Services
from engine.model import configs
from engine.model.profiles import GENERATIONS
from engine.scenarios import file
from engine.sim.run import Run

pytestmark = pytest.mark.quick


@pytest.fixture
def digest(services: Services) -> str:
    return services.replays.register(Run(file.find("R20"), "Z0102"))


def test_compare_answers_for_the_profile_that_is_asked(client: FlaskClient, digest: str) -> None:
    answer = client.get(f"/r/{digest}/compare.json?with=K39")
    assert answer.json["a"]["profile"] == "Z0102" and answer.json["b"]["profile"] == "K39"
    assert answer.json["pairs"][0] == [0, 0]
    again = client.get(
        f"/r/{digest}/compare.json?with=K39", headers={"If-None-Match": answer.headers["ETag"]}
    )
    assert again.status_code == 304
    other = answer.json["b"]["digest"]
    assert client.get(f"/r/{other}/steps.json").json["ok"], "the page asks for its steps"


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_names_both(client: FlaskClient, digest: str, lang: str) -> None:
    page = client.get(f"/r/{digest}/compare?with=Z011&lang={lang}").text
    assert "Z0102" in page and 'value="Z011" selected' in page
    shown = re.sub(r"(?s)<script.*?</script>|href=\S+|src=\S+", "", page)
    assert "compare." not in shown


def test_incomparable_runs_get_one_sentence(client: FlaskClient, digest: str) -> None:
    assert client.get(f"/r/{digest}/compare.json?with=K99").status_code == 400
    assert client.get(f"/r/{digest}/compare?with={'0' * 16}").status_code in (404, 410)
    assert client.get("/r/nonsense/compare").status_code == 404


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_ladder_has_a_rung_for_every_generation(client: FlaskClient, lang: str) -> None:
    page = client.get(f"/s/R20/ladder?lang={lang}").text
    rungs = re.findall(
        r'<th scope="row" title="(\w+)"><a href="/r/([0-9a-f]{16})\?step=\d+">([^<]+)</a>', page
    )
    assert [name for name, _, _ in rungs] == list(GENERATIONS)
    assert [told for _, _, told in rungs] == [one.stands_for for one in GENERATIONS.values()]
    assert page.count("✖") == 3, "three generations cut to the high watermark"
    assert "ladder." not in re.sub(r"(?s)<script.*?</script>|href=\S+|src=\S+", "", page)
    assert client.get(f"/r/{rungs[0][1]}").status_code == 200


def test_a_rung_that_cannot_begin_is_left_out_with_a_word(
    client: FlaskClient, services: Services
) -> None:
    own = file.load_text(
        "title: Patient\nconfigs: {replica.fetch.wait.max.ms: 15000}\nscript: produce a\n"
    )
    services.store.save_scenario(own, "")
    page = client.get(f"/s/{own.digest}/ladder").text
    old = sum(configs.build(one).lag_time_max_ms < 15_000 for one in GENERATIONS.values())
    assert page.count("Not played: a cluster of this release does not start") == old > 0
    assert page.count('<th scope="row" title=') == len(GENERATIONS)
    assert (
        len(re.findall(r'<th scope="row" title="\w+"><a href="/r/', page)) == len(GENERATIONS) - old
    )


def test_a_ladder_is_made_of_scripts(client: FlaskClient, services: Services) -> None:
    own = file.find("S61").vary("duration_ms", 5000).named("")
    services.store.save_scenario(own, "")
    answer = client.get(f"/s/{own.digest}/ladder")
    assert answer.status_code == 409 and "workload" in answer.text
