"""Expectations of a scenario: of a profile, and `expect` lines inside a script.

P{B 1 3 [B,A]}      partition 0: leader, leader epoch, partition epoch, ISR  (P2{...}: partition 2)
P{-1 3 3 [] elr [2,3] last [3]}
b1 LEO 5 HW 3       a replica of partition 0, by id or name; START is where its log begins,
                    LOCAL where what is on its disk does; marks may be left out
log A m0@0 n3@2     the records of a replica from offset 0 on, with their epochs
epochs A 0:0 2:3    its leader-epoch cache
ack m3 m4           these records were acknowledged;  waiting m5: not answered yet
refused m4 NOT_ENOUGH_REPLICAS
C1 at 2             the offset that a consumer reads next
deleting t-0        the controller is deleting its topic;  deleted t-0: it has forgotten it
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from engine.checks.catalogue import INVARIANTS, VIOLABLE
from engine.model.errors import InputError, all_names
from engine.model.profiles import nearest
from engine.scenarios.parts import BrokerSpec
from engine.scenarios.places import Path, Reader, short_value

COUNTED: Final = (*INVARIANTS, "A1", "A2")

_RECORD: Final = re.compile(
    r"P(\d*)\{\s*(\S+)\s+(\d+)\s+(\d+)\s+\[([^\]]*)\]"
    r"(?:\s+elr\s+\[([^\]]*)\])?(?:\s+last\s+\[([^\]]*)\])?\s*\}"
)
MARKS: Final = ("LEO", "HW", "START", "LOCAL")
FINAL: Final = ("record", "deleting", "deleted")  # what a partition can be at the end of a run
_NAME: Final = re.compile(r"[A-Za-z0-9_'.:-]{1,32}")
_ENTRY: Final = re.compile(r"([A-Za-z0-9_'.:=/+-]{1,100})@(\d+)")
_PLACE: Final = re.compile(r"p=(\d{1,3})")
_CONSUMER: Final = re.compile(r"C(1[0-9]|20|[1-9])\s+at\s+(-1|\d{1,9})")
_EPOCH: Final = re.compile(r"(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class Expectation:
    """One checked promise.

    kind "record": partition, `who` = leader (-1 none), numbers = (leader epoch, partition epoch),
         isr, elr and last (None when not stated)
    kind "replica": `who`, numbers = (LEO, HW, log start), -1 where not stated
    kind "log": `who`, names = the records, numbers = their epochs
    kind "epochs": `who`, numbers = epoch, start, epoch, start, ...
    kind "ack" | "waiting": names;  "refused": names and error
    kind "deleting" | "deleted": names = the partition
    kind "consumer": `who` = its number, numbers = (position,)
    """

    kind: str
    text: str
    partition: int = 0
    who: int = -1
    numbers: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    isr: tuple[int, ...] = ()
    elr: tuple[int, ...] | None = None
    last: tuple[int, ...] | None = None
    error: str = ""


def parse(text: str, brokers: tuple[BrokerSpec, ...], where: str = "") -> Expectation:
    """Read one `expect` line without the word expect.  Raises InputError with one sentence."""
    record = _RECORD.fullmatch(text.strip())
    if record:
        return _record(record, text, brokers, where)
    words = text.split()
    place = _PLACE.fullmatch(words[-1]) if words else None
    if place:
        said = parse(" ".join(words[:-1]), brokers, where)
        if said.kind not in ("replica", "log", "epochs"):
            raise InputError("invalid", "Only a replica is asked for with p=1.", where=where)
        return replace(said, text=text, partition=int(place[1]))
    verb = words[0] if words else ""
    if verb in ("ack", "waiting") and len(words) > 1:
        return Expectation(verb, text, names=tuple(_record_name(word, where) for word in words[1:]))
    if verb == "refused" and len(words) == 3:
        if words[2] not in all_names():
            hint = nearest(words[2], all_names())
            raise InputError(
                "unknown", "There is no error {0}{1}", words[2][:40], hint, where=where
            )
        return Expectation(verb, text, names=(_record_name(words[1], where),), error=words[2])
    consumer = _CONSUMER.fullmatch(text.strip())
    if consumer:
        return Expectation("consumer", text, 0, int(consumer[1]), (int(consumer[2]),))
    if verb in ("deleting", "deleted") and len(words) == 2:
        return Expectation(verb, text, names=(_record_name(words[1], where),))
    if verb == "log" and len(words) > 1:
        names, epochs = _entries(words[2:], where)
        return Expectation(verb, text, 0, _broker(words[1], brokers, where), epochs, names)
    if verb == "epochs" and len(words) > 1:
        pairs = [_EPOCH.fullmatch(word) for word in words[2:]]
        parsed = [(int(pair[1]), int(pair[2])) for pair in pairs if pair]
        if len(parsed) != len(pairs):
            raise InputError(
                "invalid", "Epochs are written epoch:offset, like 0:0 2:3.", where=where
            )
        flat = tuple(number for pair in parsed for number in pair)
        return Expectation(verb, text, 0, _broker(words[1], brokers, where), flat)
    if len(words) in (3, 5, 7, 9):
        marks = dict(zip(words[1::2], words[2::2], strict=True))
        if set(marks) <= set(MARKS) and all(mark.isdecimal() for mark in marks.values()):
            numbers = tuple(int(marks.get(mark, -1)) for mark in MARKS)
            return Expectation("replica", text, 0, _broker(verb, brokers, where), numbers)
    raise InputError(
        "invalid",
        "An expectation reads like P{1 0 0 [1,2,3]}, b1 LEO 5 HW 3 or ack m3, not {0}.",
        short_value(text),
        where=where,
    )


def _record(
    match: re.Match[str], text: str, brokers: tuple[BrokerSpec, ...], where: str
) -> Expectation:
    leader = match[2]
    return Expectation(
        "record",
        text.strip(),
        int(match[1] or 0),
        -1 if leader == "-1" else _broker(leader, brokers, where),
        (int(match[3]), int(match[4])),
        isr=_brokers(match[5], brokers, where),
        elr=None if match[6] is None else _brokers(match[6], brokers, where),
        last=None if match[7] is None else _brokers(match[7], brokers, where),
    )


def _brokers(text: str, brokers: tuple[BrokerSpec, ...], where: str) -> tuple[int, ...]:
    words = [word for word in re.split(r"[,\s]+", text) if word]
    return tuple(_broker(word, brokers, where) for word in words)


def _broker(word: str, brokers: tuple[BrokerSpec, ...], where: str) -> int:
    for broker in brokers:
        if word in (broker.name, str(broker.id), f"b{broker.id}") and word:
            return broker.id
    names = ", ".join(broker.label for broker in brokers)
    raise InputError(
        "unknown", "There is no broker {0}; there are {1}.", short_value(word), names, where=where
    )


def _record_name(word: str, where: str) -> str:
    if not _NAME.fullmatch(word):
        raise InputError(
            "invalid", "A record is named like m3, not {0}.", short_value(word), where=where
        )
    return word


def _entries(words: list[str], where: str) -> tuple[tuple[str, ...], tuple[int, ...]]:
    matches = [_ENTRY.fullmatch(word) for word in words]
    entries = [(match[1], int(match[2])) for match in matches if match]
    if len(entries) != len(matches):
        raise InputError("invalid", "A log is written record@epoch, like m0@0 n3@2.", where=where)
    return tuple(name for name, _ in entries), tuple(epoch for _, epoch in entries)


def read_expect(
    read: Reader, value: object, path: Path, brokers: tuple[BrokerSpec, ...]
) -> dict[str, Any]:
    """Read the expectation of one profile, in its plain form.

    {"verdict": "holds" | "statistical" | [...], "final"?, "logs"?, "counts"?}
    """
    fields = read.mapping(value, path, ("verdict", "final", "logs", "counts"))
    if "verdict" not in fields:
        raise read.bad(path, "An expectation needs a verdict: holds, violates I7, or statistical.")
    expect: dict[str, Any] = {
        "verdict": _verdict(read, fields["verdict"], (*path, "verdict")),
    }
    if "final" in fields:
        here = (*path, "final")
        final = read.text(fields["final"], here, 400)
        if parse(final, brokers, read.places.of(here)).kind not in FINAL:
            raise read.bad(here, "The final state is written like P{1 0 0 [1,2,3]}.")
        expect["final"] = final
    if "logs" in fields:
        here = (*path, "logs")
        labels = tuple(broker.label for broker in brokers)
        logs = read.mapping(fields["logs"], here, labels)
        for name, entries in logs.items():
            words = read.text(entries, (*here, name), 4_000).split()
            _entries(words, read.places.of((*here, name)))
        expect["logs"] = {name: str(entries) for name, entries in logs.items()}
    if "counts" in fields:
        here = (*path, "counts")
        listed = read.listing(fields["counts"], here, len(COUNTED))
        counts = [
            read.choice(counted, (*here, index), COUNTED) for index, counted in enumerate(listed)
        ]
        expect["counts"] = counts
    return expect


def _verdict(read: Reader, value: object, path: Path) -> str | list[str]:
    """Read "holds", "statistical", "violates I7 I6" or [I7, I6]; the list comes back in order."""
    if value in ("holds", "statistical"):
        return str(value)
    words: list[object]
    if isinstance(value, str) and value.split()[:1] == ["violates"]:
        words = list(value.replace(",", " ").split()[1:])
    else:
        words = read.listing(value, path, len(VIOLABLE), 1) if value != "" else []
    if not words:
        raise read.bad(path, "A verdict is holds, statistical, or violates I7 (and more).")
    return in_order(read.choice(word, path, VIOLABLE) for word in words)


# -- a verdict and what broke ----------------------------------------------------------------------


def in_order(names: Iterable[str]) -> list[str]:
    """Return each of these invariants once, as the catalogue lists them."""
    found = set(names)
    return [name for name in INVARIANTS if name in found]


def is_kept(verdict: str | list[str], broken: Collection[str]) -> bool:
    """Check whether a run in which these invariants broke ends as the verdict promises.

    `holds`: none broke.  A list: all of it broke, and beside it at most what explains it.
    `statistical` promises nothing of a single run.
    """
    if verdict == "statistical":
        return True
    if verdict == "holds":
        return not broken
    beside = set(broken).difference(verdict)
    return set(verdict) <= set(broken) and all(
        INVARIANTS[name].explains in verdict for name in beside
    )


def record_notation(state: Iterable[object], *sets: Collection[object], tp: int = 0) -> str:
    """Return a partition's record as an expectation reads it.

    `state` is leader, leader epoch and partition epoch; `sets` are ISR, ELR and last known ELR.
    """
    isr, elr, last = (f"[{','.join(map(str, brokers))}]" for brokers in sets)
    more = f" elr {elr} last {last}" if any(sets[1:]) else ""
    return f"P{tp or ''}{{{' '.join(map(str, state))} {isr}{more}}}"
