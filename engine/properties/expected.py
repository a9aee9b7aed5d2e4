"""The notation of scripts (`expect ...`) as a part of properties."""

from __future__ import annotations

from collections.abc import Callable

from engine.model.errors import InputError
from engine.properties.moment import Moment, ReplicaMoment
from engine.scenarios.expectations import Expectation, parse
from engine.scenarios.parts import BrokerSpec


def reader(text: str, brokers: tuple[BrokerSpec, ...], where: str) -> Callable[[Moment], bool]:
    """Return a test of a moment against this line.  Raises InputError if it cannot be read."""
    try:
        expectation = parse(" ".join(text.split()), brokers, where)
    except InputError as bad:
        raise InputError(
            bad.code, "{0}: {1}", where.capitalize(), bad.sentence, where=where
        ) from bad
    if expectation.kind == "record":
        return lambda moment: _record(moment, expectation)
    if expectation.kind in ("ack", "waiting", "refused"):
        return lambda moment: all(
            _is_expected(moment, name, expectation) for name in expectation.names
        )
    if expectation.kind in ("replica", "log", "epochs"):
        return lambda moment: _replica(moment, expectation)
    raise InputError("invalid", "A property cannot ask for {0}.", text[:40], where=where)


def _record(moment: Moment, expectation: Expectation) -> bool:
    part = moment.parts.get(expectation.partition)
    if part is None:
        return False
    record = part.record
    return (
        (record.leader, record.leader_epoch, record.partition_epoch)
        == (expectation.who, *expectation.numbers)
        and sorted(record.isr) == sorted(expectation.isr)
        and expectation.elr in (None, tuple(sorted(record.elr)))
        and expectation.last in (None, tuple(sorted(record.last_known_elr)))
    )


def _is_expected(moment: Moment, name: str, expectation: Expectation) -> bool:
    notes, step = moment.known, moment.step
    acked = notes.acked.get(name, step + 1) <= step
    at, error = notes.failed.get(name, (step + 1, ""))
    if expectation.kind == "ack":
        return acked
    if expectation.kind == "waiting":
        return not acked and at > step
    return not acked and at <= step and error == expectation.error


def _replica(moment: Moment, expectation: Expectation) -> bool:
    part = moment.parts.get(expectation.partition)
    mine: ReplicaMoment | None = None if part is None else part.replicas.get(expectation.who)
    if mine is None:
        return False
    if expectation.kind == "replica":
        actual = (mine.leo, mine.hw, mine.start, mine.local)
        return all(
            want in (-1, have) for want, have in zip(expectation.numbers, actual, strict=True)
        )
    if expectation.kind == "log":
        pairs = [(value, batch.epoch) for batch in mine.batches for value in batch.values]
        return pairs == list(zip(expectation.names, expectation.numbers, strict=True))
    return [n for entry in mine.epochs for n in entry] == list(expectation.numbers)
