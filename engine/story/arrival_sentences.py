"""Sentences about events: the message that arrived, or the timer or hand that acted."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from engine.model import messages, timers
from engine.model.errors import NONE
from engine.model.messages import CONTROLLER, FIRST_PRODUCER, Message
from engine.model.quorum_messages import ObserverFetchResponse
from engine.model.session_messages import SessionAnswer, SessionFetch
from engine.story import consumer_sentences, group_sentences, session_sentences, voter_sentences
from engine.story.cue_sentences import tell_cue
from engine.story.entities import (
    Happening,
    epoch,
    error,
    from_ends,
    members,
    node,
    nodes,
    number,
    offset,
    records,
    say,
    word,
)
from engine.view.wire import Sentence

Arrival = Callable[[Happening, Any], "Sentence | None"]
Sending = Callable[[Any], "Sentence | None"]
_ROLES: Final = ("CP-MAKE-LEADER", "CP-MAKE-FOLLOWER")

CONTROL: Final = node(CONTROLLER)


def tell_arrival(happening: Happening) -> Sentence | None:
    """Return the sentence of a delivery; where it led to something small, that of this."""
    m = happening.what
    return ARRIVALS[m.kind](happening, m)


def tell_sent(sends: Iterable[Message]) -> list[Sentence]:
    """Return a sentence for each message that went out and is worth a sentence."""
    told = [SENDINGS[m.kind](m) for m in sends if m.kind in SENDINGS]
    return [sentence for sentence in told if sentence is not None]


def _from_cue(h: Happening, *rules: str) -> Sentence | None:
    cue = h.cue(*rules)
    return None if cue is None else tell_cue(h, cue)


def _cue_or(key: str, *rules: str, **places: str) -> Arrival:
    """Return the teller of the first cue of these rules; without one, of the message's ends."""
    ends = from_ends(key, **places)
    return lambda h, m: _from_cue(h, *rules) or ends(m)


# -- Fetch ----------------------------------------------------------------------------------------


def _size(data: Any) -> int:
    return sum(len(batch.values) for batch in data.batches)


def _fetch_arrives(h: Happening, m: Any) -> Sentence | None:
    if isinstance(m, SessionFetch):
        return session_sentences.arrives(h, m)
    if not m.partitions:
        return None
    args = {"l": node(m.dst), "f": node(m.src), "o": offset(m.partitions[0].offset)}
    answer = h.sent(messages.FETCH_R, m.corr)
    if answer is None:
        return say("fetch.waits" if h.cue("S-5") else "fetch.got", **args)
    data = answer.partitions[0]
    if data.error:
        return say("fetch.refused", l=node(m.dst), f=node(m.src), x=error(data.error))
    if data.diverging is not None:
        return None  # S-3 reports it
    if isinstance(data, messages.Redirection):
        return consumer_sentences.redirected(m, data.preferred)
    count = _size(data)
    if not count:
        return say("fetch.nothing", **args)
    return say("fetch.give.one" if count == 1 else "fetch.give", **args, n=number(count))


def _fetch_released(m: Any) -> Sentence | None:
    """Return the sentence of a waiting Fetch that is answered."""
    data = m.partitions[0] if m.partitions else None
    if data is None or data.error or data.diverging is not None:
        return None
    leader, f, count = node(m.src), node(m.dst), _size(data)
    if not count:
        return say("fetch.released", l=leader, f=f, o=offset(data.hw))
    return say("fetch.woken.one" if count == 1 else "fetch.woken", l=leader, f=f, n=number(count))


