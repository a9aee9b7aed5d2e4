"""Sentences about fetch sessions (KIP-227)."""

from __future__ import annotations

from typing import Any

from engine.model import messages
from engine.model.effects import Cue
from engine.model.session_messages import SessionAnswer
from engine.model.sessions import INITIAL
from engine.story.entities import Happening, error, node, number, say, word
from engine.view.wire import Sentence


def fetch_sent(m: Any) -> Sentence:
    """Return the sentence of a fetch that is sent."""
    f, leader, count = node(m.src), node(m.dst), len(m.partitions)
    if m.session_epoch == INITIAL:
        key = "session.ask.full.one" if count == 1 else "session.ask.full"
        return say(key, f=f, l=leader, n=number(count))
    e, s = number(m.session_epoch), number(m.session_id)
    if m.forgotten:
        forgotten = word(", ".join(map(str, m.forgotten)))
        return say("session.forget", f=f, l=leader, e=e, s=s, p=forgotten)
    if not count:
        return say("session.ask.none", f=f, l=leader, e=e, s=s)
    key = "session.ask.one" if count == 1 else "session.ask"
    return say(key, f=f, l=leader, e=e, s=s, n=number(count))


def arrives(h: Happening, m: Any) -> Sentence | None:
    """Return the sentence of a fetch that is refused or waits; cues tell of an answered one."""
    if h.sent(messages.FETCH_R, m.corr) is not None:
        return None
    return say("session.waits" if h.cue("S-5") else "session.got", f=node(m.src), l=node(m.dst))


def answered(m: SessionAnswer) -> Sentence:
    """Return the sentence of an answer without partitions: an error, or no news."""
    f, leader = node(m.dst), node(m.src)
    if m.error:
        return say("session.heard", f=f, l=leader, x=error(m.error))
    return say("session.nothing", f=f, l=leader)


def news(h: Happening, cue: Cue) -> Sentence:
    of, sent = cue.old, cue.new
    if of == sent:
        return say("session.news.all", l=node(cue.node))
    if not sent:
        return say("session.news.none", l=node(cue.node))
    return say("session.news", l=node(cue.node), n=number(sent), m=number(of))


def opened(h: Happening, cue: Cue) -> Sentence:
    leader, f = node(cue.node), node(cue.old)
    if not cue.new:
        return say("session.no_room", l=leader, f=f)
    return say("session.opened", l=leader, f=f, s=number(cue.new))
