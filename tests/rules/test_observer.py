"""What the observer tells and measures of one replica, where library runs never lead it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine.checks.checker import Checker
from engine.checks.invariants.isr import MaximalIsrSuperset, unlike_prefix
from engine.checks.invariants.leaders import ZombieCannotCommit
from engine.checks.lags import Lags
from engine.checks.ledger import Ledger
from engine.controlplane import roles
from engine.model.effects import Effects
from engine.model.log import Batch, Log
from engine.model.profiles import PROFILES
from engine.model.quotas import ALL, TOPIC, Quotas
from engine.model.records import PartitionRecord
from engine.model.state import FOLLOWER, LEADER, Disk, Replica
from engine.scenarios.file import library
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all
from engine.sim.simulation import Simulation
from engine.study.soak import draw
from tests.rules.playing import played

THREE = Scenario.from_dict({"title": "x", "brokers": 3})
STEP = 1_000


def found(sim: Simulation, broker: int) -> set[str]:
    """The invariants that are broken once this broker has been looked at."""
    sim.checker.after(broker, STEP)
    return {name for name, _, _ in sim.checker.broken}


@pytest.mark.parametrize(("change", "told"), [(-1, True), (0, False), (1, False)])
def test_a_broker_that_goes_back_to_an_older_epoch_is_told_of(change: int, told: bool) -> None:
    """I2, of what a broker believes: the controller's record may be in order."""
    sim = played(THREE, "K39", "produce a; settle; elect 2; settle; settle")
    assert sim.brokers[3].replicas[0].leader_epoch == 1
    sim.brokers[3].replicas[0].leader_epoch += change
    assert ("I2" in found(sim, 3)) is told


@pytest.mark.parametrize(
    ("broker", "role", "epochs", "told"),
    [
        (1, LEADER, 0, True),
        (1, LEADER, 1, False),  # it has cut before it began to lead this epoch
        (1, FOLLOWER, 0, False),
        (2, LEADER, 0, False),
        (2, LEADER, 1, False),
        (2, FOLLOWER, 0, False),
    ],
)
def test_only_a_leader_before_and_after_must_not_truncate(
    broker: int, role: int, epochs: int, told: bool
) -> None:
    """INV-10: a follower may cut, also one that is leader a moment later."""
    sim = played(THREE, "K39", "produce a b; settle; settle")
    replica = sim.brokers[broker].replicas[0]
    replica.log.truncate_to(1)
    replica.role, replica.leader_epoch = role, replica.leader_epoch + epochs
    assert ("INV-10" in found(sim, broker)) is told


def test_the_first_throttling_of_an_in_sync_follower_is_reported() -> None:
    """INV-28: each decision once."""
    sim = played(THREE, "K39", "produce a; settle; settle")
    leader = sim.brokers[1].running
    leader.quotas = quotas = Quotas()
    quotas.leader.mark(TOPIC, ALL)
    quotas.leader.limit = 0
    quotas.leader.record(1, 0)
    for times, follower in enumerate((2, 3, 2), 1):
        assert quotas.leader_holds_back(0, follower, False, 0)
        for _ in range(2):
            assert "INV-28" in found(sim, 1)
        assert sim.checker.counts["INV-28"] == times


@pytest.mark.parametrize(
    ("begun", "unclean", "told"),
    [
        ([(3, 1)], [], True),
        ([(3, 2)], [], False),  # it had everything that was committed
        ([(2, 1)], [], False),
        ([(3, 1)], [(0, 3)], False),
        ([(3, 1)], [(1, 3)], True),  # of another partition
        ([(3, 1)], [(0, 2)], True),  # its own election, not that of its successor
        ([(4, 1), (3, 1)], [(0, 4)], True),  # the leader in between has heard of it late
        ([(4, 1)], [(0, 3)], False),
    ],
)
def test_a_past_leader_may_commit_alone_only_behind_an_unclean_election(
    begun: list[tuple[int, int]], unclean: list[tuple[int, int]], told: bool
) -> None:
    """I15: the leader of epoch 2 commits up to 2; later epochs, and the offsets they began at."""
    sim = played(THREE, "K39", "produce a b; settle; settle")
    leader = sim.brokers[1].replicas[0]
    leader.leader_epoch = 2
    sim.checker.memories["I15"] = {0: begun}
    sim.ledger.unclean_epochs = set(unclean)
    assert leader.log.hw == 2
    ZombieCannotCommit().on_hw_raised(sim.checker, leader)
    assert ("I15" in sim.checker.told) is told


