"""The soak finds nothing in the engine as it is, and finds what is planted in it."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest

from app.command import cli
from app.command import soak as soaking
from engine.catalogue.promises import promised
from engine.dataplane import watermark
from engine.model.configs import REMOTE
from engine.model.effects import Effects
from engine.model.profiles import PROFILES
from engine.scenarios.file import find, library
from engine.scenarios.scenario import Scenario
from engine.sim.pacing import is_calm
from engine.sim.run import Run, play_all
from engine.sim.simulation import Simulation
from engine.study import soak, wander
from engine.view import text
from tests.app.test_cli import highwater

pytestmark = pytest.mark.gate


def chunk(first: int, count: int, profiles: list[str], stored: bool = True) -> dict[str, Any]:
    scenarios = [one.to_dict() for one in library().values()] if stored else []
    return {
        "seed": 0,
        "first": first,
        "count": count,
        "profiles": profiles,
        "library": scenarios,
    }


@pytest.mark.night
def test_a_few_chunks_find_nothing_and_are_the_same_again() -> None:
    wanted = chunk(0, 12, list(PROFILES))
    first, second = soak.soak_chunk(wanted), soak.soak_chunk(json.loads(json.dumps(wanted)))
    assert first["finds"] == [], first["finds"]
    assert first == second
    assert sum(first["runs"].values()) == 12 and len(first["runs"]) > 5
    assert first["steps"] > 1_000
    assert ["S-4", "H-2"] in [pair for pairs in first["pairs"].values() for pair in pairs]


def test_a_scenario_that_a_release_cannot_begin_is_left_out_and_named() -> None:
    """The followers of 2.4 leave the ISR after ten seconds; 3.9 gives them thirty."""
    waits = Scenario.from_dict(
        {"title": "Patient", "configs": {"replica.fetch.wait.max.ms": 15_000}, "script": "settle"}
    )
    told = list(soaking.left_out([waits, find("S20")], ["Z08", "Z24", "K39"]))
    why = "replica.fetch.wait.max.ms must not exceed replica.lag.time.max.ms."
    assert told == [f"Patient is left out under Z08, Z24: {why}"]
    starts = [wander.draw_run(0, n, ["Z24"], [waits])[0] for n in range(12)]
    assert {one.scenario.title for one in starts} == {"by chance"}
    drawn = soak.draw(0, 1, ["K39"], [waits])
    assert drawn.find is None


def test_every_release_can_begin_every_scenario_of_the_library() -> None:
    for scenario in library().values():
        for profile in PROFILES:
            known = PROFILES[profile]
            lacks_voters = scenario.quorum and known.mode == "zk"
            lacks_tier = scenario.configs.get(REMOTE) and known.release < (3, 6)
            why_not = scenario.cannot_begin(profile)
            refusals = [one.refusal(known) for one in scenario.groups]
            lacks = bool(lacks_voters or any(refusals) or lacks_tier)
            assert bool(why_not) is lacks, (scenario.code, profile, why_not)


def finds(count: int = 12) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = soak.soak_chunk(chunk(0, count, ["K39"], False))["finds"]
    return found


@pytest.mark.night
def test_a_planted_wrong_rule_is_found_and_made_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """H-4: the follower takes over the leader's mark, whatever its own log holds."""

    def wrong(replica: Any, leader_hw: int, out: Any) -> bool:
        replica.log.hw = leader_hw + 5
        out.touch(replica.broker, replica.tp)
        return True

    monkeypatch.setattr(watermark, "follow", wrong)
    found = finds()
    assert {"INV-1", "INV-20"} & {one["kind"] for one in found}
    for one in found:
        run = Run.from_text(one["run"])
        assert len(run.lines()) <= min(6, one["moves"]), run.lines()
        assert one["kind"] in {name for name, _, _ in play_all(run).broken}


