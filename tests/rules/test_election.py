"""CP-ELECT and CP-ELR: the tables of the control-plane specification, 3 and 6.7."""

from __future__ import annotations

from typing import Any

import pytest

from engine.controlplane import election, elr
from engine.controlplane.election import ONLINE, PREFERRED, UNCLEAN
from engine.model.profiles import get_profile
from engine.model.records import PartitionChange, PartitionRecord

Ids = tuple[int, ...]


def change(
    record: PartitionRecord, active: Ids, election_type: int = ONLINE, **wanted: Any
) -> PartitionChange:
    bounds = {"min_isr": 1, "elr": False, "last_known_leader": True}
    target = {name: wanted.pop(name) for name in (*wanted,) if hasattr(election.Target, name)}
    bounds |= {name: wanted.pop(name) for name in bounds if name in wanted}
    return election.change_partition(
        record,
        get_profile("K39").with_flags({"shrink_bumps_leader_epoch": False} | wanted),
        election.Target(**target),
        acceptable=active.__contains__,
        election=election_type,
        **bounds,
    )


def test_new_partition_takes_the_live_in_order() -> None:
    record = election.new_partition((3, 1, 2), (1, 2).__contains__)
    assert record is not None
    assert (record.leader, record.isr) == (1, (1, 2))
    assert (record.leader_epoch, record.partition_epoch) == (0, 0)
    assert election.new_partition((3, 1, 2), ().__contains__) is None


ZK_CHOICES = [
    # strategy                       isr      live     leaving  unclean -> leader, unclean
    (election.OFFLINE, (2, 4), (4,), (), False, 4, False),
    (election.OFFLINE, (2,), (4,), (), False, -1, False),
    (election.OFFLINE, (2,), (4,), (), True, 4, True),
    (election.OFFLINE, (2, 4), (2, 4), (2,), False, 2, False),
    (election.REASSIGN, (2, 4), (4,), (), False, 4, False),
    (election.REASSIGN, (2,), (4,), (), True, -1, False),
    (election.REASSIGN, (), (2,), (), False, -1, False),
    (election.PREFERRED_REPLICA, (2, 4), (2, 4), (), False, 2, False),
    (election.PREFERRED_REPLICA, (2, 4), (4,), (), False, -1, False),
    (election.PREFERRED_REPLICA, (4,), (2, 4), (), True, -1, False),
    (election.CONTROLLED_SHUTDOWN, (2, 4), (2, 4), (2,), False, 4, False),
    (election.CONTROLLED_SHUTDOWN, (2,), (2, 4), (2,), True, -1, False),
    (election.CONTROLLED_SHUTDOWN, (2, 4), (2, 4), (2, 4), False, -1, False),
]


@pytest.mark.parametrize(
    ("strategy", "isr", "live", "leaving", "unclean", "leader", "dirty"), ZK_CHOICES
)
def test_zk_choice(
    strategy: int, isr: Ids, live: Ids, leaving: Ids, unclean: bool, leader: int, dirty: bool
) -> None:
    chosen = election.choose_zk(
        strategy, (2, 4), isr, live.__contains__, shutting_down=leaving, unclean=unclean
    )
    assert chosen == (leader, dirty)


def test_zk_elections_write_the_isr_of_the_table() -> None:
    record = PartitionRecord((1, 2, 3), (1, 2, 3), 1, 4, 9)
    clean = election.elect_zk(record, election.OFFLINE, (2, 3).__contains__).record
    assert (clean.leader, clean.isr, clean.leader_epoch, clean.partition_epoch) == (
        2,
        (2, 3),
        5,
        10,
    )
    leaving = election.elect_zk(
        record, election.CONTROLLED_SHUTDOWN, (1, 2, 3).__contains__, shutting_down=(1,)
    ).record
    assert (leaving.leader, leaving.isr) == (2, (2, 3))
    alone = PartitionRecord((1, 2, 3), (1,), -1)
    unclean = election.elect_zk(alone, election.OFFLINE, (3,).__contains__, unclean=True)
    assert unclean.unclean and unclean.record.recovering
    assert (unclean.record.leader, unclean.record.isr) == (3, (3,))
    moved = election.elect_zk(record, election.REASSIGN, (2, 3).__contains__, target=(3, 2)).record
    assert (moved.leader, moved.isr) == (3, (1, 2, 3))
    assert record.leader == 1, "the record itself is never changed"


