"""A cluster whose controllers are voters of a quorum, each behind a port of the laboratory.

Which controller leads first is chance.  It is called C1, as scripts call the one that begins, and
the others follow by their numbers.
"""

from __future__ import annotations

import contextlib
import json
import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from app.kafka.batches import RecordBatch, parse
from app.kafka.cursor import NO_TAGS, MalformedError, compact_array, compact_text, i32
from app.kafka.metadata import registers_controller
from app.lab import configuration, disk
from app.lab.client import HOST, Connection
from app.lab.cluster import RealCluster, Tools, wait_until
from app.lab.disk import METADATA, ControllerLog
from app.lab.facts import VoterFact
from app.lab.links import CONTROLLER, FIRST_VOTER_ID, Node, node_of
from app.lab.metadata import KraftMetadata
from app.lab.processes import Processes
from app.lab.proxy import Proxy
from app.lab.releases import KafkaRelease
from app.lab.trouble import LabError
from engine.model.messages import FIRST_CONSUMER, FIRST_VOTER
from engine.recordings.facts import ELECTING

DESCRIBE_QUORUM: Final = 55
ELECTED_WITHIN_S: Final = 60.0
ANSWER_WITHIN_S: Final = 2.0
CATCH_UP_S: Final = 3.0
MARKS_MS: Final = 50

_STATE: Final = re.compile(r"Completed transition to (\w+)")
_STATES: Final = {"Leader": "leader", "FollowerState": "follower", "ResignedState": "resigned"}


@dataclass(slots=True)
class QuorumStart:
    """Epoch and log end of the quorum when the run began, which count as 1 and 0."""

    epoch: int = 0
    end: int = 0


@dataclass(slots=True)
class VoterLog:
    """Metadata log of a voter: its end, and (epoch, first offset) of each epoch.

    `registrations` are the offsets of records with which controllers register themselves at every
    start.  The model has none, so they are not `counted`.
    """

    end: int = 0
    epochs: list[tuple[int, int]] = field(default_factory=list)
    registrations: list[int] = field(default_factory=list)

    def add(self, batch: RecordBatch) -> None:
        header = batch.header
        self.end = header.last + 1
        if header.epoch is not None and (not self.epochs or self.epochs[-1][0] < header.epoch):
            self.epochs.append((header.epoch, header.base))
        if not header.control:
            for offset, value in batch.records or ():
                if registers_controller(value):
                    self.registrations.append(offset)

    def counted(self, offset: int) -> int:
        """Return the number of counted records below an offset."""
        return offset - bisect_left(self.registrations, offset)


def described(port: int) -> tuple[int, int]:
    """Return leader and high watermark as a controller tells them; (-1, -1) where it does not lead.

    The mark of a leader that knows none is -1.
    """
    topic = compact_text("__cluster_metadata") + compact_array([i32(0) + NO_TAGS]) + NO_TAGS
    body = compact_array([topic]) + NO_TAGS
    try:
        with Connection(port, ANSWER_WITHIN_S) as connection:
            answer = connection.ask(DESCRIBE_QUORUM, 0, body, flexible=True)
    except (OSError, MalformedError):
        return -1, -1
    if answer.i16():
        return -1, -1
    answer.take(1)  # one topic
    answer.compact_text()
    answer.take(1)  # one partition
    answer.i32()
    if answer.i16():
        return -1, -1
    leader, _epoch = answer.i32(), answer.i32()
    return leader, answer.i64()


class QuorumMetadata(KraftMetadata):
    """Metadata as the active controller has it on its disk, or the last one that was."""

    def __init__(self, directory: Callable[[], Path]) -> None:
        self._directory = directory

    @property
    def _log(self) -> ControllerLog:  # type: ignore[override]
        return ControllerLog(self._directory())  # read whole: a log may have been truncated