def _fetch_answered(h: Happening, m: Any) -> Sentence | None:
    if isinstance(m, SessionAnswer) and (m.error or not m.partitions):
        return session_sentences.answered(m)
    if not m.partitions:
        return None
    if m.dst <= FIRST_PRODUCER:
        return consumer_sentences.fetched(h, m)
    data = m.partitions[0]
    f, leader = node(m.dst), node(m.src)
    if data.error:
        if h.cue("F-8", "F-8.failed", "F-9"):
            return None
        return say("answer.ignored", b=f, a=leader)
    if data.diverging is not None:
        last_epoch, end = data.diverging
        return say("fetch.diverged", f=f, l=leader, e=epoch(last_epoch), o=offset(end))
    appended = h.cue("L-4")
    if appended is not None:
        count = appended[4] - appended[3]
        key = "append.follower.one" if count == 1 else "append.follower"
        return say(key, f=f, l=leader, n=number(count), o=offset(appended[4]))
    if _size(data):
        return None if h.cues else say("answer.ignored", b=f, a=leader)
    return _from_cue(h, "H-4") or say("fetch.empty", f=f, l=leader, o=offset(data.hw))


def _fetch_sent(m: Any) -> Sentence | None:
    if isinstance(m, SessionFetch):
        return session_sentences.fetch_sent(m)
    if not m.partitions:
        return None
    fp = m.partitions[0]
    if m.src <= FIRST_PRODUCER:
        return consumer_sentences.asks(m)
    f, leader, o = node(m.src), node(m.dst), offset(fp.offset)
    if fp.last_epoch >= 0:
        return say("fetch.ask.epoch", f=f, l=leader, o=o, e=epoch(fp.last_epoch))
    return say("fetch.ask", f=f, l=leader, o=o)


# -- OffsetForLeaderEpoch, ListOffsets ------------------------------------------------------------


def _epoch_end_arrives(h: Happening, m: Any) -> Sentence | None:
    answer = h.sent(messages.EPOCH_END_R, m.corr)
    if answer is None or not answer.partitions:
        return None
    _, code, answered, end = answer.partitions[0]
    leader, f = node(m.dst), node(m.src)
    if code:
        return say("answer.error", a=leader, b=f, x=error(code))
    requested = epoch(answered if answered >= 0 else m.partitions[0][1])
    if end < 0:
        return say("epoch.unknown", l=leader, f=f, e=requested)
    return say("epoch.answer", l=leader, f=f, e=requested, o=offset(end))


def _epoch_end_answered(h: Happening, m: Any) -> Sentence | None:
    if not m.partitions:
        return None
    if m.dst <= FIRST_PRODUCER:
        return consumer_sentences.validated(h, m)
    _, code, answered, end = m.partitions[0]
    f, leader = node(m.dst), node(m.src)
    if code:
        return None if h.cue("F-8") else say("answer.ignored", b=f, a=leader)
    if end < 0:
        return say("epoch.heard.unknown", f=f, l=leader)
    if answered < 0:
        return say("epoch.heard.end", f=f, l=leader, o=offset(end))
    return say("epoch.heard", f=f, l=leader, e=epoch(answered), o=offset(end))


def _epoch_end_sent(m: Any) -> Sentence | None:
    if not m.partitions:
        return None
    if m.src <= FIRST_PRODUCER:
        return consumer_sentences.asks(m)
    return say("epoch.ask", f=node(m.src), l=node(m.dst), e=epoch(m.partitions[0][1]))


def _offset_keys(timestamp: int) -> tuple[str, str, str]:
    """Return the keys of an offset that a fetcher looks up: asked for, answered, heard."""
    if timestamp == messages.LATEST:
        return "offsets.end.ask", "offsets.end", "offsets.end.heard"
    if timestamp == messages.EARLIEST_LOCAL:
        return "offsets.local.ask", "offsets.local", "offsets.local.heard"
    return "offsets.start.ask", "offsets.start", "offsets.start.heard"


def _offsets_arrive(h: Happening, m: Any) -> Sentence | None:
    answer = h.sent(messages.LIST_OFFSETS_R, m.corr)
    if answer is None:
        return None
    if m.src <= FIRST_PRODUCER:
        return consumer_sentences.looked_up(h, m, answer)
    leader, f = node(m.dst), node(m.src)
    if answer.error:
        return say("answer.error", a=leader, b=f, x=error(answer.error))
    return say(_offset_keys(m.timestamp)[1], l=leader, f=f, o=offset(answer.offset))


