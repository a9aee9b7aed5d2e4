"""Runs held against the ladder: each event is a move of the rung, or the first that is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

import pytest

from app.core.refusals import reproduce
from engine.ladder.partition import AbstractPartition
from engine.ladder.rungs import RUNGS
from engine.ladder.state import AbstractCluster, Constants
from engine.model.errors import InputError
from engine.model.profiles import GENERATIONS, get_profile
from engine.refinement.mapping import Mapping
from engine.refinement.model_tracker import BESIDE, Matched, UnmatchedError
from engine.refinement.walking import Refinement, refine, rung_of
from engine.scenarios.file import find, library
from engine.sim.kernel import Chance
from engine.sim.run import Run, play
from engine.study import wander
from tests.conftest import THOROUGH

DRAWN: Final = 400 if THOROUGH else 5
MOVES: Final = 60

SEEN_TO_FAIL: Final = {
    "M01": ("K39-join_needs_epoch_start", "3 may not join the in-sync set under this rung."),
    "M02": (
        "K39-diverging_skips_follower_update",
        "The high watermark of B passed a record that A of its in-sync set may not have "
        "under this rung.",
    ),
    "M03": ("Z20-epoch_entry_at_election", "B cut more of its log than the rung does."),
    "M10": ("K39+truncation=HW", "A cut more of its log than the rung does."),
    "M11": (
        "Z21-fetch_epoch_check",
        "B took a record that A could not give it under this rung.",
    ),
    "M12": (
        "K39+truncation=KIP101",
        "The high watermark of A passed a record that B of its in-sync set may not have "
        "under this rung.",
    ),
    "M19": ("Z24", "2 took a record that 1 could not give it under this rung."),
}
"""Piece of the museum -> its release without the fence, and the step that its rung lacks."""


def told(found: Refinement) -> str:
    """Where it ends, and the line that plays it again."""
    first = found.first
    return f"step {first.step}: {first.why}\n{reproduce(found.run)}" if first else ""


# -- the library ----------------------------------------------------------------------------------


def held() -> Iterator[Refinement]:
    for scenario in library().values():
        for profile in scenario.profiles if THOROUGH else scenario.profiles[:1]:
            yield refine(Run(scenario, profile))


KAFKA_FAILS = {"S86"}
"""Scenarios in which real brokers leave their rung: the leader counts without one of the ISR."""


@pytest.mark.night
def test_the_library_refines_the_ladder_as_far_as_a_rung_has_words_for_it() -> None:
    """All but the museum's pieces without their fence."""
    verdicts: Counter[str] = Counter()
    for found in held():
        code, profile = found.run.scenario.code, found.run.profile
        if SEEN_TO_FAIL.get(code, ("",))[0] == profile:
            continue
        if code in KAFKA_FAILS:
            assert found.first is not None and not found.first.beyond, told(found)
            continue
        assert found.holds or (found.first is not None and found.first.beyond), told(found)
        verdicts["holds" if found.holds else "beyond"] += 1
    assert verdicts["holds"] > verdicts["beyond"]


@pytest.mark.parametrize("code", SEEN_TO_FAIL)
def test_a_fence_that_is_taken_away_is_noticed(code: str) -> None:
    """Without it a step comes that the rung lacks; with it the same script is a run of it."""
    scenario, (profile, why) = find(code), SEEN_TO_FAIL[code]
    without = refine(Run(scenario, profile)).first
    assert without is not None and not without.beyond
    assert without.why == why
    assert refine(Run(scenario, scenario.profiles[1])).holds


@pytest.mark.parametrize(
    ("profile", "rung"), [("Z0102", "kip101"), ("Z0102", "kip320"), ("Z011", "kip320")]
)
def test_another_generation_is_no_run_of_the_rung(profile: str, rung: str) -> None:
    """The other way round: the engine is as it was, the model has rules that came later."""
    scenario = find("R20" if profile == "Z0102" else "S23")
    own, other = refine(Run(scenario, profile)), refine(Run(scenario, profile), rung)
    assert own.holds, told(own)
    assert other.first is not None and not other.first.beyond


# -- by chance ------------------------------------------------------------------------------------

BEYOND: Final = ("power", "wipe", "set", "jump", "reassign", "delete", "decommission", "create")
"""What no rung has a word for, but for elections from outside the ISR, which come of themselves."""


def tame(line: str) -> bool:
    return not line.startswith(BEYOND) and "power" not in line and "unclean" not in line


def drawn(number: int) -> Run:
    """A run of moves by chance, under a release by chance."""
    chance = Chance(number, "refinement")
    profile = wander.pick(chance, list(GENERATIONS))
    world = wander.WORLDS[wander.pick(chance, ["manual", "two of three", "auto"])]
    sim = Run(world, profile, number, ()).simulation()
    lines = []
    for _ in range(MOVES):
        line = wander.draw_move(sim, chance, tame)
        try:
            wander.advance(sim, line)
        except InputError:
            break
        lines.append(line)
    return Run(world, profile, number, tuple(lines))


def test_runs_by_chance_refine_the_ladder() -> None:
    moves = 0
    for number in range(DRAWN):
        found = refine(drawn(number))
        assert found.holds or (found.first is not None and found.first.beyond), told(found)
        moves += sum(found.moves.values())
    assert moves > 10 * DRAWN


# -- the moves are those of the model that was counted --------------------------------------------


def steps_of(run: Run) -> Iterator[tuple[AbstractCluster, Matched]]:
    """Each move with the ladder's state before it."""
    sim = run.simulation(cues=True)
    mapping = Mapping(sim, 0, RUNGS[rung_of(get_profile(run.profile))])
    before = mapping.cluster
    for _ in play(sim, run.lines()):
        try:
            found = mapping.step()
        except UnmatchedError:
            return
        for matched in found:
            yield before, matched
            before = matched.after


@pytest.mark.parametrize(("code", "profile"), [("R20", "Z0102"), ("S23", "Z011"), ("S24", "K39")])
def test_matched_moves_are_moves_of_the_search(code: str, profile: str) -> None:
    """The search, whose counts are known to be right, lists every move that is neither late nor
    beside the model, and leads to the same state by it."""
    run = Run(find(code), profile)
    looked = 0
    for before, (move, late, after) in steps_of(run):
        if late or move.name in BESIDE:
            continue
        model = AbstractPartition(
            RUNGS[rung_of(get_profile(profile))], Constants(len(before.replicas), 8, 8, 8)
        )
        number = model._numbers.number(before)
        reached = {(name, model.cluster(state)) for name, state in model.labelled(number)}
        assert (move, after) in reached, (move, before)
        looked += 1
    assert looked > 10


def test_a_beginning_in_the_middle_is_told() -> None:
    """A partition that is not there, and a rung that is not."""
    with pytest.raises(InputError, match="There is no partition 7: the last is 0"):
        refine(Run(find("R20")), partition=7)
    with pytest.raises(InputError, match="There is no rung kip999"):
        refine(Run(find("R20")), "kip999")
