"""Search by method, class, KIP or JIRA number: what is found acts there."""

from __future__ import annotations

import pytest

from engine.catalogue.sourcemap import cards
from engine.lens.search import hit, names, search, steps_of
from engine.lens.source import named, release_of, source
from engine.lens.stacks import stack
from engine.model.profiles import get_profile
from tests.conftest import sample


def test_search_needs_each_word_in_a_name() -> None:
    found = search("where truncateToEpochEndOffsets")
    assert found == (), "each word has to be in the name"
    first, *_ = search("truncateToEpochEndOffsets")
    assert first.name == "AbstractFetcherThread.truncateToEpochEndOffsets"
    assert "T-2" in first.rules and first.threads == ("ReplicaFetcherThread-<fetcher>-<leader>",)
    assert first.spans == (("2.1.1", "4.1.1"),)
    assert first.acts
    for act in first.acts:
        profile = get_profile(act.profile)
        frames = stack(act.cue, release_of(profile), profile.mode).frames
        assert first.name in {frame.name for frame in frames}, act
        assert act in steps_of()[act.cue]


@pytest.mark.parametrize("name", sample([*named()], 4))
def test_names_of_posts_are_found(name: str) -> None:
    (found,) = [one for one in search(name) if one.name == name]
    assert set(found.rules) >= {named()[name]}
    assert found.spans


@pytest.mark.parametrize(
    "name",
    [
        "AbstractFetcherThread.partitionMapLock",
        "DelayedOperationPurgatory.tryCompleteElseWatch",
        "ReplicaManager.delayedProducePurgatory",
        "AbstractFetcherThread.doWork",
        "ReplicaFetcherThread.processPartitionData",
        "AbstractFetcherThread.handlePartitionsWithErrors",
    ],
)
def test_methods_lead_to_a_run(name: str) -> None:
    assert hit(name).acts, name


def test_proposals_are_found() -> None:
    (found,) = [one for one in search("kip-101") if one.name == "KIP-101"]
    assert found.kip and "T-1" in found.rules and found.acts
    assert any(one.name.startswith("KAFKA-") for one in search("KAFKA-7128"))


def test_every_card_name_of_every_release_is_known() -> None:
    written = {
        name for card in cards().values() for line in card.kafka for name in line.text.split(", ")
    }
    lacking = written - set(names()) - {"—", "Runtime.halt"}
    assert sorted(lacking) == []
    assert all(source().spans(name) for name in names())


def test_the_closest_come_first_and_questions_are_bounded() -> None:
    found = [one.name for one in search("maybetruncate()")]
    assert {one.rpartition(".")[2] for one in found[:2]} == {"maybeTruncate"}
    assert search("") == search("  ,") == search("zzz no such method") == ()
    assert len(search("a")) <= 60
    assert search("x" * 5000) == ()
    assert search("AbstractFetcherThread#doWork")[0].name == "AbstractFetcherThread.doWork"


def test_a_method_that_serves_most_rules_comes_first() -> None:
    assert search("doWork")[0].name == "AbstractFetcherThread.doWork"
    assert search("Partition.truncateTo")[0].name == "Partition.truncateTo"


def test_a_loop_is_followed_to_all_that_it_does() -> None:
    """`doWork` runs at every step of a fetcher: one run each appends, truncates, fails."""
    acts = hit("AbstractFetcherThread.doWork").acts
    rules = [act.rule for act in acts]
    assert {"L-4", "H-4", "T-1", "T-2", "T-4", "F-8", "F-9"} <= set(rules)
    assert len({act.slug for act in acts}) == len(acts)
    assert {act.cue for act in acts} & {"T-1", "T-2"}, (
        "a truncation that cuts before one that does not"
    )
