"""The facts of the property language: the arguments, the sort and the reader of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from engine.checks.catalogue import INVARIANTS
from engine.model.declared import declared
from engine.model.errors import InputError
from engine.model.profiles import nearest
from engine.properties.formula import BROKER, BROKERS, EPOCHS, NUMBER, PARTITION, RECORD, RECORDS
from engine.properties.moment import NOBODY, Moment, PartitionMoment, ReplicaMoment

TRUTH: Final = "truth"
INVARIANT: Final = "promise"


@declared
class Fact:
    """A fact of a moment that a property can name.

    `takes` are the sorts of its arguments, without the optional partition; `gives` is the sort of
    its value.  `read(moment, partition, *arguments)` returns the value, or None.
    """

    takes: tuple[str, ...]
    gives: str
    read: Callable[..., Any]
    meaning: str


def _part(moment: Moment, tp: int) -> PartitionMoment | None:
    return moment.parts.get(tp)


def _of_part(read: Callable[[PartitionMoment], Any]) -> Callable[[Moment, int], Any]:
    def value(moment: Moment, tp: int) -> Any:
        part = _part(moment, tp)
        return None if part is None else read(part)

    return value


def _of_replica(read: Callable[[ReplicaMoment], Any]) -> Callable[[Moment, int, int], Any]:
    def value(moment: Moment, tp: int, broker: int) -> Any:
        part = _part(moment, tp)
        mine = None if part is None else part.replicas.get(broker)
        return None if mine is None else read(mine)

    return value


def _note_of(table: str) -> Callable[[Moment, int, str], bool]:
    def value(moment: Moment, tp: int, record: str) -> bool:
        at = getattr(moment.known, table).get(record)
        step = at[0] if isinstance(at, tuple) else at
        return step is not None and step <= moment.step

    return value


def _after_append(moment: Moment, tp: int, record: str) -> bool:
    step, error = moment.known.failed.get(record, (moment.step + 1, ""))
    return step <= moment.step and error == "NOT_ENOUGH_REPLICAS_AFTER_APPEND"


def _count(moment: Moment, tp: int) -> int:
    return sum(step <= moment.step for step in moment.known.lost.values())


def _believers(moment: Moment, tp: int) -> frozenset[int]:
    part = _part(moment, tp)
    found = part.replicas.items() if part is not None else ()
    return frozenset(b for b, one in found if one.leads and b in moment.alive)


FACTS: Final[dict[str, Fact]] = {
    "leader": Fact(
        (), BROKER, _of_part(lambda one: one.record.leader), "who leads, or none, by the controller"
    ),
    "epoch": Fact((), NUMBER, _of_part(lambda one: one.record.leader_epoch), "the leader epoch"),
    "min_isr": Fact((), NUMBER, _of_part(lambda one: one.min_isr), "min.insync.replicas"),
    "isr": Fact((), BROKERS, _of_part(lambda one: frozenset(one.record.isr)), "the ISR"),
    "elr": Fact(
        (), BROKERS, _of_part(lambda one: frozenset(one.record.elr)), "the eligible replicas"
    ),
    "replicas": Fact((), BROKERS, _of_part(lambda one: frozenset(one.replicas)), "the assigned"),
    "alive": Fact((), BROKERS, lambda moment, tp: moment.alive, "the brokers whose process runs"),
    "fenced": Fact((), BROKERS, lambda moment, tp: moment.fenced, "the brokers that are fenced"),
    "leading": Fact((), BROKERS, _believers, "the brokers that believe that they lead"),
    "struck": Fact(
        (),
        BROKERS,
        lambda moment, tp: moment.struck,
        "the brokers that have lost power, a disk or its contents so far",
    ),
    "emptied": Fact(
        (),
        BROKERS,
        lambda moment, tp: moment.emptied,
        "the brokers whose disk was emptied so far",
    ),
    "unclean": Fact(
        (), TRUTH, lambda moment, tp: moment.unclean, "an unclean election has been held so far"
    ),
    "HW": Fact((BROKER,), NUMBER, _of_replica(lambda one: one.hw), "its high watermark"),
    "LEO": Fact((BROKER,), NUMBER, _of_replica(lambda one: one.leo), "the end of its log"),
    "START": Fact((BROKER,), NUMBER, _of_replica(lambda one: one.start), "where its log starts"),
    "LOCAL": Fact((BROKER,), NUMBER, _of_replica(lambda one: one.local), "where its disk starts"),
    "FLUSHED": Fact(
        (BROKER,), NUMBER, _of_replica(lambda one: one.flushed), "up to where its log was flushed"
    ),
    "log": Fact(
        (BROKER,), RECORDS, _of_replica(lambda one: frozenset(one.values())), "its records"
    ),
    "maximal": Fact(
        (BROKER,),
        BROKERS,
        _of_replica(lambda one: frozenset(one.maximal)),
        "the replicas that it waits for as leader",
    ),
    "epochs": Fact((BROKER,), EPOCHS, _of_replica(lambda one: one.epochs), "its leader epochs"),
    "acked": Fact((RECORD,), TRUTH, _note_of("acked"), "the producer was told of success"),
    "acked_all": Fact((RECORD,), TRUTH, _note_of("acked_all"), "the same, with acks=all"),
    "failed": Fact((RECORD,), TRUTH, _note_of("failed"), "the producer gave up with an error"),
    "failed_after_append": Fact(
        (RECORD,), TRUTH, _after_append, "the error was NOT_ENOUGH_REPLICAS_AFTER_APPEND"
    ),
    "committed": Fact((RECORD,), TRUTH, _note_of("committed"), "it was below a high watermark"),
    "read": Fact((RECORD,), TRUTH, _note_of("read"), "a consumer got it"),
    "lost": Fact(
        (RECORD,), TRUTH, _note_of("lost"), "it was acknowledged with acks=all and is gone"
    ),
    "repeated": Fact(
        (RECORD,), TRUTH, _note_of("repeated"), "a consumer group processed it twice or more"
    ),
    "skipped": Fact(
        (RECORD,), TRUTH, _note_of("skipped"), "a consumer group passed over it unprocessed"
    ),
    "losses": Fact((), NUMBER, _count, "how many acknowledged records are gone"),
    "broken": Fact((INVARIANT,), TRUTH, _note_of("broken"), "a promise of replication has broken"),
}


def fact(name: str, where: str, place: str) -> Fact:
    """Return the fact of this name.

    Raises InputError for a fact that does not exist.
    """
    if name in FACTS:
        return FACTS[name]
    hint = nearest(name, list(FACTS))
    raise InputError("unknown", "{0}there is no fact {1}{2}", place, name[:40], hint, where=where)


def invariant(name: str, where: str, place: str) -> str:
    """Return the name of a promise.

    Raises InputError for a promise that does not exist.
    """
    if name in INVARIANTS:
        return name
    raise InputError(
        "unknown",
        "{0}there is no promise {1}; they are I1 to I15.",
        place,
        name[:40],
        where=where,
    )


assert NOBODY == -1 and PARTITION
