"""Consequences of an event: a sentence for each cue that is worth one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.model import messages, timers
from engine.model.effects import Cue
from engine.model.errors import (
    FENCED_LEADER_EPOCH,
    NONE,
    NOT_ENOUGH_REPLICAS,
    NOT_LEADER_OR_FOLLOWER,
    UNKNOWN_LEADER_EPOCH,
)
from engine.model.messages import CONTROLLER
from engine.model.state import FOLLOWER, LEADER, NEVER, TRUNCATING, Replica
from engine.story import (
    consumer_sentences,
    fault_sentences,
    fetcher_sentences,
    group_sentences,
    session_sentences,
    voter_sentences,
)
from engine.story.entities import (
    Happening,
    epoch,
    error,
    members,
    node,
    nodes,
    number,
    offset,
    records,
    say,
)
from engine.story.rule import stated
from engine.story.rules import RULES
from engine.view.wire import Sentence

Teller = Callable[[Happening, Cue], "Sentence | None"]

CONTROL: Final = node(CONTROLLER)


def tell_cue(happening: Happening, cue: Cue) -> Sentence | None:
    """Return the sentence of one consequence, or None when there is none."""
    teller = TELLERS.get(cue.rule)
    if teller is not None:
        return teller(happening, cue)
    rule = RULES.get(cue.rule)
    if rule is None or not rule.say:
        return None
    return stated(rule, happening, cue)


# -- log and high watermark -----------------------------------------------------------------------


def _power(h: Happening, cue: Cue) -> Sentence:
    """Return all partitions of the broker in one sentence."""
    lost = sum(c.old - c.new for c in h.cues if c.rule == "L-11" and c.node == cue.node)
    if not lost:
        return say("fault.power.none", b=node(cue.node))
    if lost == 1:
        return say("fault.power.one", b=node(cue.node), n=number(lost))
    return say("fault.power", b=node(cue.node), n=number(lost))


def _truncated_records(h: Happening, at: int) -> list[str]:
    """Return the records that were cut from the logs of a broker in this event."""
    cut = [c.new for c in h.cues if c.rule == "L-14" and c.node == at]
    return [value for batches in cut for batch in batches for value in batch.values]


def _cut_to_hw(h: Happening, cue: Cue) -> Sentence:
    at, new = cue.node, cue.new
    return say("trunc.hw", b=node(at), m=records(_truncated_records(h, at)), o=offset(new))


def _cut_by_epoch(h: Happening, cue: Cue) -> Sentence:
    at, new = cue.node, cue.new
    return say("trunc.epoch", b=node(at), m=records(_truncated_records(h, at)), o=offset(new))


def _out_of_range(h: Happening, cue: Cue) -> Sentence:
    """Return one of F-9's two sentences: for the answer, and for the truncated log."""
    at, field, old, new = cue.node, cue.field, cue.old, cue.new
    if field != "leo":
        leader = node(h.what.src)
        return say("fetcher.range", b=node(at), l=leader, o=offset(old))
    looked = h.delivered(messages.LIST_OFFSETS_R)
    if looked is not None and looked.timestamp == messages.EARLIEST:
        return say("trunc.restart", b=node(at), o=offset(new))
    return say("trunc.range", b=node(at), m=records(_truncated_records(h, at)), o=offset(new))


def _hw_up(h: Happening, cue: Cue) -> Sentence:
    """Name the cause: the fetch that reported a follower's end, or the append itself."""
    at, old, new = cue.node, cue.old, cue.new
    b, a, o = node(at), offset(old), offset(new)
    fetch, produce = h.delivered(messages.FETCH), h.delivered(messages.PRODUCE)
    learnt = h.cue("S-4")
    if fetch is not None and learnt is not None:
        return say("hw.up.fetch", b=b, f=node(fetch.src), a=a, o=o, p=offset(learnt.new))
    if produce is not None and h.cue("L-3"):
        return say("hw.up.append", b=b, m=records(produce.values), a=a, o=o)
    return say("hw.up", b=b, a=a, o=o)


