"""The ladder: its counts are those an independent model checker found, and its ways are real."""

from __future__ import annotations

import json
from functools import cache
from itertools import permutations, product
from pathlib import Path
from typing import Any

import click.testing
import pytest

from app.command import cli
from engine.dataplane.truncation import target_by_offset, target_by_pair
from engine.ladder import async_isr, questions, render, rules
from engine.ladder.async_isr import AsyncIsr
from engine.ladder.invariants import EXPECTED_TO_BREAK, NAMES
from engine.ladder.partition import AbstractPartition
from engine.ladder.rungs import FENCES, RUNGS
from engine.ladder.search import LadderBounds, LadderOutcome, LadderSearch
from engine.ladder.state import (
    AbstractCluster,
    AbstractReplica,
    Constants,
    renamed,
    renamed_controller,
)
from engine.model.errors import InputError
from engine.model.log import Batch, Log
from tests.conftest import THOROUGH, sample

pytestmark = pytest.mark.gate

COUNTS = Path(__file__).parent / "ladder_counts.json"
ROWS: list[dict[str, Any]] = json.loads(COUNTS.read_text("utf-8"))["rows"]
QUICK = 50_000 if THOROUGH else 8_000
"""States generated; larger rows are compared by `highwater explore --counts`."""


def row_name(row: dict[str, Any]) -> str:
    size = "-".join(str(value) for value in row["constants"].values())
    return f"{row['ladder']}-{size}{'-symmetry' if row['symmetry'] else ''}"


@pytest.mark.parametrize("row", [row for row in ROWS if row["generated"] <= QUICK], ids=row_name)
def test_counts_are_those_of_an_independent_checker(row: dict[str, Any]) -> None:
    compared = questions.compare(row, LadderBounds())
    assert compared["verdict"] == "equal", compared["differs"]


@pytest.mark.parametrize("name", ["generated", "distinct", "depth", "StrongIsr", "WeakIsr"])
def test_a_count_that_is_wrong_is_said_to_be(name: str) -> None:
    row = next(row for row in ROWS if row_name(row) == "kip101-3-1-1-1")
    wrong = json.loads(json.dumps(row))
    if name in wrong:
        wrong[name] += 1
    else:
        wrong["invariants"][name] = 5
    compared = questions.compare(wrong, LadderBounds())
    assert compared["verdict"] == "different"
    assert set(compared["differs"]) == {name}


LEVELS = {
    "trunc_hw": "1 4 14 30 42 50 56 60 44 30 18 4",
    "kip101": "1 4 14 30 42 50 56 60 42 26 14 2",
    "kip279": "1 4 14 30 42 50 56 60 42 26 14 2",
    "kip320_first_try": "1 4 14 30 42 50 56 58 40 26 14 2",
    "kip320": "1 4 12 18 36 44 48 48 30 22 12 2",
}
FIRED = {
    "trunc_hw": "22 58 96 182 58 40 78 82 66 0",
    "kip101": "22 58 94 182 58 34 76 80 54 0",
    "kip279": "22 58 94 306 58 34 76 80 54 0",
    "kip320_first_try": "22 58 94 178 58 30 66 76 50 4",
    "kip320": "20 54 52 98 54 34 50 70 38 0",
}


@pytest.mark.parametrize("rung", LEVELS)
def test_levels_and_moves_one_by_one(rung: str) -> None:
    outcome = LadderSearch(AbstractPartition(RUNGS[rung], Constants(2, 1, 1, 1))).run()
    assert " ".join(map(str, outcome.widths)) == LEVELS[rung]
    assert " ".join(map(str, outcome.moves_fired.values())) == FIRED[rung]
    assert sum(outcome.moves_fired.values()) == outcome.progress.generated - 1


# -- the invariants, written naively over a whole state -------------------------------------------


def agree(a: AbstractReplica, b: AbstractReplica, n: int) -> bool:
    return len(a.log) >= n and len(b.log) >= n and all(a.log[o] == b.log[o] for o in range(n))


def covered(cluster: AbstractCluster, by_controller: bool) -> bool:
    return all(
        agree(a, b, a.hw)
        for a in cluster.replicas
        if a.leader == a.me and a.hw > 0
        for b in cluster.replicas
        if (cluster.controller.isr if by_controller else a.isr) >> b.me & 1
    )


def logs_match(a: AbstractReplica, b: AbstractReplica) -> bool:
    return all(
        a.log[: o + 1] == b.log[: o + 1]
        for o in range(min(len(a.log), len(b.log)))
        if a.log[o][1] == b.log[o][1]
    )


