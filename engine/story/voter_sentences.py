"""Sentences about the voters of a KRaft quorum: elections, epochs and the metadata log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from engine.model import messages
from engine.model.effects import Cue
from engine.model.errors import NONE
from engine.model.quorum import NO_VOTER, Voter
from engine.story.entities import Happening, epoch, error, node, number, offset, say, word
from engine.view.wire import Sentence


def _voter(h: Happening, cue: Cue) -> Voter:
    quorum = h.sim.cluster.quorum
    assert quorum is not None
    return quorum.voters[cue.node]


def _in_epoch(key: str) -> Callable[[Happening, Cue], Sentence]:
    """Return the teller of a sentence about a voter and its epoch."""
    return lambda h, cue: say(key, b=node(cue.node), e=epoch(_voter(h, cue).epoch))


def _votes(h: Happening, cue: Cue) -> Sentence:
    v = _voter(h, cue)
    return say("voter.votes", b=node(v.id), a=node(v.voted_for), e=epoch(v.epoch))


def _refuses(h: Happening, cue: Cue) -> Sentence | None:
    if cue.new:
        return None
    return say("voter.refuses", b=node(cue.node), a=node(cue.old))


def _would_vote(h: Happening, cue: Cue) -> Sentence:
    key = "voter.would" if cue.new else "voter.would_not"
    return say(key, b=node(cue.node), a=node(cue.old))


def _follows(h: Happening, cue: Cue) -> Sentence:
    v = _voter(h, cue)
    return say("voter.follows", b=node(v.id), a=node(v.leader), e=epoch(v.epoch))


def _silent(h: Happening, cue: Cue) -> Sentence:
    wait = int(h.sim.configs.values["controller.quorum.fetch.timeout.ms"]) * 3 // 2
    return say("voter.alone", b=node(cue.node), n=number(wait))


def _gives_up(h: Happening, cue: Cue) -> Sentence:
    kind, receiver = word(messages.NAMES[cue.old]), node(cue.new)
    return say("voter.gives_up", b=node(cue.node), a=receiver, t=kind)


def _changed(key: str) -> Callable[[Happening, Cue], Sentence]:
    return lambda h, cue: say(key, b=node(cue.node), a=node(cue.old), n=number(cue.new))


def _forgot(h: Happening, cue: Cue) -> Sentence:
    return say("voter.forgot", b=node(cue.node), e=epoch(cue.new))


def _halts(h: Happening, cue: Cue) -> Sentence:
    return say("voter.halts", b=node(cue.node), a=offset(cue.old), o=offset(cue.new))


TELLERS: Final[dict[str, Callable[[Happening, Cue], Sentence | None]]] = {
    "CP-RAFT-VOTE.candidate": _in_epoch("voter.candidate"),
    "CP-RAFT-VOTE.unattached": _in_epoch("voter.unattached"),
    "CP-RAFT-VOTE.voted": _votes,
    "CP-RAFT-VOTE.answer": _refuses,
    "CP-RAFT-PREVOTE.prospective": _in_epoch("voter.prospective"),
    "CP-RAFT-PREVOTE.answer": _would_vote,
    "CP-RAFT-PREVOTE.lost": _in_epoch("voter.lost"),
    "CP-RAFT-EPOCH.leader": _in_epoch("voter.leads"),
    "CP-RAFT-EPOCH.resigned": _in_epoch("voter.resigns"),
    "CP-RAFT-EPOCH.follower": _follows,
    "CP-RAFT-EPOCH.check": _silent,
    "CP-RAFT-EPOCH.halt": _forgot,
    "CP-RAFT-TIMEOUT": _gives_up,
    "CP-RAFT-VOTERS.add": _changed("voter.added"),
    "CP-RAFT-VOTERS.remove": _changed("voter.removed"),
    "CP-RAFT-FETCH.halt": _halts,
}
"""Rule -> function that returns its sentence."""


def _with_error(key: str) -> Callable[[Happening, Any], Sentence]:
    def tell(h: Happening, m: Any) -> Sentence:
        args = {"b": node(m.dst), "a": node(m.src)}
        if m.error != NONE:
            return say("voter.refused", **args, x=error(m.error))
        return say(key, **args)

    return tell


def _vote_arrives(h: Happening, m: Any) -> Sentence:
    args = {"b": node(m.dst), "a": node(m.src), "e": epoch(m.epoch)}
    return say("vote.pre.arrives" if m.pre_vote else "vote.arrives", **args, o=offset(m.end))


def _vote_answered(h: Happening, m: Any) -> Sentence:
    if m.error != NONE:
        return _with_error("")(h, m)
    key = "vote.granted" if m.granted else "vote.denied"
    if m.pre_vote:
        key = "voter.would" if m.granted else "voter.would_not"
        return say(key, b=node(m.src), a=node(m.dst))
    return say(key, b=node(m.dst), a=node(m.src))


def _epoch_arrives(key: str) -> Callable[[Happening, Any], Sentence]:
    return lambda h, m: say(key, b=node(m.dst), a=node(m.src), e=epoch(m.epoch))


def _fetch_arrives(h: Happening, m: Any) -> Sentence:
    return say("voter.fetch.arrives", b=node(m.dst), a=node(m.src), o=offset(m.offset))


def fetch_answered(h: Happening, m: Any) -> Sentence:
    """Return the sentence of a fetch's response at a voter or a broker."""
    args = {"b": node(m.dst), "a": node(m.src)}
    if m.error != NONE:
        return say("voter.refused", **args, x=error(m.error))
    if m.diverging is not None:
        last_epoch, end = m.diverging
        return say("voter.diverges", **args, e=epoch(last_epoch), o=offset(end))
    count = sum(len(records) for _, records in m.batches)
    if count:
        return say("voter.fetched", **args, n=number(count), o=offset(max(m.hw, 0)))
    return say("voter.fetch.empty", **args, o=offset(max(m.hw, 0)))


