"""Topics in ZooKeeper: `get /brokers/topics/orders` and the state of a partition."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from app.reading.facts import Facts, PastedPartition, PasteError, checked
from app.reading.format import PasteContext, PastedLine, TextFormat
from app.reading.json_text import decoded
from app.reading.names import TOPIC_FORM

_ZNODE: Final = re.compile(rf"/brokers/topics/({TOPIC_FORM})(?:/partitions/(\d{{1,6}})/state)?$")
_STAT: Final = re.compile(
    r"(?:cZxid|ctime|mZxid|mtime|pZxid|cversion|dataVersion|aclVersion|ephemeralOwner|dataLength"
    r"|numChildren) = (\S.*)"
)
_CHATTER: Final = re.compile(r"WATCHER::|WatchedEvent state:|Connecting to \S+:\d+|Welcome to Zoo"
                            r"Keeper!|JLine support is .*")  # fmt: skip
_STATE: Final = {"leader", "leader_epoch", "isr"}
_OF_BROKERS: Final = {"brokerid", "listener_security_protocol_map"}


def _read(lines: Sequence[PastedLine], at: int, context: PasteContext) -> int:
    text = lines[at].text
    if stat := _STAT.fullmatch(text):
        if text.startswith("dataVersion") and stat[1].isdigit():
            _version(int(stat[1]), context)
        return 1
    if _CHATTER.match(text):
        return 1
    document = decoded(lines, at)
    if document is None:
        return 0
    value, count = document
    if context.znode.startswith("/brokers/ids") and isinstance(value, list):
        context.facts.alive.update(broker for broker in value if isinstance(broker, int))
        return count
    is_known = isinstance(value, dict) and _take(value, lines[at].number, context)
    return count if is_known else 0


def _take(value: dict[str, Any], line: int, context: PasteContext) -> bool:
    """Take the value of a znode in; False for any other JSON."""
    facts, node = context.facts, _ZNODE.search(context.znode)
    partitions = value.get("partitions")
    if isinstance(partitions, dict) and all(
        isinstance(members, list) for members in partitions.values()
    ):
        topic = node[1] if node else context.topic
        if not topic:
            facts.problem(line, "znode_topic")
        else:
            facts.assigned[topic] = {
                int(key): tuple(ids)
                for key, ids in partitions.items()
                if key.isdigit() and all(isinstance(broker, int) for broker in ids)
            }
        return True
    if not value.keys() >= _STATE or "replicas" in value:
        return bool(_OF_BROKERS & value.keys())
    isr, leader, epoch = (value[name] for name in ("isr", "leader", "leader_epoch"))
    usable = isinstance(isr, list) and all(
        isinstance(number, int) for number in [*isr, leader, epoch]
    )
    if node is None or node[2] is None or not usable:
        facts.problem(line, "znode_state")
        return True
    state = PastedPartition(
        node[1], int(node[2]), leader, (), tuple(isr), line=line, leader_epoch=epoch
    )
    facts.znodes[node[1], state.number] = state
    return True


def _version(version: int, context: PasteContext) -> None:
    """Note the version of a partition's znode, which is its partition epoch."""
    node = _ZNODE.search(context.znode)
    if node and node[2] is not None:
        state = context.facts.znodes.get((node[1], int(node[2])))
        if state is not None:
            state.partition_epoch = version


def close(facts: Facts) -> None:
    """Put states and replicas together, in whatever order they were pasted."""
    for (topic, number), state in facts.znodes.items():
        state.replicas = facts.assigned.get(topic, {}).get(number, ())
        if not state.replicas:
            state.replicas = state.isr
            facts.note(state.line, "znode_replicas", name=state.name, topic=topic)
        try:
            facts.add(checked(facts, state))
        except PasteError as bad:
            facts.refuse(state.line, bad)
    if facts.assigned and not facts.znodes and not facts.partitions:
        facts.problem(0, "znode_only_replicas", topic=next(iter(facts.assigned)))


FORMAT: Final = TextFormat(
    "zookeeper",
    commands=(
        "get /brokers/topics/orders",
        "get /brokers/topics/orders/partitions/0/state",
    ),
    read_lines=_read,
)