def naively(cluster: AbstractCluster) -> dict[str, bool]:
    replicas, record = cluster.replicas, cluster.controller
    leads = [replica for replica in replicas if replica.leader == replica.me]
    both = list(product(replicas, replicas))
    return {
        "LeaderInIsr": record.leader == -1 or record.isr & 1 << record.leader != 0,
        "IsrNeverEmpty": record.isr != 0,
        "HwLeLeo": all(replica.hw <= len(replica.log) for replica in replicas),
        "OneLeaderPerEpoch": len({one.epoch for one in leads}) == len(leads),
        "WeakIsr": covered(cluster, by_controller=False),
        "StrongIsr": covered(cluster, by_controller=True),
        "EpochsMonotone": all(
            one[1] <= other[1]
            for replica in replicas
            for one, other in zip(replica.log, replica.log[1:], strict=False)
        ),
        "LogMatching": all(logs_match(a, b) for a, b in both),
        "CommittedAgree": all(
            a.log[:n] == b.log[:n] for a, b in product(leads, leads) for n in [min(a.hw, b.hw)]
        ),
    }


@cache
def searched(
    rung: str, size: tuple[int, ...], symmetry: bool = False
) -> tuple[AbstractPartition, LadderOutcome]:
    model = AbstractPartition(RUNGS[rung], Constants(*size))
    return model, LadderSearch(model, symmetry=symmetry).run()


def every_state(rung: str, size: tuple[int, ...]) -> list[tuple[AbstractPartition, int]]:
    model = AbstractPartition(RUNGS[rung], Constants(*size))
    search = LadderSearch(model)
    search.run()
    return [(model, state) for state in search._before]


@pytest.mark.parametrize("rung", RUNGS)
def test_tables_say_of_every_state_what_the_definitions_say(rung: str) -> None:
    for model, state in every_state(rung, (2, 2, 2, 1)) + every_state(rung, (3, 1, 1, 0)):
        broken, nexts = model.look(state)
        held = naively(model.cluster(state))
        told = {name: not broken >> place & 1 for place, name in enumerate(NAMES)}
        assert told == held, render.picture(model.cluster(state))
        labelled = list(model.labelled(state))
        assert [following for _, following in labelled] == nexts
        assert state not in nexts


@pytest.mark.parametrize("symmetry", [False, True])
@pytest.mark.parametrize("rung", ["kip101", "kip279", "kip320-truncation", "kip320-shrink_epoch"])
def test_a_way_leads_move_by_move_to_what_it_shows(rung: str, symmetry: bool) -> None:
    model, outcome = searched(rung, (2, 2, 2, 2), symmetry)
    assert set(outcome.broken) > {EXPECTED_TO_BREAK}
    for name, found in outcome.broken.items():
        assert len(found.states) == len(found.moves) + 1
        assert found.states[0] == model.initial
        for move, before, after in zip(found.moves, found.states, found.states[1:], strict=False):
            assert (move, after) in list(model.labelled(before))
        *earlier, last = [naively(model.cluster(state))[name] for state in found.states]
        assert all(earlier) and not last
        lines = list(render.way(model, found))
        assert len(lines) == 2 * len(found.moves)


@pytest.mark.night
@pytest.mark.parametrize("rung", sample(list(RUNGS), 2))
def test_symmetry_changes_no_verdict(rung: str) -> None:
    _, plain = searched(rung, (3, 1, 1, 1))
    _, folded = searched(rung, (3, 1, 1, 1), True)
    lengths = [
        {name: len(found.states) for name, found in outcome.broken.items()}
        for outcome in (plain, folded)
    ]
    assert lengths[0] == lengths[1]
    assert folded.progress.depth == plain.progress.depth
    assert folded.progress.distinct * 6 >= plain.progress.distinct


def test_all_names_of_a_state_have_one_representative() -> None:
    for model, state in every_state("kip320", (3, 1, 1, 1))[::37]:
        cluster = model.cluster(state)
        images = set()
        for names in permutations(range(3)):
            replicas = sorted(renamed(replica, names) for replica in cluster.replicas)
            record = renamed_controller(cluster.controller, names)
            image = model._numbers.number(AbstractCluster(tuple(replicas), record))
            images.add(model.representative(image))
        assert len(images) == 1


# -- without a fence ------------------------------------------------------------------------------

