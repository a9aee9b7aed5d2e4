"""Consumer groups of a run: members and an admin client, each a Java process with Kafka's clients.

`GroupClient.java` obeys a line at a time and prints its state as JSON.  A member polls by itself
only while its application is idle; it reads, processes and commits when a move says so.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any, Final

from app.kafka import offsets_topic
from app.kafka.cursor import MalformedError
from app.kafka.offsets_topic import CommitRecord
from app.lab.client import CLIENT_ID, HOST
from app.lab.cluster import RealCluster, wait_until
from app.lab.facts import GroupFact, MemberFact
from app.lab.links import member_node
from engine.model.configs import build
from engine.model.groups import commit_record
from engine.model.java_hash import absolute, string_hash
from engine.model.profiles import get_profile
from engine.scenarios.group_specs import GroupSpec
from engine.scenarios.scenario import Scenario

SOURCE: Final = Path(__file__).with_name("GroupClient.java")
ADMIN: Final = "admin"
SESSION_MS: Final = 60_000
"""Session timeout of members, longer than moves take on a busy machine; see `advance`."""
HEARTBEAT_MS: Final = 1_000
NEWS_MS: Final = 3_000
"""heartbeat.interval.ms of the model: members learn of their group once this time passes."""
UUID_LENGTH: Final = 37
"""Length of the UUID at the end of a member id, and of the hyphen before it."""
ENDED_WITHIN_S: Final = 120.0
STARTED_WITHIN_S: Final = 60.0
ANSWER_WITHIN_S: Final = 15.0
HEARD_WITHIN_S: Final = 10.0
REACTS_S: Final = 0.5
"""Time in which a member that polls joins again, once it knows that it has to."""
ADMIN_WITHIN_MS: Final = 2_500
FETCH_WAIT_MS: Final = 100
WAITS_MS: Final = 120_000
"""Longest wait for a response to a member; a commit needs followers, which fetch by moves."""
ASSIGNORS: Final = {"range": "RangeAssignor", "cooperative-sticky": "CooperativeStickyAssignor"}

Properties = dict[str, str | int]


@dataclass(slots=True)
class GroupClient:
    """One Java process.  Its output before `since` is that of a process before it."""

    cluster: RealCluster
    name: str
    arguments: list[str]
    since: int = 0
    sent: int = 0

    def start(self) -> None:
        out = self.cluster.output(self.name)
        self.since, self.sent = out.stat().st_size if out.exists() else 0, 0
        self.cluster.start_client(self.name, SOURCE, self.arguments)

    def send(self, line: str) -> None:
        """Let it obey a line."""
        stdin = self.cluster.processes.running[self.name].stdin
        assert stdin is not None
        stdin.write(f"{line}\n".encode())
        stdin.flush()
        self.sent += 1

    def state(self) -> dict[str, Any]:
        """Return the state that it has printed last; {} before the first."""
        with self.cluster.output(self.name).open("rb") as file:
            file.seek(self.since)
            lines = file.read().split(b"\n")[:-1]
        states = [line for line in lines if line.startswith(b"{")]
        state: dict[str, Any] = json.loads(states[-1]) if states else {}
        return state

    def has_obeyed(self) -> bool:
        self.cluster.check()
        return int(self.state().get("done", -1)) == self.sent

    def is_idle(self) -> bool:
        """Check whether it has obeyed, and neither joins, reads nor commits."""
        return self.has_obeyed() and not self.state().get("busy")

    def ask(self, line: str) -> dict[str, Any]:
        """Send a line and return the state after it."""
        self.send(line)
        wait_until(self.has_obeyed, ANSWER_WITHIN_S)
        return self.state()


@dataclass(slots=True)
class LabGroup:
    """A group: its id on the cluster, and its partition of __consumer_offsets."""

    spec: GroupSpec
    id: str
    partition: int


@dataclass(slots=True)
class LabGroups:
    """The groups of a run.  `clock` is the time that moves have let pass, in ms.

    `names` has the name that the model gives each member id, C1-1 and so on; `silent` when, by that
    clock, clients died, and the member ids whose sessions are not over; `holders` the client that
    has joined last with a group.instance.id.
    """

    cluster: RealCluster
    scenario: Scenario
    admin: GroupClient = field(init=False)
    groups: list[LabGroup] = field(default_factory=list)
    members: dict[str, GroupClient] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    clock: int = 0
    silent: list[tuple[int, set[str]]] = field(default_factory=list)
    holders: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        specs = self.scenario.groups
        for partition, spec in enumerate(specs):
            self.groups.append(LabGroup(spec, _id_in(spec.name, partition, len(specs)), partition))

    # -- processes ---------------------------------------------------------------------------------

    def begin(self, topic: str) -> None:
        """Start every process, and wait for them.  Raises LabError."""
        ports = [self.cluster.ports.for_members(broker) for broker in self.cluster.brokers]
        common: Properties = {"bootstrap.servers": ",".join(f"{HOST}:{port}" for port in ports)}
        patience: Properties = {
            "client.id": CLIENT_ID,
            "default.api.timeout.ms": ADMIN_WITHIN_MS,
            "request.timeout.ms": ADMIN_WITHIN_MS,
        }
        self.admin = self._started(ADMIN, ADMIN, topic, common | patience)
        for group in self.groups:
            for number in group.spec.members:
                name, settings = f"C{number}", common | self._settings(group, number)
                self.members[name] = self._started(name, "member", topic, settings)
        for client in (self.admin, *self.members.values()):
            wait_until(client.has_obeyed, STARTED_WITHIN_S)
        self._let_know(False, *self.members)

    def _started(self, name: str, kind: str, topic: str, settings: Properties) -> GroupClient:
        words = [f"{key}={value}" for key, value in settings.items()]
        client = GroupClient(self.cluster, name, [kind, topic, *words])
        client.start()
        return client

    def _settings(self, group: LabGroup, number: int) -> Properties:
        spec, configs = group.spec, self.scenario.configs
        readers = dict(enumerate(self.scenario.workload.consumers, 1))
        settings: Properties = {
            "client.id": f"C{number}",
            "group.id": group.id,
            "session.timeout.ms": SESSION_MS,
            "heartbeat.interval.ms": HEARTBEAT_MS,
            "fetch.max.wait.ms": FETCH_WAIT_MS,
            "request.timeout.ms": WAITS_MS,
            "default.api.timeout.ms": 2 * WAITS_MS,
            "enable.auto.commit": str(spec.commit == "auto").lower(),
            "auto.offset.reset": readers[number].reset if number in readers else "earliest",
            "partition.assignment.strategy": (
                f"org.apache.kafka.clients.consumer.{ASSIGNORS[spec.strategy]}"
            ),
        }
        if instance := dict(spec.instances).get(number):
            settings["group.instance.id"] = instance
        for name in ("retry.backoff.ms", "auto.commit.interval.ms", "max.poll.interval.ms"):
            if name in configs:
                settings[name] = configs[name]
        return settings

    def takes_instance(self, name: str) -> None:
        """Note that a client joins, as the holder of its group.instance.id if it has one."""
        for group in self.groups:
            for number, instance in group.spec.instances:
                if name == f"C{number}":
                    self.holders[instance] = name

    def die(self, member: GroupClient) -> None:
        """Kill a member; the next process of its name starts, and waits for its `join`."""
        named = [(uid, self.named(uid, client)) for uid, client in self._known_members()]
        ids = {uid for uid, name in named if name.rpartition("-")[0] == member.name}
        self.cluster.kill(member.name)
        self.silent.append((self.clock, ids))
        member.start()

    def _let_know(self, news: bool, *names: str) -> None:
        """Let heartbeats of members tell them what they are to know, or nothing of their group."""
        nodes = {member_node(int(name[1:])) for name in names}
        with self.cluster.hand.change():
            unaware = self.cluster.hand.unaware
            (unaware.difference_update if news else unaware.update)(nodes)

    def hear(self, *names: str) -> None:
        """Let heartbeats of members tell them of their group, until each has sent one or joins.

        The response to the first may have been on its way already.
        """
        self._let_know(True, *names)
        before = {name: self._heartbeats(name) for name in names}
        wait_until(
            lambda: all(self._heartbeats(name) >= before[name] + 2 for name in names),
            HEARD_WITHIN_S,
        )
        time.sleep(REACTS_S)
        self._let_know(False, *names)

    def _heartbeats(self, name: str) -> float:
        """Return how many heartbeats were answered; of a client that sends none now, infinite."""
        state = self.members[name].state()
        return inf if state.get("busy") else float(state.get("heartbeats", inf))

    # -- waiting -----------------------------------------------------------------------------------

    def advance(self, ms: int) -> None:
        """Let a session end that is over by the clock of the script: wait until its member is gone.

        Members of the laboratory have longer sessions, so none ends because a move takes long.
        """
        self.clock += ms
        profile = get_profile(self.cluster.release.profile)
        timeout = int(build(profile, dict(self.scenario.configs)).values["session.timeout.ms"])
        over = [(at, ids) for at, ids in self.silent if at + timeout <= self.clock]
        removed = {member for _, ids in over for member in ids}
        if removed:
            wait_until(
                lambda: removed.isdisjoint(member for member, _ in self._known_members()),
                ENDED_WITHIN_S,
                0.5,
            )
        self.silent = [session for session in self.silent if session not in over]
        if ms >= NEWS_MS:
            self.hear(*self.members)

    def _known_members(self) -> list[tuple[str, str]]:
        """Return (member id, client) of every member that a coordinator describes."""
        told = [self._described(group)["members"] for group in self.groups]
        return [(member, client) for members in told for member, client, _ in members]

    def is_busy(self) -> bool:
        """Check whether a member still joins, reads or commits, and waits for no other member."""
        busy = [name for name, client in self.members.items() if client.state().get("busy")]
        return any(
            self._described(group).get("state") != "PreparingRebalance"
            for group in self.groups
            if any(f"C{number}" in busy for number in group.spec.members)
        )

    # -- facts -------------------------------------------------------------------------------------

    def _described(self, group: LabGroup) -> dict[str, Any]:
        told = {"members": []} | self.admin.ask(group.id)
        if told.get("error") == "GroupIdNotFoundException":  # since 4.0 (KIP-1043)
            return told | {"state": "Dead"}
        return told

    def group_facts(self) -> dict[str, GroupFact]:
        """Return each group as its coordinator describes it to an admin client."""
        return {group.spec.name: self._fact(group) for group in self.groups}

    def _fact(self, group: LabGroup) -> GroupFact:
        described = self._described(group)
        if "state" not in described:
            return {"coordinator": None}
        fact: GroupFact = {
            "state": described["state"],
            "members": sorted([self.named(*who), owned] for *who, owned in described["members"]),
            "offsets": described.get("offsets", []),
        }
        if described["state"] != "Dead":
            fact["coordinator"] = described["coordinator"]
        return fact

    def member_facts(self) -> dict[str, MemberFact]:
        """Return what each client says of itself."""
        return {name: self._member(name, client.state()) for name, client in self.members.items()}

    def _member(self, name: str, state: dict[str, Any]) -> MemberFact:
        alive, failed = state.get("alive", False), state.get("failed", "")  # {}: it starts
        fact: MemberFact = {"alive": alive, "failed": failed}
        if alive:
            fact |= {"owns": state["owns"], "at": state["at"], "polled": state["polled"]}
            if state.get("member"):
                fact["member"] = self.named(state["member"], name)
                fact["generation"] = state["generation"]
        return fact

    def named(self, member: str, client: str) -> str:
        """Return the model's name of a member id: C1-1 is the first of C1.

        A coordinator keeps the client id of a static member when another client takes its place.
        """
        if member not in self.names:
            client = self.holders.get(member[:-UUID_LENGTH], client)
            count = sum(name.startswith(f"{client}-") for name in self.names.values())
            self.names[member] = f"{client}-{count + 1}"
        return self.names[member]

    def text_of(self, key: bytes, value: bytes) -> str | None:
        """Return a record of __consumer_offsets as the model writes it, None for any other.

        Since 4.0 a coordinator writes first that a group exists, in generation 0.
        """
        try:
            record = offsets_topic.parse(key, value)
        except MalformedError:
            return None
        if isinstance(record, CommitRecord):
            return commit_record(record.partition, record.offset, record.epoch)
        if record is None or not record.generation:
            return None
        members = []
        for row in record.members:
            owned = f"={row.instance}/{'+'.join(map(str, row.assigned))}" if row.instance else ""
            members.append(self.named(row.member, row.client) + owned)
        return ":".join((f"g{record.generation}", *sorted(members)))


def _id_in(name: str, partition: int, partitions: int) -> str:
    """Return a group id of that name for a partition of __consumer_offsets (`partitionFor`)."""
    number = 0
    while True:
        candidate = f"{name}-{number}" if number else name
        if absolute(string_hash(candidate)) % partitions == partition:
            return candidate
        number += 1
