"""Fault plans in the units of operators: disks, splits, lossy links, rolling restarts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from math import exp
from typing import Any

import pytest

from engine.advisor.weights import NANO, log_weight_nano
from engine.catalogue.promises import keeps_disks
from engine.faults.fault_plan import FaultPlan, is_caught_up
from engine.faults.plan_kinds import PLAN_KINDS
from engine.model.errors import InputError
from engine.model.messages import CONTROLLER
from engine.model.state import DOWN, UP
from engine.scenarios.fault_lines import FAULT_FIELDS, FAULT_KINDS, OF_ONE_KIND, Fault
from engine.scenarios.file import find, load_text
from engine.scenarios.scenario import Scenario
from engine.scenarios.writing import yaml_of
from engine.sim.network import Link
from engine.sim.run import Run, play, play_all, run_to_end
from engine.sim.simulation import Simulation
from engine.study.batch import row_of
from engine.study.digest import digest
from engine.study.shrink import line_of, shorten
from engine.study.wander import STRIKES

RACKS = [{"id": one, "rack": rack, "dirs": 2} for one, rack in ((1, "a"), (2, "b"), (3, "c"))]


def cluster(*faults: dict[str, Any], **more: Any) -> Scenario:
    data = {
        "title": "x",
        "brokers": RACKS,
        "partitions": [[1, 2, 3], [2, 3, 1]],
        "configs": {"broker.session.timeout.ms": 3_000, "broker.heartbeat.interval.ms": 1_000},
        "network": {"delay_ms": [1, 5], "control_delay_ms": [1, 5]},
        "fetching": "auto",
        "workload": {"producers": [{"rate_per_s": 2}]},
        "faults": list(faults),
        "script": "run",
    }
    return Scenario.from_dict({**data, **more})


def begun(scenario: Scenario, profile: str, ms: int) -> Simulation:
    """The run, at `ms` of its virtual time."""
    sim = Run(scenario, profile).simulation()
    for _ in play(sim, ("run",)):
        if sim.now >= ms:
            return sim
    raise AssertionError(f"the run ended at {sim.now} ms")


def cut_of(sim: Simulation) -> set[tuple[int, int]]:
    return {way for way, link in sim.network.links.items() if link.cut}


def test_every_kind_that_can_be_written_can_strike() -> None:
    apart = set(PLAN_KINDS) ^ set(FAULT_KINDS)
    assert not apart, (
        f"known only to scenarios/fault_lines.py or only to faults/plan_kinds.py: {apart}"
    )


NOT_DRAWN = {"pause", "wipe", "bounce", "slow", "slow_disk", "kill_controller", "operator"}
"""The soak has them as moves."""


def test_the_soak_strikes_with_every_kind() -> None:
    missing = set(FAULT_KINDS) - {line["kind"] for line in STRIKES} - NOT_DRAWN
    assert not missing, f"STRIKES of engine/study/wander.py lacks {missing}"


OWN = {
    "delay_ms": ("slow", 7),
    "records_per_s": ("slow_disk", 7.0),
    "loss": ("lossy", 0.3),
    "dir": ("disk_fail", 2),
}
"""Fields that one kind has, each with a value that is not the usual one."""
COMMON = {
    "kind", "brokers", "racks", "together", "mtbf_ms", "at_ms", "mttr_ms", "importance", "moves",
}  # fmt: skip


def test_every_field_of_a_fault_can_be_written() -> None:
    assert {field.name for field in fields(Fault)} - {"own"} == COMMON
    assert set(FAULT_FIELDS) - COMMON == set(OWN), "a field of one kind has its row in OWN"
    assert {name: OWN[name][0] for name in OF_ONE_KIND} == OF_ONE_KIND


@pytest.mark.parametrize("field", OWN)
def test_a_field_of_one_kind_is_saved_and_stays_when_a_run_is_shortened(field: str) -> None:
    kind, value = OWN[field]
    line = {"kind": kind, "brokers": [1], "at_ms": 100, field: value}
    saved = Scenario.from_dict(cluster(line).to_dict())
    assert saved.faults[0].value(field) == value
    (plan,) = begun(saved, "K39", 50).plans
    assert line_of(plan)[field] == value


def test_a_mean_time_between_failures_counts_running_time() -> None:
    """What is down is not struck: strikes over the time that their targets ran are the rate."""
    crashes = cluster({"kind": "kill", "mtbf_ms": 4_000, "mttr_ms": 6_000})
    struck = up = 0
    for seed in range(4):
        sim = play_all(Run(crashes, "K39", seed))
        for plan in sim.plans:
            struck += len(plan.strikes)
            down = sum(
                (until if until >= 0 else plan.stop_at) - at for at, _, until in plan.strikes
            )
            up += plan.stop_at - down
    assert struck > 40
    assert abs(struck - up / 4_000) < 4 * (up / 4_000) ** 0.5, (struck, up)


# -- a log directory -------------------------------------------------------------------------------

DISK = {"kind": "disk_fail", "brokers": [1], "dir": 1, "at_ms": 3_000, "mttr_ms": 10_000}


def test_one_directory_of_several_fails_and_its_disk_is_replaced() -> None:
    sim = begun(cluster(DISK), "K39", 9_000)
    assert sim.brokers[1].status == UP and sim.brokers[1].machine.broken == {1}
    (lost,) = sim.brokers[1].running.offline
    assert 1 not in sim.cluster.controller.records[lost].isr
    assert 1 in sim.cluster.controller.records[1 - lost].isr
    end = play_all(Run(cluster(DISK), "K39"))
    assert end.brokers[1].machine.broken == set() and is_caught_up(end, 1)
    assert [plan.strikes for plan in end.plans] == [[(3_000, (1,), 13_000)]]


@pytest.mark.parametrize("profile", ["K36", "Z0102"])
def test_a_release_that_needs_every_directory_stops_and_comes_back(profile: str) -> None:
    """L-16.  Without KIP-112 and KIP-858 one failed disk is a failed broker."""
    assert begun(cluster(DISK), profile, 9_000).brokers[1].status == DOWN
    end = play_all(Run(cluster(DISK), profile))
    assert end.brokers[1].machine.broken == set() and is_caught_up(end, 1)


def test_the_last_directory_stops_the_broker() -> None:
    plain = cluster({**DISK, "dir": 0}, brokers=3)
    assert begun(plain, "K39", 9_000).brokers[1].status == DOWN
    assert is_caught_up(play_all(Run(plain, "K39")), 1)


def test_a_rate_is_that_of_one_directory() -> None:
    """Each has its own chance: the mean time between failures of a disk, not of a broker."""
    often = cluster({"kind": "disk_fail", "mtbf_ms": 20_000, "mttr_ms": 2_000})
    plans = play_all(Run(often, "K39")).plans
    assert [(plan.group, plan.directory) for plan in plans] == [
        ((broker,), directory) for broker in (1, 2, 3) for directory in (1, 2)
    ]
    assert len({tuple(plan.strikes) for plan in plans}) > 3
    rack = cluster({"kind": "disk_fail", "racks": ["a"], "mtbf_ms": 20_000})
    assert [plan.group for plan in play_all(Run(rack, "K39")).plans] == [(1,)] * 2


def test_a_replaced_disk_starts_no_process_that_another_fault_stopped() -> None:
    power = {"kind": "power", "brokers": [1], "at_ms": 5_000, "mttr_ms": 30_000}
    at = begun(cluster(DISK, power), "K39", 20_000)
    assert at.brokers[1].status == DOWN and at.brokers[1].machine.broken == set()
    assert is_caught_up(play_all(Run(cluster(DISK, power), "K39")), 1)


def test_a_replaced_disk_has_lost_what_it_held() -> None:
    assert keeps_disks(Run(cluster({**DISK, "mttr_ms": 0})))
    assert not keeps_disks(Run(cluster(DISK)))


def test_a_partition_whose_last_copy_is_on_a_failed_disk_need_not_have_a_leader() -> None:
    """I13 speaks of what can be elected: here nothing in sync can be read."""
    one = cluster(partitions=[[1, 2]], workload={})
    moves = ("kill 2", "detect 2", "disk_fail 1 d1", "restart 2", "settle")
    sim = play_all(Run(one, "K39", 0, moves))
    assert sim.cluster.controller.records[0].leader == -1
    assert sim.broken == []


# -- the network -----------------------------------------------------------------------------------

SPLIT = {"kind": "partition", "brokers": [1, 2], "at_ms": 3_000, "mttr_ms": 10_000}


@pytest.mark.parametrize("profile", ["K39", "Z0102"])
def test_a_partition_parts_its_brokers_from_all_others(profile: str) -> None:
    sim = begun(cluster(SPLIT), profile, 4_000)
    outside = (3, CONTROLLER, *sim.clients)
    assert cut_of(sim) == {way for a in (1, 2) for b in outside for way in ((a, b), (b, a))}, (
        "and not from one another"
    )
    end = play_all(Run(cluster(SPLIT), profile))
    assert not end.network.links
    assert all(is_caught_up(end, broker) for broker in end.brokers)


def test_a_broker_that_starts_meanwhile_is_on_its_side() -> None:
    down = {"kind": "kill", "brokers": [2], "at_ms": 2_000, "mttr_ms": 3_000}
    sim = begun(cluster(down, SPLIT), "K39", 6_000)
    assert sim.network.is_cut(2, 3) and sim.network.is_cut(2, CONTROLLER)


def test_healing_leaves_the_cuts_of_other_plans() -> None:
    one = {"kind": "cut", "brokers": [3], "at_ms": 4_000, "mttr_ms": 20_000}
    other = {**SPLIT, "racks": ["a"], "at_ms": 6_000, "mttr_ms": 30_000}
    del other["brokers"]
    both = begun(cluster(SPLIT, one, other), "K39", 15_000)
    assert both.network.is_cut(1, 3) and both.network.is_cut(2, 3) and both.network.is_cut(1, 2)
    assert not both.network.is_cut(2, CONTROLLER) and both.network.is_cut(1, CONTROLLER)
    later = begun(cluster(SPLIT, one, other), "K39", 25_000)
    assert not later.network.is_cut(2, 3) and later.network.is_cut(1, 3)
    assert not play_all(Run(cluster(SPLIT, one, other), "K39")).network.links


@pytest.mark.parametrize(
    ("kind", "values", "of_link"),
    [
        ("cut", ({}, {}), lambda link: link.cut),
        ("slow", ({"delay_ms": 300}, {"delay_ms": 200}), lambda link: link.delay == 200),
        ("lossy", ({"loss": 0.2}, {"loss": 0.1}), lambda link: link.loss == 0.1),
    ],
)
def test_a_repair_leaves_links_as_other_lines_have_them(
    kind: str, values: tuple[dict[str, float], ...], of_link: Callable[[Link], bool]
) -> None:
    first = {"kind": kind, "brokers": [1], "at_ms": 2_000, "mttr_ms": 5_000, **values[0]}
    second = {"kind": kind, "brokers": [2], "at_ms": 3_000, "mttr_ms": 20_000, **values[1]}
    links = begun(cluster(first, second), "K39", 9_000).network.links
    assert {ends for ends, link in links.items() if of_link(link)} == {
        (1, 2), (2, 1), (2, 3), (3, 2)
    }  # fmt: skip
    assert not play_all(Run(cluster(first, second), "K39")).network.links


def test_a_disk_is_as_slow_as_the_slowest_line_says() -> None:
    slow = {"kind": "slow_disk", "brokers": [1]}
    first = {**slow, "at_ms": 2_000, "mttr_ms": 20_000, "records_per_s": 50}
    second = {**slow, "at_ms": 3_000, "mttr_ms": 5_000, "records_per_s": 80}
    for at, rate in ((5_000, 50), (9_000, 50), (30_000, 0)):
        sim = begun(cluster(first, second), "K39", at)
        assert sim.brokers[1].machine.disk_rate == rate


def test_racks_are_parted_one_by_one_or_together() -> None:
    racks = {"kind": "partition", "racks": ["a", "b"], "at_ms": 1_000}
    assert cluster(racks).faults[0].groups(cluster().brokers) == ((1, 2),)
    alone = cluster({**racks, "racks": "all", "together": False})
    assert alone.faults[0].groups(alone.brokers) == ((1,), (2,), (3,))


def test_a_lossy_link_loses_a_share_while_it_lasts() -> None:
    line = {"kind": "lossy", "brokers": [1], "at_ms": 3_000, "mttr_ms": 10_000, "loss": 0.3}
    sim = begun(cluster(line), "K39", 12_000)
    losing = {way for way, link in sim.network.links.items() if link.loss == 0.3}
    assert losing == {(1, 2), (2, 1), (1, 3), (3, 1)}
    assert sim.network.lost > 5
    assert not play_all(Run(cluster(line), "K39")).network.links


# -- a rolling restart -----------------------------------------------------------------------------

ROLL = {"kind": "rolling_restart", "brokers": [3, 1, 2], "at_ms": 3_000}


def restarts(scenario: Scenario, profile: str) -> tuple[list[int], int, Simulation]:
    """(brokers that went down, in order; most away or out of sync when one was to go; state)."""
    sim = Run(scenario, profile).simulation(cues=True)
    order: list[int] = []
    behind = 0

    def note(kind: int, node: int, what: object) -> None:
        nonlocal behind
        if isinstance(what, str) and what.startswith("shutdown"):
            order.append(node)
            behind = max(behind, sum(not is_caught_up(sim, broker) for broker in sim.brokers))

    sim.listener = note
    run_to_end(sim, ("run",))
    return order, behind, sim


@pytest.mark.parametrize("profile", ["K39", "Z28", "Z0102"])
def test_brokers_are_restarted_one_after_the_other(profile: str) -> None:
    order, behind, sim = restarts(cluster(ROLL), profile)
    assert order == [3, 1, 2]
    assert behind == 0, "each is back and in sync before the next is asked to go"
    assert not sim.broken and all(is_caught_up(sim, broker) for broker in sim.brokers)
    ((began, whom, until),) = sim.plans[0].strikes
    assert (began, whom) == (3_000, (3, 1, 2)) and 4_000 < until < 30_000


def test_an_impatient_restart_does_not_wait_for_the_isr() -> None:
    slow = {"kind": "slow_disk", "brokers": "all", "at_ms": 2_000, "records_per_s": 0.2}
    hasty = cluster(slow, {**ROLL, "mttr_ms": 500})
    assert restarts(hasty, "K39")[1] > 0


def test_a_broker_that_is_down_is_passed_over_and_left_down() -> None:
    dead = {"kind": "kill", "brokers": [1], "at_ms": 2_500}
    order, _, sim = restarts(cluster(dead, ROLL, duration_ms="2m"), "K39")
    assert order == [3, 2] and sim.brokers[1].status == DOWN


def test_a_broker_that_loses_power_meanwhile_is_left_to_its_repair() -> None:
    power = {"kind": "power", "brokers": [3], "at_ms": 3_002, "mttr_ms": 30_000}
    sim = begun(cluster(ROLL, power), "K39", 20_000)
    assert sim.brokers[3].status == DOWN and sim.plans[0].roll is None
    assert is_caught_up(play_all(Run(cluster(ROLL, power), "K39")), 3)


def test_a_rate_rolls_again_and_again() -> None:
    often = cluster({"kind": "rolling_restart", "mtbf_ms": 10_000}, duration_ms="3m")
    (plan,) = play_all(Run(often, "K39")).plans
    assert len(plan.strikes) > 3 and plan.draws == len(plan.strikes)


# -- like any other fault --------------------------------------------------------------------------

ALL_KINDS = (
    {"kind": "disk_fail", "mtbf_ms": 60_000, "mttr_ms": 5_000},
    {"kind": "partition", "together": False, "mtbf_ms": 60_000, "mttr_ms": 4_000},
    {"kind": "lossy", "mtbf_ms": 30_000, "mttr_ms": 8_000, "loss": 0.2},
    {"kind": "rolling_restart", "mtbf_ms": 40_000, "mttr_ms": 5_000},
)


@pytest.mark.parametrize("profile", ["K41", "Z24"])
def test_the_same_again_told_or_cut_or_copied(profile: str) -> None:
    tail = {"delay_ms": {"median": 3, "p99": 60}, "control_delay_ms": [1, 5]}
    run = Run(cluster(*ALL_KINDS, network=tail), profile, 3)
    end = digest(play_all(run))
    assert digest(play_all(Run.from_text(run.text()), cues=True)) == end
    sim = run.simulation()
    twins: list[Simulation] = []
    for number, _ in enumerate(play(sim, ("run",))):
        if number in (150, 700):
            twins.append(sim.copy())
    for twin in twins:
        twin.run_until(sim.now)
        twin.ledger.close(twin.now)
        assert digest(twin) == end


def test_weights_undo_the_factor() -> None:
    """The mean weight is one, and the weighted strikes are those of the true rate."""
    true = [{**line, "mtbf_ms": line["mtbf_ms"] * 20} for line in ALL_KINDS]
    seeds = range(120)

    def strikes(sim: Simulation) -> int:
        return sum(plan.draws for plan in sim.plans)

    short: dict[str, Any] = {"duration_ms": 20_000, "workload": {}}
    plain = [strikes(play_all(Run(cluster(*true, **short), "K39", seed))) for seed in seeds]
    tilted = cluster(*({**line, "importance": 10} for line in true), **short)
    runs = [play_all(Run(tilted, "K39", seed)) for seed in seeds]
    weights = [exp(log_weight_nano(sim) / NANO) for sim in runs]
    assert abs(sum(weights) / len(weights) - 1) < 0.35
    often = [strikes(sim) for sim in runs]
    assert sum(often) > 4 * sum(plain)
    found = sum(weight * count for weight, count in zip(weights, often, strict=True))
    assert 0.4 < found / sum(plain) < 2.0


def test_random_strikes_are_recorded_with_all_they_need() -> None:
    """Shortening makes a schedule of the strikes, which strikes as they did."""
    lossy = {"kind": "lossy", "mtbf_ms": 8_000, "mttr_ms": 4_000, "loss": 0.4}
    plan, *_ = play_all(Run(cluster(lossy), "K39")).plans
    assert line_of(plan) == {"kind": "lossy", "mttr_ms": 4_000, "delay_ms": 0, "loss": 0.4}
    disks = {"kind": "disk_fail", "mtbf_ms": 8_000, "mttr_ms": 1_500}
    scenario = cluster(disks, lossy, configs={"min.insync.replicas": 1})
    for seed in range(20):
        run = Run(scenario, "K39", seed)
        broken = play_all(run).broken
        if broken:
            short = shorten(run, broken[0][0])
            assert short.after < short.before
            assert all(fault.at_ms >= 0 for fault in short.run.scenario.faults)
            return
    raise AssertionError("no run lost anything")


def test_days_fit_into_one_run() -> None:
    quiet = {
        "configs": {"replica.fetch.wait.max.ms": 20_000, "broker.heartbeat.interval.ms": 20_000,
                    "broker.session.timeout.ms": 60_000},
        "brokers": 1, "partitions": [[1]], "workload": {}, "duration_ms": "2d",
    }  # fmt: skip
    disk = {"kind": "disk_fail", "at_ms": "1d", "mttr_ms": "6h"}
    end = play_all(Run(cluster(disk, **quiet), "K39"))
    assert end.now == 2 * 86_400_000
    assert end.plans[0].strikes == [(86_400_000, (1,), 108_000_000)]


# -- written ---------------------------------------------------------------------------------------


def lines(text: str) -> str:
    return f"title: x\nbrokers: [{{id: 1, dirs: 2}}, {{id: 2}}]\nfaults:\n  - {text}\n"


@pytest.mark.parametrize(
    ("text", "at", "why"),
    [
        ("{kind: lossy, at_ms: 1}", "4:5", "A lossy link needs a loss"),
        ("{kind: lossy, at_ms: 1, loss: 1.5}", "4:35", "faults[0].loss must lie between 0.001"),
        (
            "{kind: kill, at_ms: 1, loss: 0.1}",
            "4:34",
            "`loss` belongs to faults of kind lossy",
        ),
        (
            "{kind: cut, at_ms: 1, dir: 1}",
            "4:32",
            "`dir` belongs to faults of kind disk_fail",
        ),
        ("{kind: disk_fail, at_ms: 1, dir: 2}", "4:38", "Broker 2 has no log directory d2"),
        ("{kind: partition, at_ms: 1}", "4:5", "A partition has brokers on both sides"),
        ("{kind: kill, mtbf_ms: 30y}", "4:27", "is a whole number (ms), not 30y."),
        ("{kind: kill, mtbf_ms: 9999d}", "4:27", "must lie between 10 and 315360000000."),
        ("{kind: kill, mtbf_ms: '30'}", "4:27", "is a whole number (ms), not 30."),
    ],
)
def test_mistakes_are_pointed_at(text: str, at: str, why: str) -> None:
    with pytest.raises(InputError) as refused:
        load_text(lines(text), "x.yaml")
    assert why in refused.value.sentence
    assert refused.value.where == f"x.yaml:{at}"


def test_times_are_read_and_written_with_their_unit() -> None:
    text = lines("{kind: disk_fail, brokers: [1], dir: 2, mtbf_ms: 30d, mttr_ms: 1.5h}")
    scenario = load_text(text)
    (fault,) = scenario.faults
    assert (fault.mtbf_ms, fault.mttr_ms) == (2_592_000_000, 5_400_000)
    assert "mtbf_ms: 30d, mttr_ms: 90m, dir: 2" in yaml_of(scenario)
    assert load_text(yaml_of(scenario)) == scenario
    varied = scenario.vary("faults.disk_fail.mtbf_ms", "6h").vary("faults.0.importance", "5")
    assert varied.faults[0].mtbf_ms == 21_600_000


def test_striking_together_is_the_default() -> None:
    roll = load_text(lines("{kind: rolling_restart, at_ms: 1}"))
    assert roll.faults[0].together and "together" not in yaml_of(roll)
    alone = load_text(lines("{kind: rolling_restart, at_ms: 1, together: false}"))
    assert "together: false" in yaml_of(alone) and load_text(yaml_of(alone)) == alone


@pytest.mark.parametrize("code", ["S59", "S61", "S62", "S63", "S74"])
def test_older_scenarios_are_written_as_ever(code: str) -> None:
    """Digests are links: nothing new stands in a text that does not use it."""
    told = find(code).to_dict()
    assert all(not {"loss", "dir"} & set(fault) for fault in told["faults"])
    assert all(isinstance(told["network"][key], list) for key in ("delay_ms", "control_delay_ms"))


def test_a_plan_that_waits_is_redrawn_with_its_future() -> None:
    """The point of no return plays other futures, also with a rolling restart under way."""
    sim = begun(cluster(ROLL, *ALL_KINDS), "K39", 3_600)
    assert sim.plans[0].roll is not None
    sim.draw_anew(1)
    sim.run_until(60_000)
    assert isinstance(sim.plans[0], FaultPlan) and sim.plans[0].roll is None


# -- the controller -------------------------------------------------------------------------------

CRASH = {"kind": "kill_controller", "at_ms": 2_000, "mttr_ms": 4_000}


def test_the_active_controller_crashes_and_another_voter_takes_over() -> None:
    voters = cluster(CRASH, quorum=["C1", "C2", "C3"])
    before = begun(voters, "K39", 1_900).cluster.controller.voter
    sim = begun(voters, "K39", 5_500)
    (plan,) = sim.plans
    assert [(at, who) for at, who, _ in plan.strikes] == [(2_000, (before,))]
    assert sim.cluster.controller.alive and sim.cluster.controller.voter != before
    end = play_all(Run(voters, "K39"))
    assert end.cluster.quorum is not None
    assert all(voter.alive for voter in end.cluster.quorum.voters.values())
    assert 500 < failover(voters, "K39") < 4_000


def failover(scenario: Scenario, profile: str) -> Any:
    return row_of(Run(scenario, profile), 0, 0)["failover_ms"]


@pytest.mark.parametrize("profile", ["K39", "Z24"])
def test_a_controller_that_is_one_node_comes_back_with_its_repair(profile: str) -> None:
    assert failover(cluster(CRASH), profile) == 4_000
    assert failover(cluster(), profile) is None


# -- the operator ---------------------------------------------------------------------------------

OPERATOR = {
    "kind": "operator",
    "mtbf_ms": 500,
    "moves": ["elect preferred", "reassign 2 3", "kill 1"],
}


def test_an_operator_plays_what_can_be_played_and_a_shortened_run_names_it() -> None:
    run = Run(cluster(OPERATOR), "K41", 3)
    sim = play_all(run)
    (plan,) = sim.plans
    assert {"reassign 2 3", "kill 1"} <= set(plan.played), "elect preferred: that replica leads"
    assert len(plan.played) == len(plan.strikes)
    assert sim.cluster.controller.records[0].leader in (2, 3)
    again = Scenario.from_dict(cluster(OPERATOR).to_dict())
    assert again.faults[0].moves == tuple(OPERATOR["moves"])  # type: ignore[arg-type]
    assert play_all(Run(again, "K41", 3)).plans[0].played == plan.played


@pytest.mark.parametrize(
    "line", ["settle", "advance 1s", "produce m1", "restart K", "heal", "kill 1 !1"]
)
def test_an_operator_refuses_moves_that_let_time_pass_or_have_several_events(line: str) -> None:
    with pytest.raises(InputError, match="cannot play"):
        play_all(Run(cluster({**OPERATOR, "moves": [line]}), "K41"))


def test_only_an_operator_has_moves_and_it_needs_some() -> None:
    with pytest.raises(InputError, match="needs moves"):
        cluster({"kind": "operator", "at_ms": 1})
    with pytest.raises(InputError, match="belongs to faults of kind operator only"):
        cluster({"kind": "kill", "at_ms": 1, "moves": ["elect preferred"]})


def test_an_operator_that_cuts_the_power_keeps_no_disks() -> None:
    assert keeps_disks(Run(cluster(OPERATOR), "K41"))
    assert not keeps_disks(Run(cluster({**OPERATOR, "moves": ["power 1"]}), "K41"))


def test_a_fault_of_the_controller_names_no_brokers() -> None:
    with pytest.raises(InputError, match="leave out brokers"):
        cluster({**CRASH, "brokers": [1]})
    saved = Scenario.from_dict(cluster(CRASH).to_dict())
    assert saved.faults == cluster(CRASH).faults
