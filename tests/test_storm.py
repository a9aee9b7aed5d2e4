"""The server's own storm: promises kept, the same story from the same seed, and no defence that
could be taken away unnoticed.  `python3 -m tests.storm --seeds 200` is the whole of it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from click.testing import CliRunner
from flask.sessions import SecureCookieSessionInterface
from itsdangerous import TimestampSigner
from socketio.packet import Packet

from app.admission import cpu_quota as accounts_module
from app.admission.connections import Gateway
from app.admission.cpu_quota import Accounts
from app.batch import computation
from app.batch import jobs as jobs_module
from app.batch.jobs import Jobs
from app.core import clock
from app.core.refusals import RequestError
from app.live.channel import JsonPacket
from app.live.questions import Client
from app.runs import replays as replays_module
from app.runs.replays import Replays
from app.server.security import Cookies
from app.storage.database import Database
from app.storage.saved import Store
from tests.conftest import THOROUGH
from tests.storm.__main__ import storm
from tests.storm.faults import FAULTS
from tests.storm.storm import play

pytestmark = pytest.mark.gate

Patch = pytest.MonkeyPatch
Removal = Callable[[Patch], None]


def test_one_seed_gives_one_story_and_keeps_every_promise() -> None:
    kinds = ("kill", "rows cut")
    one, two = play(7, kinds, 2), play(7, kinds, 2)
    assert one.story == two.story and one.faults and one.counts["saves"]
    assert one.broken == []


# -- without its defence every fault is noticed ----------------------------------------------------


def told_before_it_is_kept(patch: Patch) -> None:
    save = Store.save_scenario

    def lazily(self: Store, scenario: Any, owner: str = "") -> bool:
        world: Any = clock._clock

        def flush() -> None:
            world.sleep(1.0)
            save(self, scenario, owner)

        world.spawn("flush", flush, world.task.inside)
        return True

    patch.setattr(Store, "save_scenario", lazily)


def faults_of_the_database_pass(patch: Patch) -> None:
    patch.setattr(Database, "_told", lambda *_: contextlib.nullcontext())


def saves_that_failed_are_told_as_kept(patch: Patch) -> None:
    save = Store.save_scenario

    def careless(self: Store, scenario: Any, owner: str = "") -> bool:
        with contextlib.suppress(RequestError):
            return save(self, scenario, owner)
        return True

    patch.setattr(Store, "save_scenario", careless)


def the_library_asks_the_database(patch: Patch) -> None:
    patch.setattr(Replays, "saved", lambda self, digest: self._store.run(digest))


def others_wait_for_the_database(patch: Patch) -> None:
    using = Replays.using

    @contextlib.contextmanager
    def inside(self: Replays, digest: str) -> Iterator[Any]:
        with using(self, digest) as replay:
            self.saved(digest)
            yield replay

    patch.setattr(Replays, "using", inside)
    patch.setattr(replays_module, "PATIENCE_S", 0.05)


def damaged_rows_count(patch: Patch) -> None:
    for module in (computation, jobs_module):
        patch.setattr(module, "set_damaged_aside", lambda _directory, numbers: set(numbers))


def what_is_done_is_whole(patch: Patch) -> None:
    patch.setattr(Jobs, "_is_whole", lambda *_: True)


def trouble_with_spark_is_a_defect(patch: Patch) -> None:
    class NobodyError(Exception):
        """Is never raised."""

    for module in (computation, jobs_module):
        patch.setattr(module, "RunnerError", NobodyError)


def cookies_have_an_age(patch: Patch) -> None:
    patch.setattr(Cookies, "open_session", SecureCookieSessionInterface.open_session)
    patch.setattr(TimestampSigner, "get_timestamp", lambda _: int(clock.wall()))


def time_costs_nothing(patch: Patch) -> None:
    patch.setattr(Accounts, "require_time", lambda *_: None)
    patch.setattr(Client, "may", lambda *_: 0)


def questions_are_json(patch: Patch) -> None:
    patch.setattr(JsonPacket, "decode", Packet.decode)


def connections_are_not_counted(patch: Patch) -> None:
    patch.setattr(Gateway, "_place", lambda self, address: _counted(self, address))


@contextlib.contextmanager
def _counted(gateway: Gateway, address: str) -> Iterator[None]:
    gateway._of[address] += 1
    yield
    gateway._of[address] -= 1


def bodies_are_not_counted(patch: Patch) -> None:
    patch.setattr(accounts_module, "BODIES_BYTES", 1 << 40)
    patch.setattr(accounts_module, "HANDS", 1_000)


def saving_costs_nothing(patch: Patch) -> None:
    patch.setattr(Accounts, "keep", lambda *_: None)
    patch.setattr(Accounts, "take", lambda *_: None)


def studies_are_not_counted(patch: Patch) -> None:
    patch.setattr(Jobs, "_bound", lambda *_: None)
    patch.setattr(Accounts, "take", lambda *_: None)


def everything_is_everybodys(patch: Patch) -> None:
    patch.setattr(jobs_module, "_check_owner", lambda *_: None)


DEFENCES: dict[str, tuple[Removal, str]] = {
    "kill": (told_before_it_is_kept, "kept"),
    "locked": (faults_of_the_database_pass, "answered"),
    "full": (saves_that_failed_are_told_as_kept, "kept"),
    "read only": (saves_that_failed_are_told_as_kept, "kept"),
    "broken": (the_library_asks_the_database, "plays"),
    "slow": (others_wait_for_the_database, "plays"),
    "no Spark": (trouble_with_spark_is_a_defect, "answered"),
    "no room": (trouble_with_spark_is_a_defect, "answered"),
    "rows cut": (damaged_rows_count, "kept"),
    "rows changed": (damaged_rows_count, "kept"),
    "rows gone": (what_is_done_is_whole, "kept"),
    "clock": (cookies_have_an_age, "answered"),
    "attack by pages": (time_costs_nothing, "bounded"),
    "attack by silent": (connections_are_not_counted, "bounded"),
    "attack by bodies": (bodies_are_not_counted, "bounded"),
    "attack by builds": (time_costs_nothing, "bounded"),
    "attack by packets": (questions_are_json, "answered"),
    "attack by saves": (saving_costs_nothing, "bounded"),
    "attack by studies": (studies_are_not_counted, "bounded"),
    "attack by thefts": (everything_is_everybodys, "private"),
}


def test_every_fault_has_a_defence_to_take_away() -> None:
    assert DEFENCES.keys() == FAULTS.keys()


@pytest.mark.parametrize("kind", DEFENCES if THOROUGH else ["attack by thefts"])
def test_a_defence_that_is_taken_away_is_missed(kind: str, monkeypatch: Patch) -> None:
    remove, promise = DEFENCES[kind]
    remove(monkeypatch)
    seeds = range(5)
    assert any(promise in dict(play(seed, (kind,), 3).broken) for seed in seeds), kind


# -- the command ---------------------------------------------------------------------------------


def test_a_fault_that_is_none_is_named() -> None:
    told = CliRunner().invoke(storm, ["--faults", "rain"])
    assert told.exit_code == 2 and "There is no fault 'rain'" in told.output
