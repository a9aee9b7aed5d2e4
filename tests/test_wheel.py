"""The wheel: one package, which works in a folder that holds modules of the same names."""

from __future__ import annotations

import ast
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import urllib.request
from pathlib import Path

import pytest

import highwater as hw
from app.batch.runners.java import find_java
from app.batch.runners.spark import LEAN_JAVA
from tests.spark_cluster import Cluster

pytestmark = pytest.mark.gate

ROOT = Path(__file__).resolve().parent.parent
PAGES = "/ /scenarios /edit /cluster /glossary /batch /advisor /s/S20 /static/brand.svg /health"

NOT_SOURCE = shutil.ignore_patterns(
    ".git", ".venv", ".*_cache", "build", "instance", "node_modules", "tests", "*.egg-info"
)
USER = ROOT / "tests/data/library_user.py"
PYRIGHT = ROOT / "node_modules/pyright/index.js"
URL = re.compile(rb"http://\S+")
HOSTILE = ("app.py", "engine/__init__.py", "static/__init__.py", "tests/__init__.py")

SERVED = """
import sys
from highwater import app
from highwater.app.core import config

client = app.create_app(config.load({}, instance="instance")).test_client()
for page in sys.argv[1:]:
    print(client.get(page, follow_redirects=True).status_code, page)
"""
IMPORTED = """
import pickle, sys
import highwater as hw

run = hw.run("S30", "K39")
assert pickle.loads(pickle.dumps(run)) == run
print(run.digest, run.lost, len(hw.study("S74", runs=3)))
print(sorted({name.split(".")[0] for name in sys.modules} & {"app", "engine", "tests"}))
"""
STUDIED = """
import hashlib, sys
from pyspark.sql import SparkSession
import highwater as hw

def versions(batches):
    import highwater, pyarrow
    for batch in batches:
        yield pyarrow.RecordBatch.from_pydict({"known": [len(highwater.versions())]})

builder = SparkSession.builder.master(sys.argv[1]).config("spark.ui.enabled", "false")
session = builder.config("spark.driver.host", "127.0.0.1").getOrCreate()
study = hw.study("S74", runs=60, kafka="0.10.2.2", spark=session)
print(hashlib.sha256(study.canonical().encode()).hexdigest(), study.df()["acked_lost"].sum())
if sys.argv[1].startswith("local"):
    print(session.range(1).mapInArrow(versions, "known bigint").first().known)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an environment with the wheel, and what it requires."""
    place = tmp_path_factory.mktemp("wheel")
    shutil.copytree(ROOT, place / "source", ignore=NOT_SOURCE)
    pip = [sys.executable, "-m", "pip", "--quiet"]
    ready(*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", str(place), f"{place}/source")
    (wheel,) = place.glob("highwater-*.whl")
    environment = place / "environment"
    ready(sys.executable, "-m", "venv", "--without-pip", str(environment))
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "required.pth").write_text(sysconfig.get_path("purelib"))
    python = str(environment / "bin" / "python")
    ready(*pip, "--python", python, "install", "--no-deps", "--no-index", str(wheel))
    return environment


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """Return a folder of modules that end a program, named as the packages of the tree."""
    for name in HOSTILE:
        path = tmp_path / "hostile" / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text("raise SystemExit('not a module of Highwater')")
    return tmp_path / "hostile"


def surroundings(environment: Path) -> dict[str, str]:
    """Return variables that know nothing of the tree; the user's data lie in the environment."""
    own = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return {**own, "XDG_DATA_HOME": str(environment)}


