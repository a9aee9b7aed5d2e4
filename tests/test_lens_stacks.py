"""The lens: at every cue of the library a chain that the release has, or a reason of the list."""

from __future__ import annotations

from typing import Any

import pytest

from engine.catalogue.sightings import sightings
from engine.catalogue.sourcemap import card_of, cards
from engine.lens import stacks
from engine.lens.lens_json import aligned_frames, parse_releases, stacks_by_release
from engine.lens.search import library_steps
from engine.lens.source import mode_in, modes, profile_of, release_of, source
from engine.lens.stacks import GAPS, LOOPS, REASONS, stack, thread_name
from engine.model.errors import InputError
from engine.model.profiles import get_profile
from engine.replay.replay import Replay
from engine.scenarios.file import find, library
from engine.sim.run import Run
from engine.story.rules import RULEBOOK, RULES
from tests.conftest import THOROUGH

NEWEST = "4.1.1"
SECOND = "2.5.1"
"""The release of most posts: beside the one that a run behaves as."""
RAFT = ("3.3.2", "3.9.1", "4.1.1")


def wrong_in(cue: str, release: str, mode: str) -> str:
    """What is wrong with the stack of a cue; "" if nothing is."""
    one = stack(cue, release, mode)
    if one.reason:
        return "" if one.reason in REASONS and not one.frames else f"no reason {one.reason}"
    lacking = [frame.name for frame in one.frames if not source().has(release, frame.name)]
    if lacking:
        return f"{release} lacks {lacking}"
    card = card_of(cue)
    assert card is not None
    if one.frames[-1].name not in card.classes(profile_of(release, mode)):
        return f"ends in {one.frames[-1].name}, which the card does not name"
    if any(frame.gap and frame.gap not in GAPS for frame in one.frames):
        return "a gap without words"
    return "" if thread_name(one) else f"no name for the thread {one.thread}"


@pytest.mark.parametrize("release", source().releases)
def test_every_cue_has_a_chain_in_every_release_or_a_reason(release: str) -> None:
    wrong = {
        (cue, mode): told
        for cue in RULES
        for mode in modes(release)
        if (told := wrong_in(cue, release, mode))
    }
    assert wrong == {}


def cues_played(slug: str, profile: str) -> set[str]:
    return set(library_steps()[library()[slug].code][profile])


def pair_of(name: str) -> tuple[str, ...]:
    """The release that a profile behaves as, and the one beside it; all of them if thorough."""
    own = release_of(get_profile(name))
    return source().releases if THOROUGH else (own, NEWEST if own == SECOND else SECOND)


@pytest.mark.parametrize("slug", library())
def test_methods_of_a_run_exist_in_its_release(slug: str) -> None:
    """Under the first and the last profile of each scenario, or all: every cue has a chain in the
    run's release and in a second one, whose names exist and which ends in the card's method."""
    profiles = library()[slug].profiles
    for name in profiles if THOROUGH else dict.fromkeys((profiles[0], profiles[-1])):
        profile = get_profile(name)
        for cue in cues_played(slug, name):
            one = stack(cue, release_of(profile), profile.mode)
            if cue.startswith(("G-", "R-")):  # the lens does not know their sources
                continue
            assert one.reason != "absent", (slug, name, cue)
            for release in pair_of(name):
                mode = mode_in(release, profile.mode)
                own = release == release_of(profile)
                there = cue if own else stacks.counterpart(cue, release, mode)
                assert wrong_in(there, release, mode) == "", (slug, name, cue, release)


def test_faults_are_no_part_of_kafka() -> None:
    for cue in ("CP-8.1.kill", "CP-8.5.cut", "CP-5.4.hold", "L-11", "CP-PLACE-SIMPLE"):
        assert stack(cue, "3.9.1", "kraft").reason == "outside", cue
    assert stack("T-4", "2.5.1", "zk").reason == "absent"
    assert stack("L-16.halt", "0.10.2.2", "zk").reason == "halt"
    assert stack("CP-PLACE-ZK", "3.9.1", "kraft").reason == "chosen"


def names(cue: str, release: str, mode: str) -> list[str]:
    return [frame.name for frame in stack(cue, release, mode).frames]


