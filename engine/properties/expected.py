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
        wanted = parse(" ".join(text.split()), brokers, where)
    except InputError as bad:
        raise InputError(
            bad.code, "{0}: {1}", where.capitalize(), bad.sentence, where=where
        ) from bad
    if wanted.kind == "record":
        return lambda moment: _record(moment, wanted)
    if wanted.kind in ("ack", "waiting", "refused"):
        return lambda moment: all(_is_expected(moment, name, wanted) for name in wanted.names)
    if wanted.kind in ("replica", "log", "epochs"):
        return lambda moment: _replica(moment, wanted)
    raise InputError("invalid", "A property cannot ask for {0}.", text[:40], where=where)


def _record(moment: Moment, wanted: Expectation) -> bool:
    part = moment.parts.get(wanted.partition)
    if part is None:
        return False
    one = part.record
    return (
        (one.leader, one.leader_epoch, one.partition_epoch) == (wanted.who, *wanted.numbers)
        and sorted(one.isr) == sorted(wanted.isr)
        and wanted.elr in (None, tuple(sorted(one.elr)))
        and wanted.last in (None, tuple(sorted(one.last_known_elr)))
    )


def _is_expected(moment: Moment, name: str, wanted: Expectation) -> bool:
    known, step = moment.known, moment.step
    acked = known.acked.get(name, step + 1) <= step
    at, error = known.failed.get(name, (step + 1, ""))
    if wanted.kind == "ack":
        return acked
    if wanted.kind == "waiting":
        return not acked and at > step
    return not acked and at <= step and error == wanted.error


def _replica(moment: Moment, wanted: Expectation) -> bool:
    part = moment.parts.get(wanted.partition)
    mine: ReplicaMoment | None = None if part is None else part.replicas.get(wanted.who)
    if mine is None:
        return False
    if wanted.kind == "replica":
        found = (mine.leo, mine.hw, mine.start, mine.local)
        return all(want in (-1, have) for want, have in zip(wanted.numbers, found, strict=True))
    if wanted.kind == "log":
        pairs = [(value, batch.epoch) for batch in mine.batches for value in batch.values]
        return pairs == list(zip(wanted.names, wanted.numbers, strict=True))
    return [n for entry in mine.epochs for n in entry] == list(wanted.numbers)
