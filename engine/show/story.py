"""Cues and messages into sentences: a key of the catalogue and typed entities, never glued text."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib.resources import files
from typing import Any, Final

from engine.model import messages, timers
from engine.model.effects import Cue
from engine.model.errors import NONE, name_of
from engine.model.messages import CONTROLLER, Message
from engine.show.rules import RULES
from engine.show.view import node_name
from engine.sim.kernel import DELIVERY, TIMER

Sentence = dict[str, Any]
LANGUAGES: Final = ("en", "zh-Hans")


def node(number: int) -> dict[str, Any]:
    """An entity: a broker, the controller side, or a client."""
    if number >= 0:
        return {"b": number}
    return {"k": "K"} if number == CONTROLLER else {"c": node_name(number)}


def offset(value: Any) -> dict[str, Any]:
    return {"o": value}


def epoch(value: Any) -> dict[str, Any]:
    return {"e": value}


def number(value: Any) -> dict[str, Any]:
    return {"n": value}


def records(values: Any) -> dict[str, Any]:
    return {"m": ", ".join(values) if isinstance(values, tuple | list) else str(values)}


def brokers(ids: Any) -> dict[str, Any]:
    return {"bs": list(ids)}


def error(code: Any) -> dict[str, Any]:
    return {"x": name_of(code) if isinstance(code, int) else str(code)}


# -- what arrived ----------------------------------------------------------------------------------


def tell_message(m: Any) -> Sentence | None:
    """The sentence of a delivery, before its consequences."""
    kind = m.kind
    src, dst = node(m.src), node(m.dst)
    if kind == messages.FETCH:
        if not m.partitions:
            return None
        fp = m.partitions[0]
        args = {"f": src, "l": dst, "o": offset(fp.offset)}
        if fp.last_epoch >= 0:
            return {"key": "fetch.ask.epoch", "args": {**args, "e": epoch(fp.last_epoch)}}
        return {"key": "fetch.ask", "args": args}
    if kind == messages.FETCH_R:
        return _tell_fetch_answer(m, src, dst)
    if kind == messages.EPOCH_END and m.partitions:
        asked = m.partitions[0][1]
        return {"key": "epoch.ask", "args": {"f": src, "l": dst, "e": epoch(asked)}}
    if kind == messages.EPOCH_END_R and m.partitions:
        _, code, found, end = m.partitions[0]
        if code:
            return {"key": "answer.error", "args": {"a": src, "b": dst, "x": error(code)}}
        key = "epoch.answer" if end >= 0 else "epoch.unknown"
        return {"key": key, "args": {"l": src, "f": dst, "e": epoch(found), "o": offset(end)}}
    if kind == messages.LIST_OFFSETS:
        key = "offsets.latest" if m.timestamp == messages.LATEST else "offsets.earliest"
        return {"key": key, "args": {"f": src, "l": dst}}
    if kind == messages.LIST_OFFSETS_R:
        return {"key": "offsets.answer", "args": {"l": src, "f": dst, "o": offset(m.offset)}}
    if kind == messages.PRODUCE:
        acks = {-1: "all"}.get(m.acks, str(m.acks))
        return {
            "key": "produce.ask",
            "args": {"p": src, "l": dst, "m": records(m.values), "a": {"s": acks}},
        }
    if kind == messages.PRODUCE_R:
        key = "produce.acked" if m.error == NONE else "produce.failed"
        args = {"p": dst, "m": records(m.values), "x": error(m.error), "o": offset(m.base)}
        return {"key": key, "args": args}
    if kind == messages.ALTER_PARTITION:
        isr = [b for b, _ in m.items[0].isr]
        return {"key": "alter.ask", "args": {"l": src, "i": brokers(isr)}}
    if kind == messages.BROKEN:
        return {"key": "connection.broken", "args": {"a": dst, "b": src}}
    key = f"message.{messages.NAMES[kind]}" + (".reply" if kind in messages.REPLIES else "")
    return {"key": key, "args": {"a": src, "b": dst}}


def _tell_fetch_answer(m: Any, src: Any, dst: Any) -> Sentence | None:
    if not m.partitions:
        return None
    data = m.partitions[0]
    if data.error:
        return {"key": "answer.error", "args": {"a": src, "b": dst, "x": error(data.error)}}
    if data.diverging is not None:
        found, end = data.diverging
        return {
            "key": "fetch.diverging",
            "args": {"l": src, "f": dst, "e": epoch(found), "o": offset(end)},
        }
    count = sum(len(batch.values) for batch in data.batches)
    key = "fetch.give" if count else "fetch.nothing"
    return {
        "key": key,
        "args": {"l": src, "f": dst, "n": number(count), "hw": offset(data.hw)},
    }


def tell_timer(at: int, what: Any) -> Sentence:
    """A timer fired, or a hand did what a timer or a client does."""
    if isinstance(what, tuple):
        name = timers.NAMES[what[0]]
    else:
        name = str(what)
    key = TIMER_KEYS.get(name, "timer")
    return {"key": key, "args": {"a": node(at), "t": {"s": name}}}


# -- what it changed -------------------------------------------------------------------------------


def tell_cue(cue: Cue) -> Sentence | None:
    """The sentence of one consequence, or None when there is nothing to tell."""
    rule, at, field, old, new = cue
    known = RULES.get(rule)
    if known is None or not known.say:
        return None
    key = known.say
    args: dict[str, Any] = {"b": node(at)}
    if rule in ("L-3.refused", "P-2", "P-4.answer"):
        args |= {"m": records(old), "x": error(new)}
        if rule == "P-4.answer":
            key = "ack.ok" if new == NONE else "ack.error"
    elif rule in ("S-4", "S-7.epoch_start"):
        args |= {"f": node(int(field.split()[1])), "o": offset(old if "start" in rule else new)}
        args["e"] = offset(new)
    elif rule in ("S-7", "S-8", "S-9", "S-9.rejected"):
        changed = sorted(set(old).symmetric_difference(new))
        args |= {"i": brokers(new), "w": brokers(changed)}
    elif rule in ("CP-ISR", "CP-ELR"):
        args |= {"i": brokers(new)}
        if rule == "CP-ELR" and not new:
            key = "elr.empty"
    elif rule in ("CP-ELECT-KR", "CP-ELECT-ZK"):
        args = {"k": node(CONTROLLER), "b": node(new), "old": node(max(old, 0))}
        if new < 0:
            key = "lead.none"
    elif rule == "S-3":
        args |= {"e": epoch(new[0]), "o": offset(new[1])}
    elif rule in ("CP-MAKE-LEADER", "CP-MAKE-FOLLOWER"):
        args |= {"e": epoch(new)}
    elif rule in ("CP-KR-FENCE", "CP-KR-UNFENCE", "CP-KR-SHUTDOWN", "CP-ZK-BROKERS"):
        args = {"k": node(at), "b": node(int(field.split()[1]))}
    elif rule in ("CP-8.5.cut", "CP-8.5.heal", "CP-8.6.slow", "CP-8.6.lose", "CP-8.5.drop"):
        args |= _tell_link(rule, new)
    elif rule == "L-11":
        args |= {"n": number(old - new), "o": offset(new)}
    elif rule in ("S-2.epoch_check", "CP-ALTER", "F-8", "S-9.pending"):
        args |= {"x": error(new if new is not None else "network error")}
        if rule == "CP-ALTER":
            args["l"] = node(old)
    elif rule == "CP-12":
        args = {"c": {"s": str(old)}, "v": {"s": str(new)}}
    else:
        args |= {"a": offset(old), "o": offset(new)}
        if rule == "H-4" and isinstance(old, int) and new < old:
            key = "hw.down"
    return {"key": key, "args": args}


def _tell_link(rule: str, new: Any) -> dict[str, Any]:
    args = {"x": node(new[0]), "y": node(new[1])}
    if len(new) > 2:
        args["n"] = number(new[2])
    return args


def tell(kind: int, at: int, what: Any, cues: list[Cue]) -> tuple[list[Sentence], list[Sentence]]:
    """(what happened and what followed, why) for one event."""
    said: list[Sentence] = []
    if kind == DELIVERY and isinstance(what, Message):
        first = tell_message(what)
    elif kind == TIMER:
        first = tell_timer(at, what)
    else:
        first = None
    if first is not None:
        said.append(first)
    for cue in cues:
        sentence = tell_cue(cue)
        if sentence is not None and sentence not in said:
            said.append(sentence)
    if not said:
        said.append(tell_timer(at, what if isinstance(what, str) else "event"))
    return said, _why(cues)


def _why(cues: list[Cue]) -> list[Sentence]:
    """The reason behind the weightiest consequence."""
    best = None
    for cue in cues:
        rule = RULES.get(cue[0])
        if rule is not None and rule.why and (best is None or rule.moment > best.moment):
            best = rule
    return [] if best is None else [{"key": best.why, "args": {}}]


def moment(kind: int, what: Any, cues: list[Cue], broken: bool) -> int:
    """How much this step matters, 0 - 3."""
    weight = 3 if broken else 0
    for cue in cues:
        rule = RULES.get(cue[0])
        if rule is not None:
            weight = max(weight, rule.moment)
    return weight


MARKS: Final = {
    "CP-ELECT-KR": "leader",
    "CP-ELECT-ZK": "leader",
    "CP-MAKE-LEADER": "leader",
    "T-0": "truncation",
    "T-1": "truncation",
    "T-2": "truncation",
    "T-4": "truncation",
    "F-9": "truncation",
    "CP-8.1.kill": "fault",
    "CP-8.1.power": "fault",
    "CP-8.1.wipe": "fault",
    "CP-8.3.pause": "fault",
    "CP-8.5.cut": "fault",
    "CP-8.5.drop": "fault",
    "CP-10.down": "fault",
    "CP-8.2.start": "heal",
    "CP-8.3.resume": "heal",
    "CP-8.5.heal": "heal",
    "CP-10.up": "heal",
    "CP-ISR": "isr",
    "P-2": "ack",
    "P-4.answer": "ack",
}


# -- words -----------------------------------------------------------------------------------------


@cache
def words(language: str) -> dict[str, str]:
    """The catalogue of sentences in one language: key -> text with {placeholders}."""
    text = files("engine.show").joinpath("words", f"{language}.json").read_text("utf-8")
    found: dict[str, str] = json.loads(text)
    return found


_PLACE: Final = re.compile(r"\{(\w+)\}")


TIMER_KEYS: Final = {
    "fetcher": "timer.fetcher",
    "fetch expires": "timer.fetch_expires",
    "purgatory": "timer.purgatory",
    "isr-expiration": "timer.isr_expiration",
    "highwatermark-checkpoint": "timer.checkpoint",
    "checkpoint": "timer.checkpoint",
    "heartbeat": "timer.heartbeat",
    "session check": "timer.session_check",
    "register": "timer.register",
    "metadata commit": "timer.commit",
    "client": "timer.client",
    "client retry": "timer.client_retry",
    "produce": "timer.produce",
    "read": "timer.read",
    "fetching": "timer.fetching",
    "elect": "timer.admin",
    "set": "timer.admin",
    "flush": "timer.flush",
}


def render(sentence: Sentence, names: dict[int, str] | None = None, language: str = "en") -> str:
    """A sentence as plain text, for terminals and for pages without scripts."""
    catalogue = words(language)
    template = catalogue.get(sentence["key"], sentence["key"])
    args = sentence["args"]

    def put(match: re.Match[str]) -> str:
        return entity_text(args.get(match[1], {}), names or {}, catalogue)

    text: str = _PLACE.sub(put, str(template))
    return text[:1].upper() + text[1:]


def entity_text(entity: dict[str, Any], names: dict[int, str], catalogue: dict[str, str]) -> str:
    """One typed entity as text."""
    if "b" in entity:
        return catalogue["entity.broker"].replace("{b}", names.get(entity["b"], str(entity["b"])))
    if "k" in entity:
        return catalogue["entity.controller"]
    if "bs" in entity:
        return "[" + ", ".join(names.get(b, str(b)) for b in entity["bs"]) + "]"
    return "".join(str(value) for value in entity.values())