def _offsets_answered(h: Happening, m: Any) -> Sentence | None:
    if m.dst <= FIRST_PRODUCER:
        return consumer_sentences.sought(h, m)
    f, leader = node(m.dst), node(m.src)
    if m.error:
        return None if h.cue("F-8") else say("answer.ignored", b=f, a=leader)
    return say(_offset_keys(m.timestamp)[2], f=f, l=leader, o=offset(m.offset))


def _offsets_sent(m: Any) -> Sentence:
    if m.src <= FIRST_PRODUCER:
        return consumer_sentences.asks(m)
    return say(_offset_keys(m.timestamp)[0], f=node(m.src), l=node(m.dst))


# -- Produce --------------------------------------------------------------------------------------


def _produce_arrives(h: Happening, m: Any) -> Sentence | None:
    appended = h.cue("L-3")
    if appended is None:
        return None  # refused, or a duplicate: the cue has the reason
    p, leader, o = node(m.src), node(m.dst), offset(appended[4])
    return say("append.leader", l=leader, p=p, m=records(m.values), o=o)


def _produce_answered(h: Happening, m: Any) -> Sentence:
    if m.error == NONE:
        return say("produce.acked", p=node(m.dst), m=records(m.values), o=offset(m.base))
    return say("produce.failed", p=node(m.dst), m=records(m.values), x=error(m.error))


def _produce_sent(m: Any) -> Sentence:
    acks = word({-1: "all"}.get(m.acks, m.acks))
    return say("produce.ask", p=node(m.src), l=node(m.dst), m=records(m.values), a=acks)


# -- between brokers and the controller -----------------------------------------------------------


def _proposal_arrives(h: Happening, m: Any) -> Sentence | None:
    answer = h.sent(messages.ALTER_PARTITION_R, m.corr)
    if answer is not None and answer.error:
        return say("answer.error", a=CONTROL, b=node(m.src), x=error(answer.error))
    return _from_cue(h, "CP-ISR", "CP-ALTER", "CP-ALTER.direct") or say(
        "alter.unchanged", k=CONTROL, l=node(m.src), i=members(b for b, _ in m.items[0].isr)
    )


def _proposal_sent(m: Any) -> Sentence:
    return say("alter.ask", l=node(m.src), i=members(b for b, _ in m.items[0].isr))


def _heartbeat_arrives(h: Happening, m: Any) -> Sentence:
    answer = h.sent(messages.HEARTBEAT_R, m.corr)
    if answer is not None and answer.error:
        return say("answer.error", a=CONTROL, b=node(m.src), x=error(answer.error))
    return say("heartbeat.got", k=CONTROL, b=node(m.src))


def _heartbeat_answered(h: Happening, m: Any) -> Sentence:
    if m.error:
        return say("heartbeat.refused", b=node(m.dst), x=error(m.error))
    return _from_cue(h, "CP-KR-HB", "L-12") or say("heartbeat.answered", b=node(m.dst))


def _registration_arrives(h: Happening, m: Any) -> Sentence:
    answer = h.sent(messages.REGISTER_R, m.corr)
    if answer is not None and answer.error:
        if not h.sim.profile.kraft:
            why = "NODEEXISTS"
            if h.sim.profile.release < (1, 1):
                why = f"A broker is already registered on the path /brokers/ids/{m.src}"
            return say("register.taken", b=node(m.src), x=word(why))
        return say("register.refused", k=CONTROL, b=node(m.src), x=error(answer.error))
    return say("register.got", k=CONTROL, b=node(m.src))


def _registration_answered(h: Happening, m: Any) -> Sentence:
    if m.error:
        return say("register.wait", b=node(m.dst), x=error(m.error))
    return _from_cue(h, "CP-REG") or say("answer.ignored", b=node(m.dst), a=CONTROL)


