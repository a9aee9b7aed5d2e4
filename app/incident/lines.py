"""What one line of server.log, controller.log or state-change.log tells, from 0.10.2 to 4.x.

A line is recognised by words that stand in no other line; then one expression takes its values.
"""

from __future__ import annotations

import re
from calendar import timegm
from dataclasses import dataclass
from functools import lru_cache
from time import strptime
from typing import Any, Final

from app.incident.events import CONTROLLER, Event, Topic

STAMP: Final = re.compile(rb"\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[,.](\d{3})\] ([A-Z]+) ")

_TP: Final = r"(?:\[(?P<topic>[^,\] ]+),(?P<index>\d+)\]|(?P<tp>[A-Za-z0-9._-]+-\d+))"
_STATE: Final = (
    r"leader=(?P<leader>-?\d+), leaderEpoch=(?P<le>\d+), isr=\[?(?P<isr>[\d, ]*)\]?, "
    r"(?:zkVersion|partitionEpoch)=(?P<pe>\d+), replicas=\[?(?P<set>[\d, ]*)"
)


@dataclass(frozen=True, slots=True)
class Form:
    """A kind of line: `key` must be in it, `expression` takes its values out of it.  `ours`: it is
    about one partition, not about a broker."""

    kind: str
    key: bytes
    expression: re.Pattern[str]
    ours: bool = True


def _form(kind: str, key: str, expression: str, ours: bool = True) -> Form:
    return Form(kind, key.encode(), re.compile(expression), ours)


FORMS: Final = (
    # -- the record, as a broker or a ZooKeeper-era controller heard or sent it -------------------
    _form("record", "eceived LeaderAndIsr request PartitionState(",
          rf"PartitionState\(.*?{_STATE}.*? for partition {_TP}"),
    _form("record", "eceived LeaderAndIsr request LeaderAndIsrPartitionState(",
          rf"PartitionState\(.*?{_STATE}.*? for partition {_TP}"),
    _form("record", "Skipped the become-", rf"state change for {_TP} .*?{_STATE}"),
    _form("assigned", " with assigned replicas ",
          rf"hanged partition {_TP} (?:state )?from .* with assigned replicas "
          r"(?P<replicas>[\d,]+)"),
    _form("sent", "ending become-",
          r"ending become-\w+ LeaderAndIsr request \(Leader:(?P<leader>-?\d+),"
          r"ISR:(?P<isr>[\d,]*),LeaderEpoch:(?P<le>\d+),.*?\) to broker (?P<broker>\d+) "
          rf"for partition {_TP}"),
    _form("sent", "ending become-",
          r"ending become-\w+ LeaderAndIsr request \w*PartitionState\(.*?leader=(?P<leader>-?\d+), "
          r"leaderEpoch=(?P<le>\d+), isr=\[?(?P<isr>[\d, ]*)\]?, .*? to broker (?P<broker>\d+) "
          rf"for partition {_TP}"),
    # -- a replica --------------------------------------------------------------------------------
    _form("leads", " starts at leader epoch ",
          rf"Leader {_TP} .*?starts at leader epoch (?P<le>\d+) from offset (?P<leo>\d+) with "
          r"partition epoch (?P<pe>\d+), high watermark (?P<hw>\d+), ISR \[(?P<isr>[\d,]*)\]"),
    _form("follows", " starts at leader epoch ",
          rf"Follower {_TP} starts at leader epoch (?P<le>\d+) from offset (?P<leo>\d+) with "
          r"partition epoch (?P<pe>\d+) and high watermark (?P<hw>\d+)\. "
          r"Current leader is (?P<leader>-?\d+)"),
    _form("cuts", "with TruncationState(offset=",
          rf"Truncating partition {_TP} with TruncationState\(offset=(?P<to>\d+)"
          r"(?:.*?EpochEndOffset\(.*?leaderEpoch=(?P<epoch>-?\d+), endOffset=(?P<end>-?\d+))?"),
    _form("cuts", "Truncating to offset ", rf"partition={_TP}.*Truncating to offset (?P<to>\d+)"),
    _form("cuts", "Truncating to ",
          rf"partition={_TP}.*Truncating to (?P<to>\d+)(?! has no effect|\d)"),
    _form("cuts", "Truncating log ", rf"Truncating log {_TP} to offset (?P<to>\d+)"),
    _form("grows", "Expanding ISR ",
          rf"{_TP} .*Expanding ISR (?:for partition \S+ )?from (?P<before>[\d,]*) to "
          r"(?P<isr>[\d,]+)"),
    _form("shrinks", "Shrinking ISR ",
          rf"{_TP} .*Shrinking ISR (?:for partition \S+ )?from (?P<before>[\d,]+) to "
          r"(?P<isr>[\d,]*)"
          r"(?:\. Leader: \(highWatermark: (?P<hw>\d+), endOffset: (?P<leo>\d+)\))?"),
    _form("granted", "ISR updated to ",
          rf"Partition {_TP} .*ISR updated to (?P<isr>[\d,]+) +and version updated to "
          r"(?P<pe>\d+)"),
    _form("refused", "Cached zkVersion ", rf"Partition {_TP} .*Cached zkVersion \[(?P<pe>\d+)\]"),
    _form("loaded", "Completed load of ",
          r"Completed load of Log\(.*?topic=(?P<topic>[^,]+), partition=(?P<index>\d+), .*?"
          r"logStartOffset=(?P<start>\d+), logEndOffset=(?P<leo>\d+)"),
    _form("loaded", "Completed load of log",
          rf"(?:partition=)?{_TP}.* log end offset (?P<leo>\d+)"),
    _form("mark", "with initial high watermark ",
          rf"for partition {_TP} with initial high watermark (?P<hw>\d+)"),
    _form("recovers", "Recovering unflushed segment ",
          rf"Recovering unflushed segment \d+.*?(?: in log | recovered for ){_TP}\."),
    _form("recovers", "Recovering unflushed segment ",
          rf"partition={_TP}.*Recovering unflushed segment \d+$"),
    _form("out of range", "out of range",
          rf"offset (?P<own>\d+) for partition {_TP}.*out of range"),
    _form("out of range", "reset its fetch offset",
          rf"partition {_TP} reset its fetch offset from (?P<own>\d+) to current leader "
          r"(?P<leader>\d+)'s latest offset (?P<end>\d+)"),
    _form("out of range", "reset its fetch offset",
          rf"partition {_TP} reset its fetch offset from (?P<own>\d+)"),
    _form("unclean", "potential data loss",
          rf"alive for {_TP}\. Elect leader (?P<leader>\d+)"),
    _form("unclean", "UNCLEAN partition change",
          rf"UNCLEAN partition change for {_TP} .*leader: \S+ -> (?P<leader>\d+)"),
    _form("created", "Created log for partition ",
          rf"Created log for partition {_TP} in .* with properties \{{(?P<properties>.*)\}}"),
    # -- a broker ---------------------------------------------------------------------------------
    _form("version", "Kafka version", r"Kafka version ?: (?P<version>\d+(?:\.\d+)+)", False),
    _form("fencing", "Fencing broker ", r"Fencing broker (?P<broker>\d+)", False),
    _form("failed", "Broker failure callback for ",
          r"Broker failure callback for (?P<brokers>[\d,]+)", False),
    _form("came", "New broker startup callback for ",
          r"New broker startup callback for (?P<brokers>[\d,]+)", False),
    _form("starts", "KafkaServer", r"^(?:\[KafkaServer id=\d+\] )?starting \(", False),
    _form("starts", "to STARTING", r"Transition from SHUTDOWN to STARTING", False),
    _form("stops", "controlled shutdown",
          r"(?:Starting|Beginning) controlled shutdown", False),
    _form("unclean stop", "no clean shutdown file", r"no clean shutdown file was found", False),
)  # fmt: skip