def _hw_follow(h: Happening, cue: Cue) -> Sentence | None:
    at, old, new = cue.node, cue.old, cue.new
    answer = h.delivered(messages.FETCH_R)
    if answer is None:
        return None
    leader = node(answer.src)
    if new < old:
        return say("hw.down", b=node(at), a=offset(old), o=offset(new), l=leader)
    return say("hw.follow", b=node(at), o=offset(new), l=leader)


def _hw_checkpoint(h: Happening, cue: Cue) -> Sentence:
    written = [c.new for c in h.cues if c.rule == "H-7"]
    if len(written) == 1:
        return say("hw.checkpoint", b=node(cue.node), o=offset(cue.new))
    return say("hw.checkpoints", b=node(cue.node), n=number(len(written)))


# -- fetching -------------------------------------------------------------------------------------


def _fetch_refused(h: Happening, cue: Cue) -> Sentence | None:
    answer = h.sent(messages.FETCH_R)
    if answer is None:
        return None
    return say("fetch.refused", l=node(cue.node), f=node(answer.dst), x=error(cue.new))


def _diverges(h: Happening, cue: Cue) -> Sentence | None:
    answer = h.sent(messages.FETCH_R)
    if answer is None:
        return None
    last_epoch, end = cue.new
    b, f = node(cue.node), node(answer.dst)
    return say("fetch.diverge", b=b, f=f, e=epoch(last_epoch), o=offset(end))


def _leader_learns(h: Happening, cue: Cue) -> Sentence | None:
    if cue.new <= 0:
        return None  # an empty follower says nothing about any record
    return say("leader.learns", b=node(cue.node), f=node(cue.about), o=offset(cue.new))


def _fetching_starts(h: Happening, cue: Cue) -> Sentence:
    at, state, start = cue.node, cue.old, cue.new
    if state == TRUNCATING:
        return say("fetcher.compares", b=node(at))
    return say("fetcher.start", b=node(at), o=offset(start))


def _backs_off(h: Happening, cue: Cue) -> Sentence | None:
    at, field, old, code = cue.node, cue.field, cue.old, cue.new
    if h.cue("F-8.failed"):
        return None
    if field == "connection":
        return say("fetcher.broken", b=node(at), l=node(old))
    return say("fetcher.backoff", b=node(at), l=node(h.what.src), x=error(code))


def _fails(h: Happening, cue: Cue) -> Sentence:
    cause = h.cue("F-8")
    if cause is not None and cause.new is not None:
        return say("fetcher.failed.error", b=node(cue.node), x=error(cause.new))
    return say("fetcher.failed", b=node(cue.node))


# -- the ISR --------------------------------------------------------------------------------------


def _expands(h: Happening, cue: Cue) -> Sentence:
    at, old, new = cue.node, cue.old, cue.new
    joining = [b for b in new if b not in old]
    return say("isr.expand", b=node(at), w=nodes(joining), i=members(new))


def _shrinks(h: Happening, cue: Cue) -> Sentence:
    at, old, new = cue.node, cue.old, cue.new
    late = [b for b in old if b not in new]
    broker = h.sim.brokers[at]
    leading = [r for r in broker.replicas.values() if r.role == LEADER and r.isr == old]
    since = [r.remote[b].last_caught_up_ms for r in leading for b in late if b in r.remote]
    waited = h.sim.now - max(since) if since and max(since) > NEVER else 0
    if waited > broker.machine.configs.lag_time_max_ms:
        return say("isr.shrink", b=node(at), w=nodes(late), n=number(waited))
    return say("isr.shrink.far", b=node(at), w=nodes(late))


def _isr_recorded(h: Happening, cue: Cue) -> Sentence:
    proposal = h.delivered(messages.ALTER_PARTITION)
    i = members(cue.new)
    if proposal is None:
        return say("isr.record", k=CONTROL, i=i)
    if proposal.direct:
        return say("isr.written", l=node(proposal.src), i=i)
    return say("isr.accept", k=CONTROL, l=node(proposal.src), i=i)


def _elr_recorded(h: Happening, cue: Cue) -> Sentence:
    if not cue.new:
        return say("elr.empty", k=CONTROL)
    return say("elr.record", k=CONTROL, i=members(cue.new))