@pytest.mark.night
def test_a_rule_that_keeps_a_change_to_itself_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The observer would not look there; where it is told of every step, it does."""
    monkeypatch.setattr(Effects, "touch", lambda self, broker, tp: None)
    assert "told" in {one["kind"] for one in finds(12)}


@pytest.mark.night
def test_a_planted_crash_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def falls(*_: Any) -> bool:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(watermark, "follow", falls)
    found = finds(12)
    assert [one for one in found if one["kind"] == "crash" and "planted" in one["why"]]


def test_a_copy_that_forgets_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    copied = Simulation.copy

    def copy(self: Simulation) -> Simulation:
        twin = copied(self)
        twin.kernel.pending.clear()
        return twin

    monkeypatch.setattr(Simulation, "copy", copy)
    kinds = {one["kind"] for one in finds(6)}
    assert "copy" in kinds


def test_listening_that_changes_something_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    act = Simulation.act

    def meddles(self: Simulation, *arguments: Any) -> None:
        act(self, *arguments)
        self.kernel.now += self.out.cues is not None

    monkeypatch.setattr(Simulation, "act", meddles)
    assert "told" in {one["kind"] for one in finds(3)}


@pytest.mark.night
def test_a_step_that_cannot_be_told_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "verdict_lines", lambda sim: [][0])
    found = finds(2)
    assert {one["kind"] for one in found} == {"crash"}
    assert "IndexError" in found[0]["why"]


@pytest.mark.parametrize(
    ("code", "profile", "kept", "broken"),
    [
        ("R20", "Z0102", set(), {"I6", "I7"}),  # before epochs nothing is promised of them
        ("S23", "Z011", set(), {"I5", "INV-12"}),  # KIP-279
        ("S24", "Z20", set(), {"INV-12"}),  # KIP-320
        ("S05", "K36", set(), {"I14"}),
        ("S14", "Z0102", set(), {"INV-13"}),
        ("S01", "K39", {"I5", "I6", "I7", "I9", "I10", "I14", "INV-12", "INV-3"}, {"I4", "I8"}),
        ("S01", "K39-join_needs_epoch_start", {"I2", "INV-3"}, {"I6"}),
        ("S01", "K39+elr", {"I6", "I14"}, set()),
        ("S01", "K35+elr", {"I2"}, {"I6", "I14"}),  # eligible replicas without KAFKA-15583
        ("S01", "K39-idempotent_producer", {"I6"}, {"I12"}),
    ],
)
def test_promises_of_a_release(code: str, profile: str, kept: set[str], broken: set[str]) -> None:
    run = Run(find(code), profile)
    promise = promised(run, play_all(run))
    assert kept <= promise
    assert not broken & promise


@pytest.mark.parametrize("moves", [(), ("advance 1s",)])
def test_a_failed_disk_is_no_rest_before_the_controller_knows(moves: tuple[str, ...]) -> None:
    """I13 asks once the faults are over; nothing was written, so `settle` waits for nothing."""
    sim = play_all(Run(find("S75"), "2.2.0", 411, ("disk_fail 3 d1", *moves, "settle")))
    assert sim.broken == []
    assert is_calm(sim) == bool(moves)


def test_deleted_records_cannot_diverge() -> None:
    """INV-12 speaks of what both logs still have: below the leader's start z may stand for b."""
    moves = (
        "produce a", "settle", "hold md 1", "cut 1 K", "detect 1", "produce z to 1 acks=1",
        "produce b to 2 acks=all", "settle", "heal 1 K", "release md 1", "delete records 2",
        "produce c", "fetch 1",
    )  # fmt: skip
    sim = play_all(Run(find("S41"), "Z27", 0, moves))
    assert sim.brokers[1].replicas[0].log.log_start == 2
    assert sim.broken == []


# -- the command ----------------------------------------------------------------------------------


def test_the_command_plays_in_processes(capsys: pytest.CaptureFixture[str]) -> None:
    report = soaking.soak(0, ["K39", "Z24"], 0, 1, print, chunk=3)
    assert report["runs"] == 3 and report["finds"] == []
    assert set(report["profiles"]) <= {"K39", "Z24"}
    told = "\n".join(soaking.lines(report))
    assert "3 runs" in told and "0 found" in told


def test_a_find_is_told_with_its_line_and_exit_code_1(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(find("S01"), "K39", 3, ("produce a", "settle"))
    found = soaking.Soak()
    for kind in ("I7", "copy"):
        one = {"number": 5, "kind": kind, "why": "because", "run": run.text(), "moves": 9}
        found.finds.append(one)
    monkeypatch.setattr(soaking, "soak", lambda *_: found.report())
    told = highwater("soak", "--minutes", "0")
    assert told.exit_code == 1
    assert "highwater run S01 --kafka K39 --seed 3 --moves 'produce a; settle'" in told.stdout
    line = next(one for one in told.stdout.splitlines() if "soak --run" in one)
    assert highwater(*shlex.split(line)[1:]).exit_code == 0, "nothing is wrong with it in truth"
    assert json.loads(highwater("soak", "--json").stdout)["finds"][0]["moves"] == 9


def test_bad_profiles_are_refused() -> None:
    told = highwater("soak", "--minutes", "0", "--profiles", "K99")
    assert told.exit_code == 2 and told.stderr.startswith("There is no profile K99")
    assert cli.soak.help
