"""What a batch may be: one clear sentence for everything it may not."""

from __future__ import annotations

from typing import Any

import pytest

from app.batch.runners.plan import (
    CHUNK_RUNS_MAX,
    CHUNK_SECONDS_MOST,
    CHUNKS_MOST,
    CHUNKS_WANTED,
    BatchPlan,
    chunk_size,
    grown,
    sized,
)
from app.batch.spec import asked_spec, check_chunks, make_spec, parse_vary
from app.batch.statistics import THIN
from app.core.refusals import RequestError
from app.core.request_fields import RequestFields
from engine.model.errors import InputError
from engine.scenarios.scenario import Scenario

pytestmark = pytest.mark.quick

SCENARIO = Scenario.from_dict({"title": "Three brokers", "profiles": ["K39", "Z0102"]})


def sentence(**asked: Any) -> str:
    with pytest.raises((RequestError, InputError)) as caught:
        asked_spec(RequestFields({"runs": 10, **asked}), SCENARIO)
    return str(caught.value)


def test_defaults_are_those_of_the_scenario() -> None:
    spec = asked_spec(RequestFields({"runs": 10}), SCENARIO)
    assert (spec.profiles, spec.runs, spec.first_seed) == (("K39", "Z0102"), 10, 0)
    assert [cell.label for cell in spec.cells] == [""]


def test_cells_are_all_combinations_in_order() -> None:
    vary = parse_vary(["min.insync.replicas=1,2", "", "network.delay_ms = 0, 5-10"])
    spec = make_spec(SCENARIO, 10, vary=vary)
    assert [cell.label for cell in spec.cells] == [
        "min.insync.replicas=1, network.delay_ms=0",
        "min.insync.replicas=1, network.delay_ms=5-10",
        "min.insync.replicas=2, network.delay_ms=0",
        "min.insync.replicas=2, network.delay_ms=5-10",
    ]
    assert spec.cells[3].scenario.network.delay_ms == (5, 10)
    assert spec.cells[3].scenario.configs["min.insync.replicas"] == 2


@pytest.mark.parametrize("runs", [0, -1, 10**9, 10**30])
def test_too_many_runs_is_one_sentence(runs: int) -> None:
    said = sentence(runs=runs)
    assert said.startswith(f"A batch has 1 to 1{THIN}000{THIN}000 runs per profile and cell; ")
    assert said.count(".") == 1


def test_every_bound_has_its_sentence() -> None:
    assert sentence(runs="many") == "runs is missing or is not what it should be."
    assert sentence(runs=True) == "runs is missing or is not what it should be."
    assert "K93" in sentence(profiles=["K93"])
    assert sentence(profiles=["K39", "K39"]) == "Profile K39 was chosen twice."
    names = ["K39", "K40", "K41", "K33", "Z0102", "Z011", "Z20", "Z21", "Z24"]
    assert sentence(profiles=names).startswith("A batch compares 1 to 8 profiles; 9 ")
    assert "nothing.such cannot be varied" in sentence(vary=["nothing.such=1"])
    assert sentence(vary=["brokers"]) == "brokers is not of the form key=value,value."
    assert sentence(vary=["brokers=3", "brokers=5"]) == "brokers is varied twice."
    many = ",".join(map(str, range(1, 66)))
    assert sentence(vary=[f"network.delay_ms={many}"]).endswith("; these are 65.")
    assert "min.insync.replicas" in sentence(vary=["min.insync.replicas=lots"])
    said = sentence(runs=10**6, vary=["network.delay_ms=1,2,3,4,5,6,7,8,9,10,11"])
    assert said.startswith(f"A batch has at most 20{THIN}000{THIN}000 runs in all; ")
    assert sentence(profiles="K39") == "profiles is missing or is not what it should be."


def test_chunks_cover_every_seed_once_and_take_turns() -> None:
    plan = BatchPlan(({}, {}), ("a", "b", "c"), runs=25, first_seed=7, chunk_runs=10, metrics=())
    chunks = list(plan.chunks())
    assert [chunk.number for chunk in chunks] == list(range(plan.total_chunks))
    assert [(c.cell, c.profile) for c in chunks[:6]] == [
        (0, "a"), (0, "b"), (0, "c"), (1, "a"), (1, "b"), (1, "c")]  # fmt: skip
    for cell in (0, 1):
        for profile in "abc":
            seeds = [
                seed
                for c in chunks
                if (c.cell, c.profile) == (cell, profile)
                for seed in range(c.first_seed, c.first_seed + c.runs)
            ]
            assert seeds == list(range(7, 32))
    assert sum(c.runs for c in chunks) == plan.total_runs == 150


def test_a_chunk_is_about_a_second_but_never_the_whole_batch() -> None:
    assert chunk_size(runs=10_000, groups=2, runs_per_s=27.4) == 27
    assert chunk_size(runs=100, groups=1, runs_per_s=5000) == 7
    assert chunk_size(runs=10**6, groups=1, runs_per_s=10**6) == CHUNK_RUNS_MAX
    assert chunk_size(runs=5, groups=8, runs_per_s=0.1) == 1


@pytest.mark.parametrize("groups", [1, 3, 512])
@pytest.mark.parametrize("speed", [0.2, 1.0, 27.4, 900.0, 10**6])
def test_only_a_long_batch_has_longer_chunks(groups: int, speed: float) -> None:
    for runs in (1, 16, 300, 10_000, 39_000, 10**6, 2 * 10**7):
        of_a_second = max(1, min(int(speed), -(-runs // -(-16 // groups)), CHUNK_RUNS_MAX))
        size = chunk_size(runs, groups, speed)
        if -(-runs // of_a_second) * groups <= CHUNKS_WANTED:
            assert size == of_a_second
        else:
            assert of_a_second <= size <= max(1, of_a_second, speed * CHUNK_SECONDS_MOST)
            few = -(-runs // size) * groups <= CHUNKS_WANTED
            assert few or size >= min(int(speed * CHUNK_SECONDS_MOST), CHUNK_RUNS_MAX)


def test_a_batch_of_too_many_chunks_is_one_sentence_that_says_how_many_fit() -> None:
    plan = BatchPlan(({}, {}), ("K39",), 10**6, 0, 1, ())
    check_chunks(sized(plan, 10.0))
    slow = sized(plan, 1.2)
    with pytest.raises(RequestError) as caught:
        check_chunks(slow)
    assert str(caught.value) == (
        "The 2 000 000 runs would be 166 668 pieces of work, 12 runs in each, and a study has at "
        "most 30 000: ask for at most 360 000 runs in all, or for a shorter duration."
    ).replace(" 000", f"{THIN}000").replace("166 668", f"166{THIN}668")
    check_chunks(sized(BatchPlan(({}, {}), ("K39",), 180_000, 0, 1, ()), 1.2))
    full = BatchPlan(({},), ("K39",), CHUNKS_MOST, 0, 1, ())
    check_chunks(full)
    with pytest.raises(RequestError):
        check_chunks(grown(full, 1))
    assert grown(full, 5).parts == (CHUNKS_MOST, 5)
    assert grown(grown(full, 5), 7).total_chunks == CHUNKS_MOST + 12
