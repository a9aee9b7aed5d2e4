"""Subject `voter`: one voter of a KRaft quorum, and what it sends to the others."""

from __future__ import annotations

from typing import Any, Final

from engine.model import configs, errors
from engine.model.controller import Controller
from engine.model.effects import Effects
from engine.model.messages import BEGIN_EPOCH, END_EPOCH, FIRST_VOTER, QUORUM_FETCH, VOTE, Broken
from engine.model.quorum import NO_VOTER, STATE_NAMES, ControllerImage, Quorum
from engine.model.quorum_messages import (
    BeginQuorumEpochRequest,
    EndQuorumEpochRequest,
    EndQuorumEpochResponse,
    QuorumFetchRequest,
    QuorumFetchResponse,
    VoteRequest,
    VoteResponse,
)
from engine.quorum import states
from engine.sim import active_controller
from tests.conformance.adapter import Adapter, Fields, or_null
from tests.conformance.brokers import profile_for

REQUESTS: Final = {
    "BeginQuorumEpoch": BEGIN_EPOCH,
    "EndQuorumEpoch": END_EPOCH,
    "Fetch": QUORUM_FETCH,
    "Vote": VOTE,
}


def _node(number: int) -> int:
    """Return the node of voter 1, 2, ...; null and 0 are none."""
    return FIRST_VOTER - (number - 1) if number else NO_VOTER


def _number(node: int) -> int:
    return FIRST_VOTER - node + 1 if node != NO_VOTER else 0


class Longest:
    """A stream of chance that draws the largest number."""

    def below(self, limit: int) -> int:
        return limit - 1

    def copy(self) -> Longest:
        return self


