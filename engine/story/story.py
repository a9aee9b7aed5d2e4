"""The story of a step: the one sentence that matters, what else is worth saying, and why."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from engine.model.effects import Cue
from engine.model.errors import name_in
from engine.model.flags import Release
from engine.model.languages import USUAL, words_of
from engine.model.messages import FETCH, FETCH_R, PRODUCE, Message
from engine.model.phrases import Entity
from engine.sim.kernel import DELIVERY, FAILURE
from engine.story.arrival_sentences import TIMERS, tell_arrival, tell_quiet, tell_sent
from engine.story.cue_sentences import reason, speaks, tell_cue
from engine.story.entities import Happening, say
from engine.story.rules import RULES
from engine.view.wire import Sentence

MOST_SENTENCES: Final = 4
WEIGHTY: Final = 2
"""From this moment on a consequence, and not what arrived, is the sentence of the step."""

ROUTINE: Final = frozenset(
    (
        "answer.ignored",
        "fetch.got",
        "fetch.nothing",
        "fetch.waits",
        "heartbeat.answered",
        "heartbeat.got",
        "message.LeaderAndIsr",
        "metadata.applied",
        "metadata.waits",
        "register.got",
        "shutdown.got",
        "shutdown.wait",
        "dirs.got",
    )
)
"""Shown only when there is nothing else."""

COVERS: Final[dict[str, frozenset[str]]] = {
    "ack.one": frozenset(("append.leader",)),
    "fetch.diverge": frozenset(("leader.learns",)),
    "hw.up.append": frozenset(("append.leader",)),
    "hw.up.fetch": frozenset(("leader.learns",)),
    "isr.expand": frozenset(("alter.ask",)),
    "isr.shrink": frozenset(("alter.ask",)),
    "isr.shrink.far": frozenset(("alter.ask",)),
    "lead.leaving": frozenset(("member.leaving",)),
    "lead.silent": frozenset(("member.out",)),
    "session.anew": frozenset(("session.heard",)),
    "trunc.range": frozenset(("offsets.end.heard",)),
    "trunc.restart": frozenset(("offsets.start.heard",)),
}
"""Sentence -> those that would only repeat it."""

_PLACE: Final = re.compile(r"\{(\w+)\}")
_CLIENT: Final = re.compile(r"([PC])(\d+)")
_NAMED: Final = re.compile(r"(?<![\w-])[PC]\d(?!\w)")


Consequence = tuple[int, Cue, Sentence]
"""(moment, cue, its sentence)"""


# -- sentences ------------------------------------------------------------------------------------


def tell(happening: Happening) -> tuple[list[Sentence], list[Sentence]]:
    """Return ([the one sentence of the step, then details], why) for one event.

    The first sentence is the weightiest consequence if one has moment 2 or more, else what
    happened; at most four sentences, none of which repeats another.
    """
    followed = _consequences(happening)
    happened = _happened(happening)
    weightiest = max(followed, key=lambda entry: entry[0], default=None)
    if happened and (weightiest is None or weightiest[0] < WEIGHTY):
        first = happened[0]
    elif weightiest is not None:
        first = weightiest[2]
    else:
        first = tell_quiet(happening)
    heavy = [sentence for weight, _, sentence in followed if weight >= WEIGHTY]
    light = [sentence for weight, _, sentence in followed if weight < WEIGHTY]
    details = _details(first, [*heavy, *happened, *light, *_also_sent(happening)])
    why = _why(happening, weightiest)
    release = happening.sim.profile.release
    return [_named(sentence, release) for sentence in (first, *details)], [
        _named(sentence, release) for sentence in why
    ]


def _named(sentence: Sentence, release: Release) -> Sentence:
    """Return the sentence with errors under the names that they have in this release."""
    args: dict[str, Entity] = {
        key: {"x": name_in(release, value["x"])} if "x" in value else value
        for key, value in sentence["args"].items()
    }
    return {"key": sentence["key"], "args": args}


def _consequences(h: Happening) -> list[Consequence]:
    """Return (moment, cue, sentence) of every cue that is worth a sentence."""
    consequences = []
    for cue in h.cues:
        sentence = tell_cue(h, cue)
        if sentence is not None:
            consequences.append((_weight(h, cue), cue, sentence))
    return consequences


def _weight(h: Happening, cue: Cue) -> int:
    """Return the rule's moment; a refused waiting fetch is only a part of what ended it."""
    rule = RULES.get(cue.rule)
    if rule is None or (cue.rule == "S-2.epoch_check" and h.delivered(FETCH) is None):
        return 0
    return rule.moment