def _not_controller(h: Happening, m: Any) -> Sentence:
    args = {"b": node(m.dst), "a": node(m.src), "t": word(messages.NAMES[m.request_kind])}
    if m.leader in (NO_VOTER, m.src):
        return say("voter.no_leader", **args, x=error(m.error))
    return say("voter.names_leader", **args, l=node(m.leader))


ARRIVALS: Final[dict[int, Callable[[Happening, Any], Sentence]]] = {
    messages.VOTE: _vote_arrives,
    messages.VOTE_R: _vote_answered,
    messages.BEGIN_EPOCH: _epoch_arrives("voter.begin.arrives"),
    messages.BEGIN_EPOCH_R: _with_error("voter.begin.heard"),
    messages.END_EPOCH: _epoch_arrives("voter.end.arrives"),
    messages.END_EPOCH_R: _with_error("voter.begin.heard"),
    messages.QUORUM_FETCH: _fetch_arrives,
    messages.QUORUM_FETCH_R: fetch_answered,
    messages.NOT_CONTROLLER_R: _not_controller,
}
"""Message kind -> function that returns the sentence of its arrival."""


def _vote_asked(m: Any) -> Sentence:
    key = "vote.pre.ask" if m.pre_vote else "vote.ask"
    return say(key, b=node(m.src), a=node(m.dst), e=epoch(m.epoch), o=offset(m.end))


def _fetch_answer(m: Any) -> Sentence:
    return say("voter.fetch.answer", b=node(m.src), a=node(m.dst), o=offset(max(m.hw, 0)))


def broker_answered(answer: Any) -> Sentence:
    """Return the sentence of a response to a broker that has no records for it."""
    if answer.error == NONE:
        return _fetch_answer(answer)
    return say("voter.refused", a=node(answer.src), b=node(answer.dst), x=error(answer.error))


SENDINGS: Final[dict[int, Callable[[Any], Sentence]]] = {
    messages.VOTE: _vote_asked,
    messages.BEGIN_EPOCH: lambda m: say(
        "voter.begin", b=node(m.src), a=node(m.dst), e=epoch(m.epoch)
    ),
    messages.END_EPOCH: lambda m: say("voter.end", b=node(m.src), a=node(m.dst), e=epoch(m.epoch)),
    messages.QUORUM_FETCH: lambda m: say(
        "voter.fetch", b=node(m.src), a=node(m.dst), o=offset(m.offset)
    ),
    messages.QUORUM_FETCH_R: _fetch_answer,
}
"""Message kind -> function that returns the sentence of a send by a timer or a hand."""