class VoterCase(Adapter):
    """`voter`: CP-RAFT-VOTE, CP-RAFT-PREVOTE, CP-RAFT-EPOCH, CP-RAFT-FETCH.

    Voter 1 is played, as it starts with its log and its quorum-state file; the others are what the
    case says.  Timeouts are the longest that can be drawn.
    """

    def __init__(self, given: Fields, generation: str, release: str = "") -> None:
        super().__init__(given, generation, release)
        profile = profile_for("kraft", "any", release)
        settings = configs.build(profile)
        names = tuple(f"C{number + 1}" for number in range(given.get("voters", 3)))
        self.quorum = Quorum(names, Longest())
        self.rules = states.Rules(self.quorum, profile, settings)
        self.out = Effects()
        self.seen: list[Any] = []  # requests that `sent` has reported
        self.v = next(iter(self.quorum.voters.values()))
        for epoch, count in given.get("log", ()):
            self.v.log.append(epoch, [("NoOp",)] * count)
        file = given.get("quorum_state", {})
        self.v.epoch = file.get("epoch", self.v.log.last_epoch)
        self.v.voted_for, self.v.leader = _node(file.get("voted", 0)), _node(file.get("leader", 0))
        end = self.v.log.end, self.v.log.last_epoch
        self.quorum.images[end] = ControllerImage(Controller(profile, settings))
        states.start(self.rules, self.v, self.out)

    def _answer(self, m: Any) -> Any:
        """Deliver a message to the voter, and return the response to it, or None."""
        before = len(self.out.sends)
        active_controller.ON_VOTER[m.kind](self.rules, self.v, m, self.out)
        kind = m.kind + 1  # the kind of a response follows that of its request
        found = [sent for sent in self.out.sends[before:] if sent.kind == kind]
        self.out.sends = [sent for sent in self.out.sends if sent.kind != kind]
        return found[0] if found else None

    def _response(self, m: Any) -> Fields:
        answer = self._answer(m)
        if answer is None:
            return {"answered": False}
        return {
            "answered": True,
            "error": errors.name_of(answer.error),
            "epoch": answer.epoch,
            "leader": or_null(_number(answer.leader) or -1),
            **{name: getattr(answer, name) for name in ("granted", "hw") if hasattr(answer, name)},
        }

    # -- requests of the others -------------------------------------------------------------------

    def op_vote(self, a: Fields) -> Fields:
        log, end = a.get("last_epoch", 0), a.get("end", 0)
        pre_vote = a.get("pre_vote", False)
        src = _node(a["from"])
        return self._response(VoteRequest(src, self.v.id, 1, a["epoch"], log, end, pre_vote))

    def op_begin_epoch(self, a: Fields) -> Fields:
        return self._response(BeginQuorumEpochRequest(_node(a["from"]), self.v.id, 1, a["epoch"]))

    def op_end_epoch(self, a: Fields) -> Fields:
        successors = tuple(_node(number) for number in a.get("successors", ()))
        return self._response(
            EndQuorumEpochRequest(_node(a["from"]), self.v.id, 1, a["epoch"], successors)
        )

    def op_fetch(self, a: Fields) -> Fields:
        src, end = _node(a["from"]), a.get("offset", 0)
        last = a.get("last_epoch", 0)
        return self._response(QuorumFetchRequest(src, self.v.id, 1, a["epoch"], end, last, -1))

    # -- responses of the others ------------------------------------------------------------------

    def _open(self, kind: str, to: int) -> Any:
        """Return the last request of a kind to a voter."""
        code, node = REQUESTS[kind], _node(to)
        return [m for m in self.out.sends if m.kind == code and m.dst == node][-1]

    def op_vote_response(self, a: Fields) -> Fields:
        request = self._open("Vote", a["from"])
        epoch, leader = a.get("epoch", request.epoch), _node(a.get("leader", 0))
        self._answer(
            VoteResponse(
                request.dst, self.v.id, request.corr, errors.NONE, epoch, leader, a["granted"]
            )
        )
        return {}

    def op_fetch_response(self, a: Fields) -> Fields:
        request = self._open("Fetch", a["from"])
        batches = [(epoch, [("NoOp",)] * count) for epoch, count in a.get("records", ())]
        parts = tuple(a["diverging"]) if "diverging" in a else None
        self._answer(
            QuorumFetchResponse(
                *(request.dst, self.v.id, request.corr, errors.NONE, request.epoch, request.dst),
                a.get("hw", -1),
                batches,
                parts,
            )
        )
        return {}

    def op_end_epoch_response(self, a: Fields) -> Fields:
        request = self._open("EndQuorumEpoch", a["from"])
        epoch, leader = a.get("epoch", request.epoch), _node(a.get("leader", 1))
        self._answer(
            EndQuorumEpochResponse(request.dst, self.v.id, request.corr, errors.NONE, epoch, leader)
        )
        return {}

    def op_broken(self, a: Fields) -> Fields:
        request = self._open(a["request"], a["from"])
        self._answer(Broken(request.dst, self.v.id, request.corr, request.kind))
        return {}

    # -- time, and observing ----------------------------------------------------------------------

    def op_advance_time(self, a: Fields) -> Fields:
        """Let time pass; timers that are due fire in order."""
        end = self.out.now + a["ms"]
        pending: list[tuple[int, int, Any]] = [
            (self.out.now + delay, kind, data) for _, delay, kind, data in self.out.timers
        ]
        self.out.timers.clear()
        while due := sorted((one for one in pending if one[0] <= end), key=lambda one: one[0]):
            pending.remove(due[0])
            self.out.now, kind, data = due[0]
            active_controller.VOTER_TIMERS[kind](self.rules, self.v, data, self.out)
            pending += [(self.out.now + delay, k, d) for _, delay, k, d in self.out.timers]
            self.out.timers.clear()
        self.out.now = end
        self.out.timers = [(self.v.id, when - end, kind, data) for when, kind, data in pending]
        return {}

    def op_sent(self, a: Fields) -> Fields:
        """Report the requests of a kind that left since the last look, by their receivers."""
        code = REQUESTS[a["request"]]
        found: list[Any] = [m for m in self.out.sends if m.kind == code and m not in self.seen]
        self.seen += found
        return {
            "to": sorted(_number(m.dst) for m in found),
            "epochs": sorted({m.epoch for m in found}),
            "pre_vote": any(getattr(m, "pre_vote", False) for m in found),
        }

    def op_state(self, a: Fields) -> Fields:
        v = self.v
        return {
            "state": STATE_NAMES[v.state],
            "epoch": v.epoch,
            "leader": _number(v.leader) or None,
            "voted": _number(v.voted_for) or None,
            "hw": v.hw,
            "end": v.log.end,
            "remaining_ms": v.deadline - self.out.now,
        }