def ready(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def printed(environment: Path, place: Path, program: str, *arguments: str, **variables: str) -> str:
    """Run a program of the environment in a folder, and return what it prints."""
    done = subprocess.run(
        [str(environment / "bin" / program), *arguments],
        cwd=place,
        env=surroundings(environment) | variables,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_everything_lies_below_one_package(installed: Path) -> None:
    (packages,) = installed.glob("lib/python*/site-packages")
    names = {re.sub(r"-.*", "", path.name) for path in packages.iterdir()}
    assert names == {"highwater", "required.pth"}
    for top in ("app", "engine"):
        missing = modules(ROOT / top) - modules(packages / "highwater" / top)
        assert missing == {Path("__main__.py")} & missing
    for path in (packages / "highwater").rglob("*.py"):
        assert not imported(path) & {"app", "engine", "static", "templates", "tests"}, path


@pytest.mark.night
def test_a_wheel_without_a_compiled_engine_is_noticed(installed: Path, tmp_path: Path) -> None:
    command = [str(installed / "bin" / "python"), str(ROOT / "tests/installed_engines.py")]
    done = subprocess.run(
        command, cwd=tmp_path, env=surroundings(installed), capture_output=True, text=True
    )
    assert done.returncode == 1 and "HIGHWATER_COMPILE=1" in done.stderr


def modules(folder: Path) -> set[Path]:
    """Return the Python files below a folder, without the package that lies above it in a wheel."""
    found = {path.relative_to(folder) for path in folder.rglob("*.py")}
    return {path for path in found if "highwater" not in path.parts}


def imported(path: Path) -> set[str]:
    """Return the first names of what a source imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom):
            found.add((node.module or "").split(".")[0])
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
    return found


def test_it_is_imported_beside_modules_of_the_same_names(installed: Path, hostile: Path) -> None:
    run = hw.run("S30", "K39")
    told = printed(installed, hostile, "python", "-c", IMPORTED)
    assert told == f"{run.digest} {run.lost} 3\n[]\n"


@pytest.mark.night
def test_a_program_passes_strict_type_checkers(installed: Path, hostile: Path) -> None:
    """And what the package does not have is an error to them."""
    program = hostile / "program.py"
    text = USER.read_text("utf-8")
    mypy = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", "mypy"]
    mypy += ["--python-executable", str(installed / "bin" / "python"), str(program)]
    pyright = [
        "node",
        str(PYRIGHT),
        "--pythonpath",
        str(installed / "bin" / "python"),
        str(program),
    ]
    assert PYRIGHT.exists(), "npm ci installs it"
    for checker in (mypy, pyright):
        for line, errors in (("", 0), ("run[0].nothing\nhw.nothing\n", 2)):
            program.write_text(f"{text}\n{line}")
            done = subprocess.run(checker, cwd=hostile, capture_output=True, text=True)
            assert done.stdout.count("error:") == errors, done.stdout + done.stderr
    program.write_text(text)
    assert "10 15\n" in printed(installed, hostile, "python", "program.py")


@pytest.mark.night
def test_its_command_plays_and_stores_results_for_every_folder(
    installed: Path, hostile: Path, tmp_path: Path
) -> None:
    played = hw.run("S30", "K39").export("golden")
    run = ("run", "S30", "--profile", "K39", "--export", "golden")
    assert printed(installed, hostile, "highwater", *run).strip() == played.strip()
    assert printed(installed, hostile, "python", "-P", "-m", "highwater", *run).strip()
    told = printed(installed, hostile, "highwater", "batch", "S74", "--runs", "4")
    assert "of 4 runs" in told
    counted = ("query", "select count(distinct seed) from runs")
    assert printed(installed, tmp_path, "highwater", *counted).split()[-1] == "4"
    assert {path.name for path in hostile.iterdir()} == {Path(name).parts[0] for name in HOSTILE}


@pytest.mark.night
def test_it_serves_every_page(installed: Path, hostile: Path) -> None:
    pages = PAGES.split()
    told = printed(installed, hostile, "python", "-c", SERVED, *pages)
    assert told.splitlines() == [f"200 {page}" for page in pages]


@pytest.mark.night
def test_a_tab_gets_the_package_under_its_own_name(installed: Path, hostile: Path) -> None:
    archive = "archive = archives.engine_archive().data; Path('tab.zip').write_bytes(archive)"
    written = f"from pathlib import Path; from highwater.app.site import archives; {archive}"
    printed(installed, hostile, "python", "-c", written)
    shutil.unpack_archive(hostile / "tab.zip", hostile / "tab")
    asked = (
        "from highwater.app.site import tab_session as tab; tab.TabSession(); print(tab.__file__)"
    )
    alone = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:1] = ['tab']; {asked}"],
        cwd=hostile,
        capture_output=True,
        text=True,
    )
    assert alone.stdout.endswith("/tab/highwater/app/site/tab_session.py\n"), alone.stderr


@pytest.mark.night
def test_its_server_answers(installed: Path, hostile: Path) -> None:
    command = [str(installed / "bin" / "highwater"), "serve", "--port", "0"]
    own = surroundings(installed)
    with subprocess.Popen(command, cwd=hostile, env=own, stdout=subprocess.PIPE) as server:
        try:
            address = next(found[0] for line in server.stdout or () if (found := URL.search(line)))
            with urllib.request.urlopen(address.decode(), timeout=60) as answer:
                assert b"Kafka" in answer.read()
        finally:
            server.terminate()


@pytest.mark.night
def test_an_exported_test_needs_nothing_but_the_package(installed: Path, hostile: Path) -> None:
    (hostile / "test_run.py").write_text(hw.run("S30", "K39").export("pytest"))
    assert "1 passed" in printed(installed, hostile, "python", "-m", "pytest", "test_run.py")


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a Python that has PyArrow and nothing else."""
    place = tmp_path_factory.mktemp("bare")
    ready(sys.executable, "-m", "venv", "--without-pip", str(place))
    (packages,) = place.glob("lib/python*/site-packages")
    (packages / "pyarrow").symlink_to(Path(sysconfig.get_path("purelib")) / "pyarrow")
    return place / "bin" / "python"


@pytest.mark.night
@pytest.mark.spark
def test_a_study_sends_the_engine_to_a_cluster(installed: Path, hostile: Path, bare: Path) -> None:
    """Its executors have no Highwater; on this machine they do, and still find all of it."""
    study = hw.study("S74", runs=60, kafka="0.10.2.2")
    rows = hashlib.sha256(study.canonical().encode()).hexdigest()
    told = f"{rows} {study.df()['acked_lost'].sum()}\n"
    asked = ("python", "-c", STUDIED)
    java = {"JAVA_HOME": str(find_java().home), "JDK_JAVA_OPTIONS": LEAN_JAVA}
    with Cluster(workers=1) as machines:
        there = {**java, "PYSPARK_PYTHON": str(bare), "SPARK_LOCAL_IP": "127.0.0.1"}
        assert printed(installed, hostile, *asked, machines.master, **there) == told
    here = printed(installed, hostile, *asked, "local[1]", **java)
    assert here == f"{told}{len(hw.versions())}\n"
