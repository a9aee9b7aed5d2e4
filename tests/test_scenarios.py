"""The library keeps its promises: every `expect` line, every verdict, final state and log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import pytest

from engine.catalogue import promises
from engine.catalogue.bugs import entries
from engine.checks.catalogue import EVERY, INVARIANTS, VIOLABLE
from engine.checks.checker import Checker
from engine.model.errors import InputError
from engine.model.flags import release_of
from engine.model.profiles import RELEASES, Profile, get_profile
from engine.moves import moves
from engine.replay.replay import Replay
from engine.scenarios.expectations import is_kept
from engine.scenarios.file import find, library, load_text
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all
from engine.study import matrix

ALL = list(library().values())
SCRIPTED = [one for one in ALL if "scale" not in one.tags]
MUSEUM = [one for one in ALL if one.code.startswith("M")]
NUMBERS: Final = (*range(1, 61), 64, 65, 66, 71, 72, *range(74, 82))
SCALE = [one for one in ALL if "scale" in one.tags]


@pytest.mark.parametrize(
    ("scenario", "profile"),
    [pytest.param(one, name, id=f"{one.code}-{name}") for one in SCRIPTED for name in one.profiles],
)
def test_promises(scenario: Scenario, profile: str) -> None:
    played = promises.play(scenario, profile)
    again = f"highwater run {scenario.code} --kafka {profile}"
    assert played.complaints == [], f"play it with: {again}"


@pytest.mark.parametrize("scenario", [pytest.param(one, id=one.code) for one in ALL])
def test_every_scenario_is_told_well(scenario: Scenario) -> None:
    assert scenario.title.endswith("?"), "a title is a question"
    assert scenario.teaches.endswith("."), "teaches is a sentence"
    for field in ("tags", "origin", "code"):
        assert getattr(scenario, field), f"in the library a scenario has {field}:"
    assert set(scenario.expect) == set(scenario.profiles), "expect: has a verdict for each profile"
    for profile in scenario.profiles:
        told = [line for line in scenario.lines(profile) if line.comment]
        silent = "scale" in scenario.tags or not scenario.script
        assert told or silent, f"under {profile} no comment tells what happens"
        for line in scenario.lines(profile):
            if not line.is_expect:
                moves.parse(line.text, scenario.brokers)


def test_the_codes_and_profiles_are_those_asked_for() -> None:
    codes = [one.code for one in ALL]
    assert len(set(codes)) == len(codes)
    plain = {f"S{number:02}" for number in NUMBERS}
    assert plain <= set(codes)
    others = [one for one in ALL if one not in MUSEUM and not one.cannot_begin("K39")]
    assert all("K39" in one.profiles for one in others)
    assert {"Z0102", "Z011", "Z20", "Z21", "Z28", "K39"} <= set(
        library()["lost-to-truncation"].profiles
    )


def sides_of_bug(scenario: Scenario) -> list[Profile]:
    """The last release that has the bug of the scenario's origin, and the next one."""
    entry = next(one for one in entries() if re.search(rf"{one.jira}\b", scenario.origin))
    mode = get_profile(scenario.profiles[0]).mode
    known = RELEASES[mode]
    last = max(at for at, one in enumerate(known) if entry.affects(release_of(one), mode))
    if not entry.fixed:  # open: the last release, with the bug and without it
        has = scenario.profiles[0]
        flag = entry.flags[0]
        value = not get_profile(has).flags()[flag]
        return [get_profile(f"{known[-1]}-{mode}"), get_profile(has).with_flags({flag: value})]
    return [get_profile(f"{one}-{mode}") for one in known[last : last + 2]]


@pytest.mark.parametrize("scenario", [pytest.param(one, id=one.code) for one in MUSEUM])
def test_a_defect_is_one_flag_and_shows(scenario: Scenario) -> None:
    """The museum: first the defect, then the fix.

    They are one release with a flag flipped and as it is, or the last release that has the bug and
    the first that has not.
    """
    broken, fixed = scenario.profiles
    if not re.fullmatch(re.escape(fixed) + r"[+-][a-z0-9_]+(=[A-Z0-9]+)?", broken):
        sides = [one.name for one in sides_of_bug(scenario)]
        assert [get_profile(one).name for one in (broken, fixed)] == sides
    assert "history" in scenario.tags
    told = [
        (scenario.expect[one], [line.text for line in scenario.lines(one) if line.is_expect])
        for one in (broken, fixed)
    ]
    assert told[0] != told[1]
    plays = [
        [line.text for line in scenario.lines(one) if not line.is_expect] for one in (broken, fixed)
    ]
    assert plays[0] == plays[1], "the same run, with and without the fix"


@pytest.mark.parametrize("scenario", [pytest.param(one, id=one.code) for one in SCALE])
def test_runs_meant_for_scale_stay_small(scenario: Scenario) -> None:
    for profile in scenario.profiles:
        events = [play_all(Run(scenario, profile, seed)).events for seed in range(5)]
        assert 300 < sum(events) / len(events) < 4_000, (profile, events)


def shares(code: str, profile: str, runs: int, **changes: object) -> dict[str, int]:
    """The number of runs in which each invariant broke."""
    scenario = find(code)
    for key, value in changes.items():
        scenario = scenario.vary(key.replace("__", "."), value)
    counts: dict[str, int] = {}
    for seed in range(runs):
        for name in {name for name, _, _ in play_all(Run(scenario, profile, seed)).broken}:
            counts[name] = counts.get(name, 0) + 1
    return counts


@pytest.mark.night
def test_old_kafka_loses_to_plain_crashes_and_new_kafka_does_not() -> None:
    assert shares("S61", "Z0102", 30).get("I7", 0) >= 5
    for profile in ("Z011", "Z20", "K39"):
        assert shares("S61", profile, 30).get("I7", 0) == 0


