"""A run may begin in the middle: with records, epochs, marks, and a broker that is down."""

from __future__ import annotations

from typing import Any

import pytest

from engine.model.errors import InputError
from engine.model.profiles import KIP101, PROFILES
from engine.replay.replay import Replay
from engine.scenarios.file import load_text
from engine.scenarios.scenario import Scenario
from engine.scenarios.writing import yaml_of
from engine.sim.run import Run

START = 1_203_400


def log(broker: int, epochs: list[list[int]], end: int, **more: int) -> dict[str, Any]:
    return {"broker": broker, "epochs": epochs, "end": end, **more}


DEGRADED: dict[str, Any] = {
    "title": "Degraded",
    "brokers": [{"id": 1}, {"id": 2}, {"id": 30}],
    "partitions": [[1, 2, 30], [2, 30, 1], [30, 1, 2]],
    "configs": {"min.insync.replicas": 1},
    "script": "settle\nproduce a to 1\nsettle\nrestart 30\nsettle\nread",
    "initial": {
        "offline": [30],
        "partitions": [
            {
                "name": "orders-0",
                "leader": 1,
                "leader_epoch": 7,
                "isr": [1, 2],
                "logs": [
                    log(1, [[5, START], [7, START + 4]], START + 12, hw=START + 10, recovery=START),
                    log(2, [[5, START], [7, START + 4]], START + 11, hw=START + 9),
                    # It went its own way in epoch 6.
                    log(30, [[5, START], [6, START + 3]], START + 6, hw=START + 2),
                ],
            },
            {"name": "orders-1", "leader": 2, "leader_epoch": 3, "isr": [2, 1]},
            {"name": "payments-0", "leader": -1, "leader_epoch": 3, "isr": [30], "min_isr": 2},
        ],
    },
}


def scenario(**more: Any) -> Scenario:
    return Scenario.from_dict({**DEGRADED, **more})


def test_the_beginning_is_as_it_was_said() -> None:
    replay = Replay(Run(scenario()))
    (first,) = replay.steps(0, 1)
    view = first["view"]
    orders, _, payments = view["partitions"]
    assert [one["name"] for one in view["partitions"]] == ["orders-0", "orders-1", "payments-0"]
    assert orders["record"]["isr"] == [1, 2] and orders["record"]["le"] == 7
    assert payments["record"]["leader"] == -1 and payments["minIsr"] == 2
    leader, follower, gone = (orders["replicas"][one] for one in ("1", "2", "30"))
    assert (leader["start"], leader["leo"], leader["hw"]) == (START, START + 12, START + 10)
    assert (follower["leo"], follower["hw"]) == (START + 11, START + 9)
    assert leader["epochs"] == [[5, START], [7, START + 4]] and leader["epochStart"] == START + 4
    assert gone["role"] == "offline" and gone["leo"] == START + 6
    assert orders["differ"] == [START + 3, START + 6]
    assert leader["flushed"] == START and follower["flushed"] == START + 11


@pytest.mark.parametrize("profile", PROFILES)
def test_the_cluster_goes_on_from_there(profile: str) -> None:
    replay = Replay(Run(scenario(profiles=[profile]), profile))
    # Before KIP-279 a follower may cut too little after such a pair of epochs.
    cuts_enough = PROFILES[profile].truncation != KIP101
    assert replay.verdict()["holds"] == cuts_enough, replay.verdict()["broken"]
    orders, _, payments = replay.final_view()["partitions"]
    assert sorted(orders["record"]["isr"]) == [1, 2, 30]
    # With ELR a broker that comes back after a crash is not simply taken for complete.
    assert payments["record"]["leader"] == (-1 if PROFILES[profile].elr else 30)
    assert {one["leo"] for one in orders["replicas"].values()} == {START + 13}
    assert (orders["differ"] is None) == cuts_enough, "broker 30 cut what it alone had"
    consumer = next(one for one in replay.final_view()["clients"] if one["kind"] == "consumer")
    assert consumer["position"] == START + 13


def test_it_is_part_of_the_scenario_and_of_no_other() -> None:
    one = scenario()
    assert load_text(yaml_of(one)) == one
    assert Scenario.from_dict(one.to_dict()) == one
    assert "initial" not in Scenario(title="other").to_dict()


def changed(**more: Any) -> dict[str, Any]:
    """The first partition of the degraded cluster with something else in it."""
    initial = DEGRADED["initial"]
    first, *rest = initial["partitions"]
    return {**initial, "partitions": [{**first, **more}, *rest]}


@pytest.mark.parametrize(
    ("initial", "why"),
    [
        ({"offline": []}, "needs at least 3 entries"),
        (changed(leader=30), "is not in its ISR"),
        (changed(leader=30, isr=[30]), "leads orders-0 and is offline"),
        (changed(isr=[1, 4]), "There is no broker “4”"),
        (changed(name="payments-0"), "Two partitions are called payments-0"),
        (changed(name="x y"), "called after its topic"),
        (changed(logs=[log(1, [[5, 9], [4, 12]], 20)]), "Epochs and their first offsets rise"),
        (changed(logs=[log(1, [[5, 9], [6, 30]], 20)]), "An epoch begins after the log's end"),
        (changed(logs=[log(1, [[5, 0]], 501)]), "at most 500 records"),
        (changed(logs=[log(1, [[8, 0]], 5)]), "between 0 and 7"),
        (changed(logs=[log(1, [[5, 4]], 9, hw=3)]), "between 4 and 9"),
        (changed(logs=[log(1, [[5, 4]], 9)] * 2), "one log of each partition"),
    ],
)
def test_impossible_states_are_refused(initial: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        scenario(initial=initial)