class QuorumCluster(RealCluster):
    """Brokers and voters of one release.

    `named` are the voters in the order of their names C1, C2, ...
    """

    def __init__(
        self,
        release: KafkaRelease,
        brokers: list[int],
        tools: Tools,
        processes: Processes,
        base: int,
        voters: int,
    ) -> None:
        ids = range(FIRST_VOTER_ID, FIRST_VOTER_ID + voters)
        super().__init__(release, brokers, tools, processes, base, voters=ids)
        self.named = list(self.voters)
        self.began = QuorumStart()
        self._acting = self.voters[0]
        self._logged: dict[int, int] = {}

    # -- starting --------------------------------------------------------------------------------

    def _listen(self) -> list[Proxy]:
        ports = self.ports
        ways = [(ports.proxy(node), ports.replication(node), node) for node in self.brokers]
        ways += [
            (ports.voter_proxy(node), ports.voter(node), node_of(node)) for node in self.voters
        ]
        return [self._proxy(port, onward, target) for port, onward, target in ways]

    def _quorum_properties(self) -> configuration.Properties:
        voters = ",".join(f"{node}@{HOST}:{self.ports.voter_proxy(node)}" for node in self.voters)
        return {
            "controller.quorum.voters": voters,
            "broker.session.timeout.ms": configuration.USUAL_SESSION_MS,
            "broker.heartbeat.interval.ms": configuration.USUAL_HEARTBEAT_MS,
        }

    def _broker_properties(self, broker: int) -> configuration.Properties:
        soon = {"replica.high.watermark.checkpoint.interval.ms": MARKS_MS}
        return super()._broker_properties(broker) | self._quorum_properties() | soon

    def settings(self) -> configuration.Properties:
        return super().settings() | {"metadata.max.idle.interval.ms": 0}

    def _controllers(self) -> dict[str, configuration.Properties]:
        of_voters = {}
        for voter in self.voters:
            properties = configuration.kraft_controller(
                self.release, voter, self.ports, self.log_directory(voter)
            )
            properties |= self._quorum_properties()
            properties["listeners"] = f"CONTROLLER://{HOST}:{self.ports.voter(voter)}"
            if self.release.tells_endpoints:
                shown = self.ports.voter_proxy(voter)
                properties["advertised.listeners"] = f"CONTROLLER://{HOST}:{shown}"
            of_voters[str(voter)] = properties
        return of_voters

    def start_controllers(self) -> None:
        """Start every voter; wait until one of them leads."""
        self._metadata = QuorumMetadata(lambda: self.log_directory(self.acting()))
        self.start_missing()

    def start_missing(self) -> None:
        """Start every voter that is down; wait until there is a leader.  Raises LabError."""
        for voter in self.voters:
            if not self.alive(voter):
                self.start(voter)
        if not wait_until(lambda: self.leader() is not None, ELECTED_WITHIN_S, 0.2):
            raise LabError("The controllers elect no leader within a minute.")

    def start(self, broker: int) -> None:
        """Start a broker or a voter; what a voter logged before is not read again."""
        log = self.server_log(broker)
        self._logged[broker] = log.stat().st_size if log.exists() else 0
        super().start(broker)

    def await_state(self, voter: int) -> None:
        """Wait until a voter that was started has a state."""

        def has_state() -> bool:
            self._must_live(str(voter))
            return self._state_of(voter) != ""

        wait_until(has_state, ELECTED_WITHIN_S, 0.02)

    def await_log(self, voter: int) -> None:
        """Wait a moment until a voter has the leader's log; its process is slow at first."""

        def has_log() -> bool:
            leader = self.leader()
            return leader is not None and self._log_of(leader).end == self._log_of(voter).end

        wait_until(has_log, CATCH_UP_S, 0.1)

    def begin(self, topic: str) -> None:
        """Name the voters, and note where the quorum stands.

        A last record brings the fetches of all voters into step, as they begin in the model.
        """
        before = self.leader()
        self.controller_client().set_config(topic, "file.delete.delay.ms", "60000", {})
        leader = self.leader()
        if leader is None or leader != before:
            raise LabError("The quorum has no steady leader; the machine may be too busy.")
        wait_until(
            lambda: all(self._log_of(voter).end == self.mark(leader) for voter in self.voters),
            CATCH_UP_S,
        )
        self.named = [leader, *(voter for voter in self.voters if voter != leader)]
        state = self._quorum_state(leader)
        log = self._log_of(leader)
        self.began = QuorumStart(int(state["leaderEpoch"]) - 1, log.counted(log.end))

    # -- names -----------------------------------------------------------------------------------

    def voter_of(self, node: int) -> int | None:
        """Return the voter that a move means by a node; None for a broker.

        C1 as the end of a link may have been read as a consumer.
        """
        if node == CONTROLLER:
            return self.acting()
        if node <= FIRST_CONSUMER:
            return self.named[FIRST_CONSUMER - node]
        return self.named[FIRST_VOTER - node] if node <= FIRST_VOTER else None

    def end_of(self, node: int) -> Node:
        """Return the end of a link that a move means by a node."""
        voter = self.voter_of(node)
        return node if voter is None else node_of(voter)

    def label(self, voter: int) -> str:
        return f"C{self.named.index(voter) + 1}" if voter in self.named else ""

    def who(self, name: str) -> str:
        number = int(name)
        return f"Controller {self.label(number)}" if number in self.voters else super().who(name)

    # -- seeing ----------------------------------------------------------------------------------

    @property
    def controller_alive(self) -> bool:
        return any(map(self.alive, self.voters))

    def leader(self) -> int | None:
        """Return the running leader of the newest epoch, by its own state; or None."""
        leading = [
            (int(self._quorum_state(voter).get("leaderEpoch", 0)), voter)
            for voter in self.voters
            if self._state_of(voter) == "leader"
        ]
        return max(leading)[1] if leading else None

    def acting(self) -> int:
        """Return the leader, or the last one that was."""
        self._acting = self.leader() or self._acting
        return self._acting

    def _state_of(self, voter: int) -> str:
        """Return the state that a running voter has logged last, "" before the first one."""
        if not self.alive(voter):
            return "down"
        states: list[str] = []
        with contextlib.suppress(OSError), self.server_log(voter).open("rb") as file:
            file.seek(self._logged[voter])
            states = _STATE.findall(file.read().decode(errors="replace"))
        return _STATES.get(states[-1], ELECTING) if states else ""

    def _quorum_state(self, voter: int) -> dict[str, int]:
        """Return the quorum-state file; a state that is held in memory only is not in it."""
        file = self.log_directory(voter) / METADATA / "quorum-state"
        with contextlib.suppress(OSError, ValueError):
            state: dict[str, int] = json.loads(file.read_text())
            return state
        return {}

    def _log_of(self, voter: int) -> VoterLog:
        log = VoterLog()
        for file in disk.segments(self.log_directory(voter) / METADATA):
            for batch in parse(file.read_bytes()):
                log.add(batch)
        return log

    def mark(self, voter: int) -> int | None:
        """Return the high watermark that a leader reports; None where it knows none."""
        mark = described(self.ports.voter(voter))[1]
        return mark if mark >= 0 else None

    def voter_facts(self) -> dict[str, VoterFact]:
        return {f"C{number}": self._voter(voter) for number, voter in enumerate(self.named, 1)}

    def _voter(self, voter: int) -> VoterFact:
        state, of = self._quorum_state(voter), self._state_of(voter)
        frozen = node_of(voter) in self.paused
        log, began = self._log_of(voter), self.began
        mark = self.mark(voter) if of == "leader" and not frozen else None
        return {
            "state": of,
            "epoch": int(state.get("leaderEpoch", 0)) - began.epoch,
            "leader": self.label(int(state.get("leaderId", -1))),
            "vote": self.label(int(state.get("votedId", -1))),
            "end": log.counted(log.end) - began.end,
            "epochs": [
                [epoch - began.epoch, log.counted(start) - began.end]
                for epoch, start in log.epochs
                if log.counted(start) >= began.end and epoch - began.epoch > 1
            ],
            "hw": None if mark is None else log.counted(mark) - began.end,
        }
