"""CP-PLACE: the test vectors of the control-plane specification, 2."""

from __future__ import annotations

import pytest

from engine.controlplane import placement
from engine.controlplane.placement import Candidate, StripedPlacer
from engine.model import errors
from tests.conformance.chance import JavaLcg17

Lists = list[tuple[int, ...]]


class Zero:
    """Every draw is 0."""

    def below(self, limit: int) -> int:
        return 0


def brokers(**racks: tuple[int, ...]) -> list[Candidate]:
    """Candidates by rack; rack `_` is none, and a negative id means fenced."""
    return [
        Candidate(abs(broker), None if rack == "_" else rack, broker < 0)
        for rack, ids in racks.items()
        for broker in ids
    ]


def plain(n: int) -> list[Candidate]:
    return [Candidate(broker) for broker in range(n)]


def test_simple() -> None:
    expected = [(0, 1, 2), (1, 2, 3), (2, 3, 0), (3, 0, 1), (0, 1, 2), (1, 2, 3)]
    assert placement.place_simple(range(4), 6, 3) == (errors.NONE, expected)


ZK: list[tuple[list[Candidate], int, int, int, int, Lists]] = [
    # brokers, partitions, factor, start, first partition -> result
    (
        plain(5), 10, 3, 0, 0,
        [(0, 1, 2), (1, 2, 3), (2, 3, 4), (3, 4, 0), (4, 0, 1),
         (0, 2, 3), (1, 3, 4), (2, 4, 0), (3, 0, 1), (4, 1, 2)],
    ),
    (plain(5), 2, 3, 0, 6, [(1, 2, 3), (2, 3, 4)]),
    (plain(5), 2, 3, 0, -1, [(0, 1, 2), (1, 2, 3)]),  # Kafka's default: there are none yet
    (plain(1), 2, 1, 0, 0, [(0,), (0,)]),
    (
        brokers(r1=(0, 5), r3=(1, 2), r2=(3, 4)), 7, 3, 0, 0,
        [(0, 3, 1), (3, 1, 5), (1, 5, 4), (5, 4, 2), (4, 2, 0), (2, 0, 3), (0, 4, 2)],
    ),
    (
        brokers(a=(0, 1), b=(2, 3), c=(4, 5)), 6, 2, 0, 0,
        [(0, 2), (2, 4), (4, 1), (1, 3), (3, 5), (5, 0)],
    ),
    (
        brokers(a=(0, 1), b=(2, 3), c=(4, 5)), 3, 4, 0, 0,
        [(0, 2, 4, 1), (2, 4, 1, 3), (4, 1, 3, 5)],
    ),
    (brokers(a=(0, 1), b=(2,)), 3, 2, 0, 0, [(0, 2), (2, 1), (1, 2)]),
]  # fmt: skip


@pytest.mark.parametrize(("cluster", "partitions", "factor", "start", "first", "expected"), ZK)
def test_zookeeper_era(
    cluster: list[Candidate], partitions: int, factor: int, start: int, first: int, expected: Lists
) -> None:
    placed = placement.place_zk(
        cluster, partitions, factor, Zero(), start=start, first_partition=first
    )
    assert placed == (errors.NONE, expected)


class OneThenTwo:
    def __init__(self) -> None:
        self.drawn = 0

    def below(self, limit: int) -> int:
        self.drawn += 1
        return self.drawn


def test_zookeeper_era_start_and_shift_are_drawn_apart() -> None:
    _, placed = placement.place_zk(plain(4), 6, 3, OneThenTwo())
    assert placed == [(1, 0, 2), (2, 1, 3), (3, 2, 0), (0, 3, 1), (1, 2, 3), (2, 3, 0)]
    _, placed = placement.place_zk(plain(6), 1, 3, OneThenTwo())
    assert placed == [(1, 4, 5)], "the followers begin two further on"


def test_zookeeper_era_a_start_that_is_given_leaves_nothing_to_chance() -> None:
    """CP-PLACE-ZK: broker 0 is one, too."""
    chance = OneThenTwo()
    placed = placement.place_zk(plain(5), 1, 3, chance, start=0)
    assert (placed, chance.drawn) == ((errors.NONE, [(0, 1, 2)]), 0)


def test_zookeeper_era_brokers_with_a_replica_are_skipped_on_the_second_round() -> None:
    """CP-PLACE-ZK-RACK 2: 2 was skipped for its rack, and is found again behind 3, which is in."""
    cluster = brokers(a=(0, 1), b=(2, 3), c=(4,))
    placed = placement.place_zk(cluster, 1, 5, Zero(), start=0, shift=1)
    assert placed == (errors.NONE, [(0, 3, 4, 1, 2)])


@pytest.mark.parametrize(("shift", "expected"), [(-1, (2, 0, 1)), (0, (2, 3, 4)), (1, (2, 4, 0))])
def test_zookeeper_era_a_shift_that_is_given_counts(shift: int, expected: tuple[int, ...]) -> None:
    """CP-PLACE-ZK: 0 is one; only where none is given the start stands for it."""
    placed = placement.place_zk(plain(5), 1, 3, Zero(), start=2, shift=shift)
    assert placed == (errors.NONE, [expected])


