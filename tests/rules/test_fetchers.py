"""F-1, F-5, F-7, F-8, S-2, S-5: fetcher threads and what their answers carry, over whole runs."""

from __future__ import annotations

import pytest

from engine.dataplane import fetcher, insync, purgatory, serving
from engine.dataplane.limits import Budget, limited
from engine.dataplane.partition_fetch_state import fetcher_id, initial_state
from engine.dataplane.reading import error_before_read, read_partition
from engine.dataplane.serving import first_at
from engine.model.configs import Limits
from engine.model.effects import Effects
from engine.model.errors import (
    FENCED_LEADER_EPOCH,
    NONE,
    NOT_LEADER_OR_FOLLOWER,
    UNKNOWN_LEADER_EPOCH,
)
from engine.model.log import Batch, Log
from engine.model.messages import (
    FETCH_R,
    LATEST,
    NO_EPOCH,
    FetchPartition,
    FetchRequest,
    ListOffsetsRequest,
    ListOffsetsResponse,
)
from engine.model.state import EXPAND, FETCHING, TRUNCATING, DelayedFetch
from engine.moves import moves
from tests.rules.playing import cluster, played


def batches(*sizes: int) -> list[Batch]:
    found, base = [], 0
    for size in sizes:
        found.append(Batch(base, 0, tuple(f"r{base + one}" for one in range(size))))
        base += size
    return found


@pytest.mark.parametrize(
    ("topic", "partition", "fetchers", "fetcher"),
    [
        ("t", 0, 2, 0),
        ("t", 1, 2, 1),
        ("t", 5, 4, 1),
        ("t", 0, 7, 5),
        ("orders", 0, 3, 2),
        ("orders", 5, 7, 1),
        ("payments", 1, 7, 4),
        ("__consumer_offsets", 5, 4, 2),
        ("", 1 << 31, 7, 0),  # the smallest int has no absolute value
    ],
)
def test_the_thread_is_that_of_kafka(
    topic: str, partition: int, fetchers: int, fetcher: int
) -> None:
    """F-1: what Kafka's Utils.abs(31 * topic.hashCode() + partition) % n gives on a JVM."""
    assert fetcher_id(topic, partition, fetchers) == fetcher


def test_a_topic_that_is_made_in_the_run_is_hashed_by_its_own_name() -> None:
    scenario = cluster(configs={"num.replica.fetchers": 3})
    sim = played(scenario, "K39", "create_topic orders 1,2 1,2", "settle")
    (first, second) = sorted(sim.topics)
    threads = sim.brokers[2].running.fetchers
    assert sim.topics[first] == ("orders", 0)
    assert first in threads[1, 2].partitions and second in threads[1, 1].partitions


@pytest.mark.parametrize(("profile", "threads"), [("K39", 2), ("Z011", 2), ("1.0.2", 1)])
def test_the_number_changes_while_brokers_run_only_since_1_1(profile: str, threads: int) -> None:
    scenario = cluster(partitions=[[1, 2], [1, 2]])
    sim = played(scenario, profile, "set num.replica.fetchers=2", "settle")
    assert len(sim.brokers[2].running.fetchers) == threads
    sim = played(scenario, profile, "set num.replica.fetchers=2", "kill 2", "detect 2", "restart 2")
    assert sim.brokers[2].running.num_fetchers == 2


@pytest.mark.parametrize(
    ("sizes", "partition", "response", "strict", "sent", "left"),
    [
        ((1, 1), 100, 100, False, 2, 98),
        ((1, 1, 1), 2, 100, False, 2, 98),  # no more of a partition
        ((1, 1, 1), 100, 2, False, 2, 0),  # no more in all
        ((2, 2), 3, 100, False, 1, 97),  # a part of a batch travels, and is of no use
        ((5, 1), 3, 100, False, 1, 95),  # the first batch, whatever its size
        ((5,), 3, 4, False, 1, 0),
        ((5, 1), 3, 4, False, 1, 0),  # nothing is left, and no less than that
        ((5, 1), 3, 100, True, None, 100),  # before KIP-74
        ((2, 2), 3, 100, True, 1, 97),
    ],
)
def test_batches_that_fit_in_a_response(
    sizes: tuple[int, ...], partition: int, response: int, strict: bool, sent: int, left: int
) -> None:
    budget = Budget(Limits(1, partition, response), 1, strict)
    taken = budget.take(batches(*sizes))
    assert (None if taken is None else len(taken)) == sent
    assert budget.left == left


