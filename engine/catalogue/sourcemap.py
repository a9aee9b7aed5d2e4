"""The source map: each rule in a few lines of pseudo-code, and the Kafka classes that do it.

`cards/*.txt` hold the cards.  One begins with the rule's identifier on a line of its own; then

    kafka Partition.makeLeader, …   the classes that do it; — none in this generation
    kip KIP-497                     where it was proposed or mended
    outside                         no part of Kafka does it: a fault, a procedure
    see H-2                         a cue that shows it, where its own do not tell enough
    | if candidate > HW: HW := …    a line of pseudo-code, in Kafka's names and in no language

Behind two spaces a line may say which cues it stands for (@H-2,H-4) and when it applies (?strict):
all of the words that follow must hold.  A word is a flag (elr), its absence (-elr), a mode (zk,
kraft), a span of releases (>=2.4, <3.1) or of truncation (truncation=HW, >=KIP101, <FETCH).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Final

from engine.model.declared import begins, declared, fresh
from engine.model.profiles import FLAGS, KRAFT, TRUNCATIONS, ZK, Profile

NOBODY: Final = "—"
FILES: Final = ("log", "fetch", "clients", "control")

_HEAD: Final = re.compile(r"[A-Z]+(?:-[A-Z0-9]+)+(?:\.\d+)?")
_TAIL: Final = re.compile(r"^(?P<text>.*?)(?:  @(?P<cues>\S+))?(?:  \?(?P<when>\S.*))?$")
_SPAN: Final = re.compile(r"(truncation)?(>=|<|=)([A-Z0-9.]+)")


@declared
class CardLine:
    """A line of a card: `text`, the cues it stands for, and the words that must hold for it."""

    text: str
    cues: tuple[str, ...]
    when: tuple[str, ...]

    def applies(self, profile: Profile) -> bool:
        return all(holds(word, profile) for word in self.when)


@declared
class RuleCard:
    """One rule: pseudo-code, Kafka's classes, proposals; `outside`: no part of Kafka does it."""

    id: str
    outside: bool = begins(False)
    lines: list[CardLine] = fresh(list)
    kafka: list[CardLine] = fresh(list)
    kip: list[CardLine] = fresh(list)
    see: list[CardLine] = fresh(list)

    def classes(self, profile: Profile) -> list[str]:
        """Return the classes that do it under this profile; none where the rule is absent."""
        return [name for name in _names(self.kafka, profile) if name != NOBODY]

    def is_absent(self, profile: Profile) -> bool:
        """Check whether other releases have a class for it, and this one has none."""
        return bool(_every_name(self.kafka)) and not self.classes(profile)

    def proposals(self, profile: Profile) -> list[str]:
        return _names(self.kip, profile)

    def shown_by(self, profile: Profile) -> list[str]:
        """Return the cues that show it under this profile: its own, and its enclosing step's."""
        own = [cue for line in self.lines if line.applies(profile) for cue in line.cues]
        mine = [cue for cue in own if cue == self.id or cue.startswith(f"{self.id}.")]
        return [*sorted(mine, key=len), *_names(self.see, profile)]

    def words(self) -> set[str]:
        """Return every word its lines depend on."""
        rows = (*self.lines, *self.kafka, *self.kip, *self.see)
        return {word for line in rows for word in line.when}

    def under(self, profile: Profile) -> dict[str, object]:
        """Return {lines: [[text, cues]], kafka, kip, outside} as this profile has it."""
        return {
            "lines": [[line.text, line.cues] for line in self.lines if line.applies(profile)],
            "kafka": self.classes(profile),
            "kip": self.proposals(profile),
            "outside": self.outside,
        }


def _every_name(lines: Iterable[CardLine]) -> list[str]:
    return [line.text for line in lines if line.text != NOBODY]


def _names(lines: Iterable[CardLine], profile: Profile) -> list[str]:
    found = [line.text.split(", ") for line in lines if line.applies(profile)]
    return list(dict.fromkeys(name for names in found for name in names))


def holds(word: str, profile: Profile) -> bool:
    """Check whether one word of a condition holds.  Raises ValueError for an unknown word."""
    if word in (ZK, KRAFT):
        return profile.mode == word
    flag = word.removeprefix("-")
    if flag in FLAGS:
        return bool(getattr(profile, flag)) != word.startswith("-")
    span = _SPAN.fullmatch(word)
    if span is None:
        raise ValueError(f"{word} is no flag, mode or span")
    ours = profile.release
    bound = tuple(int(part) for part in span[3].split(".")) if not span[1] else ()
    if span[1]:
        ours, bound = (profile.truncation,), (TRUNCATIONS.index(span[3]),)
    return {">=": ours >= bound, "<": ours < bound, "=": ours == bound}[span[2]]


def parse(text: str, name: str = "") -> dict[str, RuleCard]:
    """Return the cards of one file.  Raises ValueError naming the line that cannot be read."""
    by_rule: dict[str, RuleCard] = {}
    card: RuleCard | None = None
    for number, row in enumerate(text.splitlines(), 1):
        where = f"{name}:{number}"
        if not row or row.startswith("#"):
            continue
        if _HEAD.fullmatch(row):
            if row in by_rule:
                raise ValueError(f"{where}: a second card for {row}")
            card = by_rule[row] = RuleCard(row)
        elif card is None:
            raise ValueError(f"{where}: a card begins with its rule")
        elif row == "outside":
            card.outside = True
        else:
            kind, _, rest = row.partition(" ")
            rows = {"|": card.lines, "kafka": card.kafka, "kip": card.kip, "see": card.see}
            place = rows.get(kind)
            if place is None:
                raise ValueError(f"{where}: “{kind}” begins no line of a card")
            match = _TAIL.match(rest)
            assert match is not None
            cues = tuple((match["cues"] or "").split(",")) if match["cues"] else ()
            place.append(CardLine(match["text"], cues, tuple((match["when"] or "").split())))
    return by_rule


@cache
def cards() -> dict[str, RuleCard]:
    by_rule: dict[str, RuleCard] = {}
    for name in FILES:
        text = files("engine.catalogue").joinpath("cards", f"{name}.txt").read_text("utf-8")
        by_rule.update(parse(text, name))
    return by_rule


def card_of(cue: str) -> RuleCard | None:
    """Return the card that a cue belongs to: H-2 for H-2.min_isr, CP-8.1 for CP-8.1.kill."""
    name = cue
    while name not in cards() and "." in name:
        name = name.rpartition(".")[0]
    return cards().get(name)