def test_zk_offline_replica_keeps_the_last_member() -> None:
    record = PartitionRecord((1, 2), (1, 2), 1)
    follower = election.offline_replica_zk(record, 2).record
    assert (follower.leader, follower.isr, follower.leader_epoch) == (1, (1,), 1)
    last = election.offline_replica_zk(follower, 1).record
    assert (last.leader, last.isr, last.leader_epoch) == (-1, (1,), 2)
    # Until 1.0, with unclean election, no member has to be kept (real 0.10.2.2: P{-1 3 3 []}).
    gone = election.offline_replica_zk(follower, 1, keeps_last=False).record
    assert (gone.leader, gone.isr, gone.leader_epoch) == (-1, (), 2)
    assert not election.offline_replica_zk(follower, 2).changed


def test_zk_a_partition_without_a_state_loses_no_replica() -> None:
    """7.6: its replicas were never live, so that none of them can go."""
    unborn = PartitionRecord((1, 2), (1, 2), -1, -1, -1)
    assert not election.offline_replica_zk(unborn, 1).changed
    assert election.elect_zk(unborn, election.OFFLINE, (2,).__contains__).record == (
        PartitionRecord((1, 2), (2,), 2, 0, 0)
    )


EPOCHS = [
    # 3.7: what is asked of {1,2,3} led by 1; active brokers -> leader, isr, le before 3.6, le, pe
    ({"isr": (2, 3)}, (2, 3), 2, (2, 3), 1, 1, 1),
    ({"isr": (1, 2)}, (1, 2), 1, (1, 2), 1, 0, 1),
    ({"isr": (1, 2, 3)}, (1, 2, 3), 1, (1, 2, 3), 0, 0, 0),
    ({"replicas": (2, 1, 3)}, (1, 2, 3), 1, (1, 2, 3), 0, 0, 1),
    ({"election_type": PREFERRED}, (1, 2, 3), 1, (1, 2, 3), 0, 0, 0),
]


@pytest.mark.parametrize(("wanted", "active", "leader", "isr", "le_old", "le", "pe"), EPOCHS)
def test_changes_that_raise_an_epoch(
    wanted: dict[str, Any], active: Ids, leader: int, isr: Ids, le_old: int, le: int, pe: int
) -> None:
    record = PartitionRecord((1, 2, 3), (1, 2, 3), 1)
    for bumps, expected in ((True, le_old), (False, le)):
        after = change(record, active, shrink_bumps_leader_epoch=bumps, **wanted).record
        assert (after.leader, after.isr) == (leader, isr)
        assert (after.leader_epoch, after.partition_epoch) == (expected, pe)


def test_before_3_6_the_last_member_that_leaves_raises_the_epoch_twice() -> None:
    for bumps, epoch in ((True, 3), (False, 2)):
        record = PartitionRecord((3, 2), (2,), 2, 1, 1)
        for _ in "controlled shutdown", "fenced":
            wanted: dict[str, Any] = {"isr": (), "shrink_bumps_leader_epoch": bumps}
            record = change(record, (), **wanted).record
        assert (record.leader, record.isr) == (-1, (2,))
        assert (record.leader_epoch, record.partition_epoch) == (epoch, epoch)


def test_expansion_never_raises_the_leader_epoch() -> None:
    record = PartitionRecord((2, 1, 3), (1, 3), 3, 100, 200)
    for bumps in (True, False):
        wanted: dict[str, Any] = {"isr": (2, 1, 3), "shrink_bumps_leader_epoch": bumps}
        after = change(record, (1, 2, 3), **wanted).record
        assert (after.leader_epoch, after.partition_epoch) == (100, 201)


def test_last_member_stays_in_the_isr_without_elr() -> None:
    record = PartitionRecord((1, 2), (1,), 1)
    down = change(record, (2,), isr=()).record
    assert (down.leader, down.isr, down.leader_epoch) == (-1, (1,), 1)
    assert not change(down, (2,)).changed, "2 was not in sync"
    back = change(down, (1, 2)).record
    assert (back.leader, back.isr, back.leader_epoch) == (1, (1,), 2)


def test_unclean_election() -> None:
    record = PartitionRecord((1, 2, 3), (1,), -1, 5, 5)
    for flag in (True, False):
        outcome = change(record, (2, 3), UNCLEAN, leader_recovery_state=flag)
        after = outcome.record
        assert outcome.unclean
        assert (after.leader, after.isr, after.leader_epoch) == (2, (2,), 6)
        assert after.recovering is flag
    recovered = change(after, (2, 3), recovering=False)
    assert not recovered.changed


