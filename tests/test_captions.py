"""Captions: whole sentences, true in the release and at the step they stand at."""

from __future__ import annotations

import pytest

from app.web.home import TOPICS
from engine.model.errors import InputError
from engine.model.profiles import PROFILES, get_profile
from engine.replay.replay import Replay
from engine.scenarios import comments
from engine.scenarios.file import find, library
from engine.scenarios.translated import in_language
from engine.sim.run import Run
from engine.story.beats import words_in
from tests import captions
from tests.conftest import sample
from tests.test_words import MOST_WORDS

FIRST_PAGE = [code for _, codes in TOPICS for code in codes]
CODES = [scenario.code for scenario in library().values() if scenario.code]
SHOWN = [(code, profile) for code in CODES for profile in find(code).profiles]
ELSEWHERE = [
    (code, profile)
    for code in FIRST_PAGE
    for profile in PROFILES
    if profile not in find(code).profiles
]


UNDER_WAY = 8
"""Steps until a producer has the acknowledgement that a broker sends."""


def check(code: str, profile: str) -> list[str]:
    """Return one line for each caption of a run that is not as it should be."""
    scenario = find(code)
    replay = Replay(Run(scenario, profile))
    facts, wrong = replay.facts(), []
    acked: set[str] = set()
    at = 0
    for step, text in facts["beats"]:
        for one in replay.each(at, step + UNDER_WAY):
            acked |= {
                record["id"]
                for part in one["view"]["partitions"]
                for replica in part["replicas"].values()
                for record in replica["records"]
                if record["acked"]
            }
        at = step + UNDER_WAY
        (shown,) = replay.steps(step, 1)
        stage = shown["view"]
        if not text:
            continue
        faults = list(captions.contradictions(text, stage, scenario, acked, facts["verdict"]))
        faults += captions.unknown_words(text, get_profile(profile))
        if not captions.has_subject_and_verb(text):
            faults.append("no subject and verb")
        if not captions.is_whole(text):
            faults.append("half a sentence")
        if words_in(text) > MOST_WORDS:
            faults.append(f"{words_in(text):.0f} words")
        wrong += [f"{code} {profile} step {step}: {text!r}: {fault}" for fault in faults]
    return wrong


@pytest.mark.parametrize(("code", "profile"), [one for one in SHOWN if one[0] in FIRST_PAGE])
def test_captions_of_the_first_page_are_true_in_every_release_it_links_to(
    code: str, profile: str
) -> None:
    assert check(code, profile) == []


@pytest.mark.parametrize(
    ("code", "profile"), sample([one for one in SHOWN if one[0] not in FIRST_PAGE], 24)
)
def test_captions_of_the_library_are_true_in_every_release_it_lists(
    code: str, profile: str
) -> None:
    assert check(code, profile) == []


@pytest.mark.parametrize(("code", "profile"), sample(ELSEWHERE, 144))
def test_captions_of_the_first_page_are_true_in_every_other_release(
    code: str, profile: str
) -> None:
    try:
        wrong = [] if find(code).cannot_begin(profile) else check(code, profile)
    except InputError:
        return  # its moves cannot be played in this release
    assert wrong == []


@pytest.mark.parametrize("code", FIRST_PAGE)
def test_every_caption_of_the_first_page_is_a_beat(code: str) -> None:
    """A caption without its mark, or at the step of another, is never seen."""
    scenario = find(code)
    for profile in scenario.profiles:
        told = {text for _, text in Replay(Run(scenario, profile)).facts()["beats"]}
        lines = [line for line in scenario.lines(profile) if not line.is_expect]
        assert [c.text for line in lines for c in line.captions if c.text not in told] == []
        assert "" not in told, "a step of the first page has a caption of its own"


def test_captions_that_name_a_release_are_bound_to_releases() -> None:
    loose = [
        (scenario.code, parsed.text)
        for scenario in library().values()
        for line in scenario.script.split("\n")
        if (parsed := comments.parse(line.partition("#")[2])).mark is not None
        and captions.names_a_release(parsed.text)
        and not parsed.bound
    ]
    assert loose == []


def test_no_comment_shows_its_brackets() -> None:
    """A release that does not exist, or a mark that is none, would be shown as text."""
    for scenario in library().values():
        for line in scenario.script.split("\n"):
            text = comments.parse(line.partition("#")[2]).text
            assert not text.startswith(("@", "[")), (scenario.code, text)


def test_captions_are_as_short_in_chinese() -> None:
    for code in FIRST_PAGE:
        told = in_language(find(code), "zh-Hans")
        for profile in told.profiles:
            for line in told.lines(profile):
                for caption in line.captions:
                    assert words_in(caption.text) <= MOST_WORDS + 6, (code, caption.text)


def test_a_false_caption_is_found() -> None:
    scenario = find("S30")
    replay = Replay(Run(scenario, "K39"))
    (stage,) = (step["view"] for step in replay.steps(189, 1))
    for text, fault in (
        (
            "Broker 3 is back, and leads: elected from the ELR, with b and c.",
            "broker 3 does not lead",
        ),
        ("Broker 1 is back with a, b and c.", "broker 1 lacks b"),
        ("The partition has no leader: its ISR is empty.", "the partition has a leader"),
        ("No record is lost.", "a record is lost"),
    ):
        assert fault in list(
            captions.contradictions(text, stage, scenario, set(), replay.verdict())
        )
    assert captions.unknown_words("Broker 3 is in the ELR.", get_profile("K39")) == ["ELR"]
    assert not captions.has_subject_and_verb("Confirmed at once: the leader alone has it.")


@pytest.mark.parametrize(
    ("bound", "profiles", "others"),
    [
        ("..3.6", ("K36", "Z0102", "Z28"), ("K39", "K41", "Z33")),
        ("3.7..", ("K39", "Z33", "K41"), ("K36", "K35")),
        ("kraft ..4.0", ("K33", "K39", "K40"), ("Z33", "K41")),
        ("kraft 3.7.., zk 1.0..", ("K39", "Z33"), ("K36", "Z0102")),
        ("K39", ("K39",), ("K41", "K39+elr")),
        ("3.7..", (), ("K39+elr",)),
    ],
)
def test_a_comment_is_bound_to_releases(
    bound: str, profiles: tuple[str, ...], others: tuple[str, ...]
) -> None:
    parsed = comments.parse(f"[{bound}] @leader2 Broker 2 leads.")
    assert (parsed.text, parsed.mark, parsed.which) == ("Broker 2 leads.", "leader", 2)
    assert all(parsed.shown_under(profile) for profile in profiles)
    assert not any(parsed.shown_under(profile) for profile in others)