def test_only_the_first_batch_of_an_answer_may_be_too_large() -> None:
    budget = Budget(Limits(1, 3, 10), 1, strict=False)
    assert budget.take(()) == ()
    assert len(budget.take(batches(5)) or ()) == 1
    assert budget.take(batches(5)) == ()
    assert len(budget.take(batches(2)) or ()) == 1, "a smaller one still fits"
    budget = Budget(Limits(1, 3, 10), 1, strict=False)
    assert len(budget.take(batches(3)) or ()) == 1
    assert budget.take(batches(5)) == (), "the first of the answer was the smaller one"


def test_a_dead_thread_takes_what_comes_and_fetches_nothing() -> None:
    """Before KIP-461 a new leader epoch did not help either, as long as the thread had others."""
    scenario = cluster(brokers=3, partitions=[[1, 2, 3], [1, 2, 3]])
    lines = ("fetch_error 2", "produce m", "settle", "produce n p=1", "settle")
    sim = played(scenario, "2.2.2", *lines)
    (thread,) = sim.brokers[2].running.fetchers.values()
    assert thread.dead and list(thread.partitions) == [0, 1] and not sim.brokers[2].running.failed
    assert [sim.brokers[2].replicas[tp].log.leo for tp in (0, 1)] == [0, 0]
    sim = played(scenario, "K39", *lines)
    assert sim.brokers[2].running.failed == {0}
    assert [sim.brokers[2].replicas[tp].log.leo for tp in (0, 1)] == [0, 1]


def test_two_threads_to_one_leader_settle_by_hand() -> None:
    scenario = cluster(partitions=[[1, 2]] * 4, configs={"num.replica.fetchers": 3})
    lines = [f"produce m{tp} acks=all p={tp}" for tp in range(4)]
    sim = played(scenario, "K39", *lines, "ask 2", "settle")
    assert all(sim.brokers[2].replicas[tp].log.hw == 1 for tp in range(4))
    assert len(sim.brokers[2].running.fetchers) == 3


def test_a_late_answer_of_one_thread_does_not_hold_up_the_other() -> None:
    scenario = cluster(
        partitions=[[1, 2], [1, 2]], fetching="auto", configs={"num.replica.fetchers": 2},
        network={"delay_ms": 5},
    )  # fmt: skip
    one = cluster(partitions=[[1, 2], [1, 2]], fetching="auto", network={"delay_ms": 5})
    lines = ("advance 1s", "produce m acks=all", "advance 6", "delay 1->2 300")
    for told, wanted in ((scenario, 1), (one, 0)):
        sim = played(told, "K39", *lines, "produce n acks=all p=1", "advance 50")
        assert sim.brokers[2].replicas[0].log.leo == 0
        assert sim.brokers[2].replicas[1].log.leo == wanted


@pytest.mark.parametrize(("bytes_wanted", "there"), [(1, 1), (1_000, 1), (1_001, 0), (2_000, 0)])
def test_min_bytes_wait_in_the_purgatory(bytes_wanted: int, there: int) -> None:
    configs = {"replica.fetch.min.bytes": bytes_wanted}
    scenario = cluster(fetching="auto", configs=configs)
    sim = played(scenario, "K39", "advance 5100", "produce m acks=1", "advance 10")
    assert sim.brokers[2].replicas[0].log.leo == there
    moves_on = moves.parse("advance 500", scenario.brokers)
    for _ in moves.play(sim, moves_on):
        pass
    assert sim.brokers[2].replicas[0].log.leo == 1


def test_a_batch_that_does_not_fit_stops_its_partition_and_no_other() -> None:
    """F-7, before KIP-74."""
    configs = {"record_bytes": 100, "replica.fetch.max.bytes": 50}
    scenario = cluster(partitions=[[1, 2]], configs=configs)
    lines = ("produce m acks=all", "settle", "settle")
    assert played(scenario, "0.10.0.1", *lines).brokers[2].replicas[0].log.leo == 0
    assert played(scenario, "Z09", *lines).brokers[2].replicas[0].log.leo == 1


