"""The hunt: storms under every release, breaks made short, and kinds that explain them."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from click.testing import CliRunner

from app.command.hunt import hunt, lines
from app.hunt.hunting import kinds_of, specs_of
from engine.catalogue.bugs import entries
from engine.catalogue.promises import promised
from engine.hunt.breaks import break_of
from engine.hunt.seeded_bugs import SEEDED_BUGS, SeededBug, found_in
from engine.hunt.storms import NAMES, RELEASES, storm
from engine.model.errors import InputError
from engine.model.profiles import get_profile
from engine.sim.run import Run, run_to_end
from engine.study.batch import PROMISED, run_chunk
from tests.conftest import sample


@pytest.mark.parametrize("name", sample(NAMES, 3))
def test_a_storm_plays_under_each_of_its_releases(name: str) -> None:
    scenario = storm(name)
    for profile in scenario.profiles:
        chunk = {"scenario": scenario.to_dict() | {PROMISED: True}, "profile": profile, "cell": 0,
                 "first_seed": 0, "count": 3}  # fmt: skip
        for row in run_chunk(chunk):
            assert row["verdict"] == "holds", f"{name} {profile} {row['seed']}: {row['broken']}"
            assert row["events"] > 300


@pytest.mark.parametrize("name", sample(NAMES, 4))
def test_every_move_of_a_storms_operator_is_possible_at_some_time(name: str) -> None:
    played: Counter[str] = Counter()
    wanted = {line for fault in storm(name).faults for line in fault.moves}
    for seed in range(60):
        sim = Run(storm(name), "K41", seed).simulation()
        sim.rush = True
        run_to_end(sim, ("run",))
        for plan in sim.plans:
            played.update(plan.played)
        if wanted <= played.keys():
            return
    assert not wanted - played.keys(), (
        f"never possible in 60 runs: {sorted(wanted - played.keys())}"
    )


def test_a_storm_is_studied_under_releases_that_have_its_parts() -> None:
    assert specs_of(["voters"], 10, (), 0)["voters"].profiles == tuple(
        get_profile(one).name for one in RELEASES if one != "K39"
    )
    sick = "4.4.0-strict_min_isr"
    assert specs_of(["disks"], 10, [sick], 0)["disks"].profiles == (sick,)
    assert set(specs_of((), 10, ["K39"], 0)) == set(NAMES) - {"voters"}
    with pytest.raises(InputError, match="only"):
        specs_of((), 10, ["0.10.2.2"], 0)
    with pytest.raises(InputError, match="There is no storm"):
        storm("hail")


@pytest.mark.night
def test_a_hidden_bug_is_found_and_made_short_and_nothing_explains_it() -> None:
    """A release with one mended bug back is judged by the promises of the release."""
    sick = "4.4.0+truncation=HW"
    chunk = {"scenario": storm("restarts").to_dict() | {PROMISED: True}, "profile": sick, "cell": 0,
             "first_seed": 1, "count": 1}  # fmt: skip
    (row,) = run_chunk(chunk)
    assert row["verdict"] == "violates"
    found = break_of(Run(storm("restarts"), sick, row["seed"]), row["invariant"])
    assert found.kind is None and found.after < found.before


def test_a_session_that_its_follower_gave_up_is_not_compared() -> None:
    """A follower whose request got lost starts over with a full one."""
    story = Run(storm("links"), "K39", 0)
    (row,) = run_chunk({"scenario": story.scenario.to_dict() | {PROMISED: True}, "profile": "K39",
                        "cell": 0, "first_seed": 0, "count": 1})  # fmt: skip
    assert row["broken"] == []


@pytest.mark.night
def test_lines_name_the_kind_and_the_command_that_repeats_it() -> None:
    found = break_of(Run(storm("tier"), "K39", 38), "INV-39")
    (kind,) = kinds_of({38: found})
    waited = {"hits": 1, "n": 60, "share": 1 / 60, "low": 0.0004, "high": 0.09, "until": "60"}
    row = {"storm": "tier", "profile": "K39", "study": "0", "runs": 60, "broken": waited,
           "errors": 0, "kinds": [kind]}  # fmt: skip
    first, second, *_, last = lines([row])  # type: ignore[list-item]
    assert first == "tier, Kafka 3.9.1: 1 of 60 runs broke a promise (0.04 to 9 %)"
    assert second.startswith("  new: A deposed leader deletes remote segments")
    assert f"{found.after} events: highwater run" in last


@pytest.mark.night
def test_a_deposed_leader_that_deletes_remote_segments_is_known() -> None:
    found = break_of(Run(storm("tier"), "K39", 38), "INV-39")
    assert found.kind is not None and found.kind.name == "deposed-leader-deletes-remote"
    assert found.after < found.before


def test_a_deposed_leader_may_commit_where_a_disk_came_back_empty() -> None:
    run = Run(storm("disks"), "K39", 0)
    assert "I15" not in promised(run, run.simulation())
    calm = Run(storm("restarts"), "K39", 0)
    assert "I15" in promised(calm, calm.simulation())


def test_a_storm_finds_a_bug_that_is_put_back_and_not_where_it_is_mended() -> None:
    """The run that finds it keeps the invariant without the bug, also when it is made short."""
    bugs = {one.bug: one for one in SEEDED_BUGS}
    assert found_in("disks", bugs["KAFKA-15583"], 1) == 1
    assert found_in("disks", bugs["KIP-101"], 5) == 5
    assert found_in("restarts", bugs["KAFKA-16234"], 2) == 0, "no disk fails in it"
    assert found_in("tier", bugs["KAFKA-14704"], 2) is None, "3.4 has no tiered storage"
    healthy = bugs["KIP-101"]._replace(buggy="4.4.0")
    assert found_in("disks", healthy, 5) == 0


@pytest.mark.parametrize("one", SEEDED_BUGS, ids=lambda one: one.bug)
def test_a_hidden_bug_is_of_the_ledger_and_all_that_parts_its_two_profiles(one: SeededBug) -> None:
    buggy, fixed = get_profile(one.buggy).flags(), get_profile(one.fixed).flags()
    (flag,) = [name for name in buggy if buggy[name] != fixed[name]]
    known = {bug.jira: bug.flags for bug in entries()}
    assert flag == "truncation" if one.bug.startswith("KIP") else flag in known[one.bug]


def test_hidden_bugs_are_told_by_storm() -> None:
    ran = CliRunner().invoke(hunt, ["disks", "tier", "--hidden", "--runs", "1", "--json"])
    told = json.loads(ran.output)
    assert told["most"] == 1 and len(told["hidden"]) == len(SEEDED_BUGS)
    assert told["hidden"][0] == {"bug": "KAFKA-15583", "sick": "4.4.0-strict_min_isr",
                                 "found": {"disks": 1, "tier": 1}}  # fmt: skip
    assert {row["found"]["tier"] for row in told["hidden"] if row["sick"] < "3.6"} == {None}