def test_a_role_is_looked_at_though_nothing_else_has_changed() -> None:
    """I1."""
    sim = played(THREE, "K39", "produce a; settle; settle")
    sim.brokers[2].replicas[0].role = LEADER
    assert "I1" in found(sim, 2)


@pytest.mark.parametrize(("leader", "told"), [(0, True), (1, False), (-1, False)])
def test_a_leader_is_in_sync_whatever_its_number(leader: int, told: bool) -> None:
    """I3: broker 0 is one, -1 is none."""
    scenario = Scenario.from_dict({"title": "x", "brokers": [{"id": 0}, {"id": 1}]})
    sim = play_all(Run(scenario, "K39", 0, ("settle",)))
    sim.checker._on_record(0, PartitionRecord((0, 1), (1,), leader, 5, 5))
    assert ("I3" in sim.checker.told) is told


@pytest.mark.parametrize("grown", [False, True])
def test_until_a_leader_has_committed_no_follower_has(grown: bool) -> None:
    """INV-20, of a partition that was there from the start, and of a new one."""
    sim = played(THREE, "K39", "produce a; settle; settle")
    follower = sim.brokers[2].running
    checker = Checker(sim.cluster, Ledger())
    checker.grow(1)
    if grown:
        log = Log()
        log.append(Batch(0, 0, ("a",)))
        log.hw = 1
        checker.grow(1)
        follower.replicas = {1: Replica(1, 2, Disk(log), follower.profile, follower.configs)}
        follower.replicas[1].role = FOLLOWER
    checker.after(2, STEP)
    why = "broker 2, a follower, has HW 1; no leader got past 0"
    assert checker.broken == [("INV-20", STEP, why)]


def test_a_follower_that_begins_again_has_its_mark_where_its_log_starts() -> None:
    """INV-20, L-15: that is no mark of a leader."""
    sim = played(THREE, "K39", "settle")
    sim.brokers[2].replicas[0].log.truncate_fully(5)
    assert not found(sim, 2)


def test_an_epoch_that_is_appended_must_stand_behind_the_others() -> None:
    """INV-4: also where the broker's own epoch is as it was."""
    sim = played(THREE, "K39", "produce a b; settle; settle")
    log = sim.brokers[2].replicas[0].log
    log.append(Batch(2, 1, ("c",)))
    log.epochs.starts[0] = 2
    assert "INV-4" in found(sim, 2)


def test_logs_are_compared_from_their_first_record_on() -> None:
    """I5."""
    sim = played(THREE, "K39", "produce a b; settle; settle")
    sim.brokers[2].replicas[0].log.batches[0] = Batch(0, 0, ("x",))
    checker = Checker(sim.cluster, Ledger())
    checker.grow(1)
    checker.after(2, STEP)
    assert "I5" in checker.told


@pytest.mark.parametrize("offset", [0, 1])
def test_after_a_commit_that_contradicts_another_the_others_are_compared_again(offset: int) -> None:
    """I10, I5: they agreed with what was committed before."""
    sim = played(THREE, "K39", "produce a b; settle; settle")
    log = sim.brokers[1].replicas[0].log
    log.truncate_to(offset)
    assert not found(sim, 1) & {"I5", "I10"}
    log.append(Batch(offset, 0, ("z",)))
    log.hw = offset + 1
    assert found(sim, 1) >= {"I5", "I10"}


@pytest.mark.parametrize(("producer", "twice"), [(0, True), (7, True), (-1, False)])
def test_batches_of_an_idempotent_producer_are_committed_once(producer: int, twice: bool) -> None:
    """I12: -1 is a producer without numbers; 0 is the first that a cluster gives away."""
    ledger = Ledger()
    ledger.grow(1)
    first, second = (Batch(base, 0, ("a",), 0, producer, 0, 0) for base in (0, 1))
    assert ledger.commit(0, [first], 1) == (None, None)
    assert ledger.commit(0, [second], 2) == (None, second if twice else None)


def test_records_sent_again_after_a_loss_stand_for_the_lost() -> None:
    """I12: the first was committed where another record is now, or nothing is known any more."""
    for other in (Batch(0, 1, ("x",)), None):
        ledger = Ledger()
        ledger.grow(1)
        first, again = (Batch(base, base, ("a",), 0, 7, 0, 0) for base in (0, 1))
        ledger.commit(0, [first], 1)
        if other is None:
            del ledger.committed[0][0]
        else:
            assert ledger.commit(0, [other], 1) == (first, None)
        assert ledger.commit(0, [again], 2) == (None, None)
        assert ledger.commit(0, [Batch(2, 1, ("a",), 0, 7, 0, 0)], 3)[1] is not None


