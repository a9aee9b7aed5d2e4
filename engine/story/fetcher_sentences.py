"""Sentences about fetcher threads and the contents of their responses."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

from engine.model.effects import Cue
from engine.model.messages import (
    Broken,
    EpochEndResponse,
    FetchResponse,
    ListOffsetsResponse,
    Message,
)
from engine.model.phrases import Entity
from engine.model.state import FetcherThread
from engine.story.entities import Happening, node, number, say, word
from engine.view.wire import ActingFetcher, Sentence

if TYPE_CHECKING:
    from engine.sim.simulation import Simulation


def _names(h: Happening, tps: Iterable[int]) -> Entity:
    return word(", ".join(h.sim.cluster.names[tp] for tp in tps))


def _of(h: Happening, cue: Cue) -> Entity:
    """Return the partition of a cue."""
    return _names(h, (cue.tp,))


def _cut_short(h: Happening, cue: Cue) -> Sentence:
    at, offered, sent = cue.node, cue.old, cue.new
    key = "answer.left" if sent == 0 else "answer.limit"
    return say(key, l=node(at), t=_of(h, cue), n=number(sent), a=number(offered))


def _too_large(h: Happening, cue: Cue) -> Sentence | None:
    if cue.rule == "S-2.oversized" and h.cue("F-7.oversized"):
        return None
    key = "answer.oversized" if cue.rule == "S-2.oversized" else "thread.oversized"
    return say(key, b=node(cue.node), t=_of(h, cue))


TELLERS: Final[dict[str, Callable[[Happening, Cue], Sentence | None]]] = {
    "F-7.oversized": _too_large,
    "S-2.limit": _cut_short,
    "S-2.oversized": _too_large,
}


# -- which of a broker's threads ------------------------------------------------------------------

_ANSWERS: Final = (FetchResponse, EpochEndResponse, ListOffsetsResponse, Broken)
Known = dict[tuple[int, int], FetcherThread]
"""(broker, number of its request under way) -> the fetcher that waits for the answer."""


def asking(sim: Simulation) -> Known:
    """Return the fetchers that wait for an answer, at brokers that have several."""
    return {
        (process.id, thread.outstanding): thread
        for process in (broker.process for broker in sim.brokers.values())
        if process is not None and (len(process.fetchers) > 1 or process.num_fetchers > 1)
        for thread in process.fetchers.values()
        if thread.outstanding
    }


def at_work(
    broker: int, what: object, sends: Iterable[Message], before: Known, after: Known
) -> ActingFetcher:
    """Return {"fetcher": its number} at an event in which one of several fetchers acts.

    It is the one whose answer came, else the one that asks now.  `before` and `after` are `asking`
    around the event.
    """
    thread = before.get((broker, what.corr)) if isinstance(what, _ANSWERS) else None
    if thread is None:
        asks = [after[key] for send in sends if (key := (broker, send.corr)) in after]
        thread = asks[0] if len(asks) == 1 else None
    if thread is None:
        return {}
    return {"fetcher": {"node": broker, "leader": thread.leader, "number": thread.fetcher}}
