"""CP-REASSIGN-KR: the example table of the control-plane specification, 7.2, and its helpers."""

from __future__ import annotations

import pytest

from engine.controlplane import election, reassignment
from engine.model.profiles import get_profile
from engine.model.records import PartitionRecord

Ids = tuple[int, ...]


def change(
    record: PartitionRecord, target: election.Target, all_targets: bool = True
) -> PartitionRecord:
    return election.change_partition(
        record,
        get_profile("K39").with_flags({"reassign_needs_all_targets": all_targets}),
        target,
        acceptable=range(9).__contains__,
        min_isr=1,
        elr=False,
        last_known_leader=True,
    ).record


def alter(record: PartitionRecord, isr: Ids, all_targets: bool = True) -> PartitionRecord:
    return change(record, election.Target(isr=isr), all_targets)


def start(record: PartitionRecord, target: Ids) -> PartitionRecord:
    plan = reassignment.plan(record.replicas, target)
    return change(record, election.Target(None, plan.replicas, plan.adding, plan.removing))


def test_table() -> None:
    p = PartitionRecord((1, 2, 3), (1, 2, 3), 1)
    one = start(p, (1, 2, 4))
    assert one.key() == PartitionRecord((1, 2, 4, 3), (1, 2, 3), 1, 0, 1, (4,), (3,)).key()
    assert alter(one, (1, 2, 3, 4)) == PartitionRecord((1, 2, 4), (1, 2, 4), 1, 1, 2)
    three = start(p, (4, 5, 6))
    assert three == PartitionRecord((4, 5, 6, 1, 2, 3), (1, 2, 3), 1, 0, 1, (4, 5, 6), (1, 2, 3))
    three = alter(alter(three, (4, 1, 2, 3)), (4, 5, 1, 2, 3))
    assert (three.leader, three.leader_epoch, three.partition_epoch) == (1, 0, 3)
    assert alter(three, (4, 5, 6, 1, 2, 3)) == PartitionRecord((4, 5, 6), (4, 5, 6), 4, 1, 4)
    assert start(p, (1, 2)) == PartitionRecord((1, 2), (1, 2), 1, 1, 1)
    assert start(p, (2, 1, 3)) == PartitionRecord((2, 1, 3), (1, 2, 3), 1, 0, 1)


@pytest.mark.parametrize("all_targets", [True, False])
def test_before_3_8_only_the_added_replicas_count(all_targets: bool) -> None:
    p = PartitionRecord((1, 2, 4, 3), (1, 3), 1, adding=(4,), removing=(3,))
    after = alter(p, (1, 3, 4), all_targets)
    assert after.reassigning is all_targets, "2 is a target outside the ISR"


@pytest.mark.parametrize(
    ("removing", "ends"),
    [((3,), True), ((), True), ((3, 5), False)],
    ids=["as many", "more", "fewer"],
)
def test_since_4_3_a_replica_that_stays_may_be_out_of_sync(removing: Ids, ends: bool) -> None:
    """KAFKA-19975: unless the list of replicas becomes shorter."""
    lists: tuple[Ids, Ids, Ids] = ((1, 2, 4, *removing), (4,), removing)
    isr = (1, 4, *removing)
    after_42 = reassignment.complete(*lists, isr, needs_all_targets=True)
    assert after_42 is None, "2 stays and is out of sync"
    done = reassignment.complete(*lists, isr, needs_all_targets=True, spares_out_of_sync=True)
    assert done == (((1, 2, 4), (1, 4)) if ends else None)
    without_4 = tuple(one for one in isr if one != 4)
    late = reassignment.complete(*lists, without_4, needs_all_targets=True, spares_out_of_sync=True)
    assert late is None, "4 is not in sync yet"


@pytest.mark.parametrize("all_targets", [True, False])
def test_an_in_sync_replica_stays(all_targets: bool) -> None:
    """CP-REASSIGN-KR 3: else no replica could lead, though nothing is waited for."""
    lists: tuple[Ids, Ids, Ids] = ((1, 2, 3), (), (1,))
    assert reassignment.complete(*lists, (1,), needs_all_targets=all_targets) is None
    done = reassignment.complete(*lists, (2, 1, 3), needs_all_targets=all_targets)
    assert done == ((2, 3), (2, 3))


@pytest.mark.parametrize("all_targets", [True, False])
def test_a_move_that_only_adds_is_complete_too(all_targets: bool) -> None:
    """CP-REASSIGN-KR 3: where nothing moves, nothing is complete."""
    grown = reassignment.complete((1, 2, 3), (3,), (), (1, 2, 3), needs_all_targets=all_targets)
    assert grown == ((1, 2, 3), (1, 2, 3))
    still = reassignment.complete((1, 2), (), (), (1, 2), needs_all_targets=all_targets)
    assert still is None


@pytest.mark.parametrize(
    ("target", "moves"),
    [((1, 2), False), ((2, 1), False), ((1, 2, 3), True), ((1,), True), ((1, 3), True)],
)
def test_a_new_order_moves_no_replica(target: Ids, moves: bool) -> None:
    """7.1: one that comes or one that goes does."""
    plan = reassignment.plan((1, 2), target)
    assert bool(plan.adding or plan.removing) is moves


def test_cancel() -> None:
    kept = reassignment.revert((4, 5, 3, 2, 1), (4, 3, 2), (4, 5))
    assert (kept.replicas, kept.isr, kept.unclean) == ((3, 2, 1), (3, 2), False)
    lost = reassignment.revert((4, 5, 3, 2, 1), (4, 5), (4, 5))
    assert (lost.replicas, lost.isr, lost.unclean) == ((3, 2, 1), (3,), True)
    assert reassignment.original((0, 1, 3, 2), (3,)) == (0, 1, 2)
    assert reassignment.target_of((0, 1, 3, 2), (2,)) == (0, 1, 3)