@pytest.mark.parametrize(
    ("hw", "profile", "told"),
    [(0, "K39", True), (1, "K39", False), (3, "K39", False), (4, "K39", True), (4, "Z20", False)],
)
def test_a_mark_lies_within_its_log(hw: int, profile: str, told: bool) -> None:
    """INV-1: from 1 to 3; before 2.4 a log was cut without its mark."""
    sim = play_all(Run(THREE, profile, 0, ("produce a b c", "settle", "settle")))
    log = sim.brokers[2].replicas[0].log
    log.raise_log_start(1)
    log.append(Batch(3, 0, ("d",)))
    log.leo, log.hw = 3, hw
    sim.checker.seen[2][0].hw = -1
    assert ("INV-1" in found(sim, 2)) is told


@pytest.mark.parametrize("role", [FOLLOWER, LEADER])
def test_before_what_a_follower_takes_it_has_what_its_leader_has(role: int) -> None:
    """INV-12: a leader fetches from no broker."""
    sim = played(THREE, "K39", "produce a; settle; settle")
    leader, follower = (sim.brokers[broker].replicas[0] for broker in (1, 2))
    follower.log.batches[0] = Batch(0, 0, ("x",))
    follower.role = role
    both = Batch(1, 0, ("b",))
    for replica in (leader, follower):
        replica.log.append(both)
    assert ("INV-12" in found(sim, 2)) is (role == FOLLOWER)


def test_first_records_of_a_leader_are_compared_with_nothing() -> None:
    """INV-12."""
    sim = played(THREE, "K39", "produce a; settle; settle")
    leader, follower = (sim.brokers[broker].replicas[0] for broker in (1, 2))
    both = Batch(1, 0, ("b",))
    for replica in (leader, follower):
        replica.log.append(both)
    del leader.log.batches[0], leader.log.bases[0]
    assert "INV-12" not in found(sim, 2)


@pytest.mark.parametrize(
    ("profile", "epochs", "told"),
    [
        ("K39", (-1, 0), False),  # the first record is of a time without epochs
        ("K39", (0, 1), False),
        ("K39", (1, 0), True),
        ("Z011", (1, 0), True),
        ("Z0102", (1, 0), False),  # no broker there knows of epochs in a log
    ],
)
def test_along_a_log_epochs_do_not_fall(profile: str, epochs: tuple[int, int], told: bool) -> None:
    """INV-3, since KIP-101."""
    sim = play_all(Run(THREE, profile, 0, ("settle",)))
    log = sim.brokers[2].replicas[0].log
    for base, epoch in enumerate(epochs):
        log.append(Batch(base, epoch, ("r",)))
    assert ("INV-3" in found(sim, 2)) is told


def test_new_isr_members_are_compared_from_their_first_record_on() -> None:
    """I5, with those that have a replica: on broker 3 the disk has failed."""
    sim = played(THREE, "K39", "produce a b; settle; settle")
    record = sim.cluster.controller.records[0]
    sim.brokers[3].running.replicas.clear()
    sim.brokers[2].replicas[0].log.batches[0] = Batch(0, 0, ("x",))
    sim.checker.records[0] = PartitionRecord(record.replicas, (1, 3), 1, 0, 0)
    assert "I5" not in found(sim, 2)
    sim.checker._on_record(0, record)
    assert "I5" in sim.checker.told


@pytest.mark.parametrize(("counted", "told"), [(0, False), (1, True), (2, False), (3, True)])
def test_the_record_before_a_followers_position_must_be_the_leaders(
    counted: int, told: bool
) -> None:
    """INV-13: the first one, too; and it must have all that the leader counts it for."""
    sim = played(THREE, "K39", "produce a b; settle; settle")
    leader, follower = (sim.brokers[broker].replicas[0] for broker in (1, 2))
    follower.log.batches[0] = Batch(0, 0, ("x",))
    leader.remote[2].leo = counted
    assert bool(unlike_prefix(sim.cluster, leader, (2,))) is told