def _metadata_asked(h: Happening, m: Any) -> Sentence:
    answer = h.sent(messages.METADATA_FETCH_R, m.corr)
    if answer is None:
        return say("metadata.waits", k=CONTROL, b=node(m.src))
    if isinstance(answer, ObserverFetchResponse) and not answer.batches:
        return voter_sentences.broker_answered(answer)
    count = len(answer.records)
    key = "metadata.give.one" if count == 1 else "metadata.give"
    return say(key, k=CONTROL, b=node(m.src), n=number(count))


def _metadata_arrives(h: Happening, m: Any) -> Sentence:
    applied = h.cue("CP-KR-APPLY")
    if applied is None and isinstance(m, ObserverFetchResponse):
        return voter_sentences.fetch_answered(h, m)
    if applied is None:
        return say("answer.ignored", b=node(m.dst), a=CONTROL)
    role = _from_cue(h, *_ROLES)
    return role or say("metadata.applied", b=node(m.dst), n=number(applied[4]))


def _assignment_answered(h: Happening, m: Any) -> Sentence:
    if m.error:
        return say("heartbeat.refused", b=node(m.dst), x=error(m.error))
    return say("dirs.accepted", b=node(m.dst), k=CONTROL)


# -- clients, operators, broken connections -------------------------------------------------------


def _leader_asked(h: Happening, m: Any) -> Sentence | None:
    answer = h.sent(messages.CLIENT_METADATA_R, m.corr)
    if answer is None:
        return None
    if answer.leader < 0:
        return say("client.told.nobody", b=node(m.dst), c=node(m.src))
    return say("client.told", b=node(m.dst), c=node(m.src), l=node(answer.leader))


def _leader_told(h: Happening, m: Any) -> Sentence:
    if m.leader < 0:
        return say("client.learns.nobody", c=node(m.dst))
    return say("client.learns", c=node(m.dst), l=node(m.leader))


def _broken(h: Happening, m: Any) -> Sentence:
    key = "connection.broken" if m.dst > FIRST_PRODUCER else "connection.broken.client"
    return _from_cue(h, "F-8") or say(key, a=node(m.dst), b=node(m.src))


ARRIVALS: Final[dict[int, Arrival]] = {
    messages.FETCH: _fetch_arrives,
    messages.FETCH_R: _fetch_answered,
    messages.EPOCH_END: _epoch_end_arrives,
    messages.EPOCH_END_R: _epoch_end_answered,
    messages.LIST_OFFSETS: _offsets_arrive,
    messages.LIST_OFFSETS_R: _offsets_answered,
    messages.PRODUCE: _produce_arrives,
    messages.PRODUCE_R: _produce_answered,
    messages.ALTER_PARTITION: _proposal_arrives,
    messages.ALTER_PARTITION_R: _cue_or(
        "alter.heard", "S-9", "S-9.rejected", "S-9.pending", b="dst", k="controller"
    ),
    messages.HEARTBEAT: _heartbeat_arrives,
    messages.HEARTBEAT_R: _heartbeat_answered,
    messages.REGISTER: _registration_arrives,
    messages.REGISTER_R: _registration_answered,
    messages.METADATA_FETCH: _metadata_asked,
    messages.METADATA_FETCH_R: _metadata_arrives,
    messages.LEADER_AND_ISR: _cue_or("message.LeaderAndIsr", *_ROLES, k="controller", b="dst"),
    messages.UPDATE_METADATA: from_ends("message.UpdateMetadata", k="controller", b="dst"),
    messages.STOP_REPLICA: from_ends("message.StopReplica", k="controller", b="dst"),
    messages.STOP_REPLICA_R: from_ends("message.StopReplica.done", k="controller", b="src"),
    messages.LEADER_AND_ISR_R: _cue_or("dirs.got", "CP-8.4.offline", k="controller", b="src"),
    messages.LOG_DIR_EVENT: _cue_or("dirs.got", "CP-8.4.event", k="controller", b="src"),
    messages.ASSIGN_DIRS: _cue_or("dirs.got", "CP-8.4.assign", k="controller", b="src"),
    messages.ASSIGN_DIRS_R: _assignment_answered,
    messages.SESSION_CLOSED: from_ends("session.closed", b="src", k="controller"),
    messages.ISR_CHANGE: from_ends("isr.notified", b="src", k="controller"),
    messages.SHUTDOWN: from_ends("shutdown.got", k="controller", b="src"),
    messages.SHUTDOWN_R: _cue_or("shutdown.wait", "L-12", k="controller", b="dst"),
    messages.CLIENT_METADATA: _leader_asked,
    messages.CLIENT_METADATA_R: _leader_told,
    messages.BROKEN: _broken,
    **voter_sentences.ARRIVALS,
    **group_sentences.ARRIVALS,
}
"""Message kind -> function that returns the sentence of its arrival."""

