"""The language of moves: scripts, buttons, links and bug reports all speak it.

A move is one line: a verb and its arguments.  Playing it is a series of events; `!n` at its end
stops after the first n, which is how a run is cut in the middle of a move.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Final

from engine.model.configs import NEVER
from engine.model.declared import declared
from engine.model.errors import InputError
from engine.model.messages import (
    BROKEN,
    CONTROLLER,
    FIRST_CONSUMER,
    FIRST_PRODUCER,
    FIRST_VOTER,
    MOST_VOTERS,
    NAMES,
    REPLIES,
)
from engine.model.phrases import capitalized, join, phrase
from engine.model.quorum import Quorum
from engine.scenarios.parts import BrokerSpec, find_broker
from engine.scenarios.spans import DAY_MS, span_ms
from engine.sim.simulation import Simulation

Args = dict[str, Any]
Play = Callable[["Simulation", Args], Iterator[None]]
WhyNot = Callable[["Simulation", Args], str]
Parse = Callable[["Words"], Args]

MAX_LENGTH: Final = 400
KEPT: Final = 2_000
"""Moves whose parsed form is kept, of at most `MAX_LENGTH` characters each."""
MAX_RECORDS: Final = 200
_RATE: Final = re.compile(r"[0-9]{1,5}(?:\.[0-9]{1,3})?")
_ADVANCE: Final = re.compile(r"advance\s+(\S+)")
_LIMIT: Final = re.compile(r"(?<!\s)\s+!([0-9]{1,7})$")
_UNWRITABLE: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f\u2028\u2029\ud800-\udfff]")
_ARROW: Final = re.compile(r"(?:(?<!\s)\s+)?(?:->|→|>)\s*")
_VOTER: Final = re.compile(f"C([1-{MOST_VOTERS}])")
_CLIENT: Final = re.compile("([PC])(1[0-9]|20|[1-9])")
KINDS: Final = {
    name + ("Response" if kind in REPLIES else ""): kind
    for kind, name in NAMES.items()
    if kind != BROKEN
}
"""Name of a kind of message in a move."""
_RECORD: Final = re.compile(r"[A-Za-z0-9_.:'-]{1,24}")


SYNONYMS: Final = {
    "write": ["produce"],
    "send": ["produce"],
    "stop": ["kill", "shutdown"],
    "crash": ["kill"],
    "start": ["restart"],
    "wait": ["advance"],
    "sleep": ["advance"],
    "consume": ["read"],
    "poll": ["read"],
    "network": ["cut"],
    "partition": ["cut"],
    "isolate": ["cut"],
    "freeze": ["pause"],
    "thaw": ["resume"],
    "unplug": ["power"],
    "move": ["reassign"],
}
"""Words that people type -> the moves they mean."""


def label_of(kind: int) -> str:
    """Return the name of a kind of message in a move."""
    return next(word for word, known in KINDS.items() if known == kind)


def invalid(sentence: str, *values: object) -> InputError:
    return InputError("invalid", sentence, *values)


def impossible(sentence: str) -> InputError:
    return InputError("impossible", sentence)


def client_name(node: int) -> str:
    """Return a client as a move writes it: P1 is a producer, C1 a consumer."""
    consumes = node <= FIRST_CONSUMER
    return f"C{FIRST_CONSUMER - node + 1}" if consumes else f"P{FIRST_PRODUCER - node + 1}"


class Words:
    """The words of one move, taken one after another."""

    def __init__(self, text: str, brokers: tuple[BrokerSpec, ...], grammar: str) -> None:
        self.words = _ARROW.sub("->", text).split()[1:]
        self.brokers = brokers
        self.grammar = grammar

    def fail(self, why: str, *values: object) -> InputError:
        return invalid("{0} It is written: {1}", phrase(why, *values), self.grammar)

    def take(self, what: str) -> str:
        if not self.words:
            raise self.fail("{0} is missing.", capitalized(what))
        return self.words.pop(0)

    def finish(self) -> None:
        if self.words:
            raise self.fail("“{0}” is not expected there.", self.words[0])

    def node(self, word: str) -> int:
        """Return a broker by id or name, K, the controller side, or a voter of it: C1."""
        voter = _VOTER.fullmatch(word)
        if voter is not None:
            return FIRST_VOTER - int(voter[1]) + 1
        if word in ("K", "k") or (word.lower() == "controller" and not self.is_broker(word)):
            return CONTROLLER
        return self.broker_of(word)

    def is_broker(self, word: str) -> bool:
        return any(word in spec.spellings for spec in self.brokers)

    def named(self, what: str) -> str:
        """Return the next word; of "broker 2", as the stage writes it, the second one."""
        word = self.take(what)
        if word.lower() == "broker" and self.words and not self.is_broker(word):
            word = self.words.pop(0)
        return word

    def broker_of(self, word: str) -> int:
        try:
            return find_broker(word, self.brokers)
        except InputError as error:
            raise self.fail(error.sentence) from None

    def broker(self) -> int:
        return self.broker_of(self.named("a broker"))

    def duration(self) -> int:
        return self.parse_duration(self.take("a duration"))

    def parse_duration(self, word: str) -> int:
        value = span_ms(word)
        if value < 0:
            raise self.fail("“{0}” is no duration, such as 500 or 1.5s.", word)
        if value > DAY_MS:
            raise self.fail("A duration is at most a day.")
        return value

    def number(self, word: str, high: int) -> int:
        if not (word.isascii() and word.isdecimal()) or len(word) > 9 or int(word) > high:
            raise self.fail("“{0}” is no number up to {1}.", word, high)
        return int(word)

    def client(self, word: str) -> int | None:
        """Return a client: P1 is a producer, C1 a consumer; None for any other word."""
        match = _CLIENT.fullmatch(word)
        if match is None:
            return None
        first = FIRST_PRODUCER if match[1] == "P" else FIRST_CONSUMER
        return first - int(match[2]) + 1

    def end(self, word: str) -> int:
        """Return one end of a link: a broker, K or a client."""
        client = self.client(word)
        return self.node(word) if client is None else client

    def rate(self, word: str) -> float:
        """Return a rate a second, to the thousandth."""
        if not _RATE.fullmatch(word):
            raise self.fail("“{0}” is no number a second, such as 10 or 0.5.", word)
        return float(word)

    def link(self) -> tuple[int, int, bool]:
        """Read `1->2` or `1>2` (one way), or `1 2` (both)."""
        self._part_arrows()
        first = self.end(self.named("a link such as 1->2"))
        one_way = self.words[:1] == ["->"]
        if one_way:
            self.words.pop(0)
        return self._distinct(first, self.end(self.named("a second node")), not one_way)

    def way(self) -> tuple[int, int]:
        """Read `2->1`, one way; the ends may be clients (P1, C1), too."""
        self._part_arrows()
        first = self.named("a direction such as 2->1")
        if self.words[:1] != ["->"]:
            raise self.fail("Say which way, such as 2->1.")
        self.words.pop(0)
        src, dst, _ = self._distinct(
            self.end(first), self.end(self.named("a second node")), both=False
        )
        return src, dst

    def _part_arrows(self) -> None:
        self.words = " ".join(self.words).replace("->", " -> ").split()

    def message_kind(self) -> int:
        """Return a kind of message, such as `Fetch` or `FetchResponse`; 0 = not said."""
        if not self.words:
            return 0
        word = self.words.pop(0)
        if word not in KINDS:
            raise self.fail(
                "“{0}” is no kind of message, such as Fetch or FetchResponse.", word[:40]
            )
        return KINDS[word]

    def _distinct(self, a: int, b: int, both: bool) -> tuple[int, int, bool]:
        if a == b:
            raise self.fail("A link joins two different nodes.")
        return a, b, both


@declared
class Verb:
    """One verb: syntax, purpose, and functions that parse, refuse and play it."""

    name: str
    group: str
    grammar: str
    help: str
    parse: Parse
    play: Play
    why_not: WhyNot


VERBS: Final[dict[str, Verb]] = {}
ALIASES: Final = {"crash": "kill", "power_off": "power", "fetch_req": "ask", "isr_tick": "tick"}


def always(sim: Simulation, args: Args) -> str:
    """Return "": never refused."""
    return ""


def verb(
    name: str, group: str, grammar: str, help: str, parse: Parse, why_not: WhyNot = always
) -> Callable[[Play], Play]:
    """Register a verb; menus, help and completion are made from the registry."""

    def register(play: Play) -> Play:
        VERBS[name] = Verb(name, group, grammar, help, parse, play, why_not)
        return play

    return register


@declared
class Move:
    """A parsed move.  `limit` -1 means all its events."""

    text: str
    verb: Verb
    args: Args
    limit: int


def limit_of(text: str) -> int:
    """Return after how many events a move is cut short, or -1."""
    match = _LIMIT.search(text)
    return int(match[1]) if match else -1


def split(text: str) -> tuple[str, ...]:
    """Return the moves of a text, which are separated by `;` or line breaks."""
    lines = (line.strip() for line in text.replace(";", "\n").splitlines())
    return tuple(line for line in lines if line)


def joined(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return the moves with the last two joined if both let time pass: `advance 3s; advance 3s`."""
    spans = [_ADVANCE.fullmatch(line) for line in lines[-2:]]
    if len(spans) < 2 or not all(spans):
        return lines
    total = sum(span_ms(span[1]) for span in spans if span)
    return (*lines[:-2], f"advance {total}ms") if total <= DAY_MS else lines