@pytest.mark.parametrize("why", ["unknown", "epoch", "role", "gone"])
def test_each_of_several_new_members_is_checked(why: str) -> None:
    """INV-13: broker 2 cannot be compared for now, broker 3 can."""
    sim = played(THREE, "K39", "produce a b; settle; settle")
    leader, here = sim.brokers[1].replicas[0], sim.brokers[2].running.replicas
    sim.brokers[3].replicas[0].log.truncate_to(1)
    if why == "unknown":
        del leader.remote[2]
    elif why == "epoch":
        here[0].leader_epoch += 1
    elif why == "role":
        here[0].role = LEADER
    else:
        here.clear()
    found = unlike_prefix(sim.cluster, leader, (2, 3))
    assert found == "broker 1 counts broker 3 up to 2, which ends at 1"


@pytest.mark.parametrize(
    ("maximal", "least", "profile", "told"),
    [
        ((1, 2), 1, "K39", True),
        ((1, 2), 3, "K39", True),
        ((1, 2), 4, "K39-cap_min_isr_to_rf", False),  # acks=all is refused
        ((1, 2, 3), 1, "K39", False),
        ((1, 2), 1, "Z20", False),  # it writes its ISR itself
    ],
)
def test_a_leader_counts_whom_the_controller_counts(
    maximal: tuple[int, ...], least: int, profile: str, told: bool
) -> None:
    """I4: broker 3 is in the ISR."""
    scenario = THREE.vary("configs.min.insync.replicas", least)
    sim = play_all(Run(scenario, profile, 0, ("settle",)))
    leader = sim.brokers[1].replicas[0]
    leader.maximal_isr = maximal
    MaximalIsrSuperset().on_record(sim.checker, 0, sim.cluster.controller.records[0], None)
    assert ("I4" in sim.checker.told) is told


def test_a_copy_goes_on_being_looked_at_from_where_the_original_was() -> None:
    """INV-10: the copy's first event may break what it broke in the original."""
    sim = played(THREE, "K39", "produce a b; settle; settle")
    twin = sim.copy()
    twin.brokers[1].replicas[0].log.truncate_to(1)
    assert "INV-10" in found(twin, 1)
    assert found(sim, 1) == set()


@pytest.mark.parametrize(
    ("isr", "told"), [((1, 2, 3), True), ((1, 2), True), ((2,), False), ((1,), False)]
)
def test_only_a_leader_that_may_commit_has_to_count_them(isr: tuple[int, ...], told: bool) -> None:
    """I4: as long as the ISR is large enough to commit anything, here two."""
    scenario = THREE.vary("configs.min.insync.replicas", 2)
    sim = play_all(Run(scenario, "K39", 0, ("settle",)))
    sim.brokers[1].replicas[0].maximal_isr = (1,)
    record = PartitionRecord((1, 2, 3), isr, 1)
    MaximalIsrSuperset().on_record(sim.checker, 0, record, None)
    assert ("I4" in sim.checker.told) is told


# -- how far followers and the mark are behind ----------------------------------------------------


def lagging() -> tuple[Simulation, Lags]:
    """Two records that broker 1 has just appended and no other replica has."""
    sim = played(THREE, "K39", "produce a; settle; settle")
    lags, leader = Lags(sim.cluster, sim.out), sim.brokers[1].replicas[0]
    leader.log.append(Batch(1, 0, ("b", "c")))
    lags.on_append(0, leader, 1)
    return sim, lags


def test_only_the_mark_of_the_leader_commits() -> None:
    """Not that of a broker which took itself for one, nor that of another partition."""
    sim, lags = lagging()
    for tp, broker, records in ((0, 2, 0), (1, 1, 0), (0, 1, 2)):
        sim.brokers[broker].replicas[0].log.hw = 3
        lags.on_hw(tp, sim.brokers[broker].replicas[0])
        assert len(lags.committed) == records


@pytest.mark.parametrize("deleted", [False, True])
def test_without_in_sync_replicas_nothing_has_been_copied_to_all(deleted: bool) -> None:
    """Nor where the partition is gone."""
    sim, lags = lagging()
    record = sim.cluster.controller.records.pop(0)
    if not deleted:
        record.isr = ()
        sim.cluster.controller.records[0] = record
    lags.on_isr(0)
    assert lags.copied == []


def test_only_the_leader_by_the_newest_record_appends_what_waits() -> None:
    """Not a broker that takes itself for the leader of that epoch."""
    sim, lags = lagging()
    other = sim.brokers[2].replicas[0]
    other.role = LEADER
    other.log.append(Batch(1, 0, ("z",)))
    lags.on_append(0, other, 1)
    assert len(lags.lines[0].uncopied) == len(lags.lines[0].uncommitted) == 1


