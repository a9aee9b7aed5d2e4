"""Settings, database, limits and the first start."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from app import bootstrap
from app.admission.rates import Bucket, Buckets
from app.core import config
from app.core.config import SettingError
from app.storage.database import Database, newest
from app.storage.models import Base, ScenarioRow
from tests import __main__ as checks
from tests import reference
from tests.conftest import ROOT

pytestmark = pytest.mark.quick


def test_settings_have_defaults_and_come_from_the_environment(tmp_path: Path) -> None:
    found = config.load({"HIGHWATER_PORT": "9000"}, instance=tmp_path)
    assert found.port == 9000
    assert found.host == "127.0.0.1"
    assert found.database_url == f"sqlite:///{tmp_path / 'highwater.db'}"
    assert found.secret_key not in repr(found)


def test_the_signing_key_survives_a_restart_and_is_private(tmp_path: Path) -> None:
    first = config.load({}, instance=tmp_path)
    assert config.load({}, instance=tmp_path).secret_key == first.secret_key
    assert (tmp_path / "secret_key").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HIGHWATER_PORT", "eighty"),
        ("HIGHWATER_PORT", "70000"),
        ("HIGHWATER_MOVES_PER_S", "0"),
        ("HIGHWATER_MOVES_PER_S", "nan"),
        ("HIGHWATER_LIVE_RUNS", "-1"),
    ],
)
def test_a_bad_setting_is_named(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(SettingError, match=name):
        config.load({name: value}, instance=tmp_path)


def test_an_instance_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingError, match="HIGHWATER_INSTANCE"):
        config.load({}, instance=tmp_path / "file" / "below")


@pytest.mark.parametrize("name", reference.PAGES)
def test_reference_pages_are_those_of_the_declarations(name: str) -> None:
    written = (reference.FOLDER / name).read_text("utf-8")
    assert written == reference.PAGES[name](), "python3 -m tests.reference writes them"


def test_every_setting_is_in_the_help() -> None:
    table = config.table()
    assert all(setting.name in table for setting in config.SETTINGS)


def test_the_readme_is_short_and_its_links_lead_somewhere() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.splitlines()) <= 120
    assert all(len(line) <= 120 for line in readme.splitlines() if not line.startswith("|"))
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.relative_to(ROOT)}: {target}"


def test_migrations_make_what_the_models_say(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'new.db'}")
    database.migrate()
    database.migrate()
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []
        modes = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "foreign_keys", "busy_timeout")
        ]
    assert modes == ["wal", 1, 15000]
    database.close()


def test_a_failed_transaction_leaves_nothing(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'new.db'}")
    database.migrate()
    with pytest.raises(ZeroDivisionError), database.writing() as session:
        session.add(ScenarioRow(digest="a" * 16, text="{}", engine_version=1))
        session.flush()
        raise ZeroDivisionError
    with database.reading() as session:
        assert session.get(ScenarioRow, "a" * 16) is None
    database.close()


@pytest.mark.parametrize("url", ["no address", "oracle+oracledb://nowhere/none"])
def test_a_database_that_cannot_be_used_is_told_in_a_sentence(url: str) -> None:
    with pytest.raises(SettingError, match="HIGHWATER_DATABASE_URL"):
        Database(url)


def test_a_damaged_database_is_told_in_a_sentence(tmp_path: Path) -> None:
    path = tmp_path / "damaged.db"
    path.write_text("this is not a database, " * 100)
    database = Database(f"sqlite:///{path}")
    with pytest.raises(SettingError, match="database"):
        database.migrate()
    database.close()


def test_the_newest_revision_is_the_one_that_alembic_upgrades_to(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'empty.db'}")
    database.migrate()
    with database.engine.connect() as connection:
        assert MigrationContext.configure(connection).get_current_revision() == newest()
    database.close()


def test_a_database_of_a_later_version_is_told_in_a_sentence(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'later.db'}")
    database.migrate()
    with database.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(SettingError, match="newer"):
        database.migrate()
    database.close()


def test_a_bucket_holds_a_burst_and_fills_again() -> None:
    now = [0.0]
    bucket = Bucket(rate=2, burst=3, clock=lambda: now[0])
    assert [bucket.take() for _ in range(4)] == [0, 0, 0, 500]
    now[0] += 0.5
    assert bucket.take() == 0
    now[0] += 100
    assert [bucket.take() for _ in range(4)] == [0, 0, 0, 500]


def test_buckets_forget_the_longest_unused() -> None:
    buckets = Buckets(rate=0.001, burst=1, most=2)
    assert buckets.take("a") == 0
    assert buckets.take("a") > 0
    assert buckets.take("b") == 0
    assert buckets.take("c") == 0
    assert buckets.take("a") == 0, "a was forgotten when c came"


@pytest.mark.parametrize(
    ("version", "clauses", "right"),
    [
        ("3.1.3", ">=3.1,<4", True),
        ("3.1", ">=3.1,<4", True),
        ("4.0.0", ">=3.1,<4", False),
        ("2.0.39", ">=2.0.40,<3", False),
        ("21.0.8.2", "==21.0.8.2", True),
        ("4.3.0", "==4.3", True),
        ("1.2", "", True),
        ("1.2", "about 1", False),
        ("1.4.9", "~=1.4.2", True),
        ("1.5.0", "~=1.4.2", False),
    ],
)
def test_versions_are_compared(version: str, clauses: str, right: bool) -> None:
    assert bootstrap.fits(version, clauses) is right


def test_here_nothing_is_lacking_and_elsewhere_it_is_noticed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert bootstrap.lacking("test") == []
    monkeypatch.setattr(bootstrap, "requirements", lambda _: ["no-such-thing>=1", "flask>=99"])
    assert bootstrap.lacking() == ["no-such-thing>=1", "flask>=99"]


@pytest.mark.parametrize(("ci", "code", "said"), [("true", 1, "Failed: "), ("", 0, "Left out: ")])
def test_skipped_checks_fail_where_they_are_required(
    ci: str,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(bootstrap, "ensure", lambda *what, **extra: None)
    monkeypatch.setattr(checks, "ensure_programs", lambda: None)
    monkeypatch.setattr(checks, "passes", lambda command, second, out: (True, 0.0))
    monkeypatch.setattr(bootstrap, "add", lambda extra: False)
    monkeypatch.setattr(checks.shutil, "which", lambda name: None)
    monkeypatch.setattr(sys, "argv", ["tests"])
    monkeypatch.setenv("CI", ci)
    monkeypatch.setenv("HIGHWATER_TEST_SHARED", "")  # `main` names a folder that it removes
    assert checks.main() == code
    told = "".join(capsys.readouterr())
    assert f"{said}node is not installed" in told
    assert "All checks passed." not in told


def test_the_first_start_needs_nothing_but_python() -> None:
    told = subprocess.run(
        [sys.executable, "-I", "-S", "-c", _NOTHING_INSTALLED],
        env={**os.environ, "ROOT": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert told.stdout.split() == ["flask", "missing"], told.stderr


_NOTHING_INSTALLED = """
import os, sys
sys.path.insert(0, os.environ["ROOT"])
import app, app.bootstrap, tests.__main__
assert not {"flask", "click", "sqlalchemy"} & set(sys.modules)
print("flask", "missing" if any(r.startswith("flask>") for r in app.bootstrap.lacking()) else "")
"""


def test_an_installed_package_keeps_results_in_the_users_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert config.read({}).instance == config.ROOT / "instance", "of a checkout"
    monkeypatch.setattr(bootstrap, "is_checkout", lambda: False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    for system, environ, expected in (
        ("linux", {}, ".local/share"),
        ("linux", {"XDG_DATA_HOME": str(tmp_path / "data")}, "data"),
        ("darwin", {}, "Library/Application Support"),
        ("win32", {}, "AppData/Local"),
        ("win32", {"LOCALAPPDATA": str(tmp_path / "local")}, "local"),
    ):
        monkeypatch.setattr(sys, "platform", system)
        assert config.read(environ).instance == tmp_path / expected / "highwater"
    assert list(tmp_path.iterdir()) == [], "nothing is made by reading"
