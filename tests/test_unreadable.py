"""A file of the library that is no scenario is missing, named, and harms no other."""

from __future__ import annotations

import shutil
from importlib import resources
from pathlib import Path

import pytest
from click.testing import CliRunner
from flask.testing import FlaskClient

from app.command.cli import main
from engine.model.errors import InputError
from engine.scenarios import file
from tests.app.conftest import app, client, empty_database, make_app, settings  # noqa: F401

pytestmark = pytest.mark.gate

BAD = {
    "broken-brackets.yaml": "title: [unclosed\nbrokers: 2\n",
    "broken-key.yaml": "title: Is it there?\nbrokres: 2\n",
    "broken-text.yaml": b"title: \xff\n",
}


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the library with three files that are no scenarios."""
    whole = file.library()
    place = tmp_path / "library"
    shutil.copytree(str(resources.files("engine.scenarios") / "library"), place)
    for name, text in BAD.items():
        (place / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    monkeypatch.setattr(file, "folder", lambda: place)
    own = file._shelf
    bad = own.__wrapped__()[1]
    # The good ones are the very same objects: what others made of them stays true.
    assert own.__wrapped__()[0] == whole
    monkeypatch.setattr(file, "_shelf", lambda: (whole, bad))
    return place


def test_the_command_names_them_and_lists_the_others(shelf: Path) -> None:
    answer = CliRunner().invoke(main, ["scenarios"])
    assert answer.exit_code == 1
    assert "S20" in answer.stdout
    told = answer.stderr.splitlines()
    assert [line.split(":")[1].strip() for line in told] == sorted(BAD)
    assert told[1].startswith("Left out: broken-key.yaml:2:1: ") and "brokres" in told[1]


def test_another_scenario_is_played_and_a_broken_one_says_why(shelf: Path) -> None:
    assert CliRunner().invoke(main, ["run", "S30", "--profile", "K41"]).exit_code == 0
    with pytest.raises(InputError, match="brokres"):
        file.find("broken-key")


def test_the_first_page_names_them_and_shows_the_others(
    shelf: Path,
    client: FlaskClient,  # noqa: F811
) -> None:
    for address in ("/", "/scenarios"):
        page = client.get(address)
        assert page.status_code == 200
        assert "broken-key.yaml:2:1" in page.text
    assert all(f"/s/{slug}" in page.text for slug in list(file.library())[:20])
    assert client.get("/s/S20").status_code == 200
    assert client.get("/s/broken-key").status_code == 404