def test_an_unexpected_response_changes_nothing() -> None:
    """F-6: a thread waits for one answer of its leader, told by its number."""
    sim = played(cluster(), "K39", "produce a to 1", "ask 2")
    (thread,) = sim.brokers[2].running.fetchers.values()
    asked = thread.outstanding
    assert asked > 0 and fetcher.waiting_thread(sim.brokers[2].running, 1, asked) is thread
    for leader, corr in ((1, asked - 1), (1, asked + 1), (2, asked)):
        assert fetcher.waiting_thread(sim.brokers[2].running, leader, corr) is None, (leader, corr)
    (answer,) = [m for m in sim.network.under_way() if m.src == 1 and m.kind == FETCH_R]
    answer.corr = asked - 1
    fetcher.on_fetch_response(sim.brokers[2].running, answer, sim.out)
    assert (sim.brokers[2].replicas[0].log.leo, thread.outstanding) == (0, asked)
    answer.corr = asked
    fetcher.on_fetch_response(sim.brokers[2].running, answer, sim.out)
    assert sim.brokers[2].replicas[0].log.leo == 1 and thread.outstanding != asked


@pytest.mark.parametrize(("assignment", "proposed"), [((1, 2), True), ((1,), False)])
def test_former_replicas_are_not_proposed(assignment: tuple[int, ...], proposed: bool) -> None:
    """S-7: a follower that was removed may still fetch, and be caught up."""
    sim = played(cluster(), "K39", "produce a to 1", "settle")
    leader = sim.brokers[1].replicas[0]
    leader.isr, leader.assignment = (1,), assignment
    insync.maybe_expand_isr(sim.brokers[1].running, leader, 2, sim.out)
    assert (leader.pending == EXPAND) is proposed is bool(sim.brokers[1].running.alter_queue)


@pytest.mark.parametrize(
    ("profile", "known", "error"),
    [
        ("K39", 0, NONE),
        ("K39", 1, NOT_LEADER_OR_FOLLOWER),
        ("K39", None, NONE),
        ("K33", 1, NONE),
    ],
)
def test_a_fetch_of_a_former_incarnation_is_refused(
    profile: str, known: int | None, error: int
) -> None:
    """S-4, KIP-903, 3.5: the leader knows a newer broker epoch than the fetch carries."""
    sim = played(cluster(), profile, "produce a to 1", "settle")
    leader = sim.brokers[1].running
    sent = leader.peers[2].broker_epoch
    if known is None:
        del leader.peers[2]
    else:
        leader.peers[2].broker_epoch += known
    found = insync.update_follower_fetch_state(
        leader, leader.replicas[0], 2, 1, 0, 1, sent, sim.out
    )
    assert found == error


@pytest.mark.parametrize(
    ("timestamp", "limit", "offset"),
    [(0, 9, 2), (10, 9, 2), (11, 9, 3), (30, 9, 5), (31, 9, -1), (30, 5, -1)],
)
def test_the_first_record_of_a_time(timestamp: int, limit: int, offset: int) -> None:
    """C-5: not below the log start, not from the limit on."""
    log = Log()
    for base, times in ((0, (1, 10, 10)), (3, (20, 20)), (5, (30,))):
        log.append(Batch(base, 0, ("r",) * len(times), times[-1], times=times))
    log.log_start = 2
    assert first_at(log, timestamp, limit)[1] == offset


@pytest.mark.parametrize(("src", "offset"), [(0, 2), (2, 2), (-31, 1)])
def test_the_latest_offset_is_the_end_to_a_replica_and_the_mark_to_a_client(
    src: int, offset: int
) -> None:
    """F-9, C-5, H-10: broker 0 is a replica like any other."""
    scenario = cluster(brokers=[{"id": 0}, {"id": 1}, {"id": 2}], partitions=[[1, 0, 2]])
    lines = ("produce a to 1", "settle", "settle", "produce b to 1 acks=1")
    leader, out = played(scenario, "K39", *lines).brokers[1].running, Effects()
    assert (leader.replicas[0].log.hw, leader.replicas[0].log.leo) == (1, 2)
    asked = ListOffsetsRequest(src, 1, 1, 0, LATEST, NO_EPOCH)
    serving.on_list_offsets_request(leader, asked, out)
    (answer,) = [one for one in out.sends if isinstance(one, ListOffsetsResponse)]
    assert (answer.error, answer.offset) == (NONE, offset)