def test_zookeeper_era_refusals() -> None:
    for partitions, factor, error in (
        (0, 1, errors.INVALID_PARTITIONS),
        (1, 0, errors.INVALID_REPLICATION_FACTOR),
        (1, 4, errors.INVALID_REPLICATION_FACTOR),
    ):
        assert placement.place_zk(plain(3), partitions, factor, Zero()) == (error, [])
    mixed = brokers(a=(1,), _=(2,))
    assert placement.place_zk(mixed, 1, 1, Zero()) == (errors.UNKNOWN_SERVER_ERROR, [])


STRIPED: list[tuple[list[Candidate], int, Lists]] = [
    (plain(4), 3, [(0, 1, 2), (1, 2, 3), (2, 3, 0), (3, 0, 1)]),
    (
        brokers(A=(0, 1, 2), B=(10, 11, 12), C=(20, 21, 22)), 3,
        [(0, 10, 20), (11, 21, 1), (22, 2, 12), (0, 10, 20)],
    ),
    (brokers(A=(0, -1), B=(10, 11), C=(-20,)), 3, [(0, 10, 20), (11, 20, 0), (0, 20, 10)]),
    (brokers(A=(0,), B=(1,), C=(2,)), 2, [(0, 1), (1, 2), (2, 0)]),
    # A broker that has led once is mixed with the others, if there are any.
    (
        brokers(_=(0, -1, 2)), 3,
        [(0, 2, 1), (2, 0, 1), (2, 0, 1), (0, 2, 1), (0, 2, 1), (2, 0, 1)],
    ),
    (brokers(_=(1, -2, -3)), 3, [(1, 2, 3), (1, 3, 2), (1, 2, 3), (1, 3, 2)]),
]  # fmt: skip


@pytest.mark.parametrize(("cluster", "factor", "expected"), STRIPED)
def test_striped(cluster: list[Candidate], factor: int, expected: Lists) -> None:
    placed = StripedPlacer(cluster, Zero()).place(len(expected), factor)
    assert placed == (errors.NONE, expected)


def test_striped_refusals() -> None:
    for cluster, factor in (
        (plain(2), 0),
        (plain(2), 3),
        ([Candidate(1, fenced=True)], 1),
        ([], 1),
    ):
        placer = StripedPlacer(cluster, Zero())
        assert placer.place(1, factor) == (errors.INVALID_REPLICATION_FACTOR, [])
        assert placer.place_one(factor) == (errors.INVALID_REPLICATION_FACTOR, ())


def test_striped_brokers_without_a_rack_come_first() -> None:
    cluster = brokers(b=(1,), _=(2,), a=(3,))
    placer = StripedPlacer(cluster, Zero())
    assert placer.rack_names() == [None, "a", "b"]
    assert placer.place(2, 3) == (errors.NONE, [(2, 3, 1), (3, 1, 2)])


@pytest.mark.parametrize("partitions", [0, -1, -2])
def test_striped_a_topic_has_a_partition(partitions: int) -> None:
    placed = StripedPlacer(plain(3), Zero()).place(partitions, 1)
    assert placed == (errors.INVALID_PARTITIONS, [])


def test_striped_with_one_unfenced_broker_ends() -> None:
    cluster = [Candidate(1), Candidate(2, fenced=True), Candidate(3, fenced=True)]
    _, placed = StripedPlacer(cluster, JavaLcg17()).place(20, 3)
    assert all(replicas[0] == 1 and len(set(replicas)) == 3 for replicas in placed)


@pytest.mark.parametrize("factor", [1, 2, 3, 5])
def test_striped_spreads_evenly_over_racks(factor: int) -> None:
    cluster = brokers(a=(1, 2), b=(3, 4), c=(5, 6))
    racks = {broker.id: broker.rack for broker in cluster}
    error, placed = StripedPlacer(cluster, JavaLcg17()).place(600, factor)
    assert (error, len(placed)) == (errors.NONE, 600)
    for replicas in placed:
        assert len(set(replicas)) == factor
        assert len({racks[broker] for broker in replicas}) == min(factor, 3)
    leaders = [sum(1 for replicas in placed if replicas[0] == broker) for broker in racks]
    assert max(leaders) - min(leaders) <= 30


@pytest.mark.parametrize(
    ("lists", "factor", "valid"),
    [
        ([(1, 2)], None, True),
        ([(1, 2), (2, 3)], None, True),
        ([()], None, False),
        ([(1, 1)], None, False),
        ([(1, 9)], None, False),
        ([(1, 2), (1,)], None, False),
        ([(1, 2)], 3, False),
    ],
)
def test_manual(lists: Lists, factor: int | None, valid: bool) -> None:
    error = placement.check_manual(lists, (1, 2, 3), factor)
    assert error == (errors.NONE if valid else errors.INVALID_REPLICA_ASSIGNMENT)
