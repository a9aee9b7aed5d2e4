"""The two leaders of subject `fetcher`: one that the engine plays, one that a case scripts."""

from __future__ import annotations

from engine.dataplane import serving
from engine.model.broker import Machine, Process
from engine.model.configs import Configs
from engine.model.effects import Effects
from engine.model.errors import code_of
from engine.model.log import Log, empty_log
from engine.model.messages import (
    LATEST,
    NO_EPOCH,
    EpochEndRequest,
    EpochEndResponse,
    FetchData,
    FetchRequest,
    FetchResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    Message,
)
from engine.model.profiles import Profile
from engine.model.state import LEADER, Disk, Replica
from tests.conformance.adapter import NONE, Fields
from tests.conformance.logs import batches_of, fill_log

EpochEnd = tuple[int, int, int, int]
"""(partition, error, epoch, end offset)."""


class ModelledLeader:
    """A broker that leads every partition of the case and answers with the engine's own code."""

    def __init__(self, id: int, follower: int, profile: Profile, settings: Configs) -> None:
        self.broker = Process(Machine(id, "leader", "", profile, settings, False))
        self.follower = follower

    def add(self, tp: int, given: Fields) -> None:
        broker = self.broker
        disk = Disk(empty_log(broker.profile))
        replica = Replica(tp, broker.id, disk, broker.profile, broker.configs)
        replica.role = LEADER
        replica.leader = broker.id
        replica.assignment = (broker.id, self.follower)
        replica.leader_epoch = given.get("leader_epoch", 0)
        broker.replicas[tp] = replica
        fill_log(replica.log, given)
        if "local_start" in given:  # what its log has below is remote
            replica.log.local_start = given["local_start"]
            replica.log.log_start = given["log_start"]
        if "epochs" not in given:
            self._note_election(replica)

    def _note_election(self, replica: Replica) -> None:
        """Note where its epoch begins, if no record of it is there, as on election."""
        if replica.log.epochs.latest() < replica.leader_epoch:
            replica.log.epochs.assign(replica.leader_epoch, replica.log.leo)

    def change(self, tp: int, given: Fields) -> None:
        """Change what a case names, without a message to the follower."""
        replica = self.broker.replicas[tp]
        replica.leader_epoch = given.get("leader_epoch", replica.leader_epoch)
        log = replica.log
        if "log" in given:
            fill_log(log, {k: v for k, v in given.items() if k != "leader_epoch"})
        else:
            if "log_start" in given:
                log.raise_log_start(given["log_start"])
            log.hw = given.get("hw", log.hw)
        self._note_election(replica)

    def log(self, tp: int) -> Log:
        return self.broker.replicas[tp].log

    def _answer(self, now: int, request: Message) -> Message:
        out = Effects()
        out.now = now
        if isinstance(request, FetchRequest):
            serving.on_fetch_request(self.broker, request, out)
        elif isinstance(request, EpochEndRequest):
            serving.on_epoch_end_request(self.broker, request, out)
        elif isinstance(request, ListOffsetsRequest):
            serving.on_list_offsets_request(self.broker, request, out)
        return out.sends[0]

    def fetch(self, request: FetchRequest, now: int) -> list[FetchData]:
        answer = self._answer(now, request)
        assert isinstance(answer, FetchResponse)
        return list(answer.partitions)

    def epoch_ends(self, request: EpochEndRequest, now: int) -> list[EpochEnd]:
        answer = self._answer(now, request)
        assert isinstance(answer, EpochEndResponse)
        return list(answer.partitions)

    def list_offset(self, request: ListOffsetsRequest, now: int) -> tuple[int, int, int]:
        answer = self._answer(now, request)
        assert isinstance(answer, ListOffsetsResponse)
        return answer.error, answer.offset, answer.leader_epoch


class ScriptedLeader:
    """Answers what the case says; what it does not say is empty and without error."""

    def __init__(self, id: int, follower: Process) -> None:
        self.id = id
        self.follower = follower
        self.epochs: dict[int, tuple[int, int, int]] = {}
        self.unrequested: list[EpochEnd] = []
        self.fetches: dict[int, Fields] = {}
        self.offsets: dict[tuple[int, bool], tuple[int, int]] = {}

    def fetch(self, request: FetchRequest, now: int) -> list[FetchData]:
        """Return each scripted answer once."""
        answers = []
        for fp in request.partitions:
            script = self.fetches.pop(fp.tp, {})
            own_hw = self.follower.replicas[fp.tp].log.hw
            diverging = script.get("diverging")
            answers.append(
                FetchData(
                    fp.tp,
                    code_of(script.get("error", NONE)),
                    script.get("hw", own_hw),
                    script.get("log_start", 0),
                    batches_of(script.get("batches", ())),
                    None if diverging is None else (diverging[0], diverging[1]),
                )
            )
        return answers

    def epoch_ends(self, request: EpochEndRequest, now: int) -> list[EpochEnd]:
        undefined = (0, -1, -1)
        ends = [(tp, *self.epochs.get(tp, undefined)) for tp, _, _ in request.partitions]
        ends += self.unrequested
        self.unrequested = []
        return ends

    def list_offset(self, request: ListOffsetsRequest, now: int) -> tuple[int, int, int]:
        error, offset = self.offsets.get((request.tp, request.timestamp == LATEST), (0, 0))
        return error, offset, NO_EPOCH