def test_records_without_a_time_of_their_own_have_that_of_their_batch() -> None:
    log = Log()
    log.append(Batch(0, 4, ("r", "r"), 10))
    log.append(Batch(2, 5, ("r", "r"), 20))
    log.log_start = 1
    assert [first_at(log, time, 9)[1:] for time in (0, 10, 11, 21)] == [
        (1, 4, 10),
        (1, 4, 10),
        (2, 5, 20),
        (-1, NO_EPOCH, -1),
    ]


@pytest.mark.parametrize(
    ("sizes", "strict", "cue"),
    [
        ((2, 2), False, ("S-2.limit", 4, 2)),
        ((5, 1), False, ("S-2.first", 6, 5)),
        ((5,), True, ("S-2.oversized", 5, 0)),
        ((1, 1), False, None),
    ],
)
def test_batches_left_out_of_a_response_are_reported(
    sizes: tuple[int, ...], strict: bool, cue: tuple[str, int, int] | None
) -> None:
    """S-2, of a log that does not begin at offset 0."""
    sim, out = played(cluster(), "K39"), Effects(cues=True)
    offered = [Batch(one.base + 7, one.epoch, one.values) for one in batches(*sizes)]
    budget = Budget(Limits(1, 3, 100), 1, strict)
    limited(sim.brokers[1].running, 0, budget, offered, out)
    assert [(one.rule, one.old, one.new) for one in out.cues or ()] == ([cue] if cue else [])


def test_a_short_fetch_tells_how_much_there_is() -> None:
    """S-5: of all its partitions, from where each is; no more than the fetch may get.  A consumer
    gets nothing past the high watermark."""
    configs = {"record_bytes": 100, "fetch_max_records": 2}
    scenario = cluster(partitions=[[1, 2], [1, 2]], configs=configs)
    lines = ("produce a b c to 1", "settle", "settle", "produce d to 1", "produce e f g p=1")
    sim = played(scenario, "K39", *lines)
    (thread,) = sim.brokers[2].running.fetchers.values()
    out = Effects(cues=True)
    assert fetcher.maybe_fetch(sim.brokers[2].running, thread, out)
    (asked,) = [m for m in out.sends if isinstance(m, FetchRequest)]
    out.cues = []
    purgatory.tell_short(sim.brokers[1].running, asked, out)
    asked.replica = -1
    purgatory.tell_short(sim.brokers[1].running, asked, out)
    assert [cue.old for cue in out.cues or ()] == [100 + 200, 0]
    assert {cue.new for cue in out.cues or ()} == {asked.min_bytes}


def test_a_refused_partition_tells_no_offsets() -> None:
    """S-2: neither high watermark nor log start, as the broker that refuses may not know them."""
    sim = played(cluster(), "K39", "produce a to 1", "settle")
    leader = sim.brokers[1].running
    past = FetchPartition(0, 0, NO_EPOCH, leader.replicas[0].leader_epoch, 0)
    leader.replicas[0].leader_epoch += 1
    answer = read_partition(leader, FetchRequest(2, 1, 1, (past,), 2, 1, 0, 1, 9), past, sim.out)
    assert (answer.error, answer.hw, answer.log_start) == (FENCED_LEADER_EPOCH, -1, -1)
    assert not answer.batches