AT_2222 = {"fenced_fetch": 11, "reached_hw": 8, "truncation": 9, "matching_end": 11}
AT_3112 = {"fenced_hw": 13, "fenced_expand": 12, "epoch_start": 12}


def test_each_fence_is_needed_but_one() -> None:
    watched = tuple(name for name in NAMES if name != EXPECTED_TO_BREAK)
    found = {}
    for fence in FENCES:
        row = questions.without_fence(
            f"kip320-{fence}", questions.SIZES[:1], watched, LadderBounds()
        )
        found[fence] = row["states"]
    none = dict.fromkeys((*AT_3112, "fenced_truncation", "fenced_shrink"))
    assert found == {**AT_2222, "shrink_epoch": 9, **none}


@pytest.mark.night
@pytest.mark.parametrize("fence", AT_3112)
def test_three_replicas_need_what_two_do_not(fence: str) -> None:
    size = questions.SIZES[1:2]
    row = questions.without_fence(f"kip320-{fence}", size, ("WeakIsr", "StrongIsr"), LadderBounds())
    assert row["states"] == AT_3112[fence]


# -- the same rules in the engine -----------------------------------------------------------------


SIZES_OF_PAIRS = {"kip101": (2, 3, 3, 2), "kip279": (3, 2, 2, 1)}


def pairs(rung: str) -> list[tuple[AbstractReplica, AbstractReplica]]:
    """(leader, follower with a log) of all states whose logs are as logs of Kafka are."""
    found = {
        (leader, follower)
        for model, state in every_state(rung, SIZES_OF_PAIRS[rung])
        for leader, follower in permutations(model.cluster(state).replicas, 2)
        if follower.log and logs_match(leader, follower)
        if in_order(leader) and in_order(follower)
    }
    return sorted(found)


def in_order(replica: AbstractReplica) -> bool:
    epochs = [epoch for _, epoch in replica.log]
    return epochs == sorted(epochs)


def as_log(replica: AbstractReplica) -> Log:
    log = Log()
    for offset, (record, epoch) in enumerate(replica.log):
        log.append(Batch(offset, epoch, (f"m{record}",)))
    log.hw = replica.hw
    return log


@pytest.mark.night
def test_kip_101_cuts_where_the_engine_cuts() -> None:
    found = pairs("kip101")
    assert len(found) > 1_000
    for leader, follower in found:
        log = as_log(follower)
        _, end = as_log(leader).end_offset_for_epoch(log.epochs.latest())
        target, done = target_by_offset(log, end, log.hw)
        ((kept, _),) = rules.by_last_epoch_clamped(leader, follower, 0)
        assert done
        assert len(kept) == target, (leader, follower)


@pytest.mark.night
def test_kip_279_cuts_where_the_engine_ends_up() -> None:
    compared = 0
    for leader, follower in pairs("kip279"):
        if not leader.log or leader.log[-1][1] < follower.log[-1][1]:
            continue  # the engine's leader has always heard of its followers' epochs
        compared += 1
        log, asked, done = as_log(follower), as_log(leader), False
        while log.leo and not done:
            answer = asked.end_offset_for_epoch(log.epochs.latest())
            target, done = target_by_pair(log, *answer, log.hw)
            log.truncate_to(target)
        assert log.leo == rules.matching_end(leader, follower), (leader, follower)
    assert compared > 200


# -- the leader and the controller ----------------------------------------------------------------


@pytest.mark.parametrize("row", [row for row in ROWS if row["ladder"] == "async_isr"], ids=row_name)
def test_the_exchange_is_symmetric_but_for_the_leader(row: dict[str, Any]) -> None:
    folded = LadderSearch(
        AsyncIsr(async_isr.AsyncIsrConstants(**row["constants"])), symmetry=True
    ).run()
    assert folded.progress.depth == row["depth"]
    assert folded.progress.distinct <= row["distinct"]
    assert not folded.broken


def test_a_state_beyond_the_constraint_is_looked_at() -> None:
    """If the leader did not wait for whom it asked to take in, the mark would be invalid."""

    class Hasty(AsyncIsr):
        def _broken(self, state: async_isr.AsyncIsrState) -> int:
            return int(state.version > self.constants.versions)

    model = Hasty(async_isr.AsyncIsrConstants(2, 0, 0))
    outcome = LadderSearch(model).run()
    found = outcome.broken["ValidHighWatermark"]
    assert [move.name for move in found.moves] == ["controller-shrinks"]
    assert not model.inside(found.states[-1])
    assert outcome.progress.distinct < outcome.progress.generated
    assert len(list(render.way(model, found))) == 2


