"""The deck of Practice: predictions, claims, interview questions and what chapters ask to remember.

Every card has a topic.  A claim that some releases refute and others do not is two cards, one for
a release of each side, so that every card of a claim is true or false.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from engine.learn import judging
from engine.learn.claims import claims
from engine.learn.course import chapter, slugs
from engine.learn.interview import questions
from engine.learn.topics import TOPICS
from engine.model.languages import LANGUAGES

PREDICTION: Final = "prediction"
CLAIM: Final = "claim"
INTERVIEW: Final = "interview"
RECALL: Final = "recall"
PREDICTIONS: Final = (
    ("S02", "K39", "hw", "replication"),
    ("S10", "K39", "leader", "elections"),
    ("S03", "K39", "ack", "durability"),
    ("S39", "K39", "isr", "isr"),
    ("S22", "K39", "truncate", "epochs"),
    ("S08", "K39", "ack", "durability"),
    ("S13", "K39", "leader", "elections"),
    ("S22", "K39", "epochs", "epochs"),
    ("R20", "Z0102", "truncate", "epochs"),
    ("S05", "K39", "ack", "durability"),
    ("S29", "K39", "survive", "durability"),
    ("S22", "K39", "survive", "durability"),
    ("S03", "K39", "truncate", "epochs"),
    ("S16", "K39", "ack", "kraft"),
    ("S06", "K39", "hw", "isr"),
    ("S23", "Z011", "survive", "epochs"),
    ("S11", "K39", "leader", "elections"),
    ("S05", "K39", "isr", "isr"),
    ("S21", "Z0102", "cause", "upgrades"),
    ("S30", "K41", "leader", "kraft"),
    ("S01", "K39", "since", "upgrades"),
    ("S24", "Z20", "leo", "replication"),
    ("S33", "K39", "order", "replication"),
    ("S12", "K39", "leader", "elections"),
    ("S27", "Z011", "do", "isr"),
    ("S31", "K41", "ack", "durability"),
    ("S04", "K39", "truncate", "epochs"),
    ("S25", "K39", "epochs", "epochs"),
    ("S83", "K39", "ack", "kraft"),
    ("S13", "K39", "survive", "durability"),
    ("S32", "K33", "isr", "isr"),
    ("S07", "K39", "since", "upgrades"),
    ("S26", "K39", "leo", "replication"),
    ("S15", "K39", "order", "elections"),
    ("S40", "K39", "isr", "kraft"),
    ("S20", "Z0102", "leader", "upgrades"),
    ("S48", "K39", "truncate", "replication"),
    ("S17", "Z33", "epochs", "epochs"),
    ("S90", "K39", "leader", "groups"),
    ("S52", "Z24", "isr", "upgrades"),
    ("S95", "K39", "leader", "tiered"),
    ("S09", "Z08", "isr", "upgrades"),
)
"""(scenario, profile, kind, topic): the best question of this kind in this run, easy ones first."""
CHAPTER_TOPICS: Final = {
    "a-log": "replication",
    "followers-fetch": "replication",
    "high-watermark": "replication",
    "in-sync": "isr",
    "acks": "durability",
    "who-leads-next": "elections",
    "lost-before-011": "upgrades",
    "epochs": "epochs",
    "after-kip-101": "epochs",
    "disk-under-it": "durability",
    "controller": "kraft",
    "on-call": "durability",
}


@dataclass(frozen=True, slots=True)
class PracticeCard:
    """A card; `right` is the answer of a claim, None for the other kinds.

    `name` is the claim's slug, the question's number or the chapter's slug; a prediction's name is
    its scenario.  `profile` is "" where no release is named.
    """

    id: str
    kind: str
    topic: str
    name: str
    profile: str = ""
    ask: str = ""
    """Of a prediction: its kind of question."""
    number: int = 0
    """Of a chapter: which of its cards, from 1."""
    right: bool | None = None


@cache
def deck() -> dict[str, PracticeCard]:
    """Return every card by its id, topic after topic."""
    found = [*_predictions(), *_claims(), *_interview(), *_recall()]
    found.sort(key=lambda one: TOPICS.index(one.topic))
    return {one.id: one for one in found}


def _predictions() -> list[PracticeCard]:
    return [
        PracticeCard(f"{code} {profile} {ask}", PREDICTION, topic, code, profile, ask)
        for code, profile, ask, topic in PREDICTIONS
    ]


def _claims() -> list[PracticeCard]:
    cards = []
    for slug, claim in claims().items():
        for profile, right in judging.sides(claim):
            name = f"{slug}@{profile}" if profile else slug
            cards.append(PracticeCard(name, CLAIM, claim.topic, slug, profile, right=right))
    return cards


def _interview() -> list[PracticeCard]:
    return [PracticeCard(one.id, INTERVIEW, one.topic, one.id) for one in questions().values()]


def _recall() -> list[PracticeCard]:
    return [
        PracticeCard(f"{slug}-{n}", RECALL, CHAPTER_TOPICS[slug], slug, number=n)
        for slug in slugs()
        for n in range(1, len(chapter(slug, LANGUAGES[0]).cards) + 1)
    ]
