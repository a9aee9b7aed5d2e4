"""Profiles, flags and configurations: pure data, so the tests look at the data."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from engine.model import configs, errors, profiles
from engine.model.errors import InputError
from engine.model.profiles import FLAGS, KRAFT, PROFILES, ZK, get_profile
from engine.model.releases import CODES

NAMES = [
    *("Z08", "Z09", "Z0102", "Z011", "Z20", "Z21", "Z24", "Z25", "Z27", "Z28", "Z33"),
    *("K33", "K35", "K36", "K37", "K39", "K40", "K41"),
]


def test_the_table_is_that_of_the_specification() -> None:
    assert list(profiles.GENERATIONS) == NAMES == list(CODES)
    assert all((profiles.GENERATIONS[name].mode == ZK) == (name[0] == "Z") for name in NAMES)


@pytest.mark.parametrize(
    ("asked", "found", "human"),
    [
        ("3.9.1", "K39", "Kafka 3.9.1"),
        ("3.9", "K39", "Kafka 3.9.1"),
        ("3.9.1-zk", "Z33", "Kafka 3.9.1 (ZooKeeper)"),
        ("0.10.2.2", "Z0102", "Kafka 0.10.2"),
        ("0.10.2.0", "Z0102", "Kafka 0.10.2"),
        ("4.2", "K41", "Kafka 4.1 – 4.2"),
        ("4.4", "4.4.0", "Kafka 4.3 – 4.4"),
        ("2.1.0", "2.1.0", "Kafka 2.1.0"),
        ("2.8.0", "2.8.0", "Kafka 2.8.0"),
        ("3.9.0", "3.9.0", "Kafka 3.9.0"),
        ("4.0", "K40", "Kafka 4.0.1"),
        ("4.0.0", "4.0.0", "Kafka 4.0.0"),
        ("3.5.1-zk", "3.5.2-zk", "Kafka 3.5.1 – 3.5.2 (ZooKeeper)"),
        ("3.9.1-kraft", "K39", "Kafka 3.9.1"),
        ("3.5.2-zk-isr_eligibility+lag_messages", "3.5.2-zk+lag_messages-isr_eligibility",
         "Kafka 3.5.1 – 3.5.2 (ZooKeeper) + lag_messages − isr_eligibility"),
    ],
)  # fmt: skip
def test_every_release_finds_its_behaviour(asked: str, found: str, human: str) -> None:
    profile = get_profile(asked)
    assert (profile.name, profile.stands_for) == (found, human)
    assert get_profile(profile.name).flags() == profile.flags()


def test_a_profile_is_what_its_releases_are() -> None:
    """Each release once; all of a row agree with it in every flag and default."""
    for mode in (ZK, KRAFT):
        rows = [profile for profile in PROFILES.values() if profile.mode == mode]
        assert tuple(text for row in rows for text in row.releases) == profiles.RELEASES[mode]
        for row in rows:
            for text in row.releases:
                release = tuple(map(int, text.split(".")))
                own = profiles.Profile(text, mode, release, (text,), "")
                assert own.flags() == row.flags(), text
                for config in configs.CATALOGUE.values():
                    if mode == ZK and config.name == "log.dir.failure.timeout.ms":
                        continue  # of KRaft alone
                    assert config.default_in(own) == config.default_in(row), (text, config.name)
                assert get_profile(f"{text}-{mode}") is row
        for one, other in pairwise(rows):
            same = one.flags() == other.flags()
            assert not same or other.releases[0] in profiles.OTHER_DEFAULTS[mode], other.name


def test_codes_are_bound_to_the_releases_they_always_behaved_as() -> None:
    for code, release in CODES.items():
        assert release in PROFILES[code].releases
        assert PROFILES[code].generation == code
    assert PROFILES["2.2.2"].generation == "Z21", "a release between plays the later code's lines"
    assert PROFILES["3.9.0"].generation == "K39"


@pytest.mark.parametrize(
    ("flag", "true_in", "false_in"),
    [
        ("drops_newer_epoch_batches", "3.9.1 3.9.1-zk 4.0.1 4.1.0 4.4.0", "3.9.0 3.8.1 4.0.0"),
        ("diverging_skips_follower_update", "2.7.2 2.8.1 3.0.0", "2.7.1 2.8.0 2.6.3"),
    ],
)
def test_a_bug_is_mended_in_each_line_of_releases(flag: str, true_in: str, false_in: str) -> None:
    assert all(getattr(get_profile(name), flag) for name in true_in.split())
    assert not any(getattr(get_profile(name), flag) for name in false_in.split())


@pytest.mark.parametrize("mode", [ZK, KRAFT])
def test_flags_change_only_where_their_spans_begin_and_end(mode: str) -> None:
    rows = [profile for profile in PROFILES.values() if profile.mode == mode]
    assert [row.release for row in rows] == sorted(row.release for row in rows)
    for flag in FLAGS.values():
        edges = [edge for span in flag.spans for edge in span]
        assert edges == sorted(edges), flag.name
        values = [getattr(row, flag.name) for row in rows]
        assert sum(one != other for one, other in pairwise(values)) <= len(edges), flag.name


def test_truncation_only_gets_better() -> None:
    for mode in (ZK, KRAFT):
        kinds = [one.truncation for one in PROFILES.values() if one.mode == mode]
        assert kinds == sorted(kinds)
    assert [PROFILES[n].truncation for n in ("Z0102", "Z011", "Z20", "Z21", "Z27", "Z28", "K41")] \
        == [0, 1, 2, 3, 3, 4, 4]  # fmt: skip


@pytest.mark.parametrize(
    ("flag", "true_in", "false_in"),
    [
        ("lag_messages", "Z08", "Z09"),
        ("half_period_expiry", "Z0102", "Z09"),
        ("hw_waits_for_caughtup", "Z0102", "Z09"),
        ("epoch_entry_at_election", "Z20", "Z011"),
        ("join_needs_epoch_start", "Z20", "Z011"),
        ("fetch_epoch_check", "Z21", "Z20"),
        ("leo_equal_is_insync", "Z21", "Z20"),
        ("broker_generation", "Z21 K33", "Z20"),
        ("keeps_last_isr_member", "Z011 Z33", "Z0102 K33"),
        ("hw_clamped_on_truncate", "Z24", "Z21"),
        ("cache_cleaned_by_noop_truncate", "Z25 Z27", "Z24"),
        ("alter_partition", "Z27 K33", "Z25"),
        ("isr_propagation", "Z09 Z25", "Z08 Z27 K33"),
        ("leader_recovery_state", "Z28 K33", "Z27"),
        ("isr_eligibility", "Z33 K33", "Z28"),
        ("isr_broker_epoch", "K35", "K33 Z33"),
        ("shrink_bumps_leader_epoch", "K33 K35", "K36 Z33 Z08"),
        ("hw_waits_only_for_eligible", "K36 Z33", "K35"),
        ("strict_min_isr", "K37 Z33", "K36"),
        ("reassign_needs_all_targets", "K37 K39", "K36 Z33"),
        ("periodic_unclean", "K39", "K37 Z33"),
        ("elr_available", "K40", "K39 Z33"),
        ("elr", "K41", "K40"),
        ("unclean_default", "Z08 Z0102", "Z011 K39"),
        ("out_of_range_is_fatal", "Z0102 Z011", "Z20"),
        ("textbook_response_hw", "1.0.1 1.1.0", "Z08 0.11.0.3 1.0.2 Z011 K41"),
        ("hw_sent_at_once", "Z24", "Z21 Z25 K39"),
        ("consumer_epochs", "Z21 Z24 K39", "Z20"),
        ("follower_reads", "Z24 K33", "Z21"),
    ],
)
def test_flag(flag: str, true_in: str, false_in: str) -> None:
    for name in true_in.split():
        assert getattr(PROFILES[name], flag), name
    for name in false_in.split():
        assert not getattr(PROFILES[name], flag), name


def test_every_flag_is_a_declared_attribute_with_a_source() -> None:
    declared = set(profiles.Profile.__annotations__)
    missing = set(FLAGS) - declared
    assert not missing, f"Profile of engine/model/profiles.py lacks the annotation of {missing}"
    assert declared - set(FLAGS) == {
        *("base", "generation", "mode", "name", "release", "releases", "truncation")
    }
    for flag in FLAGS.values():
        assert flag.source and flag.meaning.endswith(".")
    assert list(PROFILES["K39"].flags()) == ["truncation", *FLAGS]


def test_flips_make_a_named_what_if() -> None:
    flipped = get_profile("K39+elr-strict_min_isr")
    assert (flipped.elr, flipped.strict_min_isr) == (True, False)
    assert flipped.name == get_profile("K39-strict_min_isr+elr").name == "K39-strict_min_isr+elr"
    assert get_profile(flipped.name).flags() == flipped.flags()
    assert get_profile("K39+strict_min_isr").name == "K39", (
        "a flip that changes nothing has no name"
    )
    assert get_profile("K39+truncation=HW").truncation == profiles.HW
    assert PROFILES["K39"].truncation == profiles.FETCH, "the row itself is untouched"
    assert get_profile("K39+elr").with_flags({"elr": False}).name == "K39"


def test_latest_is_the_newest_release() -> None:
    assert get_profile("latest").name == list(PROFILES)[-1]
    assert get_profile("latest-elr").name == f"{list(PROFILES)[-1]}-elr"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("K93", "There is no profile K93; did you mean K39?"),
        ("lates", "There is no profile lates; did you mean latest?"),
        ("", "There is no profile ."),
        ("3.9.7", "There is no release 3.9.7 of Kafka; did you mean 3.9.1?"),
        ("3.2.3-kraft", "There is no release 3.2.3-kraft of Kafka; did you mean 3.3-kraft?"),
        ("K39+erl", "There is no flag erl; did you mean elr?"),
        ("K39+elr=1", "There is no flag elr; did you mean elr?"),
        ("K39+ELR", "In profile K39+ELR, flips are written like +elr or -strict_min_isr."),
        ("K39-truncation=HW", "Truncation is set like +truncation=HW, one of HW, KIP101, KIP279, "
         "KIP279_FENCED, FETCH."),
    ],
)  # fmt: skip
def test_unknown_profiles_are_refused_with_a_hint(name: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        get_profile(name)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("Z24+dir_failure_kraft", "dir_failure_kraft needs KRaft; Z24 runs on ZooKeeper."),
        ("Z33+elr", "elr needs KRaft; Z33 runs on ZooKeeper."),
        ("K39+isr_propagation", "isr_propagation needs ZooKeeper; K39 runs on KRaft."),
    ],
)
def test_a_flag_of_the_other_controller_cannot_be_set(name: str, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        get_profile(name)
    assert str(caught.value) == f"{sentence} Leave it out."
    assert caught.value.code == "impossible"
    assert get_profile(name.replace("+", "-")).name == name.partition("+")[0]


def test_configuration_defaults_follow_the_releases() -> None:
    old, new = configs.build(PROFILES["Z0102"]), configs.build(PROFILES["K39"])
    assert (old.lag_time_max_ms, new.lag_time_max_ms) == (10_000, 30_000)
    assert (old.session_timeout_ms, new.session_timeout_ms) == (6_000, 9_000)
    assert configs.build(PROFILES["Z25"]).session_timeout_ms == 18_000
    assert (old.unclean, new.unclean) == (True, False)
    assert (old.isr_check_ms, configs.build(PROFILES["Z09"]).isr_check_ms) == (5_000, 10_000)
    assert configs.build(PROFILES["K40"]).fence_check_ms == 9_000 // 8
    assert new.fence_check_ms == 0


def test_the_elr_feature_needs_a_release_that_has_it() -> None:
    on = {"eligible.leader.replicas.version": 1}
    assert configs.build(PROFILES["K41"]).elr
    assert not configs.build(PROFILES["K41"], {"eligible.leader.replicas.version": 0}).elr
    assert not configs.build(PROFILES["K40"]).elr
    assert configs.build(PROFILES["K40"], on).elr
    assert not configs.build(PROFILES["K39"], on).elr
    assert configs.build(get_profile("K39+elr")).elr


def test_changing_a_configuration_makes_another() -> None:
    profile = PROFILES["K39"]
    before = configs.build(profile)
    after = before.changed(profile, "min.insync.replicas", "2")
    assert (before.min_insync_replicas, after.min_insync_replicas) == (1, 2)
    assert before.changed(profile, "unclean.leader.election.enable", "true").unclean


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("min.insync.replica", 1, "did you mean min.insync.replicas?"),
        ("min.insync.replicas", 0, "min.insync.replicas must lie between 1 and 40."),
        ("min.insync.replicas", "two", "min.insync.replicas is a whole number (replicas)."),
        ("min.insync.replicas", True, "min.insync.replicas is a whole number (replicas)."),
        ("unclean.leader.election.enable", "maybe", "is either true or false."),
        ("flush.messages", -1, "flush.messages must lie between 1 and any size."),
        ("replica.fetch.wait.max.ms", 60_000, "must not exceed replica.lag.time.max.ms."),
    ],
)
def test_bad_configurations(name: str, value: object, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        configs.build(PROFILES["K39"], {name: value})  # type: ignore[dict-item]
    assert sentence in str(caught.value)


def test_every_default_is_within_its_bounds() -> None:
    for profile in PROFILES.values():
        for config in configs.CATALOGUE.values():
            assert config.check(config.default_in(profile)) == config.default_in(profile)
            assert config.meaning and config.unit and config.scope


def test_error_codes_have_kafkas_names() -> None:
    assert errors.name_of(errors.FENCED_LEADER_EPOCH) == "FENCED_LEADER_EPOCH"
    assert errors.code_of("NOT_ENOUGH_REPLICAS_AFTER_APPEND") == 20
    assert errors.name_of(4242) == "ERROR_4242"
    assert len(errors.all_names()) == len({errors.code_of(n) for n in errors.all_names()})
    assert errors.name_of(errors.NONE) == "NONE"


SOURCES = "".join(
    path.read_text("utf-8")
    for path in sorted((Path(__file__).parents[1] / "engine").rglob("*.py"))
    if path.name not in ("profiles.py", "flags.py")
)


def test_every_modelled_flag_is_asked_for_by_a_rule_and_no_other() -> None:
    by_default = {config.flag for config in configs.CATALOGUE.values()}
    for name, flag in FLAGS.items():
        asked = name in by_default or re.search(rf"\.{name}\b", SOURCES) is not None
        assert asked or not flag.modelled, (
            f"no rule asks for the flag {name} (`.{name}` stands nowhere in engine/): ask for it "
            "in the rule that it changes, or say modelled=False in engine/model/flags.py"
        )
        assert flag.modelled or not asked, (
            f"a rule asks for the flag {name}: take modelled=False away in engine/model/flags.py"
        )


def test_every_configuration_is_obeyed_by_a_rule() -> None:
    for name in vars(configs.build(get_profile("K39"))).keys() - {"given", "values"}:
        assert re.search(rf"configs\.{name}\b", SOURCES), name


def test_flags_that_no_rule_reads_cannot_be_flipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FLAGS["isr_propagation"], "modelled", False)
    with pytest.raises(InputError, match="No rule here asks for isr_propagation"):
        get_profile("Z24-isr_propagation")