_ABOUT_PARTITIONS: Final = tuple(form.key for form in FORMS if form.ours)
_ABOUT_BROKERS: Final = tuple(form.key for form in FORMS if not form.ours)

_SPEAKERS: Final = (
    re.compile(rb"\[Broker id=(\d+)\]"),
    re.compile(rb"\] [A-Z]+ Broker (\d+) (?:received|handling|cached|ignoring)"),
    re.compile(rb"\[KafkaServer id=(\d+)\]"),
    re.compile(rb"\[Kafka Server (\d+)\]"),
    re.compile(rb"\[BrokerServer id=(\d+)\]"),
    re.compile(rb"\[ReplicaFetcherManager on broker (\d+)\]"),
    re.compile(rb"\[Partition \S+ broker=(\d+)\]"),
    re.compile(rb"\[Controller (?:id=)?(\d+)[\] ]"),
    re.compile(rb"\[(Quorum)Controller id=\d+\]"),
)
_LISTS: Final = ("isr", "set", "replicas", "before", "brokers")


def speaker_of(line: bytes) -> str:
    """The node that wrote a line, if the line says so; "" otherwise."""
    for expression in _SPEAKERS:
        match = expression.search(line)
        if match:
            return CONTROLLER if match[1] == b"Quorum" else match[1].decode()
    return ""


def may_tell(line: bytes, topic: bytes) -> bool:
    """Is a line worth taking apart?  Most are not, and this is cheap.  `topic` b"": any topic."""
    for key in _ABOUT_BROKERS:
        if key in line:
            return True
    return topic in line and any(key in line for key in _ABOUT_PARTITIONS)


@lru_cache(maxsize=64)
def _second(text: bytes) -> int:
    return timegm(strptime(text.decode(), "%Y-%m-%d %H:%M:%S")) * 1_000


def time_of(line: bytes) -> int | None:
    """The time of a line in ms as it is written, whatever the time zone; None without one."""
    match = STAMP.match(line)
    if match is None:
        return None
    try:
        return _second(match[1]) + int(match[2])
    except ValueError:
        return None


def read(line: bytes, wanted: Topic | None, node: str, where: str) -> Event | None:
    """The event that a line tells of a partition, or of a broker; None for all other lines.

    `wanted` None: of whatever partition, which `data` then names under "partition".
    """
    stamp = STAMP.match(line)
    if stamp is None:
        return None
    text = line[stamp.end() :].decode(errors="replace").rstrip()
    for form in FORMS:
        if form.key not in line:
            continue
        match = form.expression.search(text)
        if match is None:
            continue
        data = _values(match)
        if form.ours:
            about = _partition(data)
            if about is None or (wanted is not None and about != wanted):
                return None
            data["partition"] = about
        time_ms = time_of(line)
        return None if time_ms is None else Event(time_ms, node, form.kind, where, data)
    return None


def _values(match: re.Match[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, text in match.groupdict().items():
        if text is None:
            continue
        if name in _LISTS:
            found[name] = [int(one) for one in re.split(r"[, ]+", text) if one]
        elif name in ("topic", "tp", "version", "properties"):
            found[name] = text
        else:
            found[name] = int(text)
    return found


def _partition(data: dict[str, Any]) -> Topic | None:
    if "topic" in data:
        return Topic(data.pop("topic"), data.pop("index"))
    topic, _, index = data.pop("tp", "").rpartition("-")
    return Topic(topic, int(index)) if topic else None