def test_a_chain_begins_at_the_run_loop_of_its_thread() -> None:
    begins = {loop[0] for loop in LOOPS.values()}
    for cue in ("T-4", "L-4", "H-2", "S-5", "L-5", "P-7.refused", "CP-ELR", "CP-MAKE-LEADER"):
        assert names(cue, "4.1.1", "kraft")[0] in begins, cue
    assert names("P-7.refused", "3.9.1", "zk")[-1] == "ProducerAppendInfo.checkSequence"
    assert "KafkaApis.handleProduceRequest" in names("P-7.refused", "3.9.1", "zk")
    assert names("H-8", "2.5.1", "zk")[:2] == ["KafkaRequestHandler.run", "KafkaApis.handle"]


def test_stacks_name_their_waits() -> None:
    gaps = {frame.gap for frame in stack("S-8", "3.9.1", "kraft").frames}
    assert gaps == {"", "task"}
    assert "purgatory" in {frame.gap for frame in stack("P-4.answer", "3.9.1", "zk").frames}
    assert "event" in {frame.gap for frame in stack("CP-ISR", "3.9.1", "kraft").frames}


@pytest.mark.parametrize(
    ("cue", "release", "mode", "name"),
    [
        ("L-4", "3.9.1", "kraft", "ReplicaFetcherThread-0-1"),
        ("S-4", "2.1.1", "zk", "kafka-request-handler-<n>"),
        ("S-4", "2.2.2", "zk", "data-plane-kafka-request-handler-<n>"),
        ("CP-ELECT-ZK", "0.10.2.2", "zk", "ZkClient-EventThread-<n>"),
        ("CP-ELECT-ZK", "0.11.0.3", "zk", "controller-event-thread"),
        ("S-9", "3.9.1", "kraft", "broker-2-to-controller-alter-partition-channel-manager"),
        ("CP-10.up", "4.1.1", "kraft", "quorum-controller-2-event-handler"),
    ],
)
def test_threads_have_the_names_of_the_release(
    cue: str, release: str, mode: str, name: str
) -> None:
    assert thread_name(stack(cue, release, mode), 2, 1) == name


def test_the_acting_method_is_marked() -> None:
    one = stack("T-2", "2.5.1", "zk")
    assert one.frames[one.acting].name == "Log.truncateTo"
    assert one.where == "broker"
    assert stack("CP-ISR", "4.1.1", "kraft").where == "controller"
    assert stack("C-7", "3.9.1", "kraft").where == "client"


def test_calls_are_lines_of_the_frame_above() -> None:
    one = stack("T-4", "3.9.1", "kraft")
    for frame, after in zip(one.frames, one.frames[1:], strict=False):
        assert after.gap or frame.calls >= (frame.place or ("", 0))[1] > 0, frame


# -- told with a step -----------------------------------------------------------------------------


def step_with(code: str, profile: str, rule: str) -> dict[str, Any]:
    scenario = find(code)
    replay = Replay(Run(scenario, profile))
    for step in (replay.steps(at, 1)[0] for at in range(replay.total + 1)):
        if any(cue["rule"] == rule for cue in step["cues"]):
            return dict(step)
    raise AssertionError(f"{code} under {profile} has no {rule}")


def test_a_step_is_told_in_two_releases() -> None:
    step = step_with("S23", "Z011", "T-1")
    before = repr(step)
    found = stacks_by_release(step, ("1.1.1", "3.9.1"), "zk")
    assert repr(step) == before
    old, new = found["releases"]
    mine = next(one for one in old["stacks"] if one["rule"] == "T-1")
    assert mine["thread"].startswith("ReplicaFetcherThread-0-")
    assert not mine["thread"].endswith(">"), "the leader is known"
    assert mine["frames"][-1]["name"] == "Partition.truncateTo"
    assert (old["tag"], new["mode"]) == ("1.1.1", "zk")
    other = next(one for one in new["stacks"] if one["of"] == "T-1")
    assert other["rule"] == "T-4", "what 3.9 truncates by"
    assert len(found["beside"]) == len(old["stacks"]) == len(new["stacks"])
    assert sum(one["rule"] == "L-14" for one in old["stacks"]) == 0, "it goes along with T-1"
    assert "beside" not in stacks_by_release(step, ("1.1.1",), "zk")