def parse(text: str, brokers: tuple[BrokerSpec, ...]) -> Move:
    """Read one line.  Raises InputError("invalid") with one sentence."""
    if len(text) > MAX_LENGTH:
        raise invalid("The move is longer than {0} characters.", MAX_LENGTH)
    move = _parsed(text, brokers)
    return Move(move.text, move.verb, move.args.copy(), move.limit)  # a verb may add to them


@lru_cache(KEPT)
def _parsed(text: str, brokers: tuple[BrokerSpec, ...]) -> Move:
    """Read a line once for all seeds and releases that play it."""
    if _UNWRITABLE.search(text):
        raise invalid("A move is one line of plain characters.")
    line = text.split("#", 1)[0].strip()
    if not line:
        raise invalid("The move is empty; try “settle” or “fetch 2”.")
    limit = -1
    match = _LIMIT.search(line)
    if match:
        limit, line = int(match[1]), line[: match.start()]
    name = line.split()[0]
    if name.startswith("+") and name[1:].isdecimal():
        line, name = f"step {line[1:]}", "step"
    if name.lower() in VERBS:  # as phones write the first word
        line = name.lower() + line[len(name) :]
        name = name.lower()
    name = ALIASES.get(name, name)
    row = VERBS.get(name)
    if row is None:
        near = SYNONYMS.get(name.lower()) or get_close_matches(name, [*VERBS, *ALIASES], 1)
        meant = join([phrase("“{0}”", candidate) for candidate in near], " or ")
        hint = phrase(" Did you mean {0}?", meant) if near else ""
        raise invalid("There is no move “{0}”.{1}", name[:40], hint)
    words = Words(line, brokers, row.grammar)
    args = row.parse(words)
    words.finish()
    return Move(line if limit < 0 else f"{line} !{limit}", row, args, limit)