# -- the command ----------------------------------------------------------------------------------


def highwater(*arguments: str) -> click.testing.Result:
    return click.testing.CliRunner().invoke(cli.main, ["explore", *arguments])


SMALL = ("--ladder", "kip101", "--replicas", "3", "--log", "1", "--records", "1", "--epochs", "1")


def test_the_answer_is_one_line_of_json() -> None:
    told = highwater(*SMALL, "--json")
    assert told.exit_code == 0, told.output
    assert told.stdout.count("\n") == 1
    answer = json.loads(told.stdout)
    strong = answer["invariants"].pop("StrongIsr")
    assert (strong["holds"], strong["states"], len(strong["moves"])) == (False, 12, 11)
    assert strong["moves"][0] == {"move": "controller-elects", "who": [0]}
    assert answer.pop("cpu_s") > 0
    assert sum(answer.pop("moves_fired").values()) == 28_839
    holds = {"holds": True, "states": None}
    assert answer == {
        "schema": 1,
        "ladder": "kip101",
        "constants": {"replicas": 3, "log": 1, "records": 1, "epochs": 1},
        "symmetry": False,
        "complete": True,
        "generated": 28_840,
        "distinct": 9_841,
        "depth": 18,
        "invariants": {name: holds for name in NAMES if name != "StrongIsr"},
    }


@pytest.mark.parametrize("bound", [("--max-states", "5000"), ("--max-seconds", "0")])
def test_a_bound_leaves_no_verdict_holds(bound: tuple[str, ...]) -> None:
    told = highwater(*SMALL, "--json", *bound)
    assert told.exit_code == 3
    answer = json.loads(told.stdout)
    assert not answer["complete"]
    assert {one["holds"] for one in answer["invariants"].values()} <= {None, False}
    assert answer["distinct"] < 9_841
    assert "not all" in highwater(*SMALL, *bound).stdout


def test_a_violation_is_told_move_by_move() -> None:
    told = highwater(*SMALL).stdout
    assert "BROKEN: StrongIsr, after 11 moves" in told
    assert "  5. B fetches m0@0 from A; its high watermark is 0." in told
    assert "holds: WeakIsr" in told


def test_counts_are_compared_by_command(tmp_path: Path) -> None:
    row = next(row for row in ROWS if row_name(row) == "kip320-2-1-1-1")
    file = tmp_path / "counts.json"
    file.write_text(json.dumps({"rows": [row]}))
    assert highwater("--counts", str(file)).exit_code == 0
    file.write_text(json.dumps({"rows": [row, {**row, "depth": 99}]}))
    told = highwater("--counts", str(file), "--json")
    assert told.exit_code == 1
    assert [one["verdict"] for one in json.loads(told.stdout)["rows"]] == ["equal", "different"]
    file.write_text(json.dumps({"rows": [{**row, "constants": {**row["constants"], "epochs": 3}}]}))
    told = highwater("--counts", str(file), "--budget-s", "0")
    assert told.exit_code == 3, told.output
    assert "not within the budget" in told.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--ladder", "kip0"),
        ("--ladder", "kip320", "--replicas", "2"),
        ("--ladder", "async_isr", "--replicas", "2", "--log", "1"),
        (*SMALL[:-1], "99"),
        ("--counts", "no-such-file.json"),
        ("--counts", str(Path(__file__))),
    ],
)
def test_bad_questions_are_refused_in_one_sentence(arguments: tuple[str, ...]) -> None:
    told = highwater(*arguments)
    assert told.exit_code == 2
    assert told.stdout == ""
    assert told.stderr.count("\n") == 1


@pytest.mark.parametrize("row", [{}, {"ladder": "kip320"}, 7, {**ROWS[0], "depth": "7"}])
def test_a_row_that_cannot_be_used_is_named(row: object) -> None:
    with pytest.raises(InputError, match="Row 2"):
        questions.rows_of({"rows": [ROWS[0], row]})


def test_the_ladder_needs_nothing_else_of_the_engine() -> None:
    sources = Path(questions.__file__).parent.glob("*.py")
    needed = {
        line.split()[1]
        for path in sources
        for line in path.read_text("utf-8").splitlines()
        if line.startswith("from engine.") and not line.startswith("from engine.ladder")
    }
    assert needed == {"engine.model.errors"}