def test_another_release_does_it_by_a_rule_of_its_own() -> None:
    assert stacks.counterpart("T-1", "2.5.1", "zk") == "T-2"
    assert stacks.counterpart("T-4.kept", "0.10.2.2", "zk") == "T-0.kept"
    assert stacks.counterpart("CP-ELECT-ZK", "4.1.1", "kraft") == "CP-ELECT-KR"
    assert stacks.counterpart("L-4", "2.5.1", "zk") == "L-4"
    for cue in RULES:
        for release in source().releases:
            for mode in modes(release):
                assert wrong_in(stacks.counterpart(cue, release, mode), release, mode) == ""


def kinds(cue: str, old: str, new: str) -> dict[tuple[str, str], str]:
    a, b = stack(cue, old, "zk"), stack(cue, new, "zk")
    return {
        (
            "" if i is None else a.frames[i].name,
            "" if j is None else b.frames[j].name,
        ): kind
        for i, j, kind in aligned_frames(a, b)
    }


def test_moved_renamed_or_split_methods_are_found() -> None:
    built = kinds("F-5", "3.2.3", "3.3.2")
    assert built["ReplicaFetcherThread.buildFetch", "RemoteLeaderEndPoint.buildFetch"] == "moved"
    four = kinds("L-4", "2.8.2", "3.1.2")
    assert four["Log.appendAsFollower", "UnifiedLog.appendAsFollower"] == "moved"
    assert four["", "LocalLog.append"] in ("new", "split")
    assert kinds("S-4", "3.6.2", "3.7.2")[
        "Replica.updateFetchState", "Replica.updateFetchStateOrThrow"
    ] == "renamed"  # fmt: skip
    assert set(kinds("S-4", "3.9.1", "3.9.1").values()) == {"same"}
    assert "file" in set(kinds("L-4", "3.2.3", "4.1.1").values())


def test_each_frame_of_both_stacks_has_its_row() -> None:
    for cue in RULES:
        a, b = stack(cue, "2.5.1", "zk"), stack(cue, "3.9.1", "zk")
        rows = list(aligned_frames(a, b))
        assert [i for i, _, _ in rows if i is not None] == list(range(len(a.frames))), cue
        assert [j for _, j, _ in rows if j is not None] == list(range(len(b.frames))), cue


@pytest.mark.parametrize("text", ["", "3.9.2", "2.5.1,2.6.3,2.7.2", "K39", "9" * 200])
def test_releases_that_are_not_known_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_releases(text)
    assert parse_releases("2.5.1, 3.9.1") == ("2.5.1", "3.9.1")


def test_cards_that_no_run_lights_are_few_and_say_why() -> None:
    seen = sightings()
    dark = {rule for rule, card in cards().items() if seen.of_card(card) is None}
    unlit = {one.id for one in RULEBOOK.values() if one.unlit}
    assert dark <= unlit | {one.id for one in RULEBOOK.values() if one.excuse}
    assert unlit <= dark, "it is lit now"
    assert len(dark) <= 15, sorted(dark)


def test_voters_act_in_the_raft_thread_of_the_release() -> None:
    grants = [names("CP-RAFT-VOTE.voted", release, "kraft")[-1] for release in RAFT]
    assert grants == [
        "QuorumState.transitionToVoted",
        "QuorumState.transitionToUnattachedVotedState",
        "QuorumState.unattachedAddVotedState",
    ]
    loops = [names("CP-RAFT-COMMIT", release, "kraft")[1] for release in RAFT]
    assert loops == ["RaftIoThread.doWork", *["KafkaRaftClientDriver.doWork"] * 2]
    assert stack("CP-RAFT-EPOCH.check", "3.7.2", "kraft").reason == ""
    assert "LeaderState.timeUntilCheckQuorumExpires" not in names(
        "CP-RAFT-EPOCH.check", "3.6.2", "kraft"
    )
    # Since KIP-996 a candidate has won a pre-vote, which a vote response completes.
    asks = names("CP-RAFT-VOTE.candidate", "4.1.1", "kraft")
    assert "KafkaRaftClient.maybeTransitionForward" in asks
    one = stack("CP-RAFT-OBSERVER", "3.9.1", "kraft")
    assert (one.where, thread_name(one, 2)) == ("broker", "kafka-2-raft-io-thread")