@pytest.mark.parametrize("kind", [ONLINE, PREFERRED, UNCLEAN])
def test_a_leader_that_stays_is_no_unclean_choice(kind: int) -> None:
    """CP-ELECT-KR 3: nothing is lost where no other replica leads."""
    assert election.choose_kr(kind, 3, (1, 2, 3), (2, 3), (), {2, 3}.__contains__) == (3, False)
    record = PartitionRecord((1, 2, 3), (2, 3), 3)
    outcome = change(record, (3,), kind, isr=(3,))
    assert (outcome.changed, outcome.unclean, outcome.record.leader) == (True, False, 3)


# -- 6.7: replicas {1,2,3}, min ISR 2 ---------------------------------------------------------


def state(record: PartitionRecord) -> tuple[Ids, Ids, int, Ids, int]:
    return record.isr, record.elr, record.leader, record.last_known_elr, record.leader_epoch


def fence(record: PartitionRecord, broker: int, active: Ids, unclean: Ids = ()) -> PartitionRecord:
    isr = tuple(r for r in record.isr if r != broker)
    wanted: dict[str, Any] = {
        "isr": isr,
        "min_isr": 2,
        "elr": True,
        "unclean_shutdown": unclean,
    }
    return change(record, active, **wanted).record


def unfence(record: PartitionRecord, active: Ids) -> PartitionRecord:
    return change(record, active, min_isr=2, elr=True).record


def test_elr_transitions() -> None:
    p = PartitionRecord((1, 2, 3), (1, 2, 3), 1)
    p = fence(p, 2, (1, 3))
    assert state(p) == ((1, 3), (), 1, (), 0)
    p = fence(p, 3, (1,))
    assert state(p) == ((1,), (3,), 1, (), 0)
    p = fence(p, 1, ())
    assert state(p) == ((), (1, 3), -1, (1,), 1)
    clean = unfence(p, (1,))
    assert state(clean) == ((1,), (3,), 1, (), 2)
    p = fence(p, 1, (), unclean=(1,))
    assert state(p) == ((), (3,), -1, (1,), 1)
    p = unfence(p, (1,))
    assert state(p) == ((), (3,), -1, (1,), 1)
    p = unfence(p, (1, 3))
    assert state(p) == ((3,), (), 3, (), 2)
    p = change(p, (1, 3), isr=(1, 3), min_isr=2, elr=True).record
    assert state(p) == ((1, 3), (), 3, (), 2)


def test_power_loss_of_all_ends_with_the_last_known_leader() -> None:
    p = PartitionRecord((1, 2, 3), (1, 2, 3), 1)
    p = fence(p, 1, (2, 3))
    assert state(p) == ((2, 3), (), 2, (), 1)
    p = fence(p, 2, (3,))
    assert state(p) == ((3,), (2,), 3, (), 2)
    p = fence(p, 3, ())
    assert state(p) == ((), (2, 3), -1, (3,), 3)
    p = fence(p, 1, (), unclean=(1,))
    p = fence(p, 2, (), unclean=(2,))
    assert p.elr == (3,)
    p = fence(p, 3, (), unclean=(3,))
    assert state(p) == ((), (), -1, (3,), 3)
    assert not change(p, (1, 2), min_isr=2, elr=True).changed, "KAFKA-19522: 3 is not active"
    outcome = change(p, (3,), min_isr=2, elr=True)
    assert outcome.unclean and outcome.record.recovering
    assert state(outcome.record) == ((3,), (), 3, (), 4)


@pytest.mark.parametrize(
    ("isr", "eligible", "known", "leader"),
    [
        ((), (), (2,), 2),
        ((), (), (9,), -1),
        ((), (), (1, 2), -1),
        ((), (), (), -1),
        ((1,), (), (2,), -1),
        ((), (1,), (2,), -1),
    ],
)
def test_the_last_known_leader_is_the_only_one_known(
    isr: Ids, eligible: Ids, known: Ids, leader: int
) -> None:
    """CP-ELR 6.5: a replica still, and no better one is left."""
    record = PartitionRecord((1, 2, 3), (), -1, last_known_elr=known)
    assert elr.last_known_leader(record, isr, eligible, (1, 2, 3)) == leader


@pytest.mark.parametrize(("eligible", "known"), [((2,), ()), ((), (3,)), ((2,), (3,))])
def test_clearing_removes_all_eligible_replicas(eligible: Ids, known: Ids) -> None:
    """CP-ELR 6.4, ClearElr: the last known too."""
    record = PartitionRecord((1, 2, 3), (1,), 1, 4, 9, elr=eligible, last_known_elr=known)
    after = elr.cleared(record)
    assert (after.elr, after.last_known_elr) == ((), ())
    assert (after.leader_epoch, after.partition_epoch) == (4, 9)


