"""INV-27: what a consumer read is gone, and it reads on: is it told, or does it skip in silence?"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine.checks.invariants.readers import TruncationNoticed
from engine.model.log import Batch, Log
from engine.model.messages import FetchData
from engine.scenarios.scenario import Scenario
from engine.sim.run import Run, play_all
from engine.sim.simulation import Simulation

CONSUMER = -31


def served(partitions: int = 1) -> tuple[Simulation, Log]:
    """Broker 1 leads, and its log holds a and b."""
    scenario = Scenario.from_dict({"title": "x", "brokers": 2, "partitions": [[1, 2]] * partitions})
    lines = ("produce a p=0", "produce b p=0", "settle", "settle")
    sim = play_all(Run(scenario, "K39", 0, lines))
    return sim, sim.brokers[1].replicas[0].log


def told(sim: Simulation, batches: Sequence[Batch], tp: int = 0) -> str:
    sim.checker.told.clear()
    sim.checker.broken.clear()
    data = FetchData(tp, 0, 0, 0, batches)
    TruncationNoticed().on_read(sim.checker, CONSUMER, 1, data, list(batches))
    return next((why for _, _, why in sim.broken), "")


def test_a_first_read_skips_nothing() -> None:
    """Even where the end of what the consumer got is cut by then; its next read may skip that."""
    sim, log = served()
    both = log.batches.copy()
    log.truncate_to(1)
    assert told(sim, both) == ""
    log.append(Batch(1, 0, ("c",)))
    why = told(sim, log.batches[1:])
    assert why == "a consumer read b@1(0), which is gone, and then c@1(0)"


def test_a_skip_is_told_even_where_the_end_of_the_second_read_is_cut_by_then() -> None:
    sim, log = served()
    assert told(sim, log.batches) == ""
    log.truncate_to(1)
    why = told(sim, [log.batches[0], Batch(1, 0, ("c",))])
    assert why == "a consumer read b@1(0), which is gone, and then a@0(0)"


def test_records_deleted_by_retention_were_not_skipped() -> None:
    """The log start is past it: no consumer is to read it again."""
    sim, log = served()
    assert told(sim, log.batches) == ""
    log.append(Batch(2, 0, ("c",)))
    log.hw = 3
    log.raise_log_start(2)
    del log.batches[:2], log.bases[:2]
    assert told(sim, log.batches) == ""


def test_reads_of_deleted_records_are_not_compared() -> None:
    sim, log = served()
    assert told(sim, log.batches) == ""
    second = log.batches[1:]
    log.truncate_to(0)
    assert told(sim, second) == ""
    assert told(sim, [Batch(1, 0, ("c",))]) == ""


@pytest.mark.parametrize("deleted", [False, True])
def test_another_partition_is_no_place_to_read_on(deleted: bool) -> None:
    """Nor is one that its broker has deleted since."""
    sim, log = served(partitions=2)
    assert told(sim, log.batches) == ""
    log.truncate_to(1)
    log.append(Batch(1, 0, ("c",)))
    if deleted:
        sim.brokers[1].machine.disks.clear()
        assert told(sim, log.batches[1:]) == ""
    else:
        other = sim.brokers[1].replicas[1].log
        other.append(Batch(0, 0, ("d",)))
        assert told(sim, other.batches, 1) == ""
        assert told(sim, log.batches[1:]) == "", "of each consumer, only the last read is known"
