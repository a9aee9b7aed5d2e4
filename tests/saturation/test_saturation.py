"""Saturation of a study: what is unseen, against truths that are known; the swarm; the command."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from engine.scenarios.file import find
from engine.sim.kernel import Chance
from engine.sim.run import Run, play_all
from tests.saturation import study as studies
from tests.saturation import tally as saturation
from tests.saturation.__main__ import saturation as command
from tests.saturation.tally import SaturationTally, more_new, next_new, unseen


def sampled(shares: list[float], runs: int, seed: int) -> SaturationTally:
    """Seeds that meet pair i with a chance of shares[i]."""
    chance, found = Chance(seed, "pairs"), SaturationTally(runs)
    for number in range(runs):
        for index, share in enumerate(shares):
            if chance.hits(share):
                found.pairs.setdefault(("", str(index)), [number, 0])[1] += 1
    return found


@pytest.mark.parametrize("spread", ["alike", "from likely to rare"])
def test_the_unseen_is_bounded_from_below(spread: str) -> None:
    """Where all are alike the bound is the truth; where some are rarer it stays below."""
    alike = spread == "alike"
    shares = [0.008] * 200 if alike else [0.5 / (1 + n) for n in range(200)]
    found, missing, expected, brought = 0.0, 0.0, 0.0, 0.0
    for seed in range(30):
        mine, later = sampled(shares, 200, seed), sampled(shares, 200, seed + 100)
        once, twice = mine.met_by(1), mine.met_by(2)
        bound = unseen(200, once, twice)
        assert bound.low < bound.least < bound.high
        found += bound.least
        missing += len(shares) - len(mine.pairs)
        expected += more_new(200, once, twice, 200)
        brought += len(later.pairs.keys() - mine.pairs.keys())
    assert found == pytest.approx(missing, rel=0.15) if alike else found < 1.1 * missing
    assert expected == pytest.approx(brought, rel=0.15), "what as many seeds again bring"


def test_a_study_that_met_nothing_rare_expects_nothing_new() -> None:
    assert unseen(100, 0, 3).high == next_new(100, 0) == more_new(100, 0, 3, 50) == 0
    assert unseen(1, 5, 0).least == 0, "one seed says nothing"
    assert unseen(100, 5, 0).least > unseen(100, 5, 5).least


def test_a_swarm_draws_every_part_of_the_faults_and_never_none() -> None:
    scenario = find("S74")
    drawn = [saturation.drawn(scenario, seed) for seed in range(200)]
    assert len(set(drawn)) == 7 and () not in drawn
    one = saturation.swarm(scenario, 3)
    assert {fault.kind for fault in one.faults} == set(drawn[3])
    alone = saturation.swarm(one, 5) if len(drawn[3]) == 1 else one
    assert alone.faults, "what has one kind keeps it"


def test_chunks_add_up_to_the_whole_and_a_curve_only_rises() -> None:
    scenario = find("S74")
    whole = saturation.tally(scenario, "swarm", "Z0102", range(7, 19))
    parts = SaturationTally()
    for first in (7, 13):
        parts.add(saturation.tally(scenario, "swarm", "Z0102", range(first, first + 6)))
    assert parts == whole and whole.runs == 12
    curve = saturation.curve(whole.pairs, 7, 12)
    assert [n for n, _ in curve] == [1, 2, 5, 10, 12]
    assert [met for _, met in curve] == sorted({met for _, met in curve})
    assert curve[-1][1] == len(whole.pairs)
    assert curve[0][1] == len(saturation.tally(scenario, "swarm", "Z0102", [7]).pairs)


def test_the_command_tells_both_plans_and_what_it_will_take(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(studies, "CHUNK", 15)
    asked = ("S74", "--seeds", "40", "--jobs", "1")
    told = CliRunner().invoke(command, asked)
    assert told.exit_code == 0, told.output
    assert "40 seeds under each of 2 plans: about" in told.stderr
    for part in ("pairs of rules", "swarm with pause", "still unseen", "Tried on itself"):
        assert part in told.stdout
    report = json.loads(CliRunner().invoke(command, [*asked, "--json"]).stdout)
    assert report["whole"] and report["profile"] == "Z0102"
    for name, plan in report["plans"].items():
        assert plan["runs"] == 40 and plan["curve"][-1] == [40, plan["pairs"]]
        assert plan["half"]["brought"] > 0 and plan["cpu_s"] > 0
        assert plan["broken"] == sum(one["runs"] for one in plan["invariants"].values())
        for invariant, one in plan["invariants"].items():
            run = Run.from_text(one["run"])
            assert play_all(run).broken[0][0] == invariant, name
    for counts in report["faults"].values():
        assert counts["with"][0] + counts["without"][0] == 40


def test_invalid_requests_get_one_sentence() -> None:
    told = CliRunner().invoke(command, ["S999"])
    assert told.exit_code == 2 and "S999" in told.stderr
    assert CliRunner().invoke(command, ["S74", "--profile", "K99"]).exit_code == 2
