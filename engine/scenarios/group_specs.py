"""Consumer groups of a scenario: members, and the replicas of their partition."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from engine.model.profiles import Profile, get_profile, group_refusal
from engine.scenarios.parts import MOST_BROKERS, MOST_CONSUMERS, BrokerSpec, broker_id
from engine.scenarios.places import Path, Reader

MOST_GROUPS: Final = 3
STRATEGY: Final = "partition.assignment.strategy"
STRATEGIES: Final = ("range", "cooperative-sticky")
PROTOCOL: Final = "group.protocol"
PROTOCOLS: Final = ("classic", "consumer")
_KEYS: Final = ("name", "members", "offsets", "commit", "group.instance.id", STRATEGY, PROTOCOL)
ORDERS: Final = ("after", "before", "auto")
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,15}")
_INSTANCE: Final = re.compile(r"[A-Za-z0-9._-]{1,16}")
_MEMBER: Final = re.compile(r"C(1[0-9]|20|[1-9])")


@dataclass(frozen=True, slots=True)
class GroupSpec:
    """A group: its members by number, and the replicas of its partition of __consumer_offsets.

    commit: whether a member that reads by the clock commits after or before it processes.  "auto":
    it commits when it polls (enable.auto.commit), also by hand.
    instances: members by number, each with its group.instance.id (KIP-345); no other is static.
    strategy: "range", or "cooperative-sticky" (KIP-429).
    protocol: "classic", or "consumer" (KIP-848), whose coordinator assigns by itself.
    """

    name: str
    members: tuple[int, ...]
    offsets: tuple[int, ...]
    commit: str = "after"
    instances: tuple[tuple[int, str], ...] = ()
    strategy: str = "range"
    protocol: str = "classic"

    @property
    def cooperative(self) -> bool:
        return self.strategy != "range"

    @property
    def reconciling(self) -> bool:
        return self.protocol == "consumer"

    def refusal(self, profile: Profile) -> str:
        """Return why a profile cannot play the group; "" if it can."""
        return group_refusal(profile, bool(self.instances), self.cooperative, self.reconciling)

    def to_dict(self) -> dict[str, Any]:
        static = {f"C{number}": instance for number, instance in self.instances}
        return {
            "name": self.name,
            "members": [f"C{number}" for number in self.members],
            "offsets": list(self.offsets),
            "commit": self.commit,
            **({"group.instance.id": static} if static else {}),
            **({STRATEGY: self.strategy} if self.cooperative else {}),
            **({PROTOCOL: self.protocol} if self.reconciling else {}),
        }


def read_groups(
    read: Reader, value: object, brokers: tuple[BrokerSpec, ...], profiles: tuple[str, ...]
) -> tuple[GroupSpec, ...]:
    """Read [{name: orders, members: [C1, C2], offsets: [1, 2, 3], commit: after}].

    `group.instance.id: {C1: app-1}` makes a member static, and
    `partition.assignment.strategy: cooperative-sticky` all of them cooperative;
    `group.protocol: consumer` goes with neither.
    """
    path: Path = ("groups",)
    groups: list[GroupSpec] = []
    for index, item in enumerate(read.listing(value, path, MOST_GROUPS)):
        here = (*path, index)
        fields = read.mapping(item, here, _KEYS)
        name = read.text(fields.get("name", ""), (*here, "name"), 16)
        if not _NAME.fullmatch(name) or name in [other.name for other in groups]:
            raise read.bad((*here, "name"), "Each group has a short name of its own, like orders.")
        taken = [number for other in groups for number in other.members]
        members = _read_members(read, fields.get("members", []), (*here, "members"), taken)
        every = [broker.id for broker in brokers][:3]
        listed = read.listing(fields.get("offsets", every), (*here, "offsets"), MOST_BROKERS, 1)
        offsets = tuple(
            broker_id(read, broker, (*here, "offsets", number), brokers)
            for number, broker in enumerate(listed)
        )
        if len(set(offsets)) < len(offsets):
            raise read.bad((*here, "offsets"), "A broker is listed twice; remove one of the two.")
        order = read.choice(fields.get("commit", "after"), (*here, "commit"), ORDERS)
        instances = _read_instances(read, fields.get("group.instance.id", {}), here, members)
        strategy = read.choice(fields.get(STRATEGY, "range"), (*here, STRATEGY), STRATEGIES)
        protocol = read.choice(fields.get(PROTOCOL, "classic"), (*here, PROTOCOL), PROTOCOLS)
        if protocol == "consumer" and (instances or STRATEGY in fields):
            raise read.bad(
                here,
                "With group.protocol: consumer remove group.instance.id and "
                "partition.assignment.strategy.",
            )
        groups.append(GroupSpec(name, members, offsets, order, instances, strategy, protocol))
        for profile in profiles:
            if why := groups[-1].refusal(get_profile(profile)):
                raise read.bad(here, why)
    return tuple(groups)


def _read_members(read: Reader, value: object, path: Path, taken: list[int]) -> tuple[int, ...]:
    members: list[int] = []
    for index, item in enumerate(read.listing(value, path, MOST_CONSUMERS, 1)):
        here = (*path, index)
        match = _MEMBER.fullmatch(read.text(item, here, 8))
        if not match:
            raise read.bad(here, "A member is a consumer, written C1 to C20.")
        if int(match[1]) in (*taken, *members):
            raise read.bad(here, "C{0} is a member already; list it once.", match[1])
        members.append(int(match[1]))
    return tuple(members)


def _read_instances(
    read: Reader, value: object, group: Path, members: tuple[int, ...]
) -> tuple[tuple[int, str], ...]:
    """G-7.  Read {C1: app-1}; two members may share one id, as two processes by mistake do."""
    path = (*group, "group.instance.id")
    names = {f"C{number}": number for number in members}
    instances = []
    for name, item in read.mapping(value, path, tuple(names)).items():
        instance = read.text(item, (*path, name), 16)
        if not _INSTANCE.fullmatch(instance):
            raise read.bad(
                (*path, name),
                "A group.instance.id has 1 to 16 letters, digits, dots, underscores or dashes.",
            )
        instances.append((names[name], instance))
    return tuple(instances)
