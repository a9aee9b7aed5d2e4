"""The random twin of a scripted scenario: the same cluster under traffic, and crashes by chance."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from engine.scenarios.fault_lines import Fault
from engine.scenarios.parts import NetworkSpec, ProducerSpec, Workload
from engine.scenarios.scenario import Scenario

RATE_PER_S: Final = 2.0
DURATION_MS: Final = 60_000
BOUNCE_EVERY_MS: Final = 15_000
BOUNCE_FOR_MS: Final = 300
KILL_EVERY_MS: Final = 30_000
KILL_FOR_MS: Final = 4_000
DELAY_MS: Final = (2, 40)
CONTROL_DELAY_MS: Final = (1, 20)


def random_twin(scenario: Scenario) -> Scenario:
    """Return a scenario with the same cluster, settings and profiles, and random faults.

    It has a producer with acks=all, random delays, and brokers that crash or bounce at random.
    """
    ids = tuple(broker.id for broker in scenario.brokers)
    return replace(
        scenario,
        slug="",
        code="",
        network=NetworkSpec(DELAY_MS, 0.0, CONTROL_DELAY_MS),
        fetching="auto",
        workload=Workload((ProducerSpec(RATE_PER_S),)),
        faults=(
            Fault("bounce", ids, mtbf_ms=BOUNCE_EVERY_MS, mttr_ms=BOUNCE_FOR_MS),
            Fault("kill", ids, mtbf_ms=KILL_EVERY_MS, mttr_ms=KILL_FOR_MS),
        ),
        duration_ms=DURATION_MS,
        script="run",
        expect={name: {"verdict": "statistical"} for name in scenario.profiles},
    )