@pytest.mark.parametrize(
    ("profile", "offset", "state"),
    [
        ("Z08", -1, FETCHING),
        ("Z33", -1, FETCHING),
        ("Z0102", 0, TRUNCATING),
        ("Z0102", 1, FETCHING),
        ("Z0102", 2, TRUNCATING),
        ("Z011", 1, TRUNCATING),
        ("K39", 0, FETCHING),
    ],
)
def test_first_offset_of_a_fetcher(profile: str, offset: int, state: int) -> None:
    """F-2: a follower without an offset begins at its log's end; by high watermarks, one that
    stands there has nothing to truncate."""
    replica = played(cluster(), profile, "produce a to 1", "settle").brokers[2].replicas[0]
    assert replica.log.leo == 1
    began = initial_state(replica, offset, 5)
    wanted = 1 if offset < 0 else offset
    assert (began.state, began.offset, began.leader_epoch) == (state, wanted, 5)


@pytest.mark.parametrize(
    ("profile", "replica", "epoch", "error"),
    [
        ("K41", 0, 0, UNKNOWN_LEADER_EPOCH),
        ("K41", 0, NO_EPOCH, NOT_LEADER_OR_FOLLOWER),
        ("K41", 2, 0, NONE),
        ("K41", -1, 0, NONE),
        ("Z24", 0, 0, NONE),
    ],
)
def test_brokers_that_the_leader_knows_as_no_replica_get_an_error(
    profile: str, replica: int, epoch: int, error: int
) -> None:
    """S-2.6, KAFKA-13837: a follower of which the leader has not heard yet; number 0 is one, too.
    A consumer is none."""
    numbered = [{"id": one} for one in range(3)]
    scenario = cluster(brokers=numbered, partitions=[[1, 2]])
    leader = played(scenario, profile, "settle").brokers[1].running
    epoch = epoch if epoch == NO_EPOCH else leader.replicas[0].leader_epoch
    past = FetchPartition(0, 0, NO_EPOCH, epoch, 0)
    asked = FetchRequest(replica, 1, 1, (past,), replica, 1, 0, 1, 9)
    assert error_before_read(leader, asked, past) == error


@pytest.mark.parametrize(
    ("src", "corr", "found"),
    [(2, 0, True), (2, 7, True), (2, 8, False), (3, 0, False), (3, 7, False)],
)
def test_waiting_fetches_by_node_and_number(src: int, corr: int, found: bool) -> None:
    """S-6: that of a node, or the one of a number; a request that was sent again has none."""
    leader = played(cluster(), "K39", "settle").brokers[1].running
    waits = DelayedFetch(FetchRequest(2, 1, 7, (), 2, 1, 500, 1, 9), 500)
    leader.parked[:] = [waits]
    assert purgatory.parked_from(leader, src, corr) is (waits if found else None)
    waits.request.corr = -1
    assert purgatory.parked_from(leader, src, corr) is None


@pytest.mark.parametrize(("max_wait", "answers"), [(0, 1), (1, 0)])
def test_fetches_without_a_wait_are_answered_at_once(max_wait: int, answers: int) -> None:
    """S-5: one millisecond is a wait."""
    sim = played(cluster(), "K39", "settle")
    leader, out = sim.brokers[1].running, Effects()
    wanted = FetchPartition(0, 0, NO_EPOCH, leader.replicas[0].leader_epoch, 0)
    serving.on_fetch_request(
        leader, FetchRequest(-11, 1, 1, (wanted,), -1, -1, max_wait, 1, 9), out
    )
    assert len(out.sends) == answers
    assert len(leader.parked) == 1 - answers


@pytest.mark.parametrize(
    ("members", "least", "figures"),
    [((1, 2, 3), 2, (0, 0, 0)), ((1, 2), 2, (1, 0, 1)), ((1,), 2, (1, 1, 0)), ((1,), 1, (1, 0, 1))],
)
def test_a_leader_says_how_its_isr_stands(
    members: tuple[int, ...], least: int, figures: tuple[int, int, int]
) -> None:
    """12: UnderReplicated, UnderMinIsr, AtMinIsr; a follower never counts."""
    scenario = cluster(brokers=3, configs={"min.insync.replicas": least})
    sim = played(scenario, "K39", "settle")
    for broker, wanted in ((1, figures), (2, (0, 0, 0))):
        replica = sim.brokers[broker].replicas[0]
        replica.isr = members
        told = (insync.under_replicated, insync.under_min_isr, insync.at_min_isr)
        assert tuple(int(one(replica)) for one in told) == wanted
