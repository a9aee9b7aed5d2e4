"""The event of one line of server.log, controller.log or state-change.log, and its writer."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, cast

from app.reading import layouts
from app.reading.events import CONTROLLER, Event, EventData, RecordChange
from app.reading.forms import BROKER_STATE, CHANGE, FIELD, FORMS, LAGS, LISTS, TEXTS, Form
from app.reading.layouts import UnwrappedLine
from app.reading.names import BROKER, TopicIdentity

_ABOUT_PARTITIONS: Final = tuple(dict.fromkeys(form.key for form in FORMS if form.ours))
_ABOUT_BROKERS: Final = tuple(dict.fromkeys(form.key for form in FORMS if not form.ours))
BEFORE: Final = 400
BEHIND: Final = 2_500
"""Characters around the words of a form in which its message lies: a line may be far longer."""
_KEYS: Final = tuple((form, form.key.decode()) for form in FORMS)

_OF_ZOOKEEPER: Final = {
    form.key
    for form in FORMS
    if form.fields
    and form.key
    not in (
        b"Skipped the become-",
        b"PartitionRecord for new partition ",
        b"PartitionRegistration(",
    )
}
"""Lines that only brokers and controllers of ZooKeeper clusters write."""
_OF_KRAFT: Final = ("change", "fencing", "unfencing", "registering")
"""Kinds of lines that only a KRaft controller writes; releases before 3.3 call it a Controller."""
_OF_CONTROLLER: Final = re.compile(
    r"\[(?:QuorumController|ControllerServer|ControllerRegistrationsPublisher)\b"
    r"|\(org\.apache\.kafka\.controller\.|\borg\.apache\.kafka\.controller\.\w+"
)
_PARTS: Final = (
    "Broker|BrokerServer|BrokerLifecycleManager|BrokerMetadataPublisher|BrokerMetadataListener|"
    "KafkaServer|ReplicaManager|ReplicaFetcher|ReplicaFetcherManager|ReplicaAlterLogDirsManager|"
    "ReplicaAlterLogDirsThread|Partition|ReplicaStateMachine|PartitionStateMachine|Controller|"
    "ControllerEventThread|RequestSendThread|Channel manager|BrokerToControllerChannelManager|"
    "GroupCoordinator|GroupMetadataManager|TransactionCoordinator|Topic Deletion Manager|"
    "DynamicConfigPublisher|LogDirFailureHandler"
)
"""Parts of a broker that name it in front of their messages; parts of a controller are not here."""
_SPEAKERS: Final = (
    re.compile(
        rf"\[(?:{_PARTS})\b[^\]]{{0,200}}?"
        r"\b(?:id|nodeId|broker|brokerId|replicaId|controllerId)[= ](\d+)\b"
    ),
    re.compile(r"\[[A-Z][A-Za-z ]{0,60}? on (?:[Bb]roker|Controller) (\d+)\]"),
    re.compile(r"\[(?:Kafka Server|Controller|GroupCoordinator|KafkaApi)[ -](\d+)[\], ]"),
    re.compile(r"Partition \S+ on broker (\d+):"),
    re.compile(
        r"(?:^|[\s:|\"-])Broker (\d+) (?:received|handling|cached|ignoring|skipped|completed"
        r"|stopped|truncated)\b"
    ),
    re.compile(r"(?:^|[\s:|\"-])Controller (\d+) epoch \d+ "),
    re.compile(r"\], Replica (\d+) for partition "),
)
TRACED: Final = ("memory", "disk full", "files")
"""Kinds of lines that stand in a stack trace, without a time of their own."""
TAIL: Final = re.compile(r"\([\w.$]+\)(?: \[[^\]]*\])?\s*$")
"""Ends of lines in layouts that have the logger behind the message, perhaps with the thread."""


def speaker_in(text: str) -> str:
    """Return the node that an unwrapped line names as its writer; "" where it names none."""
    if _OF_CONTROLLER.search(text):
        return CONTROLLER
    for expression in _SPEAKERS:
        match = expression.search(text)
        if match:
            return match[1]
    return ""


def number_in(origin: str) -> str:
    """Return the number in the name of a container, pod, host or folder such as kafka-2.

    "" without.
    """
    numbers = BROKER.findall(origin)
    return str(int(numbers[-1])) if numbers else ""


def may_tell(line: bytes, topic: bytes) -> bool:
    """Return whether a line is worth parsing: a cheap check.  `topic` b"": any topic."""
    for key in _ABOUT_BROKERS:
        if key in line:
            return True
    return topic in line and any(key in line for key in _ABOUT_PARTITIONS)


def time_of(line: bytes) -> int | None:
    """Return the time of a line in ms, as written; None where there is none."""
    plain = layouts.unwrapped(line)
    return layouts.time_of(plain, len(plain.text))


class UnreadLineError(Exception):
    """A line of a known kind that cannot be used.  `about`: its partition, if that can be read."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def read(line: bytes, partition: TopicIdentity | None, node: str, where: str) -> Event | None:
    """Return the event that a line reports of a partition or broker; None for all other lines.

    `partition` None: of any partition, which `data` then names under "partition".  `node` wrote
    the line unless the line says otherwise.
    """
    try:
        return of_plain(layouts.unwrapped(line), partition, node, where)
    except UnreadLineError:
        return None