SENDINGS: Final[dict[int, Sending]] = {
    messages.FETCH: _fetch_sent,
    messages.FETCH_R: _fetch_released,
    messages.EPOCH_END: _epoch_end_sent,
    messages.LIST_OFFSETS: _offsets_sent,
    messages.PRODUCE: _produce_sent,
    messages.ALTER_PARTITION: _proposal_sent,
    messages.HEARTBEAT: from_ends("heartbeat.ask", b="src", k="controller"),
    messages.REGISTER: from_ends("register.ask", b="src", k="controller"),
    messages.METADATA_FETCH: from_ends("metadata.ask", b="src", k="controller"),
    messages.SHUTDOWN: from_ends("shutdown.ask", b="src", k="controller"),
    messages.ASSIGN_DIRS: from_ends("dirs.tell", b="src", k="controller"),
    messages.CLIENT_METADATA: from_ends("client.ask", c="src", b="dst"),
    **voter_sentences.SENDINGS,
    **group_sentences.SENDINGS,
}
"""Message kind -> function that returns the sentence of a send by a timer or a hand."""


# -- timers and hands -----------------------------------------------------------------------------


QUIET_TIMERS: Final = {
    timers.NAMES[timers.FETCHER_WORK]: "timer.fetcher",
    timers.NAMES[timers.ISR_EXPIRATION]: "timer.isr_expiration",
    timers.NAMES[timers.HW_CHECKPOINT]: "timer.checkpoint",
    "checkpoint": "timer.checkpoint",
    timers.NAMES[timers.LOG_FLUSHER]: "timer.flusher",
    timers.NAMES[timers.RETENTION]: "timer.retention",
    timers.NAMES[timers.LOG_START_CHECKPOINT]: "timer.log_start",
    "controller start-up": "timer.startup",
    timers.NAMES[timers.CLIENT_TICK]: "client.stuck",
    "produce": "client.stuck",
}
"""Sentence for a timer, or a hand's act, when nothing followed."""


def tell_quiet(happening: Happening) -> Sentence:
    """Return a sentence for an event without consequences."""
    what, a = happening.what, node(happening.at)
    if isinstance(what, Message):
        name = messages.NAMES[what.kind]
        return say("message", a=node(what.src), b=node(what.dst), t=word(name))
    name = timers.NAMES[what[0]] if isinstance(what, tuple) else str(what)
    if name == timers.NAMES[timers.COMMIT]:
        return _committed(happening)
    if name == "fetching":
        return say("fetching.auto" if happening.sim.auto else "fetching.manual")
    if name == "future":
        return say("future")
    key = QUIET_TIMERS.get(name)
    return say("timer", a=a, t=word(name)) if key is None else say(key, a=a)


TIMERS: Final[dict[int, Callable[[Happening], Sentence]]] = {
    timers.IDLE_RECORD: lambda h: say("voter.idle", b=node(h.at)),
    timers.METADATA_WAIT: lambda h: say("metadata.expires", k=CONTROL, b=node(h.what[1][0])),
}
"""Timer -> function that returns its sentence; of any other what it sends is told."""


def _committed(h: Happening) -> Sentence:
    told = [m.dst for m in h.sends if m.kind == messages.METADATA_FETCH_R]
    if told:
        return say("metadata.commit.sent", k=CONTROL, w=nodes(told))
    return say("metadata.commit", k=CONTROL)