def test_records_that_the_leader_lost_are_not_copied_to_all() -> None:
    sim, lags = lagging()
    (batch,) = sim.brokers[1].replicas[0].log.batches[1:]
    for broker in (2, 3):
        sim.brokers[broker].replicas[0].log.append(batch)
    sim.brokers[1].replicas[0].log.truncate_to(1)
    lags.on_isr(0)
    assert lags.copied == []


def test_a_member_that_is_not_cut_yet_holds_only_what_it_shares() -> None:
    """Its log is as long as the leader's, with another record at the end."""
    sim, lags = lagging()
    leader = sim.brokers[1].replicas[0].log
    leader.append(Batch(3, 0, ("d",)))
    lags.on_append(0, sim.brokers[1].replicas[0], 3)
    for broker, last in ((2, leader.batches[2]), (3, Batch(3, 0, ("z",)))):
        log = sim.brokers[broker].replicas[0].log
        log.append(leader.batches[1])
        log.append(last)
    lags.on_isr(0)
    assert len(lags.copied) == 2, "b and c, not d"
    assert [one[3] for one in lags.lines[0].uncopied] == [leader.batches[2]]


@pytest.mark.parametrize(
    ("held", "end", "again"), [(4, 3, 2), (4, 4, 3), (4, 6, 3), (2, 6, 1), (1, 6, 0), (0, 6, 0)]
)
def test_only_what_was_held_before_is_fetched_again(held: int, end: int, again: int) -> None:
    """A log that ended at `held` was cut to 1 and grows to `end`."""
    sim, lags = lagging()
    lags.on_cut(2, 0, held)
    log = sim.brokers[2].replicas[0].log
    log.append(Batch(1, 0, ("r",) * (end - 1)))
    lags.on_append(0, sim.brokers[2].replicas[0], 1)
    assert lags.refetched == again


def overlooked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Plays the library and random runs; where the observer knew less than there was to see."""
    look, missed = Checker.after, []

    def look_twice(
        self: Checker, node: int, step: int, touched: Sequence[int] | None = None
    ) -> None:
        look(self, node, step, touched)
        process = self.cluster.brokers[node].process if node >= 0 else None
        for tp, replica in process.replicas.items() if process is not None else ():
            seen, log = self.seen[node].get(tp), replica.log
            there = (log.leo, log.hw, replica.role, replica.leader_epoch)
            if seen is None or (seen.leo, seen.hw, seen.role, seen.epoch) != there:
                missed.append(f"step {step}: broker {node}, partition {tp}")

    monkeypatch.setattr(Checker, "after", look_twice)
    for scenario in library().values():
        for profile in scenario.profiles:
            play_all(Run(scenario, profile))
    for number in range(12):
        play_all(draw(0, number, list(PROFILES), []).run)
    return missed


@pytest.mark.night
def test_the_observer_is_told_of_whatever_a_broker_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    """It looks only where an event touched something."""
    assert overlooked(monkeypatch) == []


@pytest.mark.night
def test_changes_that_are_not_reported_are_overlooked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Effects, "touch", lambda self, broker, tp: None)
    assert overlooked(monkeypatch)


@pytest.mark.parametrize("touched", [None, [0, 1], [1, 0]])
def test_partitions_are_looked_at_in_their_order(touched: list[int] | None) -> None:
    """Whatever an event touched first: told or not, a run names the same replica."""
    two = Scenario.from_dict({"title": "x", "brokers": 3, "partitions": [[1, 2, 3], [1, 2, 3]]})
    sim = play_all(Run(two, "K39", 0, ("settle",)))
    for tp, replica in sim.brokers[2].replicas.items():
        replica.log.append(Batch(0, 0, ("a", "b")))
        replica.log.hw = 1 + tp
    sim.checker.after(2, STEP, touched)
    assert [why.split(";")[0] for _, _, why in sim.broken] == ["broker 2, a follower, has HW 1"]
    assert sim.checker.counts == {"INV-20": 2}


def test_untouched_partitions_are_not_checked() -> None:
    sim = played(THREE, "K39", "settle")
    sim.brokers[2].replicas[0].log.hw = 5
    sim.checker.after(2, STEP, [])
    assert not sim.broken


def test_a_replica_that_is_stopped_is_looked_at() -> None:
    sim, out = played(THREE, "K39", "settle"), Effects()
    roles.stop_replica(sim.brokers[2].running, 0, False, out)
    assert out.take_touched(2) == [0] and not out.touched