def test_a_voter_is_the_node_of_its_stack() -> None:
    slug, profile, step = sightings().cues["CP-RAFT-EPOCH.leader"]["K39"]
    one = stacks_at(library()[slug].code, profile, step)["CP-RAFT-EPOCH.leader"]
    assert (one["node"], one["where"]) == ("K2", "voter")
    assert one["frames"][-1]["name"] == "QuorumState.transitionToLeader"


# -- stacks that reached it at a step -------------------------------------------------------------


def stacks_at(code: str, profile: str, step: int) -> dict[str, dict[str, Any]]:
    run = Run(find(code), profile)
    (found,) = Replay(run).steps(step, 1)
    release = release_of(get_profile(profile))
    told_here = stacks_by_release(found, (release,), get_profile(profile).mode)["releases"][0]
    return {one["rule"]: one for one in told_here["stacks"]}


def test_several_fetchers_have_their_numbers() -> None:
    """S76: `num.replica.fetchers` becomes 2, and each partition's thread is that of its hash."""
    before = stacks_at("S76", "2.5.1", 14)["H-4"]["thread"]
    after = [stacks_at("S76", "2.5.1", step)["T-2.kept"]["thread"] for step in (19, 20)]
    assert [before, *after] == [
        "ReplicaFetcherThread-0-1",
        "ReplicaFetcherThread-0-1",
        "ReplicaFetcherThread-1-1",
    ]


def test_threads_that_were_resized_were_reached_by_the_configuration() -> None:
    zk, kraft = stacks_at("S76", "2.5.1", 16)["F-1"], stacks_at("S76", "K39", 17)["F-1"]
    assert zk["thread"] == "/config/changes-event-process-thread"
    assert kraft["thread"] == "kafka-2-metadata-loader-event-handler"
    assert zk["frames"][0]["name"] == "ShutdownableThread.run"
    for one in (zk, kraft):
        names = [frame["name"].rpartition(".")[2] for frame in one["frames"]]
        assert names[-3:] == ["resizeThreadPool", "addFetcherForPartitions", "getFetcherId"]
        assert names[one["acting"]] == "getFetcherId"


def test_a_reassignment_is_done_with_the_leaders_alter_partition() -> None:
    """S45: the last replica joins; ISR, replicas and leader change in one record of that request,
    and no broker was fenced."""
    found = stacks_at("S45", "K39", 123)
    for rule, last in (("CP-ISR", "merge"), ("CP-ELECT-KR", "electLeader")):
        names = [frame["name"] for frame in found[rule]["frames"]]
        assert "ReplicationControlManager.alterPartition" in names
        assert "ReplicationControlManager.generateLeaderAndIsrUpdates" not in names
        assert names[found[rule]["acting"]].endswith(f".{last}")


WHO = [
    ("S47", "K39", 46, "L-7", "data-plane-kafka-request-handler-<n>", 1),
    ("S64", "K39", 22, "X-6", "the application's thread", "C1"),
    ("S64", "K39", 22, "C-2", "data-plane-kafka-request-handler-<n>", 1),
    ("S21", "Z0102", 45, "CP-ISR", "ZkClient-EventThread-<n>", "K"),
    ("S06", "K36", 51, "H-2", "kafka-1-metadata-loader-event-handler", 1),
    ("S03", "K39", 81, "CP-REG", "quorum-controller-<node>-event-handler", "K"),
]


@pytest.mark.parametrize(("code", "profile", "step", "rule", "thread", "node"), WHO)
def test_a_stack_is_of_the_actor_at_the_step(
    code: str, profile: str, step: int, rule: str, thread: str, node: object
) -> None:
    """Not of the usual caller: a leader that deletes records is no fetcher."""
    one = stacks_at(code, profile, step)[rule]
    assert (one["thread"], one["node"]) == (thread, node)