# -- produce --------------------------------------------------------------------------------------


def _refused(h: Happening, cue: Cue) -> Sentence:
    at, values, code = cue.node, cue.old, cue.new
    b, m = node(at), records(values)
    produce = h.delivered(messages.PRODUCE)
    if code == NOT_ENOUGH_REPLICAS and produce is not None:
        replica = h.sim.brokers[at].replicas[produce.tp]
        least = replica.min_isr()
        i = members(replica.isr)
        return say("produce.too_few", b=b, m=m, i=i, n=number(least), x=error(code))
    if code == NOT_LEADER_OR_FOLLOWER:
        return say("produce.not_leader", b=b, m=m, x=error(code))
    return say("produce.refused", b=b, m=m, x=error(code))


def _acked_at_once(h: Happening, cue: Cue) -> Sentence:
    b, m = node(cue.node), records(cue.old)
    if h.cue("H-2") or not h.cue("L-3"):
        return say("ack.ok", b=b, m=m)
    return say("ack.one", b=b, m=m)


def _answered(h: Happening, cue: Cue) -> Sentence:
    """Return all answers of one kind in one sentence."""
    rule, at, code = cue.rule, cue.node, cue.new
    alike = [c.old for c in h.cues if c.rule == rule and c.node == at and c.new == code]
    m = records(value for values in alike for value in values)
    if code == NONE:
        return say("ack.ok", b=node(at), m=m)
    return say("ack.error", b=node(at), m=m, x=error(code))


# -- the controller -------------------------------------------------------------------------------


def _elected(h: Happening, cue: Cue) -> Sentence | None:
    """Name the cause: the old leader was silent or leaves, or no better replica was left."""
    k, old, new = CONTROL, cue.old, cue.new
    if new < 0:
        return say("lead.none", k=k)
    record = h.sim.cluster.controller.records.get(cue.tp)
    if record is None:
        return None  # its topic went in the same event
    e = epoch(record.leader_epoch)
    b = node(new)
    trusted = [c.old for c in h.cues if c.rule in ("CP-ISR", "CP-ELR") and c.tp == cue.tp]
    if trusted and not any(new in ids for ids in trusted):
        return say("lead.last" if _led_last(h, cue) else "lead.unclean", k=k, b=b, e=e)
    if old >= 0 and _is_named(h, old, "CP-KR-FENCE", "CP-ZK-BROKERS"):
        return say("lead.silent", k=k, b=b, e=e, w=node(old))
    if old >= 0 and (
        _is_named(h, old, "CP-KR-SHUTDOWN") or h.delivered(messages.SHUTDOWN) is not None
    ):
        return say("lead.leaving", k=k, b=b, e=e, w=node(old))
    return say("lead.elected", k=k, b=b, e=e)


def _led_last(h: Happening, cue: Cue) -> bool:
    """Check for the last known leader (KIP-966), which is elected though no setting allows it."""
    profile, controller = h.sim.profile, h.sim.cluster.controller
    return profile.elr and not controller.unclean_for(cue.tp) and h.cue("CP-ELECT-ADMIN") is None


def _leads(h: Happening, cue: Cue) -> Sentence:
    """Say whether the broker begins to lead, or leads on in a new epoch."""
    key = "lead.again" if (cue.node, cue.tp) in h.led else "lead.new"
    return say(key, b=node(cue.node), e=epoch(cue.new))


def _is_named(h: Happening, broker: int, *rules: str) -> bool:
    return any(cue.rule in rules and cue.about == broker for cue in h.cues)


def _fenced(h: Happening, cue: Cue) -> Sentence:
    b = node(cue.about)
    silent = isinstance(h.what, tuple) and h.what[0] == timers.FENCE_CHECK
    if not silent:
        return say("member.out", k=CONTROL, b=b)
    n = number(h.sim.configs.session_timeout_ms)
    if cue.rule == "CP-ZK-BROKERS":
        return say("member.expired", k=CONTROL, b=b, n=n)
    return say("member.fenced", k=CONTROL, b=b, n=n)