@pytest.mark.parametrize(("last_leader_only", "known"), [(True, ()), (False, (2,))])
def test_eligible_replicas_are_remembered_unless_only_the_last_leader_is(
    last_leader_only: bool, known: Ids
) -> None:
    """CP-ELR 6.4, 6.5: 2 lost power while too few were in sync; 1 leads on."""
    record = PartitionRecord((1, 2, 3), (1, 2), 1)
    wanted: dict[str, Any] = {"isr": (1,), "unclean_shutdown": (2,), "min_isr": 2}
    after = change(record, (1,), elr=True, last_known_leader=last_leader_only, **wanted).record
    assert (after.leader, after.elr, after.last_known_elr) == (1, (), known)


def test_elr_drops_brokers_that_leave_the_replicas() -> None:
    p = PartitionRecord((1, 2, 3, 4), (1,), 1, elr=(3,), adding=(4,), removing=(3,))
    wanted: dict[str, Any] = {"isr": (1, 2, 4), "min_isr": 4, "elr": True}
    after = change(p, (1, 2, 4), **wanted).record
    assert (after.replicas, after.isr, after.elr) == ((1, 2, 4), (1, 2, 4), ())


@pytest.mark.parametrize(
    ("replicas", "known"), [((1, 2, 3, 4), (3, 4)), ((1, 2, 3), (3,)), ((1, 2, 4), (4,))]
)
def test_eligible_replicas_are_remembered_while_they_are_out_of_sync(
    replicas: Ids, known: Ids
) -> None:
    """CP-ELR 6.4: a broker in sync again, or without a replica, is no last known ELR."""
    record = PartitionRecord((1, 2, 3, 4), (1,), 1, last_known_elr=(1, 3, 4))
    assert elr.maintain(record, (1,), replicas, 2, ()) == ((), known)


@pytest.mark.parametrize(
    ("marker", "clean"), [(7, True), (8, False), (6, False), (0, False), (-1, False)]
)
def test_only_the_marker_of_the_last_incarnation_proves_a_clean_end(
    marker: int, clean: bool
) -> None:
    """CP-CLEAN-SHUTDOWN 6.6: an older one was left by a process that was followed by another."""
    assert elr.shutdown_was_clean(7, marker) is clean


# -- preferred leaders -------------------------------------------------------------------------


def test_preferred_election_falls_back_to_the_current_leader() -> None:
    record = PartitionRecord((1, 2, 3), (2, 3), 3)
    assert not change(record, (1, 2, 3), PREFERRED).changed
    joined = PartitionRecord((1, 2, 3), (1, 2, 3), 3)
    assert change(joined, (1, 2, 3), PREFERRED).record.leader == 1
    assert election.choose_kr(PREFERRED, 3, (1, 2, 3), (2, 3), (), {1, 2, 3}.__contains__) == (
        3,
        False,
    )
    leaderless = PartitionRecord((1, 2, 3), (2, 3), -1)
    assert change(leaderless, (1, 3), PREFERRED).record.leader == 3


def test_zk_rebalance_looks_at_the_share_per_broker() -> None:
    led = [PartitionRecord((1, 2), (1, 2), 1) for _ in range(9)]
    away = PartitionRecord((1, 2), (1, 2), 2)
    everyone = (1, 2).__contains__
    records = list(enumerate([*led, away]))
    assert election.preferred_candidates_zk(records, everyone, 10) == []
    assert election.preferred_candidates_zk(records[1:], everyone, 10) == [9]
    assert election.preferred_candidates_zk(records[1:], (2,).__contains__, 10) == []


@pytest.mark.parametrize(("percentage", "tried"), [(11, [0]), (12, [])])
def test_one_of_nine_is_more_than_eleven_per_cent(percentage: int, tried: list[int]) -> None:
    """CP-PREFERRED: leader.imbalance.per.broker.percentage, and the share is not rounded."""
    records = [(0, PartitionRecord((1, 2), (1, 2), 2))]
    records += [(tp, PartitionRecord((1, 2), (1, 2), 1)) for tp in range(1, 9)]
    live = (1, 2).__contains__
    assert election.preferred_candidates_zk(records, live, percentage) == tried


def test_kraft_rebalance_takes_a_thousand_a_pass() -> None:
    away = PartitionRecord((1, 2), (1, 2), 2)
    chosen = election.preferred_candidates_kr((p, away) for p in range(1001))
    assert chosen == list(range(1000))