def _happened(h: Happening) -> list[Sentence]:
    """Return what arrived, or what a timer or a hand made a node send.  A fault has cues."""
    if h.kind == FAILURE:
        return []
    if isinstance(h.what, tuple) and h.what[0] in TIMERS:
        return [TIMERS[h.what[0]](h)]
    if h.kind != DELIVERY or not isinstance(h.what, Message):
        return tell_sent(h.sends)
    arrived = tell_arrival(h)
    return [] if arrived is None else [arrived]


def _also_sent(h: Happening) -> list[Sentence]:
    """Return what an arrival set free: waiting fetches, and what a client now sends (again)."""
    if h.kind != DELIVERY or not isinstance(h.what, Message):
        return []
    answered = (h.what.src, h.what.corr)
    freed = [m for m in h.sends if m.kind == FETCH_R and (m.dst, m.corr) != answered]
    return tell_sent([*freed, *(m for m in h.sends if m.kind == PRODUCE)])


def _details(first: Sentence, sentences: list[Sentence]) -> list[Sentence]:
    """Return the further sentences: nothing twice, nothing obvious, and not too much."""
    covered = COVERS.get(first["key"], frozenset())
    details: list[Sentence] = []
    for sentence in sentences:
        key = sentence["key"]
        if key not in covered and key not in ROUTINE and sentence not in (first, *details):
            details.append(sentence)
    return details[: MOST_SENTENCES - 1]


def _why(h: Happening, weightiest: Consequence | None) -> list[Sentence]:
    """Return the reason of the weightiest consequence, or of the event if nothing weighs."""
    if weightiest is not None and weightiest[0] >= WEIGHTY:
        key = reason(weightiest[1], weightiest[2])
        return [say(key)] if key else []
    spoken = [cue for cue in h.cues if speaks(h, cue)]
    best = max(spoken, key=lambda cue: RULES[cue.rule].moment, default=None)
    return [] if best is None else [say(reason(best, None))]


def mark(cue: Cue) -> str:
    """Return the kind of mark that a step with this cue gets on the rail, or ""."""
    rule = RULES.get(cue.rule)
    return rule.mark if rule else ""


def moment(kind: int, what: Any, cues: list[Cue], broken: bool) -> int:
    """Return how much this step matters, 0 - 3."""
    weight = 3 if broken else 0
    for cue in cues:
        rule = RULES.get(cue.rule)
        if rule is not None:
            weight = max(weight, rule.moment)
    return weight


# -- words ----------------------------------------------------------------------------------------


STORY: Final = "story"
"""The subject of its words."""


def render(sentence: Sentence, names: dict[int, str] | None = None, language: str = USUAL) -> str:
    """Return a sentence as plain text, for terminals and for pages without scripts.

    Raises KeyError for a sentence or an argument that does not exist: a gap is an error.
    """
    catalogue = words_of(STORY, language)
    args = sentence["args"]

    def put(match: re.Match[str]) -> str:
        return entity_text(args[match[1]], names or {}, catalogue)

    text: str = _PLACE.sub(put, catalogue[sentence["key"]])
    return text[:1].upper() + text[1:]


def entity_text(entity: Entity, names: dict[int, str], catalogue: Mapping[str, str]) -> str:
    if "b" in entity:
        name = names.get(entity["b"], str(entity["b"]))
        return catalogue["entity.broker"].replace("{b}", name)
    if "k" in entity:
        return catalogue["entity.controller"]
    if "v" in entity:
        return f"C{entity['v']}"
    if "c" in entity:
        return client_text(str(entity["c"]), catalogue)
    if "bs" in entity:
        return "[" + ", ".join(names.get(b, str(b)) for b in entity["bs"]) + "]"
    if "bl" in entity:
        brokers = [entity_text({"b": b}, names, catalogue) for b in entity["bl"]]
        return _listed(brokers, catalogue)
    if "ms" in entity:
        return _listed(entity["ms"], catalogue)
    return "".join(str(value) for value in entity.values())


def client_text(name: str, catalogue: Mapping[str, str]) -> str:
    """Return a client's name for readers: P1 is producer 1."""
    match = _CLIENT.fullmatch(name)
    if not match:
        return name
    key = "entity.producer" if match[1] == "P" else "entity.consumer"
    return catalogue[key].replace("{n}", match[2])


def in_words(comment: str) -> str:
    """Return a script's comment with its clients' names spelled out: "C1" becomes consumer 1.

    In every language, since scripts write clients the same in each.
    """

    def put(match: re.Match[str]) -> str:
        client = client_text(match[0], words_of(STORY, USUAL))
        return client.capitalize() if match.start() == 0 else client

    return _NAMED.sub(put, comment)


def _listed(texts: list[str], catalogue: Mapping[str, str]) -> str:
    """Return `m3, m4 and m5`."""
    *before, last = texts
    if not before:
        return last
    return catalogue["entity.comma"].join(before) + catalogue["entity.and"] + last