def _follows(h: Happening, cue: Cue) -> Sentence:
    at, number_of_epoch = cue.node, cue.new
    leaders = {r.leader for r in _replicas(h, at, FOLLOWER) if r.leader_epoch == number_of_epoch}
    b, e = node(at), epoch(number_of_epoch)
    if len(leaders) != 1:
        return say("follow.new", b=b, e=e)
    leader = leaders.pop()
    if leader < 0:
        return say("follow.nobody", b=b, e=e)
    return say("follow.leader", b=b, e=e, l=node(leader))


def _replicas(h: Happening, at: int, role: int) -> list[Replica]:
    return [replica for replica in h.sim.brokers[at].replicas.values() if replica.role == role]


def told_by_the_message(h: Happening, cue: Cue) -> None:
    """Return no sentence: that of the message says it already (happenings.py)."""


TELLERS: Final[dict[str, Teller]] = {
    "L-3": told_by_the_message,
    "L-3.refused": _refused,
    "L-4": told_by_the_message,
    "L-11": _power,
    "H-2": _hw_up,
    "H-4": _hw_follow,
    "H-7": _hw_checkpoint,
    "E-5": told_by_the_message,
    "S-2.epoch_check": _fetch_refused,
    "S-3": _diverges,
    "S-4": _leader_learns,
    "S-5": told_by_the_message,
    "S-7": _expands,
    "S-8": _shrinks,
    "P-2": _acked_at_once,
    "P-4.answer": _answered,
    "P-7.refused": _refused,
    "C-2": told_by_the_message,
    "X-4": session_sentences.news,
    "X-5": session_sentences.opened,
    "F-2": _fetching_starts,
    "F-8": _backs_off,
    "F-8.failed": _fails,
    "F-9": _out_of_range,
    "T-0": _cut_to_hw,
    "T-1": _cut_by_epoch,
    "T-2": _cut_by_epoch,
    "T-4": _cut_by_epoch,
    "CP-MAKE-LEADER": _leads,
    "CP-ELECT-KR": _elected,
    "CP-ELECT-ZK": _elected,
    "CP-ISR": _isr_recorded,
    "CP-ELR": _elr_recorded,
    "CP-KR-FENCE": _fenced,
    "CP-KR-APPLY": told_by_the_message,
    "CP-ZK-BROKERS": _fenced,
    "CP-MAKE-FOLLOWER": _follows,
    **fault_sentences.TELLERS,
    **consumer_sentences.TELLERS,
    **fetcher_sentences.TELLERS,
    **voter_sentences.TELLERS,
    **group_sentences.TELLERS,
}
"""Rules whose sentence needs more than the node, the old and the new value."""

FENCES: Final = (FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH)
REASONS: Final = {
    "ack.error": "why.unanswered",
    "isr.shrink.far": "why.shrink.far",
    "lead.none": "why.offline",
    "lead.unclean": "why.unclean",
    "produce.not_leader": "why.not_leader",
    "produce.refused": "",
    "produce.too_few": "why.refused",
    "trunc.range": "why.trunc.range",
    "trunc.restart": "why.trunc.range",
}
"""Sentences whose reason differs from that of their rule."""


def reason(cue: Cue, sentence: Sentence | None) -> str:
    """Return the key of the reason behind a consequence, "" if it needs none.

    A broker that does not lead refuses for its role; whether requests carry a leader epoch (since
    2.1, KIP-320) does not matter then.
    """
    if sentence is not None and sentence["key"] in REASONS:
        return REASONS[sentence["key"]]
    if cue.rule == "S-2.epoch_check" and cue.new not in FENCES:
        return "why.role"
    rule = RULES.get(cue.rule)
    return "" if rule is None else rule.why


def speaks(happening: Happening, cue: Cue) -> bool:
    """Check whether a reason for this cue belongs to the sentences."""
    rule = RULES.get(cue.rule)
    if rule is None or not rule.why:
        return False
    answer = happening.delivered(messages.FETCH_R)
    if cue.rule == "C-2" and answer is not None:
        return bool(answer.partitions) and not answer.partitions[0].error
    by_message = TELLERS.get(cue.rule) is told_by_the_message
    return by_message or tell_cue(happening, cue) is not None
