"""The source map: a card for every rule, and a Kafka class wherever a run plays it."""

from __future__ import annotations

import re

import pytest

from engine.catalogue.sourcemap import NOBODY, RuleCard, card_of, cards, holds, parse
from engine.lens.search import library_steps
from engine.lens.source import modes, profile_of, source
from engine.model.languages import words_of
from engine.model.profiles import FLAGS, PROFILES, get_profile
from engine.scenarios.file import library
from engine.story.rules import BESIDE, RULEBOOK, RULES
from tests.translations import in_code

CLASS = re.compile(r"[A-Z]\w+(\.[a-z]\w*=?)?")
SOURCE = re.compile(r"(KIP|KAFKA)-\d+")
CJK = re.compile(r"[\u4e00-\u9fff]")


def lines_of(card: RuleCard) -> list[str]:
    return [line.text for line in card.lines]


def test_every_rule_and_every_cue_has_a_card() -> None:
    assert set(RULEBOOK) | set(BESIDE) == set(cards())
    assert sorted(rule for rule in RULES if card_of(rule) is None) == []


def test_every_line_can_be_asked_under_every_profile() -> None:
    for card in cards().values():
        for profile in PROFILES.values():
            shown = card.under(profile)
            assert 1 <= len(shown["lines"]) <= 9, (card.id, profile.name)
            assert card.outside or any(line.applies(profile) for line in card.kafka), (
                f"{card.id} does not say who does it under {profile.name}"
            )
        for line in card.lines:
            assert len(line.text) <= 90 and not CJK.search(line.text), line.text


def test_every_line_and_class_applies_to_some_profile() -> None:
    exact = [profile_of(one, mode) for one in source().releases for mode in modes(one)]
    played = [*PROFILES.values(), *exact]
    for card in cards().values():
        for line in (*card.lines, *card.kafka, *card.kip):
            known = any(line.applies(profile) for profile in played)
            assert known, f"{card.id}: {line.text} applies nowhere; is its release known?"


def test_classes_and_proposals_are_written_as_kafka_writes_them() -> None:
    for card in cards().values():
        for profile in PROFILES.values():
            assert all(CLASS.fullmatch(name) for name in card.classes(profile)), card.id
            assert all(SOURCE.fullmatch(name) for name in card.proposals(profile)), card.id
        assert not card.outside or not card.kafka, card.id


def test_marks_of_lines_are_cues_and_every_cue_has_its_line() -> None:
    marked = {cue for card in cards().values() for line in card.lines for cue in line.cues}
    assert marked <= set(RULES)
    assert set(RULES) - marked == set()


def test_whatever_a_run_plays_has_a_class_and_a_line_to_mark() -> None:
    runs = [
        (name, cues)
        for scenario in library().values()
        if scenario.fetching == "manual"
        for name, cues in library_steps()[scenario.code].items()
    ]
    assert len(runs) > 200 and all(get_profile(name).name == name for name, _ in runs)
    assert {(cue, name) for name, cues in runs for cue in cues if not told(cue, name)} == set()


def told(cue: str, name: str) -> bool:
    """Does the card of the cue name, under this profile, the actor and the line?"""
    profile = get_profile(name)
    card = card_of(cue)
    unknown = cue.startswith(("G-", "R-"))  # the lens knows no sources of groups and tiers
    if card is None or not (card.outside or unknown or card.classes(profile)):
        return False
    return any(cue in line.cues for line in card.lines if line.applies(profile))


def test_flags_change_the_pseudo_code() -> None:
    asked = {word.removeprefix("-") for card in cards().values() for word in card.words()}
    untold = set(FLAGS) - asked - {"elr", "isr_propagation", "unclean_default"}
    assert not untold, (
        f"no line of a card below engine/catalogue/cards has ?flag or ?-flag: {untold}"
    )
    mark = cards()["H-2"]
    frozen = [text for text in lines_of(mark) if "committed ISR" in text]
    for name, known in (("K39", True), ("K36", False), ("K39-strict_min_isr", False)):
        shown = [text for text, _ in mark.under(get_profile(name))["lines"]]
        assert (frozen[0] in shown) is known, name


@pytest.mark.parametrize(
    ("rule", "profile", "name"),
    [
        ("CP-ELECT-ZK", "Z0102", "PartitionLeaderSelector"),
        ("CP-ELECT-ZK", "Z33", "ZkPartitionStateMachine.doElectLeaderForPartitions"),
        ("CP-ELECT-KR", "K39", "PartitionChangeBuilder.electLeader"),
        ("L-3", "Z011", "Log.appendAsLeader"),
        ("L-3", "K41", "UnifiedLog.appendAsLeader"),
        ("T-1", "Z011", "ReplicaFetcherThread.maybeTruncate"),
        ("S-7", "Z28", "AlterIsrManager.submit"),
        ("S-7", "Z33", "AlterPartitionManager.submit"),
    ],
)
def test_the_class_of_a_rule_depends_on_the_generation(rule: str, profile: str, name: str) -> None:
    assert name in cards()[rule].classes(get_profile(profile))


def test_a_rule_has_no_class_where_it_does_not_exist() -> None:
    assert cards()["CP-ELECT-KR"].classes(get_profile("Z33")) == []
    assert NOBODY not in cards()["T-4"].classes(get_profile("Z20"))


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("| a line\n", "begins with its rule"),
        ("H-2\nwho Partition\n", "begins no line"),
        ("H-2\n| a\nH-2\n", "a second card"),
    ],
)
def test_a_card_that_cannot_be_read_is_named(text: str, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        parse(text, "cards")


def test_words_of_a_condition() -> None:
    profile = get_profile("K39+truncation=HW-elr_available")
    assert holds("kraft", profile) and not holds("zk", profile)
    assert holds(">=3.9", profile) and holds("<4.0", profile) and not holds("<3.9", profile)
    assert holds("truncation=HW", profile) and holds("-elr", profile)
    with pytest.raises(ValueError, match="no flag"):
        holds("elr_", profile)


def test_tables_in_chinese_have_no_key_of_another_time() -> None:
    said = words_of("tables", "zh-Hans")
    known = in_code()["engine/words/tables"]
    assert sorted(set(said) - set(known)) == [], "nothing is called so any more"
    for key, words in said.items():
        assert CJK.search(words) or words.isascii() or "（KIP" in words, key
        assert not re.search(r"[\u4e00-\u9fff][,;:()?!]|[\u4e00-\u9fff][A-Za-z]", words), key