@pytest.mark.night
def test_power_loss_is_survived_more_often_with_more_copies() -> None:
    few = shares("S62", "K39", 60, min__insync__replicas=1).get("I7", 0)
    many = shares("S62", "K41", 60, min__insync__replicas=2).get("I7", 0)
    assert few > many, (few, many)


def test_a_lossy_link_thrashes_the_isr() -> None:
    scenario = find("S63")
    changes = 0
    for seed in range(10):
        ledger = play_all(Run(scenario, "K39", seed)).ledger
        changes += ledger.isr_shrinks + ledger.isr_expands
    assert changes >= 20


# -- promises that are not kept ------------------------------------------------------------------

BROKEN = """\
title: Does anybody look?
brokers: 2
script: |
  produce a to 1 acks=all
  expect {wrong}
  settle
expect:
  K39: {{verdict: {verdict}, final: "{final}", logs: {{1: "{log}"}}, counts: [{counts}]}}
"""
RIGHT = {
    "wrong": "waiting a",
    "verdict": "holds",
    "final": "P{1 0 0 [1,2]}",
    "log": "a@0",
    "counts": "",
}


def complaints(**changes: str) -> list[str]:
    return promises.play(load_text(BROKEN.format(**{**RIGHT, **changes})), "K39").complaints


@pytest.mark.parametrize(
    ("what", "text", "complaint"),
    [
        ("wrong", "ack a", "line 2: expected ack a, but a was not answered yet"),
        ("wrong", "refused a NOT_ENOUGH_REPLICAS", "but a was not answered yet"),
        ("wrong", "b1 LEO 2", "line 2: expected b1 LEO 2, but it has LEO 1 HW 0"),
        ("wrong", "P{2 0 0 [1,2]}", "but the record is P{1 0 0 [1,2]}"),
        ("wrong", "P{1 0 0 [1]}", "but the record is P{1 0 0 [1,2]}"),
        ("wrong", "P7{1 0 0 [1]}", "but there is no partition 7"),
        ("wrong", "epochs 1 0:1", "but its cache is 0:0"),
        ("wrong", "log 2 a@0", "but it holds nothing"),
        ("verdict", "violates I7", "verdict: I7 should break, but nothing did"),
        ("final", "P{1 0 1 [1,2]}", "final: expected P{1 0 1 [1,2]}, but the record is"),
        ("log", "b@0", "logs: expected 1: b@0, but it holds a@0"),
        ("counts", "I8", "counts: I8 was expected to be counted, but never was"),
    ],
)
def test_a_promise_that_is_not_kept_is_told(what: str, text: str, complaint: str) -> None:
    assert complaints() == []
    told = complaints(**{what: text})
    assert len(told) == 1
    assert complaint in told[0]


def breaking(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """From now on these break with the first event that is looked at."""
    looks = Checker.after

    def after(self: Checker, node: int, step: int, touched: Sequence[int] | None = None) -> None:
        looks(self, node, step, touched)
        for invariant in (one for one in EVERY if one.about.name in names):
            invariant.report(self, "as the test wants")

    monkeypatch.setattr(Checker, "after", after)


@pytest.mark.parametrize("name", VIOLABLE)
def test_holds_means_everywhere_that_nothing_broke(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The promise, the table of verdicts and the replay say the same, whatever broke."""
    holds = load_text(BROKEN.format(**RIGHT))
    named = load_text(BROKEN.format(**{**RIGHT, "verdict": f"violates {name}"}))
    breaking(monkeypatch, name)
    told = [f"verdict: nothing should break, but {name} did"]
    assert promises.play(holds, "K39").complaints == told
    assert matrix.cell(holds, "K39").text() == f"{name} !"
    verdict = Replay(Run(holds, "K39")).verdict()
    assert (verdict["holds"], verdict["expected"]) == (False, False)
    assert promises.play(named, "K39").complaints == []
    assert matrix.cell(named, "K39").text() == name
    assert Replay(Run(named, "K39")).verdict()["expected"] is True


@pytest.mark.parametrize(
    ("verdict", "broken", "kept"),
    [
        ("holds", (), True),
        ("holds", ("INV-12",), False),
        ("statistical", ("I7",), True),
        (["I5"], ("I5",), True),
        (["I5"], ("I5", "INV-12"), True),
        (["I5"], ("I5", "INV-13"), False),
        (["I5"], ("I5", "INV-10"), False),
        (["I5"], ("INV-12",), False),
        (["I5", "INV-12"], ("I5",), False),
        (["I6"], ("I6", "INV-13"), True),
        (["I6"], ("I6", "I7"), False),
    ],
)
def test_beside_what_is_named_only_what_explains_it_may_break(
    verdict: str | list[str], broken: tuple[str, ...], kept: bool
) -> None:
    assert is_kept(verdict, broken) is kept


def test_explanations_name_existing_invariants() -> None:
    explaining = {one.name: one.explains for one in INVARIANTS.values() if one.explains}
    assert explaining == {"INV-12": "I5", "INV-13": "I6"}


@pytest.mark.parametrize("name", ["I8", "I11", "INV-2"])
def test_a_verdict_names_only_what_can_be_violated(name: str) -> None:
    """I8 is a statistic, I11 says itself that it is none, INV-2 is not watched."""
    with pytest.raises(InputError, match=f"is one of I1, I2, .*, not .*{name}"):
        load_text(BROKEN.format(**{**RIGHT, "verdict": f"violates {name}"}))


def test_an_impossible_line_names_itself() -> None:
    scenario = load_text("title: x\nscript: |\n  settle\n  restart 1\n")
    with pytest.raises(InputError, match="Broker 1 is running already"):
        promises.play(scenario, "K39")
