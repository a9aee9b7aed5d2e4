"""Copies: nothing that can change is shared, nothing is forgotten, and both go on alike."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Iterator
from itertools import product
from types import FunctionType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.checks.lags import Lags
from engine.checks.ledger import Acked
from engine.clients.clients import SentRecord
from engine.clients.producer_schedule import Pace
from engine.explore.keys import Keys
from engine.faults.paused_controller import FailOver
from engine.model.configs import Configs
from engine.model.control_messages import AlterItem
from engine.model.copying import fields
from engine.model.errors import NETWORK_EXCEPTION, NONE
from engine.model.log import Batch
from engine.model.messages import Message
from engine.model.profiles import PROFILES, Profile
from engine.model.quorum import ControllerImage
from engine.model.records import PartitionRecord
from engine.model.remote_log import RemoteSegment
from engine.model.session_messages import SessionRead
from engine.model.sessions import PartitionRequest
from engine.model.state import DelayedProduce
from engine.scenarios import file
from engine.scenarios.fault_lines import Fault
from engine.scenarios.file import library
from engine.scenarios.parts import NetworkSpec
from engine.scenarios.scenario import Scenario
from engine.sim.active_controller import VoterEvents
from engine.sim.kernel import Chance
from engine.sim.run import Run, play_all
from engine.sim.simulation import Simulation
from engine.study.digest import digest
from engine.study.soak import draw
from engine.study.wander import WORLDS, advance, allowed, everything
from tests.conftest import sample
from tests.test_properties import anything, fixed, wander

NEVER_CHANGED = (
    Acked,
    AlterItem,
    Batch,
    Configs,
    ControllerImage,
    DelayedProduce,
    FailOver,
    Fault,
    FunctionType,
    Message,
    NetworkSpec,
    Pace,
    PartitionRecord,
    Profile,
    VoterEvents,
    RemoteSegment,
    Scenario,
    PartitionRequest,
)
PLAIN = (int, float, str, bool, bytes, type(None), frozenset, range)


def parts(one: Any) -> Iterator[tuple[str, Any]]:
    """What an object holds, each with its name; a key stands for itself."""
    if isinstance(one, dict):
        yield "order", tuple(one)
        yield from ((f"[{key!r}]", value) for key, value in one.items())
    elif isinstance(one, (list, tuple, deque)):
        yield "length", len(one)
        yield from ((f"[{place}]", value) for place, value in enumerate(one))
    elif isinstance(one, set):
        yield "members", tuple(sorted(one))
    else:
        names = list(fields(type(one))) + sorted(getattr(one, "__dict__", ()))
        yield from ((f".{name}", getattr(one, name, "unset")) for name in names)


def never_changes(one: Any) -> bool:
    if isinstance(one, SessionRead):
        return False
    if isinstance(one, tuple):
        return all(never_changes(part) for part in one)
    return isinstance(one, (*PLAIN, *NEVER_CHANGED))


def compare(one: Any, twin: Any, where: str, known: dict[int, int], tables: set[int]) -> None:
    """Walks both at once: equal in shape and in what they share inside, and apart."""
    if never_changes(one):
        if not isinstance(one, PLAIN):
            assert one is twin or isinstance(one, tuple), where
        assert one is twin or one == twin, where
        return
    assert type(one) is type(twin), where
    if isinstance(one, Chance):
        assert one is not twin
        assert one._random.getstate() == twin._random.getstate(), where
        return
    if isinstance(one, SentRecord) and ".outstanding[" in where:  # copied once it is decided
        assert one is twin, where
        return
    if id(one) in tables:  # which handler a message belongs to
        assert one is twin
        return
    assert one is not twin or one == (), f"{where} is shared"
    if id(one) in known:
        assert known[id(one)] == id(twin), f"{where} is held twice, its copy is not"
        return
    known[id(one)] = id(twin)
    for (name, part), (other, of_twin) in zip(parts(one), parts(twin), strict=True):
        assert name == other, where
        compare(part, of_twin, where + name, known, tables)


def is_a_copy(sim: Simulation, twin: Simulation) -> None:
    assert twin.listener is None
    listener, sim.listener = sim.listener, None
    tables = {id(sim.on_broker), id(sim.on_controller), id(sim.controller_timers)}
    compare(sim, twin, "sim", {}, tables)
    sim.listener = listener


def every_script() -> list[tuple[str, str]]:
    return [
        (scenario.code or scenario.slug, profile)
        for scenario in library().values()
        for profile in scenario.profiles[:1]
        if scenario.script
    ]


@pytest.mark.parametrize(("code", "profile"), sample(every_script(), 18))
def test_copies_of_the_library_share_nothing_that_changes(code: str, profile: str) -> None:
    run = Run(file.find(code), profile)
    sim = run.simulation()
    for line in run.lines():
        is_a_copy(sim, sim.copy())
        advance(sim, line)
    is_a_copy(sim, sim.copy())


@given(data=st.data())
@fixed(examples=80)
def test_copies_of_random_runs_share_nothing_that_changes(data: st.DataObject) -> None:
    profile = data.draw(st.sampled_from(sorted(PROFILES)), label="profile")
    world = data.draw(st.sampled_from(sorted(WORLDS)), label="world")
    sim, _ = wander(data, profile, world, offers=everything)
    is_a_copy(sim, sim.copy())


@given(data=st.data())
@fixed(examples=60)
def test_a_branch_goes_on_as_a_copy_and_leaves_behind_what_it_began_from(
    data: st.DataObject,
) -> None:
    """Two branches of one state, one of them two moves long, beside copies that do the same."""
    profile = data.draw(st.sampled_from(sorted(PROFILES)), label="profile")
    world = data.draw(st.sampled_from(sorted(WORLDS)), label="world")
    sim, _ = wander(data, profile, world, offers=everything)
    before = sim.copy()
    for lengths in (2, 1):
        branch, copy = sim.branch(), before.copy()
        for _ in range(lengths):
            offered = allowed(copy, anything, everything)
            line = data.draw(st.sampled_from(offered[data.draw(st.sampled_from(sorted(offered)))]))
            advance(branch, line)
            advance(copy, line)
            assert digest(branch) == digest(copy)
            assert Keys().of(branch) == Keys().of(copy)
        is_a_copy(sim.copy(), before)


def test_a_branch_that_works_on_what_was_lent_is_found() -> None:
    sim = Run(file.find("S20"), "K39").simulation()
    before = sim.copy()
    advance(sim.branch(), "kill A")
    is_a_copy(sim.copy(), before)
    sim.branch().cluster.brokers[2].machine.disks.clear()
    with pytest.raises(AssertionError, match=r"disks"):
        is_a_copy(sim.copy(), before)


@pytest.mark.parametrize("number", range(6))
def test_measures_and_plans_are_copied(number: int) -> None:
    """Long random runs with workloads and fault plans, copied in the middle."""
    run = draw(3, number, list(PROFILES), []).run
    sim = run.simulation()
    sim.checker.lags = Lags(sim.cluster, sim.out)
    sim.rush = True
    for line in run.lines():
        advance(sim, line)
    sim.run_until(sim.now + 20_000)
    is_a_copy(sim, sim.copy())


def test_a_batch_that_is_decided_in_a_copy_stays_undecided_elsewhere() -> None:
    sim = Run(file.find("S20"), "K39", 0, ()).simulation()
    advance(sim, "produce m1 retries=on")
    before, twin = sim.copy(), sim.copy()
    (sent,) = sim.producer().outstanding.values()
    advance(twin, "kill B")
    assert [one.error for one in twin.producer().queue] == [NETWORK_EXCEPTION]
    assert sent.error == NONE
    is_a_copy(sim, before)


def test_a_part_that_is_shared_is_found() -> None:
    sim = Run(file.find("S20"), "K39").simulation()
    twin = sim.copy()
    twin.ledger.lost = sim.ledger.lost
    with pytest.raises(AssertionError, match=r"\.lost is shared"):
        is_a_copy(sim, twin)
    twin = sim.copy()
    twin.brokers[1].replicas[0].log = twin.brokers[1].machine.disks[0].log.copy()
    with pytest.raises(AssertionError, match="is held twice"):
        is_a_copy(sim, twin)
    twin = sim.copy()
    twin.cluster.controller.epoch += 1
    with pytest.raises(AssertionError, match=r"controller\.epoch"):
        is_a_copy(sim, twin)


def test_a_copied_stream_of_chance_goes_on_for_itself() -> None:
    for drawn, seed in product(range(3), range(3)):
        first = Chance(seed, "x")
        for _ in range(drawn):
            first.below(1_000)
        expected = Chance(seed, "x")
        for _ in range(drawn):
            expected.below(1_000)
        wanted = [expected.exponential(50) for _ in range(20)]
        second = first.copy()
        third = second.copy()
        assert [second.exponential(50) for _ in range(20)] == wanted
        assert [first.exponential(50) for _ in range(20)] == wanted
        assert [third.exponential(50) for _ in range(20)] == wanted


@pytest.mark.parametrize("profile", ["Z0102", "K39"])
@pytest.mark.parametrize("code", ["S20", "S59", "S61"])
def test_a_run_goes_on_in_another_process(code: str, profile: str) -> None:
    """What was pickled in the middle of a run ends as the run does."""
    scenario = file.find(code)
    run = Run(scenario, profile, 5)
    sim = run.simulation()
    lines = run.lines()
    half = len(lines) // 2
    for line in lines[:half]:
        advance(sim, line)
    sim.listener = lambda *_: None
    stored = pickle.loads(pickle.dumps(sim))
    assert stored.listener is None
    for line in lines[half:]:
        advance(stored, line)
    stored.ledger.close(stored.now)
    assert digest(stored) == digest(play_all(run))