def play(sim: Simulation, move: Move) -> Iterator[None]:
    """Play a move, event by event.  Raises InputError("impossible") before anything happened."""
    why = why_not(sim, move)
    if why:
        raise impossible(why)
    if move.limit == 0:
        return
    if move.limit > 0:
        sim.rush = False
    enough = sim.events + move.limit if move.limit > 0 else NEVER
    for _ in move.verb.play(sim, move.args):
        yield
        if sim.events >= enough:
            return


def why_not(sim: Simulation, move: Move) -> str:
    """Return the reason why a move cannot be played now, or ""."""
    if sim.cluster.quorum is not None:
        _name_voters(sim.cluster.quorum, move.args)
    return move.verb.why_not(sim, move.args)


def _name_voters(quorum: Quorum, args: Args) -> None:
    """Let C1 at the end of a link be the voter, where there is one, and not a consumer."""
    for key, node in args.items():
        voter = FIRST_VOTER - (FIRST_CONSUMER - node) if isinstance(node, int) else CONTROLLER
        if key in ("a", "b", "src", "dst") and voter in quorum.voters:
            args[key] = voter


def record_names(words: Words) -> list[str]:
    """Return the record names of a produce move, up to the first word that is not one."""
    names: list[str] = []
    while words.words and words.words[0] != "to" and "=" not in words.words[0]:
        name = words.words.pop(0)
        if not _RECORD.fullmatch(name):
            raise words.fail("“{0}” cannot name a record.", name[:40])
        names.append(name)
    if not names:
        raise words.fail("A record is missing.")
    if len(names) > MAX_RECORDS:
        raise words.fail("At most {0} records in one move.", MAX_RECORDS)
    return names
