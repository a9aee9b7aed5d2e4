"""Control-plane 8.6: a disk that writes slower than data arrives, alone and in a plan."""

from __future__ import annotations

import pytest

from engine.dataplane import slow_disk
from engine.model.broker import Process
from engine.model.effects import Effects
from engine.model.errors import InputError
from engine.model.messages import ProduceRequest
from engine.scenarios.file import find
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all

LOADED = {
    "title": "x",
    "brokers": 3,
    "fetching": "auto",
    "configs": {"replica.lag.time.max.ms": 2_000},
    "workload": {"producers": [{"rate_per_s": 20, "batch": 10, "steady": True}]},
    "script": "run",
}
SLOW = {"kind": "slow_disk", "brokers": [3], "at_ms": 1_000, "mttr_ms": 10_000}


def isr_changes(**fault: object) -> tuple[int, int]:
    scenario = Scenario.from_dict({**LOADED, "faults": [{**SLOW, **fault}]})
    ledger = play_all(Run(scenario, "K39")).ledger
    return ledger.isr_shrinks, ledger.isr_expands


def test_a_plan_slows_a_disk_and_mends_it() -> None:
    assert isr_changes(records_per_s=5) == (1, 1)
    assert isr_changes(records_per_s=25) == (0, 0)
    assert isr_changes(records_per_s=5, mttr_ms=0) == (1, 0)


@pytest.mark.parametrize(
    ("rate", "records", "ms"),
    [(1_000, 3, 3), (2_998, 3, 2), (3_000, 3, 1), (2, 1, 500), (0, 3, None)],
)
def test_a_write_takes_what_the_disk_needs_and_never_less(
    rate: int, records: int, ms: int | None
) -> None:
    sim = play_all(Run(find("S01"), "K39", 0, ()))
    leader: Process = sim.brokers[1].running
    leader.machine.disk_rate = rate
    out = Effects()
    request = ProduceRequest(-11, 1, 1, 0, ("r",) * records, 1, 1_000)
    slow_disk.on_produce_request(leader, request, out)
    assert [delay for _, delay, _, _ in out.timers] == ([] if ms is None else [ms])
    assert bool(out.sends) == (ms is None), "it is acknowledged once it is written"


def test_a_plan_must_say_how_slow() -> None:
    with pytest.raises(InputError, match="A slow disk needs records_per_s"):
        Scenario.from_dict({**LOADED, "faults": [SLOW]})


def test_a_longer_lag_time_keeps_a_flapping_follower_in_sync() -> None:
    scenario = find("S18").vary("replica.lag.time.max.ms", 30_000)
    assert play_all(Run(scenario, "K39")).ledger.isr_shrinks == 0


def test_writes_interrupted_by_a_crash_are_lost() -> None:
    lines = ("slow_disk 2 1", "produce a b", "fetch 2", "kill 2", "advance 5s", "restart 2")
    sim = play_all(Run(find("S01"), "K39", 0, lines))
    assert sim.brokers[2].machine.disks[0].log.leo == 0
    assert sim.brokers[2].machine.disk_rate == 1


def test_a_slow_leader_delays_writes_and_nothing_else() -> None:
    lines = ("fetching auto", "slow_disk 1 1", "produce a acks=1", "advance 900")
    sim = play_all(Run(find("S01"), "K39", 0, lines))
    assert (sim.brokers[1].machine.disks[0].log.leo, len(sim.ledger.acked[0])) == (0, 0)
    sim = play_all(Run(find("S01"), "K39", 0, (*lines, "advance 60s")))
    assert (sim.brokers[1].machine.disks[0].log.leo, sim.ledger.isr_shrinks) == (1, 0)
    assert sim.cluster.controller.records[0].leader_epoch == 0


def test_a_producer_in_waves() -> None:
    waves = {"rate_per_s": 20, "batch": 10, "steady": True, "calm_rate_per_s": 5, "wave_ms": 10_000}
    scenario = Scenario.from_dict({**LOADED, "workload": {"producers": [waves]}})
    made = [play_all(scenario_run(scenario, f"run {s}.2s")).producer().made for s in (10, 20, 30)]
    assert made == [200, 250, 450]
    in_parts = play_all(scenario_run(scenario, "run 10.2s", "run 9.9s"))
    assert in_parts.producer().made == 250, "a run that follows goes on and adds nothing"


def scenario_run(scenario: Scenario, *moves: str) -> Run:
    return Run(scenario, "K39", 0, moves)


@pytest.mark.parametrize("half", [{"wave_ms": 1_000}, {"calm_rate_per_s": 1}])
def test_waves_need_both_a_length_and_a_calm_rate(half: dict[str, int]) -> None:
    workload = {"producers": [{"rate_per_s": 20, **half}]}
    with pytest.raises(InputError, match="both a wave_ms and a calm_rate_per_s"):
        Scenario.from_dict({**LOADED, "workload": workload})
