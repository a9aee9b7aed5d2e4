"""The index of Kafka's sources, and that nothing shown to visitors is a name of another release."""

from __future__ import annotations

import json
from importlib.resources import files
from itertools import pairwise

import pytest

from engine.catalogue.sourcemap import RuleCard, cards
from engine.lens.source import (
    WITHOUT_NAMES,
    SourcePlace,
    key,
    mode_in,
    modes,
    named,
    profile_of,
    release_of,
    source,
)
from engine.model.profiles import PROFILES
from engine.story.rules import RULES
from tests.lens_data import compact, text

PLAYED = [(release, mode) for release in source().releases for mode in modes(release)]
OF_THE_JDK = {"Runtime.halt"}
MOST_BYTES = 400_000


def lacking(card: RuleCard, release: str, mode: str) -> list[str]:
    """The names that the card shows for a release which does not have them."""
    shown = card.classes(profile_of(release, mode))
    return [one for one in shown if one not in OF_THE_JDK and not source().has(release, one)]


@pytest.mark.parametrize(("release", "mode"), PLAYED)
def test_every_name_of_every_card_is_in_the_release_it_is_shown_for(
    release: str, mode: str
) -> None:
    wrong = {rule: lacking(card, release, mode) for rule, card in cards().items()}
    assert {rule: names for rule, names in wrong.items() if names} == {}


@pytest.mark.parametrize("name", PROFILES)
def test_every_name_is_in_the_release_a_profile_behaves_as(name: str) -> None:
    profile = PROFILES[name]
    releases = {release_of(profile)}
    if profile.release[:2] == WITHOUT_NAMES:  # some are of the line before, some of the next one
        releases.add("3.1.2")
    wrong = {
        (rule, shown)
        for rule, card in cards().items()
        for shown in card.classes(profile)
        if shown not in OF_THE_JDK and not any(source().has(one, shown) for one in releases)
    }
    assert wrong == set()


def test_a_wrong_name_is_found() -> None:
    card = cards()["S-7"]
    assert lacking(card, "2.7.2", "zk") == []
    card = RuleCard("S-7")
    card.kafka = [line for line in cards()["S-7"].kafka if line.text == "AlterIsrManager.submit"]
    card.kafka[0] = type(card.kafka[0])("AlterIsrManager.submit", (), (">=2.7",))
    assert lacking(card, "2.7.2", "zk") == ["AlterIsrManager.submit"]
    assert lacking(card, "2.8.2", "zk") == []


def test_names_in_cues_and_posts_are_in_some_release() -> None:
    wanted = {rule.kafka for rule in RULES.values() if rule.kafka} | set(named())
    assert sorted(one for one in wanted if not source().spans(one)) == []
    assert sorted(set(named().values()) - set(cards())) == []


def test_the_index_is_small_and_written_by_its_command() -> None:
    written = files("engine.lens").joinpath("kafka.json").read_text("utf-8")
    assert len(written) <= MOST_BYTES
    assert text(json.loads(written)) == written


SMALL = {
    "files": ["a/A.scala", "b/B.scala", "c/Unused.scala"],
    "read_from": {"2.0.1": "tag 2.0.1-rc0", "2.1.1": "sources jars of 2.1.1"},
    "releases": {
        "2.0.1": {
            "at": {"AbstractFetcherThread.doWork": [1, 7], "ReplicaFetcherThread": [0, 1]},
            "extends": {"ReplicaFetcherThread": ["AbstractFetcherThread"]},
        },
        "2.1.1": {
            "at": {"AbstractFetcherThread.doWork": [1, 9], "AbstractFetcherThread": [1, 3]},
            "extends": {},
        },
    },
    "also": {"AbstractFetcherThread.partitionMapLock": "2.0.1-2.1.1"},
    "threads": {"fetcher": [["2.0.1", "2.1.1", "ReplicaFetcherThread-<fetcher>-<leader>"]]},
    "aliases": {},
    "chains": [
        {"rule": "F-4", "thread": "fetcher", "since": "2.0.1", "until": "2.1.1",
         "frames": ["ReplicaFetcherThread.doWork", "AbstractFetcherThread.doWork"]},
    ],
    "calls": {"ShutdownableThread.run > AbstractFetcherThread.doWork": {"2.0.1": 82, "2.1.1": 82}},
}  # fmt: skip


def test_the_compact_form_keeps_what_the_full_one_says() -> None:
    found = compact(SMALL)
    assert found["files"] == ["a/A.scala", "b/B.scala"]
    assert found["tags"] == {"2.0.1": "2.0.1-rc0"}
    names = found["names"]
    assert names["AbstractFetcherThread.doWork"] == [[0, 1, 7], [1, 1, 9]]
    assert names["ReplicaFetcherThread.doWork"] == [[0, 1, 7], [1]], "inherited, then gone"
    assert names["AbstractFetcherThread.partitionMapLock"] == [[1, 1, 0]], "no class, no file"
    assert found["calls"]["ShutdownableThread.run > AbstractFetcherThread.doWork"] == [[0, 82]]
    assert text(found) == text(compact(SMALL))


def test_places_lead_to_the_line_of_the_tag() -> None:
    index = source()
    place = index.where("3.9.1", "Partition.makeLeader")
    assert place is not None and place.file.endswith("Partition.scala") and place.line > 100
    address = "https://github.com/apache/kafka/blob/3.9.1/"
    assert index.url("3.9.1", place) == f"{address}{place.file}#L{place.line}"
    assert index.url("3.9.1", SourcePlace("a", 0)) == f"{address}a"
    assert index.where("2.0.1", "LeaderEndPoint.fetch") is None
    assert index.spans("LeaderEndPoint.fetch") == [("3.3.2", "4.1.1")]
    assert index.where("2.5.1", "AbstractFetcherThread.partitionMapLock") is not None


def test_lines_of_calls_lie_in_the_caller() -> None:
    """A call stands below the beginning of the method that calls."""
    index = source()
    for chains in index.chains.values():
        for chain in chains:
            for release in index.releases[chain.since : chain.until + 1]:
                for at, (caller, callee) in enumerate(pairwise(chain.frames)):
                    if at + 1 in chain.later:
                        continue
                    place = index.where(release, caller)
                    assert place is not None, (chain.rule, release, caller)
                    line = index.call(release, caller, callee)
                    assert line == 0 or line >= place.line, (chain.rule, release, caller, callee)


def test_releases_and_their_modes() -> None:
    assert key("0.10.2.2") == (0, 10, 2, 2)
    assert (modes("2.5.1"), modes("3.9.1"), modes("4.1.1")) == (
        ("zk",),
        ("zk", "kraft"),
        ("kraft",),
    )
    assert (mode_in("2.5.1", "kraft"), mode_in("3.9.1", "zk"), mode_in("4.1.1", "zk")) == (
        "zk", "zk", "kraft",
    )  # fmt: skip
    assert release_of(PROFILES["K39"]) == "3.9.1"
    assert release_of(PROFILES["Z011"]) == "1.1.1"