def of_plain(
    plain: UnwrappedLine, partition: TopicIdentity | None, node: str, where: str, tail: bool = False
) -> Event | None:
    """Return the event of an unwrapped line, as `read`.

    `tail`: the lines of its file end with the name of their logger, so that one without it is cut
    off.  Raises UnreadLineError for a line of a known kind that is cut off or has no time.
    """
    text, unfit = plain.text, ""
    for form, key in _KEYS:
        place = text.find(key)
        if place < 0:
            continue
        match = form.expression.search(text, max(0, place - BEFORE), place + BEHIND)
        if match is None:
            if form.sure and (partition is None or partition.topic in text):
                unfit = "cut off"
            continue
        data = _values(match)
        if form.ours:
            about = _partition(data)
            if about is None or (partition is not None and about != partition):
                return None
            data["partition"] = about
        if plain.broken or (tail and not TAIL.search(text)) or not _completed(form, data):
            raise UnreadLineError("cut off")
        time_ms = layouts.time_of(plain, match.start())
        if time_ms is None:
            raise UnreadLineError("no time")
        writer = CONTROLLER if form.kind in _OF_KRAFT else speaker_in(text) or node
        return Event(time_ms, writer, form.kind, where, data)
    if unfit:
        raise UnreadLineError(unfit)
    return None


def of_trace(plain: UnwrappedLine, before: Iterable[bytes], node: str, where: str) -> Event | None:
    """Return the event of a line of a stack trace, which has the time of a line before it."""
    for form, key in _KEYS:
        match = form.expression.search(plain.text) if not form.ours and key in plain.text else None
        if match is None or form.kind not in TRACED:
            continue
        times = (time_of(line) for line in reversed(list(before)))
        time_ms = next((time for time in times if time is not None), None)
        return None if time_ms is None else Event(time_ms, node, form.kind, where, _values(match))
    return None


def _values(match: re.Match[str]) -> EventData:
    found = match.groupdict().items()
    values = {name: _value(name, text) for name, text in found if text is not None}
    return cast(EventData, values)  # the groups of the expressions are its keys


def _value(name: str, text: str) -> list[int] | str | int:
    if name in LISTS:
        return _ids(text)
    return text.strip() if name in TEXTS else int(text)


def _ids(text: str) -> list[int]:
    return [int(one) for one in re.findall(r"-?\d+", text)]


def _completed(form: Form, data: EventData) -> bool:
    """Parse what an expression could not; return False where something is missing."""
    if "lags" in data:
        data["lagging"] = {int(broker): int(end) for broker, end in LAGS.findall(data.pop("lags"))}
    if form.kind == "change":
        return _take_changes(data)
    if not form.fields:
        if form.kind == "record":
            data["zk"] = True
            data["since"] = (0, 8, 1)
        return True
    fields: dict[str, str] = {}
    for name, bracket, listed, plain in FIELD.findall(data.pop("fields")):
        brokers = BROKER_STATE.findall(listed)
        fields.setdefault(name, ",".join(brokers) or bracket or listed or plain)
    try:
        data["leader"], data["le"] = int(fields["leader"]), int(fields["leaderEpoch"])
        data["isr"] = _ids(fields.get("isr", fields.get("isrWithBrokerEpoch", "")))
        data["pe"] = int(fields.get("partitionEpoch") or fields["zkVersion"])
    except (KeyError, ValueError):
        return False
    if data["leader"] < 0:
        data["leader"] = -1
    data["set"] = _ids(fields.get("replicas", ""))
    if "leaderRecoveryState" in fields:  # KIP-704
        data["since"] = (3, 2, 0)
    if form.key in _OF_ZOOKEEPER:
        data["zk"] = True
    if "offlineReplicas" in fields:
        data["offline"] = _ids(fields["offlineReplicas"])
    if "elr" in fields:
        data["elr"] = _ids(fields["elr"])
    if "lastKnownElr" in fields:
        data["last_known_elr"] = _ids(fields["lastKnownElr"])
    if "addingReplicas" in fields:
        data["adding"] = _ids(fields["addingReplicas"])
    if "removingReplicas" in fields:
        data["removing"] = _ids(fields["removingReplicas"])
    if fields.get("leaderRecoveryState") in ("1", "RECOVERING"):
        data["recovering"] = True
    return True


_CHANGED: Final = {
    "leader": "leader",
    "leaderEpoch": "leader_epoch",
    "partitionEpoch": "partition_epoch",
    "isr": "isr",
    "elr": "elr",
    "lastKnownElr": "last_known_elr",
    "replicas": "replicas",
    "addingReplicas": "adding",
    "removingReplicas": "removing",
}


def _take_changes(data: EventData) -> bool:
    """Parse `isr: [1] -> [2], leader: 1 -> 2` (PartitionRegistration.diff) as sets of fields."""
    before: dict[str, tuple[int, ...] | int] = {}
    after: dict[str, tuple[int, ...] | int] = {}
    for name, old, new in CHANGE.findall(data.pop("changes")):
        for fields, text in ((before, old), (after, new)):
            if name == "leaderRecoveryState":
                fields["recovering"] = text == "RECOVERING"
            elif name in _CHANGED:
                ids = tuple(_ids(text))
                fields[_CHANGED[name]] = ids if text.startswith("[") else ids[0] if ids else -1
    data["old"], data["new"] = cast(RecordChange, before), cast(RecordChange, after)
    if "partition_epoch" not in data["new"]:
        return False
    data["pe"] = data["new"]["partition_epoch"]
    return True


def _partition(data: EventData) -> TopicIdentity | None:
    if "topic" in data:
        return TopicIdentity(data.pop("topic"), data.pop("index"))
    topic, _, index = data.pop("tp", "").rpartition("-")
    return TopicIdentity(topic, int(index)) if topic else None
